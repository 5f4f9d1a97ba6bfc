"""Gibbs scans of one block's memberships, its shift integrated out (section 2.1, eqs. 1-3 of the seed)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.blocks import overlap, picked_count, picked_sum


@njit(cache=True, nogil=True)
def places_of(picked):
    """The columns of each of ``picked`` (B, N2) one after the other, and where those of each end: (n,), (B + 1,)."""
    places, ends = np.empty(picked.size, np.int64), np.zeros(len(picked) + 1, np.int64)
    for q in range(len(picked)):
        chosen = np.flatnonzero(picked[q])
        ends[q + 1] = ends[q] + chosen.size
        places[ends[q] : ends[q + 1]] = chosen
    return places[: ends[-1]], ends


@njit(cache=True, nogil=True)
def sum_picked(cells, places, ends, found, lo, hi):
    """Sums of the data of rows lo to hi over the columns of :func:`places_of`, into ``found`` (B, N1)."""
    for i in range(lo, hi):
        for q in range(len(found)):
            found[q, i] = picked_sum(cells.wx[i], places[ends[q] : ends[q + 1]])


@njit(cache=True, nogil=True)
def picked_sums(cells, picked):
    """Sums of the data of each row over the columns of each of ``picked`` (B, N2) bool: (B, N1); not over missing cells.

    A row is read once for all of them: what is read does not grow with B while a row stays in the cache.
    """
    found = np.empty((len(picked), cells.x.shape[0]))
    places, ends = places_of(picked)
    sum_picked(cells, places, ends, found, 0, cells.x.shape[0])
    return found


@njit(cache=True, nogil=True)
def row_sums(cells, rows, columns, theta, phi, picked, skip):
    """Residuals of each row summed over the columns ``picked``, and how many are observed.

    Parameters
    ----------
    rows, columns : (K, N1), (K, N2) bool memberships of the blocks that are subtracted
    theta, phi : (K,) shifts and background (from the centre) that are subtracted
    picked : (N2,) bool
    skip : block that is not subtracted, or K

    Returns
    -------
    sums, numbers : (N1,) each

    Notes
    -----
    Blocks are constant, so that their part of a sum is theta times a count: no residual matrix is needed.
    O(N1 m2), when cells are missing O(N1 m2 (1 + blocks per row)).
    """
    places, ends = places_of(picked.reshape((1, picked.size)))
    sums, numbers = np.empty((1, cells.x.shape[0])), np.empty(cells.x.shape[0])
    sum_rows(cells, places, ends, rows, columns, theta, phi, picked, skip, sums, numbers, 0, cells.x.shape[0])
    return sums[0], numbers


@njit(cache=True, nogil=True)
def sum_rows(cells, places, ends, rows, columns, theta, phi, picked, skip, sums, numbers, lo, hi):
    """:func:`row_sums` of rows lo to hi, into ``sums`` (1, N1) and ``numbers`` (N1,); ``places, ends`` of the columns picked."""
    sum_picked(cells, places, ends, sums, lo, hi)
    take_blocks_off(cells, rows, columns, theta, phi, picked, skip, sums[0], numbers, lo, hi)


@njit(cache=True, nogil=True)
def residual_sums(cells, rows, columns, theta, phi, picked, skip, sums):
    """As :func:`row_sums`, from the ``sums`` of the data over the columns ``picked``, in place."""
    numbers = np.empty(cells.x.shape[0])
    take_blocks_off(cells, rows, columns, theta, phi, picked, skip, sums, numbers, 0, cells.x.shape[0])
    return sums, numbers


@njit(cache=True, nogil=True)
def take_blocks_off(cells, rows, columns, theta, phi, picked, skip, all_sums, all_numbers, lo, hi):
    """:func:`residual_sums` of rows lo to hi: ``all_sums`` (N1,) are those of the data, ``all_numbers`` (N1,) are written."""
    chosen = np.flatnonzero(picked)
    sums, numbers = all_sums[lo:hi], all_numbers[lo:hi]  # loops from 0 on are vectorised
    numbers[:] = chosen.size
    if not cells.full:
        for i in range(numbers.size):
            numbers[i] = picked_count(cells.w[lo + i], chosen)
    level = cells.centre + phi
    for i in range(sums.size):
        sums[i] -= level * numbers[i]
    for k in range(theta.size):
        shared = overlap(picked, columns[k]) if k != skip else 0
        if shared == 0:
            continue
        common = np.flatnonzero(picked & columns[k])
        inside = rows[k, lo:hi]
        if cells.full:
            step = theta[k] * shared
            for i in range(sums.size):
                sums[i] -= step * inside[i]
            continue
        for i in range(sums.size):
            if inside[i]:
                sums[i] -= theta[k] * picked_count(cells.w[lo + i], common)


@njit(cache=True, nogil=True)
def column_sums(cells, rows, columns, theta, phi, picked, skip):
    """As :func:`row_sums` for the columns, summed over the rows ``picked``. O(N2 m1)."""
    n_columns = cells.x.shape[1]
    sums, numbers = np.zeros(n_columns), np.zeros(n_columns)
    add_rows(cells, rows, columns, theta, phi, picked, skip, sums, numbers, 0, n_columns)
    return sums, numbers


@njit(cache=True, nogil=True)
def add_rows(cells, rows, columns, theta, phi, picked, skip, all_sums, all_numbers, lo, hi):
    """:func:`column_sums` of columns lo to hi, into ``all_sums`` and ``all_numbers`` (N2,) that are 0."""
    chosen = np.flatnonzero(picked)
    sums, numbers = all_sums[lo:hi], all_numbers[lo:hi]  # loops from 0 on are vectorised
    for i in chosen:
        x = cells.wx[i, lo:hi]
        for j in range(sums.size):
            sums[j] += x[j]
        if not cells.full:
            w = cells.w[i, lo:hi]
            for j in range(sums.size):
                numbers[j] += w[j]
    if cells.full:
        numbers[:] = chosen.size
    level = cells.centre + phi
    for j in range(sums.size):
        sums[j] -= level * numbers[j]
    for k in range(theta.size):
        shared = overlap(picked, rows[k]) if k != skip else 0
        if shared == 0:
            continue
        inside = columns[k, lo:hi]
        if cells.full:
            for j in range(sums.size):
                sums[j] -= theta[k] * shared * inside[j]
        else:
            for i in np.flatnonzero(picked & rows[k]):
                w = cells.w[i, lo:hi]
                for j in range(sums.size):
                    sums[j] -= theta[k] * (inside[j] * w[j])


@njit(cache=True, nogil=True)
def is_in(u, odds):
    """Whether a uniform number (a multiple of 2^-53) is below ``1 / (1 + exp(-odds))``; beyond 40 the double precision decides."""
    if odds > 40.0:
        return True
    if odds < -40.0:
        return u == 0.0
    return u * (1.0 + math.exp(-odds)) < 1.0


@njit(cache=True, nogil=True)
def scan_side(rng, z, sums, numbers, a, b, law, pinned, target, scored):
    """One pass over the entries of one side of a block, in place.

    Parameters
    ----------
    z : (N,) bool, overwritten
    sums, numbers : (N,) of :func:`row_sums` or :func:`column_sums`
    a, b : prior odds, see ``Law``
    pinned : entry that stays in, or -1
    target : entries are set to these (N,) instead of drawn; empty when they are drawn
    scored : whether anybody asks for ``log_q``, which takes a quarter of the pass

    Returns
    -------
    log_q : log probability of the pass as made; 0 when it is not ``scored``
    n, s : cells and sum of residuals in the block afterwards

    Notes
    -----
    With ``a = 0`` the last entry left in stays in: empty sides are outside the state space.
    """
    size = z.size
    forced = target.size > 0
    members = 0
    n, s = 0.0, 0.0
    for i in range(size):
        if z[i]:
            members += 1
            n += numbers[i]
            s += sums[i]
    log_q = 0.0
    # the logarithms stay the same until an item changes sides, or cells are missing: kept for items that were out, and in
    seen, logs = [(-1, 0.0, 0.0), (-1, 0.0, 0.0)], [0.0, 0.0]
    for i in range(size):
        if i == pinned:
            continue
        if z[i]:
            members -= 1
            n -= numbers[i]
            s -= sums[i]
        weight = a + members
        if weight == 0.0:
            inside = True
            if forced and not target[i]:
                log_q = -np.inf
        else:
            out_precision = law.tau + n * law.tau0
            in_precision = out_precision + numbers[i] * law.tau0
            out_mean = law.tau * law.mu + law.tau0 * s
            in_mean = out_mean + law.tau0 * sums[i]
            was = 1 if z[i] else 0
            if seen[was] != (members, n, numbers[i]):
                seen[was] = members, n, numbers[i]
                logs[was] = math.log(weight / (b + size - 1 - members))
                logs[was] += 0.5 * math.log(out_precision / in_precision)
            odds = logs[was] + 0.5 * (in_mean * in_mean / in_precision - out_mean * out_mean / out_precision)
            inside = target[i] if forced else is_in(rng.random(), odds)
            if scored:
                signed = odds if inside else -odds
                log_q -= (
                    math.log1p(math.exp(-signed)) if signed > 0.0 else math.log1p(math.exp(signed)) - signed
                )
        z[i] = inside
        if inside:
            members += 1
            n += numbers[i]
            s += sums[i]
    return log_q, n, s


@njit(cache=True, nogil=True)
def scan_block(rng, cells, rows, columns, theta, phi, k, law, data_sums):
    """Gibbs pass over the rows, then the columns of block k, then its shift; all in place.

    ``theta_k ~ Normal((tau mu + tau0 S) / (tau + n tau0), 1 / (tau + n tau0))``. ``data_sums`` (N1,) are those of the rows
    over the block's columns, and used up. O(N1 m2 + N2 m1).
    """
    sums, numbers = residual_sums(cells, rows, columns, theta, phi, columns[k], k, data_sums)
    scan_side(rng, rows[k], sums, numbers, law.a1, law.b1, law, np.int64(-1), np.empty(0, np.bool_), False)
    sums, numbers = column_sums(cells, rows, columns, theta, phi, rows[k], k)
    theta[k] = scan_columns(rng, columns[k], sums, numbers, law)


@njit(cache=True, nogil=True)
def scan_columns(rng, z, sums, numbers, law):
    """Gibbs pass over the columns of a block, in place; a draw of its shift."""
    _, n, s = scan_side(
        rng, z, sums, numbers, law.a2, law.b2, law, np.int64(-1), np.empty(0, np.bool_), False
    )
    precision = law.tau + n * law.tau0
    return (law.tau * law.mu + law.tau0 * s) / precision + rng.standard_normal() / math.sqrt(precision)


@njit(cache=True, nogil=True)
def scan_blocks(rng, cells, rows, columns, theta, phi, order, law):
    """:func:`scan_block` for each block of ``order``; no scan changes the columns of another block, so one pass over the
    data sums them up for all."""
    if order.size == 0:
        return
    data_sums = picked_sums(cells, columns[order])
    for place in range(order.size):
        scan_block(rng, cells, rows, columns, theta, phi, order[place], law, data_sums[place])


@njit(cache=True, nogil=True)
def scan_new(rng, cells, rows, columns, theta, phi, z1, z2, law, pins, target1, target2, scored):
    """Rows, then columns of a block that is not among the ``rows, columns``; in place.

    ``pins`` holds the row and the column that stay in, or -1. Returns the log probability of the pass if it is ``scored``;
    with targets that are not empty it is made to end at them.
    """
    sums, numbers = row_sums(cells, rows, columns, theta, phi, z2, theta.size)
    log_q, _, _ = scan_side(rng, z1, sums, numbers, law.a1, law.b1, law, pins[0], target1, scored)
    sums, numbers = column_sums(cells, rows, columns, theta, phi, z1, theta.size)
    more, _, _ = scan_side(rng, z2, sums, numbers, law.a2, law.b2, law, pins[1], target2, scored)
    return log_q + more
