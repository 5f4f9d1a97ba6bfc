"""Rows and columns drawn into several blocks at once, given the blocks' shifts: what single entries cannot do.

A column that belongs to two blocks with opposite shifts, or to none of them, cannot go from one to the other by way of a single
block. Here an item's entries in some blocks are drawn together from all their combinations (a blocked Gibbs update).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.blocks import overlap
from plaidwork.plugins.plaid.kernels.scan import column_sums, row_sums


@njit(cache=True, nogil=True)
def shared_across(cells, across, by_rows, item, first, second):
    """Observed cells of an item that two blocks share: ``across`` (K, N) are their members on the other side."""
    if cells.full:
        return float(overlap(across[first], across[second]))
    total = 0.0
    for p in range(across.shape[1]):
        if across[first, p] and across[second, p]:
            total += cells.w[item, p] if by_rows else cells.w[p, item]
    return total


@njit(cache=True, nogil=True)
def draw_item(rng, z, chosen, item, members, linear, shared, a, b):
    """Draw the entries ``z[chosen, item]`` from their joint conditional, in place; ``members`` (T,) without them, kept so.

    Parameters
    ----------
    linear : (T,) ``tau0 theta_c sum of the residuals``
    shared : (T, T) ``tau0 theta_c theta_d times the cells shared``
    a, b : prior odds, see ``Law``; with ``a = 0`` the last entry left in stays in
    """
    size, n = chosen.size, z.shape[1]
    odds = np.empty(size)
    for c in range(size):
        weight = a + members[c]
        odds[c] = math.log(weight / (b + n - 1.0 - members[c])) if weight > 0.0 else 1e9
        odds[c] += linear[c] - 0.5 * shared[c, c]
    log_p = np.zeros(1 << size)
    for combination in range(1, 1 << size):
        low = 0
        while not (combination >> low) & 1:
            low += 1
        rest = combination & (combination - 1)
        value = log_p[rest] + odds[low]
        for c in range(low + 1, size):
            if (rest >> c) & 1:
                value -= shared[low, c]
        log_p[combination] = value
    log_p = np.exp(log_p - log_p.max())
    left, drawn = rng.random() * log_p.sum(), 0
    while drawn < log_p.size - 1 and left >= log_p[drawn]:
        left -= log_p[drawn]
        drawn += 1
    for c in range(size):
        z[chosen[c], item] = (drawn >> c) & 1


@njit(cache=True, nogil=True)
def scan_items_together(rng, cells, rows, columns, theta, phi, chosen, law, by_rows):
    """All rows (or columns) in random positions of the ``chosen`` blocks, one item after the other; in place."""
    side, across = (rows, columns) if by_rows else (columns, rows)
    others = side.copy()
    for k in chosen:
        others[k] = False
    size = chosen.size
    linear, shared = np.empty((size, side.shape[1])), np.zeros((size, size))
    for c in range(size):
        k = chosen[c]
        if by_rows:
            sums, _ = row_sums(cells, others, columns, theta, phi, columns[k], theta.size)
        else:
            sums, _ = column_sums(cells, rows, others, theta, phi, rows[k], theta.size)
        linear[c] = law.tau0 * theta[k] * sums
    draw_items(rng, cells, side, across, theta, chosen, linear, shared, law, by_rows)


@njit(cache=True, nogil=True)
def draw_items(rng, cells, side, across, theta, chosen, linear, shared, law, by_rows):
    """:func:`draw_item` for one item after the other; ``linear`` (T, N) are those of all, ``shared`` is written to."""
    a, b = (law.a1, law.b1) if by_rows else (law.a2, law.b2)
    size = chosen.size
    members = np.empty(size)
    for c in range(size):
        members[c] = side[chosen[c]].sum()
    for item in range(side.shape[1]):
        if item == 0 or not cells.full:
            for c in range(size):
                for d in range(c, size):
                    both = shared_across(cells, across, by_rows, item, chosen[c], chosen[d])
                    shared[c, d] = law.tau0 * theta[chosen[c]] * theta[chosen[d]] * both
        for c in range(size):
            members[c] -= side[chosen[c], item]
        draw_item(rng, side, chosen, item, members, linear[:, item], shared, a, b)
        for c in range(size):
            members[c] += side[chosen[c], item]


@njit(cache=True, nogil=True)
def joint_scan(rng, cells, rows, columns, theta, phi, together, law):
    """Rows, then columns, drawn into ``together`` blocks at once, picked at random; in place. Shifts stay.

    O(N1 m2 + N2 m1) for each of the blocks, and 2^together for each row and column.
    """
    if theta.size == 0 or together == 0:
        return
    chosen = rng.permutation(theta.size)[:together]
    scan_items_together(rng, cells, rows, columns, theta, phi, chosen, law, True)
    scan_items_together(rng, cells, rows, columns, theta, phi, chosen, law, False)
