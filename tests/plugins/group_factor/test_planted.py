"""Errors that one makes in deriving such a model, planted in the updates: the tests of the bound see each of them."""

import group_factor_tools as tools
import numpy as np
import pytest
from plaid_tools import with_fault
from scipy.special import expit, logit

from plaidwork.plugins.group_factor import intercepts, local, updates

WEIGHTS, SCORES, ALPHA, NOISE = (
    updates.update_weights,
    updates.update_scores,
    updates.update_alpha,
    updates.update_noise,
)
BITS = local.update_bits


def whole_square_in_the_log_odds(state, params, lo, hi, only=-1):
    """The seed prints b^2 / p in place of its half."""
    WEIGHTS(state, params, lo, hi, only)
    chosen = slice(None) if only < 0 else only
    gamma = np.clip(state["gamma"][chosen, lo:hi], 1e-12, 1 - 1e-12)
    loc, var = state["loc"][chosen, lo:hi], state["var"][chosen, lo:hi]
    gamma = expit(logit(gamma) + 0.5 * loc**2 / var)
    state["gamma"][chosen, lo:hi] = gamma
    state["w"][chosen, lo:hi], state["ww"][chosen, lo:hi] = gamma * loc, gamma * (loc**2 + var)


def variance_of_the_prior_only(state, lo, hi, only=-1):
    """The variance of the factor values forgets the data."""
    SCORES(state, lo, hi, only)
    chosen = slice(None) if only < 0 else only
    state["v"][chosen, lo:hi] = 1.0
    state["zz"][chosen, lo:hi] = state["z"][chosen, lo:hi] ** 2 + 1.0


def no_half_in_the_precision(state, params):
    ALPHA(state, params)
    state["alpha_rate"][:] = 2 * state["alpha_rate"]


def noise_without_the_variance_of_the_prediction(state, params, lo, hi):
    z, w = state["zz"].copy(), state["ww"].copy()
    state["zz"][:], state["ww"][:] = state["z"] ** 2, state["w"] ** 2
    NOISE(state, params, lo, hi)
    state["zz"][:], state["ww"][:] = z, w


def zeta_of_the_mean(lo, hi, first, y, T, x, spread, v_mu, mu, mu_var, *rest):
    """|<x>| in place of the root of <x^2>."""
    BITS(lo, hi, first, y, T, x, 0 * spread, v_mu, mu, 0 * mu_var if rest[-1] else mu_var, *rest)


@pytest.mark.parametrize(
    ("module", "name", "wrong"),
    [
        (updates, "update_weights", whole_square_in_the_log_odds),
        (updates, "update_scores", variance_of_the_prior_only),
        (updates, "update_alpha", no_half_in_the_precision),
        (updates, "update_noise", noise_without_the_variance_of_the_prediction),
        (local, "update_bits", zeta_of_the_mean),
    ],
    ids=lambda part: getattr(part, "__name__", "") if callable(part) else "",
)
def test_a_planted_error_lowers_the_bound(module, name, wrong, monkeypatch):
    settings = {"min_r2": 0.0, "dtype": "float64", "start_variance": 0.02, "start_noise": 0.05}
    right, _ = tools.climb(*tools.start(settings, 4), sweeps=12)
    assert right <= 1e-9
    monkeypatch.setattr(module, name, wrong)
    seen, _ = tools.climb(*tools.start(settings, 4), sweeps=12)
    assert seen > 1e-7


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("1.0 / v_mu + weight", "1.0 / v_mu + 3 * weight"), ("(B - T * x[:, here])", "B")],
    ids=["rate", "rest"],
)
def test_an_error_in_the_intercepts_of_groups_lowers_the_bound(right, wrong, monkeypatch):
    settings = {"min_r2": 0.0, "dtype": "float64"}
    made = {"seed": 4, "n_groups": 3, "words": ("bernoulli",) * 3}
    sound, _ = tools.climb(*tools.start(settings, **made), sweeps=25)
    assert sound <= 1e-9
    monkeypatch.setattr(updates, "update_by_group", with_fault(intercepts.update_by_group, right, wrong))
    seen, _ = tools.climb(*tools.start(settings, **made), sweeps=25)
    assert seen > 1e-7
