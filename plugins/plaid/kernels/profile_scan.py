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
    weights, pulls = np.zeros(residual.shape[1]), np.zeros(residual.shape[1])
    for i in np.flatnonzero(z1):
        for j in range(weights.size):
            weights[j] += plane.t[i] * plane.w[i, j]
            pulls[j] += plane.t[i] * residual[i, j]
    return weights, pulls


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
    forced, size = target.size > 0, z1.size
    picked = np.flatnonzero(z2)
    weights, pulls = sums_over_rows(plane, residual, z1)
    members, log_q = z1.sum(), 0.0
    now = toggled(plane, residual, weights, pulls, picked, 0, 0.0)
    for i in range(size):
        weight = law.a1 + members - z1[i]
        if weight == 0.0:
            if forced and not target[i]:
                log_q = -np.inf
            continue
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
            z1[i], now = inside, other
    return log_q


@njit(cache=True, nogil=True)
def column_pass(rng, plane, residual, z1, z2, law, target):
    """As :func:`row_pass` over the columns. O(N2 m1)."""
    forced, size = target.size > 0, z2.size
    weights, pulls = sums_over_rows(plane, residual, z1)
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
    scale = 1.0 + plane.within * weights
    precision, mean = law.tau, law.tau * law.mu
    for j in np.flatnonzero(columns[k]):
        precision += weights[j] / scale[j]
        mean += pulls[j] / scale[j]
    theta[k] = mean / precision + rng.standard_normal() / math.sqrt(precision)
    profiles[k] = 0.0
    for j in np.flatnonzero(columns[k]):
        spread = math.sqrt(plane.within / scale[j])
        profiles[k, j] = (theta[k] + plane.within * pulls[j]) / scale[j] + spread * rng.standard_normal()
    add_layer(plane, residual, rows[k], columns[k], profiles[k], -1.0)


@njit(cache=True, nogil=True)
def pass_new(rng, plane, residual, z1, z2, law, target1, target2):
    """Rows, then columns of a block that is not taken off the residual, in place; log probability of the pass."""
    log_q = row_pass(rng, plane, residual, z1, z2, law, target1)
    return log_q + column_pass(rng, plane, residual, z1, z2, law, target2)
