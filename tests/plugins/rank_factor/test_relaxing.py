"""Steps beyond the ascent: the bound of whole sweeps never falls, what is undone is as it was, and it is worth it."""

import numpy as np
import pytest
import rank_factor_tools as tools
from plaid_tools import with_fault

from plaidwork.plugins.rank_factor import ascent, relaxing
from plaidwork.plugins.rank_factor.setup import setup_of
from plaidwork.plugins.rank_factor.vb_state import new_q

CASES = [
    {},
    {"scheme": "pairs"},
    {"likelihood": "gaussian"},
    {"classifier": "nonlinear", "n_components": 3},
]


def climb(changes, sweeps):
    """Bounds of whole sweeps, how many were undone, and the largest difference to the bound of the state afterwards."""
    x, codes, _, _ = tools.planted(4, n=40)
    params = tools.params_of(**{"n_factors": 4, "n_levels": 4, **changes})
    setup = setup_of(tools.data_of(x[:, :12], codes), params)
    state, bounds, undone, off = new_q(setup, params, tools.generator(1)), [], 0, 0.0
    for sweep in range(sweeps):
        traces = tools.climb(state, setup, params, sweep)
        bounds.append(traces["elbo"])
        undone += sweep > 0 and "a" not in state["good"]
        again = ascent.measured_traces(state, setup, params)["elbo"]
        off = max(off, abs(again - traces["elbo"]))
    return np.array(bounds), undone, off


@pytest.mark.parametrize("changes", CASES, ids=str)
def test_never_falls(changes):
    bounds, undone, off = climb(changes, 80)
    assert (np.diff(bounds) >= 0).all()
    assert undone > 0
    assert off < 1e-9 * abs(bounds[-1])


def test_falls_when_nothing_is_undone(monkeypatch):
    monkeypatch.setattr(relaxing, "end", with_fault(relaxing.end, 'bound >= good["bound"]', "True"))
    with pytest.raises((AssertionError, RuntimeWarning)):
        assert (np.diff(climb({}, 80)[0]) >= 0).all()


def test_is_ahead_of_the_plain_ascent(monkeypatch):
    """After 60 sweeps the bound is where the plain ascent is after 100, or above."""
    ahead = climb({}, 60)[0][-1]
    monkeypatch.setattr(relaxing, "LEAST", 0.0)
    assert ahead > climb({}, 100)[0][-1]
