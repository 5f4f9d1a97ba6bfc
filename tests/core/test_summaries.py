"""Summaries without labels: matching, coverage, co-membership, ranking of chains, and the order of the picture."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaidwork.core.draws import seriation
from plaidwork.core.draws import summaries as s

seeds = st.integers(0, 2**32 - 1)


def blocks(n, m, *corners):
    """Blocks from (row_start, row_stop, col_start, col_stop)."""
    rows, cols = np.zeros((len(corners), n), bool), np.zeros((len(corners), m), bool)
    for k, (a, b, c, d) in enumerate(corners):
        rows[k, a:b] = cols[k, c:d] = True
    return rows, cols


def test_import_of_the_api_is_cheap():
    code = (
        "import sys, plaidwork.core.api, plaidwork.core.api_blocks as blocks; blocks.match_blocks;"
        "import plaidwork.core.api_draws, plaidwork.core.api_factors, plaidwork.core.api_scores;"
        "print([name for name in ('numba', 'scipy', 'PySide6') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class TestMatch:
    rows, cols = blocks(20, 15, (0, 8, 0, 6), (6, 14, 5, 12))

    def test_shuffled_labels_and_absent_blocks(self):
        rng = np.random.default_rng(0)
        draws = []
        for t in range(40):
            keep = [0, 1] if t % 4 else [0]
            rows, cols = self.rows[keep].copy(), self.cols[keep].copy()
            rows[0, 0] = t % 2
            rows = np.vstack([rows, rng.random((1, 20)) < 0.05])
            cols = np.vstack([cols, rng.random((1, 15)) < 0.05])
            theta = np.append(np.array([2.0 + 0.01 * t, -1.0])[: len(keep)], 9.0)
            order = rng.permutation(len(theta))
            draws.append((rows[order], cols[order], theta[order]))
        found = s.match_blocks(iter(draws), (self.rows, self.cols))
        assert found.n_draws == 40
        assert len(found) == 2
        np.testing.assert_allclose(found.present, [1.0, 0.75])
        assert found.row_probability[0, 0] == 0.5
        np.testing.assert_array_equal(found.row_probability[1], self.rows[1])
        np.testing.assert_array_equal(found.column_probability, self.cols)
        np.testing.assert_allclose(found.value_mean, [2.195, -1.0])
        np.testing.assert_allclose(
            found.value_interval[0], np.quantile(2 + 0.01 * np.arange(40), [0.025, 0.975])
        )

    def test_below_the_limit_is_no_match(self):
        rows, cols = blocks(20, 15, (0, 2, 0, 6))
        found = s.match_blocks([(rows, cols, [1.0])], (self.rows[:1], self.cols[:1]), min_jaccard=0.26)
        assert found.present[0] == 0
        assert np.isnan(found.value_mean[0])
        assert np.isnan(found.value_interval).all()
        assert (found.row_probability == 0).all()
        found = s.match_blocks([(rows, cols, [1.0])], (self.rows[:1], self.cols[:1]), min_jaccard=0.25)
        assert found.present[0] == 1

    def test_a_weak_pair_does_not_spoil_a_good_one(self):
        """Assignment over all pairs would trade the one good match for two that are too weak to count."""
        reference = blocks(10, 1, (0, 10, 0, 1), (0, 5, 0, 1))
        draw = blocks(10, 1, (0, 5, 0, 1), (9, 10, 0, 1))
        found = s.match_blocks([(*draw, [1.0, 2.0])], reference, min_jaccard=0.6)
        np.testing.assert_array_equal(found.present, [0, 1])

    def test_nothing_to_match(self):
        none = self.rows[:0], self.cols[:0]
        found = s.match_blocks([(self.rows, self.cols, [1, 2])], none)
        assert found.row_probability.shape == (0, 20)
        assert found.value_interval.shape == (0, 2)
        found = s.match_blocks([(*none, [])], (self.rows, self.cols))
        assert (found.present == 0).all()
        assert s.match_blocks([], (self.rows, self.cols)).n_draws == 0
        with pytest.raises(ValueError, match="min_jaccard"):
            s.match_blocks([], none, min_jaccard=0)


def random_draws(seed, n=7, m=5):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 4, size=int(rng.integers(1, 6)))
    return [(rng.random((k, n)) < 0.4, rng.random((k, m)) < 0.4, rng.normal(size=k)) for k in sizes]


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_coverage_and_comembership_by_hand(seed):
    draws = random_draws(seed)
    covered = [(rows[:, :, None] & cols[:, None, :]).any(axis=0) for rows, cols, _ in draws]
    found = s.coverage(iter(draws))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.mean(covered, axis=0), rtol=1e-6)
    shared = np.mean([(rows[:, :, None] & rows[:, None, :]).any(axis=0) for rows, _, _ in draws], axis=0)
    found = s.comembership(rows for rows, _, _ in draws)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, shared, rtol=1e-6)
    items = [4, 0, 2]
    np.testing.assert_allclose(
        s.comembership((rows for rows, _, _ in draws), items), shared[np.ix_(items, items)], rtol=1e-6
    )


def test_no_draws_is_an_error():
    with pytest.raises(ValueError, match="at least one draw"):
        s.coverage([])
    with pytest.raises(ValueError, match="at least one draw"):
        s.comembership([])


def test_pick_items():
    probability = np.array([[0.9, 0.0, 0.2, 0.0, 1.0], [0.0, 0.8, 0.3, 0.0, 0.4]])
    np.testing.assert_array_equal(s.pick_items(probability, 4), [4, 0, 1, 2])
    np.testing.assert_array_equal(s.pick_items(probability, 2), [4, 0])
    np.testing.assert_array_equal(s.pick_items(probability, 99), [4, 0, 1, 2, 3])
    np.testing.assert_array_equal(s.pick_items(probability[:0], 3), [0, 1, 2])
    assert len(s.pick_items(probability, 0)) == 0


def test_distribution():
    support, probability = s.distribution([[3, 5], [3, 3]])
    np.testing.assert_array_equal(support, [3, 4, 5])
    np.testing.assert_array_equal(probability, [0.75, 0, 0.25])
    assert len(s.distribution([])[0]) == 0
    np.testing.assert_array_equal(s.distribution([0, 10**9])[0], [0, 10**9])


class TestRanking:
    rng = np.random.default_rng(0)

    def test_stuck_chain_goes(self):
        x = self.rng.normal(size=(4, 200))
        x[0, :100] -= 500  # a late starter is judged by its second half
        x[2] -= 50
        keep, reason = s.rank_chains(x)
        np.testing.assert_array_equal(keep, [True, True, False, True])
        assert reason.startswith("3 of 4 chains are kept (limit 5 in mean log joint): chain 3 lies ")

    def test_wide_chains_are_allowed_more(self):
        x = self.rng.normal(size=(2, 200)) * 20
        x[0] -= 20
        assert s.rank_chains(x)[0].all()
        assert not s.rank_chains(x, sds=0.5)[0].all()

    def test_lengths_and_bad_values(self):
        keep, reason = s.rank_chains([np.zeros(10), np.zeros(3), np.full(5, np.nan), np.empty(0)])
        np.testing.assert_array_equal(keep, [True, True, False, False])
        assert "chain 3 has no finite values" in reason
        assert not s.rank_chains([np.empty(0)])[0].any()
        assert len(s.rank_chains([])[0]) == 0
        assert s.rank_chains([np.zeros(4)])[0].all()
        assert s.rank_chains(np.zeros((3, 4)))[1].startswith("All 3 chains are kept")


def test_nmi_is_reached_from_here():
    rows, cols = blocks(20, 15, (0, 8, 0, 6), (6, 14, 5, 12))
    assert s.nmi_overlap_ishiguro(rows, cols, rows[::-1], cols[::-1]) == pytest.approx(1)


class TestOrder:
    def shuffled(self, seed, n=60, m=40, n_blocks=5):
        rng = np.random.default_rng(seed)
        starts = rng.integers(0, (n // 2, m // 2), size=(n_blocks, 2))
        rows, cols = blocks(n, m, *[(a, a + n // 5, c, c + m // 5) for a, c in starts])
        return rows[:, rng.permutation(n)], cols[:, rng.permutation(m)]

    @settings(max_examples=40, deadline=None)
    @given(seeds)
    def test_intervals_are_found_again(self, seed):
        """Blocks that can all be unbroken nearly all are, and the rectangles hold exactly their cells."""
        rows, cols = self.shuffled(seed)
        row_order, col_order = s.order_blocks(rows, cols)
        np.testing.assert_array_equal(np.sort(row_order), np.arange(60))
        np.testing.assert_array_equal(np.sort(col_order), np.arange(40))
        parts = s.block_rectangles(rows, cols, row_order, col_order)
        assert sum(len(found) > 1 for found in parts) <= 1
        for k, found in enumerate(parts):
            cells = np.zeros((60, 40), int)
            for a, b, c, d in found:
                cells[a:b, c:d] += 1
            np.testing.assert_array_equal(cells, np.outer(rows[k, row_order], cols[k, col_order]))
            sizes = [(b - a) * (d - c) for a, b, c, d in found]
            assert sizes == sorted(sizes, reverse=True)

    @settings(max_examples=30, deadline=None)
    @given(seeds)
    def test_as_few_parts_as_possible(self, seed):
        rng = np.random.default_rng(seed)
        sets = rng.random((int(rng.integers(1, 5)), int(rng.integers(1, 7)))) < 0.45

        def parts(order):
            return sum(len(seriation._runs(row)) for row in sets[:, order])

        order = s.order_blocks(sets, sets[:, :1])[0]
        least = min(parts(list(other)) for other in itertools.permutations(range(sets.shape[1])))
        assert parts(order) <= least + (sets.shape[1] > 5)

    @settings(max_examples=30, deadline=None)
    @given(seeds, st.integers(0, 5))
    def test_focus_comes_first_and_whole(self, seed, focus):
        rng = np.random.default_rng(seed)
        rows, cols = rng.random((6, 50)) < 0.3, rng.random((6, 30)) < 0.3
        row_order, col_order = s.order_blocks(rows, cols, focus=focus)
        part = s.block_rectangles(rows, cols, row_order, col_order)[focus]
        sizes = rows[focus].sum(), cols[focus].sum()
        assert part == ([(0, sizes[0], 0, sizes[1])] if min(sizes) else [])

    def test_means_order_equal_items_and_the_rest_is_last(self):
        rows, cols = blocks(6, 4, (1, 4, 0, 2))
        means = np.array([0.0, 1.0, 3.0, 2.0, np.nan, 7.0])
        row_order, col_order = s.order_blocks(rows, cols, row_means=means)
        np.testing.assert_array_equal(row_order, [2, 3, 1, 5, 0, 4])
        np.testing.assert_array_equal(col_order, [0, 1, 2, 3])

    def test_separate_blocks_keep_their_sequence(self):
        rows, cols = blocks(9, 9, (6, 9, 6, 9), (3, 6, 3, 6), (0, 3, 0, 3))
        np.testing.assert_array_equal(s.order_blocks(rows, cols)[0], [6, 7, 8, 3, 4, 5, 0, 1, 2])

    def test_many_patterns_and_blocks(self):
        rng = np.random.default_rng(0)
        rows, cols = rng.random((70, 800)) < 0.3, rng.random((70, 300)) < 0.05
        first = s.order_blocks(rows, cols, focus=69)
        np.testing.assert_array_equal(np.sort(first[0]), np.arange(800))
        assert len(s.block_rectangles(rows, cols, *first)[69]) == 1
        for one, other in zip(first, s.order_blocks(rows, cols, focus=69)):
            np.testing.assert_array_equal(one, other)

    def test_edges(self):
        rows, cols = np.zeros((0, 4), bool), np.zeros((0, 3), bool)
        np.testing.assert_array_equal(s.order_blocks(rows, cols)[0], np.arange(4))
        assert s.block_rectangles(rows, cols, np.arange(4), np.arange(3)) == []
        empty = np.zeros((2, 4), bool)
        row_order, _ = s.order_blocks(empty, empty, focus=1)
        np.testing.assert_array_equal(row_order, np.arange(4))
        assert s.block_rectangles(empty, empty, row_order, row_order) == [[], []]
        with pytest.raises(IndexError, match="focus 2 of 2"):
            s.order_blocks(empty, empty, focus=2)
        with pytest.raises(ValueError, match="one number per item"):
            s.order_blocks(empty, empty, row_means=np.zeros(3))
