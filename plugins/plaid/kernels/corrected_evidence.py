"""Evidence for blocks that add in proportion to the levels of their rows and columns, the levels of one side integrated out.

``x_ij ~ Poisson(u_i v_j mu_ij)`` with ``mu_ij = level + sum_k z1_ik z2_jk theta_k``, the degree-corrected block model of Karrer and Newman
(2011) with blocks that may overlap. Given v, row i has y_i events and an exposure ``E_i = sum_j v_j mu_ij`` over its observed cells, and with
``u_i ~ Gamma(d, d)`` integrated out ``p(x_i) = prod_j (v_j mu_ij)^x_ij Gamma(d + y_i) / (d + E_i)^(d + y_i)`` up to constants: a row's
membership is judged by how its events are spread, not by how many it has. Columns alike, with the matrix turned.

Of links the integral has no closed form. Members are proposed by the same formulas with the events expected behind the links, and the levels
of the rows concerned are drawn with the block, each from a Gamma fitted to what the row says, and scored: :func:`log_rows`. (With events
that are drawn first a block is hardly ever found: without it one link is one event.)
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.counts_draw import exposure, positive_poisson
from plaidwork.plugins.plaid.kernels.counts_moves import log_gamma_density
from plaidwork.plugins.plaid.kernels.counts_records import Entries
from plaidwork.plugins.plaid.kernels.counts_scan import LEAST, add_level, log_gain

FITTED = 4
"""EM steps of the fit of a row's level to links: always as many, from where counts would have it, so that the reverse can be scored."""


class Given(NamedTuple):
    """What a move depends on beside the blocks when the levels of the rows are integrated out; "rows" are columns when turned.

    Attributes
    ----------
    across : (N2,) levels of the columns
    sums : (N1,) events of each row, of links those expected (:func:`fitted`)
    shape : of the Gamma prior of the rows' levels
    free : whether rows have levels; otherwise all are 1
    """

    entries: Entries
    across: np.ndarray
    sums: np.ndarray
    shape: float
    free: bool


@njit(cache=True, nogil=True)
def turned(entries):
    """Entries of the matrix turned: rows as columns."""
    return Entries(
        entries.values, entries.column, entries.row, entries.by_rows, entries.by_columns, entries.links
    )


@njit(cache=True, nogil=True)
def intensities(entries, rows, columns, theta, level):
    """``mu`` of the entries and what of it is background, (nnz,) each: levels of rows and columns are not in it."""
    base = np.full(entries.values.size, max(level, LEAST))
    found = base.copy()
    for k in range(theta.size):
        add_level(entries, found, base, rows[k], columns[k], theta[k])
    return found, base


@njit(cache=True, nogil=True)
def events_behind(rng, entries, mu, u, v):
    """Events behind the entries: counts as they are, those of links drawn given that they are above 0."""
    if not entries.links:
        return entries.values
    out = np.empty(mu.size)
    for e in range(mu.size):
        out[e] = positive_poisson(rng, max(u[entries.row[e]] * v[entries.column[e]] * mu[e], LEAST))
    return out


@njit(cache=True, nogil=True)
def counted(entries, events):
    """Entries as counts of the ``events`` (nnz,) behind them."""
    return Entries(events, entries.row, entries.column, entries.by_columns, entries.by_rows, False)


@njit(cache=True, nogil=True)
def given_of(entries, across, shape, free):
    """:class:`Given` of a side; of links the sums are yet to be :func:`fitted`."""
    sums = np.zeros(entries.by_rows.start.size - 1)
    for e in range(entries.values.size):
        sums[entries.row[e]] += entries.values[e]
    return Given(entries, across, sums, shape, free)


@njit(cache=True, nogil=True)
def fit_row(given, mu, i, exposed):
    """Level of row i of links by EM, the events then expected, and how sharply the links tell it: minus the second derivative of the log
    density of its logarithm."""
    side, level, events, sharp = given.entries.by_rows, 1.0, 0.0, 0.0
    if given.free:
        level = (given.shape + side.start[i + 1] - side.start[i]) / (given.shape + exposed)
    for step in range(FITTED if given.free else 1):
        events, sharp = 0.0, given.shape
        for p in range(side.start[i], side.start[i + 1]):
            e = side.order[p]
            t = max(level * given.across[side.item[p]] * mu[e], LEAST)
            own = -math.expm1(-t)
            events += t / own
            if step == FITTED - 1:
                sharp += t * t * math.exp(-t) / (own * own)
        if given.free:
            level = (given.shape + events) / (given.shape + exposed)
    return level, events, sharp


@njit(cache=True, nogil=True)
def fitted_at(given, mu, exposed, members):
    """``given`` with the events expected behind the links of these rows at these ``mu`` (nnz,) and exposures: they do not depend on the levels
    that stand."""
    if not given.entries.links:
        return given
    sums = given.sums.copy()
    for i in range(sums.size):
        if members[i]:
            sums[i] = fit_row(given, mu, i, exposed[i])[1]
    return Given(given.entries, given.across, sums, given.shape, given.free)


@njit(cache=True, nogil=True)
def fitted(given, mu, exposed):
    """:func:`fitted_at` of all rows."""
    return fitted_at(given, mu, exposed, np.ones(exposed.size, np.bool_))


@njit(cache=True, nogil=True)
def cover(given, columns):
    """(N1,) sum of the levels of each row's observed cells in the ``columns`` of a block."""
    return exposure(given.entries.by_columns, np.where(columns, given.across, 0.0), given.sums.size)


@njit(cache=True, nogil=True)
def exposures(given, rows, columns, theta, level):
    """``E`` of every row: (N1,)."""
    out = level * exposure(given.entries.by_columns, given.across, given.sums.size)
    for k in range(theta.size):
        out += np.where(rows[k], theta[k] * cover(given, columns[k]), 0.0)
    return out


