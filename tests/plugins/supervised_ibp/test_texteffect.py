"""The setting that repeats the R package texteffect: R's random numbers, its formulas, its intercept."""

import numpy as np
import pytest
import supervised_ibp_tools as tools
from scipy.special import digamma, expit

from plaidwork.core.analysing import run_analysis
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.session.fitting import fit
from plaidwork.plugins.supervised_ibp.corpus import corpus_of
from plaidwork.plugins.supervised_ibp.like_r import LikeR
from plaidwork.plugins.supervised_ibp.texteffect import drawn_topics, first_topics


def test_random_numbers_are_those_of_r():
    """``set.seed(1); runif(3)`` and ``set.seed(1); sample(10)`` of R 3.6 and later."""
    stream = LikeR(1)
    assert [round(stream.uniform(), 7) for _ in range(3)] == [0.2655087, 0.3721239, 0.5728534]
    assert (LikeR(1).sample(10, 10) + 1).tolist() == [9, 4, 7, 1, 2, 5, 3, 10, 6, 8]
    assert LikeR(3).sample(50, 20).tolist() == LikeR(3).sample(50, 50)[:20].tolist()


@pytest.mark.parametrize(("first", "second"), [(4.0, 1.0), (3.0, 2.0), (0.4, 0.6), (0.05, 0.95)])
def test_beta_numbers_have_their_distribution(first, second):
    stream = LikeR(5)
    drawn = np.array([stream.beta(first, second) for _ in range(4000)])
    total = first + second
    spread = np.sqrt(first * second / total**2 / (total + 1))
    assert drawn.mean() == pytest.approx(first / total, abs=4.5 * spread / np.sqrt(4000))
    assert drawn.std() == pytest.approx(spread, rel=0.08)


def printed_factors(x, y, nu, phi, alpha, noise, variance):
    """The seed's q of everything but the topics: phi, its variance, m, S, rate of tau, shares; dense, topic by topic."""
    k, total = nu.shape[1], nu.sum(axis=0)
    spread, phi = 1 / (1 / variance + total / noise), phi.copy()
    for i in range(k):
        phi[i] = nu[:, i] @ (x - (nu @ phi - np.outer(nu[:, i], phi[i]))) / noise * spread[i]
    moment = nu.T @ nu
    moment[np.diag_indices(k)] = total
    s = np.linalg.inv(moment + np.eye(k))
    rate = 0.1 + (y @ y - y @ nu @ s @ nu.T @ y) / 2
    return phi, spread, s @ nu.T @ y, s, rate, alpha / k + total, 1 + len(y) - total


def printed_fit(x, y, nu, alpha, noise, variance, sweeps):
    """The formulas of the seed as printed: nu, phi, m."""
    (n, d), k = x.shape, nu.shape[1]
    phi = np.linalg.lstsq(nu, x, rcond=None)[0]
    shape, nu = 0.1 + n / 2, nu.copy()
    phi, spread, m, s, rate, first, second = printed_factors(x, y, nu, phi, alpha, noise, variance)
    for _ in range(sweeps):
        for i in range(k):
            rest = np.delete(np.arange(k), i)
            words = -2 * x @ phi[i] + phi[i] @ phi[i] + d * spread[i] + 2 * nu[:, rest] @ (phi[rest] @ phi[i])
            outcome = -2 * m[i] * y + rate * s[i, i] / (shape - 1) + m[i] ** 2
            outcome = outcome + 2 * m[i] * (nu[:, rest] @ m[rest])
            odds = digamma(first[i]) - digamma(second[i])
            nu[:, i] = expit(odds - words / (2 * noise) - shape / (2 * rate) * outcome)
        phi, spread, m, s, rate, first, second = printed_factors(x, y, nu, phi, alpha, noise, variance)
    return nu, phi, m


def documents(n=61, d=12):
    x, y, _, _ = tools.simulated(2, n=n, d=d, k=3)
    names = tuple(f"d{i}" for i in range(n))
    return {"X": Dataset("X", x, names, tuple(f"w{i}" for i in range(d))), "y": Dataset("y", y, names)}, x, y


def test_a_fit_is_the_printed_formulas_from_the_split_and_start_of_r():
    data, x, y = documents()
    settings = tools.PACKAGE | {"n_topics": 3, "texteffect": True, "split_seed": 7}
    run = fit("supervised_ibp", data, settings, chains=2, max_sweeps=12, tolerance=0.0)
    train = LikeR(7).sample(61, 30)
    assert np.flatnonzero(run.results["half"].values == "training").tolist() == sorted(train.tolist())
    half = x[train]
    scaled = (half - half.mean(axis=0)) / half.std(axis=0, ddof=1)
    outcome = (y[train] - y[train].mean()) / y[train].std(ddof=1)
    for chain, view in enumerate(run.kept().chains):
        start = drawn_topics(LikeR(chain + 1), 30, 3, 4.0)
        nu, phi, m = printed_fit(scaled, outcome, start, 4.0, 0.8, 5.0, 12)
        assert view.draw("assignments", 0) == pytest.approx(nu[np.argsort(train)], abs=1e-7)
        assert view.draw("weights", 0) == pytest.approx(phi, abs=1e-7)
        assert view.draw("coefficients", 0) == pytest.approx(m, abs=1e-7)
    assert set(run.results["restarts"].columns["Start"].tolist()) == {"Draw from the prior"}


def test_a_split_that_is_not_rs_keeps_the_start_in_order():
    data = tools.model_data(*documents()[1:], split=(np.arange(61) % 2).astype(float))
    settings = tools.params(n_topics=2, texteffect=True)
    corpus = corpus_of(data, settings)
    assert first_topics(corpus, settings, 1) == pytest.approx(drawn_topics(LikeR(1), 31, 2, 4.0))


def test_effects_tell_the_intercept_as_the_package_prints_it():
    data, _, y = documents()
    run = fit("supervised_ibp", data, tools.PACKAGE | {"n_topics": 2, "texteffect": True}, chains=1)
    given = {"method": "texteffect", "errors": "classical"}
    found = run_analysis(run, "supervised_ibp.effects", unlock=True, params=given, datasets=data).results
    mean = y[run.results["half"].values == "training"].mean()
    table = found["effect_table"].columns
    assert table["Note"][0] == f"{table['Effect'][0] - mean:.6g} beside the mean of the training documents"
