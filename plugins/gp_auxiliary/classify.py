"""Classification: two classes or several, with unlabelled samples and tempering over the null category's width."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from plaidwork.core.api import (
    Clock,
    Cost,
    Kept,
    Model,
    ModelData,
    ModelSpec,
    Params,
    Problem,
    Result,
    Results,
    State,
)
from plaidwork.plugins.gp_auxiliary import hyper
from plaidwork.plugins.gp_auxiliary.frame import (
    classes_of,
    find_problems,
    make_frame,
    make_prior,
    prior_of,
    wants_inducing,
)
from plaidwork.plugins.gp_auxiliary.gram import Prior, squared_length
from plaidwork.plugins.gp_auxiliary.replica import (
    Labels,
    add_flow,
    new_replica,
    swap_neighbours,
    sweep_replica,
)
from plaidwork.plugins.gp_auxiliary.spec import CLASSES


def is_semi(params: Params) -> bool:
    """Whether unlabelled samples take part."""
    return params["noise"] == "null"


def ladder(params: Params) -> np.ndarray:
    """(M,) half widths of the null category from 0 to the one asked for; one width alone without tempering."""
    width = params["null_width"] if is_semi(params) else 0.0
    count = params["rungs"] if is_semi(params) and width > 0 else 1
    return np.linspace(0.0, width, count) if count > 1 else np.array([width])


class Classes(Model):
    """Probit classification of two classes (page, section 2.1) or more (2.4), semi-supervised ones too (2.3, 2.5)."""

    spec: ClassVar[ModelSpec] = CLASSES

    def setting(self, state: State, params: Params) -> tuple[Prior, Labels, np.ndarray]:
        """The prior, the labels and the widths, from what the state keeps of the data."""
        fixed, widths = state["fixed"], ladder(params)
        labels = Labels(fixed["code"], int(fixed["n_classes"]))
        prior = prior_of(fixed["x"], fixed["inducing"], params, len(widths) > 1)
        return prior, labels, widths

    def init(self, data: ModelData, params: Params, rng: np.random.Generator) -> State:
        frame = make_frame(data, params, is_semi(params))
        state: State = {
            "fixed": {
                "x": frame.fitted,
                "inducing": make_prior(frame.fitted, params, False).inducing,
                "code": frame.codes[frame.used],
                "n_classes": len(frame.classes),
            },
            "call": 0,
        }
        prior, labels, widths = self.setting(state, params)
        theta = prior.covariance.prior_mean
        size = len(widths)
        state["rungs"] = {str(m): new_replica(rng, prior, theta, labels, widths[m]) for m in range(size)}
        if labels.intervals and size == 1:
            add_flow(state["rungs"]["0"], prior, params)
        state["steps"] = {str(m): hyper.new_steps(len(theta)) for m in range(size)}
        state["swaps"] = {
            "tried": np.zeros(max(size - 1, 1)),
            "taken": np.zeros(max(size - 1, 1)),
            "label": np.arange(size),
            "seen_top": np.zeros(size, dtype=bool),
            "trips": 0,
        }
        return state

    def step(
        self, state: State, data: ModelData, params: Params, rng: np.random.Generator, clock: Clock
    ) -> Mapping[str, float] | None:
        """One sweep: every copy in turn, one a call, then the swaps."""
        prior, labels, widths = self.setting(state, params)
        parts = hyper.parts_of(len(prior.x), params)
        m, part = divmod(state["call"], parts)
        copy, steps = state["rungs"][str(m)], state["steps"][str(m)]
        sweep_replica(rng, copy, prior, labels, widths[m], steps, params, clock.warming, part)
        state["call"] = (state["call"] + 1) % (len(widths) * parts)
        if state["call"]:
            return None
        if len(widths) > 1:
            swap_neighbours(rng, state["rungs"], widths, labels, state["swaps"])
        return self._traces(state, prior, labels)

    def _traces(self, state: State, prior: Prior, labels: Labels) -> dict[str, float]:
        cold = state["rungs"][str(len(state["rungs"]) - 1)]
        z, theta = cold["z"], cold["theta"]
        square = sum(squared_length(row, cold) for row in z)
        swaps, steps = state["swaps"], state["steps"][str(len(state["rungs"]) - 1)]
        tried = steps["tried"].sum()
        several = len(state["rungs"]) > 1
        rate = float(np.min(swaps["taken"] / np.maximum(swaps["tried"], 1))) if several else math.nan
        return {
            "log_density": -0.5 * (len(z) * cold["log_det"] + square) + prior.covariance.log_prior(theta),
            "squared_length": square,
            "amplitude": math.exp(theta[0]),
            "accepted": float(steps["taken"].sum() / tried) if tried else math.nan,
            "swap": rate,
            "trips": float(swaps["trips"]) if several else math.nan,
            "positive": float((labels.winners(z)[labels.free] > 0).mean()) if labels.free.any() else math.nan,
        }

    def draws(self, state: State, data: ModelData, params: Params) -> Mapping[str, Any]:
        cold = state["rungs"][str(len(state["rungs"]) - 1)]
        prior, _labels, _widths = self.setting(state, params)
        square = sum(squared_length(row, cold) for row in cold["z"])
        log_density = -0.5 * (len(cold["z"]) * cold["log_det"] + square)
        return {
            "z": cold["z"].copy(),
            "theta": cold["theta"].copy(),
            "log_density": log_density + prior.covariance.log_prior(cold["theta"]),
            "squared_length": square,
        }

    def validate(self, data: ModelData, params: Params) -> Sequence[Problem]:
        return find_problems(data, params, is_semi(params), 2)

    def estimate(self, data: ModelData, params: Params) -> Cost:
        """Bytes of one chain and seconds of a sweep, by the page's table of costs."""
        size = data["X"].shape[0]
        copies = len(ladder(params))
        n_classes = len(classes_of(data["y"])[1])
        rows = n_classes if n_classes > 2 else 1
        if wants_inducing(size, params):
            rank = params["inducing"]
            seconds = params["site_sweeps"] * size * rank * 1.5e-9 + params["walks"] * size * rank**2 * 2e-9
            memory = 8.0 * size * rank
        else:
            seconds = params["site_sweeps"] * size**2 * 5e-10 + params["walks"] * size**3 * 2e-10
            memory = 8.0 * size**2
        return Cost(3 * memory * copies, seconds * rows * copies)

    def prepare(self) -> None:
        """Compile by a tiny fit of each form."""
        from plaidwork.plugins.gp_auxiliary.compiling import tiny_fit

        tiny_fit(self, {"form": "dense"})
        tiny_fit(self, {"form": "inducing", "inducing": 2})

    def summarise(self, kept: Kept, data: ModelData, params: Params) -> Results:
        from plaidwork.plugins.gp_auxiliary.results import summarise_draws

        widths = ladder(params)
        return summarise_draws(
            kept, make_frame(data, params, is_semi(params)), data, params, float(widths[-1])
        )

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: Params) -> Results:
        from plaidwork.plugins.gp_auxiliary.results import predict_new

        frame = make_frame(data, params, is_semi(params))
        return predict_new(kept, frame, new_data, params, float(ladder(params)[-1]))

    def response(
        self,
        kept: Kept,
        data: ModelData,
        params: Params,
        name: str,
        rows: np.ndarray,
        wanted: frozenset[str],
    ) -> Mapping[str, Result]:
        from plaidwork.plugins.gp_auxiliary.results import response_at

        return response_at(
            kept, make_frame(data, params, is_semi(params)), rows, params, float(ladder(params)[-1]), wanted
        )
