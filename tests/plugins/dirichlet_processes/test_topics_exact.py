"""Frequencies of all partitions of six tokens against their enumeration, for each kind of sweep; faults are found."""

import itertools
import math

import numpy as np
import pytest
from hdp_tools import FEW, posterior, settings, smallest_p
from plaid_tools import with_fault

from plaidwork.plugins.dirichlet_processes.topics.corpus import read
from plaidwork.plugins.dirichlet_processes.topics.kernels import collapsed, split_merge
from plaidwork.plugins.dirichlet_processes.topics.simulate import as_data
from plaidwork.plugins.dirichlet_processes.topics.state import new_state
from plaidwork.plugins.dirichlet_processes.topics.sweep import log_joint, refreshed

ENOUGH = 1e-3
"""A right sampler's smallest p value, corrected for their number, is below it in one of a thousand seeds."""
FOUND = 1e-6
"""A fault has to show more clearly than that."""
KINDS = {
    "all tokens": {"moves": 0},
    "with moves": {"moves": 2},
    "quick sweeps between": {"moves": 0, "quick_sweeps": 2},
}


def test_frequencies_of_partitions_shortly():
    assert smallest_p(settings(moves=2, quick_sweeps=1), 1500) > ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_frequencies_of_all_partitions(kind):
    assert smallest_p(settings(**KINDS[kind]), 30_000) > ENOUGH


def many_moves(monkeypatch):
    """Sweeps of moves alone but every fourth, so that faults of moves show."""
    drawn, right = itertools.count(), collapsed.draw_tokens
    monkeypatch.setattr(
        collapsed,
        "draw_tokens",
        lambda *given: right(*given) if next(drawn) % 4 == 0 else given[1].size,
    )


MOVE_FAULTS = {
    "the part of the weights left out": ("log_gain", "- math.log(u) - math.log(1.0 - u)", ""),
    "the proposal left out": ("try_move", "gain -= log_q", "gain -= 0.0"),
    "merges refused early that may be accepted": ("try_move", "level >= -gain:", "level >= -gain - 1.0:"),
    "tokens left on the sides": (
        "try_move",
        "settle(words, z, sides, a, -1.0)",
        "settle(words, z, sides, a, 0.0)",
    ),
    "the probability of the other side": (
        "place_tokens",
        "f0 if s == 0 else f1) /",
        "f1 if s == 0 else f0) /",
    ),
    "a merge accepted like a split": ("try_move", "gain if sides.split else -gain", "gain"),
    "documents do not count": ("log_gain", " + log_places(sides.own[s], sides.weights[s])", ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["", *MOVE_FAULTS])
def test_faults_of_a_move_are_found(fault, monkeypatch):
    many_moves(monkeypatch)
    if fault:
        name, old, new = MOVE_FAULTS[fault]
        wrong = with_fault(getattr(split_merge, name), old, new)
        move = wrong if name == "try_move" else with_fault(split_merge.try_move, **{name: wrong})
        monkeypatch.setattr(split_merge, "make_moves", with_fault(split_merge.make_moves, try_move=move))
    p = smallest_p(settings(moves=3), 20_000)
    assert p < FOUND if fault else p > ENOUGH


@pytest.mark.parametrize("labels", [(0, 0, 0, 0, 0, 0), (0, 1, 1, 0, 0, 1)])
def test_log_joint_integrates_to_the_density_of_a_partition(labels):
    """Over the weights of its topics, by a midpoint rule."""
    params, data = settings(), as_data(FEW)
    corpus, (found, _, density) = read(data, params), posterior(FEW, params)
    middle = (np.arange(80) + 0.5) / 80
    k, total = max(labels) + 1, 0.0
    for parts in itertools.product(middle, repeat=k):
        beta = np.array(parts[:1]) if k == 1 else np.array([parts[0], (1 - parts[0]) * parts[1]])
        law = (params["alpha"], params["gamma"], params["eta"], 1.0 - beta.sum())
        state = refreshed(new_state(corpus, np.array(labels), beta, law), corpus)
        total += math.exp(log_joint(state, params)) * (1.0 if k == 1 else 1 - parts[0]) / 80**k
    assert math.log(total) == pytest.approx(density[found.index(labels)], abs=0.02)
