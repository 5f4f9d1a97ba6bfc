"""Marks that are matrices of numbers by a colour map: cells, each of which is a piece, and images, which are one thing each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PictureError
from plaidwork.core.pictures.items import Items
from plaidwork.core.pictures.marks import Mark
from plaidwork.core.pictures.pyramid import Pyramid

_MANY_CELLS = 100_000
MAPS = ("tide", "loom", "soft_loom", "greys")
"""Colour maps: of amounts, of signed numbers, the same below marks, and of annotations beside another map."""


@dataclass(frozen=True)
class Raster(Mark):
    """(n, m) ``values`` by a colour map of the theme (one of `MAPS`), NaN where missing.

    The first row is the lowest, from ``y0`` to ``y1``; columns go from ``x0`` to ``x1``. ``limits`` are the ends of the map.
    Pieces are counted row by row. A ``smooth`` one has no edges between cells. Missing cells are hatched, or with ``clear``
    show what lies below.
    """

    values: np.ndarray
    x0: float
    x1: float
    y0: float
    y1: float
    map: str = "tide"
    limits: tuple[float, float] = (0.0, 1.0)
    smooth: bool = False
    clear: bool = False

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        if values.ndim != 2 or values.dtype.kind not in "biuf":
            raise PictureError(f"{self._what} need a matrix of numbers. Found the shape {values.shape}.")
        if self.map not in MAPS or not self.limits[0] < self.limits[1]:
            raise PictureError(
                f"{self._what} need a colour map and its ends. Found {self.map}, {self.limits}."
            )
        values = values.view()
        values.setflags(write=False)
        object.__setattr__(self, "values", values)
        super().__post_init__()
        if values.size > _MANY_CELLS:
            _ = self.pyramid  # now, since views are loaded in the background

    @cached_property
    def pyramid(self) -> Pyramid:
        """The values at several resolutions."""
        return Pyramid(self.values)

    def __len__(self) -> int:
        return int(self.values.size)

    def extent(self, axis: str) -> np.ndarray:
        """The edges."""
        return np.array([self.x0, self.x1] if axis == "x" else [self.y0, self.y1])


@dataclass(frozen=True)
class Image(Raster):
    """An image that stands for one item as a whole: keys and clicks mean it, the pointer reads its pixels.

    ``of`` has the item, as that of the first piece.
    """

    def items(self, piece: int) -> tuple[str, tuple[int, ...]] | None:
        """The item of the image, at every pixel."""
        return super().items(0)

    def middle(self, piece: int) -> tuple[float, float]:
        """Of the image."""
        return (self.x0 + self.x1) / 2, (self.y0 + self.y1) / 2

    def middles(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the image, for every pixel."""
        x, y = self.middle(0)
        return np.full(len(self), x), np.full(len(self), y)


@dataclass(frozen=True)
class Cells(Raster):
    """Numbers in cells, each of them a piece.

    ``labels`` of all of them stand in cells that have room; of two lines the second one gives way first. With a ``gap`` in
    pixels, large cells stand apart as tiles. ``rows`` and ``columns`` are the items that whole lines stand for. ``dots``
    (n, m) says which cells have a dot, where they have room for one.
    """

    labels: tuple[str, ...] = ()
    gap: float = 0.0
    rows: Items | None = None
    columns: Items | None = None
    dots: np.ndarray | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.labels and len(self.labels) != len(self):
            raise PictureError(
                f"{self._what} have {len(self)} pieces and {counted(len(self.labels), 'label')}."
            )
        for name, items, length in zip(("rows", "columns"), (self.rows, self.columns), self.values.shape):
            if items is not None and len(items.index) != length:
                raise PictureError(f"{self._what} have {length} {name}. Found items of {len(items.index)}.")
        if self.dots is not None and np.shape(self.dots) != self.values.shape:
            raise PictureError(
                f"{self._what} need dots of the shape {self.values.shape}. Found {np.shape(self.dots)}."
            )

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
