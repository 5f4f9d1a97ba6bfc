"""Gram matrices of features and samples whose curvature T differs from cell to cell: products of matrices, by the BLAS.

Of few factors they are had in a half to a third of the time of a pass over the cells for each factor (``kernels.weights``), which
does less arithmetic, but from the inner caches and not from registers. The host gives the BLAS one thread, and what is
multiplied follows from the data alone, so that the sums are the same for any number of threads.
"""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.group_factor import products
from plaidwork.plugins.group_factor.cells import Tile, View, in_tiles, tile
from plaidwork.plugins.group_factor.state import Floats, Predictor

MOST = 40
"""Factors up to which Gram matrices pay: they take the square of their number, passes their number."""
STRETCH = 4096
"""Samples whose sums are in the type of the cells."""
SAMPLES = 256
"""Samples that are worked at once. Stretches begin at multiples of it, so that sums do not depend on how samples are cut into slices."""
FEATURES = 64
"""Features of a slice, at least: each slice has to make the products of the factor values."""


def pay(state: Predictor) -> bool:
    """Whether there are few enough factors."""
    return len(state["z"]) <= MOST


def of_features(state: Predictor, view: View, lo: int, hi: int) -> tuple[Floats, Floats]:
    """Of features lo..hi-1 of the view the sums over samples of T <z z>, (features, width) as in ``products``, and of (B - T <mu>) <z>."""
    (k, n), dtype = state["z"].shape, state["float"].dtype
    first, second = np.ascontiguousarray(state["z"].T), np.ascontiguousarray(state["zz"].T)
    gram, cross = np.zeros((hi - lo, products.width(k))), np.zeros((hi - lo, k))
    size = min(n, STRETCH)
    table, values = np.zeros((size, products.width(k)), dtype), np.zeros((size, -(-k // 16) * 16), dtype)
    for left in range(0, n, STRETCH):
        right = min(n, left + STRETCH)
        products.fill_pairs(first, second, left, right, table)
        values[: right - left, :k] = first[left:right]
        for start, end in in_tiles(hi - lo, right - left):
            cells = tile(state, view, lo + start, lo + end, left, right)
            gram[start:end] += _curvature(cells) @ table[: right - left]
            cross[start:end] += (cells.B @ values[: right - left])[:, :k]
    return gram, cross


def of_samples(state: Predictor, views: list[View], left: int, right: int) -> tuple[Floats, Floats]:
    """Of samples left..right-1 the sums over the features of the views of T <w w>, (width, samples), and of (B - T <mu>) <w>, (K, samples)."""
    k, dtype = len(state["w"]), state["float"].dtype
    gram, cross = np.zeros((products.width(k), right - left)), np.zeros((k, right - left))
    for view in views:
        first, second = (np.ascontiguousarray(state[name][:, view.features].T) for name in ("w", "ww"))
        for start, end in in_tiles(view.size, right - left):
            cells = tile(state, view, start, end, left, right)
            table = np.zeros((end - start, products.width(k)), dtype)
            products.fill_pairs(first, second, start, end, table)
            gram += table.T @ _curvature(cells)
            cross += first[start:end].T.astype(dtype) @ cells.B
    return gram, cross


def _curvature(cells: Tile) -> Floats:
    """T of the tile alone."""
    assert cells.T is not None
    (top, left), (rows, columns) = cells.T_at, cells.B.shape
    return cells.T[top : top + rows, left : left + columns]
