"""Likelihoods and their quadratic bounds, cell by cell; coordinate updates from Gram matrices. Symbols as in NOTES.md.

All features of all views lie one after the other; factors come first: ``z`` is (K, N), ``w`` (K, D).
A cell's bound is ``C + B <x> - T <x^2> / 2``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.group_factor.products import four, next_sums

GAUSSIAN, BERNOULLI, BOHNING, POISSON = 0, 1, 2, 3


@njit(nogil=True, cache=True, fastmath=False, forceinline=True)
def square(x):
    """x^2, rounded before it is added to anything: ``x**2`` in a fast kernel is as fast as where it was compiled first."""
    return x * x


@njit(nogil=True, cache=True)
def softplus(x):
    """log(1 + exp(x)) without overflow."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@njit(nogil=True, cache=True)
def sigmoid(x):
    """1 / (1 + exp(-x)) without overflow."""
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


@njit(nogil=True, cache=True)
def log_softplus(x):
    """log(log(1 + exp(x))); equal to x far below 0."""
    return x if x < -30.0 else math.log(softplus(x))


@njit(nogil=True, cache=True)
def half_curvature(zeta):
    """tanh(zeta / 2) / (4 zeta), Jaakkola's factor."""
    if zeta < 1e-3:
        return 0.125 - zeta * zeta / 96.0
    return math.tanh(0.5 * zeta) / (4.0 * zeta)


@njit(nogil=True, cache=True)
def poisson_slope(x, y):
    """Derivative of softplus(x) - y log softplus(x)."""
    ratio = 1.0 if x < -30.0 else sigmoid(x) / softplus(x)
    return sigmoid(x) - y * ratio


@njit(nogil=True, cache=True)
def bound(kind, y, x, v):
    """T, B, C of a cell with the local parameter at its best for <x> = x, Var x = v."""
    if kind == BERNOULLI:
        zeta = math.sqrt(x * x + max(v, 0.0))
        half = half_curvature(zeta)
        return 2.0 * half, y - 0.5, -softplus(-zeta) - 0.5 * zeta + half * zeta * zeta
    if kind == BOHNING:
        slope = sigmoid(x) - y
        return 0.25, 0.25 * x - slope, -(softplus(x) - y * x - slope * x + 0.125 * x * x)
    kappa, slope = 0.25 + 0.17 * y, poisson_slope(x, y)
    f = softplus(x) + math.lgamma(y + 1.0)
    if y > 0.0:
        f -= y * log_softplus(x)
    return kappa, kappa * x - slope, -(f - slope * x + 0.5 * kappa * x * x)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def set_weight(k, d, b, p, unused, prior, loc, var, var0, gamma, w, ww):
    """q(w, s) of a weight from the linear term b and the precision p (of the prior included) of the slab.

    ``unused`` is its variance when off, ``prior`` what the log odds have besides b^2 / (2 p) - log(p) / 2.
    """
    variance = 1.0 / p
    mean = b * variance
    off = math.sqrt(p) * math.exp(min(690.0, max(-690.0, -prior - 0.5 * b * mean)))
    share = 1.0 / (1.0 + off)
    loc[k, d], var[k, d], var0[k, d], gamma[k, d] = mean, variance, unused, share
    w[k, d] = share * mean
    ww[k, d] = share * (mean * mean + variance)


