"""Faults of repeatability, planted and found."""

import random
import threading

import numpy as np
from conforming import Bound, Means
from faults import caught, skipped

from plaidwork.core.api import Result


class Unseeded(Means):
    def draw_mean(self, state, x, known, params, rng):
        super().draw_mean(state, x, known, params, np.random.default_rng())


class Counting(Means):
    n = 0

    def draw_mean(self, state, x, known, params, rng):
        self.n += 1
        super().draw_mean(state, x, known, params, rng)
        state["mean"] = state["mean"] + self.n


class Remembering(Means):
    """Keeps a sum between calls; each chain sets it back at its start."""

    def init(self, data, params, rng):
        self.total = 0.0
        return super().init(data, params, rng)

    def draw_mean(self, state, x, known, params, rng):
        super().draw_mean(state, x, known, params, rng)
        self.total += state["mean"][0]
        state["mean"] = state["mean"] + self.total


class ByThread(Means):
    def draw_mean(self, state, x, known, params, rng):
        super().draw_mean(state, x, known, params, rng)
        state["mean"] = state["mean"] + (threading.current_thread() is not threading.main_thread())


class OneStream(Means):
    def draw_mean(self, state, x, known, params, rng):
        super().draw_mean(state, x, known, params, np.random.default_rng(1))

    def draw_tau(self, state, x, known, params, rng):
        super().draw_tau(state, x, known, params, np.random.default_rng(2))


class Legacy(Means):
    def draw_mean(self, state, x, known, params, rng):
        super().draw_mean(state, x, known, params, rng)
        state["mean"] = state["mean"] + np.random.normal()  # noqa: NPY002


class Seeding(Means):
    def init(self, data, params, rng):
        random.seed(5)
        return super().init(data, params, rng)


class Subsampling(Means):
    def summarise(self, kept, data, params):
        return super().summarise(kept, data, params) | {"x": Result(np.random.default_rng().normal())}


def test_same_seed():
    caught(Unseeded, "same_seed", "chain 1 differs", "sweep 1")
    caught(Counting, "same_seed", "rng")


def test_threads():
    caught(ByThread, "same_in_threads", "in threads")


def test_chains_in_turns():
    caught(Remembering, "chains_apart", "in turns", "use state")


def test_chains_differ():
    caught(OneStream, "chains_differ", "equal in every number")
    skipped(Bound, "chains_differ")


def test_global_state():
    caught(Legacy, "global_random", "numpy.random")
    caught(Seeding, "global_random", "random")


def test_global_state_is_put_back():
    before = random.getstate()
    caught(Seeding, "global_random")
    assert random.getstate() == before


def test_summary():
    caught(Subsampling, "same_results", "“x” differs")


def test_longer_run():
    caught(Counting, "same_when_extended", "planned number of draws")
