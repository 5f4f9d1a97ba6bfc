"""Moves of f with z integrated out: slopes against differences, the reference and f given z against plain algebra."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator
from scipy.special import log_ndtr

from plaidwork.plugins.gp_auxiliary.kernels import hamiltonian
from plaidwork.plugins.gp_auxiliary.shared import flow
from plaidwork.plugins.gp_auxiliary.shared.covariance import make_covariance
from plaidwork.plugins.gp_auxiliary.shared.gram import LEFT_OUT, Prior

SETTINGS = {
    "covariance": "rbf",
    "ard": False,
    "intercept": True,
    "amplitude": 3.0,
    "gamma": 0.0,
    "amplitude_sd": 1.5,
    "gamma_sd": 1.5,
    "degree": 2,
}
ENDS = [(-np.inf, 0.3), (0.3, np.inf), (-0.4, 0.9), (30.0, 30.5), (-np.inf, -20.0), (15.0, np.inf)]


def prior_at(size: int, inducing: int = 0, **changes) -> Prior:
    x = generator(3).standard_normal((size, 2))
    return Prior(make_covariance(SETTINGS | changes, ("a", "b")), x, x[:inducing].copy(), True)


@pytest.mark.parametrize(("low", "high"), ENDS)
@pytest.mark.parametrize("f", [-1.3, 0.2, 2.5])
def test_slope_and_curvature_are_those_of_the_log_probability(low, high, f):
    sd, step = 1.4, 1e-4

    def value(at):
        return hamiltonian.label_terms(at, low, high, sd)[0]

    found, slope = hamiltonian.label_terms(f, low, high, sd)
    if np.isinf(low) or np.isinf(high):
        side = (high - f) / sd if np.isinf(low) else (f - low) / sd
        assert found == pytest.approx(log_ndtr(side), rel=1e-10)
    assert slope == pytest.approx((value(f + step) - value(f - step)) / (2 * step), rel=1e-6, abs=1e-7)
    bend = [hamiltonian.label_terms(f + sign * step, low, high, sd)[1] for sign in (1, -1)]
    expected = -(bend[0] - bend[1]) / (2 * step)
    assert hamiltonian.label_curvature(f, low, high, sd) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("triangular", [True, False])
def test_the_kicks_are_the_slope_of_what_the_reference_leaves_out(triangular):
    rng, size = generator(4), 6
    rows = np.tril(rng.standard_normal((size, size))) if triangular else rng.standard_normal((size, 3))
    low = np.array([low for low, _high in ENDS[:3]] * 2)
    high = np.array([high for _low, high in ENDS[:3]] * 2)
    sd, pull, bend = 0.5 + rng.random(size), rng.standard_normal(size), rng.random(size)
    w, slope, rest = rng.standard_normal(rows.shape[1]), np.empty(rows.shape[1]), np.empty(rows.shape[1])

    def value(at, out):
        return hamiltonian.rest(rows, triangular, at, low, high, sd, pull, bend, out)

    value(w, slope)
    f = rows @ w
    terms = [hamiltonian.label_terms(f[n], low[n], high[n], sd[n])[0] for n in range(size)]
    assert value(w, rest) == pytest.approx(np.sum(terms) - pull @ f + 0.5 * bend @ f**2, rel=1e-12)
    for j in range(len(w)):
        step = 1e-6 * np.eye(len(w))[j]
        assert slope[j] == pytest.approx((value(w + step, rest) - value(w - step, rest)) / 2e-6, abs=1e-6)


@pytest.mark.parametrize(("size", "inducing"), [(12, 0), (200, 0), (40, 7)])
def test_the_reference_and_f_given_z_equal_plain_algebra(size, inducing):
    """The covariance of F w; the mean of 4,000 draws of f given z within 5 standard errors, their variances within 15 %."""
    rng, prior = generator(5), prior_at(size, inducing)
    theta = prior.covariance.prior_mean
    gram = prior.gram(theta)
    z = rng.standard_normal(size)
    reference = flow.new_reference(z) | {"bend": 0.1 + 0.8 * rng.random(size)}
    made = flow.flow_of(prior, theta, gram, reference)
    c = prior.covariance.matrix(prior.x, theta)
    low = len(gram["weight"]) > 0
    assert low == (size != 12)
    c = gram["loadings"] @ gram["loadings"].T if low else c
    inverse = np.linalg.inv(np.eye(size) + c * reference["bend"])
    assert np.abs(made["map"] @ made["map"].T - inverse @ c).max() < 1e-6
    assert np.allclose(made["map"] @ made["centre"], inverse @ c @ reference["pull"], atol=1e-6)
    noise = np.diag(made["sd"] ** 2)
    gain = c @ np.linalg.inv(c + noise)
    drawn = np.array([flow.values_of(flow.place_of(rng, z, gram, made), made) for _ in range(4000)])
    variance = np.diag(c - gain @ c)
    assert (np.abs(drawn.mean(axis=0) - gain @ z) < 5 * np.sqrt(variance / 4000) + 1e-6).all()
    assert np.abs(drawn.var(axis=0) / variance - 1.0).max() < 0.15


def test_a_smooth_covariance_is_kept_by_its_loadings_and_a_rough_one_is_not():
    prior = prior_at(300)
    theta = prior.covariance.prior_mean
    gram = prior.gram(theta)
    c = prior.covariance.matrix(prior.x, theta)
    assert gram["rows"].shape[1] < 100
    assert np.abs(c - gram["loadings"] @ gram["loadings"].T).max() < LEFT_OUT
    z = generator(6).standard_normal((2, 300))
    whole = c + np.eye(300)
    exact = -np.linalg.slogdet(whole)[1] - 0.5 * np.einsum("kn,kn", z, np.linalg.solve(whole, z.T).T)
    assert prior.log_density(theta, z) == pytest.approx(exact, abs=1e-3)
    for changes in ({"gamma": 300.0}, {"covariance": "matern12"}):
        rough = prior_at(300, **changes)
        assert rough.gram(rough.covariance.prior_mean)["rows"].shape == (300, 300)


def test_the_reference_is_learnt_in_the_warm_up_only():
    rng, prior = generator(7), prior_at(30)
    theta, ends = prior.covariance.prior_mean, (np.zeros(30), np.full(30, np.inf))
    gram, z = prior.gram(theta), np.abs(rng.standard_normal(30))
    reference = flow.new_reference(z)
    made, before = flow.flow_of(prior, theta, gram, reference), reference["bend"]
    w = flow.place_of(rng, z, gram, made)
    for _ in range(6):
        flow.move(rng, w, z, ends, made, reference, False, 1)
    assert not flow.learn(reference)
    for _ in range(6):
        flow.move(rng, w, z, ends, made, reference, True, 1)
    assert flow.learn(reference)
    assert (reference["bend"] < before).mean() > 0.5
    assert (z > 0).all()
