"""What a stored state may hold, place by place: kernels index with it and check no bounds, and a file may hold anything.

A stored state is compared with states that the model makes itself for the same data and settings (:class:`Reference`): the same places,
kinds, types and shapes, numbers that are finite where those are. Where more than that may change from sweep to sweep, and for the
ranges of whole numbers, the model declares a :class:`Part` (``Model.layout``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Axis = int | str | None


@dataclass(frozen=True, slots=True)
class Part:
    """What a stored state holds in the places that a pattern names; see ``Model.layout``.

    Attributes
    ----------
    shape : a length for each axis: a number, a letter for a length that is the same wherever it stands (``"K"``, also ``"K+1"``; in a
        pattern such as ``"copies.*.rows"``: wherever it stands in the same copy), or None for that of a fresh state. None: all as
        in a fresh one.
    dtype : of arrays, and the kind of a single number; empty for that of a fresh state, else float64.
    low, below : the range of all its numbers, ``below`` excluded; a letter stands for the length that it is in the shapes.
    missing : it may be None or not be there at all.
    unset : numbers may be NaN or infinite, though none is in a fresh state.
    same : it has to equal that of a fresh state, as whole numbers do that follow from data and settings.
    like : with a pattern that ends in ``**``: what is below is kept for later from the places of the state that begin with this
        (empty: from the state itself), in whole or in part. Its letters stand for other lengths.
    free : it may be anything. Only for what no kernel sees.
    """

    shape: tuple[Axis, ...] | None = None
    dtype: str = ""
    low: float | None = None
    below: int | str | None = None
    missing: bool = False
    unset: bool = False
    same: bool = False
    like: str | None = None
    free: bool = False


Layout = Mapping[str, Part]
"""Parts by pattern: names of nested places with dots between, ``*`` for any one name or number, ``**`` at the end for all below.
Of several patterns the first one that fits a place counts."""


class Misfit(Exception):
    """Why a state does not fit, as a part of a sentence."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What stood in a place: kind of the type, shape, and whether all was finite; no ``dtype`` where it was None."""

    dtype: np.dtype[Any] | None
    shape: tuple[int, ...]
    """A length that the model changes by itself is -1."""
    finite: bool

    @classmethod
    def of(cls, value: Any) -> Seen:
        if value is None:
            return cls(None, (), True)
        array = np.asarray(
            0 if isinstance(value, int) and not isinstance(value, bool) else value
        )  # of any size
        return cls(array.dtype, array.shape, array.dtype.kind != "f" or bool(np.isfinite(array).all()))


class Reference:
    """What stands in the states that a model makes itself, by place; the first is a fresh one."""

    def __init__(self, fresh: Any) -> None:
        self.fresh = dict(places_of(fresh))
        self.seen = {place: [Seen.of(value)] for place, value in self.fresh.items()}
        self.absent: set[str] = set()
        """Places that some of the states lack."""

    def add(self, state: Any) -> None:
        """A state of a later moment."""
        found = {place: Seen.of(value) for place, value in places_of(state)}
        self.absent |= (self.seen.keys() - found.keys()) | (found.keys() - self.seen.keys())
        for place, one in found.items():
            kept = self.seen.setdefault(place, [])
            if one not in kept:
                kept.append(one)

    def at(self, place: str) -> list[Seen]:
        """What may stand in a place. Of an axis that was seen with two lengths above 0 every length may; what is empty now and then is
        of one length otherwise."""
        found = self.seen.get(place, [])
        made: dict[tuple[Any, int], list[Seen]] = {}
        for one in found:
            made.setdefault((one.dtype, len(one.shape)), []).append(one)
        return [_merged(one, alike) for alike in made.values() for one in alike]

    def changing(self) -> list[str]:
        """The places of which the model changes a length."""
        return [place for place in self.seen if any(-1 in one.shape for one in self.at(place))]


def _merged(one: Seen, alike: Sequence[Seen]) -> Seen:
    lengths = [{other.shape[axis] for other in alike} - {0} for axis in range(len(one.shape))]
    return replace(one, shape=tuple(-1 if len(n) > 1 else own for n, own in zip(lengths, one.shape)))


@dataclass(frozen=True, slots=True)
class Place:
    """A place as the layout has it: ``name`` in a fresh state, and in ``scope`` its letters stand for one length."""

    name: str
    part: Part | None
    scope: tuple[str, ...]


def places_of(value: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Places of a state and what they hold, through dicts, lists and tuples."""
    if isinstance(value, (Mapping, list, tuple)):
        for name, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from places_of(item, f"{at}.{name}" if at else str(name))
    else:
        yield at, value


def place_in(layout: Layout, place: str) -> Place:
    """What a layout says of a place."""
    names = place.split(".")
    for pattern, part in layout.items():
        wanted = pattern.split(".")
        if wanted[-1] == "**":
            stem = wanted[:-1]
            if len(names) < len(wanted) or not _agree(stem, names):
                continue
            if part.like is None:
                return Place(place, part, ())
            found = place_in(layout, ".".join([*filter(None, part.like.split(".")), *names[len(stem) :]]))
            kept = replace(found.part or Part(), missing=True)
            return Place(found.name, kept, (".".join(names[: len(stem)]), *found.scope))
        if len(names) == len(wanted) and _agree(wanted, names):
            last = max((at + 1 for at, want in enumerate(wanted[:-1]) if want == "*"), default=0)
            return Place(place, part, tuple(names[:last]))
    return Place(place, None, ())


def _agree(wanted: Sequence[str], names: Sequence[str]) -> bool:
    return all(want in ("*", name) for want, name in zip(wanted, names))
