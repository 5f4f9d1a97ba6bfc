"""Sweeps as lists of stages: who runs them, where they pause, what a wrong list leads to."""

import numpy as np
import pytest
from conforming import Bound
from toys import matrix

from plaidwork.core.api import ModelData, Stage, passes
from plaidwork.core.contract.schedule import Clock
from plaidwork.core.contract.stages import POSITION, advance
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.draws.chain import copy_state
from plaidwork.core.errors import PluginError
from plaidwork.core.inference.plan import make_plan

CLOCK = Clock(0, 0)


class Told(Bound):
    """Notes every call in the order in which it came."""

    def stages(self, state, data, params, rng, clock):
        def note(word):
            state["told"].append(word)

        def until(lo, hi):
            note(f"search {lo}")
            return lo == 1

        return [
            Stage("search", until, None),
            Stage(
                "order",
                lambda lo, hi: note(f"order {lo}:{hi}"),
                3,
                2,
                lambda: note("begin"),
                lambda: note("end"),
            ),
            Stage("late", lambda lo, hi: note(f"late {lo}:{hi}"), lambda: len(state["told"]) - 5, 100),
            Stage("nothing", lambda lo, hi: note("never"), 0, 1),
            Stage("all", lambda lo, hi: note(f"all {lo}:{hi}"), 5),
        ]

    def traces(self, state, data, params):
        return {"elbo": float(len(state["told"]))}


def _started():
    return {"told": []}


WHOLE = ["search 0", "search 1", "begin", "order 0:2", "order 2:3", "end", "late 0:1", "all 0:5"]


def test_a_slice_is_a_full_call_or_several_short_ones():
    model, state = Told(), _started()
    seen = []
    while not advance(model, state, {}, {}, None, CLOCK):
        seen.append(len(state["told"]))
        assert state[POSITION]["stage"] in ("search", "order", "late", "all")
    assert state["told"] == WHOLE
    assert POSITION not in state
    assert seen == [1, 2, 4]  # the half slice of “order” goes on into “late” and “all”


def test_a_sweep_goes_on_from_a_copy_of_the_state():
    model, state = Told(), _started()
    for _ in range(100):
        state = copy_state(state)
        if advance(model, state, {}, {}, None, CLOCK):
            break
    assert state["told"] == WHOLE


def test_step_gives_traces_at_the_end_of_a_sweep():
    model, state = Told(), _started()
    found = [model.step(state, {}, {}, None, CLOCK) for _ in range(4)]
    assert found == [None, None, None, {"elbo": 8.0}]


def test_passes_stop_after_every_stage():
    state = _started()
    names = [stage.name for stage in passes(Told(), state, {}, {}, None, CLOCK)]
    assert names == ["search", "order", "late", "nothing", "all"]
    assert state["told"] == WHOLE


def test_slices_do_not_change_the_numbers():
    plan = make_plan(Bound(), {"X": as_dataset("X", matrix())})
    one, two = (Bound().init(plan.data, plan.params, np.random.default_rng(3)) for _ in range(2))
    while not advance(Bound(), one, plan.data, plan.params, None, CLOCK):
        pass
    Bound().update_mean(two, plan.data["X"].values, 0, plan.data["X"].shape[1])
    Bound().update_tau(two, plan.data["X"].values)
    assert np.array_equal(one["centre"], two["centre"])
    assert one["rate"] == two["rate"]


def test_names_are_unique():
    class Twice(Told):
        def stages(self, *args):
            return [Stage("a", lambda lo, hi: None), Stage("a", lambda lo, hi: None)]

    with pytest.raises(PluginError, match="unique"):
        advance(Twice(), _started(), {}, {}, None, CLOCK)


def test_a_stage_that_vanishes_is_named():
    class Fickle(Told):
        def stages(self, state, *args):
            names = ("a", "b") if not state["told"] else ("c",)
            return [Stage(name, lambda lo, hi: state["told"].append("done")) for name in names]

    state = _started()
    advance(Fickle(), state, {}, {}, None, CLOCK)
    with pytest.raises(PluginError, match="“b”"):
        advance(Fickle(), state, {}, {}, None, CLOCK)


def test_what_is_prepared_is_made_once():
    data, made = ModelData({}), []

    def make(given, params):
        made.append(params["a"])
        return object()

    first = data.prepared(make, {"a": 1, "b": 1}, ["a"])
    assert data.prepared(make, {"a": 1, "b": 2}, ["a"]) is first
    assert data.prepared(make, {"a": 2, "b": 2}, ["a"]) is not first
    assert data.prepared(make, {"a": 2, "b": 2}) is not first
    assert made == [1, 2, 2]
