"""Densities of single samples given all others: against sums over all clusters, and leaving out against the exact answer."""

from dataclasses import replace

import numpy as np
import pytest
from dp_tools import (
    LEARNED,
    MODEL,
    Chain,
    keep,
    log_weights,
    matrices,
    partitions,
    planted,
    settings,
)
from plaid_tools import with_fault

from plaidwork.core.api import ModelData
from plaidwork.core.findings.predictive import densities_of
from plaidwork.plugins.dirichlet_processes import leaving_out
from plaidwork.plugins.dirichlet_processes.kernels import newcomers

GAP = np.nan
NUMBERS = np.array([[0.1, 1.0], [0.5, 0.2], [2.0, 0.4], [2.2, -1.0], [GAP, 0.3]])
CODES = np.array(
    [[0, 1], [0, 2], [1, 2], [1, GAP], [0, 0]]
)  # the highest level twice, so that it stays when a row is left out
COUNTS = np.array([[0, 3], [1, 4], [6, 1], [5, GAP], [2, 2]])
SHARED = np.array([[2, 0, 1], [1, 0, 0], [0, 3, 1], [0, 12, 9], [1, 1, 0]])
CASES = {
    "gaussian": {"a": NUMBERS},
    "gaussian_full": {"a": NUMBERS},
    "categorical, poisson": {"a": CODES, "b": COUNTS},
    "gaussian_full, gaussian": {"a": NUMBERS, "b": NUMBERS[:, ::-1]},
    "multinomial, poisson": {"a": SHARED, "b": COUNTS},
}
LABELS = (0, 0, 1, 1, 0)


def drawn(data, params, labels=LABELS):
    """One draw with these clusters."""
    state = MODEL.init(data, params, np.random.default_rng(1))
    return Chain(
        [{**MODEL.draws(state, data, params), "cluster_of": np.array(labels), "n_clusters": max(labels) + 1}]
    )


def summed(data, params, i, labels=LABELS):
    """Log of the joint density of partition and data, summed over the clusters that row i can be in."""
    others = [k for j, k in enumerate(labels) if j != i]
    rank = {k: at for at, k in enumerate(dict.fromkeys(others))}
    found = []
    for k in range(len(rank) + 1):
        moved = [rank[one] for one in others]
        moved.insert(i, k)
        first = {one: at for at, one in enumerate(dict.fromkeys(moved))}
        found.append(log_weights(tuple(first[one] for one in moved), data, params, of=5))
    return np.logaddexp.reduce(found)


def without(values, i):
    out = values.astype(float).copy()
    out[i] = GAP
    return out


@pytest.mark.parametrize("likelihoods", CASES)
@pytest.mark.parametrize("prior", ["dirichlet", "pitman_yor", "finite"])
def test_density_of_a_row_given_all_others(likelihoods, prior):
    params = settings(likelihoods=likelihoods, prior=prior, alpha=0.8, discount=0.3)
    given = CASES[likelihoods]
    data = matrices(**given)
    for v, name in enumerate(given):
        # of the others no correlated cell may be missing, as it would matter which was drawn
        rows = np.array([4]) if "full" in likelihoods else np.arange(5)
        found = MODEL.log_likelihood(drawn(data, params), np.array([0]), data, params, v, rows, None)[0]
        for place, i in enumerate(rows):
            less = matrices(**{**given, name: without(given[name], i)})
            expected = summed(data, params, i) - summed(less, params, i)
            tolerance = 1e-5 if "full" in likelihoods else 1e-9  # a sum over a grid of the missing cell
            assert found[place] == pytest.approx(expected, abs=tolerance)


def test_unit_of_the_data_and_rows_without_cells():
    x = np.concatenate([NUMBERS[:4], [[GAP, GAP]]])
    found = []
    for scale in (1.0, 10.0):
        for kind in ("gaussian", "gaussian_full"):
            data, params = matrices(a=scale * x), settings(likelihoods=kind, standardise=True)
            found.append(
                MODEL.log_likelihood(drawn(data, params), np.array([0]), data, params, 0, np.arange(5), None)[
                    0
                ]
            )
    for one, other in ((found[0], found[2]), (found[1], found[3])):
        assert other[:4] == pytest.approx(one[:4] - 2 * np.log(10.0), abs=1e-8)
        assert np.isnan(one[4])


def exact(data, params, i):
    """Log density of row i given all others, by enumeration of all partitions."""
    values = data["views"][0].values
    both = [matrices(a=values), matrices(a=without(values, i))]
    return np.subtract(
        *(np.logaddexp.reduce([log_weights(z, one, params, of=5) for z in partitions(5)]) for one in both)
    )


