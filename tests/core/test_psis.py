"""Importance weights, leaving one out and stacking, beside ArviZ and exact answers."""

import warnings

import numpy as np
import pytest
from scipy import stats

from plaidwork.core.numerics import psis, stacking


@pytest.fixture(scope="module")
def az():
    """ArviZ, loaded by the process that runs these tests alone: it takes seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz
    return arviz


@pytest.mark.parametrize(("heavy", "efficiency"), [(0.3, 1.0), (1.0, 0.4), (3.0, 0.1)])
def test_weights_equal_those_of_arviz(az, heavy, efficiency):
    rng = np.random.default_rng(3)
    ratios = heavy * rng.standard_t(4, (900, 25))
    ratios[:, 3] = np.round(ratios[:, 3])  # ties with the cut
    weights, khat = psis.smooth_weights(ratios, efficiency)
    theirs, theirs_k = az.stats.psislw(ratios.T.copy(), reff=efficiency)
    np.testing.assert_allclose(khat, np.asarray(theirs_k), rtol=1e-6, atol=1e-9)
    ours, theirs = (
        np.sort(weights, axis=0),
        np.sort(np.asarray(theirs).T, axis=0),
    )  # equal ratios in any order
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(np.exp(weights).sum(axis=0), 1.0)


def test_few_draws_have_no_tail_and_equal_ratios_no_law():
    weights, khat = psis.smooth_weights(np.random.default_rng(0).standard_normal((12, 3)))
    assert np.isinf(khat).all()
    np.testing.assert_allclose(np.exp(weights).sum(axis=0), 1.0)
    weights, khat = psis.smooth_weights(np.zeros((200, 2)))
    assert np.isinf(khat).all()
    np.testing.assert_allclose(np.exp(weights), 1 / 200)
    with pytest.raises(ValueError, match="draws"):
        psis.smooth_weights(np.zeros((0, 2)))


def test_the_limit_of_khat_follows_the_paper():
    assert psis.largest_khat(100) == pytest.approx(0.5)
    assert psis.largest_khat(100_000) == 0.7


def conjugate(n=40, n_draws=20_000, seed=5, sigma=1.3, prior_sd=2.0):
    """Normal data with a known noise and a normal mean: log densities at draws of the mean, and exact leave-one-out."""
    rng = np.random.default_rng(seed)
    y = rng.normal(0.7, sigma, n)
    precision = n / sigma**2 + prior_sd**-2
    draws = rng.normal(y.sum() / sigma**2 / precision, precision**-0.5, n_draws)
    density = stats.norm.logpdf(y, draws[:, None], sigma)
    without = precision - sigma**-2
    mean = (y.sum() - y) / sigma**2 / without
    return density, stats.norm.logpdf(y, mean, np.sqrt(sigma**2 + 1 / without))


def test_leaving_one_out_is_exact_where_the_answer_is_known():
    density, exact = conjugate()
    elpd, khat = psis.leave_one_out(density)
    assert khat.max() < 0.3
    np.testing.assert_allclose(elpd, exact, atol=0.012)  # 5 Monte Carlo errors of the worst observation
    # the densities with nothing left out are off by more: the test would see the weights forgotten
    assert np.abs(psis.log_mean(density) - exact).max() > 0.05


def test_an_outlier_is_told_by_khat():
    rng = np.random.default_rng(1)
    y = np.append(rng.standard_normal(8), 25.0)
    draws = rng.normal(y.mean(), 1 / 3, 2000)
    _, khat = psis.leave_one_out(stats.norm.logpdf(y, draws[:, None], 1.0))
    assert khat[-1] > psis.largest_khat(2000)
    assert khat[:-1].max() < psis.largest_khat(2000)


def _of_arviz(az, elpd, method):
    """Weights by ArviZ from pointwise values (N, K)."""
    made = {}
    for k in range(elpd.shape[1]):
        pointwise = elpd[:, k]
        made[str(k)] = az.ELPDData(
            data=[pointwise.sum(), np.sqrt(len(pointwise) * pointwise.var()), 1.0, 1, len(pointwise), False, _array(pointwise), "log"],
            index=["elpd_loo", "se", "p_loo", "n_samples", "n_data_points", "warning", "loo_i", "scale"],
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = az.compare(made, ic="loo", method=method, seed=1)
    return np.array([found.loc[str(k), "weight"] for k in range(elpd.shape[1])])


def _array(values):
    import xarray as xr

    return xr.DataArray(values, dims="obs")


def predictions(n=400, seed=2):
    """Log densities of a two-part mixture by its parts, by a mean between them and by noise: (n, 4)."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.7, rng.normal(-2, 1, n), rng.normal(2, 1, n))
    return np.stack([stats.norm.logpdf(y, m, s) for m, s in ((-2, 1), (2, 1), (0, 2.2), (0, 9))], axis=1)


def test_stacking_equals_that_of_arviz(az):
    elpd = predictions()
    ours = stacking.stacking_weights(elpd, prior=1.0)
    np.testing.assert_allclose(ours, _of_arviz(az, elpd, "stacking"), atol=0.01)
    assert ours[:2] == pytest.approx([0.7, 0.3], abs=0.06)  # 2.3 standard errors of the share of 400


def test_stacking_is_at_the_top_of_its_score():
    elpd = predictions()
    best = stacking.stacking_weights(elpd, prior=1.0)
    top = stacking.mixture_elpd(elpd, best).sum()
    rng = np.random.default_rng(0)
    for other in rng.dirichlet(np.ones(4), 200):
        assert stacking.mixture_elpd(elpd, 0.9 * best + 0.1 * other).sum() <= top + 1e-6


def test_equal_predictions_get_equal_weights():
    one = predictions()[:, :1]
    np.testing.assert_allclose(stacking.stacking_weights(np.repeat(one, 3, axis=1)), 1 / 3)
    with pytest.raises(ValueError, match="finite"):
        stacking.stacking_weights(np.full((3, 2), -np.inf))


def test_pseudo_bma_equals_that_of_arviz(az):
    elpd = predictions(60)[:, 2:] * 0.3
    ours = stacking.pseudo_bma_weights(elpd, np.random.default_rng(0))
    np.testing.assert_allclose(ours, _of_arviz(az, elpd, "BB-pseudo-BMA"), atol=0.03)
