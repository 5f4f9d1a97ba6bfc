"""The base of correlated columns given the clusters. Sums are added up here and not by BLAS, so that draws are the same on every processor."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MORE = 3.0
"""Degrees of freedom of Psi0's prior beyond d."""


@njit(nogil=True, cache=True)
def lower_root(a: np.ndarray) -> np.ndarray:
    """Lower triangle L with ``L L' = a`` (d, d). O(d^3)."""
    d = len(a)
    out = np.zeros((d, d))
    for i in range(d):
        for j in range(i + 1):
            total = a[i, j]
            for m in range(j):
                total -= out[i, m] * out[j, m]
            out[i, j] = math.sqrt(total) if i == j else total / out[j, j]
    return out


@njit(nogil=True, cache=True, no_cpython_wrapper=True)
def solve_upper(upper: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``U^-1 b`` of an upper triangle (d, d) and b (d, m)."""
    out = b.copy()
    d, width = b.shape
    for i in range(d - 1, -1, -1):
        for c in range(width):
            for m in range(i + 1, d):
                out[i, c] -= upper[i, m] * out[m, c]
            out[i, c] /= upper[i, i]
    return out


@njit(nogil=True, cache=True)
def times_own(a: np.ndarray) -> np.ndarray:
    """``a a'``."""
    d = len(a)
    out = np.zeros((d, d))
    for i in range(d):
        for j in range(i + 1):
            for m in range(a.shape[1]):
                out[i, j] += a[i, m] * a[j, m]
            out[j, i] = out[i, j]
    return out


@njit(nogil=True, cache=True, no_cpython_wrapper=True)
def bartlett(rng: np.random.Generator, df: float, d: int) -> np.ndarray:
    """Lower triangle T with ``T T' ~ Wishart(df, I)``."""
    out = np.zeros((d, d))
    for i in range(d):
        for j in range(i):
            out[i, j] = rng.standard_normal()
        out[i, i] = math.sqrt(2.0 * rng.standard_gamma(0.5 * (df - i)))
    return out


@njit(nogil=True, cache=True, no_cpython_wrapper=True)
def copy_into(target: np.ndarray, source: np.ndarray) -> None:
    """A matrix into another. A loop, as numba needs long to compile the assignment of a slice."""
    for i in range(len(source)):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@njit(nogil=True, cache=True)
def wishart_of_inverse(rng: np.random.Generator, df: float, inverse: np.ndarray) -> np.ndarray:
    """(d, d) X with ``X X' ~ Wishart(df, inverse^-1)``."""
    return solve_upper(lower_root(inverse).T.copy(), bartlett(rng, df, len(inverse)))


@njit(nogil=True, cache=True)
def gamma_above(rng: np.random.Generator, shape: float, least: float) -> float:
    """A Gamma(shape, 1) number, shape above 1, of those from ``least`` on.

    Far out ``least`` and an exponential number are proposed, of the rate at which most are taken (Dagpunar 1978, Sampling of variates from
    a truncated gamma distribution).
    """
    if least <= shape:
        while True:
            drawn = rng.standard_gamma(shape)
            if drawn >= least:
                return drawn
    away = least - shape
    rate = (away + math.sqrt(away * away + 4.0 * least)) / (2.0 * least)
    top = (shape - 1.0) / (1.0 - rate)
    while True:
        drawn = least + rng.standard_exponential() / rate
        if math.log1p(-rng.random()) <= (shape - 1.0) * math.log(drawn / top) - (1.0 - rate) * (drawn - top):
            return drawn


@njit(nogil=True, cache=True, no_cpython_wrapper=True)
def is_above(psi: np.ndarray, least: np.ndarray) -> bool:
    """Whether every column (d,) has a variance of ``least`` and more given the columns before it; 0 asks nothing."""
    bounds = 0
    for i in range(len(psi)):
        bounds += least[i] > 0.0
    if bounds == 0:
        return True
    lower, held = lower_root(psi), 0
    for i in range(len(psi)):
        held += lower[i, i] * lower[i, i] >= least[i]
    return held == len(psi)


@njit(nogil=True, cache=True)
def wishart_above(rng: np.random.Generator, df: float, inverse: np.ndarray, least: np.ndarray) -> np.ndarray:
    """(d, d) ``Psi ~ Wishart(df, inverse^-1)`` of those whose columns have variances of ``least`` (d,) and more given the columns before.

    Drawn without bounds first: what is within them is a draw of this law, and else one is drawn from it. With ``inverse = R R'`` of an
    upper triangle and Bartlett's T, ``R^-T T`` is the lower triangle of Psi, so that each bound is one of a chi-squared number.
    """
    psi = times_own(wishart_of_inverse(rng, df, inverse))
    if is_above(psi, least):
        return psi
    d = len(psi)
    flipped = lower_root(inverse[::-1, ::-1].copy())  # R with rows and columns from the last to the first
    lower = bartlett(rng, df, d)
    for i in range(d):
        root = flipped[d - 1 - i, d - 1 - i]
        lower[i, i] = math.sqrt(2.0 * gamma_above(rng, 0.5 * (df - i), 0.5 * least[i] * root * root))
    root = solve_upper(flipped.T.copy(), lower[::-1].copy())
    return times_own(root[::-1].copy())


@njit(nogil=True, cache=True)
def update_scatter(
    rng: np.random.Generator,
    sizes: np.ndarray,
    centres: np.ndarray,
    roots: np.ndarray,
    m0: np.ndarray,
    psi: np.ndarray,
    k0: float,
    a0: float,
    usual: float,
    weight: float,
    least: np.ndarray,
) -> float:
    """Draw Psi0 (d, d) and m0 (d,), in place, and k0 given K clusters: sizes (K,), centres (K, d), triangles U (K, d, d). O(K d^3).

    ``usual`` is the prior mean of Psi0's diagonal, ``weight`` that of k0, ``least`` (d,) the bounds of Psi0 in ``wishart_above``. Covariance and mean of each cluster are drawn,
    ``Sigma^-1 = R R'`` with ``R = U^-1 T``, used once and thrown away.
    """
    number, d = centres.shape
    nu0 = d - 1.0 + 2.0 * a0
    total, pull = np.zeros((d, d)), np.zeros(d)
    means, precisions = np.empty((number, d)), np.empty((number, d, d))
    for k in range(number):
        lower = bartlett(rng, nu0 + sizes[k], d)
        copy_into(precisions[k], times_own(solve_upper(roots[k], lower)))
        noise = np.empty((d, 1))
        for i in range(d):
            noise[i, 0] = rng.standard_normal()
        noise = solve_upper(lower.T.copy(), noise)  # R^-T z = U' T^-T z
        for i in range(d):
            value = 0.0
            for m in range(i + 1):
                value += roots[k, m, i] * noise[m, 0]
            means[k, i] = centres[k, i] + value / math.sqrt(k0 + sizes[k])
        for i in range(d):
            for j in range(d):
                total[i, j] += precisions[k, i, j]
                pull[i] += precisions[k, i, j] * means[k, j]
    inverse, precision = total.copy(), k0 * total
    for i in range(d):
        inverse[i, i] += (d + MORE) / usual
        precision[i, i] += 1.0
    copy_into(psi, wishart_above(rng, d + MORE + number * nu0, inverse, least))
    lower = lower_root(precision)
    step = np.empty((d, 1))
    for i in range(d):
        value = k0 * pull[i]
        for m in range(i):
            value -= lower[i, m] * step[m, 0]
        step[i, 0] = value / lower[i, i]
    for i in range(d):
        step[i, 0] += rng.standard_normal()
    step = solve_upper(lower.T.copy(), step)
    for i in range(d):
        m0[i] = step[i, 0]
    away = 0.0
    for k in range(number):
        for i in range(d):
            for j in range(d):
                away += (means[k, i] - m0[i]) * precisions[k, i, j] * (means[k, j] - m0[j])
    shape = 1.0 + 0.5 * number * d
    return max(rng.standard_gamma(shape) / (1.0 / weight + 0.5 * away), 1e-12)
