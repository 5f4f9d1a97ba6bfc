"""Evidence of single rows and columns for a block of counts or links, and Gibbs passes over them. Only entries are visited."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

LEAST = 1e-280
"""Least rate of a cell, so that logarithms stay finite."""


@njit(cache=True, nogil=True)
def log_gain(value, rest, theta, links):
    """Log likelihood gained by an entry when ``theta`` is added to its rate ``rest``, but for ``- theta`` of every cell.

    Counts: ``x log(1 + theta / rest)``; links: ``log(1 - exp(-(rest + theta))) - log(1 - exp(-rest)) + theta``.
    """
    if links:
        return math.log(-math.expm1(-(rest + theta))) - math.log(-math.expm1(-rest)) + theta
    return value * math.log1p(theta / rest)


@njit(cache=True, nogil=True)
def evidence(entries, side, rest, picked, theta, size):
    """Log likelihood gained by each of ``size`` items when it enters a block with the ``picked`` items across.

    ``rest`` (nnz,) are the rates of the entries without the block. O(entries in the picked items).
    """
    gain = np.zeros(size)
    count = 0
    for j in range(picked.size):
        if not picked[j]:
            continue
        count += 1
        for p in range(side.start[j], side.start[j + 1]):
            e = side.order[p]
            gain[side.item[p]] += log_gain(entries.values[e], rest[e], theta, entries.links)
        for p in range(side.gap_start[j], side.gap_start[j + 1]):
            gain[side.gap_item[p]] += theta
    return gain - theta * count


@njit(cache=True, nogil=True)
def scan_items(rng, z, gain, target):
    """One pass over the items of a side, in place: log odds ``log(m / (N - 1 - m + 1)) + gain``, m the others that are in.

    With a ``target`` that is not empty it is made to end there. Returns the log probability of the pass as made. The last
    item left stays in: empty sides are outside the state space.
    """
    forced = target.size > 0
    members = z.sum()
    log_q = 0.0
    for i in range(z.size):
        members -= z[i]
        if members == 0:
            inside = True
            if forced and not target[i]:
                log_q = -np.inf
        else:
            odds = math.log(members / (z.size - members)) + gain[i]
            inside = target[i] if forced else rng.random() * (1.0 + math.exp(min(-odds, 700.0))) < 1.0
            signed = odds if inside else -odds
            log_q -= math.log1p(math.exp(-signed)) if signed > 0.0 else math.log1p(math.exp(signed)) - signed
        z[i] = inside
        members += inside
    return log_q


@njit(cache=True, nogil=True)
def add_level(entries, rates, base, rows, columns, theta):
    """Add ``theta`` to the rates of a block's entries, in place; a negative one takes it away, down to the background."""
    side = entries.by_columns
    for j in range(columns.size):
        if columns[j]:
            for p in range(side.start[j], side.start[j + 1]):
                if rows[side.item[p]]:
                    e = side.order[p]
                    rates[e] = max(rates[e] + theta, base[e])


@njit(cache=True, nogil=True)
def inside_block(entries, rows, columns):
    """Places of the entries in a block (n,), and its number of observed cells."""
    side = entries.by_columns
    area = float(rows.sum()) * float(columns.sum())
    count = 0
    for j in range(columns.size):
        if columns[j]:
            count += side.start[j + 1] - side.start[j]
            for p in range(side.gap_start[j], side.gap_start[j + 1]):
                area -= rows[side.gap_item[p]]
    found = np.empty(count, np.int64)
    count = 0
    for j in range(columns.size):
        if columns[j]:
            for p in range(side.start[j], side.start[j + 1]):
                if rows[side.item[p]]:
                    found[count] = side.order[p]
                    count += 1
    return found[:count], area


@njit(cache=True, nogil=True)
def scan_block(rng, entries, rates, base, rows, columns, theta, k):
    """Gibbs pass over the rows, then the columns of block k at its present level; all in place."""
    free = np.empty(0, np.bool_)
    add_level(entries, rates, base, rows[k], columns[k], -theta[k])
    gain = evidence(entries, entries.by_columns, rates, columns[k], theta[k], rows.shape[1])
    scan_items(rng, rows[k], gain, free)
    gain = evidence(entries, entries.by_rows, rates, rows[k], theta[k], columns.shape[1])
    scan_items(rng, columns[k], gain, free)
    add_level(entries, rates, base, rows[k], columns[k], theta[k])
