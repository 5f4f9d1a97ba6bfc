"""Intercepts, noise precisions and local parameters, feature after feature; deviances.

``x`` and ``spread`` are <x> without the intercept and its variance, of features lo..hi-1. ``first`` is the first feature of
the view: row d - first of the view's cells is feature d. All numbers but the cells are float64. The part of the bound that is fitted here
is summed where the quadratic touches, and the constant is what is left of it without the quadratic as it is kept: so the
rounding of T and B to float32 does not show in the bound.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.group_factor.kernels import (
    GAUSSIAN,
    POISSON,
    log_softplus,
    poisson_slope,
    sigmoid,
    softplus,
    square,
    unit_deviance,
)
from plaidwork.plugins.group_factor.products import FAST

OFF = 1e-6
"""A weight below this takes away nothing."""
STRETCH = 512
"""Numbers from 1 to 2 whose product is a finite float64, so that one logarithm serves them all."""


@njit(nogil=True, cache=True, fastmath={"contract", "nsz"}, error_model="numpy", forceinline=True)
def decay(x):
    """exp(-x) for x >= 0 to 1e-13 of itself, at most 40: a polynomial of x / 64, squared six times, which vectorises."""
    t = min(x, 40.0) * 0.015625
    p = 2.0455184966164462e-07
    p = p * t - 2.6597821574332005e-06
    p = p * t + 2.4726286701226504e-05
    p = p * t - 0.00019837546009848588
    p = p * t + 0.0013888768844521645
    p = p * t - 0.008333330793471913
    p = p * t + 0.04166666631925084
    p = p * t - 0.1666666666372085
    p = p * t + 0.49999999999858435
    p = p * t - 0.9999999999999681
    p = p * t + 1.0
    p *= p
    p *= p
    p *= p
    p *= p
    p *= p
    return p * p


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def bits_intercept(y, T, x):
    """Sums over known cells of T and of B - T x, Jaakkola."""
    weight, total = 0.0, 0.0
    for n in range(len(x)):
        known = 1.0 if y[n] >= 0 else 0.0
        weight += T[n]
        total += known * (y[n] - 0.5) - T[n] * x[n]
    return weight, total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def bits_local(y, x, spread, mu, mu_var, T):
    """Jaakkola's zeta of a feature: T in place; the constant and the whole sum of the bound."""
    total, quadratic = 0.0, 0.0
    for lo in range(0, len(x), STRETCH):
        hi = min(len(x), lo + STRETCH)
        a, b, c, t = x[lo:hi], spread[lo:hi], y[lo:hi], T[lo:hi]
        product = 1.0
        for n in range(hi - lo):
            bit = float(c[n])
            known = min(bit + 1.0, 1.0)  # 0 where missing, which is -1; without a branch
            mean = a[n] + mu
            square = max(mean * mean + b[n] + mu_var, 1e-10)
            zeta = math.sqrt(square)
            e = decay(zeta)
            curvature = T.dtype.type(known * (1.0 - e) / ((1.0 + e) * (2.0 * zeta)))
            t[n] = curvature
            linear = known * (bit - 0.5) * mean
            total += linear - known * 0.5 * zeta
            quadratic += linear - 0.5 * float(curvature) * square
            product *= 1.0 + known * e
        total -= math.log(product)
    return total - quadratic, total


@njit(nogil=True, cache=True)
def tangent_local(kind, y, x, spread, mu, mu_var, B):
    """The same for the bounds whose curvature is fixed: B in place."""
    total, quadratic = 0.0, 0.0
    curvature = np.empty(1, B.dtype)  # as rounded as it is in a tile
    for n in range(len(x)):
        if y[n] < 0:
            continue
        mean, value = x[n] + mu, float(y[n])
        if kind == POISSON:
            curvature[0] = 0.25 + 0.17 * value
            slope = poisson_slope(mean, value)
            f = softplus(mean) + math.lgamma(value + 1.0)
            if value > 0.0:
                f -= value * log_softplus(mean)
        else:
            curvature[0], slope, f = 0.25, sigmoid(mean) - value, softplus(mean) - value * mean
        T = float(curvature[0])
        B[n] = T * mean - slope
        total -= f + 0.5 * T * (spread[n] + mu_var)
        quadratic += B[n] * mean - 0.5 * T * (mean * mean + spread[n] + mu_var)
    return total - quadratic, total


@njit(nogil=True, cache=True)
def tangent_intercept(kind, y, B, x):
    """Sums over known cells of T and of B - T x."""
    weight, total = 0.0, 0.0
    for n in range(len(x)):
        if y[n] >= 0:
            T = 0.25 + (0.17 * y[n] if kind == POISSON else 0.0)
            weight += T
            total += B[n] - T * x[n]
    return weight, total


@njit(nogil=True, cache=True)
def update_bits(lo, hi, first, y, T, x, spread, v_mu, mu, mu_var, const, lik, do_mu, do_local):
    """Intercepts (``do_mu``) and zeta (``do_local``) of features of a Bernoulli view with Jaakkola's bound, in place."""
    for d in range(lo, hi):
        row, r = d - first, d - lo
        if do_mu:
            weight, total = bits_intercept(y[row], T[row], x[r])
            mu_var[d] = 1.0 / (1.0 / v_mu + weight)
            mu[d] = mu_var[d] * total
        if do_local:
            const[d], lik[d] = bits_local(y[row], x[r], spread[r], mu[d], mu_var[d], T[row])


