"""The chance that one of K normals leads all others by a margin, and a draw of its value given that it does.

Values ``z_i ~ N(mean_i, sd^2)``, independent. Class k leads when ``z_k > z_i + null`` for all i != k. With
``z_k = mean_k + sd t`` the density of t is, but for a constant, ``exp(g(t))``,

    g(t) = -t^2 / 2 + sum_{i != k} log Phi(t + c_i),     c_i = (mean_k - null - mean_i) / sd,

strictly log-concave with curvature between -K and -1: the normal of unit variance around the mode lies above it
once scaled to touch there, so that rejection from it is exact and accepts with probability of at least 1 / sqrt(K).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.truncated import LOG_ROOT_2PI, inverse_mills, log_ndtr

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_LOG_WEIGHTS = np.log(_WEIGHTS) - LOG_ROOT_2PI
_STEPS = 60


def _places(count: int) -> np.ndarray:
    """(3, count): sine, 1 / (2 cos^2) and weight of angles from 0 to that of the correlation 1/2."""
    places, lengths = np.polynomial.legendre.leggauss(count)
    angles = 0.5 * math.asin(0.5) * (places + 1.0)
    shares = 0.5 * math.asin(0.5) * lengths / (2.0 * math.pi)
    return np.stack([np.sin(angles), 0.5 / np.cos(angles) ** 2, shares])


_FEW_PLACES, _PLACES = _places(8), _places(24)
_NEAR, _CLOSE, _CERTAIN = -5.0, -20.0, 9.0
_NEGLIGIBLE = -32.0
"""Logarithm of the weight of a class, beside that of the largest mean, below which it counts as 0: 1e-14."""


@njit(nogil=True, cache=True)
def log_both(x, y):
    """``log P(u < x, v < y)`` of two normals with correlation 1/2, for x and y above -20: relative error below 1e-9.

    The product of the margins and an integral over the correlation from 0 (Plackett 1954; Drezner & Wesolowsky 1990),
    both positive: 8 or 24 exponentials where the integral over the leading value takes over a hundred.
    """
    if max(x, y) > _CERTAIN:
        return log_ndtr(min(x, y))
    total = math.exp(log_ndtr(x) + log_ndtr(y))
    places = _FEW_PLACES if min(x, y) > _NEAR else _PLACES
    for j in range(places.shape[1]):
        total += places[2, j] * math.exp(-(x * x + y * y - 2.0 * x * y * places[0, j]) * places[1, j])
    return math.log(total)


@njit(nogil=True, cache=True)
def _log_lead(t, mean, sd, k, null):
    total = -0.5 * t * t
    for i in range(len(mean)):
        if i != k:
            total += log_ndtr(t + (mean[k] - null - mean[i]) / sd)
    return total


@njit(nogil=True, cache=True)
def _mode(mean, sd, k, null):
    """Where g is largest, to 1e-10, by Newton's method (g is strictly concave; steps never need to be cut: see test)."""
    t = 0.0
    for _ in range(_STEPS):
        slope, curvature = -t, -1.0
        for i in range(len(mean)):
            if i != k:
                x = t + (mean[k] - null - mean[i]) / sd
                mills = inverse_mills(x)
                slope += mills
                curvature -= mills * (x + mills)
        step = slope / curvature
        t -= step
        if abs(step) < 1e-10:
            break
    return t


@njit(nogil=True, cache=True)
def log_win(mean, sd, k, null):
    """``log P(z_k > z_i + null for all i != k)``; Gauss-Hermite around the mode, relative error below 1e-8."""
    if len(mean) == 2:
        return log_ndtr((mean[k] - null - mean[1 - k]) / (sd * math.sqrt(2.0)))
    if len(mean) == 3:
        scale, own = 1.0 / (sd * math.sqrt(2.0)), mean[k] - null
        x, y = (own - mean[(k + 1) % 3]) * scale, (own - mean[(k + 2) % 3]) * scale
        if min(x, y) > _CLOSE:
            return log_both(x, y)
    mode = _mode(mean, sd, k, null)
    top = _log_lead(mode, mean, sd, k, null)
    total = 0.0
    for j in range(len(_NODES)):
        x = _NODES[j]
        total += math.exp(_LOG_WEIGHTS[j] + 0.5 * x * x + _log_lead(mode + x, mean, sd, k, null) - top)
    return top + math.log(total)


@njit(nogil=True, cache=True)
def log_win_slopes(mean, k, slope):
    """:func:`log_win` without a margin at sd 1; its gradient goes into ``slope`` (K,): means of inverse Mills ratios under exp(g)."""
    mode = _mode(mean, 1.0, k, 0.0)
    top = _log_lead(mode, mean, 1.0, k, 0.0)
    total = 0.0
    slope[:] = 0.0
    for j in range(len(_NODES)):
        x = _NODES[j]
        weight = math.exp(_LOG_WEIGHTS[j] + 0.5 * x * x + _log_lead(mode + x, mean, 1.0, k, 0.0) - top)
        total += weight
        for i in range(len(mean)):
            if i != k:
                slope[i] -= weight * inverse_mills(mode + x + mean[k] - mean[i])
    slope /= total
    slope[k] = -slope.sum()
    return top + math.log(total)


@njit(nogil=True, cache=True)
def log_wins(mean, sd, null, log_share, out):
    """``log(share_k P(z_k > z_i + null for all i != k))`` of every class k into out (K,).

    A class whose chance against the one of the largest mean alone is negligible gets -inf: no integral is needed.
    """
    top = 0
    for k in range(len(mean)):
        if mean[k] > mean[top]:
            top = k
    out[top] = log_share[top] + log_win(mean, sd, top, null)
    for k in range(len(mean)):
        if k == top:
            continue
        bound = log_share[k] + log_ndtr((mean[k] - null - mean[top]) / (sd * math.sqrt(2.0)))
        if bound < out[top] + _NEGLIGIBLE:
            out[k] = -math.inf
        else:
            out[k] = log_share[k] + log_win(mean, sd, k, null)


@njit(nogil=True, cache=True)
def draw_lead(rng, mean, sd, k, null):
    """t of the leading value ``mean_k + sd t`` given that class k leads; exact rejection, see the module's text."""
    mode = _mode(mean, sd, k, null)
    top = _log_lead(mode, mean, sd, k, null)
    while True:
        x = rng.standard_normal()
        gain = _log_lead(mode + x, mean, sd, k, null) - top + 0.5 * x * x
        if math.log(rng.random()) <= gain:
            return mode + x
