"""A course: a time and the one column of amounts that was measured at it; dates are read as such a time by themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from plaidwork.core.data.importers._beside import names_total
from plaidwork.core.data.importers._dates import orders_of, seconds_of
from plaidwork.core.data.importers._layout import Layout, column_index
from plaidwork.core.data.importers._numbers import BadCell, NumberParser, holds_numbers
from plaidwork.core.data.importers._row_numbers import as_label, titled_number
from plaidwork.core.data.importers.base import Added, ImportOptions, Issue
from plaidwork.core.data.measured import is_called_time
from plaidwork.core.draws.counting import agree, counted

_FEWEST = 10
"""Times that a course has at least."""
_ODD = 0.1
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


def over_time_issue(layout: Layout, index: int) -> Issue:
    """That such a column is read as a label, and how it is read otherwise."""
    message = f"Column {layout.place(index)} is measured over time"
    detail = "It is read as a label, which a model can explain by the time, not as a measurement beside it"
    return as_label(layout, index, message, detail)


def words_issue(layout: Layout, labels: Mapping[str, Sequence[str]], parser: NumberParser) -> Issue | None:
    """That some amounts of a course are no numbers, so that all are read as text; None of any other table.

    The roles are told by the first rows, and a remark may stand anywhere below.
    """
    if not amounts(layout):
        return None
    index, cells = layout.labels[0], next(iter(labels.values()))
    words = [cell for cell in cells if not _is_number(cell, parser)]
    if not words or len(words) > _ODD * len(cells):
        return None
    return Issue(
        "warning",
        f"Column {layout.place(index)} is read as text, as {counted(len(words), 'cell')} {agree(len(words), 'holds', 'hold')} no number",
        f"First: “{words[0]}”",
        column=index + 1,
        fix=("Treat as missing", "missing", Added(tuple(dict.fromkeys(words)))),
    )


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
    fits = (
        len(orders) == 1
        and len(present[when]) >= len(present[other])
        and _are_amounts(layout, other, present)
    )
    return when if fits and _go_one_way(present[when], orders[0]) else -1


def _are_amounts(layout: Layout, index: int, present: Sequence[Sequence[str]]) -> bool:
    """Whether a column holds numbers, with one decimal mark or the other, of which nothing says that they number or name something."""
    cells, title = present[index], layout.titles[index]
    if len(set(cells)) <= _FEW or (layout.header and (titled_number(title) or is_called_time(title))):
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


def dated_issue(layout: Layout, index: int, example: str) -> Issue:
    """That the dates of a course are read as years, and how they are read otherwise."""
    return Issue(
        "info",
        f"Column {layout.place(index)} holds dates and is read as years",
        f"“{example}”, …: a model can explain the amounts by the time",
        column=index + 1,
        fix=("Use the dates as names of the rows", "dates", "labels"),
        other=("Read as days since 1970", "dates", "days"),
    )
