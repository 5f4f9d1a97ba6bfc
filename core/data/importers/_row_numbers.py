"""Columns that only number, identify or describe the rows, or are their outcome: told by their titles, their values or their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Literal

from plaidwork.core.data.importers._layout import Layout
from plaidwork.core.data.importers._marks import like_number
from plaidwork.core.data.importers.base import Added, Issue
from plaidwork.core.data.measured import (
    MOST_CLASSES,
    OUTCOME_TITLES,
    is_called_time,
    may_be_called_outcome,
    parts_items,
)
from plaidwork.core.draws.counting import agree

_ENOUGH, _DIFFERENT = 5, 0.9
"""Rows from which values in order are no accident, and the share of different numbers from which a titled column identifies the rows."""
_GROUP = 10
"""Rows of a group from which a titled column that counts them is no time or repeat."""
_OTHERS, _FEW = 5, 0.1
"""Columns of fractions beside which one of whole numbers is told, and the share of all that such columns are at most."""
_COUNTED = 10
"""Columns of nothing but counts, or of 0 and 1, beside which the time of the rows is none of them."""
_WHOLE = re.compile(r"\d+(\.0+)?", re.ASCII)
_NUMBERING = re.compile(
    r"(?:.*[\s_.-])?(?:nr|no|nos|num|number|nummer|numéro|número|n°|nº|№|#|id|index|obs)\.?", re.IGNORECASE
)

_IDENTIFIER = re.compile(r"(?:.*[\s_.-])?(?:id|ID|Id|iD)|.*[a-z]I[Dd]")
"""Titles of identifiers; of the others a copy number or an index may be a measurement."""
_LABELLED = re.compile(r"(?:(?:is|has)[\s_.-]?)?labell?ed|has[\s_.-]?label", re.IGNORECASE)


def titled_number(title: str) -> bool:
    """Whether a title says that the column numbers something: ``Nr``, ``No.``, ``Lfd. Nr.``, ``#``."""
    return bool(_NUMBERING.fullmatch(title.strip()) or _IDENTIFIER.fullmatch(title.strip()))


def numbers_rows(cells: Sequence[str]) -> bool:
    """Whether the cells are 1, 2, 3, … or 0, 1, 2, …"""
    if len(cells) < _ENOUGH or cells[0] not in ("0", "1"):
        return False
    first = int(cells[0])
    return all(cell == str(first + place) for place, cell in enumerate(cells))


def numbers_in_groups(cells: Sequence[str]) -> bool:
    """Whether the cells count the rows of groups: 1, 2, 3, … up to ten or more, and again from 1."""
    if not cells or cells[0] not in ("0", "1") or not all(map(str.isdecimal, cells)):
        return False
    first, numbers = int(cells[0]), [int(cell) for cell in cells]
    begins = [place for place, number in enumerate(numbers) if number == first]
    runs = [numbers[lo:hi] for lo, hi in zip(begins, [*begins[1:], len(numbers)], strict=True)]
    counted = all(run == list(range(first, first + len(run))) for run in runs)
    return counted and len(runs) > 1 and all(len(run) >= _GROUP for run in runs[:-1])


def identifies_rows(cells: Sequence[str]) -> bool:
    """Whether the cells of a column that is titled so are the numbers of persons or cases: whole, and hardly any of them twice."""
    whole = all(map(_WHOLE.fullmatch, cells))
    return whole and len(cells) >= _ENOUGH and len(set(cells)) >= _DIFFERENT * len(cells)


def identifiers(layout: Layout, present: Sequence[Sequence[str]], columns: Sequence[int]) -> list[int]:
    """Those of the ``columns`` of numbers whose title says that they identify the rows, or number them, and that do: no measurements.

    ``present`` are the filled cells of each column in the first rows. Of a table of nothing else none is.
    """
    found = [
        index
        for index in columns
        if _titled(layout, index)
        and (
            numbers_rows(present[index])
            or numbers_in_groups(present[index])
            or (_IDENTIFIER.fullmatch(layout.titles[index].strip()) and identifies_rows(present[index]))
        )
    ]
    return found if len(found) < len(columns) else []


