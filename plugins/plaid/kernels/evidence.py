"""Log densities: subset prior, one block with its shift integrated out, all Gaussians integrated out."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def log_subset(n, m):
    """``log f_n(m) = log (n-m)! (m-1)! / n!``: one side of one block of the two-way IBP; ``m >= 1``."""
    return math.lgamma(n - m + 1.0) + math.lgamma(m) - math.lgamma(n + 1.0)


@njit(cache=True, nogil=True)
def log_block(law, z1, z2):
    """``ltar(x)``: log prior weight of one block with both sides non-empty."""
    return math.log(law.alpha) + log_subset(z1.size, z1.sum()) + log_subset(z2.size, z2.sum())


@njit(cache=True, nogil=True)
def log_evidence(n, s, law):
    """``L(n, S)``: n cells whose residuals sum to S form a block, its shift integrated out."""
    precision = law.tau + n * law.tau0
    mean = law.tau * law.mu + law.tau0 * s
    return 0.5 * math.log(law.tau / precision) + 0.5 * mean * mean / precision


@njit(cache=True, nogil=True)
def factor(counts, sums, law):
    """Cholesky factor of ``Lambda = P0 + tau0 G`` and ``C^-1 h`` with ``h = P0 m0 + tau0 S``.

    Parameters
    ----------
    counts : (K + 1, K + 1) observed cells shared by blocks, the background first
    sums : (K + 1,) sums of the centred data over each block

    Returns
    -------
    chol : (K + 1, K + 1) lower triangle
    half : (K + 1,) ``C^-1 h``
    """
    size = sums.size
    chol = np.zeros((size, size))
    half = np.empty(size)
    for i in range(size):
        own, mean = (law.phi_precision, law.phi_mean) if i == 0 else (law.tau, law.mu)
        total = own * mean + law.tau0 * sums[i]
        for j in range(i + 1):
            value = law.tau0 * counts[i, j]
            if i == j:
                value += own
            for c in range(j):
                value -= chol[i, c] * chol[j, c]
            if i == j:
                chol[i, i] = math.sqrt(max(value, 1e-12 * own))
            else:
                chol[i, j] = value / chol[j, j]
                total -= chol[i, j] * half[j]
        half[i] = total / chol[i, i]
    return chol, half


@njit(cache=True, nogil=True)
def log_marginal(counts, sums, law):
    """``log M(Z)``: background and shifts integrated out, up to terms that depend on the data only."""
    chol, half = factor(counts, sums, law)
    total = 0.5 * math.log(law.phi_precision) - 0.5 * law.phi_precision * law.phi_mean**2
    total += 0.5 * (sums.size - 1) * (math.log(law.tau) - law.tau * law.mu**2)
    for i in range(sums.size):
        total += 0.5 * half[i] * half[i] - math.log(chol[i, i])
    return total


@njit(cache=True, nogil=True)
def back_solve(chol, half):
    """``C'^-1 half``; with ``half`` of :func:`factor` the posterior mean of (phi, theta)."""
    out = half.copy()
    for i in range(out.size - 1, -1, -1):
        for j in range(i + 1, out.size):
            out[i] -= chol[j, i] * out[j]
        out[i] /= chol[i, i]
    return out
