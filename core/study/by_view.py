"""How well the fits of a study predict each view: which setting is best for which, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plaidwork.core.contract.model import Table
from plaidwork.core.study.job import StudyJob
from plaidwork.core.study.tables import column

if TYPE_CHECKING:
    from plaidwork.core.study.record import StudyRecord

BEST, AS_GOOD = "best", "within one standard error of the best"


def view_table(record: StudyRecord) -> Table | None:
    """A line for every view and combination of the grid: log density with its standard error, means over the seeds; by how
    much it is below the best combination, which is told from fits of the same held-out cells.

    Seeds leave out other cells; their differences count as independent.
    """
    done = [job for job in record.jobs if job.status == "done" and job.score is not None]
    views = done[0].score.blocks if done and done[0].score is not None else ()
    if len(views) < 2:
        return None
    groups: dict[tuple[Any, ...], list[StudyJob]] = {}
    for job in done:
        groups.setdefault(tuple(job.params[name] for name in record.varied), []).append(job)
    rows = [row for block, view in enumerate(views) for row in _rows(groups, block, view)]
    columns = {
        "View": np.array([row[1] for row in rows], dtype=object),
        **{name: column([row[0][i] for row in rows]) for i, name in enumerate(record.varied)},
    }
    heads = ("Log density", "SE", "Below the best", "SE of the difference")
    columns |= {head: np.array([row[2][i] for row in rows]) for i, head in enumerate(heads)}
    columns["Note"] = np.array([row[3] for row in rows], dtype=object)
    columns["Fits"] = np.array([row[4] for row in rows])
    return Table(columns, label="By view", doc="Log densities in nats, means over the seeds.")


def _rows(groups: dict[tuple[Any, ...], list[StudyJob]], block: int, view: str) -> list[tuple[Any, ...]]:
    """Setting, view, numbers, note and number of fits, in the order of the grid."""
    level = {key: _mean([job.score.sum(block) for job in jobs if job.score]) for key, jobs in groups.items()}
    best = max(level, key=lambda key: level[key][0])
    found = []
    for key, jobs in groups.items():
        behind = (0.0, 0.0) if key == best else _behind(jobs, groups[best], block)
        note = BEST if key == best else AS_GOOD if behind[0] <= behind[1] else ""
        found.append((key, view, (*level[key], *behind), note, len(jobs)))
    return found


def _behind(jobs: Sequence[StudyJob], best: Sequence[StudyJob], block: int) -> tuple[float, float]:
    """Mean difference of fits of the same seed, and its standard error."""
    by_seed = {job.seed: job for job in best}
    apart = [job.behind(by_seed[job.seed], block) for job in jobs if job.seed in by_seed]
    return _mean([one for one in apart if one is not None])


def _mean(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Mean of numbers with standard errors, and its own; NaN of none."""
    if not values:
        return math.nan, math.nan
    numbers, errors = np.array(values).T
    return float(numbers.mean()), float(np.sqrt((errors**2).sum()) / len(values))
