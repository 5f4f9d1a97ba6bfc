"""Clusters of several views: planted dependence is found, results say it in words, bad input is told."""

import numpy as np
import pytest
from mv_tools import MODEL, adjusted_rand, keep, matrices, planted, settings, sweep, true_information

from plaidwork.core.api import Clock, ModelError
from plaidwork.plugins.dirichlet_processes.base import log_prior
from plaidwork.plugins.dirichlet_processes.multi_view import model
from plaidwork.plugins.dirichlet_processes.multi_view.dependence import (
    Shares,
    information,
    shares_of,
    shares_of_draw,
)
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.information import entropy, mutual_information
from plaidwork.plugins.dirichlet_processes.multi_view.model import problems_of
from plaidwork.plugins.dirichlet_processes.multi_view.state import tables_of
from plaidwork.plugins.dirichlet_processes.multi_view.sweep import log_joint

DEFAULTS = MODEL.spec.check_params({})
CLOSE = 0.04
"""Nats between the posterior mean and the mutual information of the planted clusters: the bias of the table, down by some .03."""


def shown_rand(found, truth):
    """Adjusted Rand index of each view."""
    labels = found["labels"].values
    return [adjusted_rand(one[one >= 0], other[one >= 0]) for one, other in zip(labels, truth, strict=True)]


@pytest.mark.long
def test_planted_blocks_shortly():
    data, truth = planted("block", n=120)
    found = MODEL.summarise(keep(data, DEFAULTS, 2, 60, 60), data, DEFAULTS)
    assert min(shown_rand(found, truth)) > 0.9
    assert found["mutual_information"].values[0] == pytest.approx(true_information(data, truth), abs=0.12)
    assert found["headline"].startswith("“a” and “b” share 0.")
    assert found["mutual_information"].values[0] > 5 * found["chance_information"].values[0]
    cells, expected = found["cells_1_2"].values, found["expected_1_2"].values
    both = np.all([block.observed.any(axis=1) for block in data["views"]], axis=0).sum()
    assert cells.sum() == both
    assert expected.sum() == pytest.approx(both, rel=0.1)
    low, high = np.moveaxis(found["expected_interval_1_2"].values, -1, 0)
    assert np.all(low <= high)
    table = found["assignments"]
    assert table.columns["a"][~data["views"][0].observed.any(axis=1)].tolist() == [""] * int(
        (~data["views"][0].observed.any(axis=1)).sum()
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["identical", "block", "independent"])
def test_planted_dependence(kind):
    data, truth = planted(kind)
    kept = keep(data, DEFAULTS, 3, 300, 300)
    found = MODEL.summarise(kept, data, DEFAULTS)
    assert min(shown_rand(found, truth)) >= 0.95
    mutual = np.concatenate([chain.stack("mutual") for chain in kept.chains])
    if kind == "independent":
        assert np.quantile(mutual, 0.95) < 0.03
        assert "no more than by chance" in found["headline"]
    else:
        assert mutual.mean() == pytest.approx(true_information(data, truth), abs=CLOSE)


def test_information_of_known_tables():
    tied = np.eye(4) / 4
    assert mutual_information(tied) == pytest.approx(np.log(4))
    assert mutual_information(np.full((3, 5), 1 / 15)) == pytest.approx(0.0, abs=1e-12)
    assert entropy(np.array([0.5, 0.5, 0.0])) == pytest.approx(np.log(2))


@pytest.mark.long
def test_a_draw_has_the_table_of_its_state_and_averages_are_of_its_information():
    data, _ = planted("block", n=60)
    rng = np.random.default_rng(3)
    state = MODEL.init(data, DEFAULTS, rng)
    for number in range(5):
        sweep(state, data, DEFAULTS, rng, number)
    draw = MODEL.draws(state, data, DEFAULTS)
    one, other = shares_of(state), shares_of_draw(draw)
    for a, b in zip((one.block, *one.view), (other.block, *other.view), strict=True):
        assert b == pytest.approx(a, abs=1e-12)
    assert one.joint(0, 1).sum() == pytest.approx(1.0)
    found = information(one)
    assert draw["mutual"][0] == found[0] == pytest.approx(mutual_information(one.joint(0, 1)))
    assert found[-1] == found[0]


