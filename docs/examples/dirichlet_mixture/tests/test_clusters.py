"""Updates by one item against sums over all items, and what rounding may do."""

from __future__ import annotations

import numpy as np
import pytest
from exact import block, log_marginal

from plaidwork_dirichlet_mixture import clusters
from plaidwork_dirichlet_mixture.clusters import Clusters, Items, Law, empty_clusters, predictive_table
from plaidwork_dirichlet_mixture.model import DirichletMixture

PARAMS = DirichletMixture.spec.check_params({"within": 0.6, "within_weight": 3.0, "mean_weight": 0.3})


def law(n, d, full):
    return Law(full, 1.0, 0.3, 3.0, 1.8, predictive_table(n, d, full, 0.3, 3.0))


def filled(x, full):
    """All rows but the last in slot 0."""
    n, d = x.shape
    c, rule = Clusters(**empty_clusters(2, d, full)), law(n, d, full)
    known = block(x)["X"].observed
    clusters.reset(c, 0, rule)
    for row in x[:-1]:
        clusters.add(c, 0, row, known[0], rule, np.empty(d))
    return c, rule, known[0]


@pytest.mark.parametrize("d", [1, 2, 5])
def test_predictive_density_is_a_ratio_of_evidence(d):
    x = np.random.default_rng(d).normal(size=(9, d)) * 2 + 1
    c, rule, known = filled(x, True)
    found = clusters.log_predictive(c, 0, x[-1], known, rule, np.empty(d))
    assert found == pytest.approx(log_marginal(x, PARAMS) - log_marginal(x[:-1], PARAMS))
    assert clusters.log_marginal(c, 0, rule) == pytest.approx(log_marginal(x[:-1], PARAMS))


@pytest.mark.parametrize("full", [True, False])
def test_adding_and_removing_leaves_what_was(full):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(30, 4))
    c, rule, known = filled(x, full)
    before = c.factor[0].copy(), c.mean[0].copy(), c.logs[0].copy()
    for _ in range(200):
        row = rng.normal(size=4) * 3
        clusters.add(c, 0, row, known, rule, np.empty(4))
        assert clusters.remove(c, 0, row, known, rule, np.empty(4))
    for old, new in zip(before, (c.factor[0], c.mean[0], c.logs[0]), strict=True):
        assert new == pytest.approx(old, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("full", [True, False])
def test_a_removal_that_rounding_spoils_is_noticed(full):
    """An outlier of 1e9 drowns the rest; without it the cluster must be added up anew."""
    x = np.random.default_rng(5).normal(size=(6, 3))
    c, rule, known = filled(x, full)
    far = np.full(3, 1e9)
    clusters.add(c, 0, far, known, rule, np.empty(3))
    assert not clusters.remove(c, 0, far, known, rule, np.empty(3))
    from plaidwork_dirichlet_mixture.sweep import add_up

    data = np.concatenate([x[:-1], far[None]])
    known_all = np.ones(data.shape, bool)
    data.flags.writeable = known_all.flags.writeable = False
    items = Items(data, known_all, np.zeros(3), np.ones(3))
    add_up(items, np.zeros(6, np.int64), c, 0, rule, 5, np.empty(3), np.empty(3))
    fresh, _, _ = filled(x, full)
    assert c.factor[0] == pytest.approx(fresh.factor[0])


@pytest.mark.parametrize("full", [True, False])
def test_drawn_means_have_the_posterior_moments(full):
    """A Student law: the mean of the posterior, covariance ``Psi / (kappa (v - 2))``."""
    x = np.random.default_rng(6).normal(size=(12, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]])
    c, rule, _ = filled(x, full)
    rng, out = np.random.default_rng(7), np.empty(2)
    draws = []
    for _ in range(40_000):
        clusters.draw_mean(rng, c, 0, rule, out)
        draws.append(out.copy())
    draws = np.array(draws)
    psi = c.factor[0].T @ c.factor[0] if full else np.diag(c.factor[0, 0])
    covariance = psi / ((0.3 + 11) * (3 + 2 + 11 - 2))
    error = np.sqrt(np.diag(covariance) / len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - c.mean[0]) < 4.5 * error)
    assert np.cov(draws.T) == pytest.approx(covariance, abs=0.05 * covariance.max())
