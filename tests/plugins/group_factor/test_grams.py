"""Weights and factor values from Gram matrices: as by passes over the cells, for a bound that rises, and faults are seen."""

import group_factor_tools as tools
import numpy as np
import pytest
from plaid_tools import with_fault

from plaidwork.core.draws.chain import copy_state
from plaidwork.plugins.group_factor import grams, kernels, local, singles, start, updates, weak

GAPS = {"missing": 0.2, "absent": 3}
CASES = {
    "all kinds": ({}, {"words": ("gaussian", "bernoulli", "poisson")}),
    "collapsed": ({"slab": "collapsed"}, {"words": ("bernoulli",) * 3}),
    "level views beside": ({"bernoulli_bound": "bohning"}, {"words": ("gaussian", "bernoulli", "poisson"), "missing": 0.0, "absent": 0}),
    "sample groups": ({}, {"words": ("gaussian", "bernoulli", "poisson"), "n_groups": 3}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_both_ways_find_the_same(case, monkeypatch):
    """In float64 to rounding; samples and features are more than are worked at once."""
    settings, made = CASES[case]
    monkeypatch.setattr(grams, "STRETCH", 7)
    monkeypatch.setattr(grams, "SAMPLES", 8)
    model, plan, state = tools.start({"dtype": "float64", **settings}, 5, **{**GAPS, **made})
    tools.whole_sweeps(model, plan, state, 2)
    n, d = state["z"].shape[1], len(state["lik"])
    assert n > 2 * grams.SAMPLES
    for only in (-1, 2):
        found = []
        for most in (40, 0):
            monkeypatch.setattr(grams, "MOST", most)
            own = copy_state(state)
            updates.update_weights(own, plan.params, 0, d, only)
            updates.update_scores(own, 0, n, only)
            found.append(own)
        for name in ("loc", "var", "gamma", "w", "ww", "z", "v", "zz"):
            np.testing.assert_allclose(found[0][name], found[1][name], rtol=1e-9, atol=1e-11, err_msg=name)
        assert (found[0]["z"] != state["z"]).any()


@pytest.mark.parametrize("case", CASES)
def test_passes_do_not_lower_the_bound(case, monkeypatch):
    monkeypatch.setattr(grams, "MOST", 0)
    settings, made = CASES[case]
    worst, count = tools.climb(*tools.start({**settings, "min_r2": 0.0}, 3, **{**GAPS, **made}), sweeps=6)
    assert count > 50
    assert worst <= 1e-9


FAULTS = {
    "the pair of another factor": (
        kernels, "scores_of_samples", "k * (k - 1) // 2 + j if j < k", "k * (k - 1) // 2 if j < k"),
    "the second moment of another factor": (kernels, "scores_of_samples", "gram[second + k, i]", "gram[second, i]"),
    "cells of a feature twice": (
        grams, "of_features", "cross[start:end] += (cells", "cross[start:end] += 2.0 * (cells"),
    "a part of the precision": (grams, "of_features", "_curvature(cells) @", "0.3 * _curvature(cells) @"),
    "weights of other features": (
        grams, "of_samples", "cross += first[start:end].T", "cross += first[start:end][::-1].T"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_lowers_the_bound(name, monkeypatch):
    module, target, old, new = FAULTS[name]
    made = {"seed": 4, "words": ("bernoulli",) * 3}
    settings = {"min_r2": 0.0, "dtype": "float64", "start_variance": 0.02}
    right, _ = tools.climb(*tools.start(settings, **made), sweeps=4)
    assert right <= 1e-9
    monkeypatch.setattr(module, target, with_fault(getattr(module, target), old, new))
    seen, _ = tools.climb(*tools.start(settings, **made), sweeps=4)
    assert seen > 1e-7


@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize("bound", ["jaakkola", "bohning"])
def test_deviances_in_float32_are_those_of_double_precision(n_groups, bound, monkeypatch):
    monkeypatch.setattr(start, "SINGLE_CELLS", 1)
    settings = {"bernoulli_bound": bound, "min_r2": 0.0}
    model, plan, state = tools.start(settings, 2, n_groups, n=250, words=("bernoulli",) * 3, **GAPS)
    tools.whole_sweeps(model, plan, state, 4)
    state["deviance"] = np.zeros((len(state["scale"]), len(state["z"]) + 3, 3))
    assert len(state["z"][0]) > 2 * singles.PRODUCT
    state["w"][1, ::3] = 0.0
    found = []
    for state["single"] in (0, 1):
        found.append(weak.measure(state, 0, len(state["lik"])))
    np.testing.assert_allclose(found[1], found[0], rtol=2e-6)
    assert (found[0] > 0).all()


def test_a_constant_is_a_line_without_a_slope():
    rng = np.random.default_rng(0)
    known, z = (rng.random(50) < 0.8).astype(float), rng.normal(size=50)
    for kind in (kernels.GAUSSIAN, kernels.BERNOULLI, kernels.BOHNING, kernels.POISSON):
        y = np.where(known > 0, rng.integers(0, 2, 50), -1).astype(float)
        wanted = local.line_deviance(kind, y, known, z, 0.0, 0.7)
        assert local.constant_deviance(kind, y, known, 0.7) == pytest.approx(wanted, rel=1e-12)