@njit(nogil=True, cache=True)
def weights_of_level(lo, gram, cross, view, alpha, slab, odds, loc, var, var0, gamma, w, ww, only):
    """q(w, s) of the features from ``lo`` on, factor after factor (``only`` < 0: all), in place, from Gram matrices.

    ``gram`` (features, see ``products``) holds sums of T <z z>, ``cross`` those of (B - T <mu>) <z>; ``alpha``, ``slab``
    (A_k) and ``odds`` (<logit theta>) are (K, M); ``view`` gives the view of a feature.
    """
    K = len(w)
    second = K * (K - 1) // 2
    for r in range(len(gram)):
        d = lo + r
        m, g = view[d], gram[r]
        for k in range(K):
            if only >= 0 and k != only:
                continue
            b = cross[r, k]
            for j in range(k):
                b -= g[k * (k - 1) // 2 + j] * w[j, d]
            for j in range(k + 1, K):
                b -= g[j * (j - 1) // 2 + k] * w[j, d]
            prior = odds[k, m] + 0.5 * slab[k, m]
            p = g[second + k] + alpha[k, m]
            set_weight(k, d, b, p, 1.0 / alpha[k, m], prior, loc, var, var0, gamma, w, ww)


@njit(nogil=True, cache=True)
def weights(lo, T, top, rest, z, zz, view, alpha, slab, odds, loc, var, var0, gamma, w, ww, only):
    """The same from the cells: ``rest`` (features, N) is B - T <x> and is used up; z, zz in the type of the cells.

    Four features stay in the inner caches; of many factors K passes over them cost less than their Gram matrices (``grams.py``).
    """
    K = len(w)
    start, end = (0, K) if only < 0 else (only, only + 1)
    sums = np.empty(8)
    for i in range(0, len(rest), 4):
        size = min(4, len(rest) - i)
        left, t = four(rest, i), four(T, top + i)
        down, up = np.zeros(4, rest.dtype), np.zeros(4, rest.dtype)
        for k in range(start, end):
            for j in range(size):
                up[j] = w[k, lo + i + j]
            next_sums(left, t, z[max(k - 1, start)], z[k], zz[k], down, up, sums)
            for j in range(size):
                d = lo + i + j
                m = view[d]
                prior = odds[k, m] + 0.5 * slab[k, m]
                p = sums[4 + j] + alpha[k, m]
                set_weight(k, d, sums[j], p, 1.0 / alpha[k, m], prior, loc, var, var0, gamma, w, ww)
                down[j] = w[k, d]


@njit(nogil=True, cache=True)
def scores(lo, T, rest, w, ww, gram, cross, group, precision, z, v, zz, only):
    """q(z) of the samples from ``lo`` on, factor after factor (``only`` < 0: all), in place.

    ``T`` and ``rest`` = B - T <x> are (samples, features), the latter is used up; w, ww in their type. What level views
    add: ``gram`` (G, …) sums of T <w w> by sample group, ``cross`` (K, samples) those of B <w>. ``precision`` (K, G) is the prior's.
    """
    K = len(z)
    start, end = (0, K) if only < 0 else (only, only + 1)
    second = K * (K - 1) // 2
    sums = np.empty(8)
    for i in range(0, len(rest), 4):
        size = min(4, len(rest) - i)
        left, t = four(rest, i), four(T, i)
        down, up = np.zeros(4, rest.dtype), np.zeros(4, rest.dtype)
        for k in range(start, end):
            for j in range(size):
                up[j] = z[k, lo + i + j]
            next_sums(left, t, w[max(k - 1, start)], w[k], ww[k], down, up, sums)
            for j in range(size):
                n = lo + i + j
                g = gram[group[n]]
                b = sums[j] + cross[k, i + j]
                for c in range(k):
                    b -= g[k * (k - 1) // 2 + c] * z[c, n]
                for c in range(k + 1, K):
                    b -= g[c * (c - 1) // 2 + k] * z[c, n]
                v[k, n] = 1.0 / (sums[4 + j] + g[second + k] + precision[k, group[n]])
                z[k, n] = b * v[k, n]
                zz[k, n] = z[k, n] * z[k, n] + v[k, n]
                down[j] = z[k, n]


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def scores_of_samples(lo, gram, cross, group, precision, z, v, zz, only):
    """The same from Gram matrices: ``gram`` (width, samples) are sums of T <w w>, ``cross`` (K, samples) those of (B - T <mu>) <w>."""
    K, n = cross.shape
    start, end = (0, K) if only < 0 else (only, only + 1)
    second = K * (K - 1) // 2
    b = np.empty(n)
    for k in range(start, end):
        for i in range(n):
            b[i] = cross[k, i]
        for j in range(K):
            if j == k:
                continue
            pair = k * (k - 1) // 2 + j if j < k else j * (j - 1) // 2 + k
            for i in range(n):
                b[i] -= gram[pair, i] * z[j, lo + i]
        for i in range(n):
            at = lo + i
            v[k, at] = 1.0 / (gram[second + k, i] + precision[k, group[at]])
            z[k, at] = b[i] * v[k, at]
            zz[k, at] = z[k, at] * z[k, at] + v[k, at]


@njit(nogil=True, cache=True)
def unit_deviance(kind, y, x):
    """-2 log likelihood of a cell, less that of a perfect fit; Gaussian: the squared error."""
    if kind == GAUSSIAN:
        return (y - x) ** 2
    if kind == POISSON:
        mean = softplus(x)
        if y == 0.0:
            return 2.0 * mean
        return 2.0 * (y * (math.log(y) - log_softplus(x)) - (y - mean))
    return 2.0 * (softplus(x) - y * x)
