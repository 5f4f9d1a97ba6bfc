"""Birth and death of whole blocks (section 2.3): half prior, half a launch from the residual."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.blocks import append_row, append_statistics, drop_row, drop_statistics
from plaidwork.plugins.plaid.kernels.evidence import back_solve, factor, log_block, log_marginal, log_subset
from plaidwork.plugins.plaid.kernels.scan import column_sums, scan_new, scan_side


@njit(cache=True, nogil=True)
def draw_subset(rng, n):
    """A subset of n items with P(size m) = 1 / (m H_n), uniform within a size."""
    total = 0.0
    for m in range(1, n + 1):
        total += 1.0 / m
    u = rng.random() * total
    size = 1
    u -= 1.0
    while u > 0.0 and size < n:
        size += 1
        u -= 1.0 / size
    z = np.zeros(n, np.bool_)
    left = size
    for i in range(n):
        if rng.random() * (n - i) < left:
            z[i] = True
            left -= 1
    return z


@njit(cache=True, nogil=True)
def harmonic(n):
    """``H_n``."""
    total = 0.0
    for i in range(1, n + 1):
        total += 1.0 / i
    return total


@njit(cache=True, nogil=True)
def residual_row(cells, rows, columns, theta, phi, i):
    """Row i of the residual, 0 where not observed."""
    out = cells.x[i] - (cells.centre + phi)
    for k in range(theta.size):
        if rows[k, i]:
            out -= theta[k] * columns[k]
    return out * cells.w[i]


@njit(cache=True, nogil=True)
def residual_column(cells, rows, columns, theta, phi, j):
    """Column j of the residual, 0 where not observed."""
    out = cells.x[:, j] - (cells.centre + phi)
    for k in range(theta.size):
        if columns[k, j]:
            out -= theta[k] * rows[k]
    return out * cells.w[:, j]


@njit(cache=True, nogil=True)
def one_item(n, i):
    """A membership that holds item i alone."""
    z = np.zeros(n, np.bool_)
    z[i] = True
    return z


@njit(cache=True, nogil=True)
def one_sign(rng, residual, i):
    """The items whose residual has one sign, drawn by a coin, and item i."""
    z = residual > 0.0 if rng.random() < 0.5 else residual < 0.0
    z[i] = True
    return z


@njit(cache=True, nogil=True)
def launch(rng, cells, rows, columns, theta, phi, law):
    """A random state from the residual of the given blocks: a row's or a column's signs, then two scans.

    It depends on the given blocks only, so that it can be drawn afresh for birth and for death.
    """
    n_rows, n_columns = cells.x.shape
    free, pins = np.empty(0, np.bool_), np.full(2, -1)
    i, j = rng.integers(0, n_rows), rng.integers(0, n_columns)
    z1, z2 = one_item(n_rows, i), one_item(n_columns, j)
    if rng.random() < 0.5:
        z2 = one_sign(rng, residual_row(cells, rows, columns, theta, phi, i), j)
    else:
        z1 = one_sign(rng, residual_column(cells, rows, columns, theta, phi, j), i)
        sums, numbers = column_sums(cells, rows, columns, theta, phi, z1, theta.size)
        scan_side(rng, z2, sums, numbers, law.a2, law.b2, law, pins[1], free, False)
    for _ in range(2):
        scan_new(rng, cells, rows, columns, theta, phi, z1, z2, law, pins, free, free, False)
    return z1, z2


@njit(cache=True, nogil=True)
def log_proposal(z1, z2, log_q, prior_share):
    """``log q(x | Z)`` of the mixture of the prior and the launch that gave ``log_q``."""
    prior = math.log(prior_share) + log_subset(z1.size, z1.sum()) + log_subset(z2.size, z2.sum())
    prior -= math.log(harmonic(z1.size) * harmonic(z2.size))
    return np.logaddexp(prior, math.log1p(-prior_share) + log_q)


@njit(cache=True, nogil=True)
def propose_block(rng, cells, rows, columns, theta, phi, law, prior_share):
    """A new block and its ``log q``."""
    z1, z2 = launch(rng, cells, rows, columns, theta, phi, law)
    free, pins = np.empty(0, np.bool_), np.full(2, -1)
    if rng.random() < prior_share:
        z1_new, z2_new = draw_subset(rng, z1.size), draw_subset(rng, z2.size)
        log_q = scan_new(rng, cells, rows, columns, theta, phi, z1, z2, law, pins, z1_new, z2_new, True)
    else:
        log_q = scan_new(rng, cells, rows, columns, theta, phi, z1, z2, law, pins, free, free, True)
        z1_new, z2_new = z1, z2
    return z1_new, z2_new, log_proposal(z1_new, z2_new, log_q, prior_share)


@njit(cache=True, nogil=True)
def birth_death(rng, cells, rows, columns, counts, sums, law, prior_share):
    """Try to add a block, or to remove one.

    ``log A(birth) = log M(Z+x) - log M(Z) + ltar(x) - log(K+1) - log q(x | Z)``; death is minus the same.

    Returns
    -------
    rows, columns, counts, sums : the memberships and statistics afterwards (the old arrays are not written to)
    accepted : bool
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
    if birth:
        z1, z2, log_q = propose_block(
            rng, cells, rest_rows, rest_columns, mean[1:], mean[0], law, prior_share
        )
        more_counts, more_sums = append_statistics(cells, rows, columns, counts, sums, z1, z2)
    else:
        z1, z2 = rows[k].copy(), columns[k].copy()
        y1, y2 = launch(rng, cells, rest_rows, rest_columns, mean[1:], mean[0], law)
        log_q = scan_new(
            rng, cells, rest_rows, rest_columns, mean[1:], mean[0], y1, y2, law, np.full(2, -1), z1, z2, True
        )
        log_q = log_proposal(z1, z2, log_q, prior_share)
        more_counts, more_sums = counts, sums
    log_ratio = log_marginal(more_counts, more_sums, law) - log_marginal(rest_counts, rest_sums, law)
    log_ratio += log_block(law, z1, z2) - math.log(rest_rows.shape[0] + 1) - log_q
    if math.log(rng.random()) >= (log_ratio if birth else -log_ratio):
        return rows, columns, counts, sums, False
    if birth:
        return append_row(rows, z1), append_row(columns, z2), more_counts, more_sums, True
    return rest_rows, rest_columns, rest_counts, rest_sums, True
