"""Fewer points with the same picture: the lowest and highest of each pixel column."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def thin(
    x: Floats, y: Floats, columns: int, view: tuple[float, float] | None = None
) -> tuple[Floats, Floats]:
    """Reduce a line to about three points per pixel column.

    Parameters
    ----------
    x, y : points; only ascending x can be thinned, others come back as they are
    columns : pixel columns of the picture
    view : visible range of x, None for all

    Returns
    -------
    x, y : new points; a column that holds a missing value also ends in one
    """
    if len(x) <= 3 * columns or columns < 1 or not bool(np.all(np.diff(x) >= 0)):
        return x, y
    if view is not None:
        first = max(int(np.searchsorted(x, view[0])) - 1, 0)
        last = int(np.searchsorted(x, view[1], side="right")) + 1
        x, y = x[first:last], y[first:last]
        if len(x) <= 3 * columns:
            return x, y
    step = -(-len(x) // columns)
    whole = len(x) // step * step
    block = y[:whole].reshape(-1, step)
    low, high = np.fmin.reduce(block, axis=1), np.fmax.reduce(block, axis=1)
    rising = block[:, -1] >= block[:, 0]
    parts: list[Any] = [np.where(rising, low, high), np.where(rising, high, low)]
    places: list[Any] = [x[:whole:step], x[step // 2 : whole : step]]
    gaps = np.isnan(block).any(axis=1)
    if gaps.any():
        parts.append(np.where(gaps, np.nan, parts[1]))
        places.append(x[step - 1 : whole : step])
    new_x = np.column_stack(places).ravel()
    new_y = np.column_stack(parts).ravel()
    return np.concatenate([new_x, x[whole:]]), np.concatenate([new_y, y[whole:]])
