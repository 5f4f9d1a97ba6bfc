"""Lines of equal height of a map, smooth and with places for their labels. No Qt: called in the pool."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

FINER = 4
"""Points that are computed for one of the grid, each way."""
MOST = 1000
"""Points each way at most."""


@dataclass(frozen=True)
class Contour:
    """Pieces of the line at ``level``, each (p, 2) of x and y."""

    level: float
    lines: tuple[np.ndarray, ...]


def refined(values: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The map on a finer, even grid by cubic splines that stay within its limits; linear where cells are missing.

    Parameters
    ----------
    values : (gy, gx). x, y : (gx,) and (gy,) rising places, even or not.
    """
    from scipy.ndimage import map_coordinates

    finer = [min((len(places) - 1) * FINER + 1, MOST) for places in (x, y)]
    fine_x, fine_y = (np.linspace(p[0], p[-1], n) for p, n in zip((x, y), finer, strict=True))
    across, down = (np.interp(fine, p, np.arange(len(p))) for fine, p in ((fine_x, x), (fine_y, y)))
    order = 3 if np.isfinite(values).all() else 1
    fine = map_coordinates(values, np.meshgrid(down, across, indexing="ij"), order=order, mode="nearest")
    if np.isfinite(values).any():
        fine = np.clip(fine, np.nanmin(values), np.nanmax(values))
    return fine, fine_x, fine_y


def contours(
    values: np.ndarray, x: np.ndarray, y: np.ndarray, levels: tuple[float, ...]
) -> tuple[Contour, ...]:
    """The lines at ``levels`` of the map (gy, gx), in the units of ``x`` (gx,) and ``y`` (gy,)."""
    from contourpy import LineType, contour_generator

    if min(values.shape) < 2 or not np.isfinite(values).any():
        return tuple(Contour(level, ()) for level in levels)
    maker = contour_generator(x, y, np.ma.masked_invalid(values), line_type=LineType.Separate)
    return tuple(
        Contour(level, tuple(np.asarray(line, dtype=np.float64) for line in maker.lines(level)))
        for level in levels
    )


def regions(values: np.ndarray, x: np.ndarray, y: np.ndarray, level: float) -> tuple[np.ndarray, ...]:
    """Outlines (p, 2), holes among them, of where the map (gy, gx) is at least ``level``."""
    from contourpy import FillType, contour_generator

    if min(values.shape) < 2 or not (values >= level).any():
        return ()
    maker = contour_generator(x, y, np.ma.masked_invalid(values), fill_type=FillType.OuterOffset)
    filled: Any = maker.filled(level, np.inf)
    points, offsets = filled
    found = []
    for polygon, ends in zip(points, offsets, strict=True):
        found += [np.asarray(polygon[a:b], dtype=np.float64) for a, b in pairwise(ends)]
    return tuple(found)


def label_position(line: np.ndarray, others: np.ndarray, far: float) -> np.ndarray | None:
    """The point (2,) of a line of pixels (p, 2) farthest from ``others`` (q, 2); None when all are nearer than ``far``."""
    if not len(line):
        return None
    if not len(others):
        found: np.ndarray = line[len(line) // 2]
        return found
    step = max(1, len(line) // 60)
    tried = line[::step]
    away = np.sqrt(((tried[:, None, :] - others[None, :, :]) ** 2).sum(axis=-1)).min(axis=1)
    best = int(np.argmax(away))
    return tried[best] if away[best] >= far else None