@njit(nogil=True, cache=True)
def update_tangents(lo, hi, first, kind, y, B, x, spread, v_mu, mu, mu_var, const, lik, do_mu, do_local):
    """The same for Böhning's bound and for counts."""
    for d in range(lo, hi):
        row, r = d - first, d - lo
        if do_mu:
            weight, total = tangent_intercept(kind, y[row], B[row], x[r])
            mu_var[d] = 1.0 / (1.0 / v_mu + weight)
            mu[d] = mu_var[d] * total
        if do_local:
            const[d], lik[d] = tangent_local(kind, y[row], x[r], spread[r], mu[d], mu_var[d], B[row])


@njit(nogil=True, cache=True, fastmath=FAST)
def _square(y, x, spread):
    total = 0.0
    for n in range(len(x)):
        total += square(y[n] - x[n]) + spread[n]
    return total


@njit(nogil=True, cache=True, fastmath=FAST)
def _known_square(y, known, x, spread):
    total = 0.0
    for n in range(len(x)):
        total += known[n] * (square(y[n] - x[n]) + spread[n])
    return total


@njit(nogil=True, cache=True)
def squares(lo, hi, first, y, known, group, x, spread, out):
    """Expected squared errors of Gaussian features by group, into ``out`` (G, D); ``known`` is empty where all are."""
    for d in range(lo, hi):
        row, r = d - first, d - lo
        if len(out) > 1:
            out[:, d] = 0.0
            for n in range(x.shape[1]):
                if len(known) == 0 or known[row, n]:
                    out[group[n], d] += (y[row, n] - x[r, n]) ** 2 + spread[r, n]
        elif len(known):
            out[0, d] = _known_square(y[row], known[row], x[r], spread[r])
        else:
            out[0, d] = _square(y[row], x[r], spread[r])


@njit(nogil=True, cache=True)
def quadratics(lo, hi, T, B, T_top, x, spread, mu, mu_var, const, lik):
    """The bound of features lo..hi-1 as it is kept: constant + B <x> - T <x^2> / 2."""
    for d in range(lo, hi):
        t, b, r = T[T_top + d - lo], B[d - lo], d - lo
        total = 0.0
        for n in range(x.shape[1]):
            mean = x[r, n] + mu[d]
            total += b[n] * mean - 0.5 * t[n] * (mean * mean + spread[r, n] + mu_var[d])
        lik[d] = const[d] + total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _bits_deviance(y, known, z, factor, mu):
    total = 0.0
    for lo in range(0, len(y), STRETCH):
        product = 1.0
        for n in range(lo, min(len(y), lo + STRETCH)):
            x = mu + factor * z[n]
            product *= 1.0 + known[n] * decay(abs(x))
            total += known[n] * (max(x, 0.0) - y[n] * x)
        total += math.log(product)
    return 2.0 * total


@njit(nogil=True, cache=True, fastmath=FAST)
def _square_deviance(y, known, z, factor, mu):
    total = 0.0
    for n in range(len(y)):
        total += known[n] * square(y[n] - mu - factor * z[n])
    return total


@njit(nogil=True, cache=True)
def line_deviance(kind, y, known, z, factor, mu):
    """Deviance of a feature whose x is mu + factor z; arguments of length N in float64."""
    if kind == GAUSSIAN:
        return _square_deviance(y, known, z, factor, mu)
    if kind != POISSON:
        return _bits_deviance(y, known, z, factor, mu)
    total = 0.0
    for n in range(len(y)):
        if known[n] > 0.0:
            total += unit_deviance(kind, y[n], mu + factor * z[n])
    return total


@njit(nogil=True, cache=True)
def constant_deviance(kind, y, known, mu):
    """Deviance of a feature whose x is ``mu``; of bits two counts tell."""
    if kind in (GAUSSIAN, POISSON):
        return line_deviance(kind, y, known, y, 0.0, mu)
    cells, ones = 0.0, 0.0
    for n in range(len(y)):
        cells += known[n]
        ones += known[n] * y[n]
    return 2.0 * (cells * softplus(mu) - ones * mu)


@njit(nogil=True, cache=True)
def deviances(lo, hi, raw, observed, kind, mu, null, z, w, view, out):
    """Add to ``out`` (K + 3, M): deviance with each factor alone, with all, with none, of the best constants ``null``.

    ``observed`` is above 0 where a cell counts; row 0 of ``raw`` and ``observed`` is feature ``lo``, in float64.
    """
    K, N = z.shape
    x = np.empty(N)
    for d in range(lo, hi):
        m = view[d]
        y, known = raw[d - lo], observed[d - lo]
        x[:] = 0.0
        none = constant_deviance(kind[d], y, known, mu[d])
        for k in range(K):
            if abs(w[k, d]) < OFF:
                out[k, m] += none
                continue
            for n in range(N):
                x[n] += w[k, d] * z[k, n]
            out[k, m] += line_deviance(kind[d], y, known, z[k], w[k, d], mu[d])
        out[K, m] += line_deviance(kind[d], y, known, x, 1.0, mu[d])
        out[K + 1, m] += none
        out[K + 2, m] += constant_deviance(kind[d], y, known, null[d])
