"""Marks of a picture. Each holds places in the units of its panel's axes, never pixels, and a colour by its role.

Arrays are float64 and read-only; NaN is a place without a mark, infinite numbers are refused. A mark has as many pieces
as it has entries; ``read`` says a piece in words (texts, or a function of its number, for marks with very many), ``of``
which items the pieces stand for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PictureError
from plaidwork.core.pictures.items import Items

Numbers = Any
"""A list or an array (n,), kept as a read-only float64 array."""
Color = str | int
"""A token of the theme ("text", "muted", "control", "neutral" …), or the number of a category."""
Colors = Color | tuple[Color, ...]
Words = tuple[str, ...] | Callable[[int], str] | None
AREA_ORDER, PAIR_ORDER = (2, 3, 1, 4, 5, 0), (0, 1)


def area_categories(count: int) -> tuple[int, ...]:
    """Categories of classes that are areas, or stand beside a map: of two its ends, of many none of its blue before the last."""
    order = PAIR_ORDER if count == 2 else AREA_ORDER
    return tuple(order[k % len(order)] for k in range(count))


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What all marks have.

    ``color`` is one for all pieces, or one for each. ``called`` names the pieces: what stands beside one that is pointed
    at, and what a search finds. ``held`` is whether the axes reach as far as the mark. A click
    chooses too where ``choice`` is the id of a choice and the value of it that each piece is.
    """

    name: str = ""
    color: Colors = 0
    read: Words = None
    of: Items | None = None
    choice: tuple[str, tuple[str, ...]] | None = None
    called: Words = None
    held: bool = True
    arrays: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        lengths = {}
        for name in self.arrays:
            values = self._checked(name)
            if values is not None:
                lengths[name] = len(values)
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} {length}" for name, length in lengths.items())
            raise PictureError(f"{self._what} need lists of one length. Found {told}.")
        chosen = None if self.choice is None else self.choice[1]
        words = (
            ("read-outs", self.read),
            ("colours", self.color),
            ("names", self.called),
            ("values", chosen),
        )
        for word, given in words:
            if isinstance(given, tuple) and len(given) != len(self):
                raise PictureError(f"{self._what} have {len(self)} pieces and {len(given)} {word}.")
        if self.of is not None:
            found, single = self.of.reach, self.of.piece is None
            if found != len(self) if single else found > len(self):
                what = "stand for {} items" if single else "items of {}"
                raise PictureError(f"{self._what} have {len(self)} pieces and {what.format(found)}.")

    @property
    def _what(self) -> str:
        return type(self).__name__ + (f" “{self.name}”" if self.name else "")

    def _checked(self, name: str) -> np.ndarray | None:
        given: Any = getattr(self, name)
        if given is None:
            return None
        try:
            values = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise PictureError(f"The {name} of {self._what} are numbers. Found {given!r:.60}.") from None
        if values.ndim != 1:
            raise PictureError(f"The {name} of {self._what} are a list. Found the shape {values.shape}.")
        if np.isinf(values).any():
            raise PictureError(f"The {name} of {self._what} have an infinite number.")
        values.setflags(write=False)
        object.__setattr__(self, name, values)
        return values

    def __len__(self) -> int:
        return len(getattr(self, self.arrays[0]))

    def text(self, piece: int) -> str:
        """A piece in words; empty when it has none."""
        if self.read is None:
            return ""
        return self.read(piece) if callable(self.read) else self.read[piece]

    def called_of(self, piece: int) -> str:
        """The name of a piece; empty when it has none."""
        if self.called is None:
            return ""
        return self.called(piece) if callable(self.called) else self.called[piece]

    @cached_property
    def palette(self) -> tuple[tuple[Color, ...], np.ndarray]:
        """The colours that differ, and (n,) the number of that of each piece."""
        if not isinstance(self.color, tuple):
            return (self.color,), np.zeros(len(self), dtype=np.intp)
        number = {color: k for k, color in enumerate(dict.fromkeys(self.color))}
        return tuple(number), np.fromiter(map(number.__getitem__, self.color), np.intp, len(self))

    def color_of(self, piece: int) -> Color:
        """Colour of a piece."""
        return self.color[piece] if isinstance(self.color, tuple) else self.color

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of the items that pieces stand for, and that are selected in all views."""
        return frozenset({self.of.kind}) if self.of is not None and self.of.shared else frozenset()

    def items(self, piece: int) -> tuple[str, tuple[int, ...]] | None:
        """Kind and numbers of the items of a piece."""
        numbers = self.of.of(piece) if self.of is not None else ()
        return (self.of.kind, numbers) if self.of is not None and numbers else None

    def middle(self, piece: int) -> tuple[float, float]:
        """Where a piece is pointed at, in units of x and y."""
        x, y = self.middles()
        return float(x[piece]), float(y[piece])

    def middles(self) -> tuple[np.ndarray, np.ndarray]:
        """Where each piece is pointed at, in units of x and y."""
        values = {name: getattr(self, name) for name in self.arrays}
        if "x0" in values:
            return (values["x0"] + values["x1"]) / 2, (values["y0"] + values["y1"]) / 2
        nowhere = np.full(len(self), np.nan)
        return values.get("x", nowhere), values.get("y", values.get("high", nowhere))

    def extent(self, axis: str) -> np.ndarray:
        """Values along "x" or "y" that the axis has to hold."""
        names = _EXTENT[axis] & set(self.arrays)
        parts = [getattr(self, name) for name in sorted(names) if getattr(self, name) is not None]
        return np.concatenate(parts) if parts else np.zeros(0)


_EXTENT = {"x": {"x", "x0", "x1"}, "y": {"y", "y0", "y1", "low", "high"}}


@dataclass(frozen=True)
class Line(Mark):
    """A line through (x, y), broken at NaN; ``steps`` goes across, then up. ``x`` need not rise."""

    x: Numbers
    y: Numbers
    width: float = 2.0
    dashed: bool = False
    steps: bool = False
    opacity: float = 1.0
    arrays: ClassVar[tuple[str, ...]] = ("x", "y")


@dataclass(frozen=True)
class Bands(Mark):
    """The area between ``low`` and ``high`` along ``x``; ``opacity`` 1 for areas of a stack."""

    x: Numbers
    low: Numbers
    high: Numbers
    opacity: float = 0.18
    arrays: ClassVar[tuple[str, ...]] = ("x", "low", "high")

    def middles(self) -> tuple[np.ndarray, np.ndarray]:
        """Half way up."""
        return self.x, (self.low + self.high) / 2


@dataclass(frozen=True)
class Intervals(Mark):
    """A line from ``low`` to ``high`` at each ``x``; with a ``halo`` it stands out on areas."""

    x: Numbers
    low: Numbers
    high: Numbers
    width: float = 2.0
    halo: bool = False
    arrays: ClassVar[tuple[str, ...]] = ("x", "low", "high")


@dataclass(frozen=True)
class Bars(Mark):
    """Bars from ``low`` to ``high`` around ``x``: ``width`` in units of x, at most ``widest`` pixels.

    ``labels`` stand above the bars where they meet no other; that of the bar ``strongest`` always does.
    """

    x: Numbers
    low: Numbers
    high: Numbers
    width: float = 0.66
    widest: float = 120.0
    labels: tuple[str, ...] = ()
    strongest: int = -1
    arrays: ClassVar[tuple[str, ...]] = ("x", "low", "high")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels and len(self.labels) != len(self):
            raise PictureError(
                f"{self._what} have {len(self)} pieces and {counted(len(self.labels), 'label')}."
            )

    def extent(self, axis: str) -> np.ndarray:
        """Along x the edges of the bars."""
        if axis == "y":
            return super().extent("y")
        return np.concatenate([self.x - self.width / 2, self.x + self.width / 2])


@dataclass(frozen=True)
class Outlines(Mark):
    """Frames of rectangles from (x0, y0) to (x1, y1)."""

    x0: Numbers
    y0: Numbers
    x1: Numbers
    y1: Numbers
    width: float = 2.0
    arrays: ClassVar[tuple[str, ...]] = ("x0", "y0", "x1", "y1")


@dataclass(frozen=True)
class Texts(Mark):
    """Words at (x, y), to the "right" of it, the "left", "above" or on its "middle"; ``tagged`` ones on a ground of their own,
    those with a ``halo`` stand out on lines.

    Those on a "free" side stand where they meet neither another nor a point, ``clear`` pixels from their place, the first
    ones before the others; those without room are left out.
    """

    x: Numbers
    y: Numbers
    words: tuple[str, ...]
    side: str = "right"
    tagged: bool = False
    halo: bool = False
    clear: Numbers | None = None
    color: Colors = field(default="muted", kw_only=True)
    arrays: ClassVar[tuple[str, ...]] = ("x", "y", "clear")

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.words) != len(self):
            raise PictureError(
                f"{self._what} have {counted(len(self), 'place')} and {counted(len(self.words), 'word')}."
            )
        if self.side not in ("right", "left", "above", "middle", "free"):
            raise PictureError(f"Words stand right, left, above, in the middle or free. Found “{self.side}”.")


@dataclass(frozen=True)
class Rule(Mark):
    """Lines across the whole panel at these places of the ``axis`` "x" or "y".

    A single line that is the value of a number that may be chosen, by its id ``drags``, can be dragged.
    """

    at: Numbers
    axis: str = "x"
    width: float = 1.0
    dashed: bool = True
    drags: str = ""
    color: Colors = field(default="control", kw_only=True)
    arrays: ClassVar[tuple[str, ...]] = ("at",)

    def extent(self, axis: str) -> np.ndarray:
        """A line across does not widen an axis."""
        return np.zeros(0)


@dataclass(frozen=True)
class Rug(Mark):
    """Short ticks on the lower axis where data are."""

    x: Numbers
    color: Colors = field(default="control", kw_only=True)
    arrays: ClassVar[tuple[str, ...]] = ("x",)

    def extent(self, axis: str) -> np.ndarray:
        """Ticks do not widen an axis."""
        return np.zeros(0)
