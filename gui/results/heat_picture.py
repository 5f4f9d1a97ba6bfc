"""What a heat map canvas shows, and the part of an axis in view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.pictures.pyramid import Pyramid
from plaidwork.core.views.strips import Strip


@dataclass(frozen=True)
class Picture:
    """What the canvas shows; replaced as a whole.

    ``row_order[i]`` is the row shown at place i. ``limits`` are the values at the ends of the map ``lut``.
    """

    pyramid: Pyramid
    row_order: np.ndarray
    column_order: np.ndarray
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    limits: tuple[float, float]
    lut: str = "loom"
    strips: tuple[Strip, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        return self.pyramid.shape


def inside(span: tuple[float, float], length: int) -> tuple[float, float]:
    """The span moved and cut to lie in [0, length], at least two long."""
    low, high = span
    width = min(max(high - low, min(2.0, float(length))), float(length))
    low = min(max(low, 0.0), length - width)
    return low, low + width
