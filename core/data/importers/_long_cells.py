"""The matrices of a long table: its values by sample and feature, and what becomes of combinations that no row names."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from plaidwork.core.data.importers._table import MAX_CELLS
from plaidwork.core.data.importers.base import ImportOptions, Issue
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.draws.numbers import format_count
from plaidwork.core.errors import DataError

DENSEST = 500_000_000
"""Cells that the matrices of one long table may have together."""


@dataclass(slots=True)
class LongTable:
    """What was read: per view a matrix (n samples, m features) with NaN where no row gives a value."""

    views: dict[str, tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    issues: list[Issue] = field(default_factory=list)
    n_records: int = 0
    absent: int = 0
    """Combinations of sample and feature that no row names."""
    zeros: bool = False
    """Whether these become 0, by the rows that were read."""


def spread(
    path: Path,
    table: LongTable,
    found: tuple[np.ndarray, np.ndarray, np.ndarray],
    names: tuple[list[str], ...],
    options: ImportOptions,
    collect: bool,
    counts: bool,
) -> None:
    """Put the values into the matrices of the ``table``, a view at a time; pairs that occur twice are errors, or issues to ``collect``.

    ``found`` are codes of view, sample and feature (n, 3), values (n,) and rows of the file (n,); ``counts`` says that the values are
    called so.
    """
    codes, values, places = found
    views, samples, features = names
    if options.get("repeated") != "mean":
        _refuse_repeated(path, table, (codes, places), names, collect)
    known = ~np.isnan(values)
    said, cells = options.get("absent"), 0
    table.zeros = said == "zero" or (said is None and counts and _only_present(values[known]))
    for number, view in enumerate(views):
        mine = codes[:, 0] == number
        row_ids, row_codes = np.unique(codes[mine, 1], return_inverse=True)
        column_ids, column_codes = np.unique(codes[mine, 2], return_inverse=True)
        cells += len(row_ids) * len(column_ids)
        if cells > min(DENSEST, MAX_CELLS):
            raise DataError(
                f"{path.name}: {counted(len(row_ids), 'sample')} × {counted(len(column_ids), 'feature')} are too many for a table.",
                "Check that the right columns are chosen.",
            )
        use, shape = known[mine], (len(row_ids), len(column_ids))
        matrix = _means((row_codes[use], column_codes[use]), values[mine][use], shape)
        listed = np.zeros(shape, dtype=bool)
        listed[row_codes, column_codes] = True
        table.absent += listed.size - int(listed.sum())
        if table.zeros:
            matrix[~listed] = 0.0  # what is listed as missing stays missing
        table.views[view] = (
            matrix,
            tuple(samples[code] for code in row_ids),
            tuple(features[code] for code in column_ids),
        )


def _refuse_repeated(
    path: Path,
    table: LongTable,
    found: tuple[np.ndarray, np.ndarray],
    names: tuple[list[str], ...],
    collect: bool,
) -> None:
    """An error for pairs that occur twice, or an issue of the ``table`` to ``collect``; ``found`` are codes (n, 3) and rows (n,)."""
    (codes, places), (views, samples, features) = found, names
    keys = (codes[:, 0] * len(samples) + codes[:, 1]) * len(features) + codes[:, 2]
    _, first, back, times = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if (times > 1).any():
        twice = int(np.flatnonzero(first[back] != np.arange(len(keys)))[0])
        before = int(first[back[twice]])
        view = f"view “{views[codes[twice, 0]]}”, " if views != [""] else ""
        pair = f"{view}sample “{samples[codes[twice, 1]]}”, feature “{features[codes[twice, 2]]}”"
        rows = f"rows {places[before]} and {places[twice]}"
        if not collect:
            raise DataError(
                f"{path.name}: {pair} occurs more than once ({rows}).",
                "Remove one of them, or take the mean of repeated values.",
            )
        number = int((times > 1).sum())
        table.issues.append(
            Issue(
                "error",
                f"{counted(number, 'pair')} of sample and feature {agree(number, 'occurs', 'occur')} more than once",
                f"First: {pair}, {rows}",
                row=int(places[twice]),
                fix=("Take the mean of repeated values", "repeated", "mean"),
            )
        )


def _means(cells: tuple[np.ndarray, np.ndarray], values: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Mean of the values of each cell (row, column), NaN where there is none."""
    total, count = np.zeros(shape), np.zeros(shape)
    np.add.at(total, cells, values)
    np.add.at(count, cells, 1)
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, total / count, np.nan)


def _only_present(values: np.ndarray) -> bool:
    """Whether the values are whole numbers from 1: what is not there has no row."""
    return bool(values.size) and bool(((values >= 1) & (values == np.floor(values))).all())


def absent_issue(table: LongTable, options: ImportOptions, whole: bool) -> Issue | None:
    """What becomes of combinations without a row, as long as nobody has said it; a warning where they look like counts."""
    matrices = [values for values, _, _ in table.views.values()]
    if not table.absent or options.get("absent") is not None:
        return None
    total = sum(values.size for values in matrices)
    where = f"{format_count(table.absent)} of {counted(total, 'cell')}"
    if not whole:
        where += f" of the first {counted(table.n_records, 'row')}"
    to_zero, to_missing = ("Take them as 0", "absent", "zero"), ("Keep them missing", "absent", "missing")
    if table.zeros and whole:
        return Issue(
            "info", "Combinations without a row become 0, as in a list of counts", where, fix=to_missing
        )
    if table.zeros:  # a row that was not read may give a 0 or a fraction
        return Issue(
            "info",
            "Combinations without a row become 0 if all rows give counts from 1, as the first ones do",
            where,
            fix=to_zero,
            other=to_missing,
        )
    known = [values[~np.isnan(values)] for values in matrices]
    counts = all(bool(((part >= 0) & (part == np.floor(part))).all()) for part in known)
    return Issue(
        "warning" if counts else "info",
        "Combinations without a row become missing cells",
        where,
        fix=to_zero,
        other=to_missing,
    )
