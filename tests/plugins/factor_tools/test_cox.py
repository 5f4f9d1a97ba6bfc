"""Proportional hazards, concordance and survival curves: by hand, by brute force, and as lifelines 0.30.3 has them."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize, stats

from plaidwork.plugins.factor_tools import cox


def example(ties):
    """40 items, 3 covariates, 10 censored; with ties 9 distinct times."""
    i = np.arange(40)
    x = np.column_stack([np.sin(1.7 * i) * 1.5, np.cos(0.9 * i * i), (i % 3 == 0) * 1.0])
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    time = np.exp(-0.6 * x[:, 0] + np.sin(3.1 * i) + 0.2 * np.cos(i * 5.3))
    return (np.ceil(2 * time) if ties else time), i % 4 != 1, x


REFERENCE = {
    False: ([0.7528490, -0.1102747, 0.0962071], [0.2269369, 0.1864055, 0.1900013], -85.2447762),
    True: ([0.6581105, -0.0976527, 0.0683112], [0.2186328, 0.1829203, 0.1880898], -86.7461281),
}


@pytest.mark.parametrize("ties", [False, True])
def test_the_fit_equals_lifelines(ties):
    time, event, x = example(ties)
    fit = cox.cox(cox.times_of(time, event), x)
    beta, error, level = REFERENCE[ties]
    np.testing.assert_allclose(fit.beta, beta, atol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(fit.covariance)), error, atol=1e-6)
    assert fit.level == pytest.approx(level, abs=1e-6)
    assert not fit.infinite


def test_proportional_hazards_are_tested_as_in_lifelines():
    time, event, x = example(False)
    times = cox.times_of(time, event)
    found = cox.proportional_p(times, cox.cox(times, x))
    np.testing.assert_allclose(found, [0.4166268, 0.6220323, 0.4662980], atol=1e-6)


def efron(time, event, x, beta):
    """The log partial likelihood as Efron wrote it, term by term."""
    total = 0.0
    for t in np.unique(time[event]):
        dead = np.flatnonzero(event & (time == t))
        risk = np.exp(x[time >= t] @ beta).sum()
        gone = np.exp(x[dead] @ beta).sum()
        total += (x[dead] @ beta).sum()
        total -= sum(math.log(risk - place / len(dead) * gone) for place in range(len(dead)))
    return total


def test_likelihood_slope_and_information_equal_brute_force():
    time, event, x = example(True)
    beta, x = np.array([0.3, -0.7, 0.2]), x - x.mean(axis=0)
    times = cox.times_of(time, event)
    pieces = cox._pieces(times, x[times.order], beta)
    assert pieces.level == pytest.approx(efron(time, event, x, beta))
    np.testing.assert_allclose(
        pieces.slope, optimize.approx_fprime(beta, lambda b: efron(time, event, x, b), 1e-6), atol=1e-4
    )
    step = 1e-5
    slopes = [
        (
            cox._pieces(times, x[times.order], beta + step * e).slope
            - cox._pieces(times, x[times.order], beta - step * e).slope
        )
        / (2 * step)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(pieces.information, -np.array(slopes), rtol=1e-6)
    np.testing.assert_allclose(pieces.residuals.sum(axis=0), pieces.slope, atol=1e-9)


def test_two_groups_by_hand():
    """Events at 1 (of b), 2 (of a), 3 (of a); likelihood r / (2 + 2 r) * 1 / (2 + r) * 1 / (1 + r) with r = exp(beta)."""
    time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([True, True, True, False])
    x = np.array([[1.0], [0.0], [0.0], [1.0]])
    r = optimize.minimize_scalar(lambda r: -r / ((2 + 2 * r) * (2 + r) * (1 + r)), bounds=(0.01, 9), method="bounded", options={"xatol": 1e-10}).x  # fmt: skip
    fit = cox.cox(cox.times_of(time, event), x)
    assert math.exp(fit.beta[0]) == pytest.approx(r, rel=1e-5)
    assert fit.null == pytest.approx(-math.log(4 * 3 * 2))


def test_no_maximum_is_said():
    time, event = np.arange(1.0, 9.0), np.ones(8, dtype=bool)
    fit = cox.cox(cox.times_of(time, event), -np.arange(8.0)[:, None])
    assert fit.infinite
    assert np.isnan(fit.covariance).all()
    with pytest.raises(np.linalg.LinAlgError):
        cox.cox(cox.times_of(time, event), np.zeros((8, 1)))


def test_no_covariates_is_the_null_model():
    time, event, _ = example(True)
    fit = cox.cox(cox.times_of(time, event), np.zeros((40, 0)))
    assert fit.level == fit.null == pytest.approx(efron(time, event, np.zeros((40, 1)), np.zeros(1)))


def test_concordance_counts_pairs():
    time, event, x = example(True)
    risk = np.round(x[:, 0], 0)  # ties
    good = pairs = 0.0
    for i, j in itertools.permutations(range(40), 2):
        if event[i] and (time[j] > time[i] or (time[j] == time[i] and not event[j])):
            pairs += 1
            good += 0.5 * (int(risk[i] > risk[j]) + int(risk[i] >= risk[j]))
    found = cox.concordance(time, event, risk, 0.95)
    assert found.value == pytest.approx(good / pairs)
    assert cox.concordance(time, event, x[:, 0], 0.95).value == pytest.approx(0.6869711952)  # lifelines
    turned = cox.concordance(time, event, -risk, 0.95)
    assert (1 - turned.high, 1 - turned.low) == pytest.approx((found.low, found.high))
    nothing = cox.concordance(np.ones(3), np.zeros(3, dtype=bool), np.arange(3.0), 0.95)
    assert math.isnan(nothing.value)
    perfect = cox.concordance(np.arange(5.0), np.ones(5, dtype=bool), -np.arange(5.0), 0.95)
    assert perfect.value == 1.0
    assert math.isnan(perfect.low)


def test_without_censoring_its_error_is_that_of_kendall():
    """Of 200 samples of 120 pairs with correlation 0.5 the interval holds the truth, 1/2 + asin(0.5) / pi, in 90 to 98 %."""
    rng = np.random.default_rng(3)
    truth, hits = 0.5 + math.asin(0.5) / math.pi, 0
    for _ in range(200):
        a, b = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], 120).T
        _, low, high = cox.concordance(a, np.ones(120, dtype=bool), -b, 0.95)
        hits += low <= truth <= high
    assert 0.90 <= hits / 200 <= 0.985


def test_curve_equals_lifelines():
    time, event, _ = example(True)
    curve = cox.kaplan_meier(time, event, 0.95)
    assert curve.time.tolist() == [1, 2, 3, 4, 5, 6, 9]
    np.testing.assert_allclose(
        curve.value, [0.725, 0.625, 0.397727, 0.284091, 0.255682, 0.223722, 0.178977], atol=1e-6
    )
    np.testing.assert_allclose(
        np.column_stack([curve.low, curve.high])[:3],
        [[0.558686, 0.837244], [0.456912, 0.754252], [0.242254, 0.549043]],
        atol=1e-6,
    )
    assert (curve.median, curve.end) == (3.0, 14.0)
    np.testing.assert_allclose(curve.at(np.array([0.5, 1.0, 2.5]))[:, 0], [1.0, 0.725, 0.625])
    assert np.isnan(curve.at(np.array([15.0]))).all()


@pytest.mark.slow
def test_intervals_cover_and_p_is_uniform():
    """400 samples of 80 with half censored and ties: coverage of 95 % intervals 92.5 to 97.5 %; p at ratio 1: KS at 1e-3."""
    rng = np.random.default_rng(8)
    hits, p = 0, []
    for _ in range(400):
        x = rng.normal(size=(80, 2))
        time = rng.exponential(np.exp(-0.7 * x[:, 0]))
        ends = rng.exponential(1.0, 80)
        watched = np.ceil(40 * np.minimum(time, ends))
        times = cox.times_of(watched, time <= ends)
        fit = cox.cox(times, x)
        hits += abs(fit.beta[0] - 0.7) <= 1.96 * math.sqrt(fit.covariance[0, 0])
        p.append(stats.chi2.sf(2 * (fit.level - cox.cox(times, x[:, :1]).level), 1))
    assert 0.925 <= hits / 400 <= 0.975
    assert stats.kstest(p, "uniform").pvalue > 1e-3
