"""What there is to say and to show about a dataset, computed once and off the GUI thread. No Qt widgets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plaidwork.core.data.column_scales import unlike_scales, usual_variances
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.glimpse import some_rows
from plaidwork.core.data.levels import COUNTED, LEVELS
from plaidwork.core.draws.counting import counted, labelled
from plaidwork.gui.data.course import Course, course_of
from plaidwork.gui.numbers import (
    decimals_by_error,
    format_bytes,
    format_count,
    format_fixed,
    format_number,
    format_percent,
    format_ticks,
)

THUMB_SIDE = 480
SAMPLE = 400_000
BINS = 60
MAX_CLASSES = 8
MOST_APART = 500
"""Columns up to which each may have a unit of its own."""
SCALED_LIMITS = (-2.5, 2.5)
"""Colours of columns with units of their own, in standard deviations."""
DENSE = 4_000_000
"""Cells that are looked at of a sparse matrix, and of one that stays in its file."""


@dataclass(frozen=True)
class Facts:
    """Small picture, spread of values and counts of a dataset."""

    shape: tuple[int, ...]
    n_missing: int
    thumb: np.ndarray
    diverging: bool
    limits: tuple[float, float]
    clipped: tuple[bool, bool]
    edges: np.ndarray
    counts: np.ndarray
    low: float
    high: float
    mean: float
    sd: float
    looked_at: Dataset
    """The data, or a part of their rows that the picture and the numbers come from."""
    classes: Mapping[str, int] = field(default_factory=dict)
    classes_title: str = ""
    course: Course | None = None
    """What was measured over time, where the data are that."""
    scales: tuple[np.ndarray, np.ndarray] | None = None
    """Mean and standard deviation (m,) of the columns where these have units of their own; else one colour scale shows all of them."""

    def pictured(self) -> np.ndarray:
        """The values as the picture shows them: of columns with units of their own in standard deviations from the column's mean."""
        values = dense(self.looked_at)
        return values if self.scales is None else (values - self.scales[0]) / self.scales[1]

    @property
    def in_part(self) -> bool:
        """Whether only some of the rows were looked at."""
        return self.looked_at.shape != self.shape


def size_text(dataset: Dataset) -> str:
    """``2 308 genes × 83 samples``."""
    rows, columns = dataset.axis_words
    text = labelled(dataset.shape[0], rows)
    if len(dataset.shape) == 1:
        return text
    return f"{text} × {labelled(dataset.shape[1], columns)}"


def missing_text(dataset_shape: tuple[int, ...], n_missing: int) -> str:
    """``no missing cells`` or ``1 204 cells missing (1.2 %)``."""
    if not n_missing:
        return "no missing cells"
    total = int(np.prod(dataset_shape))
    share = format_percent(n_missing / total, 1) if total else ""
    return f"{counted(n_missing, 'cell')} missing ({share})"


def in_part_text(facts: Facts) -> str:
    """``from 512 of 31 250 genes``; empty when all rows were looked at."""
    if not facts.in_part:
        return ""
    rows, _ = facts.looked_at.axis_words
    return f"from {format_count(facts.looked_at.shape[0])} of {format_count(facts.shape[0])} {rows}"


def glimpse(dataset: Dataset) -> Dataset | None:
    """Every n-th row of data that take over a second to read or to look through; None for smaller ones, and where that is no faster."""
    found = some_rows(dataset)
    return None if found is None else _of_rows(dataset, *found)


def _of_rows(dataset: Dataset, step: int, values: Any) -> Dataset:
    """The data with every ``step``-th row, whose ``values`` are given."""
    table = {title: column[::step] for title, column in dataset.row_table.items()}
    return dataset.with_(values=values, row_names=dataset.row_names[::step], row_table=table)