def as_label(
    layout: Layout,
    index: int,
    message: str,
    detail: str,
    *,
    severity: Literal["info", "warning"] = "info",
    may_name: bool = False,
) -> Issue:
    """That a column of numbers is read as a label, with a click that measures it, and maybe one that makes it the names of the rows."""
    return Issue(
        severity,
        message,
        detail,
        column=index + 1,
        fix=("Read as numbers", "labels", [item for item in layout.labels if item != index]),
        other=("Use it as row names", "names", index) if may_name and layout.names < 0 else None,
    )


def identifier_issue(layout: Layout, index: int) -> Issue:
    """That such a column is read as labels, and how it is read otherwise."""
    message = f"Column {layout.place(index)} is an identifier"
    detail = "It is read as labels, not as a measurement"
    return as_label(layout, index, message, detail, severity="warning", may_name=True)


def times(layout: Layout, columns: Sequence[int], present: Sequence[Sequence[str]]) -> list[int]:
    """Those of the ``columns`` of numbers that are titled *year*, *time*, *day* and the like and go on by the same whole number from row to
    row, where ten or more others hold nothing but counts or 0 and 1: among these the years would be counts too.

    ``present`` are the filled cells of each column in the first rows. Among amounts, and beside a few columns, which may depend on it, a time
    is a measurement.
    """
    titled = [index for index in columns if is_called_time(layout.titles[index])]
    found = [index for index in titled if layout.header and _goes_on(present[index])]
    if not found or len(columns) - len(found) < _COUNTED:
        return []
    return found if all(map(_WHOLE.fullmatch, chain.from_iterable(present[i] for i in columns))) else []


def _goes_on(cells: Sequence[str]) -> bool:
    """Whether the cells are whole numbers that rise or fall by the same from each to the next."""
    if len(cells) < _ENOUGH or not all(map(_WHOLE.fullmatch, cells)):
        return False
    steps = {float(after) - float(before) for before, after in pairwise(cells)}
    return len(steps) == 1 and steps != {0}


def time_issue(layout: Layout, index: int) -> Issue:
    """That such a column is read as labels, and how it is read otherwise."""
    message = f"Column {layout.place(index)} is a time, and all others hold counts"
    return as_label(layout, index, message, "It is read as labels, not as a measurement", may_name=True)


def outcomes(layout: Layout, columns: Sequence[int], present: Sequence[Sequence[str]]) -> list[int]:
    """Those of the ``columns`` of numbers that are called as what the others are to explain is: *class*, *target*, *diagnosis*.

    Where a column parts the rows for a test, so that something is to be predicted, also *y* and the like, or else the last of the
    ``columns`` when it has few whole numbers. ``present`` are the filled cells of each column in the first rows. Of a table of nothing else,
    or of one other column, none is.
    """
    called = [index for index in columns if layout.titles[index].strip().lower() in OUTCOME_TITLES]
    if not called and columns and any(map(parts_items, layout.titles, present)):
        usual = [index for index in columns if may_be_called_outcome(layout.titles[index])]
        called = [index for index in usual or columns[-1:] if _classes(present[index])]
    return called if layout.header and len(called) + 1 < len(columns) else []


def tells_labelled(layout: Layout, columns: Sequence[int], present: Sequence[Sequence[str]]) -> list[int]:
    """Those of the ``columns`` of numbers that say by 0 and 1 which rows have a label, as *labelled* does: no measurements.

    ``present`` are the filled cells of each column in the first rows. Of a table of nothing else none is.
    """
    found = [
        index
        for index in columns
        if _LABELLED.fullmatch(layout.titles[index].strip()) and set(present[index]) <= {"0", "1"}
    ]
    return found if layout.header and len(found) < len(columns) else []


def labelled_issue(layout: Layout, index: int) -> Issue:
    """That such a column is read as a label, and how it is read otherwise."""
    message = f"Column {layout.place(index)} says which rows are labelled"
    return as_label(layout, index, message, "It is read as a label, not as a measurement")


