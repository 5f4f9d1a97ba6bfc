"""Some rows of data that are too large to be read while somebody waits."""

from __future__ import annotations

from typing import Any

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.deferred import Deferred
from plaidwork.core.hdf5.parts import PART

LARGE = 1 << 27
"""Data of so many bytes are shown from some of their rows before all are read."""
GLIMPSE = 1 << 27
"""Bytes of a file that are read for that at most."""

FEWER = 8
"""Where a row takes the unpacking of many, so many times longer is waited, for the sake of some rows at all."""


def some_rows(dataset: Dataset) -> tuple[int, Any] | None:
    """A step, and every so-many-th row of data that take over a second to read or to look through.

    None for smaller ones, for sparse ones, and where that is no faster.
    """
    rows = dataset.shape[0]
    if dataset.is_sparse or len(dataset.shape) != 2 or dataset.nbytes < LARGE or not rows:
        return None
    row, held = dataset.nbytes // rows, dataset.held
    cost = 4 * row  # what is in memory only has to be looked through
    if isinstance(held, Deferred) and not dataset.at_hand:
        cost = max(held.row_cost // FEWER, row, PART)
    step = -(-rows // max(1, GLIMPSE // max(cost, 1)))
    values = held.every(step) if isinstance(held, Deferred) else held[::step]
    return None if step == 1 or values is None else (step, values)
