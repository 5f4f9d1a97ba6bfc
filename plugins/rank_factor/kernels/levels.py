"""Comparisons with thresholds between levels. Arrays over cells are (rows, N); a level of -1 is a missing cell.

Sample n in level j is above threshold j - 1 (``below`` is the weight of that comparison) and below threshold j
(``above``). Weights are 0 where there is no comparison.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.rank_factor.kernels.random import LEAST_U, draw_kappa
from plaidwork.plugins.rank_factor.kernels.solve import FAST


@njit(nogil=True, cache=True)
def arguments(levels, top, w, c, eps, below, above):
    """u of every comparison, NaN where there is none.

    ``top`` is the highest level of each row, ``eps`` the margin of one comparison.
    """
    limits = np.empty(c.shape[1] + 3)
    for i in range(levels.shape[0]):
        limits[:] = np.nan
        limits[2 : 2 + top[i]] = c[i, : top[i]]
        for n in range(levels.shape[1]):
            j = levels[i, n]  # -1 has no limits, 0 none below, the highest none above
            below[i, n] = eps + limits[j + 1] - w[i, n]
            above[i, n] = eps + w[i, n] - limits[j + 2 if j >= 0 else 0]


@njit(nogil=True, cache=True)
def mean_weights(levels, top, w, variance, c, c_variance, eps, below, above):
    """<kappa> = E[u^2]^(-1/2) of every comparison."""
    for i in range(levels.shape[0]):
        for n in range(levels.shape[1]):
            j = levels[i, n]
            below[i, n] = above[i, n] = 0.0
            if j > 0:
                u = eps + c[i, j - 1] - w[i, n]
                square = u * u + c_variance[i, j - 1] + variance[i, n]
                below[i, n] = 1.0 / max(math.sqrt(square), LEAST_U)
            if 0 <= j < top[i]:
                u = eps + w[i, n] - c[i, j]
                square = u * u + c_variance[i, j] + variance[i, n]
                above[i, n] = 1.0 / max(math.sqrt(square), LEAST_U)


@njit(nogil=True, cache=True, error_model="numpy")
def threshold_terms(levels, w, below, above, eps, precision, linear):
    """Add the comparisons to precision and linear term of every threshold, (rows, thresholds).

    Sums have a place on either side for what is no comparison (weight 0): no branch.
    """
    p, h = np.empty(precision.shape[1] + 3), np.empty(precision.shape[1] + 3)
    for i in range(levels.shape[0]):
        p[:] = 0.0
        h[:] = 0.0
        for n in range(levels.shape[1]):
            j, low, high = levels[i, n], below[i, n], above[i, n]
            under, over = np.uintp(j + 1), np.uintp(j + 2)  # threshold j has place j + 2
            p[under] += low
            h[under] += low * (w[i, n] - eps) - (1.0 if low > 0.0 else 0.0)
            p[over] += high
            h[over] += high * (w[i, n] + eps) + (1.0 if high > 0.0 else 0.0)
        precision[i] += p[2:-1]
        linear[i] += h[2:-1]


@njit(nogil=True, cache=True)
def cell_terms(levels, below, above, c, eps, precision, linear):
    """Precision and linear term of every w given the thresholds."""
    limits = np.zeros(c.shape[1] + 3)
    for i in range(levels.shape[0]):
        limits[2:-1] = c[i]
        for n in range(levels.shape[1]):
            j, low, high = levels[i, n], below[i, n], above[i, n]
            up = low * (limits[j + 1] + eps) + (1.0 if low > 0.0 else 0.0)
            down = high * (limits[j + 2] - eps) - (1.0 if high > 0.0 else 0.0)
            precision[i, n] = low + high
            linear[i, n] = up + down


def measure(levels, top, w, c, eps, found):
    """Per row into ``found`` (rows, 4): comparisons, sum of max(0, u), those with u <= eps, those with u <= 0."""
    measure_scaled(levels, top, w, c, np.arange(len(w)), np.ones(len(w)), eps, found)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def measure_scaled(levels, top, w, c, rows, scale, eps, found):
    """:func:`measure` of some ``rows`` (n,) alone, with their ``w`` and ``c`` times ``scale`` (n,)."""
    limits = np.empty(c.shape[1] + 3)
    for r in range(rows.size):
        i, s = rows[r], scale[r]
        limits[:] = np.nan  # sums and counts leave out what is no comparison
        for j in range(top[i]):
            limits[2 + j] = s * c[i, j]
        count, hinge, ordered, kept = 0, 0.0, 0, 0
        for n in range(levels.shape[1]):
            j, v = levels[i, n], s * w[i, n]
            low = eps + limits[np.uintp(j + 1)] - v
            high = eps + v - limits[np.uintp(j + 2 if j >= 0 else 0)]
            count += (low == low) + (high == high)
            hinge += (low if low > 0.0 else 0.0) + (high if high > 0.0 else 0.0)
            ordered += (low <= eps) + (high <= eps)
            kept += (low <= 0.0) + (high <= 0.0)
        found[r, 0], found[r, 1], found[r, 2], found[r, 3] = count, hinge, ordered, kept


@njit(nogil=True, cache=True)
def bound(levels, top, w, variance, c, c_variance, eps, below, above, given, out):
    """Expected log hinge of each row, into ``out`` (rows,): -E[u] - sqrt(E[u^2]) at the best weights.

    With ``given`` the weights are taken as they are: -E[u] - (kappa E[u^2] + 1 / kappa) / 2.
    """
    for i in range(levels.shape[0]):
        total = 0.0
        for n in range(levels.shape[1]):
            j = levels[i, n]
            for side in range(2):
                if side == 0 and j > 0:
                    u = eps + c[i, j - 1] - w[i, n]
                    square = u * u + c_variance[i, j - 1] + variance[i, n]
                    kappa = below[i, n] if given else 0.0
                elif side == 1 and 0 <= j < top[i]:
                    u = eps + w[i, n] - c[i, j]
                    square = u * u + c_variance[i, j] + variance[i, n]
                    kappa = above[i, n] if given else 0.0
                else:
                    continue
                total -= u + (0.5 * (kappa * square + 1.0 / kappa) if given else math.sqrt(square))
        out[i] = total


@njit(nogil=True, cache=True)
def draw_placed(rng, w, lower, upper, values, eps, precision, linear):
    """Terms of new samples' w against fixed ``values`` (rows, L), with fresh kappa.

    ``lower`` and ``upper`` (rows, M) are places in ``values`` of what the sample is above and below; -1 is nothing.
    """
    for i in range(w.shape[0]):
        for n in range(w.shape[1]):
            p, h = 0.0, 0.0
            if lower[i, n] >= 0:
                v = values[i, lower[i, n]]
                kappa = draw_kappa(rng, eps + v - w[i, n])
                p, h = kappa, kappa * (v + eps) + 1.0
            if upper[i, n] >= 0:
                v = values[i, upper[i, n]]
                kappa = draw_kappa(rng, eps + w[i, n] - v)
                p, h = p + kappa, h + kappa * (v - eps) - 1.0
            precision[i, n], linear[i, n] = p, h


@njit(nogil=True, cache=True)
def mean_placed(w, variance, lower, upper, values, value_variance, eps, precision, linear):
    """As :func:`draw_placed` with <kappa>; ``variance`` (rows, M) is that of u without that of the value."""
    for i in range(w.shape[0]):
        for n in range(w.shape[1]):
            p, h = 0.0, 0.0
            if lower[i, n] >= 0:
                v = values[i, lower[i, n]]
                square = (eps + v - w[i, n]) ** 2 + variance[i, n] + value_variance[i, lower[i, n]]
                kappa = 1.0 / max(math.sqrt(square), LEAST_U)
                p, h = kappa, kappa * (v + eps) + 1.0
            if upper[i, n] >= 0:
                v = values[i, upper[i, n]]
                square = (eps + w[i, n] - v) ** 2 + variance[i, n] + value_variance[i, upper[i, n]]
                kappa = 1.0 / max(math.sqrt(square), LEAST_U)
                p, h = p + kappa, h + kappa * (v - eps) - 1.0
            precision[i, n], linear[i, n] = p, h


def buffers(shape: tuple[int, int], count: int) -> tuple[np.ndarray, ...]:
    """Empty arrays of one shape."""
    return tuple(np.empty(shape) for _ in range(count))
