"""Regression against dense algebra, refits, quadrature and its own prior; faults planted in it are found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gp_joint import generator
from gp_regression_tools import NOISE, SETTINGS, TERMS, data_of, dense, place_of, prior_of
from plaid_tools import with_fault
from scipy.stats import multivariate_normal, norm

from plaidwork.core import fit
from plaidwork.core.api import Dataset
from plaidwork.core.checks import checks_for
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.plan import joined_inputs, model_data
from plaidwork.plugins.gp_auxiliary import hmc
from plaidwork.plugins.gp_auxiliary.covariance import make_covariance
from plaidwork.plugins.gp_auxiliary.evidence import evidence
from plaidwork.plugins.gp_auxiliary.gram import Prior
from plaidwork.plugins.gp_auxiliary.metric import new_metric
from plaidwork.plugins.gp_auxiliary.regression import moments
from plaidwork.plugins.gp_auxiliary.regression.law import (
    ObservedCovariance,
    extended,
    law_of,
    log_evidence,
    observed_prior,
)
from plaidwork.plugins.gp_auxiliary.regression.mixture import Mixture
from plaidwork.plugins.gp_auxiliary.regression.model import Regression


@pytest.mark.parametrize("expression", TERMS)
def test_the_evidence_is_a_normal_density(expression):
    prior = prior_of(expression, 14, noises=2)
    theta, y = place_of(prior), generator(3).standard_normal(14)
    c, noise = dense(prior, theta)
    wanted = multivariate_normal(np.zeros(14), c + np.diag(noise), allow_singular=False).logpdf(y)
    assert log_evidence(prior, theta, y) == pytest.approx(wanted, rel=1e-9)


def worst_slope(prior: Prior) -> float:
    """Largest difference of the gradient from central differences, relative to the largest slope."""
    theta, y = place_of(prior), generator(3).standard_normal((1, len(prior.x)))
    found = evidence(prior, theta, y).gradient
    steps = 1e-4 * np.eye(len(theta))
    slope = [(prior.log_density(theta + s, y) - prior.log_density(theta - s, y)) / 2e-4 for s in steps]
    return float(np.abs(found - slope).max() / np.abs(slope).max())


@pytest.mark.parametrize("expression", TERMS)
def test_the_gradient_is_the_slope_of_the_evidence(expression):
    assert worst_slope(prior_of(expression, 14, noises=2)) < 1e-6


def test_a_wrong_slope_of_the_noise_is_found(monkeypatch):
    wrong = with_fault(ObservedCovariance.slopes, "x[:, -2] * np.diag(weights)", "np.diag(weights)")
    monkeypatch.setattr(ObservedCovariance, "slopes", wrong)
    assert worst_slope(prior_of("rbf(ard) + constant", 14)) > 1e-3


def left_out_error(prior: Prior) -> float:
    """Largest difference of leave-one-out moments from those of refits."""
    theta, y = place_of(prior), generator(3).standard_normal(len(prior.x))
    c, noise = dense(prior, theta)
    mean, variance = moments.solve(prior, theta, y).left_out(y)
    worst = 0.0
    for n in range(len(y)):
        rest = np.arange(len(y)) != n
        gain = np.linalg.solve((c + np.diag(noise))[np.ix_(rest, rest)], c[rest, n])
        worst = max(worst, abs(mean[n] - gain @ y[rest]))
        worst = max(worst, abs(variance[n] - (c[n, n] + noise[n] - gain @ c[rest, n])))
    return worst


@pytest.mark.parametrize("expression", TERMS[:6])
def test_left_out_values_are_those_of_refits(expression):
    assert left_out_error(prior_of(expression, 12, noises=2)) < 1e-9


def test_leaving_out_without_the_noise_is_found(monkeypatch):
    wrong = with_fault(moments.Solved.left_out, "1.0 / np.diag(inverse)", "1.0 / np.diag(inverse) - 0.1")
    monkeypatch.setattr(moments.Solved, "left_out", wrong)
    assert left_out_error(prior_of("rbf", 12)) > 0.05


@pytest.mark.parametrize("expression", TERMS)
def test_the_function_at_new_places_is_that_of_the_joint_law(expression):
    """Moments from the precision of (f at new places, y), which shares no formula with the code."""
    prior = prior_of(expression, 12, noises=2)
    theta, y = place_of(prior), generator(3).standard_normal(12)
    new = generator(5).standard_normal((4, 3))
    both = np.concatenate([prior.x[:, :-2], new])
    joint = law_of(prior).latent().matrix(both, theta)
    joint[np.arange(12), np.arange(12)] += dense(prior, theta)[1]
    joint[np.arange(12, 16), np.arange(12, 16)] += 1e-9
    precision = np.linalg.inv(joint)
    variance = np.linalg.inv(precision[12:, 12:])
    mean, found = moments.solve(prior, theta, y).moments_at(prior, theta, new)
    np.testing.assert_allclose(mean, -variance @ precision[12:, :12] @ y, atol=1e-6)
    np.testing.assert_allclose(found, np.diag(variance), atol=1e-6)


def test_a_mixture_has_the_moments_and_quantiles_of_its_draws():
    """Against 400,000 draws: tolerances of five standard errors."""
    rng = generator(7)
    mean, variance = rng.standard_normal((5, 1)) * 2, np.exp(rng.standard_normal((5, 1)))
    weights = rng.dirichlet(np.ones(5))[:, None]
    mixture = Mixture(mean, variance, weights)
    which = rng.choice(5, 400_000, p=weights[:, 0])
    draws = mean[which, 0] + np.sqrt(variance[which, 0]) * rng.standard_normal(len(which))
    assert mixture.centre()[0] == pytest.approx(draws.mean(), abs=0.02)
    assert mixture.sd()[0] == pytest.approx(draws.std(), abs=0.02)
    for share, place in zip((0.05, 0.95), mixture.interval(0.9)[0], strict=True):
        assert (draws < place).mean() == pytest.approx(share, abs=0.002)
        assert mixture.below(np.array([place]))[0] == pytest.approx(share, abs=1e-9)
    y = np.array([0.4])
    wanted = float((weights[:, 0] * norm.pdf(0.4, mean[:, 0], np.sqrt(variance[:, 0]))).sum())
    assert mixture.log_density(y)[0] == pytest.approx(math.log(wanted), rel=1e-12)


def theta_apart(count: int) -> float:
    """Largest difference of a mean or mean square of (gamma, noise) drawn from those of an 89 x 89 grid, in standard errors."""
    x = np.linspace(-1.5, 1.5, 14)[:, None]
    y = np.sin(2 * x[:, 0]) + 0.3 * generator(8).standard_normal(14)
    base = make_covariance({**SETTINGS, "expression": "rbf", "amplitude_sd": 0.01}, ("a",))
    prior = observed_prior(base, extended(x), [NOISE])
    law_at, drawn = prior.covariance, [1, 2]
    places = [np.linspace(m - 5, m + 5, 89) for m in law_at.prior_mean[drawn]]
    grid = np.stack(np.meshgrid(*places, indexing="ij"), axis=-1).reshape(-1, 2)
    theta = np.column_stack([np.zeros(len(grid)), grid])
    value = np.array([log_evidence(prior, t, y) + law_at.log_prior(t) for t in theta])
    weight = np.exp(value - value.max())
    weight /= weight.sum()
    mean = weight @ grid
    sd = np.sqrt(weight @ (grid - mean) ** 2)
    rng, at, metric, draws = generator(9), law_at.prior_mean.copy(), new_metric(prior, True), []
    for sweep in range(count + 150):
        for number in range(hmc.UNITS):
            hmc.leap(rng, at, y[None], prior, metric, sweep < 150, number)
        if sweep >= 150:
            draws.append((at[drawn] - mean) / sd)
    values = np.concatenate([np.array(draws), np.array(draws) ** 2 - 1.0], axis=1)
    batches = values.reshape(20, -1, 4).mean(axis=1)
    return float(np.abs(values.mean(axis=0) / (batches.std(axis=0, ddof=1) / math.sqrt(20))).max())


def test_the_law_of_theta_is_that_of_a_grid():
    """4.5 standard errors of four values: a right sampler fails one in 20,000 times."""
    assert theta_apart(1200) < 4.5


@pytest.fixture(scope="module")
def run():
    return fit("gp_regression", data_of(40, 1), seed=3, chains=2, warmup=60, draws=60)


def test_a_fit_finds_noise_and_the_input_that_matters(run):
    """The noise sd is 3; 0.9 to 4.8 is 0.6 of it and 1.6."""
    table = run.results["covariance"].columns
    row = list(table["Parameter"]).index("noise sd")
    assert 1.8 < table["Median"][row] < 4.8
    assert "input 0” changes f fastest" in run.results["relevance_headline"]
    assert run.results["rmse"].values < 5.0
    assert run.results["along_names"].values[0] == "input 0"


def test_results_are_in_units_of_the_values(run):
    """With values in other units all predictions follow, and the density by the logarithm of the unit."""
    data = data_of(40, 1)
    data["y"] = data["y"].with_(values=data["y"].values * 100 - 7)
    other = fit("gp_regression", data, seed=3, chains=2, warmup=60, draws=60)
    for name in ("along_mean", "along_function", "along_observation", "point_predicted", "point_interval"):
        np.testing.assert_allclose(
            other.results[name].values, run.results[name].values * 100 - 7, rtol=1e-6, atol=1e-3
        )
    gap = other.results["nlpd"].values - run.results["nlpd"].values
    assert gap == pytest.approx(math.log(100), abs=1e-6)


def test_new_samples_are_predicted_as_test_samples_are():
    data = data_of(40, 1)
    names = data["X"].row_names
    code = (np.arange(40) >= 30).astype(np.int64)
    split = Dataset("split", code, names, kind="categorical", categories=("train", "test"))
    given = {**data, "split": split}
    run = fit("gp_regression", given, seed=3, chains=2, warmup=40, draws=40)
    assert "10 test samples" in run.results["headline"]
    spec = Regression.spec
    old = model_data(spec, joined_inputs(spec, {key: [found] for key, found in given.items()}), 0, 0.0)
    found = Regression().predict(run.kept(), old, old, run.params)
    table = found["predictions"].columns
    np.testing.assert_allclose(table["Predicted"][30:], run.results["point_predicted"].values[30:], rtol=1e-9)
    assert (table["sd of the function"] < table["sd of an observation"]).all()
    assert "40 with a value: RMSE" in found["headline"]


@pytest.mark.slow
def test_a_noise_of_the_wrong_size_is_found_by_the_joint_test(monkeypatch):
    """The sampler believes in a noise variance that is 0.5 larger than that of the data it is given."""
    wrong = with_fault(ObservedCovariance.matrix, "- 1.0", "- 0.5")
    monkeypatch.setattr(ObservedCovariance, "matrix", wrong)
    (check,) = (check for check in checks_for("gp_regression") if check.id == "geweke[default]")
    with pytest.raises(AssertionError):
        check()


@pytest.mark.parametrize("model", ["gp_regression", "gp_quick_regression"])
def test_what_cannot_be_fitted_is_refused_in_words(model):
    data = data_of(12, 1)
    names = data["X"].row_names

    def refusal(values: np.ndarray) -> str:
        with pytest.raises(PlaidworkError) as error:
            fit(model, {**data, "y": Dataset("y", values, names)}, chains=1, seed=1)
        return str(error.value)

    assert "All 12 values to fit are alike (3)" in refusal(np.full(12, 3.0))
    few = np.full(12, np.nan)
    few[:2] = 1.0, 2.0
    assert "at least 3 samples with a known value to fit. Found 2" in refusal(few)
