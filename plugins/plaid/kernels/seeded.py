"""Seeded birth and death on the space (block, one of its cells) (section 2.4)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.birth_death import one_item, residual_row
from plaidwork.plugins.plaid.kernels.blocks import append_row, append_statistics, drop_row, drop_statistics
from plaidwork.plugins.plaid.kernels.evidence import back_solve, factor, log_block, log_evidence, log_marginal
from plaidwork.plugins.plaid.kernels.scan import scan_new

WEIGHED_CELLS = 4096
"""Cells whose evidence is computed for one seed; larger matrices use a window of rows."""
LARGEST_LOG_WEIGHT = 30.0
LEAST_LOG_WEIGHT = -600.0
"""Against weights that are all 0, as next to an outlier."""


@njit(cache=True, nogil=True)
def window_rows(n_rows, n_columns):
    """How many rows a window holds."""
    return max(1, min(n_rows, WEIGHED_CELLS // n_columns))


@njit(cache=True, nogil=True)
def seed_weights(cells, rows, columns, theta, phi, law, first, size):
    """Evidence of each single cell of ``size`` rows from ``first`` on (cyclic), capped: (size, N2). With weights of cells that of the
    weighted residual as if it were of weight 1, which will do for a proposal."""
    n_rows, n_columns = cells.x.shape
    precision = law.tau + law.tau0
    pull, push = law.tau * law.mu / math.sqrt(2.0 * precision), law.tau0 / math.sqrt(2.0 * precision)
    constant = 0.5 * math.log(law.tau / precision) - log_evidence(0.0, 0.0, law)
    out = np.ones((size, n_columns))
    for i in range(size):
        row = (first + i) % n_rows
        residual = residual_row(cells, rows, columns, theta, phi, row)
        for j in range(n_columns):
            if cells.w[row, j]:
                gain = constant + (pull + push * residual[j]) ** 2
                out[i, j] = math.exp(max(min(gain, LARGEST_LOG_WEIGHT), LEAST_LOG_WEIGHT))
    return out


@njit(cache=True, nogil=True)
def draw_seed(rng, weights):
    """Position in the window: half uniform, half proportional to the weights."""
    size, n_columns = weights.shape
    if rng.random() < 0.5:
        return rng.integers(0, size), rng.integers(0, n_columns)
    u = rng.random() * weights.sum()
    last_i, last_j = size - 1, n_columns - 1
    for i in range(size):
        total = weights[i].sum()
        if u < total:
            for j in range(n_columns):
                u -= weights[i, j]
                if u < 0.0:
                    return i, j
            return i, last_j
        u -= total
    return last_i, last_j


@njit(cache=True, nogil=True)
def pinned_pass(rng, cells, rows, columns, theta, phi, law, pins, target1, target2):
    """Two launching scans from the cell ``pins``, which stays in, then the pass that is scored."""
    z1, z2 = one_item(cells.x.shape[0], pins[0]), one_item(cells.x.shape[1], pins[1])
    free = np.empty(0, np.bool_)
    for _ in range(2):
        scan_new(rng, cells, rows, columns, theta, phi, z1, z2, law, pins, free, free, False)
    log_q = scan_new(rng, cells, rows, columns, theta, phi, z1, z2, law, pins, target1, target2, True)
    return z1, z2, log_q


@njit(cache=True, nogil=True)
def pick_member(rng, z):
    """One of the items that are in, uniformly."""
    members = np.flatnonzero(z)
    return members[rng.integers(0, members.size)]


@njit(cache=True, nogil=True)
def seeded_birth_death(rng, cells, rows, columns, counts, sums, law):
    """Try to grow a block from one cell, or to remove one.

    ``log A(birth) = log M(Z+x) - log M(Z) + ltar(x) - log(K+1) - log(m1 m2) - log w_c - log q(x | c)``; death is
    minus the same. A large matrix is weighed in a window of rows that starts anywhere (birth) or anywhere
    so that it holds the cell (death); the two differ by the factor size / N1, which enters ``w_c``.

    Returns as :func:`~plaidwork.plugins.plaid.kernels.birth_death.birth_death`.
    """
    birth = rng.random() < 0.5
    n_blocks = rows.shape[0]
    if (birth and n_blocks >= law.max_blocks) or (not birth and n_blocks == 0):
        return rows, columns, counts, sums, False
    k = 0 if birth else rng.integers(0, n_blocks)
    rest_rows, rest_columns = (rows, columns) if birth else (drop_row(rows, k), drop_row(columns, k))
    rest_counts, rest_sums = (counts, sums) if birth else drop_statistics(counts, sums, k)
    chol, half = factor(rest_counts, rest_sums, law)
    mean = back_solve(chol, half)
    theta, phi = mean[1:], mean[0]
    n_rows, n_columns = cells.x.shape
    size = window_rows(n_rows, n_columns)
    if birth:
        first = rng.integers(0, n_rows)
        weights = seed_weights(cells, rest_rows, rest_columns, theta, phi, law, first, size)
        place, j = draw_seed(rng, weights)
        i = (first + place) % n_rows
        pins, free = np.array([i, j]), np.empty(0, np.bool_)
        z1, z2, log_q = pinned_pass(rng, cells, rows, columns, theta, phi, law, pins, free, free)
        more_counts, more_sums = append_statistics(cells, rows, columns, counts, sums, z1, z2)
    else:
        z1, z2 = rows[k].copy(), columns[k].copy()
        i, j = pick_member(rng, z1), pick_member(rng, z2)
        place = rng.integers(0, size)
        first = (i - place) % n_rows
        weights = seed_weights(cells, rest_rows, rest_columns, theta, phi, law, first, size)
        pins = np.array([i, j])
        _, _, log_q = pinned_pass(rng, cells, rest_rows, rest_columns, theta, phi, law, pins, z1, z2)
        more_counts, more_sums = counts, sums
    weight = (0.5 / weights.size + 0.5 * weights[place, j] / weights.sum()) * size / n_rows
    log_ratio = log_marginal(more_counts, more_sums, law) - log_marginal(rest_counts, rest_sums, law)
    log_ratio += log_block(law, z1, z2) - math.log(rest_rows.shape[0] + 1)
    log_ratio -= math.log(float(z1.sum()) * float(z2.sum())) + math.log(weight) + log_q
    if math.log(rng.random()) >= (log_ratio if birth else -log_ratio):
        return rows, columns, counts, sums, False
    if birth:
        return append_row(rows, z1), append_row(columns, z2), more_counts, more_sums, True
    return rest_rows, rest_columns, rest_counts, rest_sums, True
