"""Densities of rows of several views given all others: against sums over all blocks and clusters, and exact leaving out."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from dp_tools import Chain, column_evidence
from mv_tools import MODEL, keep, matrices, posterior, settings
from plaid_tools import with_fault
from scipy.special import gammaln

from plaidwork.core.api import ModelData
from plaidwork.core.findings.predictive import densities_of
from plaidwork.plugins.dirichlet_processes.multi_view import leaving_out
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import newcomers

GAP = np.nan
GIVEN = {
    "a": np.array([[0.1, 1.0], [0.4, GAP], [2.1, 0.2], [2.4, -0.5], [GAP, GAP]]),
    "b": np.array([[0, 1], [0, 2], [1, 2], [GAP, GAP], [1, 0]]),
    "c": np.array([[3.0], [1.0], [GAP], [6.0], [2.0]]),
}
"""Each view is lacked by one sample."""
KINDS = "gaussian, categorical, poisson"
BLOCKS = (0, 0, 1, 1, 0)
CLUSTERS = ((0, 1, 1, 1, -1), (0, 0, 1, -1, 0), (0, 1, -1, 2, 0))
"""The first cluster of the first view, and two of the third, have one sample of their own."""
BETA = ((0.5, 0.3), (0.25, 0.45), (0.3, 0.2, 0.4))
LAW = (0.9, (1.2, 0.7, 2.0), (1.4, 1.1, 0.8))


def drawn(data, params):
    """One draw with these blocks, clusters and weights."""
    state = MODEL.init(data, params, np.random.default_rng(1))
    kept = {
        **MODEL.draws(state, data, params),
        "block_of": np.array(BLOCKS),
        "cluster_of": np.array(CLUSTERS),
        "n_clusters": np.array([len(one) for one in BETA]),
        "weight": np.concatenate(BETA),
        "concentrations": np.array([LAW[0], *LAW[1], *LAW[2]]),
    }
    return Chain([kept])


def log_prior(blocks, clusters):
    """Log of the density of blocks and clusters given the weights (page, 6.2); the cluster behind those there are has what is left."""
    blocks = np.array(blocks)
    sizes = np.bincount(blocks)
    sizes = sizes[sizes > 0]
    total = len(sizes) * math.log(LAW[0]) + gammaln(sizes).sum()
    total += math.lgamma(LAW[0]) - math.lgamma(LAW[0] + len(blocks))
    for labels, beta, alpha in zip(np.array(clusters), BETA, LAW[1], strict=True):
        weight = alpha * np.append(beta, 1.0 - sum(beta))
        for k in np.unique(blocks):
            inside = (blocks == k) & (labels >= 0)
            uses = np.bincount(labels[inside], minlength=len(weight))
            total += math.lgamma(alpha) - math.lgamma(alpha + inside.sum())
            total += (gammaln(weight + uses) - gammaln(weight)).sum()
    return total


def log_data(given, clusters, params):
    """Log density of all known cells given the clusters, from scipy's formulas."""
    total = 0.0
    for (name, values), labels, kind in zip(given.items(), clusters, KINDS.split(", "), strict=True):
        for k, j in itertools.product(range(max(labels) + 1), range(values.shape[1])):
            inside = (np.array(labels) == k) & ~np.isnan(values[:, j])
            total += column_evidence(values[inside, j], int(np.nanmax(GIVEN[name][:, j])) + 1, kind, params)
    return total


def places_of(given, blocks, clusters, i):
    """All blocks and clusters that row i can have, new ones included; of a view that it lacks none."""
    there = [~np.isnan(values[i]).all() for values in given.values()]
    choices = [range(len(beta) + 1) if has else (-1,) for beta, has in zip(BETA, there, strict=True)]
    return itertools.product(range(max(blocks) + 2), *choices)


def summed(given, i, params, blocks=BLOCKS, clusters=CLUSTERS):
    """Log of the sum over all block and clusters of row i of the density of everything."""
    found = []
    for k, *own in places_of(given, blocks, clusters, i):
        t, z = list(blocks), [list(labels) for labels in clusters]
        t[i] = k
        for labels, one in zip(z, own, strict=True):
            labels[i] = one
        found.append(log_prior(t, z) + log_data(given, z, params))
    return np.logaddexp.reduce(found)


def without(values, i):
    out = values.astype(float).copy()
    out[i] = GAP
    return out


def plain(**changed):
    return settings(likelihoods=KINDS, **changed)


def distances():
    """Of densities of all rows of all views from sums over all blocks and clusters, the largest; a row without cells has to be NaN."""
    data, params = matrices(**GIVEN), plain()
    chain, off = drawn(data, params), []
    for v, name in enumerate(GIVEN):
        found = MODEL.log_likelihood(chain, np.array([0]), data, params, v, np.arange(5), None)[0]
        for i in range(5):
            if np.isnan(GIVEN[name][i]).all():
                assert np.isnan(found[i])
                continue
            less = {**GIVEN, name: without(GIVEN[name], i)}
            off.append(abs(found[i] - (summed(GIVEN, i, params) - summed(less, i, params))))
    return max(off)


