"""What the page of a search shows of its fits: table columns, numbers to plot, words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import agree
from plaidwork.core.pictures import Axis, Panel, Picture
from plaidwork.core.study import StudyJob, StudyRecord
from plaidwork.core.views.colouring import Colouring
from plaidwork.core.views.scores import legend_of, points_of, told
from plaidwork.gui.numbers import format_count, format_duration, format_fixed, format_percent

FIT, SEED, STATUS, RANK, SWEEPS, TIME = "Fit", "Seed", "State", "Rank", "Sweeps", "Time (s)"
VERDICT = "Convergence"


@dataclass(frozen=True)
class FitColumns:
    """Columns of the table by head, an icon for each fit, and the numbers that can be an axis, by name."""

    table: Mapping[str, np.ndarray]
    icons: list[str]
    axes: Mapping[str, np.ndarray]
    formats: Mapping[str, Callable[[Any], str]]
    ranking: str
    """Name of the axis that the fits are ranked by."""


def fit_columns(record: StudyRecord) -> FitColumns:
    """One line per fit, in the order planned."""
    jobs = record.jobs
    metric = {
        m.key: np.array([job.metrics.get(m.key, math.nan) for job in jobs]) for m in record.known_metrics()
    }
    heads = _heads(record)
    table: dict[str, Any] = {FIT: np.array([job.number for job in jobs], dtype=np.int64)}
    axes: dict[str, np.ndarray] = {}
    settings: dict[str, np.ndarray] = {}
    axes[heads[record.metric.key]] = metric[record.metric.key]
    table[RANK] = _ranks(record)
    table[heads[record.metric.key]] = metric[record.metric.key]
    for name in record.varied:
        given = [job.params[name] for job in jobs]
        numeric = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in given)
        table[heads[name]] = (
            np.array(given) if numeric else _texts([record.value_text(job, name) for job in jobs])
        )
        if numeric:
            settings[heads[name]] = np.array(given, dtype=float)
    if len(record.seeds) > 1:
        table[SEED] = np.array([job.seed for job in jobs], dtype=np.int64)
    for key, values in metric.items():
        if key != record.metric.key and (np.isfinite(values).any() or not any(job.ended for job in jobs)):
            table[heads[key]] = axes[heads[key]] = values
    axes |= settings
    ended = np.array([job.ended for job in jobs], dtype=bool)
    for name, numbers in ((SWEEPS, [job.sweeps for job in jobs]), (TIME, [job.seconds for job in jobs])):
        table[name] = axes[name] = np.where(ended, np.array(numbers, dtype=float), np.nan)
    if any(job.verdict for job in jobs):
        table[VERDICT] = _texts([job.verdict or "–" for job in jobs])
    table[STATUS] = _texts([state_text(record, job) for job in jobs])
    formats: dict[str, Callable[[Any], str]] = {
        heads[key]: partial(format_fixed, decimals=decimals_of(values)) for key, values in metric.items()
    }
    formats[TIME] = partial(format_fixed, decimals=1 if np.nanmax([*table[TIME], 0.0]) >= 1 else 3)
    icons = [state_icon(record, job) for job in jobs]
    return FitColumns(table, icons, axes, formats, heads[record.metric.key])


def decimals_of(values: np.ndarray) -> int:
    """As many that numbers which lie close together can be told apart: three digits of their spread."""
    known = values[np.isfinite(values)]
    spread = float(np.ptp(known)) if len(known) else 0.0
    size = spread or float(np.abs(known).max(initial=0.0))
    if not size or not np.any(known % 1):
        return 0
    return int(np.clip(2 - math.floor(math.log10(size)), 0, 8))


def _heads(record: StudyRecord) -> dict[str, str]:
    """A head for each setting and metric, all different."""
    found: dict[str, str] = {}
    taken = {FIT, SEED, STATUS, RANK, SWEEPS, TIME, VERDICT}
    wanted = [(name, record.titles.get(name, name)) for name in record.varied]
    wanted += [(m.key, m.name.replace("_", " ")) for m in record.known_metrics()]
    for key, title in wanted:
        head = title[:1].upper() + title[1:]
        while head in taken:
            head += " ·"
        taken.add(head)
        found[key] = head
    return found


def _ranks(record: StudyRecord) -> np.ndarray:
    rank = {
        job.number: at + 1
        for at, job in enumerate(j for j in record.ranked() if j.status == "done" and j.metric == j.metric)
    }
    return np.array([float(rank.get(job.number, math.nan)) for job in record.jobs])


def _texts(values: list[str]) -> np.ndarray:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def state_text(record: StudyRecord, job: StudyJob) -> str:
    """How a fit stands, with the reason when it failed."""
    chosen = record.chosen
    if chosen is not None and chosen.number == job.number:
        return "picked, exploratory" if chosen.exploratory else "picked"
    if any(choice.number == job.number for choice in record.choices):
        return "picked before"
    if job.status == "running":
        return f"running, {format_percent(job.share)}"
    if job.status == "failed":
        return f"failed: {job.message}"
    return job.status


def state_icon(record: StudyRecord, job: StudyJob) -> str:
    """``ok`` for the picked one, ``error`` for a failed one, ``warn`` for one that was stopped; else empty."""
    if record.chosen is not None and record.chosen.number == job.number:
        return "ok"
    return {"failed": "error", "stopped": "warn"}.get(job.status, "")


def fit_name(record: StudyRecord, job: StudyJob) -> str:
    """``Fit 12: Blocks 5, Start from Chance, seed 2``."""
    parts = [f"{record.titles.get(name, name)} {record.value_text(job, name)}" for name in record.varied]
    if len(record.seeds) > 1 or not parts:
        parts.append(f"seed {job.seed}")
    return f"Fit {job.number}: {', '.join(parts)}"


def headline(record: StudyRecord, phase: str) -> str:
    """What the search has found so far."""
    best = record.best
    fits = len(record.jobs)
    word = agree(fits, "fit", "fits")
    if best is None:
        if phase:
            return f"{format_count(fits)} {word}, none done yet"
        if record.count("done"):
            return f"{format_count(fits)} {word}, none with a number for {record.metric.name}"
        if record.count("failed") == fits:
            return f"All {format_count(fits)} {word} failed" if fits > 1 else "The fit failed"
        return f"{format_count(fits)} {word}, none done"
    so_far = " so far" if phase or record.count("waiting", "stopped") else ""
    decimals = decimals_of(np.array([job.metric for job in record.jobs]))
    said = f"Best{so_far} by {record.metric.name}"
    if record.doubt():  # not a reason to prefer it
        said = f"{'Smallest' if record.metric.goal == 'down' else 'Largest'} {record.metric.name}{so_far}"
    name = fit_name(record, best).partition(": ")[2]
    return f"{said}: {format_fixed(best.metric, decimals)} at {name}"


def caption(record: StudyRecord) -> str:
    """Model, data, and how many fits stand how."""
    data = ", ".join(name for names in record.input_names.values() for name in names)
    counts = progress_text(record)
    goal = "smallest" if record.metric.goal == "down" else "largest"
    best = record.best
    doubt = f"; the best: {best.verdict.lower()}" if best is not None and not best.settled else ""
    return f"{record.model_title} on {data}; {counts}; {goal} first{doubt}"


def progress_text(record: StudyRecord) -> str:
    """``12 done, 1 failed, 32 left``."""
    parts = []
    for label, statuses in (
        ("done", ("done",)), ("failed", ("failed",)), ("stopped", ("stopped",)), ("left", ("waiting", "running")),
    ):  # fmt: skip
        count = record.count(*statuses)
        if count or label == "done":
            parts.append(f"{format_count(count)} {label}")
    return ", ".join(parts)


def left_text(seconds: float | None) -> str:
    """``about 40 s left``, or empty."""
    return "" if seconds is None else f"about {format_duration(max(1.0, seconds), rough=True)} left"


def fits_picture(
    axes: Mapping[str, np.ndarray], x: str, y: str, names: tuple[str, ...], shown: Colouring
) -> Picture:
    """All fits of a search by two of their numbers."""

    def read(i: int) -> str:
        return told(names, i, shown, (x, axes[x][i]), (y, axes[y][i]))

    points = points_of(axes[x], axes[y], names, FIT, shown, read)
    panel = Panel((points,), Axis(x), Axis(y))
    return Picture(f"Fits by {x} and {y}", panels=(panel,), legend=legend_of(shown))
