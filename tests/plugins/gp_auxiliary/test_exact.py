"""Answers on tiny problems against exact probabilities of boxes (multivariate normal integrals)."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator
from scipy import stats
from scipy.special import log_ndtr

from plaidwork.core import fit
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.executor import InlineExecutor
from plaidwork.plugins.gp_auxiliary.classes.predict import many_class, two_class
from plaidwork.plugins.gp_auxiliary.kernels import winner

X = np.array([[-1.0], [0.2], [0.9], [0.4]])
AMPLITUDE, GAMMA = 4.0, 1.0


def covariance(x: np.ndarray) -> np.ndarray:
    return AMPLITUDE * np.exp(-0.5 * GAMMA * (x - x.T) ** 2) + np.eye(len(x))


def box(sides: list[int], null: float, x: np.ndarray = X) -> float:
    """P(s_n z_n > null for all n) of z ~ N(0, C + I)."""
    signs = np.array(sides, dtype=float)
    c = covariance(x[: len(sides)]) * np.outer(signs, signs)
    upper = np.full(len(sides), -null)
    return float(stats.multivariate_normal(np.zeros(len(sides)), c).cdf(upper, rng=np.random.default_rng(0)))


def dataset(name: str, values: np.ndarray, **more) -> Dataset:
    names = tuple(f"s{i}" for i in range(len(values)))
    columns = ("x",) if values.ndim == 2 else ()
    return Dataset(name, values, names, columns, **more)


def fitted(model: str, codes: list[int], seed: int, classes=("a", "b"), draws=2000, **params):
    given = {
        "X": dataset("X", X[: len(codes)]),
        "y": dataset("y", np.array(codes), kind="categorical", categories=classes),
    }
    settings = {
        "covariance": "rbf", "parameters": "fixed", "amplitude": AMPLITUDE, "gamma": GAMMA, "intercept": False, "standardise": False,
    } | params  # fmt: skip
    return fit(
        model, given, settings, seed=seed, chains=2, warmup=100, draws=draws, executor=InlineExecutor()
    )


def error_of(draws: np.ndarray) -> float:
    """Standard error of the mean of (chain, draw) values, by 20 batches a chain."""
    batches = draws[:, : draws.shape[1] // 20 * 20].reshape(len(draws) * 20, -1).mean(axis=1)
    return float(batches.std(ddof=1) / np.sqrt(len(batches)))


@pytest.mark.slow
def test_prediction_of_an_unlabelled_sample_is_the_ratio_of_two_boxes():
    """The fourth sample has no label: P(+) = P(+, labels) / P(labels); 4.5 standard errors. All draws count."""
    run = fitted("gp_classes", [1, 0, 1, -1], 1)
    exact = box([1, -1, 1, 1], 0.0) / (box([1, -1, 1, 1], 0.0) + box([1, -1, 1, -1], 0.0))
    c, across = covariance(X[:3]), covariance(X)[3, :3]
    gain = np.linalg.solve(c, across)
    spread = np.sqrt(1.0 + AMPLITUDE - gain @ across)
    chance = stats.norm.cdf(run.draws["z"][:, :, 0, :] @ gain / spread)
    assert abs(chance.mean() - exact) < 4.5 * error_of(chance) < 0.02
    assert run.results["predictions"].columns["P(b)"][3] == pytest.approx(chance.mean(), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("rungs", [1, 6])
def test_the_side_of_an_unlabelled_sample_under_the_null_category(rungs):
    """Share of draws in which the fourth sample is on the positive side; 4.5 standard errors."""
    draws = 2000 if rungs == 1 else 500
    run = fitted("gp_semi_classes", [1, 0, 1, -1], 2, draws=draws, null_width=0.8, rungs=rungs)
    exact = box([1, -1, 1, 1], 0.8) / (box([1, -1, 1, 1], 0.8) + box([1, -1, 1, -1], 0.8))
    side = (run.draws["z"][:, :, 0, 3] > 0).astype(float)
    assert abs(side.mean() - exact) < 4.5 * error_of(side) + 1e-4
    table = run.results["predictions"].columns
    assert table["P(b)"][3] == run.results["probability"].values[3, 1] == side.mean()  # the sample's own
    again = np.vstack(
        [X, X[3:]]
    )  # a new one at its place: the same f, another noise, and the first may be on either side
    new = {s: sum(box([1, -1, 1, own, s], 0.8, again) for own in (1, -1)) for s in (1, -1)}
    share = new[1] / (new[1] + new[-1])
    assert exact - share > 0.015  # another noise, and not known to be unlabelled
    assert table["New sample: P(b)"][3] == pytest.approx(share, abs=0.015)  # four errors at most
    assert 0 < table["± P(b)"][3] < 0.1  # of two chains, so it says little more than the size


@pytest.mark.slow
def test_three_classes_agree_with_plain_simulation():
    """The class of the fourth sample given three labels, from 400,000 draws of the prior that happen to fit."""
    rng = generator(3)
    root = np.linalg.cholesky(covariance(X) - np.eye(4) + 1e-10 * np.eye(4))
    z = rng.standard_normal((400_000, 3, 4)) @ root.T + rng.standard_normal((400_000, 3, 4))
    who = z.argmax(axis=1)
    fits = (who[:, :3] == [0, 1, 2]).all(axis=1)
    exact = np.bincount(who[fits, 3], minlength=3) / fits.sum()
    run = fitted("gp_classes", [0, 1, 2, -1], 4, ("a", "b", "c"))
    table = run.results["predictions"]
    found = np.array([table.columns[f"P({name})"][3] for name in "abc"])
    assert np.abs(found - exact).max() < 0.02


def test_two_classes_as_two_functions_are_one_function():
    """K = 2: (f1 - f2) / sqrt 2 has the same covariance, and a margin a is a null half-width a / sqrt 2."""
    mean, sd, null = np.array([0.4, -0.7]), 1.3, 0.9
    joint = winner.log_win(mean, sd, 0, null)
    single = log_ndtr((mean[0] - mean[1]) / np.sqrt(2) / sd - null / np.sqrt(2) / sd)
    assert joint == pytest.approx(single, abs=1e-12)
    variance = np.array([0.8])
    both = many_class(mean[:, None], variance, null)[0, 0]
    one = two_class(np.array([(mean[0] - mean[1]) / np.sqrt(2)]), variance, null / np.sqrt(2))[2, 0]
    assert both == pytest.approx(one, abs=1e-7)
