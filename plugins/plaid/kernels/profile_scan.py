"""Gibbs passes over one block's memberships with its shift and its profile integrated out.

With ``P_j = sum_i t_i w_ij`` and ``Q_j = sum_i t_i R_ij`` over the block's rows, ``D_j = 1 + within P_j``:
``log E = sum_j [-log(D_j)/2 + within Q_j^2 / (2 D_j)] + log(tau/(tau+U))/2 + (tau mu + V)^2 / (2 (tau+U)) - tau mu^2/2``
with ``U = sum_j P_j/D_j``, ``V = sum_j Q_j/D_j`` over its columns.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.profile_evidence import add_layer


@njit(cache=True, nogil=True)
def log_block_evidence(own, spread, pull, law):
    """``log E`` from the sums ``own`` (the bracket), ``spread`` (U) and ``pull`` (V) over the block's columns."""
    precision = law.tau + spread
    mean = law.tau * law.mu + pull
    return own + 0.5 * math.log(law.tau / precision) + 0.5 * mean * mean / precision


@njit(cache=True, nogil=True)
def sums_over_rows(plane, residual, z1):
    """``P`` and ``Q`` of each column: (N2,) each. O(m1 N2)."""
    sums = np.zeros((2, residual.shape[1]))
    add_to_columns(plane, residual, np.flatnonzero(z1), sums, 0, residual.shape[1])
    return sums[0], sums[1]


@njit(cache=True, nogil=True)
def add_to_columns(plane, residual, chosen, sums, lo, hi):
    """:func:`sums_over_rows` of the rows ``chosen``, into columns lo to hi of ``sums`` (2, N2), which are 0."""
    weights, pulls = sums[0, lo:hi], sums[1, lo:hi]
    for i in chosen:
        known, values, t = plane.w[i, lo:hi], residual[i, lo:hi], plane.t[i]
        for j in range(weights.size):
            weights[j] += t * known[j]
            pulls[j] += t * values[j]


@njit(cache=True, nogil=True)
def toggled(plane, residual, weights, pulls, picked, i, sign):
    """The three sums of :func:`log_block_evidence` with row i added (``sign`` 1), taken off (-1) or as it is (0)."""
    own, spread, pull, product = 0.0, 0.0, 0.0, 1.0
    for j in picked:
        p = weights[j] + sign * plane.t[i] * plane.w[i, j]
        q = pulls[j] + sign * plane.t[i] * residual[i, j]
        d = 1.0 + plane.within * p
        product *= d
        if product > 1e250:
            own -= 0.5 * math.log(product)
            product = 1.0
        own += 0.5 * plane.within * q * q / d
        spread += p / d
        pull += q / d
    return own - 0.5 * math.log(product), spread, pull


@njit(cache=True, nogil=True)
def choose(rng, odds, forced, wanted):
    """A membership drawn at these log odds, or ``wanted``; and its log probability."""
    inside = wanted if forced else rng.random() * (1.0 + math.exp(min(-odds, 700.0))) < 1.0
    signed = odds if inside else -odds
    return inside, -math.log1p(math.exp(-signed)) if signed > 0.0 else signed - math.log1p(math.exp(signed))


@njit(cache=True, nogil=True)
def row_pass(rng, plane, residual, z1, z2, law, target):
    """One pass over the rows of a block, in place; the log probability of the pass. O(N1 m2).

    ``target`` (N1,) are the memberships to end at, empty when they are drawn. The last row left in stays in the
    infinite model.
    """
    picked = np.flatnonzero(z2)
    weights, pulls = sums_over_rows(plane, residual, z1)
    now = toggled(plane, residual, weights, pulls, picked, 0, 0.0)
    ahead = np.empty((0, 3))
    _, _, _, log_q = draw_rows(
        rng,
        plane,
        residual,
        weights,
        pulls,
        picked,
        z1,
        law,
        target,
        ahead,
        0,
        0,
        z1.size,
        now,
        z1.sum(),
        0.0,
    )
    return log_q


@njit(cache=True, nogil=True)
def try_rows(plane, residual, weights, pulls, picked, z1, ahead, lo, hi):
    """:func:`toggled` of rows lo to hi on the other side, as the block is, into ``ahead`` (N1, 3)."""
    for i in range(lo, hi):
        ahead[i] = toggled(plane, residual, weights, pulls, picked, i, -1.0 if z1[i] else 1.0)


