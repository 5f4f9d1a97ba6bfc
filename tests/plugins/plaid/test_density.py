"""Densities of single cells, against the formula and against the held-out trace of the model itself."""

import numpy as np
import pytest
from scipy import stats

from plaidwork.core.findings.predictive import run_densities
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.fitting import fit

SETTINGS = ({}, {"layer": "profile", "row_noise": True, "effects": True}, {"effects": True}, {"noise": "t"})


@pytest.fixture(scope="module", params=SETTINGS, ids=["shift", "profile", "effects", "tails"])
def any_run(request):
    return _fitted(request.param)


@pytest.fixture(scope="module")
def run():
    return _fitted({})


def _fitted(settings):
    rng = np.random.default_rng(4)
    x = rng.normal(0, 0.5, (14, 9))
    x[:6, :4] += 2.0
    x[2, 7] = np.nan
    return fit(
        "infinite_plaid",
        {"X": x},
        settings,
        seed=3,
        chains=2,
        warmup=60,
        draws=80,
        thin=1,
        holdout=0.15,
        executor="inline",
    )


@pytest.mark.long
def test_held_out_cells_have_the_density_that_the_trace_tells(any_run):
    """The trace is the mean log density under the average over all draws of a chain."""
    run = any_run
    found = run_densities(run, run.session.datasets, registry().model(run.spec.id))
    assert found.held_out
    for c, chain in enumerate(run.kept().chains):
        assert found.score([c]).elpd.mean() == pytest.approx(chain.trace("held_out")[-1], rel=1e-10)


def test_a_cell_is_normal_around_its_blocks(run):
    model = registry().model(run.spec.id)
    plan = run.session.plan_of(run, registry())
    chain, block = run.kept().chains[1], plan.data["X"]
    rows, columns = np.repeat([2, 5], 4), np.tile(np.arange(4), 2)
    found = model.log_likelihood(chain, np.array([7, 30]), plan.data, plan.params, 0, rows, columns)
    z1, z2, theta = (chain.draw(name, 30) for name in ("Z1", "Z2", "theta"))
    for place, (row, column) in enumerate(zip(rows, columns, strict=True)):
        mean = chain.draw("phi", 30) + sum(t for a, b, t in zip(z1, z2, theta) if a[row] and b[column])
        expected = stats.norm.logpdf(block.truth[row, column], mean, chain.draw("tau0", 30) ** -0.5)
        assert found[1, place] == pytest.approx(expected)


def test_a_run_tells_how_well_it_predicts(run):
    total, error = run.score().sum()
    count = int(run.session.plan_of(run, registry()).data["X"].held_out.sum())
    assert total == pytest.approx(count * run.score().mean)
    assert 0 < error < abs(total)
    assert run.score().difference(run.score()) == (0.0, 0.0)
