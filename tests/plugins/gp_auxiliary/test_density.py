"""Labels left out by weights, against orthant probabilities of the labels."""

import numpy as np
import pytest
from scipy import stats

from plaidwork.core.findings.predictive import run_densities
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit

X = np.array([[-1.2], [-0.4], [0.1], [0.7], [1.6]])
FIXED = {
    "parameters": "fixed",
    "amplitude": 2.0,
    "gamma": 0.6,
    "covariance": "rbf",
    "intercept": False,
    "standardise": False,
}


def evidence(x, low, high):
    """Probability that z ~ N(0, C + I) lies between low and high (N,)."""
    gap = (x - x.T) ** 2
    cov = FIXED["amplitude"] * np.exp(-0.5 * FIXED["gamma"] * gap) + np.eye(len(x))
    return stats.multivariate_normal(np.zeros(len(x)), cov).cdf(high, lower_limit=low)


def left_out(model, labels, draws, **settings):
    run = fit(
        model,
        {"X": X, "y": labels},
        {**FIXED, **settings},
        seed=2,
        chains=2,
        warmup=100,
        draws=draws,
        executor="inline",
    )
    return run_densities(run, run.session.datasets, registry().model(run.spec.id)).score(), run


@pytest.mark.long
def test_two_classes_left_out_are_predicted_exactly():
    labels = np.array(["a", "b", "a", "b", "b"])
    score, _run = left_out("gp_classes", labels, 1500)
    low, high = np.where(labels == "b", 0.0, -np.inf), np.where(labels == "b", np.inf, 0.0)
    whole = evidence(X, low, high)
    exact = [
        np.log(whole / evidence(*(np.delete(part, i, axis=0) for part in (X, low, high)))) for i in range(5)
    ]
    np.testing.assert_allclose(score.elpd, exact, atol=0.03)  # about 4 Monte Carlo errors
    assert np.abs(score.lpd - exact).max() > 0.06  # seen: the weights forgotten


@pytest.mark.parametrize(("model", "classes"), [("gp_classes", "abc"), ("gp_ordered_classes", "123")])
def test_several_classes_have_probabilities_that_sum_to_one(model, classes):
    """The same draws, with the label of one sample changed: over its labels the probabilities add up to 1."""
    labels = np.array(list(classes[0] + classes[1] + classes[2] + classes[1] + classes[2]))
    score, run = left_out(model, labels, 60)
    assert len(score.elpd) == 5
    plan = run.session.plan_of(run, registry())
    chain, draws, total = run.kept().chains[0], np.arange(60), 0.0
    for label in range(3):
        other = run.session.plan_of(run, registry()).data
        codes = np.array(plan.data["y"].values)
        codes[3] = label
        object.__setattr__(other["y"], "values", codes)
        total += np.exp(plan.model.log_likelihood(chain, draws, other, plan.params, 0, np.array([3]), None))
    np.testing.assert_allclose(total, 1.0, atol=1e-6)


def test_cells_of_binary_components_are_those_of_the_log_likelihood():
    """Over all known cells the probabilities give the log likelihood that the model keeps."""
    rng = np.random.default_rng(4)
    y = (rng.standard_normal((12, 1)) * rng.standard_normal(7) > 0).astype(float)
    y[3, 2] = np.nan
    run = fit("binary_pca", {"Y": y}, {"factors": 1}, seed=1, chains=1, warmup=20, draws=5, executor="inline")
    plan, chain = run.session.plan_of(run, registry()), run.kept().chains[0]
    cells = np.nonzero(plan.data["Y"].observed)
    found = plan.model.log_likelihood(chain, np.arange(5), plan.data, plan.params, 0, *cells)
    np.testing.assert_allclose(found.sum(axis=1), chain.stack("log_likelihood"), rtol=1e-9)


@pytest.mark.parametrize("long", [False, True])
def test_ratings_are_those_of_the_log_likelihood(long):
    """Over all ratings the probabilities give the log likelihood that the model keeps, in both layouts."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((9, 1))
    grades = np.digitize(x + 0.3 * rng.standard_normal((9, 3)), [-0.5, 0.5]).astype(float)
    grades[[0, 4], [1, 2]] = np.nan
    inputs = {"X": x, "ratings": grades}
    if long:
        item, rater = np.nonzero(~np.isnan(grades))
        mixed = rng.permutation(len(item))
        item, rater = item[mixed], rater[mixed]
        inputs = {"X": x[item], "ratings": grades[item, rater][:, None], "rater": [f"r{c}" for c in rater]}
    run = fit("gp_raters", inputs, seed=1, chains=1, warmup=10, draws=5, executor="inline")
    plan, chain = run.session.plan_of(run, registry()), run.kept().chains[0]
    cells = np.nonzero(plan.data["ratings"].observed)
    found = plan.model.log_likelihood(chain, np.arange(5), plan.data, plan.params, 0, *cells)
    np.testing.assert_allclose(found.sum(axis=1), chain.stack("log_likelihood"), rtol=1e-9)


def test_between_is_right_in_both_tails():
    from plaidwork.plugins.gp_auxiliary.raters.density import log_between

    low, high = np.array([-40.0, 38.0, -1.0, -np.inf]), np.array([-38.0, 40.0, 0.5, 0.0])
    tail = stats.norm.logsf(38.0)
    expected = [tail, tail, np.log(stats.norm.cdf(0.5) - stats.norm.cdf(-1.0)), np.log(0.5)]
    np.testing.assert_allclose(log_between(low, high), expected, rtol=1e-12)
