"""Rows (or columns) that enter or leave a block, each with a new level of its own.

A row that a block explains has a low level, so that it cannot leave while its level stays, and the level cannot rise while the
row is in: blocks that stand for busy rows change slowly. Here both change at once, row by row.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.counts_draw import exposure
from plaidwork.plugins.plaid.kernels.counts_levels import (
    base_of,
    fit_line,
    log_line,
    log_lines,
    propose_lines,
)
from plaidwork.plugins.plaid.kernels.counts_moves import log_gamma_density
from plaidwork.plugins.plaid.kernels.counts_scan import LEAST

STEPS = (0.1, 0.5, 1.5)
"""Standard deviations of the steps in the logarithm of a block's level."""


@njit(cache=True, nogil=True)
def turn_line(entries, side, item, above, more, across_in, step):
    """Write to ``more`` (nnz,) the rates of the blocks at the entries of one row (column) when ``step`` is added to those in
    the block's columns (rows) ``across_in``. Returns the number of its observed cells there."""
    for p in range(side.start[item], side.start[item + 1]):
        e = side.order[p]
        more[e] = max(above[e] + step, 0.0) if across_in[side.item[p]] else above[e]
    cells = float(across_in.sum())
    for p in range(side.gap_start[item], side.gap_start[item + 1]):
        cells -= across_in[side.gap_item[p]]
    return cells


@njit(cache=True, nogil=True)
def scan_lines(rng, entries, side, above, z, across_in, theta, across, level, shape, exposed, degrees):
    """One pass over the rows (columns) of a block: each is tried on the other side of it, with a new level.

    With z the membership, u the level, and q the Gamma to which EM steps lead from 1 at a membership,
    ``log A = log p(x_i, u', z') - log p(x_i, u, z) + log q(u | z) - log q(u' | z')``, where the prior odds of being in are
    m / (N - m) with m other members. The last member stays in, as empty sides are outside the state space.

    Parameters
    ----------
    side : visits the entries of a picked row (column)
    above : (nnz,) rates of all blocks at the entries; written to, as ``z`` and ``degrees`` are
    z, across_in : members of the block among what is scanned, and across
    across, shape : levels across; shape of the prior of the scanned ones
    exposed : background of all observed cells of each at a level of 1

    Returns
    -------
    int, how many changed
    """
    more, fits = above.copy(), np.empty((6, z.size))
    fit_turned(
        entries,
        side,
        above,
        more,
        z,
        across_in,
        theta,
        across,
        level,
        shape,
        exposed,
        degrees,
        fits,
        0,
        z.size,
    )
    return turn_lines(rng, entries, side, above, more, z, across, level, shape, exposed, degrees, theta, fits)


@njit(cache=True, nogil=True)
def fit_turned(
    entries, side, above, more, z, across_in, theta, across, level, shape, exposed, degrees, fits, lo, hi
):
    """What :func:`scan_lines` asks of each of items lo to hi: no item's answer depends on whether another changes.

    ``more`` (nnz,) becomes the rates of the blocks on the other side. ``fits`` (6, N): observed cells across in the block, shape and rate
    of the Gamma of the level at the present membership and at the other, log of what depends on the present level.
    """
    for item in range(lo, hi):
        sign = -1.0 if z[item] else 1.0
        fits[0, item] = turn_line(entries, side, item, above, more, across_in, sign * theta)
        fits[1, item], fits[2, item] = fit_line(
            entries, side, item, above, across, level, shape, exposed[item]
        )
        fits[3, item], fits[4, item] = fit_line(
            entries, side, item, more, across, level, shape, exposed[item]
        )
        fits[5, item] = log_line(
            entries, side, item, above, across, level, shape, exposed[item], degrees[item]
        )


@njit(cache=True, nogil=True)
def turn_lines(rng, entries, side, above, more, z, across, level, shape, exposed, degrees, theta, fits):
    """The decisions of :func:`scan_lines`, from what :func:`fit_turned` has found; how many changed."""
    members, changed = z.sum(), 0
    for item in range(z.size):
        others = members - z[item]
        if others == 0:
            continue
        sign = -1.0 if z[item] else 1.0
        cells, own, rate = fits[0, item], fits[1, item], fits[2, item]
        new_own, new_rate, log_now = fits[3, item], fits[4, item], fits[5, item]
        degree = max(rng.standard_gamma(new_own) / new_rate, LEAST)
        log_ratio = sign * (math.log(others / (z.size - others)) - theta * cells)
        log_ratio += log_line(entries, side, item, more, across, level, shape, exposed[item], degree)
        log_ratio -= log_now
        log_ratio += log_gamma_density(degrees[item], own, rate) - log_gamma_density(
            degree, new_own, new_rate
        )
        if not math.log(rng.random()) < log_ratio:
            continue
        z[item], degrees[item], members = not z[item], degree, others + (sign > 0.0)
        for p in range(side.start[item], side.start[item + 1]):
            above[side.order[p]] = more[side.order[p]]
        changed += 1
    return changed


