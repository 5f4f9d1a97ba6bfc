"""The fits of a study as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plaidwork.core.contract.model import Table
from plaidwork.core.findings.solutions import weights_of_fits
from plaidwork.core.study.job import StudyJob

if TYPE_CHECKING:
    from plaidwork.core.study.record import StudyRecord


def record_table(record: StudyRecord) -> Table:
    """One line per job: what varies, seed, status, metric, rank, seconds, and its message."""
    jobs, metric = record.jobs, record.metric
    counted = [job for job in record.ranked() if job.status == "done" and not math.isnan(job.metric)]
    rank = {job.number: index + 1 for index, job in enumerate(counted)}
    columns = {"Job": np.array([job.number for job in jobs])}
    for name in record.varied:
        columns[name] = column([job.params[name] for job in jobs])
    columns["Seed"] = np.array([job.seed for job in jobs])
    columns["Status"] = np.array([job.status for job in jobs], dtype=object)
    columns[metric.name] = np.array([job.metric for job in jobs])
    for other in record.known_metrics():
        values = np.array([job.metrics.get(other.key, math.nan) for job in jobs])
        if other.name not in columns and np.isfinite(values).any():
            columns[other.name] = values
    columns |= _weights(jobs)
    columns["Rank"] = np.array([float(rank.get(job.number, math.nan)) for job in jobs])
    if any(job.verdict for job in jobs):
        columns["Convergence"] = np.array([job.verdict for job in jobs], dtype=object)
    columns["Sweeps"] = np.array([job.sweeps for job in jobs])
    columns["Seconds"] = np.array([job.seconds for job in jobs])
    if any(job.message for job in jobs):
        columns["Message"] = np.array([job.message for job in jobs], dtype=object)
    return Table(columns, units={"Seconds": "s"}, label=record.title)


def _weights(jobs: Sequence[StudyJob]) -> dict[str, np.ndarray]:
    """Columns of weights of the fits that predict the same observations; none when there are fewer than two."""
    first = next((job for job in jobs if job.score is not None), None)
    known = [job for job in jobs if first is not None and job.behind(first) is not None]
    if len(known) < 2:
        return {}
    found = weights_of_fits([job.score for job in known if job.score is not None])
    index = {job.number: at for at, job in enumerate(known)}
    return {
        title: np.array([values[index[job.number]] if job.number in index else math.nan for job in jobs])
        for title, values in found.items()
    }


def setting_table(record: StudyRecord) -> Table:
    """Mean and standard deviation of the metric over the seeds, per combination of the grid; best first."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for job in record.jobs:
        values = groups.setdefault(tuple(job.params[name] for name in record.varied), [])
        if job.status == "done" and not math.isnan(job.metric):
            values.append(job.metric)
    sign = 1.0 if record.metric.goal == "down" else -1.0
    means = {key: float(np.mean(found)) if found else math.nan for key, found in groups.items()}
    keys = sorted(groups, key=lambda key: (math.isnan(means[key]), sign * means[key]))
    columns: dict[str, np.ndarray] = {
        name: column([key[i] for key in keys]) for i, name in enumerate(record.varied)
    }
    columns[record.metric.name] = np.array([means[key] for key in keys])
    columns["sd"] = np.array(
        [np.std(groups[key], ddof=1) if len(groups[key]) > 1 else math.nan for key in keys]
    )
    columns["Jobs"] = np.array([len(groups[key]) for key in keys])
    return Table(columns, label="By setting", doc="Mean over the seeds; sd between seeds.")


def column(values: list[Any]) -> np.ndarray:
    """Numbers as numbers, anything else as text."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return np.array(values)
    return np.array([shown(value) for value in values], dtype=object)


def shown(value: Any) -> str:
    """A value of a setting in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(f"{item:g}" for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
