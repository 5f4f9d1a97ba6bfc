"""Pieces of flat arrays are what slices are, and write through to the whole."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from plaidwork.plugins.dirichlet_processes.multi_view.kernels.pieces import cut, stretch


@njit
def double(flat, lo, rows, columns):
    """Twice what is in a piece, sums of its rows, and the numbers of a stretch."""
    piece, line = cut(flat, lo, rows, columns), stretch(flat, lo, columns)
    sums = np.zeros(rows)
    for i in range(rows):
        for j in range(columns):
            piece[i, j] *= 2
            sums[i] += piece[i, j]
    return sums, line.sum(), piece.size + line.size


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_pieces_are_slices(dtype):
    flat, right = np.arange(20).astype(dtype), np.arange(20).astype(dtype)
    right[5:17] *= 2
    sums, line, size = double(flat, 5, 3, 4)
    assert np.array_equal(flat, right)
    assert np.array_equal(sums, right[5:17].reshape(3, 4).sum(axis=1))
    assert line == right[5:9].sum()
    assert size == 16


def test_arrays_with_gaps_are_refused():
    with pytest.raises(TypingError, match="without gaps"):
        double(np.arange(20.0)[::2], 0, 2, 2)
