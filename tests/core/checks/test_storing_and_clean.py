"""Faults of the state, and traces a fit leaves behind, planted and found."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from conforming import Bound, Means
from faults import caught, passes, skipped

from plaidwork.core.api import Part
from plaidwork.core.checks import checks_for


class Odd(Means):
    def init(self, data, params, rng):
        return super().init(data, params, rng) | {"seen": {1, 2}}


class Aliased(Means):
    """Two entries of the state are one array; after loading they are two."""

    def init(self, data, params, rng):
        state = super().init(data, params, rng)
        state["drift"] = np.zeros(1)
        state["same"] = state["drift"]
        return state

    def draw_mean(self, state, x, known, params, rng):
        super().draw_mean(state, x, known, params, rng)
        state["drift"] += 1
        state["mean"] = state["mean"] + state["same"]


class HalfWay(Means):
    """Between the two slices of a sweep of large data something is remembered outside the state."""

    def __init__(self):
        self.halves = {}

    def step(self, state, data, params, rng, clock):
        large = data["X"].values.size > 10_000
        if large and not state["half"]:
            self.halves[id(state)] = 1.0
        found = super().step(state, data, params, rng, clock)
        if found is None and not large:
            found = super().step(state, data, params, rng, clock)
        elif found is not None and large:
            state["tau"] += self.halves.pop(id(state), 0.0)
            found["tau"] = state["tau"]
        return found


def test_state_that_cannot_be_stored():
    caught(Odd, "state_round_trip", "seen", "set")


@pytest.mark.long
def test_state_that_is_not_whole():
    caught(Aliased, "state_round_trip", "after saving and loading")


@pytest.mark.long
def test_the_middle_of_a_sweep():
    passes(HalfWay(), "state_round_trip")
    caught(HalfWay, "mid_sweep", "in the middle of a sweep")
    (right,) = checks_for(Means, only=["mid_sweep"])
    right()  # not skipped: its sweeps have two slices


class Labelled(Means):
    """Keeps a label of each sample, and says nothing of them."""

    def init(self, data, params, rng):
        return super().init(data, params, rng) | {"label": np.zeros(data["X"].shape[0], np.int64)}


class Said(Labelled):
    def layout(self, data, params):
        return {"label": Part(low=0, below=3)}


class Changing(Means):
    """Keeps ever more numbers."""

    def init(self, data, params, rng):
        return super().init(data, params, rng) | {"more": np.zeros(1)}

    def step(self, state, data, params, rng, clock):
        found = super().step(state, data, params, rng, clock)
        state["more"] = np.append(state["more"], 0.0)
        return found


class Late(Means):
    """Has an entry of whose kind nothing was said from its fifth sweep on."""

    def step(self, state, data, params, rng, clock):
        if clock.sweep == 4:
            state["late"] = np.zeros(2)
        return super().step(state, data, params, rng, clock)


def test_states_that_would_be_refused():
    caught(Labelled, "state_fits", "label", "in which range")
    passes(Said(), "state_fits")
    caught(Changing, "state_fits", "more")
    caught(Late, "state_fits", "“late” is not known")


class Narrow(Means):
    """Says that its precision is larger than it is."""

    def draw_layout(self, data, params):
        return {"tau": Part(low=1e9)}


def test_draws_that_would_be_refused():
    caught(Narrow, "draws_fit", "tau", "at least")
    passes(Means(), "draws_fit")


class Writing(Means):
    def step(self, state, data, params, rng, clock):
        data["X"].values[0, 0] = 0.0
        return super().step(state, data, params, rng, clock)


class Sneaking(Means):
    def init(self, data, params, rng):
        x = data["X"].values
        while x.base is not None:
            x = x.base
        x.flags.writeable = True
        x[0, 0] += 1
        return super().init(data, params, rng)


class Setting(Means):
    def init(self, data, params, rng):
        params["spread"] = 3.0
        return super().init(data, params, rng)


def test_data_and_settings():
    caught(Writing, "data_untouched", "read-only", "At test_storing_and_clean.py", "in step")
    caught(Sneaking, "data_untouched", "it changed its input “X”, values, which is read-only")
    caught(Setting, "data_untouched", "settings were changed")


class Eager(Bound):
    """Does the work when asked for the list."""

    def stages(self, state, data, params, rng, clock):
        self.update_tau(state, data["X"].values)
        return super().stages(state, data, params, rng, clock)


class Drawing(Bound):
    def stages(self, state, data, params, rng, clock):
        rng.random()
        return super().stages(state, data, params, rng, clock)


class Counting(Bound):
    def traces(self, state, data, params):
        state["asked"] = state.get("asked", 0) + 1
        return super().traces(state, data, params)


class Alongside(Bound):
    """Its columns may be worked at once."""

    def stages(self, state, data, params, rng, clock):
        mean, tau = super().stages(state, data, params, rng, clock)
        return [replace(mean, parallel=True), tau]


class Leaning(Alongside):
    """Each column leans on the one before."""

    def update_mean(self, state, x, lo, hi):
        super().update_mean(state, x, lo, hi)
        if lo:
            state["centre"][lo] += 0.01 * state["centre"][lo - 1]


class Streaming(Alongside):
    """Each slice adds noise from a generator of its own."""

    def stages(self, state, data, params, rng, clock):
        mean, tau = super().stages(state, data, params, rng, clock)

        def work(lo, hi, own):
            mean.work(lo, hi)
            state["centre"][lo:hi] += 1e-3 * self.generator(own, rng).standard_normal(hi - lo)

        return [replace(mean, work=work, streams=True), tau]

    def generator(self, own, chain):
        return own


class FromTheChain(Streaming):
    def generator(self, own, chain):
        return chain


def test_slices_in_any_order():
    passes(Streaming(), "any_order")
    caught(
        FromTheChain, "any_order", "the order in which slices are worked changes the state (parallel: mean)"
    )
    passes(Alongside(), "any_order")
    caught(Leaning, "any_order", "the order in which slices are worked changes the state (parallel: mean)")
    skipped(Bound, "any_order")


def test_stages_and_traces_change_nothing():
    caught(Eager, "stages_only_tell", "the state was changed after “mean”")
    caught(Drawing, "stages_only_tell", "random numbers were drawn")
    caught(Counting, "stages_only_tell", "the state was changed")
    skipped(Means, "stages_only_tell")


class Peeking(Means):
    def draw_mean(self, state, x, known, params, rng):
        super().draw_mean(state, x, known, params, rng)
        state["mean"] = state["mean"] + state["seen"]

    def init(self, data, params, rng):
        truth = data["X"].truth
        return super().init(data, params, rng) | {
            "seen": 0.0 if truth is None else float(np.nansum(truth[0]))
        }


def test_held_out_cells():
    caught(Peeking, "holdout_unseen", "“mean” depends on the held-out cells")
    skipped(Bound, "holdout_unseen")


class Threaded(Means):
    ended = threading.Event()

    def init(self, data, params, rng):
        threading.Thread(target=self.ended.wait, args=(30,), name="worker", daemon=True).start()
        return super().init(data, params, rng)


class Quiet(Means):
    def init(self, data, params, rng):
        np.seterr(under="raise")
        return super().init(data, params, rng)


def test_threads_left():
    try:
        caught(Threaded, "nothing_left", "worker")
    finally:
        Threaded.ended.set()


def test_error_handling_left():
    before = np.geterr()
    try:
        caught(lambda_free(Quiet), "nothing_left", "error handling")
    finally:
        np.seterr(**before)


def lambda_free(cls):
    """Sets numpy's handling to its default first, so that the right model is compared with that."""
    np.seterr(under="ignore")
    return cls
