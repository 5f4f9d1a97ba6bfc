"""Dates: recognised in columns of text, and read as numbers when that is asked for; which of day and month comes first is never guessed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from plaidwork.core.data.importers.base import Fix, Issue
from plaidwork.core.draws.counting import agree, counted

if TYPE_CHECKING:
    from plaidwork.core.data.importers._layout import Layout

_FEWEST, _SHARE = 3, 0.9
"""Filled cells that a column needs to be judged, and the share of them that are dates."""
_TIME = (
    r"(?:[T ]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d*)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_YEAR_FIRST = re.compile(
    rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<first>\d{{1,2}})(?P=mark)(?P<second_part>\d{{1,2}}){_TIME}\Z",
    re.ASCII,
)
_MONTH = re.compile(r"(\d{4})-(\d{1,2})\Z", re.ASCII)
_YEAR_LAST = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<mark>[-/.])(?P<second_part>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}){_TIME}\Z",
    re.ASCII,
)
_ORDERS = ("ymd", "dmy", "mdy")
_DAY = 86_400
_EPOCH = datetime.datetime(1970, 1, 1)


def seconds_of(text: str, order: str) -> int | None:
    """Seconds from the beginning of 1970 to a date (and time of day, as written); None for a text that is none in that order.

    ``order`` is ``ymd``, ``dmy`` or ``mdy``. A date without a day is the first of its month.
    """
    bare = text.strip()
    if order == "ymd":
        bare = _MONTH.sub(r"\1-\2-1", bare)
    found = (_YEAR_FIRST if order == "ymd" else _YEAR_LAST).match(bare)
    if found is None:
        return None
    parts = found.groupdict()
    first, second = int(parts["first"]), int(parts["second_part"])
    month, day = (second, first) if order == "dmy" else (first, second)
    hour, minute, second = (int(parts[name] or 0) for name in ("hour", "minute", "second"))
    try:
        moment = datetime.datetime(int(parts["year"]), month, day, hour, minute, second)
    except ValueError:
        return None
    return round((moment - _EPOCH).total_seconds())


def orders_of(cells: Sequence[str]) -> list[str]:
    """The orders of year, month and day in which nearly all filled cells of a column are dates; none for another column."""
    if len(cells) < _FEWEST:
        return []
    fitting = [
        order
        for order in _ORDERS
        if sum(seconds_of(cell, order) is not None for cell in cells) >= _SHARE * len(cells)
    ]
    # as they are written with points, and 13.4.2024 beside 4.13.2024 is no date at all
    dotted = all("." in cell.split()[0] for cell in cells)
    return ["dmy"] if dotted and "dmy" in fitting else fitting


def date_columns(present: Sequence[Sequence[str]], asked: str) -> dict[int, str]:
    """The order by column of those columns that are read as dates; ``asked`` is the option, empty for none.

    ``present`` are the filled cells of each column in the first rows. Where day and month could be either, the option says.
    """
    said = asked.partition("-")[2]
    found = {}
    for index, cells in enumerate(present) if asked else ():
        orders = orders_of(cells)
        if len(orders) == 1:
            found[index] = orders[0]
        elif said in orders:
            found[index] = said
    return found


def as_seconds(cells: Sequence[str], orders: Mapping[int, str]) -> list[str]:
    """The cells of a row with whole seconds in place of the dates in the columns of ``orders``; what is no date stays as it is."""
    found = list(cells)
    for place, order in orders.items():
        seconds = seconds_of(cells[place], order)
        if seconds is not None:
            found[place] = str(seconds)
    return found


def as_numbers(seconds: np.ndarray, asked: str) -> np.ndarray:
    """Years with decimals (2024.5 is the middle of 2024), or days from the beginning of 1970; NaN where missing."""
    if asked.startswith("days"):
        return np.asarray(seconds / _DAY)
    known = np.isfinite(seconds)
    moments = np.where(known, seconds, 0.0).astype("int64").astype("datetime64[s]")
    years = moments.astype("datetime64[Y]")
    begins, ends = years.astype("datetime64[s]"), (years + 1).astype("datetime64[s]")
    share = (moments - begins) / (ends - begins)
    return np.where(known, years.astype("int64") + 1970 + share, np.nan)


def dates_issues(layout: Layout, present: Sequence[Sequence[str]]) -> list[Issue]:
    """Columns of dates that are read as labels or names, and how to read them as numbers."""
    columns = [*layout.labels, *([layout.names] if layout.names >= 0 else [])]
    orders = {index: orders_of(present[index]) for index in sorted(columns)}
    clear = [index for index, some in orders.items() if len(some) == 1]
    unsure = [index for index, some in orders.items() if len(some) > 1]
    found = []
    if clear:
        detail = f"“{present[clear[0]][0]}”, …: they can be read as numbers"
        fixes = ("Read as years", "dates", "years"), ("Read as days since 1970", "dates", "days")
        found.append(_issue(layout, clear, detail, fixes))
    if unsure:
        detail = f"Nothing tells whether “{present[unsure[0]][0]}” begins with the day or with the month"
        fixes = (
            ("The day: read as years", "dates", "years-dmy"),
            ("The month: read as years", "dates", "years-mdy"),
        )
        found.append(_issue(layout, unsure, detail, fixes))
    return found


def _issue(layout: Layout, columns: Sequence[int], detail: str, fixes: tuple[Fix, Fix]) -> Issue:
    number = len(columns)
    titles = (f"column “{layout.titles[index]}”" for index in columns)
    return Issue(
        "info",
        f"{counted(number, 'column')} {agree(number, 'holds', 'hold')} dates, which are not measured",
        detail,
        column=columns[0] + 1,
        fix=fixes[0],
        other=fixes[1],
        places=tuple(chain((detail,), titles)) if number > 1 else (),
    )
