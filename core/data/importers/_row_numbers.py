"""Columns that only number the rows: told by their titles, or by their values."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plaidwork.core.data.importers._layout import Layout
from plaidwork.core.data.importers.base import Added, Issue

_ENOUGH = 5
"""Rows from which values in order are no accident."""
_NUMBERING = re.compile(
    r"(?:.*[\s_.-])?(?:nr|no|nos|num|number|nummer|numéro|número|n°|nº|№|#|id|index|obs)\.?", re.IGNORECASE
)


def titled_number(title: str) -> bool:
    """Whether a title says that the column numbers something: ``Nr``, ``No.``, ``Lfd. Nr.``, ``#``."""
    return bool(_NUMBERING.fullmatch(title.strip()))


def numbers_rows(cells: Sequence[str]) -> bool:
    """Whether the cells are 1, 2, 3, … or 0, 1, 2, …"""
    if len(cells) < _ENOUGH or cells[0] not in ("0", "1"):
        return False
    first = int(cells[0])
    return all(cell == str(first + place) for place, cell in enumerate(cells))


def numbering_issues(layout: Layout, present: Sequence[Sequence[str]]) -> list[Issue]:
    """Columns of values that count the rows, with ways to take them out; those not titled so may be a time.

    ``present`` are the filled cells of each column in the first rows. A table of nothing else is left alone.
    """
    values = layout.value_columns
    counting = [index for index in values if numbers_rows(present[index])]
    if len(counting) == len(values):
        return []
    return [_issue(layout, index) for index in counting]


def _issue(layout: Layout, index: int) -> Issue:
    titled = layout.header and titled_number(layout.titles[index])
    leave = ("Leave it out", "skip", Added((index,)))
    return Issue(
        "warning" if titled else "info",
        f"C{layout.title(index)[1:]} counts the rows",
        "It is read as a measurement" if titled else "It is read as a measurement, as it may be a time",
        column=index + 1,
        fix=("Use it as row names", "names", index) if layout.names < 0 else leave,
        other=leave if layout.names < 0 else None,
    )
