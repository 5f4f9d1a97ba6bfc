"""Marks that are points: where they are given, or moved apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plaidwork.core.errors import PictureError
from plaidwork.core.pictures.marks import Mark, Numbers


@dataclass(frozen=True)
class Points(Mark):
    """Filled marks at (x, y), ``size`` pixels wide, or ``sizes`` each; ``shapes`` a number for each: -1 pale and hollow, -2 a cross, -3 hollow.

    With ``levels`` (n,) each has its colour by a map of the theme between ``limits``; NaN is a cross.
    """

    x: Numbers
    y: Numbers
    size: float = 8.0
    shapes: Sequence[int] | np.ndarray = ()
    levels: Numbers | None = None
    map: str = "tide"
    limits: tuple[float, float] = (0.0, 1.0)
    sizes: Numbers | None = None
    arrays: ClassVar[tuple[str, ...]] = ("x", "y", "levels", "sizes")

    def __post_init__(self) -> None:
        super().__post_init__()
        shapes = np.array(self.shapes, dtype=np.int8)
        if len(shapes) not in (0, len(self)):
            raise PictureError(f"{self._what} have {len(self)} pieces and {len(shapes)} shapes.")
        shapes.setflags(write=False)
        object.__setattr__(self, "shapes", shapes)

    def size_of(self, piece: int) -> float:
        """Pixels that a piece is wide."""
        return self.size if self.sizes is None else float(self.sizes[piece])


@dataclass(frozen=True)
class Swarm(Points):
    """Points at the heights ``y`` around the places ``x`` 0, 1, … of an axis of categories, moved aside so that none hides
    another, within the ``share`` of the room of a category."""

    share: float = 0.84
