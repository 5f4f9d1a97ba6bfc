"""Births and deaths of blocks of counts or links: a launch from entries that no block explains, scored afresh either way."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.birth_death import draw_subset, log_proposal, one_item
from plaidwork.plugins.plaid.kernels.blocks import append_row, drop_row
from plaidwork.plugins.plaid.kernels.counts_records import CountLaw
from plaidwork.plugins.plaid.kernels.counts_scan import (
    add_level,
    added_up,
    evidence,
    inside_block,
    log_gain,
    scan_items,
)
from plaidwork.plugins.plaid.kernels.evidence import log_block

STEPS, PASS_STEPS = 8, 3
"""Steps of the fit of a level that is proposed, and of one at which members are: few and always as many, so that the reverse
can be scored."""


@njit(cache=True, nogil=True)
def fit_level(entries, rest, inside, area, law, steps):
    """Shape and rate of the Gamma from which a block's level is proposed: EM over what of its entries is the block's.

    ``inside`` (n,) are its entries, ``area`` its observed cells, ``rest`` the rates without it. A link stands for
    ``rate / (1 - exp(-rate))`` events.
    """
    theta = law.shape / law.rate
    shape, rate = law.shape, law.rate + area
    terms = np.empty(inside.size)
    for _ in range(steps):
        block_share(entries, rest, inside, theta, terms, 0, inside.size)
        shape = law.shape + added_up(terms, 0.0)
        theta = shape / rate
    return shape, rate


@njit(cache=True, nogil=True)
def block_share(entries, rest, inside, theta, terms, lo, hi):
    """What of entries ``inside[lo:hi]`` is expected to be the block's, into ``terms`` (n,)."""
    for p in range(lo, hi):
        e = inside[p]
        total = rest[e] + theta
        terms[p] = theta / -math.expm1(-total) if entries.links else entries.values[e] * theta / total


@njit(cache=True, nogil=True)
def level_of(entries, rest, rows, columns, law):
    """The level of a block at which its members are drawn."""
    inside, area = inside_block(entries, rows, columns)
    shape, rate = fit_level(entries, rest, inside, area, law, PASS_STEPS)
    return shape / rate


@njit(cache=True, nogil=True)
def log_gamma_density(x, shape, rate):
    return shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * math.log(x) - rate * x


@njit(cache=True, nogil=True)
def draw_gamma(rng, shape, rate, least):
    """A Gamma number, no less than ``least``."""
    return max(rng.standard_gamma(shape) / rate, least)


@njit(cache=True, nogil=True)
def pass_both(rng, entries, rest, rows, columns, law, target_rows, target_columns):
    """Rows, then columns of a block, each at the level fitted before; in place. Returns the log probability of the pass."""
    theta = level_of(entries, rest, rows, columns, law)
    gain = evidence(entries, entries.by_columns, rest, columns, theta, rows.size)
    log_q = scan_items(rng, rows, gain, target_rows)
    theta = level_of(entries, rest, rows, columns, law)
    gain = evidence(entries, entries.by_rows, rest, rows, theta, columns.size)
    return log_q + scan_items(rng, columns, gain, target_columns)


@njit(cache=True, nogil=True)
def unexplained(rng, entries, rest, base, side, item, size):
    """Items across whose entries with one item no block explains, by chance in proportion: (size,) bool."""
    found = np.zeros(size, np.bool_)
    for p in range(side.start[item], side.start[item + 1]):
        e = side.order[p]
        found[side.item[p]] = rng.random() * rest[e] <= base[e]
    return found


@njit(cache=True, nogil=True)
def pick_member(rng, z):
    """A member, uniformly."""
    members = np.flatnonzero(z)
    return members[rng.integers(0, members.size)]


@njit(cache=True, nogil=True)
def launch(rng, entries, rest, base, within_rows, within_columns, law):
    """A random block from one row or one column of a region, then two passes.

    It depends on the other blocks and the region only, so that it can be drawn afresh for a move and its reverse.
    """
    i, j = pick_member(rng, within_rows), pick_member(rng, within_columns)
    by_row = rng.random() < 0.5
    return launch_from(rng, entries, rest, base, within_rows, within_columns, law, by_row, i, j)


