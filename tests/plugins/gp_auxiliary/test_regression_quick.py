"""The quick regression and its inducing points against the exact evidence; faults planted in them are found."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from gp_joint import generator
from gp_regression_tools import data_of, place_of, prior_of
from plaid_tools import with_fault

from plaidwork.core import fit
from plaidwork.core.api import Dataset
from plaidwork.core.inference.plan import joined_inputs, model_data
from plaidwork.plugins.gp_auxiliary.kernels import covariance as kernels
from plaidwork.plugins.gp_auxiliary.regression import moments, quick, sparse
from plaidwork.plugins.gp_auxiliary.regression import samples as regression_samples
from plaidwork.plugins.gp_auxiliary.regression import state as regression_state
from plaidwork.plugins.gp_auxiliary.regression.law import (
    extended,
    log_evidence,
)
from plaidwork.plugins.gp_auxiliary.regression.quick import QuickRegression, climbed
from plaidwork.plugins.gp_auxiliary.regression.sparse import bound_and_slope, solve_sparse
from plaidwork.plugins.gp_auxiliary.shared import covariance
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.radial import is_radial, radial_slopes

SMOOTH = ["rbf(ard) + constant", "matern32(ard)", "rational_quadratic + linear", "polynomial * rbf"]


def plain(expression: str, size: int) -> Prior:
    """Samples with noise of one variance."""
    prior = prior_of(expression, size)
    return replace(prior, x=extended(prior.x[:, :-2]))


def by_points(prior: Prior, points: np.ndarray) -> Prior:
    return replace(prior, inducing=np.ascontiguousarray(points))


def worst_bound_slope(prior: Prior) -> float:
    """Largest difference of the bound's gradient from central differences, relative to the largest slope."""
    theta, y = place_of(prior), generator(3).standard_normal(len(prior.x))
    found = bound_and_slope(prior, theta, y)[1]
    steps = 1e-5 * np.eye(len(theta))
    slope = [
        (bound_and_slope(prior, theta + s, y)[0] - bound_and_slope(prior, theta - s, y)[0]) / 2e-5
        for s in steps
    ]
    return float(np.abs(found - slope).max() / np.abs(slope).max())


@pytest.mark.parametrize("expression", SMOOTH)
def test_the_slope_of_the_bound(expression):
    prior = plain(expression, 30)
    assert worst_bound_slope(by_points(prior, 1.3 * prior.x[:8, :-2])) < 1e-6


@pytest.mark.parametrize("expression", SMOOTH)
def test_with_all_samples_as_points_the_bound_is_the_evidence(expression):
    prior = plain(expression, 20)
    theta, y = place_of(prior), generator(3).standard_normal(20)
    full = by_points(prior, prior.x[:, :-2])
    assert bound_and_slope(full, theta, y)[0] == pytest.approx(log_evidence(prior, theta, y), abs=1e-4)
    new = generator(5).standard_normal((6, 3))
    exact = moments.solve(prior, theta, y)
    found = solve_sparse(full, theta, y)
    for one, other in zip(
        found.moments_at(full, theta, new), exact.moments_at(prior, theta, new), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-5)
    for one, other in zip(found.left_out(y), exact.left_out(y), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)


def excess() -> tuple[float, float]:
    """By how much the bound exceeds the evidence at most, of 100 choices of points, and how far it falls at most when one is added."""
    prior, rng = plain("rbf(ard) + constant", 25), generator(6)
    theta, y = place_of(prior), generator(3).standard_normal(25)
    exact = log_evidence(prior, theta, y)
    above = fall = -math.inf
    for _ in range(100):
        points = rng.standard_normal((int(rng.integers(2, 10)), 3))
        value = solve_sparse(by_points(prior, points), theta, y).bound(y)
        fewer = solve_sparse(by_points(prior, points[1:]), theta, y).bound(y)
        above, fall = max(above, value - exact), max(fall, fewer - value)
    return above, fall


def test_the_bound_never_exceeds_the_evidence_and_rises_with_every_point():
    above, fall = excess()
    assert above < 0.0
    assert fall < 1e-4


