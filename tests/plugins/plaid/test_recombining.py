"""Warm starts that take blocks from each other, and what the verdict says with and without them."""

import copy

import numpy as np
import plaid_tools as tools
import pytest

from plaidwork.core import fit
from plaidwork.core.api import Clock
from plaidwork.core.data.samples import bundled_samples
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid
from plaidwork.plugins.plaid.recombining import copies_of, offspring, round_at, round_begins

MODEL = BayesianPlaid()


def replica(rng, n_blocks):
    return {
        "rows": rng.random((n_blocks, 8)) < 0.4, "columns": rng.random((n_blocks, 6)) < 0.4,
        "theta": rng.standard_normal(n_blocks), "phi": 0.0,
    }  # fmt: skip


def test_offspring_have_the_blocks_of_their_parents():
    rng = tools.generator(1)
    sizes = set()
    for _ in range(50):
        one, other = replica(rng, 4), replica(rng, 6)
        made = offspring(one, other, rng)
        sizes.add(len(made["theta"]))
        known = np.concatenate([one["theta"], other["theta"]])
        rows = np.concatenate([one["rows"], other["rows"]])
        place = [int(np.flatnonzero(known == theta)[0]) for theta in made["theta"]]
        assert len(set(place)) == len(place)
        assert np.array_equal(rows[place], made["rows"])
    assert sizes <= {4, 5, 6}
    assert len(sizes) > 1
    one, other = replica(rng, 5), replica(rng, 5)
    assert len(offspring(one, other, rng)["theta"]) == 5
    assert len(offspring(one, replica(rng, 0), rng)["theta"]) <= 5


def test_a_block_is_exchanged_for_the_one_most_like_it():
    rng = tools.generator(2)
    one = replica(rng, 3)
    other = {name: value[::-1].copy() if name != "phi" else value for name, value in one.items()}
    made = offspring(one, other, rng)
    assert np.array_equal(np.sort(made["theta"]), np.sort(one["theta"]))


def test_the_power_rises_in_each_round():
    params = MODEL.spec.check_params({"recombine": 4, "anneal_start": 0.1})
    clocks = [Clock(sweep, 100) for sweep in range(70)]
    powers = [round_at(params, clock).power(0.1) for clock in clocks]
    begins = [sweep for sweep in range(70) if round_begins(params, clocks[sweep])]
    assert begins == [30, 40, 50, 60]
    assert powers[0] == pytest.approx(0.1)
    assert [powers[sweep] for sweep in begins] == pytest.approx([0.5] * 4)
    assert all(powers[sweep - 1] > 0.9 for sweep in begins)
    plain = MODEL.spec.check_params({"recombine": 0})
    assert [round_at(plain, clock).power(0.1) for clock in clocks] == [
        0.1 ** (1.0 - sweep / 70.0) for sweep in range(70)
    ]


def test_large_matrices_have_fewer_copies():
    params = MODEL.spec.check_params({})
    assert [copies_of(params, cells, *MODEL.copies) for cells in (0, 20_000, 60_000, 10**7)] == [24, 24, 8, 4]
    assert [copies_of(params, cells, *InfinitePlaid.copies) for cells in (0, 80_000, 10**5, 10**7)] == [
        6,
        6,
        4,
        2,
    ]
    assert copies_of(MODEL.spec.check_params({"warm_starts": 3}), 10**7, 2, 6) == 3


@pytest.mark.parametrize(("model", "more"), [(MODEL, {"blocks": 2}), (InfinitePlaid(), {"start": "prior"})])
def test_a_warm_up_that_was_stopped_goes_on_alike(model, more):
    """Also of the inferred number, and with profiles; afterwards one copy is left."""
    data = tools.matrix(np.random.default_rng(3).normal(size=(12, 9)))
    for layer in ("shift", "profile"):
        params = model.spec.check_params({"recombine": 3, "warm_starts": 3, "layer": layer, **more})
        found = []
        for saved in (False, True):
            rng = tools.generator(4)
            state = model.init(data, params, rng)
            for t in range(30):
                tools.sweep(model, state, data, params, rng, Clock(t, 20))
                if saved:
                    state, rng = copy.deepcopy(state), copy.deepcopy(rng)
            assert list(state["replicas"]) == ["0"]
            assert "parents" not in state
            found.append(model.log_joint(state, data, params))
        assert found[0] == found[1]


TUMOURS = next(sample for sample in bundled_samples() if sample.id == "tumour-genes")


@pytest.mark.long
def test_a_stuck_run_is_not_called_settled():
    """As plain annealing leaves it: chains in different sums of blocks, and none of the new moves to bring them together."""
    stuck = {"recombine": 0, "together": 0, "warm_starts": 2, "exchanges": 0}
    schedule = {"chains": 3, "warmup": 60, "draws": 60}
    run = fit(
        TUMOURS.model, TUMOURS.load(), {**TUMOURS.params, **stuck}, seed=1, executor="inline", **schedule
    )
    assert not run.diagnosis().verdict.settled
    assert len(run.solutions()) > 1


@pytest.mark.slow
def test_chains_on_tumour_genes_find_the_same_blocks():
    """Five seeds of one chain each end at one height, of which the plain start misses all: within 6 nats (the log joint of
    single draws has a standard deviation of 6; means over 300 draws)."""
    data, ends = TUMOURS.load(), {}
    plain = {"recombine": 0, "together": 0, "warm_starts": 2, "exchanges": 4}
    for name, more in (("new", {}), ("plain", plain)):
        ends[name] = []
        for seed in range(1, 6):
            schedule = {"chains": 1, "warmup": 700, "draws": 600}
            run = fit(
                TUMOURS.model, data, {**TUMOURS.params, **more}, seed=seed, executor="inline", **schedule
            )
            ends[name].append(run.kept().chains[0].kept_trace("log_joint")[300:].mean())
    best = max(ends["new"])
    assert sum(best - end < 6.0 for end in ends["new"]) >= 4
    assert sum(best - end < 6.0 for end in ends["plain"]) <= 1
