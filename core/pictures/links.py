"""Marks that are lines from place to place, and areas within outlines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plaidwork.core.pictures.marks import Mark, Numbers


@dataclass(frozen=True)
class Hatch(Mark):
    """The area within closed outlines (x, y), NaN between two of them, with slanted lines; an outline within another is a hole."""

    x: Numbers
    y: Numbers
    arrays: ClassVar[tuple[str, ...]] = ("x", "y")


def joined(lines: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Pieces (p, 2) of a line, or outlines, as x and y of one mark with NaN between them."""
    gap = np.full((1, 2), np.nan)
    parts = [part for line in lines for part in (line, gap)][:-1]
    x, y = (np.concatenate(parts) if parts else np.zeros((0, 2))).T
    return x, y


@dataclass(frozen=True)
class Links(Mark):
    """Straight lines from (x0, y0) to (x1, y1), ``widths`` pixels wide, of one ``opacity`` from 0 to 1 or one each, ``dashed``
    where 1."""

    x0: Numbers
    y0: Numbers
    x1: Numbers
    y1: Numbers
    widths: Numbers | None = None
    opacity: Numbers = 1.0
    dashed: Numbers | None = None
    arrays: ClassVar[tuple[str, ...]] = ("x0", "y0", "x1", "y1", "widths", "opacity", "dashed")

    def __post_init__(self) -> None:
        if np.ndim(self.opacity) == 0:
            object.__setattr__(self, "opacity", np.full(np.shape(self.x0), self.opacity))
        super().__post_init__()
