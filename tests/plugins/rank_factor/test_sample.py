"""Draws from q have its moments; they give the links of the network their confidence."""

import numpy as np
import pytest
import rank_factor_tools as tools
from sparing import every

from plaidwork.core.api import Clock
from plaidwork.plugins.rank_factor import vb_state as q
from plaidwork.plugins.rank_factor.models import RankFactorVB

N = 4000


def fitted(changes, sweeps=15):
    x, codes, _, _ = tools.planted(2, n=30)
    data, model = tools.data_of(x[:, :9], codes), RankFactorVB()
    params = tools.params_of(**{"n_factors": 3, "n_components": 3, "n_levels": 4, **changes})
    rng = tools.generator(1)
    state = model.init(data, params, rng)
    for sweep in range(sweeps):
        while model.step(state, data, params, rng, Clock(sweep, 0)) is None:
            pass
    return model, state, model.draws(state, data, params)


@pytest.mark.long
@pytest.mark.parametrize(
    "changes",
    every([{}, {"classifier": "nonlinear"}, {"likelihood": "gaussian"}], 3),
    ids=["levels", "mixture", "values"],
)
def test_moments(changes):
    """Means within 5.5 standard errors, variances within 15 % (20 in 3 of N (2 / N)^(1/2) = 2 % steps)."""
    model, state, mean = fitted(changes)
    draws = model.sample(state, tools.generator(7), N)

    def stacked(name):
        return np.stack([one[name] for one in draws])

    spread = {
        "loadings": q.squares_of(0 * state["a"], state["a_cov"]),
        "scores": q.squares_of(0 * state["z"], state["z_cov"]),
        "beta": q.squares_of(0 * state["beta"], state["beta_cov"]),
    }
    if "gaussian" not in changes.values():
        spread["thresholds"] = state["c_var"]
    for name, variance in spread.items():
        found = stacked(name)
        off = (found.mean(axis=0) - mean[name]) / np.sqrt(variance / N)
        assert np.abs(off).max() < 5.5, name
        assert np.abs(found.var(axis=0) / variance - 1).max() < 0.15, name
    for name in ("noise", "group_precision"):
        np.testing.assert_allclose(stacked(name).mean(axis=0), mean[name], rtol=0.1)
    np.testing.assert_allclose(stacked("share").mean(axis=0), mean["share"], atol=0.05)
    np.testing.assert_allclose(stacked("log_weight").mean(axis=0), mean["log_weight"], rtol=0.05, atol=0.1)
    pair = stacked("loadings")[:, 0, :2]  # covariance within a row
    expected = state["a_cov"][0, 1]
    assert abs(np.cov(pair.T)[0, 1] - expected) < 6 * np.sqrt(np.prod(pair.var(axis=0)) * 2 / N)


def test_links_are_certain_by_draws_of_q():
    x, codes, _, _ = tools.planted(6)
    found = tools.run(
        "rank_factor_vb", tools.inputs(x, codes), {"n_factors": 4, "similarity": 0.5}, max_sweeps=20
    ).results
    share, weight = found["network_confidence"].values, np.abs(found["network_weight"].values)
    assert ((share >= 0) & (share <= 1)).all()
    assert ((share > 0) & (share < 1)).any()
    assert share[weight > 0.9].mean() > share[weight < 0.6].mean() + 0.2
