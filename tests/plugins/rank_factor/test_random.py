"""Inverse Gaussian, generalised inverse Gaussian and packed systems."""

import numpy as np
import pytest
import rank_factor_tools as tools
from numba import njit
from scipy import stats
from scipy.integrate import trapezoid
from scipy.special import kve

from plaidwork.plugins.rank_factor.kernels import lanes, random, solve


@njit
def many(rng, n, mean):
    out = np.empty(n)
    for i in range(n):
        out[i] = random.inverse_gaussian(rng, mean)
    return out


@njit
def many_gig(rng, n, a, b, p):
    out = np.empty(n)
    for i in range(n):
        out[i] = random.gig(rng, a, b, p)
    return out


@pytest.mark.parametrize("mean", [1e-6, 0.03, 1.0, 40.0, 1e8])
def test_inverse_gaussian(mean):
    x = many(tools.generator(1), 40_000, mean)
    assert stats.kstest(x, stats.invgauss(mean).cdf).pvalue > 1e-4 or mean > 1e3
    if mean > 1e3:  # 1 / x is close to a chi-square with one degree of freedom
        assert stats.kstest(1 / x, stats.chi2(1).cdf).pvalue > 1e-4


@pytest.mark.parametrize("mean", [1e-6, 0.03, 1.0, 40.0])
def test_many_weights_at_once(mean):
    u = np.full((200, 201), -1 / mean)
    u[0] = np.nan
    random.draw_weights(tools.generator(2), u)
    assert (u[0] == 0).all()
    assert stats.kstest(u[1:].ravel(), stats.invgauss(mean).cdf).pvalue > 1e-4


def test_chi_squares():
    """Their law, its tails, and the independence of the two halves; the formula against log and sine themselves."""
    x = random.chi_squares(tools.generator(3), 400_001)
    assert stats.kstest(x, stats.chi2(1).cdf).pvalue > 1e-4
    for limit in (1e-8, 1e-4, 9.0, 16.0):
        expected = len(x) * min(stats.chi2(1).cdf(limit), stats.chi2(1).sf(limit))
        found = (x < limit).sum() if limit < 1 else (x > limit).sum()
        assert abs(found - expected) < 5 * np.sqrt(expected)
    first, second = np.sqrt(x[:200_000]), np.sqrt(x[200_001:])
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(200_000)
    ends = np.concatenate([[0.0], np.logspace(-17, -6, 200)])
    edge = np.concatenate([ends, 1.0 - ends])
    found = np.empty(2 * len(edge))
    random._box_muller(np.full(len(edge), 1.1), np.full(len(edge), -3.0), edge, found)
    assert (found >= 0).all()
    rng, again = tools.generator(4), tools.generator(4)
    x = random.chi_squares(rng, 2000)
    radius, angle = 1 - again.random(1000), again.random(1000)
    size = -2 * np.log(radius)
    np.testing.assert_allclose(x[:1000], size * np.cos(np.pi * angle / 2) ** 2, atol=1e-11)
    np.testing.assert_allclose(x[1000:], size * np.sin(np.pi * angle / 2) ** 2, atol=1e-11)


@pytest.mark.parametrize("p", [-0.5, -0.2, 0.0, 0.3, 0.5, 2.5])
@pytest.mark.parametrize(("a", "b"), [(2.0, 1.0), (1e-3, 3.0), (5.0, 1e-10), (40.0, 30.0), (1e-8, 1e-12)])
def test_generalised_inverse_gaussian(a, b, p):
    """Moments of the logarithm, and a Kolmogorov-Smirnov test where scipy's distribution holds."""
    omega = np.sqrt(a * b)
    x = many_gig(tools.generator(2), 40_000, a, b, p)
    log_x = np.log(x) + 0.5 * np.log(a / b)
    grid = np.linspace(-60, 60, 400_001)
    log_p = p * grid - omega * np.cosh(np.minimum(np.abs(grid), 600))
    weight = np.exp(log_p - log_p.max())
    weight /= weight.sum()
    cdf = np.cumsum(weight)
    found = stats.kstest(np.interp(log_x, grid, cdf), "uniform").pvalue
    assert found > 1e-4


@pytest.mark.parametrize("p", [0.0, 0.5, 1.5])
def test_moments_are_ratios_of_bessel_functions(p):
    a, b = 1.3, 0.6
    w = np.sqrt(a * b)
    x = many_gig(tools.generator(3), 200_000, a, b, p)
    mean = np.sqrt(b / a) * kve(p + 1, w) / kve(p, w)
    inverse = np.sqrt(a / b) * kve(p - 1, w) / kve(p, w)
    assert abs(x.mean() - mean) < 5 * x.std() / len(x) ** 0.5
    assert abs((1 / x).mean() - inverse) < 5 * (1 / x).std() / len(x) ** 0.5


def test_hinge_identity():
    """exp(-2 max(0, u)) is the integral over lambda, and 1 / lambda given u is IG(1 / |u|, 1)."""
    lam = np.exp(np.linspace(-18, 8, 200_001))
    for u in (-1.3, -0.2, 0.4, 2.0):
        density = (2 * np.pi * lam) ** -0.5 * np.exp(-((u + lam) ** 2) / (2 * lam))
        assert trapezoid(density * lam, np.log(lam)) == pytest.approx(np.exp(-2 * max(0, u)), rel=1e-4)
        mean_kappa = trapezoid(density, np.log(lam)) / np.exp(-2 * max(0, u))
        assert mean_kappa == pytest.approx(1 / abs(u), rel=1e-3)


@pytest.mark.parametrize("k", [1, 2, 7])
def test_packed_system(k):
    rng = tools.generator(4)
    root = rng.standard_normal((k, k))
    p = root @ root.T + np.eye(k)
    h, covariance = rng.standard_normal(k), np.empty(solve.packed_size(k))
    packed = p[np.tril_indices(k)].copy()
    mean = h.copy()
    log_det = solve.moments(packed, mean, k, covariance)
    np.testing.assert_allclose(mean, np.linalg.solve(p, h))
    np.testing.assert_allclose(tools.full(covariance, k), np.linalg.inv(p), atol=1e-12)
    assert log_det == pytest.approx(-np.linalg.slogdet(p)[1])
    draws = np.zeros((20_000, k))
    precision = np.repeat(p[np.tril_indices(k)][None], len(draws), axis=0)
    lanes.draw_rows(tools.generator(5), precision, np.repeat(h[None], len(draws), axis=0), 0 * draws, draws)
    assert np.abs((draws - mean).mean(axis=0)).max() < 0.05
    assert np.abs(np.cov(draws.T) - np.linalg.inv(p)).max() < 0.05


def test_trace_of_a_product():
    rng = tools.generator(6)
    x, y = rng.standard_normal((1, 4)), rng.standard_normal((1, 4))
    product = solve.doubled(solve.outer_packed(x), 4) @ solve.outer_packed(y).T
    assert product[0, 0] == pytest.approx(float(x[0] @ y[0]) ** 2)
