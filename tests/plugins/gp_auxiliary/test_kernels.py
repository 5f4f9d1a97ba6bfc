"""Truncated normals against quadrature, the leading one of K normals, precisions against plain linear algebra."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import log_ndtr as scipy_log_ndtr
from scipy.special import ndtr
from sparing import every

from plaidwork.plugins.gp_auxiliary.kernels import chances, precision, sites, truncated, winner
from plaidwork.plugins.gp_auxiliary.kernels import covariance as cov
from plaidwork.plugins.gp_auxiliary.shared import gram


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64DXSM(seed))


@pytest.mark.parametrize("x", [-1e5, -40.0, -12.5, -12.0, -11.5, -3.0, -0.2, 0.0, 0.3, 5.0, 9.0, 40.0])
def test_log_tails_equal_scipy(x):
    assert truncated.log_ndtr(x) == pytest.approx(scipy_log_ndtr(x), rel=1e-12, abs=1e-300)
    expected = np.exp(-0.5 * x * x - 0.5 * np.log(2 * np.pi) - scipy_log_ndtr(x)) if x > -1e3 else -x
    assert truncated.inverse_mills(x) == pytest.approx(expected, rel=1e-8)


def mean_between(low, high):
    """Mean of N(0, 1) within (low, high) by quadrature, scaled so that far tails do not vanish."""
    base = min(abs(low), abs(high)) if low * high > 0 else 0.0
    top = low + 40.0 / max(1.0, abs(low)) if np.isinf(high) else high
    bottom = high - 40.0 / max(1.0, abs(high)) if np.isinf(low) else low

    def weight(x):
        return np.exp(-0.5 * (x * x - base * base))

    mass = integrate.quad(weight, bottom, top, limit=500)[0]
    return integrate.quad(lambda x: x * weight(x), bottom, top, limit=500)[0] / mass


@pytest.mark.parametrize(
    ("low", "high"),
    every([
        (40.0, np.inf), (8.0, np.inf), (0.4, np.inf), (-2.0, np.inf), (-np.inf, -40.0), (5.0, 6.0), (30.0, 30.001),
        (-30.001, -30.0), (-0.5, 0.7), (-3.0, 2.0), (1.0, 8.0), (0.0, 0.5), (-np.inf, 1.0),
    ], 3),
)  # fmt: skip
def test_truncated_normals_have_the_mean_of_quadrature(low, high):
    """20,000 draws; 4.5 standard errors."""
    rng = generator(3)
    drawn = np.array([truncated.normal_between(rng, low, high) for _ in range(20_000)])
    assert drawn.min() >= low
    assert drawn.max() <= high
    error = max(drawn.std() / np.sqrt(len(drawn)), 1e-12)
    assert abs(drawn.mean() - mean_between(low, high)) < 4.5 * error


@pytest.mark.long
@pytest.mark.parametrize(("null", "k"), every(list(product([0.0, 0.8, 3.0], [0, 1, 2])), 4))
def test_the_chance_to_lead_and_its_value(null, k):
    mean, sd = np.array([0.3, -1.2, 0.9]), 1.3

    def density(t):
        value = stats.norm.pdf(t)
        for i in range(3):
            if i != k:
                value = value * stats.norm.cdf(t + (mean[k] - null - mean[i]) / sd)
        return value

    chance = integrate.quad(density, -12, 14)[0]
    assert winner.log_win(mean, sd, k, null) == pytest.approx(np.log(chance), abs=1e-8)
    rng = generator(5)
    drawn = np.array([winner.draw_lead(rng, mean, sd, k, null) for _ in range(20_000)])
    exact = integrate.quad(lambda t: t * density(t), -12, 14)[0] / chance
    assert abs(drawn.mean() - exact) < 4.5 * drawn.std() / np.sqrt(len(drawn))


def test_the_chance_to_lead_stays_finite_when_hopeless():
    mean = np.array([-80.0, 0.0, 40.0])
    value = winner.log_win(mean, 1.0, 0, 2.0)
    assert np.isfinite(value)
    assert value < -1000
    two = winner.log_win(np.array([0.4, -0.1]), 0.7, 0, 0.5)
    assert two == pytest.approx(scipy_log_ndtr(0.0), abs=1e-12)


def make_c(rng, size=12, columns=2):
    x = rng.standard_normal((size, columns))
    table = np.array([[cov.RBF, 0, 2, 1], [cov.LINEAR, 1, 4, 0]], dtype=np.int64)
    values = np.array([3.0, 0.5, 0.7, 1.6, 0.2])
    return x, table, values


def test_covariances_equal_their_formulas():
    rng = generator(2)
    x, table, values = make_c(rng)
    square = 0.7 * np.subtract.outer(x[:, 0], x[:, 0]) ** 2 + 1.6 * np.subtract.outer(x[:, 1], x[:, 1]) ** 2
    expected = 3.0 * np.exp(-0.5 * square) + 0.5 * (x @ x.T + 0.2)
    assert np.allclose(cov.covariance(table, 2, x, values, 2), expected, atol=1e-13)
    assert np.allclose(cov.cross_covariance(table, 2, x[:5], x[5:], values, 2), expected[:5, 5:], atol=1e-13)
    assert np.allclose(cov.own_variance(table, 2, x, values, 2), np.diag(expected), atol=1e-13)


@pytest.mark.parametrize("kind", range(9))
def test_every_covariance_is_one(kind):
    """Symmetric, and no eigenvalue below zero (1e-10 of the largest)."""
    x = generator(7).standard_normal((25, 3))
    table = np.array([[kind, 0, 1, 0]], dtype=np.int64)
    c = cov.covariance(table, 1, x, np.array([2.0, 0.6, 1.4]), 3)
    values = np.linalg.eigvalsh(c)
    assert values.min() > -1e-10 * values.max()


def test_precisions_equal_plain_algebra():
    rng = generator(4)
    x, table, values = make_c(rng)
    c = cov.covariance(table, 2, x, values, 2)
    z = rng.standard_normal((2, len(x)))
    q, log_det = gram.dense_precision(c.copy())
    whole = c + np.eye(len(x))
    assert np.allclose(q, np.linalg.inv(whole), atol=1e-12)
    assert log_det == pytest.approx(np.linalg.slogdet(whole)[1], abs=1e-10)
    exact = -0.5 * 2 * log_det - 0.5 * np.einsum("kn,nm,km", z, q, z)
    assert precision.dense_log_density(c.copy(), z) == pytest.approx(exact, abs=1e-9)

    near = x[:5]
    c_mm, c_nm = cov.covariance(table, 2, near, values, 2), cov.cross_covariance(table, 2, x, near, values, 2)
    rows, weight, diagonal, low_det = precision.low_rank_precision(c_mm.copy(), c_nm, np.diag(c).copy())
    g = c_nm @ np.linalg.inv(np.linalg.cholesky(c_mm)).T
    fitc = g @ g.T
    fitc += np.diag(1.0 + np.diag(c) - np.diag(fitc))
    exact_q = np.linalg.inv(fitc)
    assert np.allclose(np.diag(weight) - rows @ rows.T, exact_q, atol=1e-7)
    assert np.allclose(diagonal, np.diag(exact_q), atol=1e-7)
    assert low_det == pytest.approx(np.linalg.slogdet(fitc)[1], abs=1e-6)
    work = sites.start_work(z[0], rows, False)
    assert precision.quadratic(z[0], work, weight, False) == pytest.approx(z[0] @ exact_q @ z[0], abs=1e-6)
    work = sites.start_work(z[0], q, True)
    assert precision.quadratic(z[0], work, weight, True) == pytest.approx(z[0] @ q @ z[0], abs=1e-10)


def test_an_unlabelled_winner_has_its_share_and_its_chance():
    """Frequencies of 40,000 draws against gamma_k P(k leads), 4.5 standard errors; without gamma they are 0.1 off."""
    rng, mean, share = generator(9), np.array([0.5, 0.0, -0.4]), np.log([0.2, 0.5, 0.9])
    chance = np.exp(share + [winner.log_win(mean, 1.2, k, 0.3) for k in range(3)])
    chance /= chance.sum()
    found = [sites.draw_winner(rng, mean, 1.2, 0.3, share, np.empty(3)) for _ in range(40_000)]
    shares = np.bincount(found, minlength=3) / len(found)
    assert (np.abs(shares - chance) < 4.5 * np.sqrt(chance * (1 - chance) / len(found))).all()


@pytest.mark.parametrize(("n_classes", "null"), every(list(product([3, 4, 7, 20], [0.0, 0.8])), 3))
def test_chances_of_all_classes_are_their_integrals(n_classes, null):
    """Against a fine sum over the leading value, for means from all alike to far apart, and the sampler's own integrals."""
    rng = np.random.default_rng(5)
    mean = rng.standard_normal((n_classes, 12)) * np.repeat([0.0, 0.5, 3.0, 9.0], 3)
    sd = rng.uniform(1.0, 4.0, 12)
    found, own = chances.lead_chances(mean, sd, null), np.arange(12) % n_classes
    t = np.linspace(-70, 70, 28_001)
    for n in range(12):
        scaled = mean[:, n] / sd[n]
        below = ndtr(t - null / sd[n] - scaled[:, None])
        for k in range(n_classes):
            product = np.exp(-0.5 * (t - scaled[k]) ** 2) * np.delete(below, k, axis=0).prod(axis=0)
            assert found[k, n] == pytest.approx(product.sum() * (t[1] - t[0]) / np.sqrt(2 * np.pi), abs=1e-9)
    if null == 0:
        assert found.sum(axis=0) == pytest.approx(1, abs=1e-8)
    logs = chances.log_own_chances(mean, sd, own, null)
    near = found[own, np.arange(12)] > 1e-3
    assert near.any()
    assert np.exp(logs[near]) == pytest.approx(found[own, np.arange(12)][near], rel=1e-3)