@njit(cache=True, nogil=True)
def add_block(given, mu, base, exposed, rows, columns, theta):
    """Add a block to ``mu`` (nnz,) and ``exposed`` (N1,), in place; a negative ``theta`` takes it away."""
    add_level(given.entries, mu, base, rows, columns, theta)
    inside = cover(given, columns)
    for i in range(rows.size):
        if rows[i]:
            exposed[i] = max(exposed[i] + theta * inside[i], 0.0)


@njit(cache=True, nogil=True)
def cost(given, i, exposed, more):
    """What row i loses in log probability when its exposure grows by ``more``: its level, integrated out, makes up for a part."""
    if given.free:
        return (given.shape + given.sums[i]) * math.log1p(more / (given.shape + exposed))
    return more


@njit(cache=True, nogil=True)
def level_at(given, i, exposed):
    """Expected level of row i at this exposure."""
    return (given.shape + given.sums[i]) / (given.shape + exposed) if given.free else 1.0


@njit(cache=True, nogil=True)
def entry_gain(given, mu, level, across, e, theta):
    """Log likelihood gained by entry e when ``theta`` is added to its ``mu``, but for what its exposure costs."""
    if given.entries.links:
        scale = max(level * across, LEAST)
        return log_gain(1.0, max(scale * mu[e], LEAST), scale * theta, True)
    return given.entries.values[e] * math.log1p(theta / mu[e])


@njit(cache=True, nogil=True)
def gain_of_rows(given, mu, exposed, columns, theta):
    """(N1,) log evidence gained by each row when it enters a block with these columns, its level integrated out."""
    side = given.entries.by_columns
    gain, inside = np.zeros(exposed.size), cover(given, columns)
    for j in range(columns.size):
        if columns[j]:
            for p in range(side.start[j], side.start[j + 1]):
                i = side.item[p]
                level = level_at(given, i, exposed[i])
                gain[i] += entry_gain(given, mu, level, given.across[j], side.order[p], theta)
    for i in range(gain.size):
        gain[i] -= cost(given, i, exposed[i], theta * inside[i])
    return gain


@njit(cache=True, nogil=True)
def gain_of_columns(given, mu, exposed, rows, columns, theta):
    """(N2,) log likelihood gained by each column when it enters a block, the rows at the levels expected with the ``columns``: to
    propose by."""
    side = given.entries.by_rows
    inside, levels, gain = cover(given, columns), np.zeros(rows.size), np.zeros(columns.size)
    for i in range(rows.size):
        if rows[i]:
            levels[i] = level_at(given, i, exposed[i] + theta * inside[i])
            for p in range(side.start[i], side.start[i + 1]):
                j = side.item[p]
                gain[j] += entry_gain(given, mu, levels[i], given.across[j], side.order[p], theta)
    return gain - theta * given.across * exposure(side, levels, columns.size)


@njit(cache=True, nogil=True)
def draw_row_levels(rng, given, exposed, before):
    """``u_i ~ Gamma(d + y_i, d + E_i)`` of counts; as ``before`` where rows have no levels, and of links, whose moves draw them."""
    if not given.free or given.entries.links:
        return before
    out = np.empty(exposed.size)
    for i in range(out.size):
        out[i] = max(rng.standard_gamma(given.shape + given.sums[i]) / (given.shape + exposed[i]), LEAST)
    return out


@njit(cache=True, nogil=True)
def log_row_of(rng, given, mu, exposed, i, level, draw):
    """Log evidence for row i, but for what no block changes, and its level. Of counts the level is integrated out and stays. Of links it is
    log likelihood and prior less the log density of a fitted Gamma at the ``level``, which with ``draw`` is drawn from it first."""
    side, total = given.entries.by_rows, 0.0
    if given.entries.links:
        if given.free:
            mean, _, sharp = fit_row(given, mu, i, exposed[i])
            if draw:
                level = max(rng.standard_gamma(sharp) * mean / sharp, LEAST)
            total += log_gamma_density(level, given.shape, given.shape)
            total -= log_gamma_density(level, sharp, sharp / mean)
        return total + log_row(given, mu, i, exposed[i], level), level
    for p in range(side.start[i], side.start[i + 1]):
        total += given.entries.values[side.order[p]] * math.log(mu[side.order[p]])
    if given.free:
        return total - (given.shape + given.sums[i]) * math.log(given.shape + exposed[i]), level
    return total - exposed[i], level


@njit(cache=True, nogil=True)
def log_rows(rng, given, mu, exposed, members, levels, draw):
    """:func:`log_row_of` of all ``members`` together; ``levels`` (N1,) are written to with ``draw``."""
    total = 0.0
    for i in range(members.size):
        if members[i]:
            value, levels[i] = log_row_of(rng, given, mu, exposed, i, levels[i], draw)
            total += value
    return total


@njit(cache=True, nogil=True)
def log_row(given, mu, i, exposed, level):
    """Log likelihood of the links of row i at this level."""
    side, total = given.entries.by_rows, -level * exposed
    for p in range(side.start[i], side.start[i + 1]):
        t = max(level * given.across[side.item[p]] * mu[side.order[p]], LEAST)
        total += t + math.log(-math.expm1(-t))
    return total


@njit(cache=True, nogil=True)
def log_change(rng, given, mu, exposed, new_mu, new_exposed, members, levels):
    """What :func:`log_rows` of these rows gains by going over to ``new_mu`` and ``new_exposed``, and all levels after it (of links drawn anew
    for these rows, of counts as they were)."""
    after = levels.copy()
    gain = log_rows(rng, given, new_mu, new_exposed, members, after, True)
    return gain - log_rows(rng, given, mu, exposed, members, levels, False), after
