"""The table of a mixture of finite mixtures (Miller and Harrison 2018, eq. 3.2), with as many components as 1 / (k (k + 1)) says."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

MOST_CLUSTERS = 1000
"""Of more clusters nobody makes a mixture; the table ends there, and so do the partitions."""
MOST_TERMS = 200_000
ENOUGH = 1e-14


@njit(nogil=True, cache=True)
def log_series(n: int, t: int) -> float:
    """``log V_n(t) = log sum_{k >= t} k! / (k - t)! Gamma(k) / Gamma(k + n) / (k (k + 1))``.

    The terms are followed by their ratio; the tail of a series that falls slowly, like ``k^-(n - t + 2)``, by its integral.
    """
    k = max(t, 1)
    start = (
        math.lgamma(k + 1.0)
        - math.lgamma(k - t + 1.0)
        + math.lgamma(k)
        - math.lgamma(k + float(n))
        - math.log(k * (k + 1.0))
    )
    total, term, shift = 1.0, 1.0, 0.0
    for _ in range(MOST_TERMS):
        ratio = (k + 1.0) / (k + 1.0 - t) * k / (k + n) * k / (k + 2.0)
        term *= ratio
        total += term
        k += 1
        if ratio < 1.0 and term * k < ENOUGH * total:
            break
        if total > 1e250:
            total, term, shift = total * 1e-250, term * 1e-250, shift + 250.0 * math.log(10.0)
    total += term * max(k / (n - t + 1.0) - 0.5, 0.0)
    return start + shift + math.log(total)


@njit(nogil=True, cache=True)
def log_new_clusters(n: int) -> np.ndarray:
    """(n + 1,) log weight ``V_n(K + 1) / V_n(K)`` of a new cluster beside K others; -inf from the end of the table on."""
    out = np.full(n + 1, -np.inf)
    below = 0.0
    for number in range(min(n, MOST_CLUSTERS)):
        above = log_series(n, number + 1)
        out[number] = above - below
        below = above
    return out