def test_information_is_that_of_the_tables():
    """Of three views with blocks and clusters by chance, beside sums by numpy."""
    rng = np.random.default_rng(4)
    block = rng.dirichlet(np.ones(4))
    views = tuple(rng.dirichlet(np.ones(width), 4) for width in (3, 2, 5))
    whole = np.einsum("k,ka,kb,kc->abc", block, *views)
    alone = [-np.sum(one * np.log(one)) for one in (whole.sum((1, 2)), whole.sum((0, 2)), whole.sum((0, 1)))]
    pairs = [-np.sum(one * np.log(one)) for one in (whole.sum(2), whole.sum(1), whole.sum(0))]
    mutual = [alone[0] + alone[1] - pairs[0], alone[0] + alone[2] - pairs[1], alone[1] + alone[2] - pairs[2]]
    total = sum(alone) + np.sum(whole * np.log(whole))
    assert information(Shares(block, views)) == pytest.approx([*mutual, *alone, total], abs=1e-12)


MANY = {"learn": False, "block_alpha": 20.0, "alpha": 20.0, "gamma": 40.0}
"""So many blocks and clusters that there is no room for them at first."""


@pytest.mark.long
@pytest.mark.parametrize("more", [{}, MANY])
def test_a_short_sweep_is_that_of_more_stages(more, monkeypatch):
    """Few samples take two stages, the first of them one kernel, and many six; the draws are the same to the last bit, also where room is made."""
    data, _ = planted("block", n=30)
    params = MODEL.spec.check_params({**DEFAULTS, **more})
    found = []
    for few in (model.FEW, 0):
        monkeypatch.setattr(model, "FEW", few)
        rng = np.random.default_rng(3)
        state = MODEL.init(data, params, rng)
        room = state["links"]["slots"].sum(), len(state["links"]["members"])
        for number in range(20):
            stages = MODEL.stages(state, data, params, rng, Clock(number, 0))
            assert len(stages) == (2 if few else 6)
            sweep(state, data, params, rng, number)
        grown = state["links"]["slots"].sum() > room[0], len(state["links"]["members"]) > room[1]
        assert all(grown) or not more
        found.append({**MODEL.draws(state, data, params), "random": rng.random()})
    assert all(np.array_equal(found[0][name], found[1][name]) for name in found[0])


def test_log_prior_of_the_bases_is_that_of_the_mixture():
    """Of numbers, categories and counts, by a kernel."""
    data = matrices(a=[[0.1], [0.4], [2.1]], b=[[0.0], [1.0], [1.0]], c=[[2.0, 1.0], [0.0, 4.0], [7.0, 3.0]])
    params = settings(
        likelihoods="gaussian, categorical, poisson", learn_base=True, rate_shape=1.7, mean_weight=0.6
    )
    tables, rng = tables_of(data, params), np.random.default_rng(5)
    state = MODEL.init(data, params, rng)
    for number in range(3):
        sweep(state, data, params, rng, number)
    right = sum(
        log_prior(base, params, table) for base, table in zip(state["base"], tables.tables, strict=True)
    )
    fixed = {**params, "learn_base": False}
    assert log_joint(state, tables, params) - log_joint(state, tables, fixed) == pytest.approx(
        right, abs=1e-9
    )


def test_total_correlation_of_three_views():
    """Two views alike and one apart: what three share is what the two share."""
    alike, apart = np.eye(2), np.full((2, 3), 1 / 3)
    found = information(Shares(np.array([0.5, 0.5]), (alike, alike, apart)))
    assert found == pytest.approx([np.log(2), 0, 0, np.log(2), np.log(2), np.log(3), np.log(2)], abs=1e-12)


def test_one_matrix_is_not_enough():
    data = matrices(a=np.random.default_rng(1).normal(size=(6, 2)))
    found = problems_of(data, settings(likelihoods="gaussian"))
    assert found[0].severity == "error"
    assert found[0].message.startswith("Only one matrix is chosen")
    with pytest.raises(ModelError, match="Only one matrix"):
        MODEL.init(data, settings(likelihoods="gaussian"), np.random.default_rng(1))


def test_views_without_a_sample_in_common_are_told():
    first, second = np.full((6, 1), np.nan), np.full((6, 1), np.nan)
    first[:3], second[3:] = 1.5, 2.5
    found = problems_of(matrices(a=first, b=second), settings(likelihoods="gaussian"))
    assert any(one.message == "No sample has both “a” and “b”." for one in found)
