"""Block arithmetic against cells written out in full."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaidwork.core.numerics import overlap


def random_blocks(rng, n_blocks, n, m, share=0.4):
    return rng.random((n_blocks, n)) < share, rng.random((n_blocks, m)) < share


def cells(rows, cols):
    return rows[:, :, None] & cols[:, None, :]


def brute_nmi(rows_a, cols_a, rows_b, cols_b):
    """Section 7 word for word, on sets of cells and the four counts of each 2x2 table."""

    def sets(rows, cols):
        blocks = cells(rows, cols)
        return [block.ravel() for block in blocks] + [~blocks.any(axis=0).ravel()]

    def entropy(*counts):
        p = np.array(counts, float) / sum(counts)
        return max(-sum(x * np.log(x) for x in p if x > 0), 1e-8)

    def single(a):
        return entropy(a.sum(), (~a).sum())

    def pair(a, b):
        return entropy((a & b).sum(), (a & ~b).sum(), (~a & b).sum(), (~a & ~b).sum())

    def unknown(first, second):
        return np.mean([min(pair(a, b) - single(b) for b in second) / single(a) for a in first])

    a, b = sets(rows_a, cols_a), sets(rows_b, cols_b)
    return 1 - (unknown(a, b) + unknown(b, a)) / 2


shapes = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 9), st.integers(1, 9))


@settings(max_examples=60, deadline=None)
@given(shapes, st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.4, 0.9]))
def test_against_cells_written_out(shape, seed, share):
    n_a, n_b, n, m = shape
    rng = np.random.default_rng(seed)
    a, b = random_blocks(rng, n_a, n, m, share), random_blocks(rng, n_b, n, m, share)
    cells_a, cells_b = cells(*a).reshape(n_a, n * m), cells(*b).reshape(n_b, n * m)
    shared = (cells_a[:, None] & cells_b[None]).sum(-1)
    either = (cells_a[:, None] | cells_b[None]).sum(-1)
    np.testing.assert_array_equal(overlap.intersections(*a, *b), shared)
    np.testing.assert_array_equal(overlap.block_sizes(*a), cells_a.sum(-1))
    np.testing.assert_allclose(overlap.jaccard(*a, *b), np.where(either, shared / np.maximum(either, 1), 0))
    assert overlap.nmi_overlap_ishiguro(*a, *b) == pytest.approx(brute_nmi(*a, *b), abs=1e-7)
    counts = np.zeros((n, m), np.int32)
    overlap.add_coverage(*a, counts)
    overlap.add_coverage(*b, counts)
    union = cells(*a).any(axis=0).astype(int) + cells(*b).any(axis=0)
    np.testing.assert_array_equal(counts, union)


@pytest.mark.parametrize("m", [1, 63, 64, 65, 200])
def test_word_edges(m):
    rng = np.random.default_rng(m)
    a, b = random_blocks(rng, 5, 40, m), random_blocks(rng, 3, 40, m)
    assert overlap.nmi_overlap_ishiguro(*a, *b) == pytest.approx(brute_nmi(*a, *b), abs=1e-7)
    assert overlap.pack(a[1]).shape == (5, -(-m // 64))


def test_equal_lists_in_another_order_score_one():
    rows, cols = random_blocks(np.random.default_rng(1), 6, 30, 20)
    order = [3, 1, 0, 5, 4, 2]
    assert overlap.nmi_overlap_ishiguro(rows, cols, rows[order], cols[order]) == pytest.approx(1)


def test_no_blocks():
    rows, cols = random_blocks(np.random.default_rng(1), 3, 30, 20)
    none = rows[:0], cols[:0]
    assert overlap.nmi_overlap_ishiguro(*none, *none) == pytest.approx(1)
    assert overlap.nmi_overlap_ishiguro(*none, rows, cols) == pytest.approx(0.5, abs=1e-6)
    assert overlap.nmi_overlap_ishiguro(rows, cols, *none) == pytest.approx(0.5, abs=1e-6)
    assert overlap.jaccard(*none, rows, cols).shape == (0, 3)


def test_a_spurious_cell_costs_a_lot():
    rows, cols = np.zeros((3, 100), bool), np.zeros((3, 200), bool)
    for k in range(3):
        rows[k, 30 * k : 30 * k + 25], cols[k, 60 * k : 60 * k + 50] = True, True
    more = (
        np.vstack([rows, np.eye(1, 100, 99, dtype=bool)]),
        np.vstack([cols, np.eye(1, 200, 199, dtype=bool)]),
    )
    assert 0.8 < overlap.nmi_overlap_ishiguro(rows, cols, *more) < 0.95


def test_non_contiguous_and_number_memberships():
    rng = np.random.default_rng(2)
    a, b = random_blocks(rng, 3, 12, 10), random_blocks(rng, 3, 12, 10)
    flipped = np.asfortranarray(a[0]), np.asfortranarray(a[1].astype(np.int8))
    assert overlap.nmi_overlap_ishiguro(*flipped, *b) == overlap.nmi_overlap_ishiguro(*a, *b)
    assert overlap.nmi_overlap_ishiguro(a[0][:, ::-1], a[1], b[0][:, ::-1], b[1]) == pytest.approx(
        overlap.nmi_overlap_ishiguro(*a, *b)
    )


def test_wrong_shapes_are_named():
    rows, cols = np.ones((2, 4), bool), np.ones((2, 3), bool)
    with pytest.raises(ValueError, match=r"got \(2, 4\) and \(1, 3\)"):
        overlap.block_sizes(rows, cols[:1])
    with pytest.raises(ValueError, match="4 x 3 and 4 x 2"):
        overlap.jaccard(rows, cols, rows, cols[:, :2])
    with pytest.raises(ValueError, match="counts must be"):
        overlap.add_coverage(rows, cols, np.zeros((3, 4), np.int32))
    with pytest.raises(ValueError, match="a cell"):
        overlap.nmi_overlap_ishiguro(rows[:, :0], cols, rows[:, :0], cols)
