"""Texts as numbers, exactly: decimal marks, missing tokens, and what cannot be decided."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from plaidwork.core.data.importers._marks import INFINITE, grouped_pattern, like_number, marks_of, ungrouped

DEFAULT_MISSING = ("", "NA", "NaN", "null", "None", "N/A", "#N/A", ".", "-")
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_PLAIN = re.compile(rf"[+-]?\d+{_EXPONENT}\Z", re.ASCII)
_NUMBER = {
    mark: re.compile(rf"[+-]?(?:\d+(?:[{mark}]\d*)?|[{mark}]\d+){_EXPONENT}\Z", re.ASCII) for mark in ".,"
}
_THREE = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}\Z", re.ASCII)  # "1,234": a thousand or a bit over one
_BOTH = re.compile(r"[+-]?[\d.,]*\d[\d.,]*\Z", re.ASCII)
_JOIN = "\x1f"


@dataclass(slots=True)
class DecimalEvidence:
    """What the numbers seen so far say about the decimal mark; examples are kept for the message."""

    point: str = ""  # a number in which a point can only be a decimal mark
    comma: str = ""
    point_unsure: str = ""  # "1.234": either
    comma_unsure: str = ""
    both: str = ""  # marks that make no number
    grouped: set[str] = field(default_factory=set)  # marks that stand between groups of three digits

    def add(self, text: str) -> None:
        marks = marks_of(text)
        text = text.strip()
        if marks is not None and marks.thousands in (",", "."):
            self.grouped.add(marks.thousands)
            if marks.thousands == ",":
                self.point = self.point or text
            else:
                self.comma = self.comma or text
            return
        if marks is not None:
            text = marks.plain
        if _PLAIN.match(text) or ("." not in text and "," not in text):
            return
        if match := _THREE.match(text):
            if match[1] == ".":
                self.point_unsure = self.point_unsure or text
            else:
                self.comma_unsure = self.comma_unsure or text
        elif _NUMBER["."].match(text):
            self.point = self.point or text
        elif _NUMBER[","].match(text):
            self.comma = self.comma or text
        elif ("." in text or "," in text) and _BOTH.match(text) and any(map(str.isdecimal, text)):
            self.both = self.both or text

    @property
    def settled(self) -> bool:
        """Whether a number was seen that allows one reading only, and none that contradicts it."""
        return bool(self.mark) and bool(self.point or self.comma)

    @property
    def mark(self) -> str:
        """``.`` or ``,``; empty when it cannot be told."""
        if self.unclear:
            return ""
        return "," if self.comma else "."

    @property
    def unclear(self) -> str:
        """Why the mark cannot be told, in a sentence; empty when it can."""
        if self.both:
            return f"“{self.both}” has marks that can be read in two ways."
        points = self.point or ("" if "." in self.grouped else self.point_unsure)
        commas = self.comma or ("" if "," in self.grouped else self.comma_unsure)
        if points and commas:
            return f"Both marks occur: “{points}” and “{commas}”."
        if commas and not self.comma:
            return _either(commas)
        if points and not self.point:
            return _either(points)
        return ""


def _either(text: str) -> str:
    digits = re.sub(r"[.,]", "", text)
    return f"“{text}” can be {digits} or {re.sub('[.,]', '.', text)}."


class BadCell(Exception):
    """A cell that is no number: its place in the row and its text."""

    def __init__(self, index: int, text: str) -> None:
        super().__init__(index, text)
        self.index, self.text = index, text


@dataclass(slots=True)
class NumberParser:
    """Rows of texts to rows of floats: ``float(text)`` of every cell, NaN where missing.

    ``thousands`` is allowed between groups of three digits; ``percent`` says what a percent sign means: ``number``
    (12.5 % is 12.5), ``share`` (0.125), or nothing, so that it is refused.
    """

    decimal: str = "."
    missing: Sequence[str] = DEFAULT_MISSING
    thousands: str = ""
    percent: str = ""
    group_example: str = ""
    _known: frozenset[str] = field(default=frozenset(), repr=False)
    _quick: bool = True
    _grouped: re.Pattern[str] | None = None

    def __post_init__(self) -> None:
        lower = {token.lower() for token in self.missing} | {"nan"}
        forms = lower | {token.upper() for token in lower} | {token.title() for token in lower}
        self._known = frozenset(forms | set(self.missing) | {"NaN"})
        # a token such as -999 is a number to float(): only the careful way sees it
        self._quick = not any(like_number(token) for token in self.missing)
        if self.thousands:
            self._grouped = grouped_pattern(self.thousands, self.decimal)

    def row(self, cells: Sequence[str]) -> np.ndarray:
        """The numbers of one row. Raises :class:`BadCell` for the first cell that is none."""
        joined = _JOIN.join(cells)
        if (
            self._quick
            and joined.isascii()
            and "_" not in joined
            and (self.decimal == "." or "." not in joined)
        ):
            if self.decimal == ",":
                split = joined.replace(",", ".").split(_JOIN)
                cells_read: Sequence[str] = split if len(split) == len(cells) else ()
            else:
                cells_read = cells
            try:
                values = np.array(list(map(float, cells_read)))
            except ValueError:
                values = self._carefully(cells)
        else:
            values = self._carefully(cells)
        if len(values) != len(cells):
            values = self._carefully(cells)
        return values

    def _carefully(self, cells: Sequence[str]) -> np.ndarray:
        known, cell = self._known, self.cell
        out = np.empty(len(cells))
        for index, text in enumerate(cells):
            out[index] = math.nan if text in known else cell(text, index)
        return out

    def is_missing(self, bare: str) -> bool:
        """Whether a text without blanks around it stands for a missing value."""
        return bare in self._known or bare.lower() in self._known

    def cell(self, text: str, index: int = 0) -> float:
        """One number. Raises :class:`BadCell`."""
        bare = text.strip()
        if self.is_missing(bare):
            return math.nan
        share = False
        if self.percent and bare.endswith("%"):
            bare, share = bare[:-1].rstrip(), self.percent == "share"
        if not _NUMBER[self.decimal].match(bare):
            if self._grouped is not None and self._grouped.match(bare):
                self.group_example = self.group_example or bare
                bare = ungrouped(bare, self.thousands)
            elif INFINITE.match(bare):
                return float(bare)
            else:
                raise BadCell(index, text.strip())
        bare = bare.replace(",", ".")
        if not share:
            return float(bare)
        # shifting the point keeps the nearest number, dividing does not always
        return float(f"{bare}e-2") if "e" not in bare.lower() else float(bare) / 100


def inexact(text: str, value: float) -> str:
    """What a float cannot hold of a number as it is written: ``large``, ``small``, ``digits``; empty when it can.

    ``large`` is beyond 1.8e308 (infinite), ``small`` rounds to 0 although it is not, ``digits`` is a whole number
    that is written out and becomes another one. Decimal fractions are rounded to some 16 digits, as everywhere.
    """
    bare = re.sub("[ \u00a0\u2009\u202f'’%]", "", text.strip()).lstrip("+-")
    if math.isinf(value):
        return "" if INFINITE.match(bare) else "large"
    if value == 0:
        return "small" if re.search("[1-9]", bare.lower().split("e")[0]) else ""
    if abs(value) < 2**53:
        return ""
    digits = bare.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", bare) else bare
    digits = digits.replace(".", "") if re.fullmatch(r"\d{1,3}(\.\d{3})+", digits) else digits
    return "digits" if digits.isdecimal() and int(digits) != abs(int(value)) else ""


def find_inexact(cells: Sequence[str], values: np.ndarray) -> list[tuple[int, str]]:
    """``(index, what)`` of the cells that a float cannot hold, by the rule of :func:`inexact`."""
    doubtful = np.abs(values) >= 2**53
    joined = _JOIN.join(cells)
    if "e-" in joined or "E-" in joined:
        doubtful |= values == 0
    places = np.flatnonzero(doubtful).tolist()
    return [(index, what) for index in places if (what := inexact(cells[index], float(values[index])))]


_CODE = re.compile(r"[+-]?0\d|(?![+-]?\d+[.,]\d+(?:[eE][+-]?\d+)?\Z).{16}", re.ASCII | re.DOTALL)
"""Not a fraction, which may have as many digits as a float."""


def holds_numbers(texts: Sequence[str], parser: NumberParser) -> bool:
    """Whether labels become numbers, of which several may be equal."""
    return as_annotation(texts, parser).dtype.kind == "f"


def as_annotation(texts: Sequence[str], parser: NumberParser) -> np.ndarray:
    """Labels as an array: numbers (NaN where missing) if all are, else text. ``007`` and long codes stay text."""
    known = {token.lower() for token in parser.missing}
    if all(text.lower() in known for text in texts) or any(_CODE.match(text) for text in texts):
        return np.array(list(texts), dtype=str)
    try:
        found = np.array([parser.cell(text) for text in texts])
    except BadCell:
        return np.array(list(texts), dtype=str)
    return np.array(list(texts), dtype=str) if find_inexact(texts, found) else found
