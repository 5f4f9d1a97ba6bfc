"""Where the pieces of a mark stand in pixels, those of a swarm moved apart so that none hides another."""

from __future__ import annotations

from bisect import bisect_left, insort
from math import sqrt

import numpy as np

from plaidwork.core.pictures import Mark, Swarm
from plaidwork.gui.pictures.frame import Frame

_MOST_EXACT = 3000
"""Points of one category that are placed one by one; more are strewn evenly."""
_TOUCH = 1e-6
"""Pixels by which two points may lie over each other."""


def pixels_of(mark: Mark, frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of all pieces of a mark in a frame, worked out once."""
    if id(mark) not in frame.kept:
        x, y = mark.middles()
        places = np.stack([frame.x.all_at(x), frame.y.all_at(y)])
        if isinstance(mark, Swarm):
            places[0] += _offsets(mark, places[1], abs(frame.x.at(1.0) - frame.x.at(0.0)))
        frame.kept[id(mark)] = places
    x, y = frame.kept[id(mark)]
    return x, y


def _offsets(mark: Swarm, heights: np.ndarray, column: float) -> np.ndarray:
    found = np.zeros(len(mark))
    for place in np.unique(mark.x[np.isfinite(mark.x)]):
        mine = (mark.x == place) & np.isfinite(heights)
        found[mine] = spread(heights[mine], column * mark.share, mark.size + 1)
    return found


def spread(y: np.ndarray, width: float, apart: float) -> np.ndarray:
    """Offsets across, in pixels, so that points at the heights ``y`` keep ``apart`` from each other.

    Each point goes to the free place nearest to the middle. When that takes more than ``width`` all offsets shrink, and
    very many points are strewn by a low-discrepancy sequence, wider where they are denser.
    """
    offsets = np.zeros(len(y))
    if len(y) > _MOST_EXACT:
        return _strewn(y, width, apart)
    placed: list[tuple[float, float]] = []
    for i in np.argsort(y, kind="stable"):
        near = placed[bisect_left(placed, (float(y[i]) - apart, -np.inf)) :]
        offsets[i] = _nearest_free(float(y[i]), near, apart)
        insort(placed, (float(y[i]), float(offsets[i])))
    widest = 2 * float(np.abs(offsets).max(initial=0)) + apart
    return offsets * min(1.0, max(width - apart, 1.0) / max(widest - apart, 1e-9))


def _nearest_free(y: float, near: list[tuple[float, float]], apart: float) -> float:
    """The place nearest to the middle that keeps away from the points near by; of two as near, the left one."""
    taken = []
    for height, across in near:
        reach = sqrt(max(apart**2 - (height - y) ** 2, 0.0))
        taken.append((across - reach, across + reach))
    right = _first_free(taken)
    left = _first_free([(-high, -low) for low, high in taken])
    return -left if left <= right else right


def _first_free(taken: list[tuple[float, float]]) -> float:
    """The first place from 0 on that is inside none of the stretches, which may touch it."""
    place = 0.0
    for low, high in sorted(taken):
        if low + _TOUCH >= place:
            if low >= place:
                break
        elif place < high - _TOUCH:
            place = high
    return place


def _strewn(y: np.ndarray, width: float, apart: float) -> np.ndarray:
    bins = np.round((y - y.min()) / max(apart, 1e-9)).astype(np.intp)
    dense = np.bincount(bins).astype(np.float64)
    reach = np.minimum(width / 2, dense * apart / 2) * (dense / dense.max()) ** 0.5
    order = np.argsort(y, kind="stable")
    sequence = np.empty(len(y))
    sequence[order] = (np.arange(len(y)) * 0.618033988749895) % 1.0
    return (2 * sequence - 1) * reach[bins]
