"""Densities of single cells at draws from q, against what the fit expects in them."""

import numpy as np
import pytest
from group_factor_tools import run, views
from scipy import stats

from plaidwork.core.findings.predictive import run_densities
from plaidwork.core.plugins.registry import registry


@pytest.fixture(scope="module", params=["none", "all"])
def fitted(request):
    arrays, _ = views(1)
    settings = {"n_factors": 4, "scale_features": request.param}
    made = run(arrays, settings, max_sweeps=60, holdout=0.1, executor="inline")
    return made, made.session.plan_of(made, registry())


def test_densities_average_to_what_is_expected(fitted):
    made, plan = fitted
    model, kept = plan.model, made.kept()
    for place, block in enumerate(plan.data["views"]):
        columns = np.arange(block.shape[1])
        mean, sd = model.fitted(kept, plan.data, plan.params, "views", place, columns)
        known = (block.observed | block.held_out)[:12]
        cells = np.nonzero(known)
        given = kept.chains[0], np.zeros(1, int), plan.data, plan.params, place, *cells
        density = np.log(np.exp(model.log_likelihood(*given)).mean(axis=0))
        values = block.truth[:12][known]
        mean, sd = mean[:12][known], sd[:12][known]
        if set(np.unique(values)) <= {0.0, 1.0}:
            np.testing.assert_allclose(np.exp(density), np.where(values == 1, mean, 1 - mean), atol=0.05)
        elif not np.all(values == np.round(values)):
            near = np.abs(values - mean) < 1.5 * sd  # further out few draws decide
            np.testing.assert_allclose(density[near], stats.norm.logpdf(values, mean, sd)[near], atol=0.2)


def test_held_out_cells_are_told_by_view(fitted):
    made, plan = fitted
    found = run_densities(made, made.session.datasets, registry().model("group_factor"))
    assert found.held_out
    assert found.total.tolist() == [int(block.held_out.sum()) for block in plan.data["views"]]
    total, _ = found.score().sum()
    assert total == pytest.approx(sum(found.score().sum(b)[0] for b in range(len(found.names))))
