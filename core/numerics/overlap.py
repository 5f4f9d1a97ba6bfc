"""Set arithmetic on blocks of cells: intersections, Jaccard, coverage and the overlapping NMI.

A block is the product of a row set and a column set. A list of L blocks is given as ``rows`` (L, n) bool and
``cols`` (L, m) bool; its cells are never written out, except as one bit-packed row at a time. Sizes are cells.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ENTROPY_FLOOR = 1e-8
"""Nats. Least entropy of a set or of a pair of sets in the NMI."""

_M1 = np.uint64(0x5555555555555555)
_M2 = np.uint64(0x3333333333333333)
_M4 = np.uint64(0x0F0F0F0F0F0F0F0F)
_H01 = np.uint64(0x0101010101010101)
_S1, _S2, _S4, _S56 = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)


def check_blocks(rows: np.ndarray, cols: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two memberships as (L, n) and (L, m) bool. Raises ``ValueError`` naming the shapes found."""
    rows, cols = np.asarray(rows), np.asarray(cols)
    if rows.ndim != 2 or cols.ndim != 2 or len(rows) != len(cols):
        raise ValueError(f"rows must be (L, n) and cols (L, m), got {rows.shape} and {cols.shape}")
    return rows.astype(np.bool_, copy=False), cols.astype(np.bool_, copy=False)


