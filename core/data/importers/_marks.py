"""Numbers written for people: thousands marks and percent signs, recognised but never taken away unasked."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ALIKE = {",": ",", ".": r"\.", " ": "[ \u00a0\u2009\u202f]", "'": "['’]"}
"""Thousands marks, and the characters that count as each."""
THOUSANDS_WORDS = {",": "comma", ".": "point", " ": "blank", "'": "apostrophe"}
_PLAIN = re.compile(r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?\Z", re.ASCII)


def grouped_pattern(mark: str, decimals: str) -> re.Pattern[str]:
    """Numbers with ``mark`` between groups of three digits and one of ``decimals`` as decimal mark."""
    return re.compile(rf"[+-]?\d{{1,3}}(?:{_ALIKE[mark]}\d{{3}})+(?:[{decimals}]\d*)?\Z", re.ASCII)


_GROUPED = {
    ",": grouped_pattern(",", "."),
    ".": grouped_pattern(".", ","),
    " ": grouped_pattern(" ", ".,"),
    "'": grouped_pattern("'", ".,"),
}
_ONE_GROUP = re.compile(r"[+-]?\d{1,3}[.,]\d{3}\Z", re.ASCII)


def ungrouped(text: str, mark: str) -> str:
    """The text without its thousands marks."""
    return re.sub(_ALIKE[mark], "", text)


@dataclass(frozen=True, slots=True)
class Marks:
    """What a text has besides its digits: ``thousands`` mark (or ""), percent sign; ``plain`` is the rest."""

    thousands: str
    percent: bool
    plain: str


def marks_of(text: str) -> Marks | None:
    """The marks of a number, or ``None`` for a text that is no number. “1,234” counts as plain: it can be either."""
    bare = text.strip()
    percent = bare.endswith("%")
    if percent:
        bare = bare[:-1].rstrip()
    if _PLAIN.match(bare):
        return Marks("", percent, bare)
    for mark, pattern in _GROUPED.items():
        if pattern.match(bare) and not _ONE_GROUP.match(bare):
            return Marks(mark, percent, ungrouped(bare, mark))
    return None


def one_group(text: str, decimal: str) -> str:
    """The mark in “1,234” where it is not the decimal mark, so that it can only stand between thousands."""
    found = _ONE_GROUP.match(text)
    return next((mark for mark in ",." if found and mark in text and mark != decimal), "")


def like_number(text: str) -> bool:
    """Whether a text is meant as a number: plain, infinite, with thousands marks or a percent sign."""
    bare = text.strip()
    return bool(_PLAIN.match(bare) or INFINITE.match(bare)) or marks_of(bare) is not None


INFINITE = re.compile(r"[+-]?(inf|infinity)\Z", re.IGNORECASE)
