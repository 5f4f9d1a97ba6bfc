"""Symmetric systems of one size, packed as in :mod:`solve`, side by side: the innermost loops go over systems, so that they are vectorised.

A block holds entry after entry, ``LANES`` systems each; ``width`` says how many of them there are.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LANES = 32


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def factor_lanes(p, k, width, total):
    """Cholesky factors of ``p`` (packed, LANES) in place, as ``solve.factor``; ``total`` (LANES,) is room to work in."""
    for i in range(k):
        row = i * (i + 1) // 2
        for j in range(i + 1):
            other = j * (j + 1) // 2
            total[:width] = 0.0
            for m in range(j):
                for l in range(width):  # noqa: E741
                    total[l] += p[row + m, l] * p[other + m, l]
            for l in range(width):  # noqa: E741
                if i == j:
                    rest = p[row + i, l] - total[l]
                    p[row + i, l] = 1.0 / math.sqrt(max(rest, 1e-15 * p[row + i, l], 1e-300))
                else:
                    p[row + j, l] = (p[row + j, l] - total[l]) * p[other + j, l]


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def solve_lower_lanes(p, h, k, width):
    """h := L^-1 h; ``h`` (K, LANES)."""
    for i in range(k):
        row = i * (i + 1) // 2
        for j in range(i):
            for l in range(width):  # noqa: E741
                h[i, l] -= p[row + j, l] * h[j, l]
        for l in range(width):  # noqa: E741
            h[i, l] *= p[row + i, l]


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def solve_upper_lanes(p, h, k, width):
    """h := L'^-1 h; ``h`` (K, LANES)."""
    for i in range(k - 1, -1, -1):
        row = i * (i + 1) // 2
        for l in range(width):  # noqa: E741
            h[i, l] *= p[row + i, l]
        for j in range(i):
            for l in range(width):  # noqa: E741
                h[j, l] -= p[row + j, l] * h[i, l]


@njit(nogil=True, cache=True, error_model="numpy")
def factor_rows(precision, k):
    """``solve.factor`` of each row of (n, packed), in place."""
    p, total = np.empty((precision.shape[1], LANES)), np.empty(LANES)
    for first in range(0, len(precision), LANES):
        width = min(LANES, len(precision) - first)
        p[:, :width] = precision[first : first + width].T
        factor_lanes(p, k, width, total)
        precision[first : first + width] = p[:, :width].T


@njit(nogil=True, cache=True, error_model="numpy")
def draw_systems(rng, precision, linear, out):
    """Draw each row of ``out`` (n, K) from N(P^-1 h, P^-1), P of ``precision`` (n, packed) and h of ``linear`` (n, K)."""
    n, k = out.shape
    p, h, total = np.empty((precision.shape[1], LANES)), np.empty((k, LANES)), np.empty(LANES)
    for first in range(0, n, LANES):
        width = min(LANES, n - first)
        p[:, :width] = precision[first : first + width].T
        h[:, :width] = linear[first : first + width].T
        factor_lanes(p, k, width, total)
        solve_lower_lanes(p, h, k, width)
        for l in range(width):  # noqa: E741
            for i in range(k):
                h[i, l] += rng.standard_normal()
        solve_upper_lanes(p, h, k, width)
        out[first : first + width] = h[:, :width].T


@njit(nogil=True, cache=True, error_model="numpy")
def draw_rows(rng, precision, linear, prior, out):
    """As :func:`draw_systems` with diag(``prior``) (n, K) added to ``precision``."""
    for j in range(out.shape[1]):
        precision[:, j * (j + 1) // 2 + j] += prior[:, j]
    draw_systems(rng, precision, linear, out)
