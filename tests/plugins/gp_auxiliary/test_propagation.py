"""Expectation propagation, by which the covariance is chosen: moments, evidence, its slope and labels left out, against integrals and samples."""

from __future__ import annotations

import numpy as np
import pytest
from gp_joint import generator
from scipy.special import log_ndtr, ndtr

from plaidwork.plugins.gp_auxiliary.classes.choosing import _starts, with_sum
from plaidwork.plugins.gp_auxiliary.classes.classify import Classes
from plaidwork.plugins.gp_auxiliary.classes.propagation import (
    Propagated,
    Search,
    evidence_of,
    moments,
    no_sites,
    propagate,
)
from plaidwork.plugins.gp_auxiliary.shared.frame import prior_of
from plaidwork.plugins.gp_auxiliary.shared.tilting import bound_of, settle

PARAMS = Classes().spec.check_params({"covariance": "chosen"})


def problem(classes: int, size: int, expression: str = "rbf(ard) + constant"):
    """(prior, labels (n,), rows) of two inputs, the classes along the first."""
    rng = generator(size + classes)
    x = rng.standard_normal((size, 2))
    cuts = [0.0] if classes == 2 else [-0.4, 0.5]
    code = np.digitize(x[:, 0] + 0.5 * rng.standard_normal(size), cuts)
    prior = prior_of(x, x[:0], with_sum(PARAMS, expression), False)
    return prior, code, 1 if classes == 2 else classes


def settled(c: np.ndarray, code: np.ndarray, rows: int) -> Propagated:
    """Nearer than the search needs it."""
    found = propagate(c, code, no_sites(rows, len(code)))
    for _ in range(8):
        found = propagate(c, code, found.sites, 0.0)
    return found


def probability(f: np.ndarray, code: np.ndarray) -> np.ndarray:
    """(draws, n) probabilities of the labels given f (draws, K, n)."""
    if f.shape[1] == 1:
        return ndtr(np.where(code == 1, f[:, 0], -f[:, 0]))
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    every = np.arange(len(code))
    gap = f[:, code, every][:, None] - f
    total = 0.0
    for node, weight in zip(nodes, weights / np.sqrt(2.0 * np.pi), strict=True):
        tail = log_ndtr(node + gap)
        tail[:, code, every] = 0.0
        total += weight * np.exp(tail.sum(axis=1))
    return np.asarray(total)


@pytest.mark.parametrize("rows", [1, 3])
def test_moments_given_a_label(rows):
    """Against 400,000 draws of f, weighted by the label's probability: 5 standard errors of a mean, the variances to 2 %."""
    rng = generator(1)
    mean, variance = rng.normal(0.0, 1.5, (rows, 4)), rng.uniform(0.2, 6.0, (rows, 4))
    code = np.array([0, 1, 1, 0]) if rows == 1 else np.array([0, 1, 2, 2])
    f = mean + np.sqrt(variance) * rng.standard_normal((400_000, rows, 4))
    weight = probability(f, code)[:, None]
    log_z, told, left = moments(mean, variance, code)
    expected = (weight * f).mean(axis=0) / weight.mean(axis=0)
    error = (weight * (f - expected)).std(axis=0) / weight.mean(axis=0) / np.sqrt(len(f))
    np.testing.assert_allclose(np.exp(log_z), weight[:, 0].mean(axis=0), rtol=0.02)
    assert np.abs((told - expected) / error).max() < 5.0
    np.testing.assert_allclose(
        left, (weight * (f - expected) ** 2).mean(axis=0) / weight.mean(axis=0), rtol=0.02
    )


@pytest.mark.parametrize(("classes", "near"), [(2, (0.03, 0.3)), (3, (0.8, 0.6))])
def test_evidence_and_labels_left_out_are_near_the_exact_ones(classes, near):
    """Of six samples, by 400,000 draws of f (standard error below 0.01 nats). Sites that are independent of one another cost something with three classes;
    the quick model's bound is three times as far away."""
    prior, code, rows = problem(classes, 6)
    c = prior.covariance.matrix(prior.x, prior.covariance.prior_mean)
    found = settled(c, code, rows)
    root = np.linalg.cholesky(c + 1e-10 * np.eye(6))
    f = generator(2).standard_normal((400_000, rows, 6)) @ root.T
    each = probability(f, code)
    whole = each.prod(axis=1).mean()
    assert found.log_evidence == pytest.approx(np.log(whole), abs=near[0])
    gram = prior.gram(prior.covariance.prior_mean)
    z, mean = settle(np.zeros((rows, 6)), code, gram)
    bound = bound_of(z, mean, code, gram["log_det"])
    assert bound - np.log(whole) < 3.0 * (found.log_evidence - np.log(whole))
    others = [np.delete(each, n, axis=1).prod(axis=1).mean() for n in range(6)]
    np.testing.assert_allclose(found.left_out, np.log(whole / np.array(others)), atol=near[1])


@pytest.mark.parametrize("classes", [2, 3])
def test_the_slope_is_that_of_the_evidence(classes):
    prior, code, rows = problem(classes, 25)
    law, theta = prior.covariance, prior.covariance.prior_mean
    found = settled(law.matrix(prior.x, theta), code, rows)
    slope = law.slopes(prior.x, theta, found.weights)
    for p, step in enumerate(0.02 * np.eye(len(theta))):
        ends = [settled(law.matrix(prior.x, theta + sign * step), code, rows) for sign in (1.0, -1.0)]
        difference = (ends[0].log_evidence - ends[1].log_evidence) / 0.04
        assert slope[p] == pytest.approx(difference, abs=0.02)


def test_parameters_that_are_searched_for_are_better_than_where_it_begins():
    prior, code, rows = problem(3, 60)
    for start in _starts(prior):
        search = Search(prior, code, rows)
        before, _slope = search.slope(start)
        value, theta = search.best(start)
        assert value > before + 1.0
        assert np.abs(search.slope(theta)[1]).max() < 0.5  # nats a logarithm, of a posterior some tenths wide


def test_an_evidence_that_rounding_forbids_is_none():
    prior, code, rows = problem(2, 10, "linear")
    prior = prior_of(np.full((10, 2), np.nan), prior.inducing, with_sum(PARAMS, "mean_linear"), False)
    assert evidence_of(prior, code, rows, _starts(prior)) == (-np.inf, -np.inf)
