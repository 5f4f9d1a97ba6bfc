"""Likelihoods and their quadratic bounds, cell by cell; coordinate updates from Gram matrices. Symbols as in NOTES.md.

All features of all views lie one after the other; factors come first: ``z`` is (K, N), ``w`` (K, D).
A cell's bound is ``C + B <x> - T <x^2> / 2``.
"""

from __future__ import annotations

import math

from numba import njit

from plaidwork.plugins.group_factor.products import FAST

GAUSSIAN, BERNOULLI, BOHNING, POISSON = 0, 1, 2, 3


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


@njit(nogil=True, cache=True)
def set_weight(k, d, b, p, alpha, slab, odds, loc, var, var0, gamma, w, ww):
    """q(w, s) of a weight from the linear term b and the precision p (prior included) of the slab."""
    loc[k, d] = b / p
    var[k, d] = 1.0 / p
    var0[k, d] = 1.0 / alpha
    logit = odds + 0.5 * b * b / p + 0.5 * slab - 0.5 * math.log(p)
    gamma[k, d] = sigmoid(min(700.0, max(-700.0, logit)))
    w[k, d] = gamma[k, d] * loc[k, d]
    ww[k, d] = gamma[k, d] * (loc[k, d] * loc[k, d] + var[k, d])


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
            p = g[second + k] + alpha[k, m]
            set_weight(k, d, b, p, alpha[k, m], slab[k, m], odds[k, m], loc, var, var0, gamma, w, ww)


@njit(nogil=True, cache=True, fastmath=FAST)
def _sums(r, t, z, zz):
    """Sums of r z, T z^2 and T <z^2> of a feature."""
    b = q = p = r.dtype.type(0)
    for n in range(len(r)):
        b += r[n] * z[n]
        q += t[n] * z[n] * z[n]
        p += t[n] * zz[n]
    return b, q, p


@njit(nogil=True, cache=True, fastmath=FAST)
def _next_sums(r, t, old, step, z, zz):
    """The same after the weight of the factor ``old`` was raised by ``step``, in one pass; r in place."""
    b = q = p = r.dtype.type(0)
    for n in range(len(r)):
        left = r[n] - t[n] * old[n] * step
        r[n] = left
        b += left * z[n]
        q += t[n] * z[n] * z[n]
        p += t[n] * zz[n]
    return b, q, p


@njit(nogil=True, cache=True)
def weights(lo, T, top, rest, z, zz, view, alpha, slab, odds, loc, var, var0, gamma, w, ww, only):
    """The same from the cells: ``rest`` (features, N) is B - T <x> and is used up; z, zz in the type of the cells.

    A feature stays in the innermost cache; K passes over it cost less than its Gram matrix.
    """
    K = len(w)
    start, end = (0, K) if only < 0 else (only, only + 1)
    for r in range(len(rest)):
        d, t, left = lo + r, T[top + r], rest[r]
        m = view[d]
        b, q, p = _sums(left, t, z[start], zz[start])
        for k in range(start, end):
            before = w[k, d]
            set_weight(
                k, d, b + before * q, p + alpha[k, m], alpha[k, m], slab[k, m], odds[k, m], loc, var, var0, gamma, w, ww
            )  # fmt: skip
            if k + 1 < end:
                step = left.dtype.type(w[k, d] - before)
                b, q, p = _next_sums(left, t, z[k], step, z[k + 1], zz[k + 1])


@njit(nogil=True, cache=True)
def scores(lo, gram, cross, group, precision, z, v, zz, only):
    """q(z) of the samples from ``lo`` on, factor after factor (``only`` < 0: all), in place.

    ``gram`` (samples, …) holds sums of T <w w>, ``cross`` (K, samples) those of (B - T <mu>) <w>;
    ``precision`` (K, G) is the prior's.
    """
    K = len(z)
    second = K * (K - 1) // 2
    for r in range(len(gram)):
        n = lo + r
        g = gram[r]
        for k in range(K):
            if only >= 0 and k != only:
                continue
            b = cross[k, r]
            for j in range(k):
                b -= g[k * (k - 1) // 2 + j] * z[j, n]
            for j in range(k + 1, K):
                b -= g[j * (j - 1) // 2 + k] * z[j, n]
            p = precision[k, group[n]] + g[second + k]
            z[k, n] = b / p
            v[k, n] = 1.0 / p
            zz[k, n] = z[k, n] * z[k, n] + v[k, n]


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
