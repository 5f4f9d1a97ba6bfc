"""The nearest partition against brute force, and what is told of samples."""

import numpy as np
import pytest
from dp_tools import Chain, Chains, partitions
from plaid_tools import with_fault

from plaidwork.plugins.dirichlet_processes.clusterings import (
    agreement_of_halves,
    by_size,
    half_of_draws,
    nearest_partition,
    placed,
    words_of_agreement,
)
from plaidwork.plugins.dirichlet_processes.kernels.clusterings import (
    improve,
    similarity,
    togetherness,
    variation,
)

RNG = np.random.default_rng(3)


def noisy_copies(truth, count, share):
    draws = np.repeat(truth[None], count, axis=0)
    change = RNG.random(draws.shape) < share
    draws[change] = RNG.integers(0, truth.max() + 2, change.sum())
    return draws


def test_variation_of_information():
    """By hand: H(a | b) + H(b | a), in bits."""
    halves, quarters = np.repeat([0, 1], 4), np.repeat([0, 1, 2, 3], 2)
    assert variation(halves, quarters[None])[0] == pytest.approx(1.0)
    assert variation(halves, halves[None])[0] == 0.0
    assert variation(halves, np.tile([0, 1], 4)[None])[0] == pytest.approx(2.0)


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_no_partition_of_six_is_nearer(share):
    draws = noisy_copies(np.array([0, 0, 0, 1, 1, 2]), 40, share)
    labels = np.full(6, -1)
    improve(labels, draws, np.arange(6), 6, 20)
    least = min(variation(np.array(one), draws).mean() for one in partitions(6))
    found = min(variation(labels, draws).mean(), nearest_partition(draws).expected)
    assert found == pytest.approx(least, abs=1e-9)


def test_ball_holds_the_draws_it_says():
    draws = noisy_copies(np.repeat([0, 1, 2], 10), 200, 0.05)
    point = nearest_partition(draws)
    assert np.array_equal(point.labels, np.repeat([0, 1, 2], 10))
    far = variation(point.labels, draws)
    assert (far <= point.ball + 1e-12).mean() >= 0.95
    assert (far < point.ball - 1e-12).mean() < 0.95
    assert point.expected == pytest.approx(far.mean())
    assert point.fewest <= 3 <= point.most


def test_togetherness_is_the_mean_similarity():
    draws = noisy_copies(np.array([0, 0, 0, 1, 1, 2]), 50, 0.3)
    labels = np.array([0, 0, 0, 1, 1, 2])
    share = similarity(draws, np.arange(6)).astype(float)
    near = togetherness(labels, draws)
    assert near[0, 0] == pytest.approx(share[0, 1:3].mean())
    assert near[0, 1] == pytest.approx(share[0, 3:5].mean())
    alone = [(draw == draw[5]).sum() == 1 for draw in draws]
    assert near[5, 2] == pytest.approx(np.mean(alone))


def test_a_sample_of_three_clusters_in_turn_is_no_cluster():
    draws = np.tile(np.repeat([0, 1, 2], 5), (30, 1))
    draws = np.concatenate([draws, np.arange(30)[:, None] % 3], axis=1)
    draws[0, -1] = 1  # a little more with the second one
    point = nearest_partition(draws)
    assert point.labels.max() == 2
    apart = np.append(np.repeat([0, 1, 2], 5), 3)
    assert placed(apart, draws).max() == 2


def test_numbers_by_size():
    assert by_size(np.array([4, 7, 7, 1, 7, 1])).tolist() == [2, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("n", [1, 2])
def test_few_samples(n):
    point = nearest_partition(np.zeros((3, n), np.int64))
    assert (len(point), point.expected, point.ball) == (1, 0.0, 0.0)


def chains_of(*partitions_of_chains):
    """Chains of 20 noisy copies of a partition each."""
    kept = [noisy_copies(np.array(labels), 20, 0.1) for labels in partitions_of_chains]
    chains = [
        Chain([{"cluster_of": labels} for labels in found], number) for number, found in enumerate(kept)
    ]
    return Chains(chains), np.concatenate(kept)


def agreement(*partitions_of_chains, halves=half_of_draws):
    kept, draws = chains_of(*partitions_of_chains)
    return agreement_of_halves(draws, halves(kept, 2000), np.arange(draws.shape[1]))


ONE, ACROSS = np.repeat([0, 1], 20), np.tile([0, 1], 20)


def test_halves_of_the_chains_agree_in_who_is_with_whom_where_the_chains_do():
    assert agreement(ONE, ONE, ONE, ONE) > 0.95
    assert agreement(ONE, ACROSS, ONE, ACROSS) < 0.2
    assert np.isnan(agreement(ONE))
    assert "0.31" in words_of_agreement(0.31)
    assert not words_of_agreement(float("nan"))


def test_a_half_of_draws_in_place_of_a_half_of_the_chains_is_found():
    """Draws of one chain in both halves agree whatever the chains found."""
    wrong = with_fault(half_of_draws, "place[chain.chain] % 2 for chain, _", "i % 2 for chain, i")
    assert agreement(ONE, ACROSS, ONE, ACROSS, halves=wrong) > 0.9


def test_samples_that_are_always_together_agree():
    same = np.zeros((8, 5), np.int64)
    assert agreement_of_halves(same, np.arange(8) % 2, np.arange(5)) == 1.0
