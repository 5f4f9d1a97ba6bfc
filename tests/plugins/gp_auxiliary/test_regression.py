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
from plaidwork.core.api import Dataset, ResultStore
from plaidwork.core.api_pictures import Points, ViewChoices
from plaidwork.core.checks import checks_for
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.plan import joined_inputs, model_data
from plaidwork.plugins.gp_auxiliary.kernels import slopes
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
from plaidwork.plugins.gp_auxiliary.regression.pictures import observed_against_predicted, residuals
from plaidwork.plugins.gp_auxiliary.shared import hmc
from plaidwork.plugins.gp_auxiliary.shared.covariance import make_covariance
from plaidwork.plugins.gp_auxiliary.shared.evidence import evidence
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.metric import new_metric


@pytest.mark.parametrize("expression", TERMS)
def test_the_evidence_is_a_normal_density(expression):
    prior = prior_of(expression, 14, noises=2)
    theta, y = place_of(prior), generator(3).standard_normal(14)
    c, noise = dense(prior, theta)
    wanted = multivariate_normal(np.zeros(14), c + np.diag(noise), allow_singular=False).logpdf(y)
    assert log_evidence(prior, theta, y) == pytest.approx(wanted, rel=1e-9)


def worst_slope(prior: Prior) -> float:
    """Largest difference of the gradient from central differences of fourth order, relative to the largest slope."""
    theta, y = place_of(prior), generator(3).standard_normal((1, len(prior.x)))
    found = evidence(prior, theta, y).gradient

    def difference(step: np.ndarray) -> float:
        return prior.log_density(theta + step, y) - prior.log_density(theta - step, y)

    steps = 5e-4 * np.eye(len(theta))
    slope = [(8 * difference(step) - difference(2 * step)) / 6e-3 for step in steps]
    return float(np.abs(found - slope).max() / np.abs(slope).max())


@pytest.mark.parametrize("expression", TERMS)
def test_the_gradient_is_the_slope_of_the_evidence(expression):
    assert worst_slope(prior_of(expression, 14, noises=2)) < 1e-6


def periodic_by_hand(x: np.ndarray, y: np.ndarray, gamma: float, period: float) -> np.ndarray:
    """(N, M) of two vectors of one input."""
    return np.exp(-2.0 * gamma * np.sin(np.pi * (x[:, None] - y) / period) ** 2)


def test_a_periodic_term_recurs():
    """All forms of the covariance against the formula, and whole periods away the same value."""
    law = make_covariance({**SETTINGS, "expression": "periodic * linear"}, ("a", "b"))
    theta = np.array([0.2, -0.4, 0.1, 0.3])
    x, y = generator(4).standard_normal((30, 2)), generator(5).standard_normal((7, 2))
    gamma, period = np.exp(theta[1:3])

    def wanted(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        along = np.exp(theta[0]) * (left @ right.T + np.exp(theta[3]))
        return along * periodic_by_hand(left[:, 1], right[:, 1], gamma, period)

    np.testing.assert_allclose(law.matrix(x, theta), wanted(x, x), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.cross(x, y, theta), wanted(x, y), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(law.variance(x, theta), np.diag(wanted(x, x)), rtol=1e-9)
    g, enough, _pivots = law.pivoted(x[:12], theta, 12, 1e-9)
    assert enough
    np.testing.assert_allclose(g @ g.T, wanted(x[:12], x[:12]), atol=1e-8)
    weights = generator(6).standard_normal((30, 7))
    found = law.cross_slopes(x, y, theta, weights)
    for i, step in enumerate(1e-5 * np.eye(4)):
        change = law.cross(x, y, theta + step) - law.cross(x, y, theta - step)
        assert found[i] == pytest.approx((weights * change).sum() / 2e-5, rel=1e-6, abs=1e-6)
    alone = make_covariance({**SETTINGS, "expression": "periodic"}, ("a", "b"))
    later = x + np.array([0.3, 4 * period])
    np.testing.assert_allclose(alone.cross(x, later, theta[:3]), alone.cross(x, x, theta[:3]), atol=1e-12)


def test_a_slope_of_the_period_without_its_angle_is_found(monkeypatch):
    wrong = with_fault(slopes._periodic_slopes, "pull * angle *", "pull *")
    group = with_fault(slopes._group_slopes, _periodic_slopes=wrong)
    monkeypatch.setattr(slopes, "contracted", with_fault(slopes.contracted, _group_slopes=group))
    assert worst_slope(prior_of("periodic * rbf(ard)", 14)) > 1e-3


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


def series(months: int, period: float) -> dict[str, Dataset]:
    """A line and a season of twelve months, times in years since 1960."""
    years = 1960.0 + np.arange(months) / 12.0
    y = 300 + 1.5 * (years - 1960.0) + 3.0 * np.sin(2 * np.pi * years / period)
    names = [f"m{i}" for i in range(months)]
    y += 0.3 * generator(12).standard_normal(months)
    split = Dataset("split", (np.arange(months) >= months - 24).astype(np.int64), names, kind="categorical",
                    categories=("train", "test"))  # fmt: skip
    return {"X": Dataset("X", years[:, None], names, ["year"]), "y": Dataset("y", y, names), "split": split}


@pytest.mark.parametrize("model", ["gp_regression", "gp_quick_regression"])
def test_a_season_goes_on_beyond_the_data(model):
    """Two years ahead: the noise is 0.3, the season 3; the period is told in years."""
    length = {"chains": 2, "warmup": 60, "draws": 40} if model == "gp_regression" else {"chains": 1}
    run = fit(model, series(108, 1.0), {"covariance": "seasonal"}, seed=1, **length)
    assert run.results["rmse"].values < 1.0
    table = run.results["covariance"].columns
    row = [str(name) for name in table["Parameter"]].index("period of periodic")
    assert table["Median" if model == "gp_regression" else "Best"][row] == pytest.approx(1.0, abs=0.01)
    assert run.results["along_x"].values.shape[1] > 80


def test_a_period_of_no_input_is_refused():
    settings = {"covariance": "expression", "expression": "rbf + periodic", "period_of": "month"}
    with pytest.raises(PlaidworkError, match="No input is called “month”"):
        fit("gp_regression", series(48, 1.0), settings, chains=1, seed=1)


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
    drawn = observed_against_predicted(ResultStore(run), ViewChoices({}))
    (points,) = (mark for mark in drawn.panels[0].marks if isinstance(mark, Points))
    assert np.bincount(points.shapes).tolist() == [30, 10], "told apart without colour"
    assert [key.shape for key in drawn.legend] == [0, 1]
    names = run.results["along_names"].values
    for choice, under in ({}, drawn.panels[0].x.label), ({"over": "2"}, names[1]):
        assert residuals(ResultStore(run), ViewChoices(choice)).panels[0].x.label == under
    spec = Regression.spec
    old = model_data(spec, joined_inputs(spec, {key: [found] for key, found in given.items()}), 0, 0.0)
    found = Regression().predict(run.kept(), old, old, run.params)
    table = found["predictions"].columns
    np.testing.assert_allclose(table["Predicted"][30:], run.results["point_predicted"].values[30:], rtol=1e-9)
    assert (table["sd of the function"] < table["sd of an observation"]).all()
    assert "40 with a value: typical error" in found["headline"]


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
