"""Blocks with a column profile ``b_kj ~ N(theta_k, within)``: background, shifts and profiles integrated out, or drawn.

Given the memberships, columns share only the background and the shifts. With ``G_kl = sum_i t_i w_ij z_ik z_il`` and
``y_k = sum_i t_i z_ik y_ij`` over the blocks of column j, ``B = I + within G``, ``a = B^-1`` and ``g`` the diagonal of G,
column j adds ``a G`` to the precision of theta, ``a y`` to its linear term, ``a g`` between theta and the background,
``n - within g'a g`` and ``S - within g'a y`` to the background's own, and ``-log|B|/2 + within y'a y / 2``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.evidence import back_solve


@njit(cache=True, nogil=True)
def profile_statistics(plane, rows, columns):
    """Sums over a block's rows in each of its columns, and what pairs of blocks share in weight where no cell is missing.

    Returns
    -------
    sums : (K, N2) ``y_k`` of each column; 0 outside the block's columns
    shared : (K, K) ``sum_i t_i z_ik z_il``
    """
    n_blocks, n_columns = columns.shape
    sums = np.zeros((n_blocks, n_columns))
    sum_blocks_columns(plane, rows, columns, sums, 0, n_columns)
    return sums, shared_weights(plane, rows)


@njit(cache=True, nogil=True)
def shared_weights(plane, rows):
    """``shared`` (K, K) of :func:`profile_statistics`."""
    n_blocks = len(rows)
    shared = np.zeros((n_blocks, n_blocks))
    for k in range(n_blocks):
        for i in np.flatnonzero(rows[k]):
            for other in range(k + 1):
                if rows[other, i]:
                    shared[k, other] += plane.t[i]
        for other in range(k):
            shared[other, k] = shared[k, other]
    return shared


@njit(cache=True, nogil=True)
def sum_blocks_columns(plane, rows, columns, sums, lo, hi):
    """The ``sums`` (K, N2) of :func:`profile_statistics`, which are 0, in columns lo to hi."""
    for k in range(len(rows)):
        picked = lo + np.flatnonzero(columns[k, lo:hi])
        for i in np.flatnonzero(rows[k]):
            for j in picked:
                sums[k, j] += plane.t[i] * plane.y[i, j]


@njit(cache=True, nogil=True)
def column_weights(plane, rows, members, shared, j, full):
    """``G`` of the blocks ``members`` in column j: (q, q)."""
    q = members.size
    out = np.empty((q, q))
    for a in range(q):
        for b in range(a + 1):
            total = shared[members[a], members[b]]
            if not full:
                total = 0.0
                for i in range(rows.shape[1]):
                    if rows[members[a], i] and rows[members[b], i] and plane.w[i, j]:
                        total += plane.t[i]
            out[a, b] = out[b, a] = total
    return out


@njit(cache=True, nogil=True)
def cholesky(matrix):
    """Lower triangle of a small positive definite matrix."""
    size = matrix.shape[0]
    out = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            value = matrix[i, j]
            for c in range(j):
                value -= out[i, c] * out[j, c]
            out[i, j] = math.sqrt(max(value, 1e-300)) if i == j else value / out[j, j]
    return out


@njit(cache=True, nogil=True)
def solve_forward(chol, right):
    """``C^-1 right``."""
    out = right.copy()
    for i in range(out.size):
        for j in range(i):
            out[i] -= chol[i, j] * out[j]
        out[i] /= chol[i, i]
    return out


@njit(cache=True, nogil=True)
def column_factor(weights, within):
    """Cholesky factor of ``B = I + within G``."""
    out = within * weights
    for a in range(out.shape[0]):
        out[a, a] += 1.0
    return cholesky(out)


@njit(cache=True, nogil=True)
def shared_system(plane, rows, columns, sums, shared, law, full):
    """Precision (K+1, K+1) and linear term (K+1,) of (phi, theta), the profiles integrated out, and a constant.

    O(sum_j q_j^3) for q_j blocks in column j; where cells are missing O(N1 q_j^2) more.
    """
    n_blocks, n_columns = columns.shape
    precision, linear = np.zeros((n_blocks + 1, n_blocks + 1)), np.empty(n_blocks + 1)
    precision[0, 0] = law.phi_precision
    linear[0] = law.phi_precision * law.phi_mean
    for k in range(n_blocks):
        precision[k + 1, k + 1] = law.tau
        linear[k + 1] = law.tau * law.mu
    constant = 0.0
    for j in range(n_columns):
        precision[0, 0] += plane.totals[0, j]
        linear[0] += plane.totals[1, j]
        members = np.flatnonzero(columns[:, j])
        if members.size == 0:
            continue
        weights = column_weights(plane, rows, members, shared, j, full)
        own, level = sums[members, j], np.diag(weights).copy()
        chol = column_factor(weights, plane.within)
        solved, spread = (
            back_solve(chol, solve_forward(chol, own)),
            back_solve(chol, solve_forward(chol, level)),
        )
        precision[0, 0] -= plane.within * np.dot(level, spread)
        linear[0] -= plane.within * np.dot(level, solved)
        constant += 0.5 * plane.within * np.dot(own, solved)
        for a in range(members.size):
            constant -= math.log(chol[a, a])
            linear[members[a] + 1] += solved[a]
            precision[0, members[a] + 1] += spread[a]
            precision[members[a] + 1, 0] += spread[a]
            column = back_solve(chol, solve_forward(chol, weights[:, a].copy()))
            for b in range(members.size):
                precision[members[b] + 1, members[a] + 1] += column[b]
    return precision, linear, constant


@njit(cache=True, nogil=True)
def log_marginal_profiles(plane, rows, columns, law, full):
    """``log M(Z)`` with the profiles integrated out too, up to terms that depend on data and weights only."""
    sums, shared = profile_statistics(plane, rows, columns)
    precision, linear, total = shared_system(plane, rows, columns, sums, shared, law, full)
    chol = cholesky(precision)
    half = solve_forward(chol, linear)
    total += 0.5 * math.log(law.phi_precision) - 0.5 * law.phi_precision * law.phi_mean**2
    total += 0.5 * rows.shape[0] * (math.log(law.tau) - law.tau * law.mu**2)
    for i in range(half.size):
        total += 0.5 * half[i] * half[i] - math.log(chol[i, i])
    return total


@njit(cache=True, nogil=True)
def profile_levels(rng, plane, rows, columns, law, full, random):
    """Background, shifts (K,) and profiles (K, N2; 0 outside the block's columns): a joint draw, or the mean.

    ``e_j = b_j - theta`` has precision ``B / within`` and mean ``within B^-1 (y - phi g - G theta)``.
    """
    sums, shared = profile_statistics(plane, rows, columns)
    precision, linear, _ = shared_system(plane, rows, columns, sums, shared, law, full)
    chol = cholesky(precision)
    half = solve_forward(chol, linear)
    if random:
        for i in range(half.size):
            half[i] += rng.standard_normal()
    levels = back_solve(chol, half)
    theta = levels[1:].copy()
    profiles = draw_profiles(rng, plane, rows, columns, sums, shared, levels, full, random)
    return levels[0], theta, profiles


@njit(cache=True, nogil=True)
def draw_profiles(rng, plane, rows, columns, sums, shared, levels, full, random):
    """The profiles (K, N2) of :func:`profile_levels` given background and shifts ``levels`` (K + 1,)."""
    theta, profiles = levels[1:], np.zeros(columns.shape)
    for j in range(columns.shape[1]):
        members = np.flatnonzero(columns[:, j])
        if members.size == 0:
            continue
        weights = column_weights(plane, rows, members, shared, j, full)
        chol = column_factor(weights, plane.within)
        right = sums[members, j]
        for a in range(members.size):
            right[a] -= levels[0] * weights[a, a]
            for b in range(members.size):
                right[a] -= weights[a, b] * theta[members[b]]
        half = math.sqrt(plane.within) * solve_forward(chol, right)
        if random:
            for a in range(half.size):
                half[a] += rng.standard_normal()
        found = back_solve(chol, half)
        for a in range(members.size):
            profiles[members[a], j] = theta[members[a]] + math.sqrt(plane.within) * found[a]
    return profiles


@njit(cache=True, nogil=True)
def add_layer(plane, residual, z1, z2, profile, sign):
    """Put a block's layer back into the residual (1) or take it off (-1), in place."""
    picked = np.flatnonzero(z2)
    for i in np.flatnonzero(z1):
        for j in picked:
            residual[i, j] += sign * profile[j] * plane.w[i, j]


@njit(cache=True, nogil=True)
def profile_residual(plane, rows, columns, profiles, phi, out):
    """Data minus background and blocks: ``out`` (N1, N2), 0 where not observed."""
    fill_residual(plane, rows, columns, profiles, phi, out, 0, out.shape[0])
    return out


@njit(cache=True, nogil=True)
def fill_residual(plane, rows, columns, profiles, phi, out, lo, hi):
    """Rows lo to hi of :func:`profile_residual`, into ``out`` (N1, N2)."""
    for i in range(lo, hi):
        given, known, found = plane.y[i], plane.w[i], out[i]
        for j in range(found.size):
            found[j] = (given[j] - phi) * known[j]
    for k in range(rows.shape[0]):
        picked = np.flatnonzero(columns[k])
        for place in np.flatnonzero(rows[k, lo:hi]):
            given, known, found = profiles[k], plane.w[lo + place], out[lo + place]
            for c in picked:
                found[c] -= given[c] * known[c]