def to_look_at(dataset: Dataset) -> Dataset:
    """The data themselves; every n-th row of large sparse ones, as a dense matrix of them would not fit, and of those that stay in their file."""
    part = dataset.is_sparse or dataset.stays
    step = max(1, int(np.prod(dataset.shape) // DENSE)) if part else 1
    step = min(step, max(dataset.shape[0], 1))
    if step == 1:
        return dataset
    cells = dataset.in_file
    return _of_rows(dataset, step, dataset.values[::step] if cells is None else cells.every(step))


def dense(dataset: Dataset) -> np.ndarray:
    """The values as a dense matrix of two axes, NaN where missing."""
    values = dataset.values.todense() if dataset.is_sparse else dataset.values
    values = np.asarray(values, dtype=float)
    if dataset.kind == "categorical":
        values = np.where(values < 0, np.nan, values)
    return values if values.ndim == 2 else values[:, None]


def find_facts(dataset: Dataset, part: Dataset | None = None) -> Facts:
    """Compute the facts, where a ``part`` is given from its rows; about 0.1 s for 5 000 by 500."""
    from plaidwork.gui.plots.image import area_average, color_limits

    looked_at = to_look_at(dataset) if part is None else part
    values = dense(looked_at)
    flat = values.ravel()
    known = flat[:: max(1, flat.size // SAMPLE)]
    known = known[np.isfinite(known)]
    low, high = _extremes(values)
    diverging = bool(low < 0 < high)
    thumb, _, _ = area_average(values, THUMB_SIDE) if values.size else (values, 1, 1)
    limits = color_limits(known, diverging) if known.size else (0.0, 1.0)
    if not diverging and known.size:
        top = float(f"{np.percentile(known, 99):.2g}")
        limits = (min(low, limits[0]), top if top > low else limits[1])
    course = course_of(looked_at)
    counts, edges = _histogram(known if course is None else course.y, dataset)
    classes, title = _classes(dataset)
    return Facts(
        shape=dataset.shape,
        n_missing=dataset.n_missing,
        thumb=thumb,
        diverging=diverging,
        limits=limits,
        clipped=(bool(low < limits[0]), bool(high > limits[1])),
        edges=edges,
        counts=counts,
        low=low,
        high=high,
        mean=float(known.mean()) if known.size else float("nan"),
        sd=float(known.std(ddof=1)) if known.size > 1 else float("nan"),
        looked_at=looked_at,
        classes=classes,
        classes_title=title,
        course=course,
        scales=_scales(looked_at, values),
    )


def _scales(dataset: Dataset, values: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Mean and standard deviation of each column where these have units of their own, as age and income of people have; else None."""
    if dataset.image_shape or dataset.is_sparse or not 2 < values.shape[1] <= MOST_APART or len(values) < 3:
        return None
    known = np.isfinite(values)
    if not known.any(axis=0).all() or not unlike_scales(usual_variances(values, known)):
        return None
    filled = np.where(known, values, np.nan)
    spread = np.nanstd(filled, axis=0)
    return np.nanmean(filled, axis=0), np.where(spread > 0, spread, 1.0)


def _extremes(values: np.ndarray) -> tuple[float, float]:
    """Lowest and highest finite value, some rows at a time; NaN where there is none."""
    low, high = np.inf, -np.inf
    step = max(1, SAMPLE // max(values.shape[1], 1))
    for start in range(0, len(values), step):
        part = values[start : start + step]
        if part.size and not np.isfinite(part.min() + part.max()):
            part = part[np.isfinite(part)]
        if part.size:
            low, high = min(low, float(part.min())), max(high, float(part.max()))
    return (low, high) if low <= high else (float("nan"), float("nan"))


def spread(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Counts and edges of a histogram of the values; large data by every n-th value."""
    flat = np.asarray(dataset.values.data if dataset.is_sparse else dataset.values, dtype=float).ravel()
    known = flat[:: max(1, flat.size // SAMPLE)]
    return _histogram(known[np.isfinite(known)], dataset)


def _histogram(known: np.ndarray, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    if not known.size:
        return np.zeros(0), np.zeros(0)
    low, high = float(known.min()), float(known.max())
    span = high - low
    low, high = (0.0 if 0 < low < 0.1 * span else low), (0.0 if -0.1 * span < high < 0 else high)
    if dataset.kind != "real" and high - low < BINS:
        edges = np.arange(np.floor(low), np.ceil(high) + 2) - 0.5
    else:
        edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    counts, edges = np.histogram(known, edges)
    return counts, edges


def _classes(dataset: Dataset) -> tuple[dict[str, int], str]:
    """The first annotation (columns before rows) with a few classes."""
    tables: list[tuple[str, Mapping[str, Any]]] = [
        (dataset.column_label, dataset.column_table),
        (dataset.row_label, dataset.row_table),
    ]
    for label, table in tables:
        for title, column in table.items():
            if title in (LEVELS, COUNTED):
                continue
            texts = [str(item) for item in np.asarray(column, dtype=object)]
            groups = list(dict.fromkeys(texts))
            if np.asarray(column).dtype.kind != "f" and 2 <= len(groups) <= MAX_CLASSES:
                counts = {group: texts.count(group) for group in groups if group}
                if "" in groups:
                    counts["none given"] = texts.count("")
                return counts, f"{label.capitalize()} by {title}"
    return {}, ""


def _range(values: np.ndarray) -> str:
    """From where to where values (k,) are: years without a space."""
    ends = float(values.min()), float(values.max())
    decimals = 0 if np.all(values % 1 == 0) else max(2, 2 - math.floor(math.log10(ends[1] - ends[0] or 1.0)))
    return " to ".join(format_ticks(ends, min(decimals, 6)))


def figure_rows(dataset: Dataset, facts: Facts) -> list[tuple[str, str]]:
    """Label and value of each key number."""
    unit = f" {dataset.unit}" if dataset.unit else ""
    rows = [("Size", size_text(dataset)), ("Missing", missing_text(facts.shape, facts.n_missing))]
    if dataset.samples_in:
        rows.insert(1, ("Samples are", f"the {dataset.samples_in}"))
    if facts.in_part:
        rows.append(("Numbers below", in_part_text(facts)))
    if facts.course is not None:
        rows += [("Times", _range(facts.course.x)), ("Amounts", _range(facts.course.y))]
    elif np.isfinite(facts.low):
        rows.append(("Range", f"{format_number(facts.low, 3)} to {format_number(facts.high, 3)}{unit}"))
        if dataset.kind != "categorical":
            decimals = max(0, min(decimals_by_error(facts.sd), 8))
            mean, sd = (format_fixed(value, decimals) for value in (facts.mean, facts.sd))
            rows.append(("Mean, sd", f"{mean}, {sd}"))
    rows.append(("Memory", format_bytes(dataset.nbytes)))
    return rows
