"""Which draws an average takes, and its Monte Carlo error."""

from itertools import pairwise

import numpy as np
import pytest

from plaidwork.core.api_draws import ByChain, rounds, spread, standard_error


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 100, 257])
def test_every_beginning_is_spread(count):
    order = spread(count)
    assert sorted(order) == list(range(count))
    for size in range(2, count):
        gaps = np.diff(np.concatenate([[-1], np.sort(order[:size]), [count]]))
        assert gaps.max() <= 4 * count / size


def test_rounds_take_every_draw_once():
    counts = [10, 3, 25]
    taken = [[], [], []]
    sizes = []
    for part in rounds(counts, 6):
        for chain, draws in enumerate(part):
            assert list(draws) == sorted(draws)
            taken[chain] += list(draws)
        sizes.append(sum(map(len, taken)))
    assert [sorted(draws) for draws in taken] == [list(range(count)) for count in counts]
    assert sizes[0] == 6
    assert all(later <= 2 * before for before, later in pairwise(sizes))


def test_means_by_chain_and_batch():
    """In any order, draws left out; chains count alike whatever they have."""
    values = np.random.default_rng(1).normal(size=(2, 20, 3))
    total = ByChain([20, 20])
    for chain, draws in enumerate((range(19, -1, -1), range(0, 20, 2))):
        for draw in draws:
            total.add(chain, draw, values[chain, draw])
    assert total.taken == 30
    np.testing.assert_allclose(total.chains(), [values[0].mean(axis=0), values[1, ::2].mean(axis=0)])
    np.testing.assert_allclose(total.mean(), total.chains().mean(axis=0))
    np.testing.assert_allclose(total.batches()[6], values[1, 4:8:2].mean(axis=0))
    assert total.batches().shape == (10, 3)


def test_error_halves_with_four_times_the_draws():
    """More draws mean less error: 200 averages of each length; the ratio of two standard deviations is known to 7 %."""
    rng, spreads, told = np.random.default_rng(5), [], []
    for count in (250, 1000):
        values = rng.normal(size=(200, 4, count))
        spreads.append(values.mean(axis=(1, 2)).std())
        errors = [standard_error(one.mean(axis=1), one.reshape(20, -1).mean(axis=1)) for one in values]
        told.append(np.sqrt(np.mean(np.square(errors))))
    assert spreads[0] / spreads[1] == pytest.approx(2, rel=0.3)
    assert told[0] / told[1] == pytest.approx(2, rel=0.3)
    assert 0.95 * spreads[1] < told[1] < 1.4 * spreads[1]


def test_error_of_one_draw_is_unknown():
    assert np.isnan(standard_error(np.ones((1, 3)), np.ones((1, 3)))).all()
