"""The precision ``Q = (C + I)^-1`` in its low-rank form, and what is read off either form."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

JITTER = 1e-10


@njit(nogil=True, cache=True)
def root_of_rest(q, jitter):
    """L (N, N) with ``L L' = (1 + jitter) I - q``."""
    rest = -q
    for n in range(len(q)):
        rest[n, n] += 1.0 + jitter
    return np.linalg.cholesky(rest)


@njit(nogil=True, cache=True)
def dense_log_density(c, z):
    """``-log det(C + I) / 2 - z'(C + I)^-1 z / 2``, summed over the rows of z (K, N); c is overwritten."""
    size = c.shape[0]
    for n in range(size):
        c[n, n] += 1.0
    root = np.linalg.cholesky(c)
    total = 0.0
    for n in range(size):
        total -= math.log(root[n, n])
    total *= z.shape[0]
    solved = np.empty(size)
    for k in range(z.shape[0]):
        for i in range(size):
            value = z[k, i]
            for j in range(i):
                value -= root[i, j] * solved[j]
            solved[i] = value / root[i, i]
            total -= 0.5 * solved[i] * solved[i]
    return total


@njit(nogil=True, cache=True)
def low_rank_precision(c_mm, c_nm, variance):
    """Q of the FITC approximation at M inducing points: (rows (N, M), weight (N,), diagonal (N,), log det).

    ``C ~ G G' + diag(variance - diag(G G'))`` with ``G = C_nm L^-T``, ``L L' = C_mm``: the prior variance of every
    sample is kept as it is, so that the approximation is a proper law of its own (Snelson & Ghahramani 2006).

    Parameters
    ----------
    c_mm : (M, M) covariance of the inducing points, overwritten.
    c_nm : (N, M) covariance of samples and inducing points.
    variance : (N,) prior variance of f at the samples.
    """
    scale = 0.0
    for m in range(len(c_mm)):
        scale = max(scale, c_mm[m, m])
    for m in range(len(c_mm)):
        c_mm[m, m] += JITTER * max(scale, 1.0)
    root = np.linalg.cholesky(c_mm)
    g = np.linalg.solve(root, np.ascontiguousarray(c_nm.T)).T.copy()
    return precision_of_loadings(g, variance)


@njit(nogil=True, cache=True)
def precision_of_loadings(g, variance):
    """Q of ``C = G G' + diag(variance - diag(G G'))``, loadings g (N, r): as :func:`low_rank_precision`."""
    size, rank = g.shape
    weight, scaled = np.empty(size), np.empty((size, rank))
    log_det = scale_loadings(g, variance, weight, scaled)
    inner = scaled.T @ scaled
    for m in range(rank):
        inner[m, m] += 1.0
    inner_root = np.linalg.cholesky(inner)
    for m in range(rank):
        log_det += 2.0 * math.log(inner_root[m, m])
    rows = np.linalg.solve(inner_root, np.ascontiguousarray(scaled.T)).T.copy()
    diagonal = np.empty(size)
    finish_rows(rows, weight, diagonal)
    return rows, weight, diagonal, log_det


@njit(nogil=True, cache=True)
def scale_loadings(g, variance, weight, scaled):
    """One over the noise of samples with loadings g (n, r) into ``weight`` (n,), g times its root into ``scaled`` (n, r); the sum of the
    logarithms of the noise."""
    log_noise = 0.0
    for n in range(len(g)):
        explained = 0.0
        for m in range(g.shape[1]):
            explained += g[n, m] ** 2
        noise = 1.0 + max(variance[n] - explained, 0.0)
        weight[n] = 1.0 / noise
        log_noise += math.log(noise)
        for m in range(g.shape[1]):
            scaled[n, m] = g[n, m] * math.sqrt(weight[n])
    return log_noise


@njit(nogil=True, cache=True)
def finish_rows(rows, weight, diagonal):
    """Multiply rows (n, r) by the roots of the weights (n,), and the diagonal of Q into ``diagonal`` (n,)."""
    for n in range(len(rows)):
        shrink = math.sqrt(weight[n])
        square = 0.0
        for m in range(rows.shape[1]):
            rows[n, m] *= shrink
            square += rows[n, m] ** 2
        diagonal[n] = weight[n] - square


@njit(nogil=True, cache=True)
def quadratic(z, work, weight, dense):
    """``z'Qz`` of one row: z (N,), ``work`` as in the site sweeps."""
    total = 0.0
    if dense:
        for n in range(len(z)):
            total += z[n] * work[n]
        return total
    for n in range(len(z)):
        total += weight[n] * z[n] * z[n]
    for j in range(len(work)):
        total -= work[j] * work[j]
    return total
