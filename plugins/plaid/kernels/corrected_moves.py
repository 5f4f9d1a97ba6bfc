"""Moves of blocks that add in proportion to levels, those of the rows integrated out: passes, births and deaths, one to two and back.

As ``counts_moves`` and ``counts_pairs`` are of blocks that add the same to each cell. Of columns they are made on the matrix turned.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.birth_death import draw_subset, log_proposal, one_item
from plaidwork.plugins.plaid.kernels.blocks import append_row, drop_row
from plaidwork.plugins.plaid.kernels.corrected_evidence import (
    add_block,
    cover,
    fitted,
    gain_of_columns,
    gain_of_rows,
    level_at,
    log_change,
    log_row_of,
)
from plaidwork.plugins.plaid.kernels.counts_lines import step_level
from plaidwork.plugins.plaid.kernels.counts_moves import (
    PASS_STEPS,
    STEPS,
    appended,
    draw_gamma,
    dropped,
    log_gamma_density,
    log_seeds,
    pick_member,
    seed_of,
    unexplained,
    without_prior,
)
from plaidwork.plugins.plaid.kernels.counts_scan import LEAST, inside_block, scan_items
from plaidwork.plugins.plaid.kernels.evidence import log_block

LAUNCHES = (1, 2, 8)
"""Passes that end a launch, one of these by chance: few find small blocks; many grow a large one from the entries of a single row."""


@njit(cache=True, nogil=True)
def fit_level(given, mu, exposed, rows, columns, law, steps):
    """Shape and rate of the Gamma from which a block's level is proposed: EM over what of its events is the block's and over the
    levels of its rows. Always as many steps, so that the reverse can be scored."""
    places, _ = inside_block(given.entries, rows, columns)
    inside = cover(given, columns)
    theta, shape, rate = law.shape / law.rate, law.shape, law.rate
    for _ in range(steps):
        shape, rate = law.shape, law.rate
        for e in places:
            share = theta / (mu[e] + theta)
            if given.entries.links:
                i = given.entries.row[e]
                level = (
                    level_at(given, i, exposed[i] + theta * inside[i]) * given.across[given.entries.column[e]]
                )
                t = max(level * (mu[e] + theta), LEAST)
                share *= t / -math.expm1(-t)
            shape += given.entries.values[e] * share
        for i in range(rows.size):
            if rows[i]:
                rate += inside[i] * level_at(given, i, exposed[i] + theta * inside[i])
        theta = shape / rate
    return shape, rate


@njit(cache=True, nogil=True)
def level_of(given, mu, exposed, rows, columns, law):
    """The level of a block at which its members are drawn."""
    shape, rate = fit_level(given, mu, exposed, rows, columns, law, PASS_STEPS)
    return shape / rate


@njit(cache=True, nogil=True)
def pass_rows(rng, given, mu, exposed, rows, columns, theta, target):
    """Rows of a block drawn, or made to end at a ``target``, in place. Returns the log probability of the pass."""
    return scan_items(rng, rows, gain_of_rows(given, mu, exposed, columns, theta), target)


@njit(cache=True, nogil=True)
def pass_columns(rng, given, mu, exposed, rows, columns, theta, target):
    """:func:`pass_rows` of the columns."""
    return scan_items(rng, columns, gain_of_columns(given, mu, exposed, rows, columns, theta), target)


@njit(cache=True, nogil=True)
def pass_both(rng, given, mu, exposed, rows, columns, law, target_rows, target_columns):
    """Rows, then columns of a block, each at the level fitted before; in place. Returns the log probability of the pass."""
    theta = level_of(given, mu, exposed, rows, columns, law)
    log_q = pass_rows(rng, given, mu, exposed, rows, columns, theta, target_rows)
    theta = level_of(given, mu, exposed, rows, columns, law)
    return log_q + pass_columns(rng, given, mu, exposed, rows, columns, theta, target_columns)


@njit(cache=True, nogil=True)
def launch_from(rng, given, mu, base, exposed, within_rows, within_columns, law, by_row, i, j):
    """A block from the entries of row i (``by_row``) or of column j that no block explains, then passes. It depends on the other
    blocks and the region alone, so that it can be drawn afresh for a move and its reverse.

    The first level is the fitted one times a number between 1 and .05, as the cells it begins from were chosen for being
    above 0.
    """
    free = np.empty(0, np.bool_)
    rows, columns = one_item(within_rows.size, i), one_item(within_columns.size, j)
    lower, entries = math.exp(-3.0 * rng.random()), given.entries
    if by_row:
        columns |= unexplained(rng, entries, mu, base, entries.by_rows, i, columns.size) & within_columns
        theta = lower * level_of(given, mu, exposed, rows, columns, law)
    else:
        rows |= unexplained(rng, entries, mu, base, entries.by_columns, j, rows.size) & within_rows
        theta = lower * level_of(given, mu, exposed, rows, columns, law)
        pass_columns(rng, given, mu, exposed, rows, columns, theta, free)
        theta = level_of(given, mu, exposed, rows, columns, law)
    pass_rows(rng, given, mu, exposed, rows, columns, theta, free)
    theta = level_of(given, mu, exposed, rows, columns, law)
    pass_columns(rng, given, mu, exposed, rows, columns, theta, free)
    for _ in range(LAUNCHES[rng.integers(0, len(LAUNCHES))]):
        pass_both(rng, given, mu, exposed, rows, columns, law, free, free)
    return rows, columns


@njit(cache=True, nogil=True)
def launch(rng, given, mu, base, exposed, within_rows, within_columns, law):
    """:func:`launch_from` a random row or column of a region."""
    i, j = pick_member(rng, within_rows), pick_member(rng, within_columns)
    by_row = rng.random() < 0.5
    return launch_from(rng, given, mu, base, exposed, within_rows, within_columns, law, by_row, i, j)


@njit(cache=True, nogil=True)
def draw_block(rng, given, mu, exposed, rows, columns, law):
    """A block from the prior or from the launched ``rows, columns`` (overwritten), with its level and ``log q``."""
    free = np.empty(0, np.bool_)
    if rng.random() < law.prior_share:
        new_rows, new_columns = draw_subset(rng, rows.size), draw_subset(rng, columns.size)
        log_q = pass_both(rng, given, mu, exposed, rows, columns, law, new_rows, new_columns)
    else:
        log_q = pass_both(rng, given, mu, exposed, rows, columns, law, free, free)
        new_rows, new_columns = rows, columns
    if law.prior_share > 0.0:
        log_q = log_proposal(new_rows, new_columns, log_q, law.prior_share)
    shape, rate = fit_level(given, mu, exposed, new_rows, new_columns, law, STEPS)
    theta = draw_gamma(rng, shape, rate, 1e-300)
    return new_rows, new_columns, theta, log_q + log_gamma_density(theta, shape, rate)


@njit(cache=True, nogil=True)
def score_block(rng, given, mu, exposed, launched_rows, launched_columns, rows, columns, theta, law):
    """``log q`` of a block and its level, as :func:`draw_block` would make it from what was launched (overwritten)."""
    log_q = pass_both(rng, given, mu, exposed, launched_rows, launched_columns, law, rows, columns)
    if law.prior_share > 0.0:
        log_q = log_proposal(rows, columns, log_q, law.prior_share)
    shape, rate = fit_level(given, mu, exposed, rows, columns, law, STEPS)
    return log_q + log_gamma_density(theta, shape, rate)


@njit(cache=True, nogil=True)
def log_prior(rows, columns, theta, law):
    """Log prior weight of a block and its level."""
    return log_gamma_density(theta, law.shape, law.rate) + log_block(law, rows, columns)


@njit(cache=True, nogil=True)
def with_block(given, mu, base, exposed, rows, columns, theta):
    """``mu`` and exposures with a block more (less, of a negative ``theta``); those given are not written to."""
    mu, exposed = mu.copy(), exposed.copy()
    add_block(given, mu, base, exposed, rows, columns, theta)
    return mu, exposed


@njit(cache=True, nogil=True)
def scan_rows(rng, given, mu, base, exposed, rows, columns, theta, levels, law):
    """Pass over the rows of a block, in place, then a step of its level: both with the rows' levels integrated out, or drawn anew.

    ``mu`` and ``exposed`` are those of all blocks, before and after; ``levels`` (N1,) are written to. Returns the block's level.
    """
    if given.entries.links:
        turn_rows(rng, given, mu, base, exposed, rows, columns, theta, levels)
    add_block(given, mu, base, exposed, rows, columns, -theta)
    if not given.entries.links:
        pass_rows(rng, given, mu, exposed, rows, columns, theta, np.empty(0, np.bool_))
    other = step_level(rng, theta)
    log_ratio = law.shape * math.log(other / theta) - law.rate * (other - theta)
    mu_now, now = with_block(given, mu, base, exposed, rows, columns, theta)
    mu_then, then = with_block(given, mu, base, exposed, rows, columns, other)
    change, after = log_change(rng, given, mu_now, now, mu_then, then, rows, levels)
    if math.log(rng.random()) < log_ratio + change:
        theta = other
        levels[:] = after
    add_block(given, mu, base, exposed, rows, columns, theta)
    return theta


@njit(cache=True, nogil=True)
def turn_rows(rng, given, mu, base, exposed, rows, columns, theta, levels):
    """One pass over the rows of a block of links: each is tried on the other side, with a new level. All in place.

    ``log A = log odds + log p(x_i, u', z') - log p(x_i, u, z) + log q(u | z) - log q(u' | z')``, odds of being in m / (N - m) with m other
    members; q as of :func:`~plaidwork.plugins.plaid.kernels.corrected_evidence.log_rows`. The last member stays in.
    """
    inside, side, members = cover(given, columns), given.entries.by_rows, rows.sum()
    new_mu, new_exposed = mu.copy(), exposed.copy()
    for i in range(rows.size):
        others = members - rows[i]
        if others == 0:
            continue
        sign = -1.0 if rows[i] else 1.0
        for p in range(side.start[i], side.start[i + 1]):
            e = side.order[p]
            new_mu[e] = max(mu[e] + sign * theta, base[e]) if columns[side.item[p]] else mu[e]
        new_exposed[i] = max(exposed[i] + sign * theta * inside[i], 0.0)
        now, _ = log_row_of(rng, given, mu, exposed, i, levels[i], False)
        then, new = log_row_of(rng, given, new_mu, new_exposed, i, levels[i], True)
        log_odds = sign * math.log(others / (rows.size - others))
        if not math.log(rng.random()) < log_odds + then - now:
            continue
        rows[i], levels[i], exposed[i], members = not rows[i], new, new_exposed[i], others + (sign > 0.0)
        for p in range(side.start[i], side.start[i + 1]):
            mu[side.order[p]] = new_mu[side.order[p]]


@njit(cache=True, nogil=True)
def birth_death(rng, given, mu, base, exposed, rows, columns, theta, levels, law, seeded):
    """Try to add a block, or to remove one; as ``counts_moves.birth_death``, to which it owes its ratio.

    Returns
    -------
    exposed, rows, columns, theta, levels : afterwards (the old arrays are not written to)
    accepted : bool
    """
    birth, n_blocks = rng.random() < 0.5, theta.size
    same = (exposed, rows, columns, theta, levels, False)
    if (birth and n_blocks >= law.max_blocks) or (not birth and n_blocks == 0):
        return same
    mu_rest, rest, k = mu, exposed, 0
    if not birth:
        k = rng.integers(0, n_blocks)
        mu_rest, rest = with_block(given, mu, base, exposed, rows[k], columns[k], -theta[k])
    given = fitted(given, mu_rest, rest)
    all_rows, all_columns = np.ones(rows.shape[1], np.bool_), np.ones(columns.shape[1], np.bool_)
    by_row, i, j = False, 0, 0
    if seeded:
        law = without_prior(law)
        by_row, i, j = seed_of(rng, rows, columns, -1 if birth else k)
        z1, z2 = launch_from(rng, given, mu_rest, base, rest, all_rows, all_columns, law, by_row, i, j)
    else:
        z1, z2 = launch(rng, given, mu_rest, base, rest, all_rows, all_columns, law)
    if birth:
        z1, z2, level, log_q = draw_block(rng, given, mu_rest, rest, z1, z2, law)
        new_mu, after = with_block(given, mu, base, exposed, z1, z2, level)
    else:
        level = theta[k]
        log_q = score_block(rng, given, mu_rest, rest, z1, z2, rows[k], columns[k], level, law)
        z1, z2, new_mu, after = rows[k], columns[k], mu_rest, rest
    log_weight = log_prior(z1, z2, level, law) - log_q - math.log(n_blocks + 1.0 if birth else n_blocks)
    if seeded:
        log_weight -= log_seeds(z1, z2, by_row, i, j)
    change, drawn = log_change(rng, given, mu, exposed, new_mu, after, z1, levels)
    if not math.log(rng.random()) < (log_weight if birth else -log_weight) + change:
        return same
    if birth:
        return after, append_row(rows, z1), append_row(columns, z2), appended(theta, level), drawn, True
    return after, drop_row(rows, k), drop_row(columns, k), dropped(theta, k), drawn, True


@njit(cache=True, nogil=True)
def split_block(rng, given, mu, base, exposed, rows, columns, theta, levels, law):
    """Try to put two blocks in the place of one; as ``counts_pairs.split_block``. Returns as :func:`birth_death`."""
    n_blocks = theta.size
    k = rng.integers(0, n_blocks)
    mu_rest, rest = with_block(given, mu, base, exposed, rows[k], columns[k], -theta[k])
    given = fitted(given, mu_rest, rest)
    z1, z2 = launch(rng, given, mu_rest, base, rest, rows[k], columns[k], law)
    x1, x2, x, log_q = draw_block(rng, given, mu_rest, rest, z1, z2, law)
    more, with_x = with_block(given, mu_rest, base, rest, x1, x2, x)
    z1, z2 = launch(rng, given, more, base, with_x, rows[k], columns[k], law)
    y1, y2, y, log_other = draw_block(rng, given, more, with_x, z1, z2, law)
    new_mu, after = with_block(given, more, base, with_x, y1, y2, y)
    log_ratio = score_block(rng, given, mu_rest, rest, x1 | y1, x2 | y2, rows[k], columns[k], theta[k], law)
    change, drawn = log_change(rng, given, mu, exposed, new_mu, after, x1 | y1 | rows[k], levels)
    log_ratio += log_prior(x1, x2, x, law) + log_prior(y1, y2, y, law) + change
    log_ratio -= log_prior(rows[k], columns[k], theta[k], law) + log_q + log_other + math.log(n_blocks + 1.0)
    if not math.log(rng.random()) < log_ratio:
        return exposed, rows, columns, theta, levels, False
    rows, columns, theta = rows.copy(), columns.copy(), theta.copy()
    rows[k], columns[k], theta[k] = x1, x2, x
    return after, append_row(rows, y1), append_row(columns, y2), appended(theta, y), drawn, True


@njit(cache=True, nogil=True)
def merge_blocks(rng, given, mu, base, exposed, rows, columns, theta, levels, law):
    """Try to put one block in the place of an ordered pair: the reverse of :func:`split_block`, scored alike."""
    n_blocks = theta.size
    first, second = rng.integers(0, n_blocks), rng.integers(0, n_blocks - 1)
    second += second >= first
    x1, x2, x, y1, y2, y = (
        rows[first],
        columns[first],
        theta[first],
        rows[second],
        columns[second],
        theta[second],
    )
    more, with_x = with_block(given, mu, base, exposed, y1, y2, -y)
    mu_rest, rest = with_block(given, more, base, with_x, x1, x2, -x)
    given = fitted(given, mu_rest, rest)
    k1, k2, k, log_q = draw_block(rng, given, mu_rest, rest, x1 | y1, x2 | y2, law)
    z1, z2 = launch(rng, given, mu_rest, base, rest, k1, k2, law)
    log_back = score_block(rng, given, mu_rest, rest, z1, z2, x1, x2, x, law)
    z1, z2 = launch(rng, given, more, base, with_x, k1, k2, law)
    log_back += score_block(rng, given, more, with_x, z1, z2, y1, y2, y, law)
    new_mu, after = with_block(given, mu_rest, base, rest, k1, k2, k)
    change, drawn = log_change(rng, given, mu, exposed, new_mu, after, x1 | y1 | k1, levels)
    log_ratio = log_prior(k1, k2, k, law) - log_q + log_back + math.log(float(n_blocks)) + change
    log_ratio -= log_prior(x1, x2, x, law) + log_prior(y1, y2, y, law)
    if not math.log(rng.random()) < log_ratio:
        return exposed, rows, columns, theta, levels, False
    rows, columns, theta = rows.copy(), columns.copy(), theta.copy()
    rows[first], columns[first], theta[first] = k1, k2, k
    return after, drop_row(rows, second), drop_row(columns, second), dropped(theta, second), drawn, True


@njit(cache=True, nogil=True)
def one_to_two(rng, given, mu, base, exposed, rows, columns, theta, levels, law):
    """One block becomes two, or two one, by a coin; returns as :func:`birth_death`."""
    split, n_blocks = rng.random() < 0.5, theta.size
    if split and 0 < n_blocks < law.max_blocks:
        return split_block(rng, given, mu, base, exposed, rows, columns, theta, levels, law)
    if not split and n_blocks > 1:
        return merge_blocks(rng, given, mu, base, exposed, rows, columns, theta, levels, law)
    return exposed, rows, columns, theta, levels, False
