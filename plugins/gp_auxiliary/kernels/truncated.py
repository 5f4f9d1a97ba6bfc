"""Normal tails: log probabilities and draws of truncated normals, right far out in the tails."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

ROOT_HALF = math.sqrt(0.5)
HEIGHT = 1.0 / math.sqrt(2.0 * math.pi)
"""Of a unit normal density."""
LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
_ROOT2 = math.sqrt(2.0)
_FAR = -12.0
"""Below this the asymptotic series of the tail is exact to 1e-13; above it erfc has its full precision."""


@njit(nogil=True, cache=True)
def _tail(x: float) -> float:
    """``Phi(x) * -x / phi(x)`` far in the lower tail: 1 - 1/x^2 + 3/x^4 - ..."""
    inverse = 1.0 / (x * x)
    term, total = 1.0, 1.0
    for k in range(1, 12):
        term *= -(2 * k - 1) * inverse
        total += term
        if abs(term) < 1e-17:
            break
    return total


@njit(nogil=True, cache=True)
def log_ndtr(x: float) -> float:
    """``log Phi(x)`` for any finite or infinite x, relative error below 1e-12."""
    if x > 0.0:
        return math.log1p(-0.5 * math.erfc(x / _ROOT2))
    if x > _FAR:
        return math.log(0.5 * math.erfc(-x / _ROOT2))
    if x == -math.inf:
        return -math.inf
    return -0.5 * x * x - LOG_ROOT_2PI - math.log(-x) + math.log(_tail(x))


@njit(nogil=True, cache=True)
def log_ndtr_between(low: float, high: float) -> float:
    """``log(Phi(high) - Phi(low))`` for low < high, mirrored to the lower tail where differences are safe."""
    if low > 0.0:
        low, high = -high, -low
    top = log_ndtr(high)
    if low == -math.inf:
        return top
    gap = log_ndtr(low) - top
    if gap >= 0.0:
        return -math.inf
    return top + math.log(-math.expm1(gap))


@njit(nogil=True, cache=True)
def inverse_mills(x: float) -> float:
    """``phi(x) / Phi(x)``, finite for every finite x (about -x in the lower tail)."""
    if x < _FAR:
        return -x / _tail(x)
    return math.exp(-0.5 * x * x - LOG_ROOT_2PI - log_ndtr(x))


@njit(nogil=True, cache=True)
def normal_above(rng: np.random.Generator, low: float) -> float:
    """A draw of N(0, 1) given that it is above ``low`` (Robert 1995, Statistics and Computing 5:121)."""
    if low < 0.45:
        while True:
            x = rng.standard_normal()
            if x > low:
                return x
    rate = 0.5 * (low + math.sqrt(low * low + 4.0))
    while True:
        x = low + rng.standard_exponential() / rate
        if rng.random() <= math.exp(-0.5 * (x - rate) ** 2):
            return x


@njit(nogil=True, cache=True)
def normal_between(rng: np.random.Generator, low: float, high: float) -> float:
    """A draw of N(0, 1) given that it is between ``low`` and ``high`` (either may be infinite)."""
    if high == math.inf:
        return normal_above(rng, low) if low > -math.inf else rng.standard_normal()
    if low == -math.inf:
        return -normal_above(rng, -high)
    if high < 0.0:
        return -normal_between(rng, -high, -low)
    if low >= 0.0:
        if high - low < 2.0 and (high - low) * low < 1.0:
            while True:
                x = low + (high - low) * rng.random()
                if rng.random() <= math.exp(0.5 * (low * low - x * x)):
                    return x
        while True:
            x = normal_above(rng, low)
            if x < high:
                return x
    if high - low > 1.5:
        while True:
            x = rng.standard_normal()
            if low < x < high:
                return x
    while True:
        x = low + (high - low) * rng.random()
        if rng.random() <= math.exp(-0.5 * x * x):
            return x
