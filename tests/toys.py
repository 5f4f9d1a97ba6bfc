"""Small models for tests: quick, without kernels, importable by name in another process."""

from __future__ import annotations

import os
import time
from dataclasses import replace

import numpy as np

from plaidwork.core.api import (
    Hyperparameter,
    Input,
    Model,
    ModelError,
    ModelSpec,
    Part,
    Problem,
    Result,
    Schedule,
    Table,
    Trace,
    Variable,
    View,
    chain_of,
)

SCHEDULE = Schedule(chains=2, warmup=3, draws=6, thin=2, max_sweeps=40)


STEP_SECONDS = "TOY_STEP_SECONDS"
"""Environment variable: seconds that a step of the walk takes, in whichever process."""


class Walk(Model):
    """A random walk around the mean of the data; keeps a vector, a scalar, flags and a ragged list."""

    spec = ModelSpec(
        id="toy.walk",
        version="1.2",
        title="Walk",
        summary="Walks.",
        inputs=(Input("X", missing=True, holdout="cells"),),
        hyperparameters=(
            Hyperparameter("stride", "float", 0.5, minimum=0, open_minimum=True),
            Hyperparameter("fail_at", "int", 0, minimum=0),
        ),
        dims={"item": "things that come and go"},
        variables=(
            Variable("place", ("column",)),
            Variable("level"),
            Variable("up", ("column",), dtype="bool"),
            Variable("items", ("item",), ragged=True),
        ),
        traces=(Trace("lp", primary=True), Trace("level")),
        views=(View("coefficients", "Place", "place"), View("text", "Words", "words")),
        schedule=SCHEDULE,
    )

    def init(self, data, params, rng):
        block = data["X"]
        mean = block.values.sum(axis=0) / np.maximum(block.observed.sum(axis=0), 1)
        return {"place": mean, "sweep": 0, "items": np.zeros(0)}

    def layout(self, data, params):
        return {"items": Part(("I",))}

    def validate(self, data, params):
        if params["stride"] == 99:
            yield Problem("The stride is long.", "Shorten it.", "stride", "warning")
        if params["stride"] > 99:
            yield Problem("The stride is too long.", "Shorten it.", "stride")

    def step(self, state, data, params, rng, clock):
        state["sweep"] += 1
        time.sleep(float(os.environ.get(STEP_SECONDS, 0)))
        if state["sweep"] == params["fail_at"]:
            raise ModelError("The walk has ended.", "Walk less.")
        state["place"] = state["place"] + params["stride"] * rng.normal(size=len(state["place"]))
        state["items"] = rng.normal(size=int(rng.integers(0, 4)))
        level = float(state["place"].mean())
        return {"lp": -(level**2), "level": level}

    def draws(self, state, data, params):
        place = state["place"]
        return {"place": place.copy(), "level": place.mean(), "up": place > 0, "items": state["items"].copy()}

    def summarise(self, kept, data, params):
        place = kept.stack("place").mean(axis=(0, 1))
        return {
            "place": Result(place, ("column",)),
            "table": Table({"number": np.arange(3), "name": np.array(["a", "b", "ü"])}),
            "words": "It **walked**.",
        }


class Steady(Model):
    """Autocorrelated draws around 0, each chain from a start of its own; one in ``lost`` chains stays elsewhere."""

    spec = ModelSpec(
        id="toy.steady",
        version="1.0",
        title="Steady",
        summary="Comes to rest.",
        inputs=(Input("X"),),
        hyperparameters=(
            Hyperparameter("memory", "float", 0.5, minimum=0, maximum=1),
            Hyperparameter("start", "float", 0.0),
            Hyperparameter("lost", "float", 0.0),
        ),
        variables=(Variable("place", ("column",)),),
        traces=(Trace("lp", primary=True), Trace("level")),
        views=(View("coefficients", "Place", "place"),),
        schedule=Schedule(chains=4, warmup=10, draws=200),
    )

    def init(self, data, params, rng):
        chain = chain_of(rng)
        return {"level": params["start"] * (chain + 1), "at": params["lost"] * (chain == 1)}

    def step(self, state, data, params, rng, clock):
        memory = params["memory"]
        state["level"] = memory * state["level"] + np.sqrt(1 - memory**2) * rng.normal()
        time.sleep(float(os.environ.get(STEP_SECONDS, 0)))
        return {"lp": -(state["level"] ** 2), "level": state["level"] + state["at"]}

    def draws(self, state, data, params):
        return {"place": np.r_[state["level"], np.ones(data["X"].shape[1] - 1)]}

    def summarise(self, kept, data, params):
        return {"place": Result(kept.stack("place").mean(axis=(0, 1)), ("column",))}


class Climb(Model):
    """Halves its distance to the mean each sweep until nothing changes."""

    spec = ModelSpec(
        id="toy.climb",
        version="1.0",
        title="Climb",
        summary="Climbs.",
        algorithm="variational",
        inputs=(Input("X"),),
        variables=(Variable("place", ("column",)),),
        traces=(Trace("elbo", primary=True, goal="up"),),
        views=(View("coefficients", "Place", "place"),),
        schedule=SCHEDULE,
    )

    def init(self, data, params, rng):
        return {"place": rng.normal(size=data["X"].shape[1])}

    def step(self, state, data, params, rng, clock):
        gap = data["X"].values.mean(axis=0) - state["place"]
        state["place"] = state["place"] + 0.9 * gap
        return {"elbo": -float((gap**2).sum())}

    def draws(self, state, data, params):
        return {"place": state["place"].copy()}

    def summarise(self, kept, data, params):
        return {"place": Result(kept.stack("place")[0, 0], ("column",))}


class Hills(Climb):
    """Ends on the hill that its start is on: half of all starts 5 below the best."""

    spec = replace(
        Climb.spec, id="toy.hills", title="Hills", schedule=replace(SCHEDULE, tolerance=0.1, window=5)
    )

    def init(self, data, params, rng):
        return super().init(data, params, rng) | {"below": 5.0 * (rng.random() < 0.5)}

    def step(self, state, data, params, rng, clock):
        time.sleep(float(os.environ.get(STEP_SECONDS, 0)))
        return {"elbo": super().step(state, data, params, rng, clock)["elbo"] - state["below"]}


def matrix(rows: int = 8, columns: int = 4, seed: int = 0) -> np.ndarray:
    """Normal numbers with distinct column means."""
    return np.random.default_rng(seed).normal(size=(rows, columns)) + np.arange(columns)
