"""Evidence of single rows and columns for a block of counts or links, and Gibbs passes over them. Only entries are visited."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.scan import is_in

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
    add_gains(entries, side, rest, picked, theta, gain, 0, size)
    return gain - theta * picked.sum()


@njit(cache=True, nogil=True)
def first_from(items, start, stop, least):
    """The first place from ``start`` on, before ``stop``, at which the ascending ``items`` are no less than ``least``."""
    while start < stop:
        middle = (start + stop) // 2
        if items[middle] < least:
            start = middle + 1
        else:
            stop = middle
    return start


@njit(cache=True, nogil=True)
def add_gains(entries, side, rest, picked, theta, gain, lo, hi):
    """:func:`evidence` of items lo to hi but for ``- theta`` of every cell, added to ``gain`` (size,)."""
    part = lo > 0 or hi < gain.size
    for j in range(picked.size):
        if not picked[j]:
            continue
        start, stop = side.start[j], side.start[j + 1]
        if part:
            start = first_from(side.item, start, stop, lo)
            stop = first_from(side.item, start, stop, hi)
        for p in range(start, stop):
            e = side.order[p]
            gain[side.item[p]] += log_gain(entries.values[e], rest[e], theta, entries.links)
        start, stop = side.gap_start[j], side.gap_start[j + 1]
        if part:
            start = first_from(side.gap_item, start, stop, lo)
            stop = first_from(side.gap_item, start, stop, hi)
        for p in range(start, stop):
            gain[side.gap_item[p]] += theta


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
            inside = target[i] if forced else is_in(rng.random(), odds)
            signed = odds if inside else -odds
            log_q -= math.log1p(math.exp(-signed)) if signed > 0.0 else math.log1p(math.exp(signed)) - signed
        z[i] = inside
        members += inside
    return log_q


@njit(cache=True, nogil=True)
def add_level(entries, rates, base, rows, columns, theta):
    """Add ``theta`` to the rates of a block's entries, in place; a negative one takes it away, down to the background."""
    add_level_part(entries, rates, base, rows, columns, theta, 0, columns.size)


@njit(cache=True, nogil=True)
def add_level_part(entries, rates, base, rows, columns, theta, lo, hi):
    """:func:`add_level` at the entries of columns lo to hi."""
    side = entries.by_columns
    for j in range(lo, hi):
        if columns[j]:
            for p in range(side.start[j], side.start[j + 1]):
                if rows[side.item[p]]:
                    e = side.order[p]
                    rates[e] = max(rates[e] + theta, base[e])


@njit(cache=True, nogil=True)
def inside_block(entries, rows, columns):
    """Places of the entries in a block (n,), and its number of observed cells."""
    picked = np.flatnonzero(columns)
    ends = np.zeros(picked.size + 1, np.int64)
    for q in range(picked.size):
        ends[q + 1] = ends[q] + entries.by_columns.start[picked[q] + 1] - entries.by_columns.start[picked[q]]
    found, counts, gaps = np.empty(ends[-1], np.int64), np.empty(picked.size, np.int64), np.empty(picked.size)
    find_inside(entries, rows, picked, ends, found, counts, gaps, 0, picked.size)
    return close_up(found, ends, counts), float(rows.sum()) * float(picked.size) - gaps.sum()


@njit(cache=True, nogil=True)
def find_inside(entries, rows, picked, ends, found, counts, gaps, lo, hi):
    """Of columns ``picked[lo:hi]`` the places of entries in the ``rows``, from ``found[ends]`` on, their number and that of missing cells."""
    side = entries.by_columns
    for q in range(lo, hi):
        count, missing = ends[q], 0
        for p in range(side.start[picked[q]], side.start[picked[q] + 1]):
            if rows[side.item[p]]:
                found[count] = side.order[p]
                count += 1
        for p in range(side.gap_start[picked[q]], side.gap_start[picked[q] + 1]):
            missing += rows[side.gap_item[p]]
        counts[q], gaps[q] = count - ends[q], missing


@njit(cache=True, nogil=True)
def close_up(found, ends, counts):
    """The places that were found (n,), without those left free between them; in place."""
    total = 0
    for q in range(counts.size):
        for p in range(ends[q], ends[q] + counts[q]):
            found[total] = found[p]
            total += 1
    return found[:total]


@njit(cache=True, nogil=True)
def added_up(terms, start):
    """``start`` and the terms (n,), one after the other: the same sum whoever made the terms."""
    for term in terms:
        start += term
    return start


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
