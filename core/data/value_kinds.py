"""What kind numbers are, by the numbers themselves."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from plaidwork.core.contract.hyperparameter import ValueKind


def infer_kind(values: np.ndarray) -> ValueKind:
    """``binary`` for 0 and 1 only, ``count`` for whole numbers from 0, else ``real``; NaN is passed over.

    O(n) with an early way out after the first lines, so that large real matrices cost nothing.
    """
    flat = values.reshape(-1)
    parts = (flat[start : start + (1 << 20)] for start in range(0, flat.size, 1 << 20))
    return kind_of_pieces(part[~np.isnan(part)] for part in parts)


def kind_of_pieces(pieces: Iterable[np.ndarray]) -> ValueKind:
    """As :func:`infer_kind`, of known values some at a time; ``real`` where there are none."""
    largest = -1.0
    for part in pieces:
        if not part.size:
            continue
        if part.min() < 0 or not np.isfinite(part).all() or (part != np.floor(part)).any():
            return "real"
        largest = max(largest, float(part.max()))
    if largest < 0:
        return "real"
    return "binary" if largest <= 1 else "count"


_ROWS, _EVEN, _SHARE = 20, 0.75, 0.25
"""How many known values of a column say something; how little it varies beside its mean, and which share of the columns does,
where whole numbers are measurements."""
_COLUMNS, _GRADES = 100, 20
"""Tables of measurements have few columns; of grades any number, up to a highest grade."""

_ITEMS, _TOP, _REACHED, _AT_TOP = 5, 10, 2 / 3, 0.15
"""Grades from 0 share a highest one up to 10: in that share of five or more columns it is there more than once, and in all it is no
rare end of a tail: so often, at least, as the grade below it."""

_JUDGED = 2000
"""Rows that are judged, evenly spread: of a large table all would take several copies of it."""


def kind_of_table(values: np.ndarray) -> ValueKind:
    """As :func:`infer_kind`, of a table (n, p) or a column, where whole numbers that do not look like counts are ``ordinal``."""
    found = infer_kind(values)
    return "ordinal" if found == "count" and not are_counts(values) else found


def are_counts(values: np.ndarray) -> bool:
    """Whether whole numbers (n, p) look like counts, and not like measurements in whole units (ages, weights) or grades from 1.

    Counts of words, reads or letters are 0 somewhere in nearly every column, or vary as much as they are large. A quarter
    of columns that never fall below 1 and vary less are measurements, if there are at most 100 columns, or grades up to 20.
    Grades from 0 (answers from 0 to 3, copies of an allele) end at one number in nearly every column, which counts do not. Codes (of alleles, of
    answers to choose from) are about equally frequent, and 0, for none, is rare: of counts the largest are rare.
    Of fewer than 20 rows nothing is said, so they are counts.
    """
    if values.ndim != 2 or len(values) < _ROWS or not values.shape[1]:
        return True
    values = values[:: -(-len(values) // _JUDGED)]
    if _are_grades_from_zero(values) or _are_codes(values):
        return False
    known = ~np.isnan(values)
    number = known.sum(axis=0)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=0) / np.maximum(number, 1)
    spread = np.sqrt((np.where(known, values - mean, 0.0) ** 2).sum(axis=0) / np.maximum(number, 1))
    low = np.where(known, values, np.inf).min(axis=0)
    measured = (number >= _ROWS) & (low >= 1) & (spread < _EVEN * mean)
    if measured.mean() < _SHARE:
        return True
    return values.shape[1] > _COLUMNS and bool(filled[:, measured].max() > _GRADES)


def _are_grades_from_zero(values: np.ndarray) -> bool:
    """Whether whole numbers (n, p) from 0 end at one number that all columns share."""
    top = np.nanmax(values, initial=0.0)
    if values.shape[1] < _ITEMS or not 2 <= top <= _TOP:
        return False
    at_top = (values == top).sum(axis=0)
    below = int((values == top - 1).sum())
    return bool((at_top >= 2).mean() >= _REACHED and at_top.sum() >= _AT_TOP * below)


def _are_codes(values: np.ndarray) -> bool:
    """Whether nearly all columns of whole numbers (n, p) hold codes up to 10, none of them much rarer than the others, and 0 rarer than these."""
    low = values[:, np.nanmax(values, axis=0, initial=0.0) <= _TOP]
    if low.shape[1] < max(_ITEMS, _REACHED * values.shape[1]):
        return False
    number = [np.count_nonzero(low == code) for code in range(int(np.nanmax(low, initial=0.0)) + 1)]
    usual = sum(number[1:]) / max(len(number) - 1, 1)
    return bool(len(number) > 2 and number[0] < usual and min(number[1:]) >= 0.5 * usual)
