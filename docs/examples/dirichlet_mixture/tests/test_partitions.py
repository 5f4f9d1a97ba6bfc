"""Distances between partitions and the nearest clustering, against plain definitions."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork_dirichlet_mixture.partitions import (
    affinity,
    by_size,
    distances,
    improve,
    lower_bound,
    point_clustering,
    similarity,
)

RNG = np.random.default_rng(8)
DRAWS = RNG.integers(0, 3, size=(25, 12))


def variation(a, b):
    """Two conditional entropies, from the table of shares."""
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1 / len(a))
    rows, columns = np.nonzero(table)
    cells = table[rows, columns]
    return (
        -(cells * np.log2(cells / table.sum(axis=1)[rows])).sum()
        - (cells * np.log2(cells / table.sum(axis=0)[columns])).sum()
    )


def test_distance_is_the_variation_of_information():
    found = distances(DRAWS[0], DRAWS)
    assert found == pytest.approx([variation(DRAWS[0], draw) for draw in DRAWS])
    assert found[0] == 0
    everyone, nobody = np.zeros(8, np.int64), np.arange(8)
    assert distances(everyone, nobody[None])[0] == pytest.approx(3.0)


def test_similarity_is_the_share_of_draws():
    expected = (DRAWS[:, :, None] == DRAWS[:, None, :]).mean(axis=0)
    assert similarity(DRAWS, np.arange(12)) == pytest.approx(expected, abs=1e-6)
    assert similarity(DRAWS, np.array([5, 2])) == pytest.approx(expected[np.ix_([5, 2], [5, 2])], abs=1e-6)


def test_moves_lower_the_bound_by_what_they_say():
    """Where the moves of single items stop, no move of a single item lowers the bound."""
    together = similarity(DRAWS, np.arange(12))
    labels = np.arange(12) % 4
    start = lower_bound(labels, together)
    improve(labels, together, 50)
    end = lower_bound(labels, together)
    assert end < start
    for i in range(12):
        for k in range(labels.max() + 2):
            other = labels.copy()
            other[i] = k
            assert lower_bound(by_size(other), together) >= end - 1e-6


def test_nearest_clustering_of_noisy_copies():
    truth = np.repeat([0, 1, 2], [12, 9, 5])
    draws = np.repeat(truth[None], 60, axis=0)
    for draw in draws:
        draw[RNG.integers(0, 26, 3)] = RNG.integers(0, 4, 3)
    point = point_clustering(draws)
    assert np.array_equal(point.labels, truth)
    assert point.expected == pytest.approx(np.mean([variation(truth, draw) for draw in draws]))
    assert point.ball >= point.expected
    near = affinity(point.labels, draws)
    assert near[np.arange(26), truth].min() > 0.6


def test_nearest_clustering_beats_every_draw():
    best = point_clustering(DRAWS)
    assert best.expected <= min(distances(draw, DRAWS).mean() for draw in DRAWS) + 1e-12


def test_affinity_of_a_cluster_of_one_is_being_alone():
    draws = np.array([[0, 0, 1], [0, 0, 0], [0, 1, 2], [0, 0, 1]])
    near = affinity(np.array([0, 0, 1]), draws)
    assert near[2, 1] == pytest.approx(0.75)
    assert near[0, 0] == pytest.approx(0.75)
    assert near[2, 0] == pytest.approx(0.25)


@pytest.mark.parametrize("n", [1, 2])
def test_few_items(n):
    point = point_clustering(np.zeros((3, n), np.int64))
    assert len(point) == 1
    assert point.expected == point.ball == 0