@njit(cache=True, nogil=True)
def step_level(rng, theta):
    """Another level: a step in its logarithm, of a size that is drawn."""
    return theta * math.exp(STEPS[rng.integers(0, len(STEPS))] * rng.standard_normal())


@njit(cache=True, nogil=True)
def turn_members(entries, side, items, above, more, across_in, step, cells, lo, hi):
    """:func:`turn_line` of ``items[lo:hi]``; what it returns into ``cells`` (n,)."""
    for q in range(lo, hi):
        cells[q] = turn_line(entries, side, items[q], above, more, across_in, step)


@njit(cache=True, nogil=True)
def shift_level(rng, entries, side, above, z, across_in, theta, across, level, shape, exposed, degrees, law):
    """Try another level of a block, with new levels of its rows (columns): what the block gives up they take over.

    ``log A = log p(x, theta', u') - log p(x, theta, u) + log(theta' / theta) + log q(u | theta) - log q(u' | theta')``, theta' by
    a step in its logarithm, of a size that is drawn. Arguments as of :func:`scan_lines`; ``above`` and ``degrees`` are written to.

    Returns
    -------
    float, the block's level afterwards
    """
    other = step_level(rng, theta)
    more, after = above.copy(), degrees.copy()
    items = np.flatnonzero(z)
    cells = np.empty(items.size)
    turn_members(entries, side, items, above, more, across_in, other - theta, cells, 0, items.size)
    log_ratio = law.shape * math.log(other / theta) - (law.rate + cells.sum()) * (other - theta)
    log_ratio -= propose_lines(rng, entries, side, z, more, across, level, shape, exposed, after, True)
    log_ratio += propose_lines(rng, entries, side, z, above, across, level, shape, exposed, degrees, False)
    log_ratio += log_lines(entries, side, z, more, across, level, shape, exposed, after)
    log_ratio -= log_lines(entries, side, z, above, across, level, shape, exposed, degrees)
    if not math.log(rng.random()) < log_ratio:
        return theta
    above[:], degrees[:] = more, after
    return other


@njit(cache=True, nogil=True)
def scan_with_levels(rng, entries, rates, base, rows, columns, theta, background, degrees, law):
    """Rows, then columns of a random block: its level is tried with theirs, then each is tried in and out with its level.

    ``rows`` and ``columns`` are written to.

    Parameters
    ----------
    background : (level, row levels, column levels, shape of either), not written to
    degrees : (rows, columns), whether they have levels; a side without is left as it is

    Returns
    -------
    rates, base, theta, u, v : afterwards (the old arrays are not written to)
    accepted : bool, whether anything changed
    """
    level, u, v, row_shape, column_shape = background
    if theta.size == 0:
        return rates, base, theta, u, v, False
    k = rng.integers(0, theta.size)
    above, changed, theta = np.maximum(rates - base, 0.0), 0, theta.copy()
    if degrees[0]:
        u, exposed = u.copy(), level * exposure(entries.by_columns, v, u.size)
        theta[k] = shift_level(
            rng,
            entries,
            entries.by_rows,
            above,
            rows[k],
            columns[k],
            theta[k],
            v,
            level,
            row_shape,
            exposed,
            u,
            law,
        )
        changed += scan_lines(
            rng,
            entries,
            entries.by_rows,
            above,
            rows[k],
            columns[k],
            theta[k],
            v,
            level,
            row_shape,
            exposed,
            u,
        )
    if degrees[1]:
        v, exposed = v.copy(), level * exposure(entries.by_rows, u, v.size)
        theta[k] = shift_level(
            rng,
            entries,
            entries.by_columns,
            above,
            columns[k],
            rows[k],
            theta[k],
            u,
            level,
            column_shape,
            exposed,
            v,
            law,
        )
        changed += scan_lines(
            rng,
            entries,
            entries.by_columns,
            above,
            columns[k],
            rows[k],
            theta[k],
            u,
            level,
            column_shape,
            exposed,
            v,
        )
    base = base_of(entries, level, u, v)
    return base + above, base, theta, u, v, changed > 0
