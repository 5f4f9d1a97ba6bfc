"""Whether the numbers of a dataset can be used: one rule for files, Python objects and data of a session."""

from __future__ import annotations

import math
import sys

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
    number = _first_bad(_stored(dataset).reshape(-1), item.dtype == "binary")
    if number >= 0:
        wanted = "0 or 1" if item.dtype == "binary" else "whole numbers from 0 on"
        value, where = _cell(dataset, number)
        raise DataError(f"“{item.title}” needs {wanted}. Found {value:g} in {dataset.name}, {where}.")


def _first_bad(values: np.ndarray, binary: bool) -> int:
    """The first of the values (n,) that is no 0 or 1, or no count; -1 without any. Some are looked at at a time."""
    for start in range(0, len(values), _AT_ONCE):
        part = values[start : start + _AT_ONCE]
        fits = (part == 0) | (part == 1) if binary else (part >= 0) & (part == np.floor(part))
        bad = np.flatnonzero(~fits & ~np.isnan(part))
        if len(bad):
            return start + int(bad[0])
    return -1


def check_finite(dataset: Dataset) -> None:
    """Raises ``DataError`` for infinity, for a value too large to be squared and summed, and for a gap in a sparse matrix."""
    values = _stored(dataset)
    if not values.size:
        return
    if dataset.is_sparse and np.isnan(values).any():
        _, where = _first(dataset, np.isnan(values))
        raise DataError(
            f"{dataset.name}, {where}: a sparse matrix has no missing cells. Found NaN.",
            "Make it dense, or put a number there.",
        )
    largest = math.sqrt(sys.float_info.max / values.size)
    if not max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)) > largest:
        return
    value, where = _first(dataset, np.abs(values) > largest)
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


def _stored(dataset: Dataset) -> np.ndarray:
    """All values, or those that a sparse matrix stores."""
    return np.asarray(dataset.values.data if dataset.is_sparse else dataset.values)


def _first(dataset: Dataset, bad: np.ndarray) -> tuple[float, str]:
    """The first value that is marked, of those stored, and its place in words."""
    return _cell(dataset, int(np.flatnonzero(bad)[0]))


def _cell(dataset: Dataset, number: int) -> tuple[float, str]:
    """The stored value of this number, and its place in words."""
    if dataset.is_sparse:
        row = int(np.searchsorted(dataset.values.indptr, number, side="right")) - 1
        position: tuple[int, ...] = (row, int(dataset.values.indices[number]))
        value = float(dataset.values.data[number])
    else:
        position = tuple(int(index) for index in np.unravel_index(number, dataset.shape))
        value = float(dataset.values[position])
    names = (dataset.row_names, dataset.column_names)
    return value, ", ".join(f"{w} “{n[i]}”" for w, n, i in zip(("row", "column"), names, position))
