"""A stretch of a sweep over blocks that add in proportion to levels in one call, the draw of levels that ends it, the likelihood."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.corrected_evidence import (
    counted,
    draw_row_levels,
    events_behind,
    exposures,
    given_of,
    intensities,
    turned,
)
from plaidwork.plugins.plaid.kernels.corrected_moves import birth_death, one_to_two, scan_rows
from plaidwork.plugins.plaid.kernels.corrected_small import small_birth_death
from plaidwork.plugins.plaid.kernels.counts_draw import draw_degrees, exposure, rescale, share_out
from plaidwork.plugins.plaid.kernels.counts_scan import LEAST

ONE_TO_TWO, SEEDED, SMALL = 1, 4, 5
"""Codes of moves, as of ``counts_tasks``, 0 birth or death; moves that draw levels by themselves are not among them, as all these do.
Beyond them ``SMALL`` ones: many births and deaths of small blocks in one."""

AT_ONCE = 8
"""Births and deaths of small blocks in one task: what a task begins with is as dear as several of them."""


@njit(cache=True, nogil=True)
def one_task(rng, entries, rows, columns, theta, level, u, v, shape, free, scanned, code, law):
    """A pass over the rows of block ``scanned``, or the move of ``code`` where that is negative, with the rows' levels
    integrated out, which are drawn after, or drawn with it. ``rows`` is written to by a pass.

    Returns
    -------
    rows, columns, theta, row levels : afterwards
    accepted : bool
    """
    mu, base = intensities(entries, rows, columns, theta, level)
    given = given_of(entries, v, shape, free)
    exposed, done = exposures(given, rows, columns, theta, level), False
    if scanned >= 0:
        theta, u = theta.copy(), u.copy()
        z1, z2 = rows[scanned], columns[scanned]
        theta[scanned] = scan_rows(rng, given, mu, base, exposed, z1, z2, theta[scanned], u, law)
    elif code == ONE_TO_TWO:
        exposed, rows, columns, theta, u, done = one_to_two(
            rng, given, mu, base, exposed, rows, columns, theta, u, law
        )
    elif code == SMALL:
        for n in range(AT_ONCE):
            mu, exposed, rows, columns, theta, u, changed = small_birth_death(
                rng, given, mu, base, exposed, rows, columns, theta, u, law, n % 2 == 1
            )
            done |= changed
    else:
        exposed, rows, columns, theta, u, done = birth_death(
            rng, given, mu, base, exposed, rows, columns, theta, u, law, code == SEEDED
        )
    return rows, columns, theta, draw_row_levels(rng, given, exposed, u), done


@njit(cache=True, nogil=True)
def run_corrected_tasks(rng, entries, rows, columns, theta, background, degrees, order, codes, law):
    """As ``counts_tasks.run_count_tasks``: passes over the blocks of ``order``, then the moves of ``codes``, each with the levels of
    rows or, by a coin, of columns integrated out."""
    accepted = np.zeros(6, np.int64)
    level, u, v, row_shape, column_shape = background
    across = turned(entries)
    for k in order:
        rows, columns, theta, u, _ = one_task(
            rng, entries, rows, columns, theta, level, u, v, row_shape, degrees[0], k, 0, law
        )
        columns, rows, theta, v, _ = one_task(
            rng, across, columns, rows, theta, level, v, u, column_shape, degrees[1], k, 0, law
        )
    for code in codes:
        if rng.random() < 0.5:
            rows, columns, theta, u, done = one_task(
                rng, entries, rows, columns, theta, level, u, v, row_shape, degrees[0], -1, code, law
            )
        else:
            columns, rows, theta, v, done = one_task(
                rng, across, columns, rows, theta, level, v, u, column_shape, degrees[1], -1, code, law
            )
        accepted[code] += done
    return rows, columns, theta, u, v, accepted


@njit(cache=True, nogil=True)
def draw_corrected(rng, entries, rows, columns, theta, background, law, shape_prior, level_prior, degrees):
    """Levels of the blocks, of the background, of rows and of columns given the memberships; as ``counts_draw.draw_levels``."""
    level, u, v, row_shape, column_shape = background
    mu, base = intensities(entries, rows, columns, theta, level)
    events = events_behind(rng, entries, mu, u, v)
    given = given_of(counted(entries, events), v, row_shape, degrees[0])
    by_row, _, by_block = share_out(rng, given.entries, mu, base, rows, columns, theta)
    out = np.empty(theta.size)
    for k in range(theta.size):
        area = (np.where(rows[k], u, 0.0) * _seen(entries, np.where(columns[k], v, 0.0))).sum()
        out[k] = max(rng.standard_gamma(law.shape + by_block[k]) / (law.rate + area), 1e-300)
    cells = (u * _seen(entries, v)).sum()
    level = max(rng.standard_gamma(level_prior[0] + by_row.sum()) / (level_prior[1] + cells), LEAST)
    if degrees[0]:
        exposed = exposures(given, rows, columns, out, level)
        row_shape, u = draw_degrees(
            rng, given.sums, exposed, row_shape, shape_prior[0], shape_prior[1], shape_prior[2]
        )
        level, out, u = rescale_all(rng, level, out, u, row_shape, law, level_prior)
    if degrees[1]:
        given = given_of(turned(given.entries), u, column_shape, True)
        exposed = exposures(given, columns, rows, out, level)
        column_shape, v = draw_degrees(
            rng, given.sums, exposed, column_shape, shape_prior[0], shape_prior[1], shape_prior[2]
        )
        level, out, v = rescale_all(rng, level, out, v, column_shape, law, level_prior)
    return out, (level, u, v, row_shape, column_shape)


@njit(cache=True, nogil=True)
def _seen(entries, levels):
    """(N1,) sum over the observed cells of each row of the columns' ``levels``."""
    return exposure(entries.by_columns, levels, entries.by_rows.start.size - 1)


@njit(cache=True, nogil=True)
def rescale_all(rng, level, theta, degrees, shape, law, level_prior):
    """Degrees times c, levels of background and blocks divided by it: ``counts_draw.rescale`` with the priors of all of them."""
    powers = level_prior[0] + law.shape * theta.size
    rate = (level_prior[1] * level + law.rate * theta.sum()) / level
    after, degrees = rescale(rng, level, degrees, shape, powers, rate)
    return after, theta * (after / level), degrees


@njit(cache=True, nogil=True)
def log_likelihood_corrected(entries, rows, columns, theta, level, u, v):
    """Log probability of all observed cells, without the factorials of counts."""
    mu, _ = intensities(entries, rows, columns, theta, level)
    given = given_of(entries, v, 1.0, False)
    total = -(u * exposures(given, rows, columns, theta, level)).sum()
    for e in range(mu.size):
        rate = max(u[entries.row[e]] * v[entries.column[e]] * mu[e], LEAST)
        if entries.links:
            total += rate + math.log(-math.expm1(-rate))
        else:
            total += entries.values[e] * math.log(rate)
    return total
