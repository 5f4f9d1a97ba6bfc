"""Frequencies of all blocks and clusters of four samples in two views against their enumeration, for each kind of move; faults are found."""

import itertools

import numpy as np
import pytest
from mv_tools import FEW, LACKING, MODEL, matrices, posterior, settings, smallest_p, sweep
from plaid_tools import with_fault

from plaidwork.plugins.dirichlet_processes.base import first_base
from plaidwork.plugins.dirichlet_processes.kernels.scan import evidence
from plaidwork.plugins.dirichlet_processes.multi_view import model
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import block_moves, cluster_moves, samples
from plaidwork.plugins.dirichlet_processes.multi_view.state import (
    clusters_at,
    grow,
    law_of_view,
    new_state,
    tables_of,
)
from plaidwork.plugins.dirichlet_processes.multi_view.sweep import Updates, log_joint

ENOUGH = 1e-3
"""A right sampler's smallest p value, corrected for their number, is below it in one of a thousand seeds."""
FOUND = 1e-6
"""A fault has to show more clearly than that."""
KINDS = {
    "samples": {},
    "clusters split and merged": {"moves": 2},
    "blocks split and merged": {"block_moves": 3},
    "all moves": {"moves": 1, "block_moves": 2, "scans": 1},
}
DATA = {"both views": FEW, "samples that lack a view": LACKING}


@pytest.mark.long
def test_frequencies_shortly():
    """In fewer sweeps a rare partition may never come, which is no fault."""
    assert smallest_p(matrices(**LACKING), settings(moves=1, block_moves=1), 12_000) > ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize(("data", "kind"), [*itertools.product(DATA, KINDS)])
def test_frequencies_of_all_blocks_and_clusters(data, kind):
    assert smallest_p(matrices(**DATA[data]), settings(**KINDS[kind]), 20_000, seed=2) > ENOUGH


def by_stages(monkeypatch):
    """Sweeps of separate stages, each of which can have a fault: draws are those of a sweep in one kernel (``test_views.py``)."""
    monkeypatch.setattr(model, "FEW", 0)


def seldom_drawn(monkeypatch):
    """Sweeps of moves alone but every fourth, so that faults of moves show."""
    by_stages(monkeypatch)
    for name in ("draw_samples", "draw_blocks"):
        drawn, right = itertools.count(), getattr(samples, name)
        monkeypatch.setattr(
            samples,
            name,
            lambda *given, drawn=drawn, right=right: right(*given) if next(drawn) % 4 == 0 else given[-1],
        )