@njit(cache=True, nogil=True)
def launch_from(rng, entries, rest, base, within_rows, within_columns, law, by_row, i, j):
    """:func:`launch` from row i (``by_row``) or from column j.

    The first level is the fitted one times a number between 1 and .05, as the cells it begins from were chosen for being
    above 0.
    """
    free = np.empty(0, np.bool_)
    rows, columns = one_item(within_rows.size, i), one_item(within_columns.size, j)
    lower = math.exp(-3.0 * rng.random())
    if by_row:
        columns |= unexplained(rng, entries, rest, base, entries.by_rows, i, columns.size) & within_columns
        theta = lower * level_of(entries, rest, rows, columns, law)
        gain = evidence(entries, entries.by_columns, rest, columns, theta, rows.size)
        scan_items(rng, rows, gain, free)
    else:
        rows |= unexplained(rng, entries, rest, base, entries.by_columns, j, rows.size) & within_rows
        theta = lower * level_of(entries, rest, rows, columns, law)
        gain = evidence(entries, entries.by_rows, rest, rows, theta, columns.size)
        scan_items(rng, columns, gain, free)
        gain = evidence(
            entries,
            entries.by_columns,
            rest,
            columns,
            level_of(entries, rest, rows, columns, law),
            rows.size,
        )
        scan_items(rng, rows, gain, free)
    gain = evidence(
        entries, entries.by_rows, rest, rows, level_of(entries, rest, rows, columns, law), columns.size
    )
    scan_items(rng, columns, gain, free)
    pass_both(rng, entries, rest, rows, columns, law, free, free)
    return rows, columns


@njit(cache=True, nogil=True)
def draw_block(rng, entries, rest, rows, columns, law):
    """A block from the prior or from the launched ``rows, columns`` (overwritten), with its level and ``log q``."""
    free = np.empty(0, np.bool_)
    if rng.random() < law.prior_share:
        new_rows, new_columns = draw_subset(rng, rows.size), draw_subset(rng, columns.size)
        log_q = pass_both(rng, entries, rest, rows, columns, law, new_rows, new_columns)
    else:
        log_q = pass_both(rng, entries, rest, rows, columns, law, free, free)
        new_rows, new_columns = rows, columns
    if law.prior_share > 0.0:
        log_q = log_proposal(new_rows, new_columns, log_q, law.prior_share)
    inside, area = inside_block(entries, new_rows, new_columns)
    shape, rate = fit_level(entries, rest, inside, area, law, STEPS)
    theta = draw_gamma(rng, shape, rate, 1e-300)
    return new_rows, new_columns, theta, log_q + log_gamma_density(theta, shape, rate)


@njit(cache=True, nogil=True)
def score_block(rng, entries, rest, launched_rows, launched_columns, rows, columns, theta, law):
    """``log q`` of a block and its level, as :func:`draw_block` would make it from what was launched (overwritten)."""
    log_q = pass_both(rng, entries, rest, launched_rows, launched_columns, law, rows, columns)
    if law.prior_share > 0.0:
        log_q = log_proposal(rows, columns, log_q, law.prior_share)
    inside, area = inside_block(entries, rows, columns)
    shape, rate = fit_level(entries, rest, inside, area, law, STEPS)
    return log_q + log_gamma_density(theta, shape, rate)


@njit(cache=True, nogil=True)
def log_weight(entries, rest, rows, columns, theta, law):
    """Log of what a block adds to the joint: likelihood given the rates without it, prior of its members and level."""
    inside, area = inside_block(entries, rows, columns)
    total = log_gamma_density(theta, law.shape, law.rate) + log_block(law, rows, columns) - theta * area
    terms = np.empty(inside.size)
    gains_inside(entries, rest, inside, theta, terms, 0, inside.size)
    return added_up(terms, total)