@njit(cache=True, nogil=True)
def draw_rows(
    rng, plane, residual, weights, pulls, picked, z1, law, target, ahead, at, known, calm, now, members, log_q
):
    """Rows from ``at`` on of :func:`row_pass`, until ``calm`` of them after each other, beyond those ``known``, have stayed on their sides.

    Parameters
    ----------
    ahead : (N1, 3) of :func:`try_rows`, made for rows below ``known``; until a row changes sides they need not be tried
    now, members, log_q : the three sums of the block as it is, its rows, and the log probability so far

    Returns
    -------
    at, now, members, log_q : where it stopped
    """
    forced, size, quiet = target.size > 0, z1.size, 0
    for i in range(at, size):
        if quiet >= calm and i >= known:
            return i, now, members, log_q
        quiet += 1
        weight = law.a1 + members - z1[i]
        if weight == 0.0:
            if forced and not target[i]:
                log_q = -np.inf
            continue
        if i < known:
            other = (ahead[i, 0], ahead[i, 1], ahead[i, 2])
        else:
            other = toggled(plane, residual, weights, pulls, picked, i, -1.0 if z1[i] else 1.0)
        gain = log_block_evidence(*other, law) - log_block_evidence(*now, law)
        odds = math.log(weight / (law.b1 + size - 1 - (members - z1[i]))) + (-gain if z1[i] else gain)
        inside, share = choose(rng, odds, forced, target[i] if forced else False)
        log_q += share
        if inside != z1[i]:
            sign = 1.0 if inside else -1.0
            for j in range(weights.size):
                weights[j] += sign * plane.t[i] * plane.w[i, j]
                pulls[j] += sign * plane.t[i] * residual[i, j]
            members += 1 if inside else -1
            z1[i], now, known, quiet = inside, other, 0, 0
    return size, now, members, log_q


@njit(cache=True, nogil=True)
def column_pass(rng, plane, residual, z1, z2, law, target):
    """As :func:`row_pass` over the columns. O(N2 m1)."""
    weights, pulls = sums_over_rows(plane, residual, z1)
    return draw_columns(rng, plane, weights, pulls, z2, law, target)


@njit(cache=True, nogil=True)
def draw_columns(rng, plane, weights, pulls, z2, law, target):
    """The decisions of :func:`column_pass` from the sums over the block's rows (N2,), which are used up."""
    forced, size = target.size > 0, z2.size
    own, spread, pull, members, log_q = 0.0, 0.0, 0.0, 0, 0.0
    scale = 1.0 + plane.within * weights
    bracket = -0.5 * np.log(scale) + 0.5 * plane.within * pulls * pulls / scale
    weights /= scale
    pulls /= scale
    for j in range(size):
        if z2[j]:
            own, spread, pull, members = own + bracket[j], spread + weights[j], pull + pulls[j], members + 1
    for j in range(size):
        if z2[j]:
            own, spread, pull, members = own - bracket[j], spread - weights[j], pull - pulls[j], members - 1
        weight = law.a2 + members
        inside = True
        if weight == 0.0:
            if forced and not target[j]:
                log_q = -np.inf
        else:
            gain = log_block_evidence(own + bracket[j], spread + weights[j], pull + pulls[j], law)
            gain -= log_block_evidence(own, spread, pull, law)
            odds = math.log(weight / (law.b2 + size - 1 - members)) + gain
            inside, share = choose(rng, odds, forced, target[j] if forced else False)
            log_q += share
        z2[j] = inside
        if inside:
            own, spread, pull, members = own + bracket[j], spread + weights[j], pull + pulls[j], members + 1
    return log_q


@njit(cache=True, nogil=True)
def scan_profile_block(rng, plane, residual, rows, columns, theta, profiles, k, law):
    """Rows, then columns of block k, then its shift and its profile; ``residual`` and the unknowns in place."""
    free = np.empty(0, np.bool_)
    add_layer(plane, residual, rows[k], columns[k], profiles[k], 1.0)
    row_pass(rng, plane, residual, rows[k], columns[k], law, free)
    column_pass(rng, plane, residual, rows[k], columns[k], law, free)
    weights, pulls = sums_over_rows(plane, residual, rows[k])
    theta[k] = draw_profile(rng, plane, weights, pulls, columns[k], profiles[k], law)
    add_layer(plane, residual, rows[k], columns[k], profiles[k], -1.0)


@njit(cache=True, nogil=True)
def draw_profile(rng, plane, weights, pulls, z2, profile, law):
    """A block's shift, and its ``profile`` (N2,) in place, from the sums over its rows (N2,)."""
    scale = 1.0 + plane.within * weights
    precision, mean = law.tau, law.tau * law.mu
    for j in np.flatnonzero(z2):
        precision += weights[j] / scale[j]
        mean += pulls[j] / scale[j]
    theta = mean / precision + rng.standard_normal() / math.sqrt(precision)
    profile[:] = 0.0
    for j in np.flatnonzero(z2):
        spread = math.sqrt(plane.within / scale[j])
        profile[j] = (theta + plane.within * pulls[j]) / scale[j] + spread * rng.standard_normal()
    return theta


@njit(cache=True, nogil=True)
def pass_new(rng, plane, residual, z1, z2, law, target1, target2):
    """Rows, then columns of a block that is not taken off the residual, in place; log probability of the pass."""
    log_q = row_pass(rng, plane, residual, z1, z2, law, target1)
    return log_q + column_pass(rng, plane, residual, z1, z2, law, target2)
