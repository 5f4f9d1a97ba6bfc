"""Small symmetric systems in packed form: row by row of the lower triangle, K (K + 1) / 2 numbers."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}


def packed_size(k: int) -> int:
    return k * (k + 1) // 2


def outer_packed(x: np.ndarray) -> np.ndarray:
    """(n, K (K + 1) / 2) packed x x' of the rows of (n, K)."""
    out = np.empty((len(x), packed_size(x.shape[1])))
    fill_outer(x, out)
    return out


@njit(nogil=True, cache=True, error_model="numpy")
def fill_outer(x, out):
    """:func:`outer_packed` into ``out``."""
    for n in range(x.shape[0]):
        at = 0
        for i in range(x.shape[1]):
            value = x[n, i]
            for j in range(i + 1):
                out[n, at + j] = value * x[n, j]
            at += i + 1


def doubled(packed: np.ndarray, k: int) -> np.ndarray:
    """A copy with the off-diagonal entries doubled, so that dot products are traces of products."""
    weight = np.full(packed.shape[-1], 2.0)
    weight[diagonal(k)] = 1.0
    return packed * weight


def diagonal(k: int) -> np.ndarray:
    """Places of the diagonal in the packed form."""
    return np.cumsum(np.arange(1, k + 1)) - 1


@njit(nogil=True, cache=True, error_model="numpy")
def add_outer(p, x, weight, k):
    """p += weight x x', packed."""
    at = 0
    for i in range(k):
        scaled = weight * x[i]
        for j in range(i + 1):
            p[at + j] += scaled * x[j]
        at += i + 1


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def factor(p, k):
    """Cholesky factor of the packed p, in place; the diagonal holds the reciprocals."""
    for i in range(k):
        row = i * (i + 1) // 2
        for j in range(i + 1):
            other = j * (j + 1) // 2
            total = 0.0
            for l in range(j):  # noqa: E741
                total += p[row + l] * p[other + l]
            rest = p[row + j] - total
            if i == j:
                p[row + i] = 1.0 / math.sqrt(max(rest, 1e-15 * p[row + i], 1e-300))
            else:
                p[row + j] = rest * p[other + j]


@njit(nogil=True, cache=True, error_model="numpy")
def solve_lower(p, h, k):
    """h := L^-1 h."""
    for i in range(k):
        row = i * (i + 1) // 2
        total = h[i]
        for j in range(i):
            total -= p[row + j] * h[j]
        h[i] = total * p[row + i]


@njit(nogil=True, cache=True, error_model="numpy")
def solve_upper(p, h, k):
    """h := L'^-1 h."""
    for i in range(k - 1, -1, -1):
        row = i * (i + 1) // 2
        value = h[i] * p[row + i]
        h[i] = value
        for j in range(i):
            h[j] -= p[row + j] * value


@njit(nogil=True, cache=True, error_model="numpy")
def draw_normal(rng, p, h, k):
    """h := a draw of N(P^-1 h, P^-1); P packed, overwritten."""
    factor(p, k)
    draw_factored(rng, p, h, k)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_factored(rng, p, h, k):
    """:func:`draw_normal` with the factor of P in its place."""
    solve_lower(p, h, k)
    for i in range(k):
        h[i] += rng.standard_normal()
    solve_upper(p, h, k)


@njit(nogil=True, cache=True, error_model="numpy")
def moments(p, h, k, covariance):
    """h := P^-1 h, ``covariance`` := P^-1 packed; P is overwritten. Returns log det of P^-1."""
    factor(p, k)
    log_det = 0.0
    for i in range(k):
        log_det += 2.0 * math.log(p[i * (i + 1) // 2 + i])
    solve_lower(p, h, k)
    solve_upper(p, h, k)
    inverse = np.zeros((k, k))  # columns of L^-1
    for c in range(k):
        inverse[c, c] = p[c * (c + 1) // 2 + c]
        for i in range(c + 1, k):
            row = i * (i + 1) // 2
            total = 0.0
            for j in range(c, i):
                total += p[row + j] * inverse[c, j]
            inverse[c, i] = -total * p[row + i]
    at = 0
    for i in range(k):
        for j in range(i + 1):
            total = 0.0
            for l in range(i, k):  # noqa: E741
                total += inverse[i, l] * inverse[j, l]
            covariance[at] = total
            at += 1
    return log_det


@njit(nogil=True, cache=True, error_model="numpy")
def row_moments(precision, linear, prior, mean, covariance, log_det):
    """Mean, packed covariance and log det of it of each row; precision and linear term are used up."""
    k = mean.shape[1]
    for i in range(mean.shape[0]):
        for j in range(k):
            precision[i, j * (j + 1) // 2 + j] += prior[i, j]
        log_det[i] = moments(precision[i], linear[i], k, covariance[i])
        mean[i] = linear[i]
