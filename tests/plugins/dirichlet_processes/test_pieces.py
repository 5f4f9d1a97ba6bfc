"""Pieces of flat arrays are what slices are, and write through to the whole; what is borrowed is what it was, without a count of references."""

import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed, cut, fetch, stretch


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


class Inner(NamedTuple):
    x: np.ndarray
    scale: float


class Outer(NamedTuple):
    inner: Inner
    counts: np.ndarray


@njit
def add_noise(rng, whole):
    """Noise on numbers in a tuple in a tuple, taken apart in the loop."""
    for i in range(whole.counts.size):
        whole.inner.x[i] += whole.inner.scale * rng.random()
        whole.counts[i] += 1


@njit
def add_noise_borrowed(rng, whole):
    """The same of what is borrowed."""
    rng, whole = borrowed(rng), borrowed(whole)
    for i in range(whole.counts.size):
        whole.inner.x[i] += whole.inner.scale * rng.random()
        whole.counts[i] += 1


def test_what_is_borrowed_is_what_it_was():
    results = []
    for kernel in (add_noise, add_noise_borrowed):
        rng, x, counts = np.random.default_rng(1), np.zeros(5), np.arange(5)
        held = sys.getrefcount(x), sys.getrefcount(counts), sys.getrefcount(rng)
        kernel(rng, Outer(Inner(x, 3.0), counts))
        assert (sys.getrefcount(x), sys.getrefcount(counts), sys.getrefcount(rng)) == held
        results.append((x, counts, rng.random()))
    for one, two in zip(*results, strict=True):
        assert np.array_equal(one, two)


def test_fetching_asks_for_a_line_and_changes_nothing():
    @njit
    def ask(whole, row):
        fetch(whole, row, 16)
        return whole[row, 16]

    numbers = np.arange(60.0).reshape(3, 20)
    assert ask(numbers, 2) == 56.0
    assert np.array_equal(numbers.ravel(), np.arange(60.0))
    (code,) = ask.inspect_llvm().values()
    assert "@llvm.prefetch" in code
    with pytest.raises(TypingError, match="without gaps"):
        ask(numbers[:, ::2], 0)
