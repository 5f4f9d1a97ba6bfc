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

from plaidwork.plugins.gp_auxiliary.kernels.truncated import inverse_mills, log_ndtr

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
_LOG_WEIGHTS = np.log(_WEIGHTS) - 0.5 * math.log(2.0 * math.pi)
_STEPS = 60


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
    mode = _mode(mean, sd, k, null)
    top = _log_lead(mode, mean, sd, k, null)
    total = 0.0
    for j in range(len(_NODES)):
        x = _NODES[j]
        total += math.exp(_LOG_WEIGHTS[j] + 0.5 * x * x + _log_lead(mode + x, mean, sd, k, null) - top)
    return top + math.log(total)


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
