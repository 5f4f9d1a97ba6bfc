"""Gibbs scans of one block's memberships, its shift integrated out (section 2.1, eqs. 1-3 of the seed)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.blocks import overlap


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def _picked_sum(row, chosen):
    total = 0.0
    for c in chosen:
        total += row[c]
    return total


@njit(cache=True, nogil=True)
def picked_sums(cells, picked):
    """Sums of the data of each row over the columns of each of ``picked`` (B, N2) bool: (B, N1); not over missing cells.

    A row is read once for all of them: what is read does not grow with B while a row stays in the cache.
    """
    found = np.empty((len(picked), cells.x.shape[0]))
    places, ends = np.empty(picked.size, np.int64), np.zeros(len(picked) + 1, np.int64)
    for q in range(len(picked)):
        chosen = np.flatnonzero(picked[q])
        ends[q + 1] = ends[q] + chosen.size
        places[ends[q] : ends[q + 1]] = chosen
    for i in range(cells.x.shape[0]):
        for q in range(len(picked)):
            found[q, i] = _picked_sum(cells.x[i], places[ends[q] : ends[q + 1]])
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
    sums = picked_sums(cells, picked.reshape((1, picked.size)))[0]
    return residual_sums(cells, rows, columns, theta, phi, picked, skip, sums)


@njit(cache=True, nogil=True)
def residual_sums(cells, rows, columns, theta, phi, picked, skip, sums):
    """As :func:`row_sums`, from the ``sums`` of the data over the columns ``picked``, in place."""
    chosen = np.flatnonzero(picked)
    n_rows = cells.x.shape[0]
    numbers = np.full(n_rows, float(chosen.size))
    level = cells.centre + phi
    for i in range(n_rows):
        if not cells.full:
            count = 0
            for c in chosen:
                count += cells.w[i, c]
            numbers[i] = count
        sums[i] -= level * numbers[i]
    for k in range(theta.size):
        shared = overlap(picked, columns[k]) if k != skip else 0
        if shared == 0:
            continue
        common = np.flatnonzero(picked & columns[k])
        for i in range(n_rows):
            if rows[k, i]:
                count = shared
                if not cells.full:
                    count = 0
                    for c in common:
                        count += cells.w[i, c]
                sums[i] -= theta[k] * count
    return sums, numbers


@njit(cache=True, nogil=True)
def column_sums(cells, rows, columns, theta, phi, picked, skip):
    """As :func:`row_sums` for the columns, summed over the rows ``picked``. O(N2 m1)."""
    chosen = np.flatnonzero(picked)
    n_columns = cells.x.shape[1]
    sums, numbers = np.zeros(n_columns), np.zeros(n_columns)
    for i in chosen:
        for j in range(n_columns):
            sums[j] += cells.x[i, j]
        if not cells.full:
            for j in range(n_columns):
                numbers[j] += cells.w[i, j]
    if cells.full:
        numbers[:] = chosen.size
    level = cells.centre + phi
    for j in range(n_columns):
        sums[j] -= level * numbers[j]
    for k in range(theta.size):
        shared = overlap(picked, rows[k]) if k != skip else 0
        if shared == 0:
            continue
        if cells.full:
            for j in range(n_columns):
                sums[j] -= theta[k] * shared * columns[k, j]
        else:
            for i in np.flatnonzero(picked & rows[k]):
                for j in range(n_columns):
                    sums[j] -= theta[k] * (columns[k, j] & cells.w[i, j])
    return sums, numbers


@njit(cache=True, nogil=True)
def scan_side(rng, z, sums, numbers, a, b, law, pinned, target):
    """One pass over the entries of one side of a block, in place.

    Parameters
    ----------
    z : (N,) bool, overwritten
    sums, numbers : (N,) of :func:`row_sums` or :func:`column_sums`
    a, b : prior odds, see ``Law``
    pinned : entry that stays in, or -1
    target : entries are set to these (N,) instead of drawn; empty when they are drawn

    Returns
    -------
    log_q : log probability of the pass as made
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
            odds = math.log(weight / (b + size - 1 - members)) + 0.5 * math.log(out_precision / in_precision)
            odds += 0.5 * (in_mean * in_mean / in_precision - out_mean * out_mean / out_precision)
            inside = target[i] if forced else rng.random() * (1.0 + math.exp(min(-odds, 700.0))) < 1.0
            signed = odds if inside else -odds
            log_q -= math.log1p(math.exp(-signed)) if signed > 0.0 else math.log1p(math.exp(signed)) - signed
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
    free = np.empty(0, np.bool_)
    nobody = np.int64(-1)
    sums, numbers = residual_sums(cells, rows, columns, theta, phi, columns[k], k, data_sums)
    scan_side(rng, rows[k], sums, numbers, law.a1, law.b1, law, nobody, free)
    sums, numbers = column_sums(cells, rows, columns, theta, phi, rows[k], k)
    _, n, s = scan_side(rng, columns[k], sums, numbers, law.a2, law.b2, law, nobody, free)
    precision = law.tau + n * law.tau0
    theta[k] = (law.tau * law.mu + law.tau0 * s) / precision + rng.standard_normal() / math.sqrt(precision)


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
def scan_new(rng, cells, rows, columns, theta, phi, z1, z2, law, pins, target1, target2):
    """Rows, then columns of a block that is not among the ``rows, columns``; in place.

    ``pins`` holds the row and the column that stay in, or -1. Returns the log probability of the pass;
    with targets that are not empty it is made to end at them.
    """
    sums, numbers = row_sums(cells, rows, columns, theta, phi, z2, theta.size)
    log_q, _, _ = scan_side(rng, z1, sums, numbers, law.a1, law.b1, law, pins[0], target1)
    sums, numbers = column_sums(cells, rows, columns, theta, phi, z1, theta.size)
    more, _, _ = scan_side(rng, z2, sums, numbers, law.a2, law.b2, law, pins[1], target2)
    return log_q + more
