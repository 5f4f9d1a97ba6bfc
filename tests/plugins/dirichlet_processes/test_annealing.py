"""A warm-up in which the data count less at first: the power rises to 1, and nothing after it knows of it."""

from itertools import pairwise

import numpy as np
import pytest
from dp_tools import MODEL, matrices, settings
from plaid_tools import with_fault

from plaidwork.core.api import Clock
from plaidwork.plugins.dirichlet_processes import tempering
from plaidwork.plugins.dirichlet_processes.tempering import annealed_power

ROWS = [[0.1, 1.0], [0.5, 0.2], [2.0, 0.4], [2.2, -1.0], [0.3, 0.3], [1.9, -0.7]]


def powers(power, anneal=0.2, warmup=50):
    params = settings(anneal=anneal)
    return np.array([power(params, Clock(sweep, warmup)) for sweep in range(2 * warmup)])


def rises_to_one(found):
    """Over the first ten sweeps, by the same factor each."""
    ratio = found[1:11] / found[:10]
    return bool(
        found[0] == pytest.approx(0.1)
        and np.ptp(ratio) < 1e-12
        and ratio[0] > 1
        and (found[10:] == 1.0).all()
    )


def test_the_power_rises_to_one_over_its_part_of_the_warm_up():
    assert rises_to_one(powers(annealed_power))
    assert (powers(annealed_power, anneal=0.0) == 1.0).all()
    assert (powers(annealed_power, warmup=0) == 1.0).all()
    assert (powers(annealed_power, anneal=1.0)[50:] == 1.0).all(), "every draw is of the whole density"


@pytest.mark.parametrize(
    ("old", "new"), [('params["anneal"] * clock.warmup', "clock.warmup"), ("** (1.0 - ", "** (0.9 - "), ("else 1.0", "else 0.99")]
)  # fmt: skip
def test_faults_of_the_power_are_found(old, new):
    assert not rises_to_one(powers(with_fault(annealed_power, old, new)))


def sweeps(warmup, count, **changed):
    """Labels, base and powers asked for in the first sweeps of a chain."""
    data, params = matrices(a=ROWS), settings(likelihoods="gaussian", learn_base=True, **changed)
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    state, found = MODEL.init(data, params, rng), []
    for sweep in range(count):
        while MODEL.step(state, data, params, rng, Clock(sweep, warmup)) is None:
            pass
        found.append((state["labels"].tolist(), state["base"]["b0"].tolist()))
    return found


def test_the_base_waits_until_the_data_count_in_full():
    found = sweeps(20, 12, anneal=0.5)
    moved = [one[1] != other[1] for one, other in pairwise(found)]
    assert moved == [False] * 9 + [True] * 2


def test_labels_are_drawn_with_the_power(monkeypatch):
    """At a power of next to nothing the data have no say: the clusters are as the prior has them."""
    monkeypatch.setattr(tempering, "FIRST_POWER", 1e-9)
    data = matrices(a=[[0.0]] * 10 + [[100.0]] * 10)
    params = settings(likelihoods="gaussian", anneal=1.0, alpha=1.0)
    rng = np.random.Generator(np.random.PCG64DXSM(4))
    state, mixed = MODEL.init(data, params, rng), []
    for _ in range(60):
        while MODEL.step(state, data, params, rng, Clock(0, 1000)) is None:
            pass
        mixed.append(len(set(state["labels"][:10]) & set(state["labels"][10:])) > 0)
    assert np.mean(mixed) > 0.9
    while MODEL.step(state, data, params, rng, Clock(1000, 1000)) is None:
        pass
    assert not set(state["labels"][:10]) & set(state["labels"][10:])


def test_a_chain_with_copies_is_not_annealed():
    assert sweeps(20, 6, anneal=0.5, rungs=2) == sweeps(20, 6, anneal=0.0, rungs=2)
    assert sweeps(20, 6, anneal=0.5) != sweeps(20, 6, anneal=0.0)
