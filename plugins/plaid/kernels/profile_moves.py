"""Births, deaths and exchanges of blocks with a column profile: background, shifts and profiles integrated out."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.birth_death import draw_subset, log_proposal, one_item, one_sign
from plaidwork.plugins.plaid.kernels.blocks import append_row, drop_row
from plaidwork.plugins.plaid.kernels.evidence import log_block
from plaidwork.plugins.plaid.kernels.pairs import propose_pair
from plaidwork.plugins.plaid.kernels.profile_evidence import (
    log_marginal_profiles,
    profile_levels,
    profile_residual,
)
from plaidwork.plugins.plaid.kernels.profile_scan import column_pass, pass_new, scan_profile_block


@njit(cache=True, nogil=True)
def launch_profile(rng, plane, residual, law):
    """A random state from a row's or a column's signs in the residual, then two passes."""
    n_rows, n_columns = residual.shape
    free = np.empty(0, np.bool_)
    i, j = rng.integers(0, n_rows), rng.integers(0, n_columns)
    z1, z2 = one_item(n_rows, i), one_item(n_columns, j)
    if rng.random() < 0.5:
        z2 = one_sign(rng, residual[i], j)
    else:
        z1 = one_sign(rng, residual[:, j].copy(), i)
        column_pass(rng, plane, residual, z1, z2, law, free)
    for _ in range(2):
        pass_new(rng, plane, residual, z1, z2, law, free, free)
    return z1, z2


@njit(cache=True, nogil=True)
def profile_birth_death(rng, plane, rows, columns, marginal, law, prior_share, full, room):
    """Try to add a block, or to remove one; ``marginal`` is ``log M`` of the blocks as they are.

    ``log A(birth) = log M(Z+x) - log M(Z) + ltar(x) - log(K+1) - log q(x | Z)``; death is minus the same. The launch sees the
    residual at the mean levels of the remaining blocks, so that it can be drawn afresh in both directions; it is put into
    ``room`` (N1, N2).

    Returns
    -------
    rows, columns, marginal : afterwards (the old arrays are not written to)
    accepted : bool
    """
    birth = rng.random() < 0.5
    n_blocks = rows.shape[0]
    if (birth and n_blocks >= law.max_blocks) or (not birth and n_blocks == 0):
        return rows, columns, marginal, False
    k = 0 if birth else rng.integers(0, n_blocks)
    rest_rows, rest_columns = (rows, columns) if birth else (drop_row(rows, k), drop_row(columns, k))
    phi, _, profiles = profile_levels(rng, plane, rest_rows, rest_columns, law, full, False)
    residual = profile_residual(plane, rest_rows, rest_columns, profiles, phi, room)
    y1, y2 = launch_profile(rng, plane, residual, law)
    free = np.empty(0, np.bool_)
    if birth:
        from_prior = rng.random() < prior_share
        z1 = draw_subset(rng, y1.size) if from_prior else free
        z2 = draw_subset(rng, y2.size) if from_prior else free
        log_q = pass_new(rng, plane, residual, y1, y2, law, z1, z2)
        if not from_prior:
            z1, z2 = y1, y2
        new_rows, new_columns = append_row(rows, z1), append_row(columns, z2)
    else:
        z1, z2 = rows[k].copy(), columns[k].copy()
        log_q = pass_new(rng, plane, residual, y1, y2, law, z1, z2)
        new_rows, new_columns = rest_rows, rest_columns
    new_marginal = log_marginal_profiles(plane, new_rows, new_columns, law, full)
    detail = (
        log_block(law, z1, z2) - math.log(rest_rows.shape[0] + 1) - log_proposal(z1, z2, log_q, prior_share)
    )
    if math.log(rng.random()) >= new_marginal - marginal + (detail if birth else -detail):
        return rows, columns, marginal, False
    return new_rows, new_columns, new_marginal, True


@njit(cache=True, nogil=True)
def profile_exchange(rng, plane, rows, columns, marginal, law, full):
    """Try one exchange between two blocks, see ``kernels.pairs``. Returns as :func:`profile_birth_death`."""
    if rows.shape[0] < 2:
        return rows, columns, marginal, False
    new_rows, new_columns, _, _, log_ratio = propose_pair(rng, rows, columns, law)
    if log_ratio == -np.inf:
        return rows, columns, marginal, False
    new_marginal = log_marginal_profiles(plane, new_rows, new_columns, law, full)
    if math.log(rng.random()) >= log_ratio + new_marginal - marginal:
        return rows, columns, marginal, False
    return new_rows, new_columns, new_marginal, True


@njit(cache=True, nogil=True)
def run_profile_tasks(
    rng, plane, rows, columns, theta, profiles, phi, order, codes, law, prior_share, full, draw, room
):
    """Membership scans of the blocks of ``order``, then the moves of ``codes``, then the joint draw if ``draw``.

    Codes as in ``run_tasks``: 0 birth or death, 3 exchange. The scans write to the unknowns.

    Returns
    -------
    rows, columns, theta, profiles, phi : afterwards; theta, profiles and phi are new only with ``draw``
    residual : ``room`` (N1, N2), at the new levels; empty without ``draw``
    accepted : (5,) int64, how often the move of each code was accepted
    """
    accepted = np.zeros(5, np.int64)
    residual = np.empty((0, 0))
    if order.size:
        left = profile_residual(plane, rows, columns, profiles, phi, room)
        for k in order:
            scan_profile_block(rng, plane, left, rows, columns, theta, profiles, k, law)
    if codes.size:
        marginal = log_marginal_profiles(plane, rows, columns, law, full)
        for code in codes:
            if code == 0:
                rows, columns, marginal, done = profile_birth_death(
                    rng, plane, rows, columns, marginal, law, prior_share, full, room
                )
            else:
                rows, columns, marginal, done = profile_exchange(
                    rng, plane, rows, columns, marginal, law, full
                )
            accepted[code] += done
    if draw:
        phi, theta, profiles = profile_levels(rng, plane, rows, columns, law, full, True)
        residual = profile_residual(plane, rows, columns, profiles, phi, room)
    return rows, columns, theta, profiles, phi, residual, accepted
