"""What is doubtful among the entries of a Matrix Market file: given twice, or not to be held by a float."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers._numbers import inexact
from plaidwork.core.data.importers._problems import inexact_error
from plaidwork.core.data.importers._text import open_binary
from plaidwork.core.data.importers.base import ImportOptions, Issue
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

_LISTED = 50


@dataclass(frozen=True, slots=True)
class Entry:
    """A number that cannot be held as it is written: line of the file, row and column of the matrix, from 1."""

    line: int
    row: int
    column: int
    text: str
    what: str


def inexact_entries(path: Path, shape: tuple[int, int], dense: bool) -> Generator[Entry, None, None]:
    """The entries that a float cannot hold, found in the text itself."""
    raw, content = open_binary(path)
    number, size_read = 0, False
    with raw:
        for line_number, line in enumerate(content, start=1):
            parts = line.decode("latin-1").split()
            if not parts or parts[0].startswith("%"):
                continue
            if not size_read:
                size_read = True
                continue
            number += 1
            try:
                what = inexact(parts[-1], float(parts[-1])) if dense or len(parts) > 2 else ""
                if what and dense:
                    column, row = divmod(number - 1, max(shape[0], 1))
                    yield Entry(line_number, row + 1, column + 1, parts[-1], what)
                elif what:
                    yield Entry(line_number, int(parts[0]), int(parts[1]), parts[-1], what)
            except ValueError:
                return


def entry_error(path: Path, entry: Entry) -> DataError:
    """The refusal of such an entry."""
    location = f"{path.name}, line {entry.line} (row {entry.row}, column {entry.column})"
    found = inexact_error(location, entry.text, entry.what)
    hint = (
        "Take the nearest number with the option “inexact”: nearest."
        if entry.what != "large"
        else "Mend the entry."
    )
    return DataError(found.message, hint)


def entry_issue(entries: list[Entry]) -> Issue:
    """The same for a preview, with the way out."""
    lines = [
        f"row {entry.row}, column {entry.column}: “{entry.text}” (line {entry.line})" for entry in entries
    ]
    verb = agree(len(entries), "is not representable", "are not representable")
    return Issue(
        "error",
        f"{counted(len(entries), 'number')} {verb} as written",
        f"First: {lines[0]}",
        fix=("Take the nearest number", "inexact", "nearest"),
        places=tuple(lines[:_LISTED]),
    )


def without_repeats(path: Path, found: Any, options: ImportOptions, issues: list[Issue] | None) -> Any:
    """Entries given more than once are added up or averaged when the user said so; reported or refused otherwise.

    ``found`` is a ``coo_matrix``; with ``issues`` they are added up for the preview.
    """
    keys = found.row.astype(np.int64) * max(found.shape[1], 1) + found.col
    unique, back, times = np.unique(keys, return_inverse=True, return_counts=True)
    if len(unique) == len(keys):
        return found
    rule = options.get("repeated")
    twice = np.flatnonzero(times > 1)
    lines = []
    for index in twice[:_LISTED].tolist():
        row, column = divmod(int(unique[index]), max(found.shape[1], 1))
        shown = ", ".join(f"{value:g}" for value in found.data[back == index][:4].tolist())
        lines.append(f"row {row + 1}, column {column + 1}: {counted(times[index], 'entry')} ({shown})")
    message = f"{counted(len(twice), 'cell')} {agree(len(twice), 'is', 'are')} given more than once"
    if rule not in ("sum", "mean"):
        if issues is None:
            raise DataError(
                f"{path.name}: {message}. First: {lines[0]}.",
                "Add them up or take the mean with the option “repeated”: sum or mean.",
            )
        add, mean = ("Add them up", "repeated", "sum"), ("Take the mean", "repeated", "mean")
        issues.append(Issue("error", message, f"First: {lines[0]}", 0, 0, add, mean, tuple(lines)))
    total: np.ndarray = np.bincount(back, weights=found.data)
    data = total / times if rule == "mean" else total
    rows, columns = np.divmod(unique, max(found.shape[1], 1))
    return type(found)((data, (rows, columns)), shape=found.shape)