def test_density_of_a_row_given_all_others():
    assert distances() < 1e-9


FAULTS = {
    "the row left in its block": ("leave_out", "put(links, fitted.has, z, i, t[i], -1)", "pass"),
    "the row left in its clusters": (
        "leave_out", "remove(c, z[v, i], items_of(fitted, v), i, law_of(fitted, bases, v))", "pass",
    ),
    "the other views forgotten": ("leave_out", "out[place] = more - less", "out[place] = more"),
    "no new block": ("log_blocks", "a0 if k == blocks else", "0.0 if k == blocks else"),
    "members that lack a view count in it": ("log_share", "seen = links.present[k, v] if", "seen = links.members[k] if"),
    "a new cluster as likely as in an old one": ("weigh_row", "empty[v] = math.exp(fresh - top)", "empty[v] = 1.0"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_leaving_out_are_found(fault, monkeypatch):
    name, old, new = FAULTS[fault]
    wrong = with_fault(getattr(newcomers, name), old, new)
    if name == "log_share":
        name, wrong = "log_blocks", with_fault(newcomers.log_blocks, log_share=wrong)
    if name != "leave_out":
        wrong = with_fault(newcomers.leave_out, **{name: wrong})
    monkeypatch.setattr(leaving_out, "leave_out", wrong)
    assert distances() > 1e-3


def test_held_out_cells_given_all_that_was_fitted():
    """All cells of a row, so that the fit has it without the view, and one of two."""
    whole, params = matrices(**GIVEN), plain()
    first, *others = whole["views"]
    hidden = np.zeros(first.shape, bool)
    hidden[1, 0] = hidden[2] = True
    hidden[0, 1] = True
    values = np.where(hidden, 0.0, first.values)
    less = replace(
        first, values=values, observed=first.observed & ~hidden, held_out=hidden, truth=first.values
    )
    data = ModelData({"views": (less, *others)})
    fitted = {**GIVEN, "a": np.where(hidden, GAP, GIVEN["a"])}
    clusters = (tuple(-1 if np.isnan(row).all() else k for k, row in zip(CLUSTERS[0], fitted["a"], strict=True)), *CLUSTERS[1:])  # fmt: skip
    kept = drawn(data, params).found[0] | {"cluster_of": np.array(clusters)}
    found = MODEL.log_likelihood(Chain([kept]), np.array([0]), data, params, 0, np.arange(5), None)[0]
    for i in range(5):
        if not hidden[i].any():
            assert np.isnan(found[i])
            continue
        more = {**fitted, "a": fitted["a"].copy()}
        more["a"][i] = GIVEN["a"][i]
        expected = summed(more, i, params, BLOCKS, clusters) - summed(fitted, i, params, BLOCKS, clusters)
        assert found[i] == pytest.approx(expected, abs=1e-9)


def test_unit_of_the_data():
    numbers = np.round(np.random.default_rng(2).normal(size=(12, 2)), 2)
    params, found = settings(likelihoods="gaussian, gaussian", standardise=True), []
    for scale in (1.0, 10.0):
        data = matrices(a=scale * numbers, b=numbers)
        state = MODEL.init(data, params, np.random.default_rng(1))
        chain = Chain([dict(MODEL.draws(state, data, params))])
        found.append([
            MODEL.log_likelihood(chain, np.array([0]), data, params, v, np.arange(12), None)[0]
            for v in range(2)
        ])  # fmt: skip
    assert found[1][0] == pytest.approx(found[0][0] - 2 * np.log(10.0), abs=1e-8)
    assert found[1][1] == pytest.approx(found[0][1], abs=1e-8)


@pytest.mark.slow
def test_leaving_out_by_weights_is_exact_leaving_out():
    """PSIS of draws against the ratio of sums over all blocks and clusters with and without each row."""
    given = {"a": np.array([[0.1], [0.4], [2.1], [2.4]]), "b": np.array([[0.2], [GAP], [1.5], [1.9]])}
    params = settings(likelihoods="gaussian, gaussian", moves=1, block_moves=1)
    data = matrices(**given)
    score = densities_of(MODEL, data, params, keep(data, params, 4, 50, 1200)).score()

    def evidence(views):
        return np.logaddexp.reduce(posterior(matrices(**views), params)[1])

    expected = [
        evidence(given) - evidence({**given, name: without(values, i)})
        for name, values in given.items()
        for i in range(4)
        if not np.isnan(values[i]).all()
    ]
    assert score.elpd == pytest.approx(expected, abs=0.02)
