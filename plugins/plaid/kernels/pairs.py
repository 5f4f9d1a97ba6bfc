"""Exchanges between two blocks: swapped sides, differences, and corners; each undoes itself, so that only the target decides."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.blocks import block_sum, shared_cells
from plaidwork.plugins.plaid.kernels.evidence import log_marginal


@njit(cache=True, nogil=True)
def side_weight(members, size, a, b):
    """Log prior weight of a side with so many members, up to a constant; ``a = 0`` (infinite model): none is no state."""
    if a + members <= 0.0:
        return -np.inf
    return math.lgamma(a + members) + math.lgamma(b + size - members)


@njit(cache=True, nogil=True)
def propose_pair(rng, rows, columns, law):
    """Two blocks, one side of them exchanged.

    By coins: the rows or the columns; the two blocks swap them, or those of the second become the symmetric difference
    of both. A proposal comes back with the probability with which it was made.

    Returns
    -------
    rows, columns : copies with the exchange made
    first, second : the blocks
    log_prior : log ratio of the priors of the memberships
    """
    n_blocks = rows.shape[0]
    by_rows, swap = rng.random() < 0.5, rng.random() < 0.5
    first = rng.integers(0, n_blocks)
    second = rng.integers(0, n_blocks - 1)
    second += second >= first
    rows, columns = rows.copy(), columns.copy()
    side = rows if by_rows else columns
    a, b = (law.a1, law.b1) if by_rows else (law.a2, law.b2)
    log_prior = 0.0
    if swap:
        kept = side[first].copy()
        side[first] = side[second]
        side[second] = kept
    else:
        log_prior -= side_weight(side[second].sum(), side.shape[1], a, b)
        side[second] ^= side[first]
        log_prior += side_weight(side[second].sum(), side.shape[1], a, b)
    return rows, columns, first, second, log_prior


@njit(cache=True, nogil=True)
def count_again(cells, rows, columns, counts, sums, k):
    """Statistics of block k brought up to date in place, after its rows or columns were changed."""
    own, sums[k + 1] = block_sum(cells, rows[k], columns[k])
    counts[k + 1, 0] = counts[0, k + 1] = counts[k + 1, k + 1] = own
    for other in range(rows.shape[0]):
        if other != k:
            shared = shared_cells(cells, rows[other], columns[other], rows[k], columns[k])
            counts[k + 1, other + 1] = counts[other + 1, k + 1] = shared


@njit(cache=True, nogil=True)
def try_pair(rng, cells, rows, columns, counts, sums, law, proposal):
    """Take what is proposed for two blocks or not: ``log A = log M(Z') - log M(Z) + log p(Z') - log p(Z)``.

    ``proposal`` is as :func:`propose_pair` returns it. Returns as :func:`~plaidwork.plugins.plaid.kernels.birth_death.birth_death`.
    """
    new_rows, new_columns, first, second, log_ratio = proposal
    if log_ratio == -np.inf:
        return rows, columns, counts, sums, False
    new_counts, new_sums = counts.copy(), sums.copy()
    count_again(cells, new_rows, new_columns, new_counts, new_sums, first)
    count_again(cells, new_rows, new_columns, new_counts, new_sums, second)
    log_ratio += log_marginal(new_counts, new_sums, law) - log_marginal(counts, sums, law)
    if math.log(rng.random()) >= log_ratio:
        return rows, columns, counts, sums, False
    return new_rows, new_columns, new_counts, new_sums, True


@njit(cache=True, nogil=True)
def exchange(rng, cells, rows, columns, counts, sums, law):
    """Try one exchange. Returns as :func:`~plaidwork.plugins.plaid.kernels.birth_death.birth_death`."""
    if rows.shape[0] < 2:
        return rows, columns, counts, sums, False
    return try_pair(rng, cells, rows, columns, counts, sums, law, propose_pair(rng, rows, columns, law))


@njit(cache=True, nogil=True)
def mostly_in(z, other):
    """Whether at least half of the members of ``z`` are in ``other``."""
    members, both = 0, 0
    for i in range(z.size):
        members += z[i]
        both += z[i] & other[i]
    return 2 * both >= members


@njit(cache=True, nogil=True)
def propose_recut(rng, rows, columns, law):
    """What two blocks cover together cut another way: as :func:`propose_pair`, and whether the two are of a kind that can be.

    Of the blocks U and V, along rows or columns by a coin, and by another coin
    - V takes the symmetric difference of both along, where both are alike across: a block and another that takes a part of it back;
    - a corner: V takes the difference of both along and U that across, where V lies in U along. An L-shape is a block less the one in its
      corner, or two blocks side by side; with shifts of one size all cells stay as they are, and no change of a single row or column leads there.

    Either undoes itself and says the same of the pair before and after, so that pairs that it does not fit are left without a look at the data.
    """
    n_blocks = rows.shape[0]
    by_rows, corner = rng.random() < 0.5, rng.random() < 0.5
    first = rng.integers(0, n_blocks)
    second = rng.integers(0, n_blocks - 1)
    second += second >= first
    along, across = (rows, columns) if by_rows else (columns, rows)
    if corner:
        part = along[first] ^ along[second]
        fits = mostly_in(along[second], along[first]) and mostly_in(part, along[first])
    else:
        fits = mostly_in(across[first], across[second]) and mostly_in(across[second], across[first])
    if not fits:
        return rows, columns, first, second, 0.0, False
    a, b = (law.a1, law.b1) if by_rows else (law.a2, law.b2)
    c, d = (law.a2, law.b2) if by_rows else (law.a1, law.b1)
    along, across = along.copy(), across.copy()
    log_prior = -side_weight(along[second].sum(), along.shape[1], a, b)
    along[second] ^= along[first]
    log_prior += side_weight(along[second].sum(), along.shape[1], a, b)
    if corner:
        log_prior -= side_weight(across[first].sum(), across.shape[1], c, d)
        across[first] ^= across[second]
        log_prior += side_weight(across[first].sum(), across.shape[1], c, d)
    new_rows, new_columns = (along, across) if by_rows else (across, along)
    return new_rows, new_columns, first, second, log_prior, True


@njit(cache=True, nogil=True)
def recut(rng, cells, rows, columns, counts, sums, law, tries):
    """Try to cut so many pairs of blocks another way; of the last number how many were taken.

    Returns as :func:`~plaidwork.plugins.plaid.kernels.birth_death.birth_death`, the number in place of whether.
    """
    taken = 0
    for _ in range(tries if rows.shape[0] > 1 else 0):
        new_rows, new_columns, first, second, log_prior, fits = propose_recut(rng, rows, columns, law)
        if not fits:
            continue
        proposal = (new_rows, new_columns, first, second, log_prior)
        rows, columns, counts, sums, done = try_pair(rng, cells, rows, columns, counts, sums, law, proposal)
        taken += done
    return rows, columns, counts, sums, taken
