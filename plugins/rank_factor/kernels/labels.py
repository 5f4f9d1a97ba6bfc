"""The label term: hinges u = C (1 - y (beta' z + b0)), and the scores of samples that it touches.

Several samples x classes; ``y`` (N, G) is -1, 1 or 0 (unlabelled). ``beta`` is (T, G, K + bias), the bias last.
"""

from __future__ import annotations

import math

from numba import njit

from plaidwork.plugins.rank_factor.kernels.random import LEAST_U, draw_kappa
from plaidwork.plugins.rank_factor.kernels.solve import add_outer, moments


@njit(nogil=True, cache=True)
def draw_label_weights(rng, y, f, weight, kappa):
    """kappa of every label, 0 where there is none; ``f`` (N, G) is beta' z + b0 of the sample's own component."""
    for n in range(y.shape[0]):
        for g in range(y.shape[1]):
            kappa[n, g] = 0.0
            if y[n, g] != 0.0:
                kappa[n, g] = draw_kappa(rng, weight * (1.0 - y[n, g] * f[n, g]))


@njit(nogil=True, cache=True)
def mean_label_weights(y, f, square, weight, kappa):
    """<kappa> (N, T, G); ``f`` and ``square`` (N, T, G) are E and E of the square of beta' z + b0."""
    for n in range(y.shape[0]):
        for t in range(f.shape[1]):
            for g in range(y.shape[1]):
                kappa[n, t, g] = 0.0
                if y[n, g] != 0.0:
                    root = weight * math.sqrt(max(1.0 - 2.0 * y[n, g] * f[n, t, g] + square[n, t, g], 0.0))
                    kappa[n, t, g] = 1.0 / max(root, LEAST_U)


@njit(nogil=True, cache=True, error_model="numpy")
def score_terms(p, h, psi, mu, y, kappa, beta, weight):
    """Add prior and labels of one sample to precision ``p`` (packed) and linear term ``h``.

    ``psi`` and ``mu`` (K,) are its component's; ``y``, ``kappa`` (G,); ``beta`` (G, K + bias).
    """
    k = h.size
    for j in range(k):
        p[j * (j + 1) // 2 + j] += psi
        h[j] += psi * mu[j]
    for g in range(y.size):
        if y[g] != 0.0:
            add_outer(p, beta[g], weight * weight * kappa[g], k)
            pull = y[g] * (weight * weight * kappa[g] + weight)
            if beta.shape[1] > k:
                pull -= weight * weight * kappa[g] * beta[g, k]
            for j in range(k):
                h[j] += pull * beta[g, j]


@njit(nogil=True, cache=True, error_model="numpy")
def add_score_terms(lo, hi, precision, linear, component, psi, mu, y, kappa, beta, weight):
    """:func:`score_terms` of samples lo to hi; ``component`` (N,) says which of psi, mu, beta is theirs."""
    for n in range(lo, hi):
        t = component[n]
        score_terms(precision[n - lo], linear[n - lo], psi[t], mu[t], y[n], kappa[n], beta[t], weight)


@njit(nogil=True, cache=True)
def add_mean_terms(lo, hi, precision, linear, share, psi, mu, y, kappa, beta, second, weight):
    """Expected prior and label terms: ``share`` (N, T) of the components, ``second`` (T, G, packed) E[beta beta']."""
    k = linear.shape[1]
    size = k * (k + 1) // 2
    n_beta = beta.shape[2]
    for n in range(lo, hi):
        p, h = precision[n - lo], linear[n - lo]
        for t in range(share.shape[1]):
            own = share[n, t]
            for j in range(k):
                p[j * (j + 1) // 2 + j] += own * psi[t]
                h[j] += own * psi[t] * mu[t, j]
            for g in range(y.shape[1]):
                if y[n, g] == 0.0:
                    continue
                steep = own * weight * weight * kappa[n, t, g]
                pull = y[n, g] * (steep + own * weight)
                for at in range(size):
                    p[at] += steep * second[t, g, at]
                for j in range(k):
                    h[j] += pull * beta[t, g, j]
                    if n_beta > k:  # E[b0 beta] stands in the last row of the packed second moment
                        h[j] -= steep * second[t, g, size + j]


@njit(nogil=True, cache=True)
def mean_scores(lo, hi, precision, linear, z, covariance, log_det):
    """q(z) of samples lo to hi from their terms, which are used up."""
    k = z.shape[1]
    for n in range(lo, hi):
        log_det[n] = moments(precision[n - lo], linear[n - lo], k, covariance[n])
        z[n] = linear[n - lo]
