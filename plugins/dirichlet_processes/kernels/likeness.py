"""Log density of the data as a function of the shape of the variances and covariances, with what they are expected to be held."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

LEAST = 1e-300


class Spreads(NamedTuple):
    """What K clusters say of the shape a0 where ``b0_j = (a0 - 1) usual_j`` and ``Psi0 = 2 (a0 - 1) scatter``."""

    known: np.ndarray
    """(K, G) int64 known numbers"""
    half: np.ndarray
    """(K, G) what they add to b0: half the squares around the mean, and around the common centre"""
    usual: np.ndarray
    """(G,) the variance within a cluster that is expected"""
    size: np.ndarray
    """(K,) int64 rows"""
    rest: np.ndarray
    """(K, Q) what the rows add to Psi0, d x d numbers of each matrix of correlated columns"""
    scatter: np.ndarray
    """(Q,) the covariance within a cluster that is expected"""
    first: np.ndarray
    """(B + 1,) int64 where the columns of each of these matrices begin"""


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def log_pivots(out: np.ndarray) -> float:
    """Log determinant of a symmetric matrix (d, d), whose lower triangle becomes that of ``L L'``. O(d^3)."""
    total = 0.0
    for i in range(len(out)):
        for j in range(i + 1):
            value = out[i, j]
            for m in range(j):
                value -= out[i, m] * out[j, m]
            out[i, j] = math.sqrt(max(value, LEAST)) if i == j else value / out[j, j]
        total += math.log(out[i, i])
    return 2.0 * total


@njit(nogil=True, cache=True, error_model="numpy")
def evidence_of_numbers(s: Spreads, a0: float) -> float:
    """What depends on a0 in the log density of independent columns, a cluster's mean and variance integrated out. O(K G)."""
    total, last, gammas = 0.0, -1, 0.0
    number, width = s.known.shape
    logs = np.empty(width)
    for j in range(width):
        logs[j] = math.log((a0 - 1.0) * s.usual[j])
    for k in range(number):
        for j in range(width):
            m = s.known[k, j]
            if m > 0:
                if m != last:  # where no number is missing one log gamma is that of all columns
                    last, gammas = m, math.lgamma(a0 + 0.5 * m) - math.lgamma(a0)
                b_c = (a0 - 1.0) * s.usual[j] + s.half[k, j]
                total += gammas + a0 * logs[j] - (a0 + 0.5 * m) * math.log(b_c)
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def evidence_of_correlated(s: Spreads, a0: float) -> float:
    """The same of correlated columns. O(K d^3)."""
    total, at, unit = 0.0, 0, 2.0 * (a0 - 1.0)
    for b in range(s.first.size - 1):
        d = s.first[b + 1] - s.first[b]
        nu, work = d - 1.0 + 2.0 * a0, np.empty((d, d))
        for k in range(-1, len(s.rest)):  # the prior comes first
            for i in range(d):
                for j in range(i + 1):
                    more = s.rest[k, at + i * d + j] if k >= 0 else 0.0
                    work[i, j] = unit * s.scatter[at + i * d + j] + more
            found = log_pivots(work)
            if k < 0:
                total += 0.5 * nu * len(s.rest) * found
                continue
            total -= 0.5 * (nu + s.size[k]) * found
            for j in range(d):
                total += math.lgamma(0.5 * (nu + s.size[k] - j)) - math.lgamma(0.5 * (nu - j))
        at += d * d
    return total
