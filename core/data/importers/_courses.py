"""A course: a time and the one column of amounts that was measured at it; dates are read as such a time by themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from plaidwork.core.data.importers._beside import names_total
from plaidwork.core.data.importers._dates import FIGURES, are_figures, orders_of, seconds_of
from plaidwork.core.data.importers._layout import Layout, column_index
from plaidwork.core.data.importers._marks import THOUSANDS_WORDS, like_number
from plaidwork.core.data.importers._numbers import BadCell, NumberParser, holds_numbers
from plaidwork.core.data.importers._problems import offered_mark
from plaidwork.core.data.importers._row_numbers import as_label, titled_number
from plaidwork.core.data.importers.base import Added, Fix, ImportOptions, Issue
from plaidwork.core.data.measured import is_called_time
from plaidwork.core.draws.counting import agree, counted

_FEWEST = 10
"""Times that a course has at least."""
_ODD = 0.5
"""Share of the amounts that are none, at most, where the others are."""
_ONE_WAY = 0.9
"""Share of the steps from row to row that dates of a course go in one direction, at least."""
_FEW = 2
"""Different numbers that are a mark of two states, and no amounts."""
_AMOUNT = re.compile(r"-?\d+([.,]\d+)?", re.ASCII)


def over_time(layout: Layout, columns: Sequence[int], present: Sequence[Sequence[str]]) -> list[int]:
    """The one of two ``columns`` of numbers that is measured over the other, a time that rises from row to row: a course, which the time
    explains.

    ``present`` are the filled cells of each column in the first rows.
    """
    when = [index for index in columns if layout.header and is_called_time(layout.titles[index])]
    dated = _dates_of_course(layout, present)
    if dated in layout.date_orders:
        when = [dated]
    if len(columns) != 2 or len(when) != 1 or len(present[when[0]]) < _FEWEST:
        return []
    return [index for index in columns if index not in when] if _rises(layout, when[0], present) else []


def _rises(layout: Layout, index: int, present: Sequence[Sequence[str]]) -> bool:
    """Whether the times of a column rise from row to row; of dates, whether none comes twice."""
    cells = present[index]
    if index in layout.date_orders:
        return len(set(cells)) == len(cells)
    numbers = [float(cell.replace(",", ".")) for cell in cells if _AMOUNT.fullmatch(cell)]
    return len(numbers) == len(cells) and all(before < after for before, after in pairwise(numbers))


def amounts(layout: Layout) -> list[int]:
    """The amounts of a course, which tell the decimal mark too: the only label beside a single measurement that is a time; else none."""
    when = layout.value_columns
    if layout.names >= 0 or len(when) != 1 or len(layout.labels) != 1:
        return []
    dated = when[0] in layout.date_orders
    return list(layout.labels) if dated or is_called_time(layout.titles[when[0]]) else []


def dates_of_rows(layout: Layout) -> int:
    """The column of dates that is the only measurement and says what a row is, -1 where there is none."""
    (when,) = layout.value_columns if len(layout.value_columns) == 1 else (-1,)
    return when if when in layout.date_orders else -1


def over_time_issue(layout: Layout, index: int) -> Issue:
    """That such a column is read as a label, and how it is read otherwise."""
    message = f"Column {layout.place(index)} is measured over time"
    detail = "It is read as a label, which a model can explain by the time, not as a measurement beside it"
    return as_label(layout, index, message, detail)


def words_issues(layout: Layout, labels: Mapping[str, Sequence[str]], parser: NumberParser) -> list[Issue]:
    """That some amounts of a course are no numbers as they stand, so that all are read as text; nothing of any other table.

    The roles and the decimal mark are told by the first rows, and a remark, a decimal comma, or a mark between thousands may first stand
    anywhere below: a decimal mark that only these tell is taken over into ``layout``, and one that they leave open is told by its evidence.
    """
    if not amounts(layout):
        return []
    index, cells = layout.labels[0], next(iter(labels.values()))
    words = [cell for cell in cells if not _is_number(cell, parser)]
    if "decimal" in layout.detected:
        for word in filter(like_number, words):
            layout.evidence.add(word)
        if layout.evidence.unclear:  # which is asked first
            words = [word for word in words if not like_number(word)]
        elif layout.evidence.mark != layout.decimal:
            layout.decimal = layout.evidence.mark
            words = [word for word in words if not _is_number(word, layout.parser())]
    if len(words) > _ODD * len(cells):
        return []
    by_mark: dict[str, list[str]] = {}
    for word in words:
        by_mark.setdefault(offered_mark(word, layout), []).append(word)
    return [_words_issue(layout, index, mark, found) for mark, found in by_mark.items()]


def _words_issue(layout: Layout, index: int, mark: str, words: Sequence[str]) -> Issue:
    """That these ``words`` of a column keep it from being numbers: by a mark that has to be allowed, or else by being none."""
    number, place = len(words), layout.place(index)
    other: Fix | None = None
    if mark == "%":
        message = f"Column {place} is read as text, as {counted(number, 'number')} {agree(number, 'has', 'have')} a percent sign"
        fix: Fix = ("Leave out the sign", "percent", "number")
        other = ("Read as a share", "percent", "share")
    elif mark:
        message = f"Column {place} is read as text, as {counted(number, 'number')} {agree(number, 'has', 'have')} thousands marks"
        fix = (f"Read the {THOUSANDS_WORDS[mark]} as thousands mark", "thousands", mark)
    else:
        message = f"Column {place} is read as text, as {counted(number, 'cell')} {agree(number, 'holds', 'hold')} no number"
        fix = ("Treat as missing", "missing", Added(tuple(dict.fromkeys(words))))
    return Issue("warning", message, f"First: “{words[0]}”", column=index + 1, fix=fix, other=other)


def _is_number(cell: str, parser: NumberParser) -> bool:
    """Whether a cell is a number, or missing."""
    try:
        parser.cell(cell)
    except BadCell:
        return False
    return True


def dated_course(layout: Layout, options: ImportOptions, present: Sequence[Sequence[str]]) -> int:
    """The column of dates of a course that are read as years unasked; -1 where there is none, or somebody said what the column is.

    Only a table of dates and amounts is such a course, nothing else.
    """
    index = _dates_of_course(layout, present)
    names = options.get("names")
    asked = any(options.get(name) is not None for name in ("dates", "column", "categories", "alleles"))
    if any(
        names_total(fields) for _, fields in layout.head
    ):  # it is no date, and is left out by a click first
        return -1
    if index < 0 or asked or options.get("layout") == "long" or names not in (None, -1):
        return -1
    given = options.get("labels") or ()
    labels = [given] if isinstance(given, (str, int)) else given
    return -1 if index in [column_index(layout, item, "labels") for item in labels] else index


def _dates_of_course(layout: Layout, present: Sequence[Sequence[str]]) -> int:
    """The first column, where it holds dates, as many as there are amounts in the only other one; else -1."""
    columns = [index for index in range(layout.n_columns) if index not in layout.skip]
    if len(columns) != 2 or min(len(present[index]) for index in columns) < _FEWEST:
        return -1
    when, other = columns
    orders = [layout.date_orders[when]] if when in layout.date_orders else orders_of(present[when])
    if not orders and layout.header and is_called_time(layout.titles[when]) and are_figures(present[when]):
        orders = [FIGURES]
    fits = (
        len(orders) == 1
        and len(present[when]) >= len(present[other])
        and _are_amounts(layout, other, present)
    )
    return when if fits and _go_one_way(present[when], orders[0]) else -1


def _are_amounts(layout: Layout, index: int, present: Sequence[Sequence[str]]) -> bool:
    """Whether a column holds numbers, with one decimal mark or the other, of which nothing says that they number or name something."""
    cells, title = present[index], layout.titles[index]
    numbers = titled_number(title) and all(map(str.isdecimal, cells))  # an index of prices has fractions
    if len(set(cells)) <= _FEW or (layout.header and (numbers or is_called_time(title))):
        return False
    parsers = [
        NumberParser(mark, layout.missing, layout.thousands, layout.percent)
        for mark in ".,"
        if mark != layout.thousands
    ]
    return any(holds_numbers(cells, parser) for parser in parsers)


def _go_one_way(cells: Sequence[str], order: str) -> bool:
    """Whether all cells are dates, none comes twice, and nearly all rise, or fall, as they do where the newest is the first."""
    moments = [seconds for cell in cells if (seconds := seconds_of(cell, order)) is not None]
    if len(moments) < len(cells) or len(set(moments)) < len(moments):
        return False
    rising = sum(before < after for before, after in pairwise(moments)) / (len(moments) - 1)
    return rising >= _ONE_WAY or rising <= 1.0 - _ONE_WAY


def years_of(cells: Sequence[str]) -> str:
    """What the option says for these dates of a course to be read as years."""
    return "years" if orders_of(cells) else "years-ymd"


def dated_issue(layout: Layout, index: int, cells: Sequence[str]) -> Issue:
    """That the dates of a course are read as years, and how they are read otherwise."""
    figures = years_of(cells) != "years"
    as_labels = "Read as plain numbers" if figures else "Use the dates as names of the rows"
    return Issue(
        "info",
        f"Column {layout.place(index)} holds dates and is read as years",
        f"“{cells[0]}”, …: a model can explain the amounts by the time",
        column=index + 1,
        fix=(as_labels, "dates", "labels"),
        other=("Read as days since 1970", "dates", "days-ymd" if figures else "days"),
    )
