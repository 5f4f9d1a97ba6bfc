"""Dates: recognised in columns of text, and read as numbers when that is asked for; which of day and month comes first is never guessed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
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
_MONTH = re.compile(r"(\d{4})(?:-M?|M)(\d{1,2})\Z", re.ASCII)
_QUARTER = re.compile(r"(?P<year>\d{4})[ /-]?Q(?P<quarter>[1-4])\Z", re.ASCII | re.IGNORECASE)
_QUARTER_FIRST = re.compile(r"Q(?P<quarter>[1-4])[ /-]?(?P<year>\d{4})\Z", re.ASCII | re.IGNORECASE)
_NAME = r"(?P<name>[A-Za-zäÄ]{3,9})\.?"
_NAMED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_NAME}[ /-]?(?P<year>[0-9]{{4}})\Z",
        rf"(?P<year>[0-9]{{4}})[ /-]?{_NAME}\Z",
        rf"(?P<day>[0-9]{{1,2}})\.?[\s/-]?{_NAME},?[\s/-]?(?P<year>[0-9]{{4}})\Z",
        rf"{_NAME}\s(?P<day>[0-9]{{1,2}}),?\s(?P<year>[0-9]{{4}})\Z",
    )
)
"""Dates with a month by name: it is always clear which part is what."""
_MONTHS = (
    ("january", "januar"), ("february", "februar"), ("march", "märz", "maerz", "mrz"), ("april",), ("may", "mai"), ("june", "juni"),
    ("july", "juli"), ("august",), ("september",), ("october", "oktober"), ("november",), ("december", "dezember"),
)  # fmt: skip
"""English and German; three letters of each are enough."""
_YEAR_LAST = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<mark>[-/.])(?P<second_part>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}){_TIME}\Z",
    re.ASCII,
)
_ORDERS = ("ymd", "dmy", "mdy")
FIGURES = "figures"
"""The order of year, month and day without marks between them, as 194901 or 19490131: numbers, unless it is said or the title says when."""
_FIGURES = re.compile(r"(?P<year>(?:1[5-9]|2[01])\d{2})(?P<month>\d{2})(?P<day>\d{2})?\Z", re.ASCII)
_SAID = {"dmy": "dmy", "mdy": "mdy", "ymd": FIGURES}
"""The order by what the option says behind its hyphen."""
_DAY = 86_400
_EPOCH = datetime.datetime(1970, 1, 1)


def seconds_of(text: str, order: str) -> int | None:
    """Seconds from the beginning of 1970 to a date (and time of day, as written); None for a text that is none in that order.

    ``order`` is ``ymd``, ``dmy``, ``mdy`` or :data:`FIGURES`; a month by name, or a quarter, is of the first. A date without a day is the
    first of its month or quarter.
    """
    bare = text.strip()
    if order == "ymd":
        bare = _in_figures(bare)
    elif order == FIGURES:
        joined = _FIGURES.match(bare)
        bare = f"{joined['year']}-{joined['month']}-{joined['day'] or 1}" if joined else ""
    found = (_YEAR_LAST if order in ("dmy", "mdy") else _YEAR_FIRST).match(bare)
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


def _in_figures(text: str) -> str:
    """Year, month and day in figures, of a month or a quarter, or of a date with a month by name; other texts as they are."""
    quarter = _QUARTER.match(text) or _QUARTER_FIRST.match(text)
    if quarter:
        return f"{quarter['year']}-{3 * int(quarter['quarter']) - 2}-1"
    for pattern in _NAMED:
        found = pattern.match(text)
        month = _month_called(found["name"]) if found else 0
        if found and month:
            return f"{found['year']}-{month}-{found.groupdict().get('day', 1)}"
    return _MONTH.sub(r"\1-\2-1", text)


@lru_cache(maxsize=256)
def _month_called(name: str) -> int:
    """The number of a month, from 1; 0 where no month is called so."""
    said = name.lower()
    fitting = [at for at, names in enumerate(_MONTHS, 1) if any(one.startswith(said) for one in names)]
    return fitting[0] if len(fitting) == 1 else 0


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
    dotted = all(
        "." in cell.split()[0]
        for cell in cells
        if any(seconds_of(cell, order) is not None for order in fitting)
    )
    return ["dmy"] if dotted and "dmy" in fitting else fitting


def are_figures(cells: Sequence[str]) -> bool:
    """Whether all filled cells of a column are dates without marks, of more than one year: else they may count from 190001 on."""
    years = {cell.strip()[:4] for cell in cells}
    return (
        len(cells) >= _FEWEST
        and len(years) > 1
        and all(seconds_of(cell, FIGURES) is not None for cell in cells)
    )


def date_columns(present: Sequence[Sequence[str]], asked: str) -> dict[int, str]:
    """The order by column of those columns that are read as dates; ``asked`` is the option, empty for none.

    ``present`` are the filled cells of each column in the first rows. Where day and month could be either, the option says.
    """
    said = _SAID.get(asked.partition("-")[2], "")
    found = {}
    for index, cells in enumerate(present) if asked else ():
        orders = orders_of(cells)
        if len(orders) == 1:
            found[index] = orders[0]
        elif said in orders or (said == FIGURES and are_figures(cells)):
            found[index] = said
    return found


def as_seconds(cells: Sequence[str], orders: Mapping[int, str]) -> list[str]:
    """The cells of a row with whole seconds in place of the dates in the columns of ``orders``; what is no date stays as it is."""
    found = list(cells)
    for place, order in orders.items():
        seconds = seconds_of(cells[place], order)
        if seconds is not None:
            found[place] = f"{seconds}e0"  # a 0 by itself may stand for a missing value
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


def unit_of(layout: Layout) -> str:
    """In what the only measurement is counted, where that is dates; empty of all other tables."""
    alone = not (layout.categories or layout.alleles) and len(layout.value_columns) == 1
    dates = alone and layout.value_columns[0] in layout.date_orders
    return ("days" if layout.dates.startswith("days") else "years") if dates else ""


def dates_issues(layout: Layout, present: Sequence[Sequence[str]]) -> list[Issue]:
    """Columns of dates that are read as labels or names, and how to read them as numbers."""
    columns = [*layout.labels, *([layout.names] if layout.names >= 0 else [])]
    orders = {index: orders_of(present[index]) for index in sorted(columns)}
    clear = [index for index, some in orders.items() if len(some) == 1]
    unsure = [index for index, some in orders.items() if len(some) > 1]
    found = []
    if clear:
        detail = f"“{_first_date(present[clear[0]], orders[clear[0]])}”, …: they can be read as numbers"
        fixes = ("Read as years", "dates", "years"), ("Read as days since 1970", "dates", "days")
        found.append(_issue(layout, clear, detail, fixes))
    if unsure:
        example = _first_date(present[unsure[0]], orders[unsure[0]])
        detail = f"Nothing tells whether “{example}” begins with the day or with the month"
        fixes = (
            ("The day: read as years", "dates", "years-dmy"),
            ("The month: read as years", "dates", "years-mdy"),
        )
        found.append(_issue(layout, unsure, detail, fixes))
    return found


def _first_date(cells: Sequence[str], orders: Sequence[str]) -> str:
    """The first cell of a column that is a date in all of the orders, or else in one: a remark may stand above the dates."""
    fitting = [sum(seconds_of(cell, order) is not None for order in orders) for cell in cells]
    return cells[fitting.index(max(fitting))]


def _issue(layout: Layout, columns: Sequence[int], detail: str, fixes: tuple[Fix, Fix]) -> Issue:
    number = len(columns)
    titles = (f"column “{layout.titles[index]}”" for index in columns)
    return Issue(
        "info",
        f"{counted(number, 'column')} {agree(number, 'holds', 'hold')} dates and {agree(number, 'is', 'are')} not read as numbers",
        detail,
        column=columns[0] + 1,
        fix=fixes[0],
        other=fixes[1],
        places=tuple(chain((detail,), titles)) if number > 1 else (),
    )