def _classes(cells: Sequence[str]) -> bool:
    """Whether the cells are whole numbers that may stand for classes."""
    whole = all(re.fullmatch(r"-?\d+(\.0+)?", cell) for cell in cells)
    return whole and 2 <= len(set(cells)) <= min(MOST_CLASSES, len(cells) // 2)


def outcome_issue(layout: Layout, index: int) -> Issue:
    """That such a column is read as a label, and how it is read otherwise."""
    message = (
        f"Column {layout.place(index)} is called like an outcome"
        if may_be_called_outcome(layout.titles[index])
        else f"Column {layout.place(index)} may be the outcome, as a column says which rows are for a test"
    )
    detail = "It is read as a label, which a model can explain, not as a measurement"
    return as_label(layout, index, message, detail)


def numbering_issues(layout: Layout, present: Sequence[Sequence[str]]) -> list[Issue]:
    """Columns of values that count or identify the rows, with ways to take them out; those that count and are not titled so may be a time.

    ``present`` are the filled cells of each column in the first rows. A table of nothing else is left alone.
    """
    values = layout.value_columns
    counting = [index for index in values if numbers_rows(present[index])]
    found = dict.fromkeys(counting, True) | {
        index: False
        for index in values
        if index not in counting and _titled(layout, index) and identifies_rows(present[index])
    }
    if len(found) == len(values):  # nothing would be left
        return []
    return [_issue(layout, index, found[index]) for index in sorted(found)]


def described_issue(layout: Layout, present: Sequence[Sequence[str]]) -> Issue | None:
    """Columns of whole numbers beside names and labels, while nearly all others hold fractions: chromosomes, positions, lengths.

    ``present`` are the filled cells of each column in the first rows. They would be taken for samples, or for measurements.
    """
    values = [index for index in layout.value_columns if len(present[index]) >= _ENOUGH]
    whole = [index for index in values if all(map(str.isdecimal, present[index]))]
    others = [index for index in values if index not in whole]
    if not all(_has_fractions(present[index]) for index in others):
        return None
    if not whole or len(others) < _OTHERS or len(whole) > max(_FEW * len(values), 1):
        return None
    beside = [index for index in whole if _at_an_edge(layout, index, whole)]
    if not beside:
        return None
    many = len(beside) > 1
    shown = listed([f"“{layout.titles[index]}”" for index in beside])
    return Issue(
        "warning",
        f"{'Columns' if many else 'Column'} {shown} {agree(len(beside), 'holds', 'hold')} whole numbers, all others fractions",
        "They are read as measurements like the others"
        if many
        else "It is read as a measurement like the others",
        column=beside[0] + 1,
        fix=("Use them as labels" if many else "Use it as a label", "labels", Added(tuple(beside))),
    )


def listed(titles: Sequence[str]) -> str:
    """The first of some titles."""
    return ", ".join([*titles[:4], *(["…"] if len(titles) > 4 else [])])


def _has_fractions(cells: Sequence[str]) -> bool:
    """Whether most cells are numbers with a decimal mark."""
    return sum(like_number(cell) and ("." in cell or "," in cell) for cell in cells) > 0.5 * len(cells)


def _at_an_edge(layout: Layout, index: int, whole: Sequence[int]) -> bool:
    """Whether nothing but names, labels and whole numbers stand on one side of the column."""
    measured = [other for other in layout.value_columns if other not in whole]
    return bool(layout.labels or layout.names >= 0) and (
        all(other > index for other in measured) or all(other < index for other in measured)
    )


def _titled(layout: Layout, index: int) -> bool:
    return layout.header and titled_number(layout.titles[index])


def _issue(layout: Layout, index: int, counts: bool) -> Issue:
    titled, place = _titled(layout, index), layout.place(index)
    leave = ("Leave it out", "skip", Added((index,)))
    return Issue(
        "warning" if titled else "info",
        f"Column {place} counts the rows" if counts else f"Column {place} is an identifier of the rows",
        "It is read as a measurement" if titled else "It is read as a measurement, as it may be a time",
        column=index + 1,
        fix=("Use it as row names", "names", index) if layout.names < 0 else leave,
        other=leave if layout.names < 0 else None,
    )
