"""The seed's own row-wise move, repaired (section 2.7): replace the blocks that hold one row only."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.birth_death import draw_subset, harmonic, one_item
from plaidwork.plugins.plaid.kernels.blocks import append_row, drop_row


@njit(cache=True, nogil=True)
def drop_singletons(along, other, theta, i):
    """Copies without the blocks whose only member along this side is i, and the sum of their layers."""
    layer = np.zeros(other.shape[1])
    for k in range(theta.size - 1, -1, -1):
        if along[k, i] and along[k].sum() == 1:
            layer += theta[k] * other[k]
            along, other = drop_row(along, k), drop_row(other, k)
            theta = np.concatenate((theta[:k], theta[k + 1 :]))
    return along, other, theta, layer


@njit(cache=True, nogil=True)
def replace_singletons(rng, values, known, along, other, theta, phi, i, law):
    """Propose ``k_new ~ Poisson(alpha H_N2 / N1)`` blocks from the prior in place of the singletons of item i.

    Prior and proposal cancel, so that the likelihood ratio of this row (or column) decides.

    Parameters
    ----------
    values, known : the row or column of the data and where it is observed, or the weights
    along, other, theta : (K, N) memberships along and across, (K,) shifts
    phi : background in the unit of ``values``
    """
    rest, rest_other, rest_theta, old = drop_singletons(along, other, theta, i)
    n_new = rng.poisson(law.alpha * harmonic(other.shape[1]) / along.shape[1])
    new = np.zeros(other.shape[1])
    base = np.full(other.shape[1], phi)
    for k in range(rest_theta.size):
        if rest[k, i]:
            base += rest_theta[k] * rest_other[k]
    if rest_theta.size + n_new > law.max_blocks:
        return along, other, theta, False
    for _ in range(n_new):
        shift = law.mu + rng.standard_normal() / math.sqrt(law.tau)
        z = draw_subset(rng, other.shape[1])
        new += shift * z
        rest, rest_other = append_row(rest, one_item(along.shape[1], i)), append_row(rest_other, z)
        rest_theta = np.append(rest_theta, shift)
    log_ratio = 0.0
    for j in range(values.size):
        if known[j]:
            residual = values[j] - base[j]
            log_ratio -= 0.5 * law.tau0 * known[j] * ((residual - new[j]) ** 2 - (residual - old[j]) ** 2)
    if math.log(rng.random()) >= log_ratio:
        return along, other, theta, False
    return rest, rest_other, rest_theta, True


@njit(cache=True, nogil=True)
def row_wise(rng, cells, rows, columns, theta, phi, law):
    """:func:`replace_singletons` for every row, then every column. Returns the new blocks and acceptances."""
    accepted = 0
    n_rows, n_columns = cells.x.shape
    for i in range(n_rows):
        rows, columns, theta, moved = replace_singletons(
            rng, cells.x[i].copy(), cells.w[i].copy(), rows, columns, theta, phi + cells.centre, i, law
        )
        accepted += moved
    for j in range(n_columns):
        columns, rows, theta, moved = replace_singletons(
            rng, cells.x[:, j].copy(), cells.w[:, j].copy(), columns, rows, theta, phi + cells.centre, j, law
        )
        accepted += moved
    return rows, columns, theta, accepted
