"""Where a stored state does not fit what a model makes itself and declares; values are looked at, never used as indices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from plaidwork.core.contract.layout import (
    Axis,
    Layout,
    Misfit,
    Part,
    Place,
    Reference,
    Seen,
    place_in,
    places_of,
)

_FITS = {"b": "b", "i": "iub", "u": "iub", "f": "fiub", "U": "U", "S": "S"}
"""Kinds of single values that may stand where one of the first kind stood."""
_WORDS = {"b": "true or false", "i": "a whole number", "u": "a whole number", "f": "a number", "U": "a text"}

_Letters = dict[tuple[str, tuple[str, ...]], tuple[int, str]]


def misfit(state: Any, reference: Reference, layout: Layout) -> str:
    """Where a stored state does not fit, as a part of a sentence; empty when it does."""
    found = {place: (value, place_in(layout, place)) for place, value in places_of(state)}
    letters: _Letters = {}
    try:
        for place, (value, where) in found.items():
            _check_form(place, value, where, reference, letters)
        for place in reference.fresh:
            part = place_in(layout, place).part or Part()
            if place not in found and not (part.missing or part.free or place in reference.absent):
                raise Misfit(f"“{place}” is missing")
        for place, (value, where) in found.items():
            if value is not None and not (where.part or Part()).free:
                _check_numbers(place, np.asarray(value), where, reference, letters)
    except Misfit as error:
        return str(error)
    return ""


def _called(place: str) -> str:
    return f"“{place[:80]}”"


def _check_form(place: str, value: Any, where: Place, reference: Reference, letters: _Letters) -> None:
    """Whether it may stand here, and is of the right type and shape; lengths of letters are noted."""
    part, seen = where.part or Part(), reference.at(where.name)
    if part.free:
        return
    if value is None:
        if part.missing or any(one.dtype is None for one in seen):
            return
        raise Misfit(f"{_called(place)} is missing")
    wanted = [one for one in seen if one.dtype is not None]
    if part.shape is not None:
        first = wanted[0] if wanted else Seen(np.dtype(np.float64), (), True)
        wanted = [Seen(np.dtype(part.dtype) if part.dtype else first.dtype, first.shape, first.finite)]
    if not wanted:
        raise Misfit(f"{_called(place)} is not known")
    problems = [_form(value, one, part.shape, where.scope, letters, place) for one in wanted]
    if all(problems):
        raise Misfit(f"{_called(place)} {problems[0]}")


def _form(
    value: Any,
    one: Seen,
    shape: tuple[Axis, ...] | None,
    scope: tuple[str, ...],
    letters: _Letters,
    place: str,
) -> str:
    """What is wrong with the type and shape, as the end of a sentence that begins with the place."""
    assert one.dtype is not None
    axes: tuple[Axis, ...] = one.shape if shape is None else shape
    if not axes or not isinstance(value, np.ndarray):
        own = Seen.of(value)
        if own.shape or axes:
            return f"has the shape {own.shape}, expected {_axes(axes)}"
        if own.dtype is None or own.dtype.kind not in _FITS.get(one.dtype.kind, ""):
            return f"is {str(value)[:40]}, expected {_WORDS.get(one.dtype.kind, 'something else')}"
        return ""
    if value.dtype != one.dtype:
        return f"is an array of {value.dtype}, expected {one.dtype}"
    if value.ndim != len(axes):
        return f"has the shape {value.shape}, expected {_axes(axes)}"
    for axis, (length, wanted) in enumerate(zip(value.shape, axes)):
        expected, what = _length(length, wanted, axis, one, scope, letters, place)
        if length != expected and expected != -1:
            return f"has the shape {value.shape}, expected {what} along axis {axis + 1}"
    return ""


def _axes(axes: tuple[Axis, ...]) -> str:
    """The axes that a place has, in words; those of any length by a star."""
    return (
        f"({', '.join('*' if one in (-1, None) else str(one) for one in axes)})" if axes else "a single one"
    )


def _length(
    length: int, wanted: Axis, axis: int, one: Seen, scope: tuple[str, ...], letters: _Letters, place: str
) -> tuple[int, str]:
    """The length that an axis has to have, and in words."""
    if isinstance(wanted, str):
        letter, _, more = wanted.partition("+")
        base, first = letters.setdefault((letter, scope), (length - int(more or 0), place))
        return base + int(more or 0), f"{base + int(more or 0)} as in {_called(first)}"
    expected = one.shape[axis] if wanted is None and axis < len(one.shape) else wanted
    return (-2, "nothing") if expected is None else (expected, str(expected))


def _check_numbers(
    place: str, array: np.ndarray, where: Place, reference: Reference, letters: _Letters
) -> None:
    """Whether numbers are finite where those of the model are, flags are 0 or 1, and all are in their range."""
    part, seen = where.part or Part(), reference.seen.get(where.name, [])
    if array.dtype == np.bool_ and array.size and np.ascontiguousarray(array).view(np.uint8).max() > 1:
        raise Misfit(f"{_called(place)} has flags that are neither true nor false")
    unset = array.dtype.kind != "f" or part.unset or any(not one.finite for one in seen)
    if not unset and not np.isfinite(array).all():
        raise Misfit(f"{_called(place)} holds a number that is not finite")
    if part.same and not np.array_equal(array, reference.fresh.get(where.name, ())):
        raise Misfit(f"{_called(place)} is not what follows from the data and settings")
    if array.size and (array.dtype.kind in "iuf" or array.dtype == object):  # of any size, beyond 64 bits
        _check_range(place, array, part, _bound(part.below, where.scope, letters, place))


def _bound(below: int | str | None, scope: tuple[str, ...], letters: _Letters, place: str) -> int | None:
    if not isinstance(below, str):
        return below
    found = letters.get((below, scope)) or letters.get((below, ()))
    if found is None:
        raise Misfit(f"{_called(place)} counts something of which nothing is stored")
    return found[0]


def _check_range(place: str, array: np.ndarray, part: Part, below: int | None) -> None:
    if part.low is not None and array.min() < part.low:
        raise Misfit(f"{_called(place)} holds {array.min()}, expected {part.low} at least")
    if below is not None and array.max() >= below:
        raise Misfit(f"{_called(place)} holds {array.max()}, expected less than {below}")


def whole_numbers(state: Mapping[str, Any]) -> list[str]:
    """The places of a state that hold arrays of whole numbers."""
    return [
        place
        for place, value in places_of(state)
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    ]
