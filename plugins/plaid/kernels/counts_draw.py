"""Events behind counts and links shared out between background and blocks, then levels and degrees given them (all conjugate)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.counts_scan import LEAST, add_level, added_up, inside_block

SURE = 20.0
"""Rate from which a Poisson number is drawn until it is above 0, instead of by inversion."""


@njit(cache=True, nogil=True)
def rates_of(entries, rows, columns, theta, level, row_degree, column_degree):
    """Rates of the entries and what of them is background, (nnz,) each: ``level u_i v_j + sum_k z1_ik z2_jk theta_k``."""
    base = np.empty(entries.values.size)
    fill_background(entries, level, row_degree, column_degree, base, 0, base.size)
    rates = base.copy()
    for k in range(theta.size):
        add_level(entries, rates, base, rows[k], columns[k], theta[k])
    return rates, base


@njit(cache=True, nogil=True)
def fill_background(entries, level, row_degree, column_degree, base, lo, hi):
    """Background of entries lo to hi, into ``base`` (nnz,)."""
    for e in range(lo, hi):
        base[e] = max(level * row_degree[entries.row[e]] * column_degree[entries.column[e]], LEAST)


@njit(cache=True, nogil=True)
def positive_poisson(rng, rate):
    """A Poisson number given that it is above 0."""
    if rate > SURE:
        found = rng.poisson(rate)
        while found == 0:
            found = rng.poisson(rate)
        return float(found)
    chance = rate / math.expm1(rate) if rate > 0.0 else 1.0
    left, found = rng.random() - chance, 1
    while left > 0.0 and found < 1000:
        found += 1
        chance *= rate / found
        left -= chance
    return float(found)


@njit(cache=True, nogil=True)
def share_out(rng, entries, rates, base, rows, columns, theta):
    """Events of the background by row (N1,) and by column (N2,), and of each block (K,).

    A count is multinomial over background and blocks given their sum; of a link the count is drawn first.
    """
    by_row, by_column, by_block = np.zeros(rows.shape[1]), np.zeros(columns.shape[1]), np.zeros(theta.size)
    for e in range(entries.values.size):
        i, j, total = entries.row[e], entries.column[e], rates[e]
        left = positive_poisson(rng, total) if entries.links else entries.values[e]
        for k in range(theta.size):
            if left > 0.0 and rows[k, i] and columns[k, j]:
                own = float(rng.binomial(int(left), min(theta[k] / total, 1.0)))
                by_block[k] += own
                left -= own
                total = max(total - theta[k], base[e])
        by_row[i] += left
        by_column[j] += left
    return by_row, by_column, by_block


@njit(cache=True, nogil=True)
def exposure(side, across, size):
    """Sum over the observed cells of each of ``size`` items of the degrees ``across``."""
    out = np.full(size, across.sum())
    for j in range(across.size):
        for p in range(side.gap_start[j], side.gap_start[j + 1]):
            out[side.gap_item[p]] -= across[j]
    return np.maximum(out, 0.0)


@njit(cache=True, nogil=True)
def log_shape(shape, events, exposed, prior_shape, prior_rate):
    """Log density of the logarithm of the degrees' shape, the degrees integrated out (negative binomial), up to a constant."""
    total = prior_shape * math.log(shape) - prior_rate * shape
    total += events.size * (shape * math.log(shape) - math.lgamma(shape))
    for i in range(events.size):
        total += math.lgamma(shape + events[i]) - (shape + events[i]) * math.log(shape + exposed[i])
    return total


@njit(cache=True, nogil=True)
def draw_degrees(rng, events, exposed, shape, prior_shape, prior_rate, least):
    """Shape of the degrees, from ``least`` on, by Metropolis steps of three sizes, then ``u_i ~ Gamma(d + y_i, d + exposed_i)``.

    ``events`` and ``exposed`` (N,) are those of the items at degree 1. Returns (shape, degrees).
    """
    shape = max(shape, least)
    now = log_shape(shape, events, exposed, prior_shape, prior_rate)
    for step in (0.05, 0.2, 0.8):
        other = shape * math.exp(step * rng.standard_normal())
        if other < least:
            continue
        then = log_shape(other, events, exposed, prior_shape, prior_rate)
        if math.log(rng.random()) < then - now:
            shape, now = other, then
    out = np.empty(events.size)
    for i in range(out.size):
        out[i] = max(rng.standard_gamma(shape + events[i]) / (shape + exposed[i]), LEAST)
    return shape, out


