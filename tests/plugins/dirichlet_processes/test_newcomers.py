"""Samples that were not fitted: their density against enumeration, their clusters against what was planted."""

import numpy as np
import pytest
from dp_tools import (
    LEARNED,
    MODEL,
    Chain,
    Chains,
    fit_by_hand,
    keep,
    log_weights,
    matrices,
    planted,
    settings,
)

GAP = np.nan


COLUMNS = {
    "gaussian": ([[0.1], [0.4], [2.0], [2.3]], [1.9], 1e-9),
    "gaussian_full": ([[0.1, 0.3], [0.4, 0.1], [2.0, 1.5], [2.3, 1.0]], [1.9, 0.7], 1e-9),
    "multinomial": ([[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 2, 2]], [1, 1, 2], 1e-9),
    "gaussian_full with a gap": ([[0.1, 0.3], [0.4, 0.1], [2.0, 1.5], [2.3, 1.0]], [1.9, GAP], 1e-5),
}
"""Fitted rows, a new one, and how close a sum over a grid of its missing cell comes."""


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("prior", ["dirichlet", "pitman_yor", "finite"])
def test_density_of_a_new_sample_given_a_partition(prior, columns):
    """Ratio of joint densities with and without it, summed over where it can go; both from scipy's formulas."""
    (x, one, close), codes = COLUMNS[columns], [[0], [0], [1], [1]]
    params = settings(likelihoods=f"{columns.split()[0]}, categorical", prior=prior, alpha=0.8, discount=0.3)
    data, new = matrices(a=x, b=codes), matrices(a=[one], b=[[1]])
    state = MODEL.init(data, params, np.random.default_rng(1))
    state["labels"][:] = [0, 0, 1, 1]
    draw = {**MODEL.draws(state, data, params), "cluster_of": np.array([0, 0, 1, 1])}
    found = MODEL.predict(Chains([Chain([draw])]), data, new, params)
    whole = matrices(a=[*x, one], b=[*codes, [1]])
    where = np.array([log_weights((0, 0, 1, 1, k), whole, params, of=5) for k in range(3)])
    chance = np.exp(where - where.max())
    assert found["probability"].values[0] == pytest.approx(chance / chance.sum(), rel=close)
    prior_alone = np.array([log_weights((0, 0, 1, 1, k), whole, params, of=0) for k in range(3)])
    data_alone = (
        np.logaddexp.reduce(where)
        - log_weights((0, 0, 1, 1), data, params, of=4)
        + log_weights((0, 0, 1, 1), data, params, of=0)
    )
    expected = data_alone - np.logaddexp.reduce(prior_alone)
    assert found["assignments"].columns["Log density"][0] == pytest.approx(expected, rel=close)


def test_new_samples_go_where_they_belong():
    values, truth = planted(200)
    params = settings(**LEARNED)
    kept = keep(matrices(X=values[:160]), params, chains=2, warmup=30, draws=20)
    old = MODEL.summarise(kept, matrices(X=values[:160]), params)["labels"].values
    far = np.full((1, 4), 900.0)
    found = MODEL.predict(
        kept, matrices(X=values[:160]), matrices(X=np.concatenate([values[160:], far])), params
    )
    probability = found["probability"].values
    assert probability.sum(axis=1) == pytest.approx(np.ones(41))
    match = {k: np.bincount(truth[:160][old == k]).argmax() for k in range(4)}
    best = probability[:-1].argmax(axis=1)
    assert np.mean([match.get(int(k), -1) == one for k, one in zip(best, truth[160:], strict=True)]) > 0.9
    assert probability[-1, -1] > 0.9
    assert found["headline"] == "41 new samples, 1 like none of the clusters"


def test_matrices_and_categories_that_are_missing():
    """A matrix that new samples lack, and a category that the fit has not seen, say nothing."""
    rng = np.random.default_rng(3)
    numbers, codes = rng.normal(size=(12, 2)), rng.integers(0, 3, (12, 1)).astype(float)
    params = settings(likelihoods="gaussian, categorical")
    data = matrices(a=numbers, b=codes)
    kept = keep(data, params, chains=1, warmup=5, draws=5)
    lacking = MODEL.predict(kept, data, matrices(a=[[0.3, 1.0]]), params)
    unseen = MODEL.predict(kept, data, matrices(a=[[0.3, 1.0]], b=[[9.0]]), params)
    assert np.array_equal(lacking["probability"].values, unseen["probability"].values)


def test_results_are_those_of_the_kept_draws():
    values, _ = planted(60)
    data, params = matrices(X=values), settings(**LEARNED)
    one = fit_by_hand(data, params, chains=1, warmup=5, draws=5)
    other = MODEL.summarise(keep(data, params, chains=1, warmup=5, draws=5), data, params)
    assert np.array_equal(one["labels"].values, other["labels"].values)


def test_rows_that_share_a_total_are_placed_whole():
    """Of new samples too: one with a gap is placed without the matrix, which is told."""
    rng = np.random.default_rng(3)
    numbers, counts = rng.normal(size=(12, 2)), rng.poisson(2.0, (12, 3)).astype(float)
    params = settings(likelihoods="gaussian, multinomial")
    data = matrices(a=numbers, b=counts)
    kept = keep(data, params, chains=1, warmup=5, draws=5)
    lacking = MODEL.predict(kept, data, matrices(a=[[0.3, 1.0]]), params)
    gap = MODEL.predict(kept, data, matrices(a=[[0.3, 1.0]], b=[[4.0, GAP, 1.0]]), params)
    assert np.array_equal(lacking["probability"].values, gap["probability"].values)
    told = "1 row of counts that share a total has gaps, and was left out."
    assert gap["caption"].endswith(told)
    assert told not in lacking["caption"]
