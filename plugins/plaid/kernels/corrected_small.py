"""Births and deaths of small blocks that add in proportion to levels, the rows' levels integrated out: many of them cost next to nothing.

Small blocks that fit chance belong to the posterior, and how many there are moves as fast as they come and go. Most are a few cells as
the prior has them, or a part of a single row; neither needs a launch.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.birth_death import draw_subset, harmonic, one_item
from plaidwork.plugins.plaid.kernels.blocks import append_row, drop_row
from plaidwork.plugins.plaid.kernels.corrected_evidence import fitted_at, log_change
from plaidwork.plugins.plaid.kernels.corrected_moves import (
    fit_level,
    level_of,
    log_prior,
    pass_columns,
    with_block,
)
from plaidwork.plugins.plaid.kernels.counts_moves import (
    STEPS,
    appended,
    draw_gamma,
    dropped,
    log_gamma_density,
    unexplained,
)
from plaidwork.plugins.plaid.kernels.evidence import log_subset


@njit(cache=True, nogil=True)
def launch_line(rng, given, mu, base, exposed, i, size, law, target):
    """The columns of a block of row i alone, begun from those of its entries that no block explains, in two passes; the second is
    made to end at a ``target`` that is not empty. Returns them and the log probability of the second pass."""
    free = np.empty(0, np.bool_)
    rows, columns = one_item(exposed.size, i), np.zeros(size, np.bool_)
    columns[rng.integers(0, size)] = True
    columns |= unexplained(rng, given.entries, mu, base, given.entries.by_rows, i, size)
    theta = math.exp(-3.0 * rng.random()) * level_of(given, mu, exposed, rows, columns, law)
    pass_columns(rng, given, mu, exposed, rows, columns, theta, free)
    theta = level_of(given, mu, exposed, rows, columns, law)
    log_q = pass_columns(rng, given, mu, exposed, rows, columns, theta, target)
    return columns, log_q


@njit(cache=True, nogil=True)
def log_prior_sides(rows, columns):
    """Log of the chance that both sides of a block are drawn from their prior."""
    found = log_subset(rows.size, rows.sum()) + log_subset(columns.size, columns.sum())
    return found - math.log(harmonic(rows.size) * harmonic(columns.size))


@njit(cache=True, nogil=True)
def small_birth_death(rng, given, mu, base, exposed, rows, columns, theta, levels, law, line):
    """Try to add a block, or to remove one: of a single random row when ``line``, otherwise with sides drawn from the prior.

    The ratio is that of ``corrected_moves.birth_death``; a block of more rows than one is no block of a ``line``. Returns ``mu`` and
    what that returns.
    """
    birth, n_blocks, k = rng.random() < 0.5, theta.size, 0
    same = (mu, exposed, rows, columns, theta, levels, False)
    if (birth and n_blocks >= law.max_blocks) or (not birth and n_blocks == 0):
        return same
    mu_rest, rest = mu, exposed
    if not birth:
        k = rng.integers(0, n_blocks)
        if line and rows[k].sum() != 1:
            return same
        mu_rest, rest = with_block(given, mu, base, exposed, rows[k], columns[k], -theta[k])
    n_rows, n_columns = rows.shape[1], columns.shape[1]
    if line:
        i = rng.integers(0, n_rows) if birth else np.argmax(rows[k])
        target = np.empty(0, np.bool_) if birth else columns[k]
        z1 = one_item(n_rows, i)
        given = fitted_at(given, mu_rest, rest, z1)
        z2, log_q = launch_line(rng, given, mu_rest, base, rest, i, n_columns, law, target)
        log_q -= math.log(n_rows)
    else:
        z1, z2 = (draw_subset(rng, n_rows), draw_subset(rng, n_columns)) if birth else (rows[k], columns[k])
        given = fitted_at(given, mu_rest, rest, z1)
        log_q = log_prior_sides(z1, z2)
    shape, rate = fit_level(given, mu_rest, rest, z1, z2, law, STEPS)
    level = draw_gamma(rng, shape, rate, 1e-300) if birth else theta[k]
    log_weight = log_prior(z1, z2, level, law) - log_q - log_gamma_density(level, shape, rate)
    log_weight -= math.log(n_blocks + 1.0 if birth else n_blocks)
    new_mu, after = mu_rest, rest
    if birth:
        new_mu, after = with_block(given, mu, base, exposed, z1, z2, level)
    change, drawn = log_change(rng, given, mu, exposed, new_mu, after, z1, levels)
    if not math.log(rng.random()) < (log_weight if birth else -log_weight) + change:
        return same
    if birth:
        rows, columns, theta = append_row(rows, z1), append_row(columns, z2), appended(theta, level)
        return new_mu, after, rows, columns, theta, drawn, True
    return new_mu, after, drop_row(rows, k), drop_row(columns, k), dropped(theta, k), drawn, True
