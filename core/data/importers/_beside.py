"""Rows of a table that are no observations: what stands above the titles, units under them, and totals of the rows above."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from plaidwork.core.data.importers._marks import like_number
from plaidwork.core.data.importers.base import Issue
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

_SHOWN, _LONGEST = 4, 60
_TELLING, _NEARLY, _LARGE = 8, 0.45, 0.75
"""Rows from which numbers tell that one is no total; which share of the sum of the others it has at least (subtotals are among them), and above which
quantile it is large."""
_ABOVE, _FEW, _MOST = 20, 3, 0.6
"""Rows above a table that are looked at; which part of its width (one in so many) they fill at most, and which share its titles fill at least."""
_PREFIXES = "fpnuµμmcdkMGT"
_PREFIXED = "m|g|l|L|s|mol|M|V|A|W|Wh|J|N|Pa|Hz|Bq|Gy|Sv|Da|bar|eV|cal|B|t|Ω|Ohm|K|Eq|U|IU|b|bp"
_WHOLE = (
    r"min|h|hr|hrs|hours?|d|days?|wk|weeks?|months?|y|yr|yrs|years?|sec|Std|Tage?|Wochen?|Monate?|Jahre?|Stück|Stk"
    r"|°[CF]?|[%‰]|Vol\.?-?%|ppm|ppb|a\.?u\.?|pH|dB|lx|cd|rpm|rad|ha|in|ft|lb|oz|psi|mmHg|€|\$|£|EUR|USD|GBP|CHF|counts?|n|1"
)
_ONE = rf"(?:[{_PREFIXES}]?(?:{_PREFIXED})|{_WHOLE})(?:\^?-?[0-9]|[²³⁻¹]+)?"
_UNIT = re.compile(rf"{_ONE}(?:\s*[/·*× ]\s*{_ONE})*\Z")
_BRACKETS = re.compile(r"\[[^\]]*\]\Z|\([^)]*\)\Z")
_TOTAL = re.compile(
    r"(?:grand |sub)?totals?|sums?|(?:end|gesamt|zwischen)?summen?|gesamt|insgesamt|total général|sommes?|totale|totales"
    r"|(?:suma|soma|somma)|totaal|∑|Σ",
    re.IGNORECASE,
)


def rows_above(head: Sequence[tuple[int, Sequence[str]]], width: int) -> int:
    """How many of the first rows (row of the file, fields) are a heading or remarks above the titles of a table; 0 for none.

    They fill a few cells and hold no number, or have fewer cells than a row of the table; a row that fills most of the width with
    texts follows.
    """
    for place, (_, fields) in enumerate(head[:_ABOVE]):
        filled = [field for field in fields if field.strip()]
        numbers = sum(map(like_number, filled))
        whole = len(fields) >= width - 1
        if whole and len(filled) >= max(_MOST * width, 2):
            return place if numbers * 2 < len(filled) else 0
        if whole and (len(filled) * _FEW > width or numbers):
            return 0
    return 0


def are_remarks(rows: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """Whether rows above the titles are marked as remarks, by # at their beginning, so that they can be skipped unasked."""
    return all(next(iter(filter(None, map(str.strip, fields))), "#").startswith("#") for _, fields in rows)


def remarks_issue(rows: Sequence[tuple[int, Sequence[str]]]) -> Issue:
    """That remarks above the titles are skipped."""
    row, fields = rows[0]
    number = len(rows)
    first = " ".join(filter(None, map(str.strip, fields)))
    return Issue(
        "info",
        f"{counted(number, 'row')} of remarks above the titles {agree(number, 'is', 'are')} skipped",
        f"Row {row} holds “{first if len(first) <= _LONGEST else first[: _LONGEST - 1] + '…'}”",
        row=row,
    )


def above_issue(head: Sequence[tuple[int, Sequence[str]]], number: int) -> Issue:
    """That the table begins below the first rows, and that they can be skipped; nothing else mends it."""
    row, fields = head[0]
    first = next(field.strip() for field in fields if field.strip())
    below = head[number][0]
    return Issue(
        "error",
        f"The names of the columns seem to stand in row {below}, below a heading",
        f"Row {row} holds “{first if len(first) <= _LONGEST else first[: _LONGEST - 1] + '…'}”",
        row=row,
        fix=("Read the table from there", "skip_rows", below - 1),
    )


