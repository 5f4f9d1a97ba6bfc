"""Leaving an item out by weights, against all partitions of the items and of those that are left."""

from __future__ import annotations

import numpy as np
import pytest
from exact import block, log_evidence, log_partition, partitions

from plaidwork.core.api import Clock, Schedule
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.numerics.psis import leave_one_out
from plaidwork_dirichlet_mixture.model import DirichletMixture

MODEL = DirichletMixture()
SIX = np.array([[0.0, 0.2], [0.9, 0.3], [1.9, 2.0], [2.2, 1.2], [0.6, -1.1], [2.4, 1.9]])
GAPS = SIX.copy()
GAPS[0, 1] = GAPS[3, 0] = np.nan


def settings(**more):
    return MODEL.spec.check_params(
        {"standardise": False, "within": 0.6, "within_weight": 3.0, "mean_weight": 0.3, "learn_alpha": False,
         "alpha": 1.0, **more}
    )  # fmt: skip


def evidence(values, params):
    """Log density of the rows, summed over all partitions."""
    data = block(values)
    terms = [log_evidence(one, data, params) + log_partition(one, 1.0) for one in partitions(len(values))]
    return np.logaddexp.reduce(terms)


def drawn(values, params, draws=4000):
    data, rng = block(values), np.random.default_rng(8)
    state = MODEL.init(data, params, rng)
    record = ChainRecord(MODEL.spec, Schedule(chains=1, warmup=0, draws=draws), 1, 0)
    for sweep in range(draws):
        traces = None
        while traces is None:
            traces = MODEL.step(state, data, params, rng, Clock(sweep, 0))
        record.trace.append(traces)
        record.draws.append(MODEL.draws(state, data, params))
    return data, record.view()


@pytest.mark.parametrize(("values", "form"), [(SIX, "full"), (GAPS, "diagonal")])
def test_an_item_left_out_is_predicted_exactly(values, form):
    params = settings(covariance=form)
    data, chain = drawn(values, params)
    density = MODEL.log_likelihood(chain, np.arange(chain.n_draws), data, params, 0, np.arange(6), None)
    found, _ = leave_one_out(density)
    whole = evidence(values, params)
    exact = np.array([whole - evidence(np.delete(values, i, axis=0), params) for i in range(6)])
    np.testing.assert_allclose(found, exact, atol=0.04)  # about 4 Monte Carlo errors
    naive = np.log(np.exp(density).mean(axis=0))  # the weights matter: without them it is off by more
    assert np.abs(naive - exact).max() > 0.08


def test_densities_are_in_the_unit_of_the_data():
    params = settings(covariance="full", standardise=True)
    rows = np.array([1, 4])
    one, two = (drawn(values, params, 3) for values in (SIX, 100 * SIX + 7))
    found = [
        MODEL.log_likelihood(chain, np.arange(3), data, params, 0, rows, None) for data, chain in (one, two)
    ]
    np.testing.assert_allclose(found[1], found[0] - 2 * np.log(100), atol=1e-6)
