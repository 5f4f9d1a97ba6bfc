"""The conformance suite of Plaidwork, Geweke's test and calibration among it, and faults that it must see."""

from __future__ import annotations

import numpy as np
import pytest

from plaidwork.core.checks import CheckFailed, checks_for
from plaidwork_dirichlet_mixture import model as module
from plaidwork_dirichlet_mixture import simulate
from plaidwork_dirichlet_mixture.concentration import draw_alpha
from plaidwork_dirichlet_mixture.model import DirichletMixture

LONG = ("mid_sweep",)
"""Saves states of many megabytes between hundreds of slices."""


@pytest.mark.parametrize("check", checks_for(DirichletMixture, skip=LONG), ids=str)
def test_conforms(check):
    check()


@pytest.mark.slow
@pytest.mark.parametrize("check", checks_for(DirichletMixture, only=LONG), ids=str)
def test_conforms_in_slices(check):
    check()


@pytest.mark.slow
@pytest.mark.parametrize("check", checks_for(DirichletMixture, only=("prior",), level="full"), ids=str)
def test_conforms_to_its_prior_with_many_draws(check):
    check()


def _wrong_rate(rng, alpha, n, k, shape, rate):
    return draw_alpha(rng, alpha, n, k, shape, 3 * rate)


def _no_clusters(rng, alpha, n, k, shape, rate):
    return draw_alpha(rng, alpha, n, 1, shape, rate)


def _same_alpha(rng, alpha, n, k, shape, rate):
    return alpha + 0.1 * rng.gamma(1.0)


def _wrong_table(n, d, full, kappa, weight):
    table = right_table(n, d, full, kappa, weight)
    table[0] += 1.0
    return table


def _wide_values(rng, labels, d, params):
    values, means = right_values(rng, labels, d, params)
    return 1.5 * values, means


def _few_clusters(rng, n, alpha):
    return right_partition(rng, n, 0.5 * alpha)


right_table, right_values, right_partition = (
    module.predictive_table,
    simulate.draw_values,
    simulate.draw_partition,
)
FAULTS = {
    "alpha with another prior": (module, "draw_alpha", _wrong_rate),
    "alpha without the number of clusters": (module, "draw_alpha", _no_clusters),
    "alpha that only grows": (module, "draw_alpha", _same_alpha),
    "new clusters look too good": (module, "predictive_table", _wrong_table),
    "data from a wider law": (simulate, "draw_values", _wide_values),
    "partitions from another prior": (simulate, "draw_partition", _few_clusters),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_geweke_sees_a_fault(fault, monkeypatch):
    monkeypatch.setattr(*FAULTS[fault])
    (check,) = checks_for(DirichletMixture, only=("geweke[full]",))
    with pytest.raises(CheckFailed, match="in the chains than in the prior"):
        check()


@pytest.mark.parametrize("fault", ["alpha that only grows", "data from a wider law"])
def test_calibration_sees_a_fault(fault, monkeypatch):
    monkeypatch.setattr(*FAULTS[fault])
    (check,) = checks_for(DirichletMixture, only=("calibration[full]",))
    with pytest.raises(CheckFailed, match="are not even"):
        check()


@pytest.mark.parametrize("fault", ["spread of a drawn mean", "place of a drawn mean"])
def test_geweke_sees_wrong_means(fault, monkeypatch):
    """The means are drawn in a kernel, so they are put wrong afterwards."""
    right = DirichletMixture.draws

    def wrong(self, state, data, params):
        found = dict(right(self, state, data, params))
        if state["at"][module.sweep.TRIED]:  # after a sweep, not from the prior
            found["means"] = found["means"] * 1.3 if fault.startswith("spread") else found["means"] + 0.5
        return found

    monkeypatch.setattr(DirichletMixture, "draws", wrong)
    (check,) = checks_for(DirichletMixture, only=("geweke[full]",))
    with pytest.raises(CheckFailed, match="means"):
        check()


def test_the_prior_of_simulate_is_the_one_declared():
    """Variance within a cluster has the mean ``within``, in both forms."""
    model, rng = DirichletMixture(), np.random.default_rng(2)
    for form in ("full", "diagonal"):
        params = model.spec.check_params({"covariance": form, "within": 0.5, "within_weight": 20.0})
        roots = [simulate.draw_covariance(rng, 2, params) for _ in range(3000)]
        mean = np.mean([root @ root.T for root in roots], axis=0)
        assert mean == pytest.approx(0.5 * np.eye(2), abs=0.02)
