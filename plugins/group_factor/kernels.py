"""Coordinate updates of q, block by block; symbols as in NOTES.md.

All features of all views lie one after the other. Arrays over cells are (D, N), factors come first: ``z`` is (K, N),
``w`` (K, D). A cell's bound is ``C + B <x> - T <x^2> / 2`` with ``T = scale[d] * A[d, n]``, ``B = scale[d] * Y[d, n]``;
``A`` and ``Y`` are 0 where nothing is observed.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

GAUSSIAN, BERNOULLI, BOHNING, POISSON = 0, 1, 2, 3
FAST = {"reassoc", "contract", "nsz"}


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
def _predict(d, mu, z, w, x):
    """<x> of all samples for feature d, into x."""
    x[:] = mu[d]
    for k in range(len(z)):
        factor = w[k, d]
        for n in range(len(x)):
            x[n] += factor * z[k, n]


@njit(nogil=True, cache=True)
def _spread(d, var_mu, z, zz, w, ww, v):
    """Var x of all samples for feature d, into v."""
    v[:] = var_mu[d]
    for k in range(len(z)):
        square, second = w[k, d] * w[k, d], ww[k, d]
        for n in range(len(v)):
            v[n] += second * zz[k, n] - square * z[k, n] * z[k, n]


@njit(nogil=True, cache=True, fastmath=FAST)
def update_weights(
    lo, hi, A, Y, scale, mu, z, zz, view, alpha, slab, odds, loc, var, var0, gamma, w, ww, only
):
    """q(w, s) of features lo..hi-1, factor after factor (``only`` < 0: all), in place. O(cells x K).

    ``alpha``, ``slab`` (A_k) and ``odds`` (<logit theta>) are (K, M); ``view`` gives the view of a feature.
    """
    K, N = z.shape
    r = np.empty(N)
    for d in range(lo, hi):
        m, c = view[d], scale[d]
        _predict(d, mu, z, w, r)
        for n in range(N):
            r[n] = Y[d, n] - A[d, n] * r[n]
        for k in range(K):
            if only >= 0 and k != only:
                continue
            b, p, q = 0.0, 0.0, 0.0
            for n in range(N):
                b += z[k, n] * r[n]
                p += A[d, n] * zz[k, n]
                q += A[d, n] * z[k, n] * z[k, n]
            old = w[k, d]
            b = c * (b + old * q)
            p = c * p + alpha[k, m]
            loc[k, d] = b / p
            var[k, d] = 1.0 / p
            var0[k, d] = 1.0 / alpha[k, m]
            logit = odds[k, m] + 0.5 * b * b / p + 0.5 * slab[k, m] - 0.5 * math.log(p)
            gamma[k, d] = sigmoid(min(700.0, max(-700.0, logit)))
            w[k, d] = gamma[k, d] * loc[k, d]
            ww[k, d] = gamma[k, d] * (loc[k, d] * loc[k, d] + var[k, d])
            step = w[k, d] - old
            for n in range(N):
                r[n] -= A[d, n] * z[k, n] * step


@njit(nogil=True, cache=True, fastmath=FAST)
def update_scores(lo, hi, A, Y, scale, mu, w, ww, z, v, zz, only):
    """q(z) of samples lo..hi-1, factor after factor (``only`` < 0: all), in place. O(cells x K)."""
    K, D, S = len(z), len(A), hi - lo
    r = np.empty((D, S))
    b, p, step = np.empty(S), np.empty(S), np.empty(S)
    for d in range(D):
        r[d, :] = mu[d]
        for k in range(K):
            factor = w[k, d]
            for s in range(S):
                r[d, s] += factor * z[k, lo + s]
        for s in range(S):
            r[d, s] = scale[d] * (Y[d, lo + s] - A[d, lo + s] * r[d, s])
    for k in range(K):
        if only >= 0 and k != only:
            continue
        b[:] = 0.0
        p[:] = 1.0
        step[:] = 0.0
        for s in range(S):
            step[s] = z[k, lo + s]
        for d in range(D):
            factor, square, second = w[k, d], scale[d] * w[k, d] * w[k, d], scale[d] * ww[k, d]
            for s in range(S):
                b[s] += factor * r[d, s] + square * A[d, lo + s] * step[s]
                p[s] += second * A[d, lo + s]
        for s in range(S):
            z[k, lo + s] = b[s] / p[s]
            v[k, lo + s] = 1.0 / p[s]
            zz[k, lo + s] = z[k, lo + s] ** 2 + v[k, lo + s]
            step[s] = z[k, lo + s] - step[s]
        for d in range(D):
            factor = scale[d] * w[k, d]
            for s in range(S):
                r[d, s] -= factor * A[d, lo + s] * step[s]


@njit(nogil=True, cache=True)
def update_intercepts(lo, hi, A, Y, kind, v_mu, z, w, mu, var_mu):
    """q(mu) of the features that are not Gaussian, in place."""
    x = np.empty(z.shape[1])
    for d in range(lo, hi):
        if kind[d] == GAUSSIAN:
            continue
        _predict(d, mu, z, w, x)
        total, weight = 0.0, 0.0
        for n in range(len(x)):
            total += Y[d, n] - A[d, n] * (x[n] - mu[d])
            weight += A[d, n]
        var_mu[d] = 1.0 / (1.0 / v_mu + weight)
        mu[d] = var_mu[d] * total


@njit(nogil=True, cache=True)
def update_local(lo, hi, raw, kind, shape, rate0, z, zz, w, ww, mu, var_mu, A, Y, scale, rate, const):
    """Noise precisions of Gaussian features and bounds of the others (zeta at its best), in place."""
    N = z.shape[1]
    x, v = np.empty(N), np.empty(N)
    for d in range(lo, hi):
        _predict(d, mu, z, w, x)
        _spread(d, var_mu, z, zz, w, ww, v)
        total = 0.0
        if kind[d] == GAUSSIAN:
            for n in range(N):
                total += A[d, n] * ((raw[d, n] - x[n]) ** 2 + v[n])
            rate[d] = max(rate0 + 0.5 * total, 1e-300)
            scale[d] = shape[d] / rate[d]
            continue
        for n in range(N):
            if A[d, n] > 0.0:
                T, B, C = bound(kind[d], raw[d, n], x[n], v[n])
                A[d, n], Y[d, n] = T, B
                total += C
        const[d] = total


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
def likelihood(lo, hi, raw, kind, shape, elog, z, zz, w, ww, mu, var_mu, A, Y, scale, const, out):
    """The likelihood's bound by feature, into ``out``; ``elog`` is <ln tau>, ``shape - shape0`` half the cells."""
    N = z.shape[1]
    x, v = np.empty(N), np.empty(N)
    for d in range(lo, hi):
        _predict(d, mu, z, w, x)
        _spread(d, var_mu, z, zz, w, ww, v)
        total = 0.0
        if kind[d] == GAUSSIAN:
            for n in range(N):
                if A[d, n] > 0.0:
                    total += elog[d] - math.log(2.0 * math.pi) - scale[d] * ((raw[d, n] - x[n]) ** 2 + v[n])
            out[d] = 0.5 * total
        else:
            for n in range(N):
                total += Y[d, n] * x[n] - 0.5 * A[d, n] * (x[n] * x[n] + v[n])
            out[d] = const[d] + total


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


@njit(nogil=True, cache=True)
def deviances(lo, hi, raw, observed, kind, mu, null, z, w, view, out):
    """Add to ``out`` (K + 3, M): deviance with each factor alone, with all, with none, of the best constants ``null``.

    ``observed`` is above 0 where a cell counts.
    """
    K, N = z.shape
    x = np.empty(N)
    for d in range(lo, hi):
        m = view[d]
        _predict(d, mu, z, w, x)
        for n in range(N):
            if observed[d, n] > 0.0:
                y = raw[d, n]
                for k in range(K):
                    out[k, m] += unit_deviance(kind[d], y, mu[d] + w[k, d] * z[k, n])
                out[K, m] += unit_deviance(kind[d], y, x[n])
                out[K + 1, m] += unit_deviance(kind[d], y, mu[d])
                out[K + 2, m] += unit_deviance(kind[d], y, null[d])
