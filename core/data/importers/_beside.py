"""Rows of a table that are no observations: units under the titles, and totals of the rows above."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from plaidwork.core.data.importers._marks import like_number
from plaidwork.core.data.importers.base import Issue
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

_SHOWN = 4
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
