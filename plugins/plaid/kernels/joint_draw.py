"""Joint draw of the background and all shifts, and the residual sum of squares at it (section 2.2)."""

from __future__ import annotations

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.evidence import back_solve, factor


@njit(cache=True, nogil=True)
def draw_levels(rng, cells, counts, sums, law):
    """``b = (phi, theta) | Z ~ Normal(Lambda^-1 h, Lambda^-1)``.

    Returns
    -------
    phi : background, from the centre
    theta : (K,) shifts
    squares : sum of squared residuals over observed cells, ``sum x^2 - 2 b'S + b'G b``
    """
    chol, half = factor(counts, sums, law)
    for i in range(half.size):
        half[i] += rng.standard_normal()
    levels = back_solve(chol, half)
    squares = cells.sum_squares
    for i in range(levels.size):
        squares -= 2.0 * levels[i] * sums[i]
        for j in range(levels.size):
            squares += levels[i] * counts[i, j] * levels[j]
    return levels[0], levels[1:].copy(), max(squares, 0.0)


@njit(cache=True, nogil=True)
def count_covered(rows, columns, found, lo, hi):
    """Numbers of cells of rows lo to hi that are in at least one block, into ``found`` (N1,). O((hi - lo) N2) bytes at most."""
    inside = np.empty(columns.shape[1], np.bool_)
    for i in range(lo, hi):
        blocks = 0
        for k in range(rows.shape[0]):
            if rows[k, i]:
                if blocks == 0:
                    inside[:] = False
                inside |= columns[k]
                blocks += 1
        found[i] = np.count_nonzero(inside) if blocks else 0