@pytest.mark.long
def test_leaving_out_by_weights_is_exact_leaving_out():
    data, params = matrices(a=np.round(NUMBERS[:, 1:], 2)), settings(likelihoods="gaussian", alpha=0.8)
    score = densities_of(MODEL, data, params, keep(data, params, chains=4, warmup=50, draws=800)).score()
    assert score.elpd == pytest.approx([exact(data, params, i) for i in range(5)], abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("likelihoods", ["gaussian", "gaussian_full"])
def test_weights_can_be_relied_on(likelihoods):
    """Of planted clusters hardly a sample has so long a tail of weights that it cannot be left out by them."""
    values, _ = planted(80)
    data, params = matrices(a=values), settings(**LEARNED, likelihoods=likelihoods)
    score = densities_of(MODEL, data, params, keep(data, params, chains=2, warmup=60, draws=250)).score()
    assert score.unreliable <= 0.1
    assert len(score.elpd) == 80


FAULTS = {
    "a new cluster weighed beside the row's own": ("law.log_new[used]", "law.log_new[number]"),
    "the row left in its cluster": ("remove(c, own, fitted, i, law)", "pass"),
    "the weight of the other cells forgotten": (
        "bottom, weight + log_known(c, k, rest, i, law)",
        "bottom, weight",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_leaving_out_are_found(fault, monkeypatch):
    monkeypatch.setattr(leaving_out, "leave_out", with_fault(newcomers.leave_out, *FAULTS[fault]))
    params = settings(likelihoods="categorical, poisson", alpha=0.8, prior="pitman_yor", discount=0.3)
    given = CASES["categorical, poisson"]
    data = matrices(**given)
    labels = (0, 0, 1, 2, 0)
    found = MODEL.log_likelihood(
        drawn(data, params, labels), np.array([0]), data, params, 0, np.arange(5), None
    )[0]
    expected = [
        summed(data, params, i, labels)
        - summed(matrices(**{**given, "a": without(given["a"], i)}), params, i, labels)
        for i in range(5)
    ]
    assert np.abs(found - expected).max() > 1e-3


HIDDEN = [[False, False], [True, True], [True, False], [False, False], [False, False]]
"""Of a row all cells, of another one of two; every category stays in the fit, as the enumeration counts them."""


def holding_out(given, whole):
    """The data with the cells of ``HIDDEN`` held out of the first matrix, or with those rows of which it hides the first."""
    first, *others = matrices(**given)["views"]
    hidden = np.array(HIDDEN)[:, :1].repeat(first.shape[1], 1) if whole else np.array(HIDDEN)
    hidden &= first.observed
    values = np.where(hidden, 0.0, first.values)
    less = replace(
        first, values=values, observed=first.observed & ~hidden, held_out=hidden, truth=first.values
    )
    return ModelData({"views": (less, *others)})


def off_held_out(likelihoods):
    """Largest distance of densities of held-out cells from sums over all clusters; of rows without one, NaN has to be told."""
    params = settings(likelihoods=likelihoods, alpha=0.8, prior="pitman_yor", discount=0.3)
    given = CASES[likelihoods]
    data, name, labels = holding_out(given, "multinomial" in likelihoods), next(iter(given)), (0, 0, 1, 2, 0)
    chain = drawn(data, params, labels)
    found = MODEL.log_likelihood(chain, np.array([0]), data, params, 0, np.arange(5), None)[0]
    fitted = np.where(data["views"][0].observed, given[name], GAP)
    expected = np.full(5, GAP)
    for i in np.flatnonzero(data["views"][0].held_out.any(axis=1)):
        more = fitted.copy()
        more[i] = given[name][i]
        with_cells, without_cells = (matrices(**{**given, name: one}) for one in (more, fitted))
        expected[i] = summed(with_cells, params, i, labels) - summed(without_cells, params, i, labels)
    assert np.isnan(found).tolist() == np.isnan(expected).tolist()
    return float(np.nanmax(np.abs(found - expected)))


@pytest.mark.parametrize("likelihoods", ["gaussian", "categorical, poisson", "multinomial, poisson"])
def test_density_of_held_out_cells_given_all_that_was_fitted(likelihoods):
    assert off_held_out(likelihoods) < 1e-9


HELD_OUT_FAULTS = {
    "the known cells of the row forgotten": (
        "return block, more, meant",
        "return replace(block, observed=meant & False), more, meant",
    ),
    "the cells as the fit has them, not as they are": (
        "np.where(meant, block.truth, block.values)",
        "block.values",
    ),
}


@pytest.mark.parametrize("fault", HELD_OUT_FAULTS)
def test_faults_of_held_out_cells_are_found(fault, monkeypatch):
    wrong = with_fault(leaving_out.cells_meant, *HELD_OUT_FAULTS[fault])
    monkeypatch.setattr(leaving_out, "cells_meant", wrong)
    assert off_held_out("categorical, poisson") > 1e-3