def _check_pair(
    rows_a: np.ndarray, cols_a: np.ndarray, rows_b: np.ndarray, cols_b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rows_a, cols_a = check_blocks(rows_a, cols_a)
    rows_b, cols_b = check_blocks(rows_b, cols_b)
    if rows_a.shape[1] != rows_b.shape[1] or cols_a.shape[1] != cols_b.shape[1]:
        raise ValueError(
            f"both lists of blocks must lie in one matrix, got {rows_a.shape[1]} x {cols_a.shape[1]} "
            f"and {rows_b.shape[1]} x {cols_b.shape[1]} cells"
        )
    return rows_a, cols_a, rows_b, cols_b


def _shared(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(L, L') int64 number of items in both sets; exact below 2^24 items."""
    return (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.int64)


def block_sizes(rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """(L,) int64 number of cells of each block."""
    rows, cols = check_blocks(rows, cols)
    return np.count_nonzero(rows, axis=1) * np.count_nonzero(cols, axis=1)


def intersections(
    rows_a: np.ndarray, cols_a: np.ndarray, rows_b: np.ndarray, cols_b: np.ndarray
) -> np.ndarray:
    """Cells shared by each block of a with each block of b: (L, L') int64.

    The cells shared by two blocks are the product of the shared rows and the shared columns.
    O(L L' (n + m)). Raises ``ValueError`` when the shapes do not fit.
    """
    rows_a, cols_a, rows_b, cols_b = _check_pair(rows_a, cols_a, rows_b, cols_b)
    return _shared(rows_a, rows_b) * _shared(cols_a, cols_b)


def jaccard(rows_a: np.ndarray, cols_a: np.ndarray, rows_b: np.ndarray, cols_b: np.ndarray) -> np.ndarray:
    """Shared cells over cells in either block, of each pair: (L, L') float64 in [0, 1].

    Two blocks without a cell have similarity 0. Raises ``ValueError`` when the shapes do not fit.
    """
    shared = intersections(rows_a, cols_a, rows_b, cols_b)
    union = block_sizes(rows_a, cols_a)[:, None] + block_sizes(rows_b, cols_b)[None, :] - shared
    return shared / np.maximum(union, 1)


def pack(sets: np.ndarray) -> np.ndarray:
    """(L, ceil(m / 64)) uint64: the bits of (L, m) bool, the tail filled with 0; at least one word."""
    packed = np.packbits(sets, axis=1, bitorder="little")
    n_words = max(1, -(-packed.shape[1] // 8))
    out = np.zeros((len(sets), n_words * 8), np.uint8)
    out[:, : packed.shape[1]] = packed
    return out.view(np.uint64)


@njit(nogil=True, cache=True)
def _popcount(word):
    """Number of ones in a uint64 (the form that compilers turn into one instruction)."""
    word = word - ((word >> _S1) & _M1)
    word = (word & _M2) + ((word >> _S2) & _M2)
    word = (word + (word >> _S4)) & _M4
    return np.int64((word * _H01) >> _S56)


@njit(nogil=True, cache=True)
def _union_counts(rows_a, words_a, rows_b, words_b, a_in_b, b_in_a, totals):
    """Cells of unions, one bit-packed matrix row at a time.

    Parameters
    ----------
    rows_a, rows_b : (K, n), (L, n) bool
    words_a, words_b : (K, w), (L, w) uint64 packed columns
    a_in_b : (K,) int64, overwritten: cells of each block of a that lie in any block of b
    b_in_a : (L,) int64, overwritten: the same the other way round
    totals : (3,) int64, overwritten: cells in any block of a, in any of b, in any of either

    Notes
    -----
    O(n w (memberships per row)).
    """
    n_rows, n_words = rows_a.shape[1], words_a.shape[1]
    union_a = np.zeros(n_words, np.uint64)
    union_b = np.zeros(n_words, np.uint64)
    a_in_b[:] = 0
    b_in_a[:] = 0
    totals[:] = 0
    for i in range(n_rows):
        union_a[:] = 0
        union_b[:] = 0
        for k in range(rows_a.shape[0]):
            if rows_a[k, i]:
                for w in range(n_words):
                    union_a[w] |= words_a[k, w]
        for k in range(rows_b.shape[0]):
            if rows_b[k, i]:
                for w in range(n_words):
                    union_b[w] |= words_b[k, w]
        for w in range(n_words):
            totals[0] += _popcount(union_a[w])
            totals[1] += _popcount(union_b[w])
            totals[2] += _popcount(union_a[w] | union_b[w])
        for k in range(rows_a.shape[0]):
            if rows_a[k, i]:
                for w in range(n_words):
                    a_in_b[k] += _popcount(words_a[k, w] & union_b[w])
        for k in range(rows_b.shape[0]):
            if rows_b[k, i]:
                for w in range(n_words):
                    b_in_a[k] += _popcount(words_b[k, w] & union_a[w])


@njit(nogil=True, cache=True)
def _add_coverage(rows, cols, counts):
    n_blocks, n_rows = rows.shape
    n_cols = cols.shape[1]
    covered = np.zeros(n_cols, np.bool_)
    for i in range(n_rows):
        found = False
        for k in range(n_blocks):
            if rows[k, i]:
                if found:
                    for j in range(n_cols):
                        covered[j] |= cols[k, j]
                else:
                    covered[:] = cols[k]
                    found = True
        if found:
            for j in range(n_cols):
                counts[i, j] += np.int32(covered[j])


def add_coverage(rows: np.ndarray, cols: np.ndarray, counts: np.ndarray) -> None:
    """Add 1 to ``counts`` (n, m) int32, in place, at every cell that lies in any of the blocks.

    O(m (memberships of rows)). Raises ``ValueError`` when the shapes do not fit.
    """
    rows, cols = check_blocks(rows, cols)
    if counts.shape != (rows.shape[1], cols.shape[1]):
        raise ValueError(f"counts must be {(rows.shape[1], cols.shape[1])}, got {counts.shape}")
    _add_coverage(np.ascontiguousarray(rows), np.ascontiguousarray(cols), counts)


def _with_background(
    rows_a: np.ndarray, cols_a: np.ndarray, rows_b: np.ndarray, cols_b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells of the sets of a (K + 1,), of b (L + 1,), and of each pair (K + 1, L + 1); the last set is "no block"."""
    n_blocks_a, n_blocks_b = len(rows_a), len(rows_b)
    a_in_b, b_in_a = np.empty(n_blocks_a, np.int64), np.empty(n_blocks_b, np.int64)
    totals = np.empty(3, np.int64)
    _union_counts(
        np.ascontiguousarray(rows_a),
        pack(cols_a),
        np.ascontiguousarray(rows_b),
        pack(cols_b),
        a_in_b,
        b_in_a,
        totals,
    )
    n_cells = rows_a.shape[1] * cols_a.shape[1]
    sizes_a, sizes_b = block_sizes(rows_a, cols_a), block_sizes(rows_b, cols_b)
    both = np.empty((n_blocks_a + 1, n_blocks_b + 1), np.int64)
    both[:-1, :-1] = _shared(rows_a, rows_b) * _shared(cols_a, cols_b)
    both[:-1, -1] = sizes_a - a_in_b
    both[-1, :-1] = sizes_b - b_in_a
    both[-1, -1] = n_cells - totals[2]
    return np.append(sizes_a, n_cells - totals[0]), np.append(sizes_b, n_cells - totals[1]), both


def _h(counts: np.ndarray, n_cells: int) -> np.ndarray:
    """-p log p of p = counts / n_cells, in nats."""
    p = counts / n_cells
    return -p * np.log(np.where(p > 0, p, 1.0))


def nmi_overlap_ishiguro(
    rows_a: np.ndarray, cols_a: np.ndarray, rows_b: np.ndarray, cols_b: np.ndarray
) -> float:
    """Normalised mutual information of two lists of overlapping blocks, as Ishiguro et al. (2016) compute it.

    Every solution becomes sets of cells: its blocks and one set of the cells in no block. With the entropies of
    "in the set or not", ``H(a | B) = min_b [H(a, b) - H(b)]`` and
    ``NMI = 1 - (mean_a H(a | B) / H(a) + mean_b H(b | A) / H(b)) / 2``. Set and joint entropies are at least 1e-8.

    Parameters
    ----------
    rows_a, cols_a : (K, n), (K, m) bool; K may be 0
    rows_b, cols_b : (L, n), (L, m) bool; L may be 0

    Returns
    -------
    1 for equal lists in any order. Not clipped: it may leave [0, 1], and complementary sets count as equal.
    Against an empty list it is near 0.5, because the one set of all cells is known for certain.

    Notes
    -----
    O(n m / 64 (memberships per row) + K L (n + m)). Every block weighs the same, also one of a single cell.
    Raises ``ValueError`` when the shapes do not fit or the matrix has no cell.
    """
    rows_a, cols_a, rows_b, cols_b = _check_pair(rows_a, cols_a, rows_b, cols_b)
    n_cells = rows_a.shape[1] * cols_a.shape[1]
    if n_cells == 0:
        raise ValueError("the matrix must have a cell")
    sizes_a, sizes_b, both = _with_background(rows_a, cols_a, rows_b, cols_b)
    only_a, only_b = sizes_a[:, None] - both, sizes_b[None, :] - both
    joint = _h(both, n_cells) + _h(only_a, n_cells) + _h(only_b, n_cells)
    joint += _h(n_cells - both - only_a - only_b, n_cells)
    joint = np.maximum(joint, ENTROPY_FLOOR)
    h_a = np.maximum(_h(sizes_a, n_cells) + _h(n_cells - sizes_a, n_cells), ENTROPY_FLOOR)
    h_b = np.maximum(_h(sizes_b, n_cells) + _h(n_cells - sizes_b, n_cells), ENTROPY_FLOOR)
    a_given_b = np.min(joint - h_b[None, :], axis=1)
    b_given_a = np.min(joint - h_a[:, None], axis=0)
    return float(1.0 - 0.5 * (np.mean(a_given_b / h_a) + np.mean(b_given_a / h_b)))
