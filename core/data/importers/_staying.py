"""Matrices that stay in their file: whether one does, and what is told of it; alike for all formats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Source
from plaidwork.core.data.importers.base import ImportOptions, Issue
from plaidwork.core.data.in_file import TYPES, InFile, stays_in_file
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError


def stays(where: str, shape: Sequence[int], fits: bool, what: str, options: ImportOptions) -> bool:
    """Whether a matrix stays in its file: large, or so requested. Raises ``DataError`` for what cannot.

    ``where`` names it in messages, ``what`` is what it is, and ``fits`` whether it is of a kind that can.
    """
    wanted = options.get("values_in")
    fits = fits and len(shape) == 2 and min(shape) > 0
    if wanted == "file" and not fits:
        raise DataError(
            f"{where} holds {what}; only matrices of float32 or float64 can stay in their file.",
            "Save the numbers as such: array.astype(numpy.float32).",
        )
    return fits and wanted != "memory" and (wanted == "file" or stays_in_file(math.prod(shape)))


def can_stay(dtype: np.dtype[Any]) -> bool:
    """Whether numbers of a type can, in whatever order their bytes are."""
    return dtype.newbyteorder("=").str[1:] in TYPES


def in_force_of(options: ImportOptions) -> dict[str, Any]:
    """The options as they are stored with data that stay in their file."""
    return {**options, "values_in": "file"}


def source_of(path: Path, cells: InFile, in_force: ImportOptions, where: str = "") -> Source:
    """Where the cells come from, once all were looked at. Raises ``DataError`` for infinite ones."""
    facts = cells.facts()
    if np.isinf([facts.least, facts.most]).any():
        raise DataError(
            f"{where or path.name}: expected finite numbers, found infinity.",
            "Mend the array: it is too large to be changed here.",
        )
    return Source(path.name, facts.file, dict(in_force))


def doubts_of(path: Path, cells: InFile) -> list[Issue]:
    """What a preview tells: that the values stay, and what it costs to go through them."""
    text = (
        "Only a part of them is in memory at a time. A session names the file and does not hold the values."
    )
    found = [Issue("info", "The values stay in their file", text)]
    times = cells.times_read
    if times > 1:
        detail = (
            f"Its chunks are {counted(_height(cells), 'row')} high, and a few rows are read at a time. "
            f"Write it once more: plaidwork export {path.name} --to {path.stem}.npy"
        )
        found.append(Issue("warning", f"Each pass unpacks this file about {times} times", detail))
    return found


def _height(cells: InFile) -> int:
    return cells.row_cost * cells.shape[0] // max(1, cells.nbytes)
