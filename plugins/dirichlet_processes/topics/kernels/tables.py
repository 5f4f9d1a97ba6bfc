"""Numbers of tables (Antoniak 1974; Teh et al. 2006, section 5.1), and the log density that is summed in the same pass.

A count n at concentration c has ``sum_{i<n} Bernoulli(c / (c + i))`` tables. Instead of a uniform number for each, one is drawn until the
next success: the chance that none comes before i is a product of ``i / (c + i)``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LARGE, SMALL = 1e200, 1e-100
"""Beyond these a product becomes a logarithm."""
LONG = 300
"""Factors from which two log gammas are quicker than a product."""


@njit(nogil=True, cache=True, error_model="numpy")
def draw_tables(rng: np.random.Generator, n: int, c: float) -> int:
    """Tables of ``n`` tokens at concentration ``c``."""
    if n == 0:
        return 0
    tables, left, mark = 1, 1.0, rng.random()
    for i in range(1, n):
        left *= i / (c + i)
        if left <= mark:
            tables += 1
            left, mark = 1.0, rng.random()
    return tables


@njit(nogil=True, cache=True)
def log_rising(n: int, c: float) -> float:
    """``log(c (c + 1) … (c + n - 1))``, a logarithm for many factors."""
    if n > LONG:
        return math.lgamma(c + n) - math.lgamma(c)
    total, part = 0.0, 1.0
    for i in range(n):
        part *= c + i
        if part > LARGE:
            total += math.log(part)
            part = 1.0
    return total + math.log(part)


@njit(nogil=True, cache=True)
def rising_of(starts: np.ndarray, c: float, lo: int, hi: int) -> np.ndarray:
    """``log_rising(n, c)`` for all lengths n (longest + 1,) of documents ``lo`` to ``hi``."""
    longest = 0
    for d in range(lo, hi):
        longest = max(longest, starts[d + 1] - starts[d])
    out = np.zeros(longest + 1)
    for n in range(longest):
        out[n + 1] = out[n] + math.log(c + n)
    return out


@njit(nogil=True, cache=True)
def seat_documents(
    rng: np.random.Generator,
    starts: np.ndarray,
    z: np.ndarray,
    beta: np.ndarray,
    alpha: float,
    tables: np.ndarray,
    lo: int,
    hi: int,
) -> None:
    """Add the tables of documents ``lo`` to ``hi`` to those of their topics (slots,)."""
    own = np.zeros(beta.size, np.int64)
    seen = np.empty(beta.size, np.int64)
    for d in range(lo, hi):
        n = 0
        for t in range(starts[d], starts[d + 1]):
            if own[z[t]] == 0:
                seen[n] = z[t]
                n += 1
            own[z[t]] += 1
        for s in range(n):
            k = seen[s]
            tables[k] += draw_tables(rng, own[k], alpha * beta[k])
            own[k] = 0


@njit(nogil=True, cache=True)
def log_documents(
    starts: np.ndarray, z: np.ndarray, beta: np.ndarray, alpha: float, lo: int, hi: int
) -> float:
    """Log probability of the topics of the tokens of documents ``lo`` to ``hi`` given beta and alpha; shares integrated out."""
    own, rising = np.zeros(beta.size, np.int64), rising_of(starts, alpha, lo, hi)
    total, part = 0.0, 1.0  # factors of all topics are multiplied: one logarithm for many of them
    for d in range(lo, hi):
        for t in range(starts[d], starts[d + 1]):
            own[z[t]] += 1
        for t in range(starts[d], starts[d + 1]):
            k = z[t]
            if own[k] == 0:
                continue
            c = alpha * beta[k]
            if own[k] > LONG or c < SMALL:
                total += log_rising(own[k], c)
            else:
                for i in range(own[k]):
                    part *= c + i
                    if part > LARGE:
                        total += math.log(part)
                        part = 1.0
                if part < SMALL:
                    total += math.log(part)
                    part = 1.0
            own[k] = 0
        total -= rising[starts[d + 1] - starts[d]]
    return total + math.log(part)


@njit(nogil=True, cache=True)
def seat_words(rng: np.random.Generator, counts: np.ndarray, used: int, eta: float) -> int:
    """Tables of all words in all topics at concentration ``eta``."""
    total = 0
    for w in range(counts.shape[0]):
        for k in range(used):
            if counts[w, k] > 0:
                total += draw_tables(rng, int(counts[w, k]), eta)
    return total


@njit(nogil=True, cache=True)
def log_words(counts: np.ndarray, totals: np.ndarray, used: int, eta: float) -> float:
    """Log probability of the words given the topics of their tokens; the topics' words integrated out."""
    most = 0
    for w in range(counts.shape[0]):
        for k in range(used):
            most = max(most, int(counts[w, k]))
    table = np.zeros(most + 1)
    for n in range(most):
        table[n + 1] = table[n] + math.log(eta + n)
    total, every = 0.0, counts.shape[0] * eta
    for k in range(used):
        total += math.lgamma(every) - math.lgamma(every + totals[k])
    for w in range(counts.shape[0]):
        for k in range(used):
            total += table[int(counts[w, k])]
    return total
