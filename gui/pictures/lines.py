"""Lines and areas with no more places than there are pixels."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QPolygonF

_MANY = 2000


def runs(known: np.ndarray) -> list[slice]:
    """Stretches of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def thinned(x: np.ndarray, *heights: np.ndarray) -> np.ndarray:
    """Numbers of the places to draw: of every pixel across the first, the last, the lowest and the highest.

    ``x`` are pixels that do not fall; few places, or others, are all kept. NaN is nobody's extreme.
    """
    if len(x) <= _MANY or not (np.diff(x) >= 0).all():
        return np.arange(len(x))
    column = np.floor(x).astype(np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    lengths = np.diff(starts, append=len(x))
    kept = [starts, starts + lengths - 1]
    for values in heights:
        for extreme in (np.fmin, np.fmax):
            hits = np.flatnonzero(values == np.repeat(extreme.reduceat(values, starts), lengths))
            kept.append(hits[np.flatnonzero(np.diff(column[hits], prepend=column[0] - 1))])
    return np.unique(np.concatenate(kept))


def polygon(x: np.ndarray, y: np.ndarray) -> QPolygonF:
    """Points of Qt."""
    return QPolygonF([QPointF(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
