"""Heavy-tailed and varying noise of a regression against quadrature; faults planted in them are found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gp_joint import generator
from gp_regression_tools import data_of
from plaid_tools import with_fault
from scipy.stats import gamma
from scipy.stats import t as student_t

from plaidwork.core import fit
from plaidwork.core.api import Clock, Dataset, passes
from plaidwork.plugins.gp_auxiliary.regression import model as regression_model
from plaidwork.plugins.gp_auxiliary.regression import moments
from plaidwork.plugins.gp_auxiliary.regression import noise as regression_noise
from plaidwork.plugins.gp_auxiliary.regression import state as regression_state
from plaidwork.plugins.gp_auxiliary.regression import varying as regression_varying
from plaidwork.plugins.gp_auxiliary.regression.law import log_evidence
from plaidwork.plugins.gp_auxiliary.regression.model import Regression
from plaidwork.plugins.gp_auxiliary.regression.noise import DEGREES, NoiseLaw, log_prior_of_degrees
from plaidwork.plugins.gp_auxiliary.regression.varying import Sliced


def two_values() -> tuple[np.ndarray, np.ndarray, dict[str, object]]:
    """Two samples, their values, and settings by which all parameters are as good as known: f ~ N(0, C), noise s2 = 0.2."""
    x, y = np.array([[-0.4], [0.5]]), np.array([1.0, -0.6])
    given = {"standardise": False, "standardise_y": False, "intercept": False, "ard": False, "gamma": 1.0}
    narrow = {"amplitude_sd": 0.01, "gamma_sd": 0.01, "noise_variance": 0.2, "noise_sd": 0.01}
    return x, y, Regression.spec.check_params({**given, **narrow, "moves": "walk", "walks": 1})


def chain_of(noise: str, count: int) -> list[dict[str, np.ndarray]]:
    """The kept draws of a chain of two samples, which the model itself refuses for being too few."""
    x, y, params = two_values()
    params = {**params, "noise": noise}
    rng, law = generator(12), NoiseLaw.of(noise, x)
    fixed = {"x": x, "y": y, "unit": 1.0}
    model = Regression()
    theta = regression_state.prior_of(fixed, params).covariance.prior_mean
    state = model._begun(fixed, theta.copy(), law.start_shape(), np.ones(2), law, params)
    found = []
    for sweep in range(count):
        for _ in passes(model, state, None, params, rng, Clock(sweep, 0)):
            pass
        found.append(model.draws(state, None, params))
    return found


def student_apart(count: int) -> float:
    """Difference of the mean of 1 / (1 + w_1) from that by sums over (nu, w_1, w_2), in standard errors."""
    x, y, _params = two_values()
    draws = chain_of("student", count)
    values = np.array([1.0 / (1.0 + 1.0 / draw["scale"][0]) for draw in draws])
    c = np.exp(-0.5 * (x - x.T) ** 2)
    log_w = np.linspace(-12, 3, 180)
    w = np.exp(log_w)
    one, two = np.meshgrid(w, w, indexing="ij")
    k = [[c[0, 0] + 0.2 / one, np.full_like(one, c[0, 1])], [None, c[1, 1] + 0.2 / two]]
    det = k[0][0] * k[1][1] - c[0, 1] ** 2
    square = (y[0] ** 2 * k[1][1] - 2 * y[0] * y[1] * c[0, 1] + y[1] ** 2 * k[0][0]) / det
    evidence_at = np.exp(-0.5 * square) / np.sqrt(det)
    total = mean = 0.0
    for nu, log_prior in zip(DEGREES, log_prior_of_degrees(), strict=True):
        density = gamma.pdf(w, 0.5 * nu, scale=2.0 / nu) * w
        weight = np.exp(log_prior) * density[:, None] * density * evidence_at
        total, mean = total + weight.sum(), mean + (weight / (1.0 + one)).sum()
    batches = values.reshape(20, -1).mean(axis=1)
    return abs(values.mean() - mean / total) / (batches.std(ddof=1) / math.sqrt(20))


@pytest.mark.long
def test_weights_of_heavy_tails_have_the_law_of_a_quadrature():
    """4 standard errors: a right sampler fails one in 15,000 times."""
    assert student_apart(2000) < 4.0


@pytest.mark.slow
def test_weights_of_heavy_tails_have_the_law_of_a_quadrature_longer():
    assert student_apart(20_000) < 4.0


@pytest.mark.slow
def test_weights_drawn_with_a_wrong_shape_are_found(monkeypatch):
    wrong = with_fault(regression_noise.draw_scales, "0.5 * (nu + 1)", "0.5 * nu")
    monkeypatch.setattr(regression_model, "draw_scales", wrong)
    assert student_apart(20_000) > 6.0


def varying_apart(count: int) -> float:
    """Difference of the mean scale of the first sample from that by sums over u (2,), in standard errors."""
    x, y, _params = two_values()
    values = np.array([np.tanh(draw["shape"][0]) for draw in chain_of("varying", count)])
    law = NoiseLaw.of("varying", x)
    axis = np.linspace(-6, 6, 121)
    u = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    scale = np.exp(u @ law.basis(x).T)
    c01 = float(np.exp(-0.5 * (x[0, 0] - x[1, 0]) ** 2))
    one, two = 1.0 + 0.2 * scale[:, 0], 1.0 + 0.2 * scale[:, 1]
    det = one * two - c01**2
    square = (y[0] ** 2 * two - 2 * y[0] * y[1] * c01 + y[1] ** 2 * one) / det
    weight = np.exp(-0.5 * square - 0.5 * (u**2).sum(axis=1)) / np.sqrt(det)
    mean = float((weight * np.tanh(u[:, 0])).sum() / weight.sum())
    batches = values.reshape(20, -1).mean(axis=1)
    return abs(values.mean() - mean) / (batches.std(ddof=1) / math.sqrt(20))


def test_tries_of_a_slice_have_the_evidence_of_the_law():
    """With the covariance of f made once a sweep: the evidence of the whole law at other scales of the noise, within 1e-10 nats."""
    x, y, params = two_values()
    params, law = {**params, "noise": "varying"}, NoiseLaw.of("varying", x)
    fixed = {"x": x, "y": y, "unit": 1.0}
    theta = regression_state.prior_of(fixed, params).covariance.prior_mean
    state = Regression()._begun(fixed, theta, law.start_shape(), np.ones(2), law, params)
    sliced = Sliced.of(Regression().prior(state, params), state)
    for seed in range(5):
        scale = law.scale_at(law.prior_shape(generator(seed)), x)
        np.testing.assert_allclose(np.exp(sliced.basis @ law.prior_shape(generator(seed))), scale, rtol=1e-12)
        wanted = log_evidence(regression_state.prior_of(fixed, params, scale), theta, y)
        assert sliced.log_evidence(scale) == pytest.approx(wanted, abs=1e-10)


@pytest.mark.long
def test_varying_noise_has_the_law_of_a_quadrature():
    """4 standard errors: a right sampler fails one in 15,000 times."""
    assert varying_apart(2000) < 4.0


@pytest.mark.slow
def test_slices_that_forget_the_evidence_are_found(monkeypatch):
    wrong = with_fault(regression_varying.try_angle, '> bracket["height"]', '> bracket["height"] - 1.0')
    monkeypatch.setattr(regression_model, "try_angle", wrong)
    assert varying_apart(20_000) > 5.0


@pytest.mark.parametrize("nu", [1.0, 4.0, 100.0])
def test_a_sum_of_normal_laws_is_a_t_density(nu):
    """The relative error of the density is below 1 % up to 30 scales from the middle (nu = 1), 8 (nu = 4), 4 (nu = 100)."""
    reach = {1.0: 30.0, 4.0: 8.0, 100.0: 4.0}[nu]
    y = np.linspace(0.0, reach, 40)[None]
    zero = np.zeros(y.shape)
    law = moments.observed(zero, zero, zero + 1.0, np.array([nu]), zero)
    np.testing.assert_allclose(np.exp(law.log_density(y[0])), student_t.pdf(y[0], nu), rtol=0.01)


@pytest.mark.slow
def test_far_off_values_lose_their_weight():
    data = data_of(40, 1)
    values = data["y"].values.copy()
    values[[5, 20]] += 60.0
    data["y"] = data["y"].with_(values=values)
    found = {}
    for noise in ("normal", "student"):
        run = fit("gp_regression", data, {"noise": noise}, seed=3, chains=2, warmup=80, draws=80)
        found[noise] = run.results
    weight = found["student"]["predictions"].columns["Weight"]
    assert set(np.argsort(weight)[:2]) == {5, 20}
    assert weight[[5, 20]].max() < 0.1
    assert "hardly count" in found["student"]["headline"]
    assert found["student"]["nlpd"].values < found["normal"]["nlpd"].values - 0.3


@pytest.mark.slow
def test_noise_that_grows_along_an_input_is_found():
    """Its sd rises from 0.5 to 5: that of the right third is found to be twice that of the left at least."""
    rng = generator(3)
    x = np.sort(rng.uniform(-2, 2, (80, 1)), axis=0)
    y = 10 * np.sin(x[:, 0]) + np.geomspace(0.5, 5, 80) * rng.standard_normal(80)
    names = [f"s{i}" for i in range(80)]
    data = {"X": Dataset("X", x, names, ["time"]), "y": Dataset("y", y, names)}
    run = fit("gp_regression", data, {"noise": "varying"}, seed=3, chains=2, warmup=100, draws=100)
    sd = run.results["noise_along"].values[0]
    assert sd[130:170].mean() > 2 * sd[30:70].mean()
    assert "noise sd from" in run.results["headline"]
