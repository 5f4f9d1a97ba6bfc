"""The bound rises at every single block, for every likelihood, bound and slab; closed forms against optimisation."""

import itertools

import group_factor_tools as tools
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import digamma, expit, gammaln
from sparing import every

from plaidwork.plugins.group_factor import kernels, updates
from plaidwork.plugins.group_factor.bound import bound_terms, elbo_of

CASES = [
    {"slab": slab, "bernoulli_bound": bound, "intercept": intercept, "init": init}
    for slab, bound, intercept, init in itertools.product(
        ("full", "collapsed"), ("jaakkola", "bohning"), (True, False), ("varimax", "random")
    )
]


LIKELIHOODS = {
    "gaussian": ("gaussian",) * 2,
    "jaakkola": ("bernoulli",) * 2,
    "bohning": ("bernoulli",) * 2,
    "poisson": ("poisson",) * 2,
    "mixed": tools.WORDS,
}
GAPS = {
    "whole": {"missing": 0.0, "absent": 0},
    "cells": {"missing": 0.2, "absent": 0},
    "views": {"missing": 0.1, "absent": 4},
}
COMBINATIONS = list(
    itertools.product(LIKELIHOODS, ("full", "collapsed"), GAPS, (1, 3), (True, False), ("float64", "float32"))
)


@pytest.mark.parametrize("settings", every(CASES, 3), ids=lambda c: "-".join(map(str, c.values())))
def test_no_block_lowers_the_bound(settings):
    worst, count = tools.climb(*tools.start(settings), sweeps=25)
    assert count > 200
    assert worst <= 1e-9


@pytest.mark.parametrize(
    ("likelihood", "slab", "gaps", "n_groups", "intercept", "dtype"),
    every(COMBINATIONS, 7),
    ids=lambda part: str(part),
)
def test_no_block_lowers_the_bound_of_any_combination(likelihood, slab, gaps, n_groups, intercept, dtype):
    bound = "bohning" if likelihood == "bohning" else "jaakkola"
    settings = {
        "slab": slab, "intercept": intercept, "dtype": dtype, "bernoulli_bound": bound, "n_factors": 3,
    }  # fmt: skip
    words = LIKELIHOODS[likelihood]
    sizes = {"n": 26, "sizes": (9, 8, 7)[: len(words)], "k": 2}
    worst, count = tools.climb(
        *tools.start(settings, 3, n_groups, words=words, **sizes, **GAPS[gaps]), sweeps=6
    )
    assert count > 60
    assert worst <= 1e-9


@pytest.mark.parametrize("word", tools.WORDS)
def test_no_block_lowers_the_bound_of_one_likelihood(word):
    worst, _ = tools.climb(*tools.start({}, 1, words=(word, word, word)), sweeps=25)
    assert worst <= 1e-9


def test_between_sweeps_the_bound_rises_too_while_no_factor_leaves():
    model, plan, state = tools.start({"min_r2": 0.0, "drop_start": 1000})
    last = -np.inf
    for _ in range(40):
        traces = tools.whole_sweeps(model, plan, state, 1)
        assert traces["elbo"] >= last - 1e-9 * abs(last)
        assert traces["elbo"] == pytest.approx(elbo_of(state, plan.params), rel=1e-12)
        last = traces["elbo"]


@pytest.mark.parametrize("slab", ["full", "collapsed"])
@pytest.mark.parametrize("feature", [2, 20, 35])
def test_a_weight_is_at_its_maximum(slab, feature):
    """Nelder-Mead over (mean, log variance, logit of inclusion) of one weight gains nothing on the closed form."""
    model, plan, state = tools.start({"slab": slab, "min_r2": 0.0})
    tools.whole_sweeps(model, plan, state, 3)
    k, d = 1, feature
    updates.update_weights(state, plan.params, d, d + 1, k)
    best = elbo_of(state, plan.params)

    def negative(x):
        mean, variance, share = x[0], np.exp(x[1]), expit(x[2])
        state["loc"][k, d], state["var"][k, d], state["gamma"][k, d] = mean, variance, share
        state["w"][k, d], state["ww"][k, d] = share * mean, share * (mean**2 + variance)
        return -elbo_of(state, plan.params)

    share = np.clip(state["gamma"][k, d], 1e-8, 1 - 1e-8)
    x = np.array([state["loc"][k, d], np.log(state["var"][k, d]), np.log(share / (1 - share))])
    found = minimize(
        negative,
        x + np.array([0.02, 0.1, 0.2]),
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-10},
    )
    assert -found.fun <= best + 1e-8 * abs(best)
    assert -found.fun >= best - 1e-6 * abs(best)


@pytest.mark.parametrize("kind", [kernels.BERNOULLI, kernels.BOHNING, kernels.POISSON])
def test_the_quadratic_lies_below_the_likelihood(kind):
    """C + B x - T x^2 / 2 touches log p(y | x) at the local parameter and is nowhere above."""
    x = np.linspace(-12, 12, 2001)
    for y in (0.0, 1.0) if kind != kernels.POISSON else (0.0, 1.0, 7.0, 40.0):
        if kind == kernels.POISSON:
            rate = np.logaddexp(0, x)
            exact = y * np.log(rate) - rate - gammaln(y + 1)
        else:
            exact = y * x - np.logaddexp(0, x)
        for at in (-6.0, -0.3, 0.0, 1e-4, 2.5):
            T, B, C = kernels.bound(kind, y, at, 0.0)
            below = C + B * x - T * x**2 / 2
            assert (below <= exact + 1e-9 * np.abs(exact).max()).all()
            touch = C + B * at - T * at**2 / 2
            assert touch == pytest.approx(np.interp(at, x, exact), abs=2e-4)


def test_gaussian_terms_by_hand():
    """The likelihood term of a Gaussian view against the textbook form."""
    model, plan, state = tools.start({"min_r2": 0.0}, words=("gaussian",) * 3)
    tools.whole_sweeps(model, plan, state, 3)
    mean = state["w"].T @ state["z"]
    spread = state["ww"].T @ state["zz"] - (state["w"] ** 2).T @ state["z"] ** 2
    raw = np.concatenate([state["cells"][str(m)]["y"] for m in range(3)]).astype(float)
    known = np.concatenate([state["cells"][str(m)]["known"] for m in range(3)])
    square = (known * ((raw - mean) ** 2 + spread)).sum(axis=1)
    log_tau = digamma(state["tau_shape"][0]) - np.log(state["tau_rate"][0])
    cells = known.sum(axis=1)
    by_hand = (cells * (log_tau - np.log(2 * np.pi)) / 2 - state["scale"][0] * square / 2).sum()
    assert bound_terms(state, plan.params)["likelihood"] == pytest.approx(by_hand, rel=1e-10)
