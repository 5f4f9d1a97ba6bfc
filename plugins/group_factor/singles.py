"""Local parameters and deviances of Bernoulli views in float32, for large data: four times the numbers in a register.

Sums of ``STRETCH`` cells are float32, sums of sums float64: the bound is found to some 1e-9 of itself.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.group_factor.kernels import softplus
from plaidwork.plugins.group_factor.products import FAST

OFF = 1e-6
"""A weight below this takes away nothing."""
STRETCH = 256
PRODUCT = 96
"""Numbers from 1 to 2 whose product is a finite float32, so that one logarithm serves them all."""
ONE, TWO, HALF = np.float32(1), np.float32(2), np.float32(0.5)
FAR, PART, LEAST = np.float32(20), np.float32(1 / 32), np.float32(1e-10)
C0, C1, C2 = np.float32(0.9999999955052614), np.float32(-0.4999994785056758), np.float32(0.16665683428014827)
C3, C4, C5 = np.float32(-0.041598526981697054), np.float32(0.008117728273309767), np.float32(-0.0010665479751825332)  # fmt: skip


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy", forceinline=True)
def gap(x):
    """1 - exp(-x) for x >= 0 in float32 to 4e-7 of itself, from 20 on that of 20.

    A polynomial of x / 32, doubled five times by g(2 x) = g(x) (2 - g(x)), which takes no difference of like numbers.
    """
    t = min(x, FAR) * PART
    p = C5
    p = p * t + C4
    p = p * t + C3
    p = p * t + C2
    p = p * t + C1
    p = p * t + C0
    p *= t
    p *= TWO - p
    p *= TWO - p
    p *= TWO - p
    p *= TWO - p
    return p * (TWO - p)


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def best_intercept(y, T, x):
    """Sums over known cells of T and of B - T x."""
    weight, total = 0.0, 0.0
    for lo in range(0, len(x), STRETCH):
        hi = min(len(x), lo + STRETCH)
        a, c, t = x[lo:hi], y[lo:hi], T[lo:hi]
        part = rest = ONE - ONE
        for n in range(hi - lo):
            bit = np.float32(c[n])
            part += t[n]
            rest += min(bit + ONE, ONE) * (bit - HALF) - t[n] * a[n]
        weight += float(part)
        total += float(rest)
    return weight, total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def best_zeta(y, x, spread, mu, mu_var, T, ratio):
    """T in place; the constant and the whole sum of the bound. ``ratio`` is room for ``STRETCH`` numbers."""
    total, quadratic = 0.0, 0.0
    for lo in range(0, len(x), STRETCH):
        hi = min(len(x), lo + STRETCH)
        a, b, c, t = x[lo:hi], spread[lo:hi], y[lo:hi], T[lo:hi]
        whole = curved = ONE - ONE
        for n in range(hi - lo):
            bit = np.float32(c[n])
            known = min(bit + ONE, ONE)  # 0 where missing, which is -1
            mean = a[n] + mu
            square = max(mean * mean + b[n] + mu_var, LEAST)
            zeta = math.sqrt(square)
            g = gap(zeta)
            curvature = known * g / ((TWO - g) * (TWO * zeta))
            t[n] = curvature
            linear = known * (bit - HALF) * mean
            whole += linear - known * HALF * zeta
            curved += linear - HALF * curvature * square
            ratio[n] = ONE + known * (ONE - g)
        product = 1.0
        for n in range(hi - lo):
            product *= ratio[n]
        total += float(whole) - math.log(product)
        quadratic += float(curved)
    return total - quadratic, total


@njit(nogil=True, cache=True)
def update_bits(lo, hi, first, y, T, x, spread, v_mu, mu, mu_var, const, lik, do_mu, do_local):
    """As ``local.update_bits``, with T, x and spread in float32."""
    ratio = np.empty(STRETCH, np.float32)
    for d in range(lo, hi):
        row, r = d - first, d - lo
        if do_mu:
            weight, total = best_intercept(y[row], T[row], x[r])
            mu_var[d] = 1.0 / (1.0 / v_mu + weight)
            mu[d] = mu_var[d] * total
        if do_local:
            const[d], lik[d] = best_zeta(
                y[row], x[r], spread[r], np.float32(mu[d]), np.float32(mu_var[d]), T[row], ratio
            )


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def line_deviance(y, z, factor, mu):
    """Deviance of a feature whose x is mu + factor z; ``y`` int8, all else float32."""
    total = 0.0
    for lo in range(0, len(y), PRODUCT):
        hi = min(len(y), lo + PRODUCT)
        c, a = y[lo:hi], z[lo:hi]
        product, part = ONE, ONE - ONE
        for n in range(hi - lo):
            bit = np.float32(c[n])
            known = min(bit + ONE, ONE)  # 0 where missing, which is -1
            x = mu + factor * a[n]
            size = abs(x)
            product *= ONE + known * (ONE - gap(size))
            part += known * (HALF * (x + size) - bit * x)
        total += float(part) + math.log(float(product))
    return 2.0 * total


@njit(nogil=True, cache=True)
def deviances(lo, hi, y, x, z, mu, null, w, view, out):
    """As ``local.deviances`` of bits, ``x`` (features, N) without the intercept; x and z (K, N) in float32.

    With a constant only, counts are enough.
    """
    K = len(w)
    for d in range(lo, hi):
        m, row, middle = view[d], y[d - lo], np.float32(mu[d])
        known, ones = 0, 0
        for n in range(len(row)):
            known += row[n] >= 0
            ones += row[n] > 0
        none = 2.0 * (known * softplus(mu[d]) - ones * mu[d])
        for k in range(K):
            if abs(w[k, d]) < OFF:
                out[k, m] += none
            else:
                out[k, m] += line_deviance(row, z[k], np.float32(w[k, d]), middle)
        out[K, m] += line_deviance(row, x[d - lo], ONE, middle)
        out[K + 1, m] += none
        out[K + 2, m] += 2.0 * (known * softplus(null[d]) - ones * null[d])
