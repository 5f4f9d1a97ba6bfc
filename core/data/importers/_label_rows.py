"""Rows under the titles that hold labels of the columns, as classes of samples above a table of genes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from plaidwork.core.data.importers._marks import like_number
from plaidwork.core.data.importers._numbers import as_annotation
from plaidwork.core.data.importers.base import Issue
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

if TYPE_CHECKING:
    from plaidwork.core.data.importers._layout import Layout

_MOST, _BELOW = 5, 100
"""Rows of labels that are looked for, and rows of numbers below them that are looked at."""
_COLUMNS, _FILLED, _DIFFERENT = 4, 0.8, 0.5
"""Columns of numbers at least, the share of them that have a label, and the share of these labels that differ at most."""
_SHOWN = 4

Row = tuple[int, Sequence[str]]


def rows_of_labels(head: Sequence[Row], missing: Sequence[str]) -> int:
    """How many of the first rows below the titles hold, above columns of numbers, texts that come back; 0 where the next row is data."""
    known = {token.lower() for token in missing}
    below = [fields for _, fields in head[_MOST : _MOST + _BELOW]]
    if len(below) < 2:
        return 0
    width = max(map(len, below))
    numbers = [
        index
        for index in range(width)
        if sum(len(row) > index and like_number(row[index]) for row in below) > 0.5 * len(below)
    ]
    if len(numbers) < _COLUMNS:
        return 0
    found = 0
    for _, fields in head[:_MOST]:
        texts = [fields[index].strip() for index in numbers if len(fields) > index]
        texts = [text for text in texts if text.lower() not in known]
        if len(texts) < _FILLED * len(numbers) or any(map(like_number, texts)):
            break
        if len(set(texts)) > _DIFFERENT * len(texts):
            break
        found += 1
    return found


def labels_issue(rows: Sequence[Row]) -> Issue:
    """Rows of labels can be used as such; read as measurements they are no numbers."""
    row, number = rows[0][0], len(rows)
    message = (
        f"Row {row} holds labels of the columns, not numbers"
        if number == 1
        else f"Rows {row} to {rows[-1][0]} hold labels of the columns, not numbers"
    )
    words = f"Use {agree(number, 'it', 'them')} as labels of the columns"
    return Issue("error", message, _listed(rows[0][1]), row=row, fix=(words, "label_rows", number))


def labels_error(file: Path, layout: Layout) -> DataError:
    """The refusal of labels of the columns among numbers."""
    row, fields = layout.labels_above[0]
    number = len(layout.labels_above)
    return DataError(
        f"{file.name}, row {row}: expected numbers, found labels of the columns: {_listed(fields)}.",
        f"Use {counted(number, 'row')} under the titles as labels with the option “label_rows” ({number}).",
    )


def column_labels(layout: Layout) -> dict[str, np.ndarray]:
    """Labels of the measured columns by the title of their row: what stands in its column of names."""
    if not layout.label_rows:
        return {}
    parser, found = layout.parser(), {}
    for row, fields in layout.labels_above:
        title = fields[layout.names].strip() if layout.names >= 0 else ""
        title = title or f"row {row}"
        texts = [fields[index].strip() if len(fields) > index else "" for index in layout.value_columns]
        found[title if title not in found else f"{title} {row}"] = as_annotation(texts, parser)
    return found


def _listed(fields: Sequence[str]) -> str:
    texts = list(dict.fromkeys(field.strip() for field in fields[1:] if field.strip()))
    shown = ", ".join(f"“{text}”" for text in texts[:_SHOWN])
    return f"{shown}{', …' if len(texts) > _SHOWN else ''}"
