"""Copies on a ladder of powers: their laws stay, modes are left, rungs are spaced; and a fault shows."""

import math

import numpy as np
import pytest
from plaid_tools import with_fault
from sparing import some

from plaidwork.core.numerics import tempering
from plaidwork.core.numerics.tempering import adapt, begin_counting, exchange, new_swaps, spaced, swap_rates

CENTRES, SD, SHARES = np.array([-6.0, 6.0]), 0.4, np.array([0.3, 0.7])
WIDE = 5.0
"""The law at power 0 is N(0, WIDE²); at power 1 it is times two narrow peaks."""


def log_likelihood(x: float) -> float:
    return float(np.log((SHARES * np.exp(-0.5 * ((x - CENTRES) / SD) ** 2)).sum() + 1e-12))


def exact_share(power: float) -> float:
    """Probability of the upper half at a power."""
    grid = np.linspace(-25, 25, 20001)
    values = np.array([log_likelihood(x) for x in grid])
    density = np.exp(power * (values - values.max()) - 0.5 * (grid / WIDE) ** 2)
    return float(density[grid > 0].sum() / density.sum())


def run(sweeps: int, rungs: int = 6, swap=exchange, warmup: int = 400):
    """(sweeps, rungs) whether each rung is in the upper half after the warm-up, the powers, and what was counted."""
    rng, powers, swaps = np.random.default_rng(5), np.linspace(0.0, 1.0, rungs), new_swaps(rungs)
    copies, found = [-6.0] * rungs, []
    for sweep in range(warmup + sweeps):
        for m in range(rungs):
            for _ in range(4):
                moved = copies[m] + (3.0 if powers[m] < 0.2 else 0.6) * rng.standard_normal()
                gain = powers[m] * (log_likelihood(moved) - log_likelihood(copies[m]))
                gain -= 0.5 * (moved**2 - copies[m] ** 2) / WIDE**2
                if math.log(rng.random()) < gain:
                    copies[m] = moved
        begin_counting(swaps, sweep, warmup)
        fit = [log_likelihood(x) for x in copies]
        order = swap(rng, rungs, lambda copy, rung, fit=fit: powers[rung] * fit[copy], swaps)
        copies = [copies[m] for m in order]
        adapt(powers, swaps, sweep, warmup)
        if sweep >= warmup:
            found.append([x > 0 for x in copies])
    return np.array(found, float), powers, swaps


def apart(swap=exchange, sweeps: int = 3000) -> float:
    """Largest distance of the rungs' shares from the exact ones, in standard errors of 30 batches."""
    found, powers, _swaps = run(sweeps, swap=swap)
    batches = found.reshape(30, -1, found.shape[1]).mean(axis=1)
    error = np.maximum(batches.std(axis=0, ddof=1) / math.sqrt(30), 1e-3)
    wanted = np.array([exact_share(power) for power in powers])
    return float(np.abs((found.mean(axis=0) - wanted) / error).max())


@pytest.mark.slow
def test_every_rung_keeps_its_law():
    assert apart() < 4.0  # the largest of six: once in some 2,000 right runs


FAULTS = {
    "always taken": ("< ratio", "< 1e9"),
    "half the ratio": ("< ratio", "< 0.3 * ratio"),
    "half of the terms": (
        "ratio -= log_density(low, m) + log_density(high, m + 1)",
        "ratio -= log_density(low, m)",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name):
    assert apart(with_fault(exchange, *FAULTS[name])) > 6.0


def test_a_chain_alone_stays_in_its_mode_and_copies_leave_it():
    found, powers, swaps = run(400)
    assert 0.3 < found[:, -1].mean() < 0.95
    assert swaps["trips"].sum() > 5
    assert (np.diff(powers) > 0).all()
    assert (powers[0], powers[-1]) == (0.0, 1.0)
    assert swap_rates(swaps).min() > 0.2
    alone, _powers, _swaps = run(400, swap=lambda rng, size, density, swaps: list(range(size)))
    assert alone[:, -1].sum() == 0


@pytest.mark.parametrize("size", some([1, 2, 3, 6], [1, 3]))
def test_copies_are_only_exchanged(size):
    swaps, rng = new_swaps(size), np.random.default_rng(1)
    copies = list(range(size))
    for _ in range(50):
        order = exchange(rng, size, lambda copy, rung: 0.0, swaps)
        copies = [copies[m] for m in order]
        assert sorted(order) == list(range(size))
    assert list(swaps["label"]) == copies
    assert swaps["tried"].sum() == 50 * (size - 1)


def test_rungs_are_spaced_by_what_was_refused():
    """All refusals lie in the first gap: it gets nearly all rungs, the ends stay."""
    rungs = spaced(np.linspace(0, 2, 5), np.array([0.1, 0.98, 0.98, 0.98]))
    assert rungs[0] == 0
    assert rungs[-1] == 2
    assert (np.diff(rungs) > 0).all()
    assert (rungs < 0.5).sum() == 4
    assert np.allclose(spaced(np.linspace(0, 2, 5), np.full(4, 0.3)), np.linspace(0, 2, 5))


def test_given_rungs_stay():
    rungs, swaps = np.array([0.0, 0.1, 1.0]), new_swaps(3)
    swaps["tried"] += 5
    adapt(rungs, swaps, 49, 100, given=True)
    assert rungs.tolist() == [0.0, 0.1, 1.0]
    adapt(rungs, swaps, 49, 100)
    assert rungs[1] == pytest.approx(0.1, abs=0.01) or rungs[1] != 0.1
    assert swaps["tried"].sum() == 0


def test_a_round_trip_begins_and_ends_at_the_first_rung():
    swaps = new_swaps(3)
    for label in ((0, 1, 2), (1, 0, 2), (1, 2, 0), (1, 0, 2), (0, 1, 2)):
        swaps["label"] = np.array(label)
        tempering.count_trips(swaps)
    assert swaps["trips"].tolist() == [1, 0, 0]  # of copy 0; copy 2 began above and never came down