@njit(cache=True, nogil=True)
def rescale(rng, level, degree, shape, prior_shape, prior_rate):
    """Degrees times c, the background's level divided by it, by Metropolis steps in log c: rates stay, priors decide."""
    count, total = degree.size * shape - prior_shape, shape * degree.sum()
    log_c, now = 0.0, -total - prior_rate * level
    step = 2.4 / math.sqrt(total + prior_shape + 1.0)
    for _ in range(2):
        other = log_c + step * rng.standard_normal()
        then = count * other - total * math.exp(other) - prior_rate * level * math.exp(-other)
        if math.log(rng.random()) < then - now:
            log_c, now = other, then
    return level * math.exp(-log_c), degree * math.exp(log_c)


@njit(cache=True, nogil=True)
def draw_levels(rng, entries, rows, columns, theta, background, law, shape_prior, level_prior, degrees):
    """Levels of the blocks and of the background, degrees of rows and columns, given the memberships.

    Parameters
    ----------
    background : (level, row degrees (N1,), column degrees (N2,), shape of either)
    shape_prior : shape, rate and lower end of the Gamma prior of the degrees' shapes
    level_prior : (shape, rate) of the Gamma prior of the level
    degrees : (rows, columns), whether they have degrees

    Returns
    -------
    theta : (K,), ``theta_k ~ Gamma(a + y_k, b + cells_k)``
    background : as given
    """
    rates, base = rates_of(entries, rows, columns, theta, background[0], background[1], background[2])
    return draw_given_rates(
        rng, entries, rates, base, rows, columns, theta, background, law, shape_prior, level_prior, degrees
    )


@njit(cache=True, nogil=True)
def draw_given_rates(
    rng, entries, rates, base, rows, columns, theta, background, law, shape_prior, level_prior, degrees
):
    """:func:`draw_levels` from the ``rates`` of the entries and what of them is background (``base``), (nnz,) each."""
    level, u, v, row_shape, column_shape = background
    by_row, by_column, by_block = share_out(rng, entries, rates, base, rows, columns, theta)
    out = np.empty(theta.size)
    for k in range(theta.size):
        _, area = inside_block(entries, rows[k], columns[k])
        out[k] = max(rng.standard_gamma(law.shape + by_block[k]) / (law.rate + area), 1e-300)
    if degrees[0]:
        exposed = level * exposure(entries.by_columns, v, u.size)
        row_shape, u = draw_degrees(
            rng, by_row, exposed, row_shape, shape_prior[0], shape_prior[1], shape_prior[2]
        )
    if degrees[1]:
        exposed = level * exposure(entries.by_rows, u, v.size)
        column_shape, v = draw_degrees(
            rng, by_column, exposed, column_shape, shape_prior[0], shape_prior[1], shape_prior[2]
        )
    cells = (exposure(entries.by_columns, v, u.size) * u).sum()
    level = max(rng.standard_gamma(level_prior[0] + by_row.sum()) / (level_prior[1] + cells), LEAST)
    if degrees[0]:
        level, u = rescale(rng, level, u, row_shape, level_prior[0], level_prior[1])
    if degrees[1]:
        level, v = rescale(rng, level, v, column_shape, level_prior[0], level_prior[1])
    return out, (level, u, v, row_shape, column_shape)


@njit(cache=True, nogil=True)
def log_likelihood(entries, rows, columns, theta, level, row_degree, column_degree):
    """Log probability of all observed cells, without the factorials of counts."""
    rates, _ = rates_of(entries, rows, columns, theta, level, row_degree, column_degree)
    total = log_of_nothing(entries, level, row_degree, column_degree)
    for k in range(theta.size):
        _, area = inside_block(entries, rows[k], columns[k])
        total -= theta[k] * area
    terms = np.empty(rates.size)
    log_entries(entries, rates, terms, 0, rates.size)
    return added_up(terms, total)


@njit(cache=True, nogil=True)
def log_of_nothing(entries, level, row_degree, column_degree):
    """Log probability that the background adds nothing to any observed cell."""
    exposed = exposure(entries.by_columns, column_degree, row_degree.size)
    return -level * (exposed * row_degree).sum()


@njit(cache=True, nogil=True)
def log_entries(entries, rates, terms, lo, hi):
    """What entries lo to hi add to the log likelihood beside ``- rate`` of every cell, into ``terms`` (nnz,)."""
    for e in range(lo, hi):
        if entries.links:
            terms[e] = rates[e] + math.log(-math.expm1(-rates[e]))
        else:
            terms[e] = entries.values[e] * math.log(rates[e])
