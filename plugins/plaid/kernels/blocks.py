"""Counting cells and summing data over blocks; adding and removing blocks. No residual matrix is kept."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath=False)
def overlap(a, b):
    """How many items two memberships share."""
    count = 0
    for i in range(a.size):
        count += a[i] & b[i]
    return count


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def picked_sum(row, chosen):
    """Sum of a row over the columns ``chosen``."""
    total = 0.0
    for c in chosen:
        total += row[c]
    return total


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def picked_count(row, chosen):
    """How many of the columns ``chosen`` of a row of ``Cells.w`` are observed, or the sum of their weights."""
    total = 0
    for c in chosen:
        total += row[c]
    return total


@njit(cache=True, nogil=True)
def sum_block_rows(cells, along, picked, totals, counts, lo, hi):
    """Sums of the data, and observed cells, of rows ``along[lo:hi]`` over the columns ``picked``, into (m1,) each."""
    for p in range(lo, hi):
        totals[p] = picked_sum(cells.wx[along[p]], picked)
        counts[p] = picked.size
        if not cells.full:
            counts[p] = picked_count(cells.w[along[p]], picked)


@njit(cache=True, nogil=True)
def centred_sum(cells, totals, counts):
    """Observed cells of a block and the sum of the centred data over them, from those of its rows."""
    count, total = 0.0, 0.0
    for p in range(totals.size):
        total += totals[p]
        count += counts[p]
    return count, total - cells.centre * count


@njit(cache=True, nogil=True)
def block_sum(cells, z1, z2):
    """Observed cells of a block and the sum of the centred data over them."""
    along, picked = np.flatnonzero(z1), np.flatnonzero(z2)
    totals, counts = np.empty(along.size), np.empty(along.size)
    sum_block_rows(cells, along, picked, totals, counts, 0, along.size)
    return centred_sum(cells, totals, counts)


@njit(cache=True, nogil=True)
def shared_cells(cells, z1, z2, y1, y2):
    """Observed cells that two blocks share."""
    if cells.full:
        return float(overlap(z1, y1) * overlap(z2, y2))
    picked = np.flatnonzero(z2 & y2)
    count = 0
    if picked.size:
        for i in np.flatnonzero(z1 & y1):
            count += picked_count(cells.w[i], picked)
    return float(count)


@njit(cache=True, nogil=True)
def append_statistics(cells, rows, columns, counts, sums, z1, z2):
    """``G`` and ``S`` with one more block at the end. O(m1 m2 + K (N1 + N2)) when all cells are observed."""
    own, total = block_sum(cells, z1, z2)
    return append_block(cells, rows, columns, counts, sums, z1, z2, own, total)


@njit(cache=True, nogil=True)
def append_block(cells, rows, columns, counts, sums, z1, z2, own, total):
    """:func:`append_statistics` of a block of ``own`` cells whose data sum to ``total``."""
    size = sums.size
    wider = np.empty((size + 1, size + 1))
    wider[:size, :size] = counts
    longer = np.empty(size + 1)
    longer[:size] = sums
    longer[size] = total
    wider[size, 0] = wider[0, size] = wider[size, size] = own
    for k in range(size - 1):
        wider[size, k + 1] = wider[k + 1, size] = shared_cells(cells, rows[k], columns[k], z1, z2)
    return wider, longer


@njit(cache=True, nogil=True)
def statistics(cells, rows, columns):
    """``G`` (K+1, K+1) and ``S`` (K+1,) of all blocks from scratch, the background first."""
    own, totals = np.empty(len(rows)), np.empty(len(rows))
    sum_blocks(cells, rows, columns, own, totals, 0, len(rows))
    return append_all(cells, rows, columns, own, totals)


@njit(cache=True, nogil=True)
def sum_blocks(cells, rows, columns, own, totals, lo, hi):
    """:func:`block_sum` of blocks lo to hi, into ``own`` and ``totals`` (K,)."""
    for k in range(lo, hi):
        own[k], totals[k] = block_sum(cells, rows[k], columns[k])


@njit(cache=True, nogil=True)
def append_all(cells, rows, columns, own, totals):
    """:func:`statistics` of blocks of ``own`` cells whose data sum to ``totals``, (K,) each."""
    counts, sums = np.full((1, 1), cells.n_observed), np.full(1, cells.total)
    for k in range(len(rows)):
        counts, sums = append_block(
            cells, rows[:k], columns[:k], counts, sums, rows[k], columns[k], own[k], totals[k]
        )
    return counts, sums


@njit(cache=True, nogil=True)
def append_row(array, row):
    """A copy of (K, N) with one more row."""
    out = np.empty((array.shape[0] + 1, array.shape[1]), array.dtype)
    out[:-1] = array
    out[-1] = row
    return out


@njit(cache=True, nogil=True)
def drop_row(array, k):
    """A copy of (K, N) without row k."""
    out = np.empty((array.shape[0] - 1, array.shape[1]), array.dtype)
    out[:k] = array[:k]
    out[k:] = array[k + 1 :]
    return out


@njit(cache=True, nogil=True)
def drop_statistics(counts, sums, k):
    """``G`` and ``S`` without block k."""
    size = sums.size - 1
    smaller, shorter = np.empty((size, size)), np.empty(size)
    for i in range(size):
        source = i if i <= k else i + 1
        shorter[i] = sums[source]
        for j in range(size):
            smaller[i, j] = counts[source, j if j <= k else j + 1]
    return smaller, shorter