def test_a_bound_without_its_trace_is_found(monkeypatch):
    wrong = with_fault(sparse.Sparse.bound, "0.5 * float(self.left.sum())", "0.0 * float(self.left.sum())")
    monkeypatch.setattr(sparse.Sparse, "bound", wrong)
    above, fall = excess()
    assert max(above, fall) > 0.1


@pytest.mark.parametrize(("gamma", "least", "most"), [(1.0, 200, 200), (400.0, 250, 350), (1e6, 1000, 1000)])
def test_a_function_of_a_short_length_is_shown_at_more_places(gamma, least, most):
    """Four to a length: 3.5 / 0.05 of them."""
    x, names = np.linspace(1900.0, 2000.0, 120), tuple(map(str, range(120)))
    y = np.random.default_rng(1).standard_normal(120)
    data = {"X": Dataset("X", x[:, None], names, ("year",)), "y": Dataset("y", y, names)}
    params = {"starts": 1, "gamma": gamma, "gamma_sd": 0.01}
    found = fit("gp_quick_regression", data, params, seed=1).results["along_x"].values
    assert least <= found.shape[1] <= most


def test_too_few_points_are_told():
    data = data_of(200, 1)
    few, many = (
        fit("gp_quick_regression", data, {"form": "inducing", "inducing": count, "starts": 1}, seed=1).results
        for count in (6, 80)
    )
    assert "More points would change the fit" in few["points_note"]
    assert few["doubt"].startswith("More inducing points would change the fit: half of the points")
    assert "The points are enough" in many["points_note"]
    exact = fit("gp_quick_regression", data, {"form": "dense", "starts": 1}, seed=1).results
    assert many["nlpd"].values == pytest.approx(float(exact["nlpd"].values), abs=0.02)


def test_the_quick_model_finds_the_best_optimum():
    """The gradient is 0 there but for a tenth of a nat a logarithm, and no start ends higher; the objective never falls."""
    data = data_of(40, 1)
    run = fit("gp_quick_regression", data, seed=3)
    values = run.traces["log_density"][0]
    assert (np.diff(values) >= 0).all()
    assert run.traces["left"][0][-1] == 0
    theta = run.kept().chains[0].draw("theta", 0)
    spec = QuickRegression.spec
    found = model_data(spec, joined_inputs(spec, {key: [one] for key, one in data.items()}), 0, 0.0)
    samples = regression_samples.make_samples(found, run.params)
    prior = regression_state.prior_of(regression_state.fixed_of(samples), run.params)
    value, slope = climbed(prior, theta, samples.y, "posterior")
    assert value == pytest.approx(values[-1], abs=1e-9)
    assert np.abs(slope).max() < 0.1
    assert run.results["optima"].columns["Below the best"][0] == 0.0


def test_two_optima_that_are_about_as_good_are_told():
    """Few values that may be a rough function or noise."""
    x = np.linspace(-2, 2, 7)[:, None]
    y = np.array([-1.0, 0.9, -1.1, 1.0, -0.8, 1.2, 0.3]) + 0.6 * x[:, 0]
    names = [f"s{i}" for i in range(7)]
    data = {"X": Dataset("X", x, names, ["a"]), "y": Dataset("y", y, names)}
    told = 0
    for seed in range(4):
        run = fit("gp_quick_regression", data, {"raised": "evidence", "starts": 8}, seed=seed)
        told += "Another optimum is about as good" in run.results["optima_note"]
    assert told >= 1


RADIAL = ["rbf(ard)", "rbf + constant", "constant + rbf(ard)", "constant * constant + rbf"]


@pytest.mark.parametrize("expression", RADIAL)
def test_whole_arrays_give_the_covariance_and_slopes_of_the_kernels(expression):
    """Other samples and weights than a covariance has of its own; samples far from 0, which large squares would spoil."""
    law = plain(expression, 30).covariance.f
    assert is_radial(law.table)
    theta = law.prior_mean + 0.3 * generator(2).standard_normal(len(law.parameters))
    x, y = 50.0 + generator(4).standard_normal((7, 3)), 50.0 + generator(5).standard_normal((9, 3))
    values = np.exp(theta)
    known = kernels.cross_covariance(law.table, law.n_groups, x, y, values, law.degree)
    np.testing.assert_allclose(law.cross(x, y, theta), known, rtol=1e-12)
    weights = generator(6).standard_normal((7, 9))
    wanted = law.cross_slopes(x, y, theta, weights)
    np.testing.assert_allclose(law.slopes_of_known(x, y, theta, weights, known.copy()), wanted, rtol=1e-9)


