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

from plaidwork.core.errors import PictureError
from plaidwork.core.pictures.items import Items
from plaidwork.core.pictures.pyramid import Pyramid

Numbers = Any
"""A list or an array (n,), kept as a read-only float64 array."""
Color = str | int
"""A token of the theme ("text", "muted", "control", "neutral" …), or the number of a category."""
Colors = Color | tuple[Color, ...]
Words = tuple[str, ...] | Callable[[int], str] | None
_MANY_CELLS = 100_000
MAPS = ("tide", "loom", "soft_loom", "greys")
"""Colour maps: of amounts, of signed numbers, the same below marks, and of annotations beside another map."""
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
            raise PictureError(f"{self._what} have {len(self)} pieces and {len(self.labels)} labels.")

    def extent(self, axis: str) -> np.ndarray:
        """Along x the edges of the bars."""
        if axis == "y":
            return super().extent("y")
        return np.concatenate([self.x - self.width / 2, self.x + self.width / 2])


@dataclass(frozen=True)
class Cells(Mark):
    """An image of (n, m) ``values`` by a colour map of the theme (one of `MAPS`), NaN where missing.

    Its first row is the lowest, from ``y0`` to ``y1``; columns go from ``x0`` to ``x1``. ``limits`` are the ends of the map.
    Pieces are counted row by row. ``labels`` of all of them stand in cells that have room; of two lines the second one
    gives way first. With a ``gap`` in pixels, large cells stand apart as tiles; a ``smooth`` image has no edges between cells.
    ``rows`` and ``columns`` are the items that whole lines stand for. ``dots`` (n, m) says which cells have a dot, where
    they have room for one. Missing cells are hatched, or with ``clear`` show what lies below.
    """

    values: np.ndarray
    x0: float
    x1: float
    y0: float
    y1: float
    map: str = "tide"
    limits: tuple[float, float] = (0.0, 1.0)
    labels: tuple[str, ...] = ()
    gap: float = 0.0
    smooth: bool = False
    rows: Items | None = None
    columns: Items | None = None
    dots: np.ndarray | None = None
    clear: bool = False

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if self.labels and len(self.labels) != values.size:
            raise PictureError(f"{self._what} have {values.size} pieces and {len(self.labels)} labels.")
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise PictureError(f"{self._what} need a matrix of numbers. Found the shape {values.shape}.")
        if self.map not in MAPS or not self.limits[0] < self.limits[1]:
            raise PictureError(
                f"{self._what} need a colour map and its ends. Found {self.map}, {self.limits}."
            )
        values = values.view()
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        for name, items, length in zip(("rows", "columns"), (self.rows, self.columns), values.shape):
            if items is not None and len(items.index) != length:
                raise PictureError(f"{self._what} have {length} {name}. Found items of {len(items.index)}.")
        if self.dots is not None and np.shape(self.dots) != values.shape:
            raise PictureError(
                f"{self._what} need dots of the shape {values.shape}. Found {np.shape(self.dots)}."
            )
        super().__post_init__()
        if values.size > _MANY_CELLS:
            _ = self.pyramid  # now, since views are loaded in the background

    @cached_property
    def pyramid(self) -> Pyramid:
        """The values at several resolutions."""
        return Pyramid(self.values)

    def __len__(self) -> int:
        return int(self.values.size)

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of the items that pieces and lines stand for."""
        lines = (self.rows, self.columns)
        return super().kinds | {items.kind for items in lines if items is not None}

    def items(self, piece: int) -> tuple[str, tuple[int, ...]] | None:
        """Those of the column and the row where they are of one kind; else of the column, or of the row."""
        row, column = divmod(piece, self.values.shape[1])
        found: dict[str, list[int]] = {}
        for items, place in ((self.columns, column), (self.rows, row)):
            if items is not None and items.index[place] >= 0:
                found.setdefault(items.kind, []).append(int(items.index[place]))
        kind = next(iter(found), "")
        return (kind, tuple(sorted(set(found[kind])))) if kind else super().items(piece)

    def places(self, axis: str, lines: np.ndarray) -> np.ndarray:
        """Where these columns ("x") or rows ("y") are, in units of the axis."""
        return np.asarray(self._across(lines) if axis == "x" else self._up(lines))

    def middles(self) -> tuple[np.ndarray, np.ndarray]:
        """Of all cells, row by row."""
        n, m = self.values.shape
        rows, columns = np.divmod(np.arange(n * m), max(m, 1))
        return self._across(columns), self._up(rows)

    def middle(self, piece: int) -> tuple[float, float]:
        """Of one cell."""
        row, column = divmod(piece, self.values.shape[1])
        return float(self._across(column)), float(self._up(row))

    def _across(self, columns: Any) -> Any:
        return self.x0 + (columns + 0.5) / self.values.shape[1] * (self.x1 - self.x0)

    def _up(self, rows: Any) -> Any:
        return self.y0 + (rows + 0.5) / self.values.shape[0] * (self.y1 - self.y0)

    def extent(self, axis: str) -> np.ndarray:
        """The edges."""
        return np.array([self.x0, self.x1] if axis == "x" else [self.y0, self.y1])


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
            raise PictureError(f"{self._what} have {len(self)} places and {len(self.words)} words.")
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
