"""Matrices that stay in their file: whether one does, and what is told of it; alike for all formats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Source
from plaidwork.core.data.importers._text import file_sha256
from plaidwork.core.data.importers.base import ImportOptions, Issue
from plaidwork.core.data.in_file import TYPES, InFile, stays_in_file
from plaidwork.core.data.sparse_in_file import SparseInFile
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_ENTRY = 16
"""Bytes of an entry of a sparse matrix in memory, at the end of an import."""


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


def sparse_stays(entries: int, options: ImportOptions) -> bool:
    """Whether a sparse matrix of so many entries stays out of memory: large, or so requested."""
    wanted = options.get("values_in")
    return wanted == "file" or (wanted != "memory" and entries > 0 and stays_in_file(_ENTRY * entries // 8))


def can_stay(dtype: np.dtype[Any]) -> bool:
    """Whether numbers of a type can, in whatever order their bytes are."""
    return dtype.newbyteorder("=").str[1:] in TYPES


def sparse_source(path: Path, made: SparseInFile, in_force: ImportOptions) -> Source:
    """Where the entries of a sparse matrix come from. Raises ``DataError`` for a file that has changed while it was read."""
    made.get()
    return Source(path.name, file_sha256(path), dict(in_force))


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


def sparse_note(path: Path) -> str:
    """What a dataset notes of where its values are."""
    return f"The values of {path.name} stay out of memory."


def sparse_issue() -> Issue:
    """What a preview tells of a sparse matrix that stays out of memory."""
    text = (
        "They are read from the file, or from a scratch file that is made of it. A session names the file and does "
        "not hold the values."
    )
    return Issue("info", "The values stay out of memory", text)


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
