"""Planted clusters are found from every start, in numbers, categories and counts, and told in words."""

import numpy as np
import pytest
from dp_tools import LEARNED, MODEL, adjusted_rand, fit_by_hand, matrices, planted, settings

from plaidwork.plugins.dirichlet_processes.kernels.finite import log_new_clusters
from plaidwork.plugins.dirichlet_processes.partitions import slice_draw

STARTS = ("together", "sequential", "means", "random")


def test_planted_clusters_of_numbers():
    values, truth = planted(160)
    found = fit_by_hand(matrices(X=values), settings(**LEARNED), chains=2, warmup=40, draws=40)
    assert adjusted_rand(found["labels"].values, truth) >= 0.95
    assert found["headline"].startswith("4 clusters of ")
    first = np.nanmean(values[found["labels"].values == 0], axis=0)
    low, high = found["profile_interval"].values[0].T
    assert np.all((low < first) & (first < high))
    assert found["column_names"].values.tolist() == ["X1", "X2", "X3", "X4"]
    assert (found["certainty"].values[found["labels"].values == 0] > 0.6).mean() > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["dirichlet", "pitman_yor", "finite"])
@pytest.mark.parametrize("start", STARTS)
def test_planted_clusters_from_every_start(start, prior):
    values, truth = planted()
    params = settings(**LEARNED, start=start, prior=prior)
    found = fit_by_hand(matrices(X=values), params, chains=1, warmup=400, draws=400)
    assert adjusted_rand(found["labels"].values, truth) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
def test_planted_clusters_of_mixed_columns(start):
    """No matrix tells all three clusters apart; together they do."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 3, 240)
    numbers = np.array([0.0, 5.0, 5.0])[truth][:, None] + rng.normal(size=(240, 3))
    codes = (rng.random((240, 12)) < np.array([0.1, 0.1, 0.9])[truth][:, None]).astype(float)
    counts = rng.poisson(np.array([1.0, 8.0, 8.0])[truth][:, None], size=(240, 3)).astype(float)
    found = fit_by_hand(
        matrices(a=numbers, b=codes, c=counts),
        settings(**LEARNED, start=start),
        chains=1,
        warmup=100,
        draws=100,
    )
    assert adjusted_rand(found["labels"].values, truth) >= 0.95
    shares = found["profile"].values[:, 3:15]
    assert np.sort(shares.mean(axis=1)[:3]) == pytest.approx([0.1, 0.1, 0.9], abs=0.06)


def oblique(n=300, seed=4):
    """Three long parallel clouds, 5 % missing: four standard deviations apart across, eight long, one behind the other."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    along, across = np.array([1.0, 1.0, 1.0]) / np.sqrt(3), np.array([1.0, -1.0, 0.0]) / np.sqrt(2)
    values = (
        8.0 * rng.normal(size=(n, 1)) * along + 6.0 * (truth - 1)[:, None] * across + rng.normal(size=(n, 3))
    )
    values[rng.random(values.shape) < 0.05] = np.nan
    return values, truth


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS)
def test_planted_oblique_clusters(start):
    """Columns that are correlated within a cluster: independent ones cut the clouds into pieces."""
    values, truth = oblique()
    params = settings(**LEARNED, start=start, likelihoods="gaussian_full")
    found = fit_by_hand(matrices(X=values), params, chains=1, warmup=150, draws=150)
    assert adjusted_rand(found["labels"].values, truth) >= 0.94


def test_moves_leave_one_cluster():
    """From one cluster of two far groups: single rows leave it slowly, a split parts it at once."""
    rng = np.random.default_rng(0)
    values = np.repeat([[0.0], [3.0]], 150, axis=0) + rng.normal(size=(300, 12))
    reached = {}
    for moves in (0, 4):
        params = settings(
            likelihoods="gaussian",
            standardise=True,
            moves=moves,
            cluster_moves=0,
            start="together",
            alpha=0.01,
        )
        found = fit_by_hand(matrices(X=values), params, chains=1, warmup=3, draws=3)
        reached[moves] = adjusted_rand(found["labels"].values, np.repeat([0, 1], 150))
    assert reached[4] > 0.99 > reached[0]


def test_finite_table_is_the_series():
    """``V_n(t)`` by its definition, over many terms, where it falls fast."""
    n, k = 8, np.arange(1.0, 200_001)
    from scipy.special import gammaln

    values = []
    for t in (1, 2, 3):
        kept = k[t - 1 :]
        terms = gammaln(kept + 1) - gammaln(kept - t + 1) + gammaln(kept) - gammaln(kept + n)
        values.append(np.exp(terms - np.log(kept * (kept + 1))).sum())
    assert log_new_clusters(n)[1:3] == pytest.approx(np.diff(np.log(values)), abs=1e-9)


def test_slice_draws_have_the_law():
    rng, x, found = np.random.default_rng(1), 0.5, []
    for _ in range(4000):
        x = slice_draw(rng, x, lambda u: np.log(u) + 2 * np.log1p(-u), 1e-9, 1 - 1e-9)  # Beta(2, 3)
        found.append(x)
    assert np.mean(found) == pytest.approx(0.4, abs=0.015)
    assert np.var(found) == pytest.approx(0.04, abs=0.004)


def test_a_long_sweep_comes_in_slices():
    from plaidwork.core.api import Clock

    data, params = matrices(X=np.random.default_rng(2).normal(size=(8000, 60))), settings(start="random")
    rng = np.random.default_rng(3)
    state = MODEL.init(data, params, rng)
    slices = 1
    while MODEL.step(state, data, params, rng, Clock(0, 1)) is None:
        slices += 1
    assert slices > 2
