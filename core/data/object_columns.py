"""One column, or the names of an axis, from a list, an array, or what a package for tables holds; nothing is imported for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from plaidwork.core.errors import DataError

EXACT = 2**53
"""Whole numbers beyond this are not all held by double precision."""


@dataclass(frozen=True, slots=True)
class Column:
    """Values (n,): float64 with NaN where missing, or text with ``""``. ``levels``: the order of a categorical column."""

    values: np.ndarray
    levels: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        return self.values.dtype.kind == "f"


class Mixed(Exception):
    """A column has numbers and something else: the place of the first entry that is none, and its text."""

    def __init__(self, index: int, found: Any) -> None:
        super().__init__(index, found)
        self.index, self.found = index, found


def is_missing(value: Any) -> bool:
    """None, NaN, and the marks of tables: NA and NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and value != value


def is_scalar(value: Any) -> bool:
    """A text, a number, a flag or a mark of a missing value: what can stand in one cell."""
    return isinstance(value, (str, Real, Decimal, np.generic)) or is_missing(value)


def column_of(values: Any) -> Column:
    """A column from anything with one axis. Raises ``Mixed`` for numbers beside texts, ``DataError`` for other things."""
    categorical = getattr(values, "cat", values)
    if hasattr(categorical, "categories") and hasattr(categorical, "codes"):
        return _categorical(categorical)
    array = np.asarray(values)
    if hasattr(values, "filled") and hasattr(values, "mask"):  # a masked array: what it hides is missing
        array = np.ma.getdata(values).astype(object)
        array[np.ma.getmaskarray(values)] = None
    elif isinstance(values, (list, tuple)) and array.dtype.kind == "U":
        array = np.array(values, dtype=object)  # numpy makes texts of the numbers among them
    if array.ndim != 1:
        raise DataError(f"A column has one axis. Found {array.ndim}.")
    if array.dtype.kind in "biuf":
        return Column(exact(array))
    if array.dtype.kind in "cV":
        what = "complex numbers" if array.dtype.kind == "c" else "records of several fields"
        raise DataError(f"Numbers or texts are needed. Found {what}.", "Take the part that is meant.")
    if array.dtype.kind == "M":
        texts = np.where(np.isnat(array), "", np.datetime_as_string(array, unit="auto"))
        return Column(texts.astype(str))
    return _of_objects(array.astype(object))


def _categorical(values: Any) -> Column:
    """Codes beside categories: the categories that occur keep their order."""
    codes = np.asarray(values.codes)
    levels = np.array([*(_text(level) for level in values.categories), ""], dtype=str)
    texts = levels[np.where(codes < 0, len(levels) - 1, codes)]
    there = set(codes.tolist())
    return Column(texts, tuple(str(level) for code, level in enumerate(levels[:-1]) if code in there))


def _of_objects(array: np.ndarray) -> Column:
    gone = np.array([is_missing(value) for value in array], dtype=bool)
    number = np.array([isinstance(value, (Real, Decimal, np.bool_)) for value in array], dtype=bool) & ~gone
    if number.any() or gone.all():
        if not (number | gone).all():
            first = int(np.flatnonzero(~(number | gone))[0])
            raise Mixed(first, array[first])
        numbers = np.array([0 if hidden else value for value, hidden in zip(array, gone)])
        if numbers.dtype.kind not in "biuf":  # fractions, decimals, whole numbers beyond 64 bits
            numbers = numbers.astype(np.float64)
        return Column(np.where(gone, np.nan, exact(numbers)))
    return Column(_texts(array))


def exact(array: np.ndarray) -> np.ndarray:
    """Numbers of any shape as float64. Raises ``DataError`` for a whole number that would be altered."""
    if array.dtype.kind in "iu" and array.itemsize == 8 and array.size:
        high, low = int(array.max()), int(array.min())
        if high > EXACT or low < -EXACT:
            raise DataError(
                f"Whole numbers of more than 2^53 would be altered. Found {high if high > EXACT else low}.",
                "Make them texts if they are names.",
            )
    return array.astype(np.float64)


def _texts(array: np.ndarray) -> np.ndarray:
    return np.array(["" if is_missing(value) else _text(value) for value in array], dtype=str)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, tuple):  # a name of several levels
        return ", ".join(map(_text, value))
    return str(value)


@dataclass(frozen=True, slots=True)
class Names:
    """Names along an axis; None where nobody gave any. ``numbered``: a table counts its rows, from 0, in place of names."""

    texts: tuple[str, ...] | None = None
    numbered: bool = False


def names_of(index: Any, size: int) -> Names:
    """The names in an index of a table, or in an array of labels. A plain count from 0 is no name."""
    if index is None:
        return Names()
    start, stop, step = (getattr(index, word, None) for word in ("start", "stop", "step"))
    if (start, stop, step) == (0, size, 1):
        return Names(numbered=True)
    return Names(tuple("" if is_missing(label) else _text(label) for label in index))


def counted(size: int) -> tuple[str, ...]:
    """The names that a table's own count from 0 stands for."""
    return tuple(map(str, range(size)))


def titles_of(titles: Iterable[Any]) -> tuple[str, ...]:
    """Titles of columns as texts."""
    return tuple(_text(title) for title in titles)


def in_common_levels(columns: Sequence[Column]) -> tuple[str, ...]:
    """The order of values that all columns agree on; empty when they do not, or have none."""
    longest = max((column.levels for column in columns), key=len, default=())
    code_of = {level: number for number, level in enumerate(longest)}
    for column in columns:
        own = [code_of.get(level, -1) for level in column.levels]
        if not own or -1 in own or own != sorted(own):
            return ()
    return longest
