"""Whether the numbers of a dataset can be used: one rule for files, Python objects and data of a session."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator

import numpy as np

from plaidwork.core.contract.spec import Input
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.errors import DataError

_AT_ONCE = 1 << 20
"""Values that are looked at together, so that a look takes little beside the data."""


def check_values(item: Input, dataset: Dataset) -> None:
    """Numbers, not labels, where numbers are wanted; of the kind that is wanted; none too large to be squared and summed.

    Raises ``DataError`` that names the row and the column of the first cell that is wrong.
    """
    if dataset.kind == "categorical":
        return
    check_finite(dataset)
    if item.dtype not in ("binary", "count"):
        return
    binary = item.dtype == "binary"
    found = _first(
        dataset,
        lambda values: (
            ~np.isnan(values)
            & ((values != 0) & (values != 1) if binary else (values < 0) | (values % 1 != 0))
        ),
    )
    if found is not None:
        wanted = "0 or 1" if binary else "whole numbers from 0 on"
        value, where = found
        raise DataError(f"“{item.title}” needs {wanted}. Found {value:g} in {dataset.name}, {where}.")


def check_finite(dataset: Dataset) -> None:
    """Raises ``DataError`` for infinity, for a value too large to be squared and summed, and for a gap in a sparse matrix."""
    size, most = _extent(dataset)
    if not size:
        return
    gap = _first(dataset, np.isnan) if dataset.is_sparse else None
    if gap is not None:
        raise DataError(
            f"{dataset.name}, {gap[1]}: a sparse matrix has no missing cells. Found NaN.",
            "Make it dense, or put a number there.",
        )
    largest = math.sqrt(sys.float_info.max / size)
    if not most > largest:
        return
    found = _first(dataset, lambda values: np.abs(values) > largest)
    assert found is not None
    value, where = found
    if np.isinf(value):
        raise DataError(
            f"{dataset.name}, {where}: expected a finite number, found {'minus ' if value < 0 else ''}infinity.",
            "Put the right number there, or make the cell missing.",
        )
    raise DataError(
        f"{dataset.name}, {where}: {value:g} is too large, for the squares of numbers are summed. "
        f"Expected at most {largest:.2g} in size.",
        "Put the right number there, or use a larger unit.",
    )


def _extent(dataset: Dataset) -> tuple[int, float]:
    """How many values there are, those of a sparse matrix that it stores, and the largest in size."""
    if (cells := dataset.in_file) is not None:
        facts = cells.facts()
        return cells.size, max(facts.most, -facts.least)
    values = np.asarray(dataset.values.data if dataset.is_sparse else dataset.values)
    if not values.size:
        return 0, 0.0
    return values.size, max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None))


def _first(dataset: Dataset, bad: Callable[[np.ndarray], np.ndarray]) -> tuple[float, str] | None:
    """The first value that is bad, of those stored, and its place in words; None when there is none."""
    for begin, part in _parts(dataset):
        marked = np.flatnonzero(bad(part))
        if len(marked):
            number = begin + int(marked[0])
            return float(part.reshape(-1)[marked[0]]), _where(dataset, number)
    return None


def _parts(dataset: Dataset) -> Iterator[tuple[int, np.ndarray]]:
    """The stored values, some at a time, each with the number of its first one."""
    if (cells := dataset.in_file) is not None:
        for begin, rows in cells.pieces():
            yield begin * dataset.shape[1], rows
        return
    flat = np.asarray(dataset.values.data if dataset.is_sparse else dataset.values).reshape(-1)
    for begin in range(0, len(flat), _AT_ONCE):
        yield begin, flat[begin : begin + _AT_ONCE]


def _where(dataset: Dataset, number: int) -> str:
    """The place of the stored value of this number, in words."""
    if dataset.is_sparse:
        row = int(np.searchsorted(dataset.values.indptr, number, side="right")) - 1
        position: tuple[int, ...] = (row, int(dataset.values.indices[number]))
    else:
        position = tuple(int(index) for index in np.unravel_index(number, dataset.shape))
    names = (dataset.row_names, dataset.column_names)
    return ", ".join(f"{w} “{n[i]}”" for w, n, i in zip(("row", "column"), names, position))
