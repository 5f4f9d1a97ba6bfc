"""Sums in the order in which numpy adds, so that a kernel and numpy agree to the last bit."""

from __future__ import annotations

import numpy as np
from numba import njit

WHOLE = 128
"""From more than so many numbers on numpy adds two halves."""
DEEP = 200
"""Room for the parts of any array."""


@njit(nogil=True, cache=True, error_model="numpy")
def _sum(x: np.ndarray, lo: int, n: int) -> float:
    """Of at most ``WHOLE`` numbers of x (m,) from ``lo`` on: eight at a time, then what is left."""
    if n < 8:
        total = 0.0
        for i in range(lo, lo + n):
            total += x[i]
        return total
    a, b, c, d, e, f, g, h = (
        x[lo],
        x[lo + 1],
        x[lo + 2],
        x[lo + 3],
        x[lo + 4],
        x[lo + 5],
        x[lo + 6],
        x[lo + 7],
    )
    i = 8
    while i < n - n % 8:
        a += x[lo + i]
        b += x[lo + i + 1]
        c += x[lo + i + 2]
        d += x[lo + i + 3]
        e += x[lo + i + 4]
        f += x[lo + i + 5]
        g += x[lo + i + 6]
        h += x[lo + i + 7]
        i += 8
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    while i < n:
        total += x[lo + i]
        i += 1
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def sum_of(x: np.ndarray) -> float:
    """``x.sum()`` of an array (m,) as numpy has it."""
    if x.size <= WHOLE:
        return _sum(x, 0, x.size)
    begin, size, found = np.zeros(DEEP, np.int64), np.zeros(DEEP, np.int64), np.empty(DEEP)
    todo, done = 1, 0  # parts not added yet, and sums of those that are; size 0: add the last two sums
    size[0] = x.size
    while todo > 0:
        todo -= 1
        lo, n = begin[todo], size[todo]
        if n == 0:
            done -= 1
            found[done - 1] += found[done]
        elif n <= WHOLE:
            found[done] = _sum(x, lo, n)
            done += 1
        else:
            half = n // 2 - n // 2 % 8
            size[todo] = 0
            begin[todo + 1], size[todo + 1] = lo + half, n - half
            begin[todo + 2], size[todo + 2] = lo, half
            todo += 3
    return found[0]


@njit(nogil=True, cache=True, error_model="numpy")
def column_sum(x: np.ndarray, out: np.ndarray) -> None:
    """``x.sum(axis=0)`` of an array (rows, columns) as numpy has it, into ``out`` (columns,)."""
    if x.shape[1] == 1:  # one array without gaps
        out[0] = sum_of(x[:, 0])
        return
    out[:] = 0.0
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[j] += x[i, j]