MOVE_FAULTS = {
    "blocks without the weight of a new one": (block_moves, "log_gain", "math.log(a0) + ", ""),
    "blocks without the proposal": (block_moves, "try_move", "gain -= log_q", "gain -= 0.0"),
    "a merge of blocks accepted like a split": (block_moves, "try_move", "gain if split else -gain", "gain"),
    "weights of clusters without their part": (cluster_moves, "log_gain", "- math.log(u) - math.log(1.0 - u)", ""),
    "clusters without the proposal": (cluster_moves, "try_move", "gain -= log_q", "gain -= 0.0"),
    "merges of clusters refused early that may be accepted": (cluster_moves, "try_move", "level >= -gain:", "level >= -gain - 1.0:"),
    "merges of blocks refused early that may be accepted": (block_moves, "try_move", "level >= -gain:", "level >= -gain - 1.0:"),
    "blocks counted twice after an early look": (cluster_moves, "try_move", "sides.own[:] = 0.0", "sides.own[:] *= 1.0"),
    "blocks do not count": (cluster_moves, "log_gain", "log_places(sides.own[s], sides.weights[s]) + ", ""),
    "a merge of clusters accepted like a split": (cluster_moves, "try_move", "gain if sides.split else -gain", "gain"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["", *MOVE_FAULTS])
def test_faults_of_a_move_are_found(fault, monkeypatch):
    seldom_drawn(monkeypatch)
    if fault:
        module, name, old, new = MOVE_FAULTS[fault]
        wrong = with_fault(getattr(module, name), old, new)
        move = wrong if name == "try_move" else with_fault(module.try_move, **{name: wrong})
        monkeypatch.setattr(module, "make_moves", with_fault(module.make_moves, try_move=move))
    p = smallest_p(matrices(**FEW), settings(moves=2, block_moves=4, scans=1), 20_000)
    assert p < FOUND if fault else p > ENOUGH


SAMPLE_FAULTS = {
    "members that lack a view count in it": (
        "draw_samples", "share_of", "seen = links.present[k, v] if", "seen = links.members[k] if",
    ),
    "a block without its size": (
        "draw_samples", "draw_samples", "size = float(links.members[k])", "size = 1.0",
    ),
    "a new block as likely as in a process of another weight": (
        "draw_samples", "draw_samples", "-1, density, empty, a0", "-1, density, empty, 3.0 * a0",
    ),
    "a new cluster takes all that is left": ("draw_samples", "found_cluster", "kept = ", "kept = 0.01 * "),
    "a new cluster forgotten in the weight of a block": (
        "draw_samples", "share_of", "total = alpha * links.rest[v] * empty", "total = 0.0",
    ),
    "blocks given clusters without those of the others": (
        "draw_blocks", "chance_of", "links.uses[k, s] + ", "",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("fault", SAMPLE_FAULTS)
def test_faults_of_a_sample_are_found(fault, monkeypatch):
    by_stages(monkeypatch)
    kernel, name, old, new = SAMPLE_FAULTS[fault]
    wrong = with_fault(getattr(samples, name), old, new)
    if name == "found_cluster":
        wrong = with_fault(samples.draw_cluster, found_cluster=wrong)
        wrong = with_fault(samples.draw_samples, draw_cluster=wrong)
    elif name == "share_of":
        wrong = with_fault(samples.draw_samples, log_weight=with_fault(samples.log_weight, share_of=wrong))
    elif name != kernel:
        wrong = with_fault(getattr(samples, kernel), **{name: wrong})
    monkeypatch.setattr(samples, kernel, wrong)
    assert smallest_p(matrices(**LACKING), settings(), 20_000) < FOUND


@pytest.mark.long
@pytest.mark.parametrize(
    "key", [((0, 0, 1, 1), (0, 0, 0, 0), (0, 0, 0, 0)), ((0, 0, 0, 1), (0, 0, 1, 1), (0, 0, 0, 0))]
)
def test_log_joint_integrates_to_the_density_of_blocks_and_clusters(key):
    """Over the weights of the clusters of both views, by a midpoint rule."""
    data, params = matrices(**FEW), settings()
    tables, rng = tables_of(data, params), np.random.default_rng(4)
    found, density = posterior(data, params)
    middle = (np.arange(18) + 0.5) / 18
    grids = []
    for labels in key[1:]:  # weights of one or two clusters, the second a part of what the first leaves
        parts = itertools.product(middle, repeat=max(labels) + 1)
        grids.append(
            [
                (p if len(p) == 1 else (p[0], (1 - p[0]) * p[1]), 1.0 if len(p) == 1 else 1 - p[0])
                for p in parts
            ]
        )
    total = []
    for (one, volume), (two, other) in itertools.product(*grids):
        beta = [np.array(one), np.array(two)]
        rest = np.array([1.0 - sum(one), 1.0 - sum(two)])
        law = (params["block_alpha"], np.full(2, params["alpha"]), np.full(2, params["gamma"]))
        bases = [first_base(params, 1, int(row[0]), int(row[3])) for row in tables.widths]
        state = new_state(np.array(key[0]), np.array(key[1:]), tables.widths, bases, law, beta, rest)
        Updates(state, tables, params, rng).begin()
        Updates(state, tables, params, rng).count(0, 4)
        for v, base in enumerate(bases):
            law_v = law_of_view(base, tables.tables[v], params)
            state["log_evidence"][v] = evidence(clusters_at(state, tables, v), max(key[v + 1]) + 1, law_v)
        total.append(log_joint(state, tables, params) + np.log(volume * other))
    cells = 18 ** sum(max(labels) + 1 for labels in key[1:])
    log = np.logaddexp.reduce(total) - np.log(cells)
    constant = sum(table.constant for table in tables.tables)
    assert log == pytest.approx(density[found.index(key)] + constant, abs=0.06)


def test_room_grows_without_a_change_of_what_is_there():
    """More clusters than slots: what was counted stays."""
    data, params = matrices(**FEW), settings()
    rng = np.random.default_rng(1)
    state = MODEL.init(data, params, rng)
    sweep(state, data, params, rng, 0)
    tables = tables_of(data, params)
    before = [[array.copy() for array in clusters_at(state, tables, v)] for v in range(2)]
    uses, beta = state["links"]["uses"].copy(), state["links"]["beta"].copy()
    slots, members = state["links"]["slots"].copy(), state["links"]["members"].copy()
    state["links"]["high"][0] = slots[0]
    grow(state, tables)
    assert state["links"]["slots"].tolist() == [2 * slots[0], slots[1]]
    for v in range(2):
        for old, new in zip(before[v], clusters_at(state, tables, v), strict=True):
            assert np.array_equal(new[: slots[v]], old)
            assert not new[slots[v] :].any()
    first = state["links"]["first"]
    assert np.array_equal(state["links"]["uses"][:, : slots[0]], uses[:, : slots[0]])
    assert np.array_equal(state["links"]["uses"][:, first[1] :], uses[:, slots[0] :])
    assert np.array_equal(state["links"]["beta"][first[1] :], beta[slots[0] :])
    assert np.array_equal(state["links"]["members"], members)
