"""Densities of rows of several views given all others: against sums over all blocks and clusters, and exact leaving out."""

from dataclasses import replace

import numpy as np
import pytest
from dp_tools import Chain
from mv_rows import GIVEN, Placed, plain
from mv_tools import GAP, MODEL, keep, matrices, posterior, settings
from plaid_tools import with_fault

from plaidwork.core.api import ModelData
from plaidwork.core.findings.predictive import densities_of
from plaidwork.plugins.dirichlet_processes.multi_view import leaving_out
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import newcomers


def without(values, i):
    out = values.astype(float).copy()
    out[i] = GAP
    return out


PLACED = Placed()


def distances():
    """Of densities of all rows of all views from sums over all blocks and clusters, the largest; a row without cells has to be NaN."""
    data, params = matrices(**GIVEN), plain()
    chain, off = Chain([PLACED.draw(data, params)]), []
    for v, name in enumerate(GIVEN):
        found = MODEL.log_likelihood(chain, np.array([0]), data, params, v, np.arange(5), None)[0]
        for i in range(5):
            if np.isnan(GIVEN[name][i]).all():
                assert np.isnan(found[i])
                continue
            less = {**GIVEN, name: without(GIVEN[name], i)}
            off.append(abs(found[i] - PLACED.summed(GIVEN, i, params) + PLACED.summed(less, i, params)))
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
    "members that lack a view count in it": ("share_of", "seen = links.present[k, v] if", "seen = links.members[k] if"),
    "a new cluster as likely as in an old one": ("weigh_row", "empty[v] = math.exp(fresh - top)", "empty[v] = 1.0"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_leaving_out_are_found(fault, monkeypatch):
    name, old, new = FAULTS[fault]
    wrong = with_fault(getattr(newcomers, name), old, new)
    if name == "share_of":
        name, wrong = "log_blocks", with_fault(newcomers.log_blocks, share_of=wrong)
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
    clusters = (tuple(-1 if np.isnan(row).all() else k for k, row in zip(PLACED.clusters[0], fitted["a"], strict=True)), *PLACED.clusters[1:])  # fmt: skip
    placed = replace(PLACED, clusters=clusters)
    found = MODEL.log_likelihood(
        Chain([placed.draw(data, params)]), np.array([0]), data, params, 0, np.arange(5), None
    )[0]
    for i in range(5):
        if not hidden[i].any():
            assert np.isnan(found[i])
            continue
        more = {**fitted, "a": fitted["a"].copy()}
        more["a"][i] = GIVEN["a"][i]
        expected = placed.summed(more, i, params) - placed.summed(fitted, i, params)
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