@pytest.mark.parametrize(
    "expression", ["rbf * rbf", "rbf + rbf", "rbf * constant", "rbf + linear", "matern32"]
)
def test_other_sums_are_left_to_the_kernels(expression):
    assert not is_radial(plain(expression, 5).covariance.table)


def test_slopes_of_lengths_without_half_are_found(monkeypatch):
    monkeypatch.setattr(
        covariance, "radial_slopes", with_fault(radial_slopes, "-0.5 * lengths", "-1.0 * lengths")
    )
    prior = plain("rbf(ard) + constant", 30)
    assert worst_bound_slope(by_points(prior, 1.3 * prior.x[:8, :-2])) > 0.1


def test_blocks_of_samples_add_up(monkeypatch):
    """The bound, its slope and predictions are the same whatever the size of a block, of three unequal ones too."""
    prior = plain("rbf(ard) + constant", 50)
    theta, y, new = place_of(prior), generator(3).standard_normal(50), generator(5).standard_normal((30, 3))
    found = []
    for size in (1024, 20):
        monkeypatch.setattr(sparse, "_BLOCK", size)
        sampled = by_points(prior, 1.3 * prior.x[:8, :-2])
        solved = solve_sparse(sampled, theta, y)
        assert len(solved.loadings) == math.ceil(50 / size)
        parts = (
            *bound_and_slope(sampled, theta, y),
            *solved.left_out(y),
            *solved.moments_at(sampled, theta, new),
        )
        found.append(np.hstack(parts))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10, atol=1e-12)


def test_the_memory_of_many_samples_is_that_of_the_points():
    """100,000 samples: below 1 GB by 300 points, not the 400 GB of all pairs; one sample more is refused with the number."""
    x = generator(1).standard_normal((100_001, 2))
    names = [f"s{i}" for i in range(len(x))]
    params = QuickRegression.spec.check_params({"inducing": 300})
    spec, told = QuickRegression.spec, []
    for size in (100_000, 100_001):
        data = {
            "X": Dataset("X", x[:size], names[:size], ["a", "b"]),
            "y": Dataset("y", x[:size, 0], names[:size]),
        }
        found = model_data(spec, joined_inputs(spec, {key: [one] for key, one in data.items()}), 0, 0.0)
        told.append(QuickRegression().validate(found, params))
        assert QuickRegression().estimate(found, params).memory < 1e9
    assert told[0] == []
    assert "at most 100000 are fitted" in told[1][0].message


def gain_of_longer_lengths() -> float:
    """Nats by which the evidence rises where lengths become still longer than the ascent made those of two irrelevant inputs."""
    rng = generator(8)
    x = rng.standard_normal((80, 3))
    y = 5.0 * x[:, 0] + 0.5 * x[:, 0] ** 2 + 0.1 * rng.standard_normal(80)
    names = [f"s{i}" for i in range(80)]
    data = {"X": Dataset("X", x, names, ["a", "b", "c"]), "y": Dataset("y", y, names)}
    run = fit("gp_quick_regression", data, {"raised": "evidence", "intercept": False}, seed=1)
    theta = run.kept().chains[0].draw("theta", 0)
    spec = QuickRegression.spec
    found = model_data(spec, joined_inputs(spec, {key: [one] for key, one in data.items()}), 0, 0.0)
    samples = regression_samples.make_samples(found, run.params)
    prior = regression_state.prior_of(regression_state.fixed_of(samples), run.params)
    longer = theta.copy()
    longer[2:4] = np.minimum(longer[2:4], -24.0)
    ends = [climbed(prior, place, samples.y, "evidence")[0] for place in (theta, longer)]
    return ends[1] - ends[0]


def test_lengths_of_irrelevant_inputs_become_as_long_as_the_evidence_wants(monkeypatch):
    assert gain_of_longer_lengths() < 0.01
    monkeypatch.setattr(quick, "_FAR", 14.0)
    assert gain_of_longer_lengths() > 0.1
