"""Split a block along one side, or merge two that agree on the other (section 2.5)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.blocks import (
    append_row,
    append_statistics,
    drop_row,
    drop_statistics,
    overlap,
)
from plaidwork.plugins.plaid.kernels.evidence import log_marginal, log_subset


@njit(cache=True, nogil=True)
def split_parts(rng, z):
    """Two non-empty parts of a membership by fair coins; at least two members."""
    members = np.flatnonzero(z)
    first = np.zeros(z.size, np.bool_)
    count = 0
    while count == 0 or count == members.size:
        count = 0
        for i in members:
            first[i] = rng.random() < 0.5
            count += first[i]
    return first, z & ~first


@njit(cache=True, nogil=True)
def log_splits(m):
    """``log(2^m - 2)``."""
    return m * math.log(2.0) + math.log1p(-(2.0 ** (1 - m)))


@njit(cache=True, nogil=True)
def split_prior(law, part_a, part_b, other):
    """Log prior weight of two blocks against the one they make up together."""
    n, a, b = part_a.size, part_a.sum(), part_b.sum()
    both = log_subset(n, a) + log_subset(n, b) + log_subset(other.size, other.sum())
    return math.log(law.alpha) + both - log_subset(n, a + b)


@njit(cache=True, nogil=True)
def add_block(cells, rows, columns, counts, sums, along, other, by_rows):
    """Memberships and statistics with one more block, given along the split side and the other side."""
    z1, z2 = (along, other) if by_rows else (other, along)
    counts, sums = append_statistics(cells, rows, columns, counts, sums, z1, z2)
    return append_row(rows, z1), append_row(columns, z2), counts, sums


@njit(cache=True, nogil=True)
def split_merge(rng, cells, rows, columns, counts, sums, law):
    """Try to split one block or to merge two, along rows or columns by a coin.

    ``log A(split) = log M' - log M + log alpha + log f(|A|) + log f(|B|) + log f(m_other) - log f(m) +
    log(2^m - 2) - log(K+1)``; merge is minus it with K = the blocks after it.

    Returns as :func:`~plaidwork.plugins.plaid.kernels.birth_death.birth_death`.
    """
    by_rows, split = rng.random() < 0.5, rng.random() < 0.5
    along, other = (rows, columns) if by_rows else (columns, rows)
    n_blocks = rows.shape[0]
    if n_blocks < (1 if split else 2) or (split and n_blocks >= law.max_blocks):
        return rows, columns, counts, sums, False
    k = rng.integers(0, n_blocks)
    if split:
        if along[k].sum() < 2:
            return rows, columns, counts, sums, False
        part_a, part_b = split_parts(rng, along[k])
        left_rows, left_columns = drop_row(rows, k), drop_row(columns, k)
        left_counts, left_sums = drop_statistics(counts, sums, k)
    else:
        second = rng.integers(0, n_blocks - 1)
        second += second >= k
        if overlap(along[k], along[second]) or not np.array_equal(other[k], other[second]):
            return rows, columns, counts, sums, False
        part_a, part_b = along[k].copy(), along[second].copy()
        high, low = max(k, second), min(k, second)
        left_rows, left_columns = drop_row(drop_row(rows, high), low), drop_row(drop_row(columns, high), low)
        left_counts, left_sums = drop_statistics(counts, sums, high)
        left_counts, left_sums = drop_statistics(left_counts, left_sums, low)
    shared = other[k].copy()
    new = add_block(
        cells,
        left_rows,
        left_columns,
        left_counts,
        left_sums,
        part_a if split else part_a | part_b,
        shared,
        by_rows,
    )
    if split:
        new = add_block(cells, new[0], new[1], new[2], new[3], part_b, shared, by_rows)
    log_ratio = log_marginal(new[2], new[3], law) - log_marginal(counts, sums, law)
    detail = split_prior(law, part_a, part_b, shared) + log_splits(part_a.sum() + part_b.sum())
    detail -= math.log(n_blocks + 1 if split else n_blocks)
    if math.log(rng.random()) >= log_ratio + (detail if split else -detail):
        return rows, columns, counts, sums, False
    return new[0], new[1], new[2], new[3], True
