"""Totals at the end of a file that is not read whole for a preview: the import would tell them too late to leave them out."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from plaidwork.core.data.importers._beside import may_sum, names_total, totals_issue
from plaidwork.core.data.importers._layout import Layout
from plaidwork.core.data.importers._numbers import BadCell
from plaidwork.core.data.importers._text import last_records
from plaidwork.core.data.importers.base import Issue


def totals_below(path: Path, layout: Layout, above: np.ndarray) -> list[Issue]:
    """That rows among the last ones are named as totals and may be, by the first rows (n, m) that were read; O(length of the file)."""
    found = []
    for row, fields in last_records(path, layout.encoding, layout.delimiter):
        word = names_total(fields)
        if word and may_sum(np.vstack([above, _numbers(layout, fields)]), len(above)):
            found.append((row, word))
    return [totals_issue(found)] if found else []


def _numbers(layout: Layout, fields: Sequence[str]) -> np.ndarray:
    """The measurements of a row (m,), NaN where a cell is none."""
    parser, columns = layout.parser(), layout.value_columns
    values = np.full(len(columns), np.nan)
    for place, index in enumerate(columns):
        with suppress(BadCell, IndexError):
            values[place] = parser.cell(fields[index])
    return values