@njit(cache=True, nogil=True)
def gains_inside(entries, rest, inside, theta, terms, lo, hi):
    """:func:`log_gain` of entries ``inside[lo:hi]``, into ``terms`` (n,)."""
    for p in range(lo, hi):
        e = inside[p]
        terms[p] = log_gain(entries.values[e], rest[e], theta, entries.links)


@njit(cache=True, nogil=True)
def appended(values, value):
    out = np.empty(values.size + 1)
    out[:-1] = values
    out[-1] = value
    return out


@njit(cache=True, nogil=True)
def dropped(values, k):
    return np.concatenate((values[:k], values[k + 1 :]))


@njit(cache=True, nogil=True)
def without_prior(law):
    """``law`` under which no block is proposed from the prior."""
    return CountLaw(law.alpha, law.shape, law.rate, law.max_blocks, 0.0)


@njit(cache=True, nogil=True)
def seed_of(rng, rows, columns, k):
    """Where a block is launched from: (whether from a row, row, column). Row or column is a member of block k; any one when
    k is negative."""
    by_row = rng.random() < 0.5
    i, j = rng.integers(0, rows.shape[1]), rng.integers(0, columns.shape[1])
    if k >= 0 and by_row:
        i = pick_member(rng, rows[k])
    if k >= 0 and not by_row:
        j = pick_member(rng, columns[k])
    return by_row, i, j


@njit(cache=True, nogil=True)
def log_seeds(rows, columns, by_row, i, j):
    """Log of the chance of a seed at a birth over that at a death, ``m / N``; infinite when the block has not got it, as no
    death would then launch from there."""
    if by_row:
        return math.log(rows.sum() / rows.size) if rows[i] else np.inf
    return math.log(columns.sum() / columns.size) if columns[j] else np.inf


@njit(cache=True, nogil=True)
def birth_death(rng, entries, rates, base, rows, columns, theta, law, seeded):
    """Try to add a block, or to remove one.

    ``log A(birth) = log weight(x) - log(K + 1) - log q(x, theta | rest)``; death is minus the same. When ``seeded`` a block is
    launched from a random row (or column, by a coin), and for a death from a random member of the block, so that it is scored
    from where it would be found; then ``- log(m / N)``, with m members of N, is added, and nothing is proposed from the prior.

    Returns
    -------
    rates, rows, columns, theta : afterwards (the old arrays are not written to)
    accepted : bool
    """
    birth, n_blocks = rng.random() < 0.5, theta.size
    if (birth and n_blocks >= law.max_blocks) or (not birth and n_blocks == 0):
        return rates, rows, columns, theta, False
    rest = rates.copy()
    k = 0
    if not birth:
        k = rng.integers(0, n_blocks)
        add_level(entries, rest, base, rows[k], columns[k], -theta[k])
    everywhere = np.ones(rows.shape[1], np.bool_), np.ones(columns.shape[1], np.bool_)
    by_row, i, j = False, 0, 0
    if seeded:
        law = without_prior(law)
        by_row, i, j = seed_of(rng, rows, columns, -1 if birth else k)
        z1, z2 = launch_from(rng, entries, rest, base, everywhere[0], everywhere[1], law, by_row, i, j)
    else:
        z1, z2 = launch(rng, entries, rest, base, everywhere[0], everywhere[1], law)
    if birth:
        z1, z2, level, log_q = draw_block(rng, entries, rest, z1, z2, law)
    else:
        level = theta[k]
        log_q = score_block(rng, entries, rest, z1, z2, rows[k], columns[k], level, law)
        z1, z2 = rows[k], columns[k]
    log_ratio = log_weight(entries, rest, z1, z2, level, law) - log_q
    log_ratio -= math.log(n_blocks + 1.0 if birth else n_blocks)
    if seeded:
        log_ratio -= log_seeds(z1, z2, by_row, i, j)
    if math.log(rng.random()) >= (log_ratio if birth else -log_ratio):
        return rates, rows, columns, theta, False
    if birth:
        add_level(entries, rest, base, z1, z2, level)
        return rest, append_row(rows, z1), append_row(columns, z2), appended(theta, level), True
    return rest, drop_row(rows, k), drop_row(columns, k), dropped(theta, k), True