def above_error(file: str, issue: Issue) -> DataError:
    """The refusal of a heading in place of names."""
    assert issue.fix is not None
    return DataError(
        f"{file}: {issue.message[0].lower()}{issue.message[1:]}. {issue.detail}.",
        f"Skip what is above with the option “skip_rows” ({issue.fix[2]}), or say with “header” what the first row is.",
    )


def like_unit(text: str) -> bool:
    """Whether a text is a unit of measure (``mg/l``, ``°C``, ``%``) or stands in brackets as units do."""
    return bool(_BRACKETS.match(text.strip()) or _UNIT.match(text.strip()))


def holds_units(fields: Sequence[str], below: Sequence[Sequence[str]], missing: Sequence[str]) -> bool:
    """Whether the first row under the titles names units: no number above any column of numbers, and mostly units."""
    known = {token.lower() for token in missing}
    texts = []
    for index, field in enumerate(fields):
        cells = [row[index].strip() for row in below if len(row) > index]
        cells = [cell for cell in cells if cell.lower() not in known]
        if not cells or sum(map(like_number, cells)) < 0.5 * len(cells):
            continue
        if like_number(field):
            return False
        if field.strip().lower() not in known:
            texts.append(field)
    return bool(texts) and sum(map(like_unit, texts)) > 0.5 * len(texts)


def any_text(cells: Sequence[str], missing: Sequence[str]) -> bool:
    """Whether a cell is neither a number nor missing."""
    known = {token.lower() for token in missing}
    return not all(like_number(cell) or cell.strip().lower() in known for cell in cells)


def units_issue(row: int, fields: Sequence[str], severity: Literal["error", "warning"]) -> Issue:
    """A row of units can be left out; nothing else mends it."""
    return Issue(
        severity,
        f"Row {row} holds units, not numbers",
        _listed(fields),
        row=row,
        fix=("Leave it out", "drop_units", True),
    )


def units_error(file: str, row: int, fields: Sequence[str]) -> DataError:
    """The refusal of a row of units among numbers."""
    return DataError(
        f"{file}, row {row}: expected numbers, found units: {_listed(fields)}.",
        "Leave the row out with the option “drop_units”.",
    )


def names_total(fields: Sequence[str]) -> str:
    """The word with which a row says that it sums up others (its first cell that is filled), else nothing."""
    first = next((field.strip() for field in fields if field.strip()), "")
    return first if _TOTAL.fullmatch(first.rstrip(" :")) else ""


def may_sum(values: np.ndarray, place: int) -> bool:
    """Whether the numbers of a row (of (n, m); none where they were handed on) allow that it sums up others, as Somme the department does not.

    Of a few rows everything does. Else one number is about the sum of all others, or half of them are large.
    """
    if not values.size or len(values) < _TELLING:
        return True
    row, others = values[place], np.delete(values, place, axis=0)
    known = np.isfinite(row) & np.isfinite(others).any(axis=0)
    row, others = row[known], others[:, known]
    if not row.size:
        return True
    sums = (others >= 0) | np.isnan(others)
    whole = sums.all(axis=0) & (row >= _NEARLY * np.nansum(others, axis=0)) & (row > 0)
    return bool(whole.any()) or float((row >= np.nanquantile(others, _LARGE, axis=0)).mean()) >= 0.5


def totals_issue(rows: Sequence[tuple[int, str]]) -> Issue:
    """Rows that are named as totals; taken for observations they would outweigh the others."""
    row, word = rows[0]
    return Issue(
        "warning",
        f"{counted(len(rows), 'row')} {agree(len(rows), 'seems', 'seem')} to sum up others",
        f"{'First: row' if len(rows) > 1 else 'Row'} {row} is called “{word}”",
        row=row,
        fix=(f"Leave {agree(len(rows), 'it', 'them')} out", "drop_totals", True),
        places=tuple(f"row {row}: “{word}”" for row, word in rows[:50]) if len(rows) > 1 else (),
    )


def _listed(fields: Sequence[str]) -> str:
    texts = [field.strip() for field in fields if like_unit(field)]
    shown = ", ".join(f"“{text}”" for text in texts[:_SHOWN])
    return f"{shown}{', …' if len(texts) > _SHOWN else ''}"
