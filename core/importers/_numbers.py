"""Texts as numbers, exactly: decimal marks, missing tokens, and what cannot be decided."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

DEFAULT_MISSING = ("", "NA", "NaN", "null", "None", "N/A", "#N/A", ".", "-")
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_PLAIN = re.compile(rf"[+-]?\d+{_EXPONENT}\Z", re.ASCII)
_NUMBER = {
    mark: re.compile(rf"[+-]?(?:\d+(?:[{mark}]\d*)?|[{mark}]\d+){_EXPONENT}\Z", re.ASCII) for mark in ".,"
}
_GROUPED = {  # by decimal mark: the other mark between groups of three digits
    ".": re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?\Z", re.ASCII),
    ",": re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d*)?\Z", re.ASCII),
}
_THREE = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}\Z", re.ASCII)  # "1,234": a thousand or a bit over one
_MANY = re.compile(r"[+-]?\d{1,3}(?:,\d{3}){2,}\Z|[+-]?\d{1,3}(?:\.\d{3}){2,}\Z", re.ASCII)
_BOTH = re.compile(r"[+-]?[\d.,]*\d[\d.,]*\Z", re.ASCII)
_INFINITE = re.compile(r"[+-]?(inf|infinity)\Z", re.IGNORECASE)
_JOIN = "\x1f"


def is_number(text: str) -> bool:
    """Whether the text is a number under either decimal mark (infinities included)."""
    text = text.strip()
    return bool(
        _NUMBER["."].match(text)
        or _NUMBER[","].match(text)
        or _GROUPED["."].match(text)
        or _GROUPED[","].match(text)
        or _INFINITE.match(text)
    )


@dataclass(slots=True)
class DecimalEvidence:
    """What the numbers seen so far say about the decimal mark; examples are kept for the message."""

    point: str = ""  # a number in which a point can only be a decimal mark
    comma: str = ""
    point_unsure: str = ""  # "1.234": either
    comma_unsure: str = ""
    both: str = ""  # a number with thousands marks, or with both marks

    def add(self, text: str) -> None:
        text = text.strip()
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
        elif _MANY.match(text) or ("." in text and "," in text and _BOTH.match(text)):
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
        points, commas = self.point or self.point_unsure, self.comma or self.comma_unsure
        if points and commas:
            return f"Both marks occur: “{points}” and “{commas}”."
        if self.comma_unsure and not self.comma:
            return _either(self.comma_unsure)
        if self.point_unsure and not self.point:
            return _either(self.point_unsure)
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

    ``grouped`` allows the other mark between groups of three digits (only after the user chose the mark).
    """

    decimal: str = "."
    missing: Sequence[str] = DEFAULT_MISSING
    grouped: bool = False
    n_missing: int = 0
    group_example: str = ""
    long_example: str = ""
    _known: frozenset[str] = field(default=frozenset(), repr=False)
    _quick: bool = True

    def __post_init__(self) -> None:
        lower = {token.lower() for token in self.missing} | {"nan"}
        forms = lower | {token.upper() for token in lower} | {token.title() for token in lower}
        self._known = frozenset(forms | set(self.missing) | {"NaN"})
        # a token such as -999 is a number to float(): only the careful way sees it
        self._quick = not any(is_number(token) for token in self.missing)

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
        if (np.abs(values) >= 2**53).any():
            self._look_for_long(cells, values)
        return values

    def _carefully(self, cells: Sequence[str]) -> np.ndarray:
        known, cell = self._known, self.cell
        out = np.empty(len(cells))
        for index, text in enumerate(cells):
            out[index] = math.nan if text in known else cell(text, index)
        return out

    def cell(self, text: str, index: int = 0) -> float:
        """One number. Raises :class:`BadCell`."""
        bare = text.strip()
        if bare in self._known or bare.lower() in self._known:
            return math.nan
        if _NUMBER[self.decimal].match(bare):
            return float(bare.replace(",", "."))
        if self.grouped and _GROUPED[self.decimal].match(bare):
            self.group_example = self.group_example or bare
            return float(bare.replace("," if self.decimal == "." else ".", "").replace(",", "."))
        if _INFINITE.match(bare):
            return float(bare)
        raise BadCell(index, bare)

    def _look_for_long(self, cells: Sequence[str], values: np.ndarray) -> None:
        """Note the first whole number with more digits than a float can hold."""
        if self.long_example:
            return
        for index in np.flatnonzero(np.abs(values) >= 2**53).tolist():
            text = cells[index].strip().lstrip("+")
            if not text.lstrip("-").isdecimal() or len(text) > 1000:
                continue
            if np.isinf(values[index]) or int(text) != int(values[index]):
                self.long_example = text
                return


_CODE = re.compile(r"[+-]?0\d|.{16}", re.ASCII | re.DOTALL)


def as_annotation(texts: Sequence[str], parser: NumberParser) -> np.ndarray:
    """Labels as an array: numbers (NaN where missing) if all are, else text. ``007`` and long codes stay text."""
    known = {token.lower() for token in parser.missing}
    if all(text.lower() in known for text in texts) or any(_CODE.match(text) for text in texts):
        return np.array(list(texts), dtype=str)
    try:
        return np.array([parser.cell(text) for text in texts])
    except BadCell:
        return np.array(list(texts), dtype=str)
