"""Chains on a tiny problem against expectations by importance sampling from the prior (specification, section 10)."""

import numpy as np
import pytest
import rank_factor_tools as tools
from scipy.special import exp1
from sparing import some

from plaidwork.plugins.rank_factor import mixture
from plaidwork.plugins.rank_factor.start import new_state

LIKELIHOODS = {
    "levels": {},
    "pairs": {"scheme": "pairs"},
    "gaussian": {"likelihood": "gaussian"},
}
CASES = {
    f"{name}-{classifier}": {**changes, "classifier": classifier}
    for name, changes in LIKELIHOODS.items()
    for classifier in ("linear", "nonlinear")
}


@pytest.mark.long
@pytest.mark.parametrize("name", some(["levels-linear", "pairs-nonlinear"], ["pairs-nonlinear"]))
def test_quick(name):
    setup, params = tools.tiny(**CASES[name])
    expected = tools.exact(setup, params, n=100_000, batch=50_000)
    samples = tools.sampled(setup, params, 2000, 5)
    assert np.abs(tools.z_scores(samples, expected, 20)).max() < 5.0


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_expectations(name):
    """Some 25 functions; by chance one exceeds 4 standard errors in about 2 of 1000 runs with another seed."""
    setup, params = tools.tiny(**CASES[name])
    expected = tools.exact(setup, params, n=4_000_000)
    samples = tools.sampled(setup, params, 60_000, 11)
    assert np.abs(tools.z_scores(samples, expected)).max() < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"interweave": False}, {"coefficient_size": 0.0}], ids=str)
def test_settings_of_earlier_sessions(changes):
    """The target is the same without the further moves; and the chain is right without the bound on the coefficients."""
    setup, params = tools.tiny(**changes)
    expected = tools.exact(setup, params, n=4_000_000)
    samples = tools.sampled(setup, params, 60_000, 13)
    assert np.abs(tools.z_scores(samples, expected)).max() < 4.0


@pytest.mark.slow
def test_three_classes():
    setup, params = tools.tiny(3, label_weight=0.3)
    expected = tools.exact(setup, params, n=4_000_000)
    samples = tools.sampled(setup, params, 60_000, 12)
    assert np.abs(tools.z_scores(samples, expected)).max() < 4.0


def test_groups_have_the_probabilities_of_the_target():
    """log p(t) of every sample is the target density along t, for which no augmentation is needed."""
    setup, params = tools.tiny(3, classifier="nonlinear")
    draws = tools.prior_draws(setup, params, 50, tools.generator(2))
    rng = tools.generator(1)
    state = new_state(setup, params, rng)
    groups = params["n_components"]
    for s in range(50):
        for name in ("z", "beta", "mu", "psi"):
            state[name] = draws[name][s]
        state["log_nu"], state["log_rest"] = np.log(rng.random(groups)), np.log(rng.random(groups))
        found = mixture.group_log_probabilities(state, setup, params)
        left = np.append(0.0, np.cumsum(state["log_rest"][:-1]))
        log_q = left + np.append(state["log_nu"][:-1], 0.0)
        for n in range(len(state["z"])):
            expected = np.empty(groups)
            for t in range(groups):
                one = {name: values[s : s + 1].copy() for name, values in draws.items()}
                one["t"][0, n] = t
                square = ((state["z"][n] - state["mu"][t]) ** 2).sum()
                prior = 0.5 * params["n_factors"] * np.log(state["psi"][t]) - 0.5 * state["psi"][t] * square
                expected[t] = tools.log_weights(setup, params, one)[0] + prior + log_q[t]
            np.testing.assert_allclose(found[n] - found[n, 0], expected - expected[0], rtol=1e-8, atol=1e-9)


def sticks(sweeps=40_000, seed=3):
    """alpha of a chain without data: groups from the shares, shares from the groups."""
    rng, groups, n = tools.generator(seed), 3, 2
    state = {"log_nu": np.log(np.full(groups, 0.5)), "log_rest": np.log(np.full(groups, 0.5)), "alpha": 1.0}
    found, params = np.empty(sweeps), {"mass_shape": 1.0, "mass_rate": 1.0}
    for s in range(sweeps):
        t = mixture.choose(np.tile(mixture.log_weights(state), (n, 1)), rng)
        mixture.draw_sticks(state, params, np.bincount(t, minlength=groups), rng)
        found[s] = 1 / (1 + state["alpha"])
    return tools.z_scores(found[:, None], (np.e * exp1(1.0), 0.0))[0]


def test_sticks_without_data():
    """E 1 / (1 + alpha) = e E1(1); clipping 1 - nu instead of drawing its logarithm shifts it (section 10, 21)."""
    assert abs(sticks(8000)) < 4.0
