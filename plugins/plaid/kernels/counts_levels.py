"""Births and deaths of blocks together with the levels of their rows or columns.

A block that stands for busy rows (columns) cannot leave while their levels are held low by what it explains, and the levels
cannot rise while it is there. So both change at once: the block comes or goes as in ``counts_moves``, and the levels of its
rows (or columns) are proposed afresh, each from a Gamma fitted to what the blocks then leave of its entries.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.blocks import append_row, drop_row
from plaidwork.plugins.plaid.kernels.counts_draw import exposure, fill_background
from plaidwork.plugins.plaid.kernels.counts_moves import (
    appended,
    draw_block,
    dropped,
    launch,
    launch_from,
    log_gamma_density,
    log_seeds,
    log_weight,
    score_block,
    seed_of,
    without_prior,
)
from plaidwork.plugins.plaid.kernels.counts_scan import LEAST, add_level, added_up

FITTED = 6
"""EM steps of the fit of a level that is proposed: always as many, from 1 on, so that the reverse can be scored."""


@njit(cache=True, nogil=True)
def fit_line(entries, side, item, above, across, level, shape, exposed):
    """Shape and rate of the Gamma from which the level of a row (column) is proposed.

    ``above`` (nnz,) are the rates of the blocks alone, ``across`` the levels of the items across, ``shape`` that of the levels'
    prior, ``exposed`` the background of all its observed cells at a level of 1.
    """
    own, rate = 0.0, shape + exposed
    degree = 1.0
    for _ in range(FITTED):
        own = 0.0
        for p in range(side.start[item], side.start[item + 1]):
            e = side.order[p]
            part = max(level * degree * across[side.item[p]], LEAST)
            total = part + above[e]
            own += part / -math.expm1(-total) if entries.links else entries.values[e] * part / total
        degree = (shape + own) / rate
    return shape + own, rate


@njit(cache=True, nogil=True)
def propose_lines(rng, entries, side, members, above, across, level, shape, exposed, degrees, draw):
    """Levels of the ``members`` of a block from their fitted Gammas, in place with ``draw``; the log density of those that
    stand afterwards."""
    items = np.flatnonzero(members)
    fitted, rates = np.empty(items.size), np.empty(items.size)
    fit_lines(entries, side, items, above, across, level, shape, exposed, fitted, rates, 0, items.size)
    return draw_lines(rng, items, fitted, rates, degrees, draw)


@njit(cache=True, nogil=True)
def fit_lines(entries, side, items, above, across, level, shape, exposed, fitted, rates, lo, hi):
    """:func:`fit_line` of ``items[lo:hi]``, into ``fitted`` and ``rates`` (n,)."""
    for q in range(lo, hi):
        fitted[q], rates[q] = fit_line(
            entries, side, items[q], above, across, level, shape, exposed[items[q]]
        )


@njit(cache=True, nogil=True)
def draw_lines(rng, items, fitted, rates, degrees, draw):
    """Levels of the ``items`` from Gammas of shape ``fitted`` and rate ``rates``, in place with ``draw``; their log density."""
    log_q = 0.0
    for q in range(items.size):
        if draw:
            degrees[items[q]] = max(rng.standard_gamma(fitted[q]) / rates[q], LEAST)
        log_q += log_gamma_density(degrees[items[q]], fitted[q], rates[q])
    return log_q


@njit(cache=True, nogil=True)
def log_line(entries, side, item, above, across, level, shape, exposed, degree):
    """Log of what depends on the level of one row (column): likelihood of its cells, and prior of the level."""
    total = log_gamma_density(degree, shape, shape) - degree * exposed
    for p in range(side.start[item], side.start[item + 1]):
        e = side.order[p]
        rate = max(level * degree * across[side.item[p]], LEAST) + above[e]
        if entries.links:
            total += rate + math.log(-math.expm1(-rate))
        else:
            total += entries.values[e] * math.log(rate)
    return total


@njit(cache=True, nogil=True)
def log_lines(entries, side, members, above, across, level, shape, exposed, degrees):
    """:func:`log_line` of all ``members``."""
    items = np.flatnonzero(members)
    terms = np.empty(items.size)
    score_lines(entries, side, items, above, across, level, shape, exposed, degrees, terms, 0, items.size)
    return added_up(terms, 0.0)


@njit(cache=True, nogil=True)
def score_lines(entries, side, items, above, across, level, shape, exposed, degrees, terms, lo, hi):
    """:func:`log_line` of ``items[lo:hi]``, into ``terms`` (n,)."""
    for q in range(lo, hi):
        item = items[q]
        terms[q] = log_line(entries, side, item, above, across, level, shape, exposed[item], degrees[item])


@njit(cache=True, nogil=True)
def base_of(entries, level, u, v):
    """Background of the entries: (nnz,)."""
    out = np.empty(entries.values.size)
    fill_background(entries, level, u, v, out, 0, out.size)
    return out


@njit(cache=True, nogil=True)
def low_of(rng, entries, base, degrees, by_rows):
    """Background (nnz,) with the levels above 1 brought down to a power of them that is drawn: what a block could explain in
    their place. It depends on the levels without the block alone."""
    power, out = rng.random(), base.copy()
    lower(entries, degrees, by_rows, power, out, 0, out.size)
    return out


@njit(cache=True, nogil=True)
def lower(entries, degrees, by_rows, power, out, lo, hi):
    """:func:`low_of` of entries lo to hi: ``out`` (nnz,) is the background before."""
    for e in range(lo, hi):
        degree = degrees[entries.row[e] if by_rows else entries.column[e]]
        if degree > 1.0:
            out[e] = max(out[e] * degree ** (power - 1.0), LEAST)


@njit(cache=True, nogil=True)
def level_birth_death(rng, entries, rates, base, rows, columns, theta, background, degrees, law, seeded):
    """Try to add a block, or to remove one, and draw the levels of its rows (or of its columns, by a coin) with it.

    With u the levels without and u' those with the block (x, theta),
    ``log A(birth) = log p(data, x, theta, u') - log p(data, u) - log(K + 1) - log q(x, theta | u) - log q(u' | x) + log q(u)``;
    death is minus the same. Launches depend on the other blocks and on u alone, and are drawn afresh for either direction.

    Parameters
    ----------
    background : (level, row levels, column levels, shape of either), not written to
    degrees : (rows, columns), whether they have levels
    seeded : as of :func:`~plaidwork.plugins.plaid.kernels.counts_moves.birth_death`

    Returns
    -------
    rates, base, rows, columns, theta, u, v : afterwards (the old arrays are not written to)
    accepted : bool
    """
    level, u, v, row_shape, column_shape = background
    by_rows, birth = rng.random() < 0.5, rng.random() < 0.5
    n_blocks = theta.size
    same = (rates, base, rows, columns, theta, u, v, False)
    if not (degrees[0] if by_rows else degrees[1]):
        return same
    if (birth and n_blocks >= law.max_blocks) or (not birth and n_blocks == 0):
        return same
    side, across, shape = (
        (entries.by_rows, v, row_shape) if by_rows else (entries.by_columns, u, column_shape)
    )
    exposed = level * exposure(
        entries.by_columns if by_rows else entries.by_rows, across, u.size if by_rows else v.size
    )
    before = u if by_rows else v
    without, present = before.copy(), before.copy()
    rest = rates.copy()
    k = 0
    if not birth:
        k = rng.integers(0, n_blocks)
        add_level(entries, rest, base, rows[k], columns[k], -theta[k])
    above = np.maximum(rest - base, 0.0)
    log_without = 0.0
    if not birth:
        members = rows[k] if by_rows else columns[k]
        log_without = propose_lines(
            rng, entries, side, members, above, across, level, shape, exposed, without, True
        )
    low = base_of(entries, level, without if by_rows else u, v if by_rows else without)
    rest = low + above
    seen = rest
    if seeded:
        low = low_of(rng, entries, low, without, by_rows)
        seen = low + above
    everywhere = np.ones(rows.shape[1], np.bool_), np.ones(columns.shape[1], np.bool_)
    by_row, i, j = False, 0, 0
    if seeded:
        law = without_prior(law)
        by_row, i, j = seed_of(rng, rows, columns, -1 if birth else k)
        z1, z2 = launch_from(rng, entries, seen, low, everywhere[0], everywhere[1], law, by_row, i, j)
    else:
        z1, z2 = launch(rng, entries, seen, low, everywhere[0], everywhere[1], law)
    if birth:
        z1, z2, theta_k, log_q = draw_block(rng, entries, seen, z1, z2, law)
    else:
        theta_k = theta[k]
        log_q = score_block(rng, entries, seen, z1, z2, rows[k], columns[k], theta_k, law)
        z1, z2 = rows[k], columns[k]
    members = z1 if by_rows else z2
    more = above.copy()
    add_level(entries, more, above, z1, z2, theta_k)
    log_with = propose_lines(rng, entries, side, members, more, across, level, shape, exposed, present, birth)
    if birth:
        log_without = propose_lines(
            rng, entries, side, members, above, across, level, shape, exposed, without, False
        )
    log_ratio = log_weight(entries, rest, z1, z2, theta_k, law) - log_q + log_without - log_with
    log_ratio += log_lines(entries, side, members, more, across, level, shape, exposed, present)
    log_ratio -= log_lines(entries, side, members, more, across, level, shape, exposed, without)
    log_ratio -= math.log(n_blocks + 1.0 if birth else n_blocks)
    if seeded:
        log_ratio -= log_seeds(z1, z2, by_row, i, j)
    if not math.log(rng.random()) < (log_ratio if birth else -log_ratio):
        return same
    if birth:
        rows, columns, theta, after, kept = (
            append_row(rows, z1),
            append_row(columns, z2),
            appended(theta, theta_k),
            present,
            more,
        )
    else:
        rows, columns, theta, after, kept = (
            drop_row(rows, k),
            drop_row(columns, k),
            dropped(theta, k),
            without,
            above,
        )
    new_u, new_v = (after, v) if by_rows else (u, after)
    base = base_of(entries, level, new_u, new_v)
    return base + kept, base, rows, columns, theta, new_u, new_v, True
