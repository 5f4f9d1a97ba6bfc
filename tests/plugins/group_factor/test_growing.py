"""Factors that join while the bound rises: as many as there are, taken back when they do not pay, exact when interrupted."""

from contextlib import closing

import group_factor_tools as tools
import numpy as np
import pytest
from sparing import some
from toy import same

from plaidwork.core.checks.storing import round_trip
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference.engine import run_chain
from plaidwork.core.inference.plan import make_plan
from plaidwork.core.plugins.registry import registry
from plaidwork.plugins.group_factor import growing
from plaidwork.plugins.group_factor.cells import view_of

GROW = {"n_factors": 2, "grow": True, "likelihoods": "gaussian, bernoulli, poisson"}
PLANTED = {"n": 120, "sizes": (40, 50, 40), "k": 5, "missing": 0.05, "absent": 0, "active": 0.4}


@pytest.fixture(scope="module")
def grown():
    arrays, truth = tools.views(3, **PLANTED)
    return tools.run(arrays, GROW), truth


def test_as_many_as_there_are(grown):
    run, truth = grown
    assert run.results["scores"].values.shape[1] == 5
    assert tools.recovery(run.results["scores"].values, truth) > 0.95
    assert run.chains[0].converged
    factors = run.traces["n_factors"][0]
    assert factors[99] == 2
    assert factors[100] == 4


def test_the_bound_falls_only_where_factors_come_or_go(grown):
    bound, factors = (grown[0].traces[name][0] for name in ("elbo", "n_factors"))
    assert (np.diff(bound)[np.diff(factors) == 0] >= -1e-9 * abs(bound[-1])).all()


def test_noise_gets_no_more_and_is_as_without():
    """What joined is taken back: q is what it was, and goes on as if nothing had been tried."""
    arrays, _ = tools.views(5, n=60, sizes=(20,), words=("gaussian",), k=2, missing=0.0, absent=0)
    settings = {"n_factors": 2, "min_r2": 0.0}
    alone = tools.run(arrays, settings, max_sweeps=260, tolerance=0.0)
    tried = tools.run(arrays, {**settings, "grow": True}, max_sweeps=260, tolerance=0.0)
    assert tried.traces["n_factors"][0][120] > 2
    assert tried.traces["n_factors"][0][-1] == 2
    assert tried.traces["elbo"][0][-1] == pytest.approx(alone.traces["elbo"][0][-1], abs=0.5)


def test_no_more_than_wanted():
    arrays, _ = tools.views(3, **PLANTED)
    run = tools.run(arrays, {**GROW, "most_factors": 3})
    assert run.results["scores"].values.shape[1] == 3


def test_residuals_are_what_is_not_expected():
    model, plan, state = tools.start({**GROW, "dtype": "float64"}, 3)
    tools.whole_sweeps(model, plan, state, 5)
    x = state["w"].T @ state["z"] + state["mu"][:, None]
    for place, expected in enumerate((x, 1 / (1 + np.exp(-x)), np.logaddexp(0, x))):
        view = view_of(state, place)
        found = growing.residual_rows(state, view, 1, view.size)
        y = view.arrays["y"][1:].astype(float)
        known = view.arrays["known"][1:] > 0 if place == 0 else y >= 0
        wanted = np.where(known, y - expected[view.first + 1 : view.first + view.size], 0.0)
        np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(
    ("sweep", "slices"), some([(100, 2), (100, 7), (101, 1), (130, 1), (150, 1)], [(100, 7), (130, 1)])
)
def test_goes_on_exactly(sweep, slices, monkeypatch):
    """From the middle of the search for more, and from within the sweeps that are judged."""
    monkeypatch.setattr("plaidwork.plugins.group_factor.search.SLICE", 1)
    arrays, _ = tools.views(6, n=40, sizes=(12, 12, 12), k=4)
    plan = make_plan(registry().model("group_factor"), {"views": tools.datasets(arrays)}, GROW)

    def record():
        return ChainRecord(plan.spec, plan.schedule.with_(max_sweeps=160, tolerance=0.0), plan.seed, 0)

    whole = record()
    for _ in run_chain(plan, whole):
        pass
    part = record()
    with closing(run_chain(plan, part)) as events:
        steps = 0
        for _event in events:
            steps += part.sweep == sweep
            if steps == slices:
                break
    saved, again = part.take_checkpoint(), record()
    again.trace.extend(part.trace.rows())
    again.restore(saved)
    again.state = round_trip(None, again.state)
    for _ in run_chain(plan, again):
        pass
    assert (again.trace.rows() == whole.trace.rows()).all()
    assert same(again.state, whole.state)
