"""Classification: two classes or several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

import numpy as np

from plaidwork.core.api import (
    POSITION,
    Clock,
    Cost,
    Kept,
    Layout,
    ModelData,
    ModelSpec,
    Part,
    Problem,
    Results,
    Stage,
    State,
)
from plaidwork.plugins.gp_auxiliary.classes.density import Sampled
from plaidwork.plugins.gp_auxiliary.classes.predicting import as_chosen
from plaidwork.plugins.gp_auxiliary.classes.replica import (
    Labels,
    add_flow,
    new_replica,
    steps_with_f,
    sweep_replica,
)
from plaidwork.plugins.gp_auxiliary.classes.spec import CLASSES
from plaidwork.plugins.gp_auxiliary.few_labels.tempering import ladder
from plaidwork.plugins.gp_auxiliary.shared import flow, hyper, together
from plaidwork.plugins.gp_auxiliary.shared.frame import (
    find_problems,
    make_prior,
    prior_of,
    wants_inducing,
)
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, squared_length
from plaidwork.plugins.gp_auxiliary.shared.state import ClassesFields, ClassesFixed, Replica
from plaidwork.plugins.gp_auxiliary.shared.stored import FIXED, steps_layout, wrong_search
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import ClassesSettings

WHOLE_UP_TO = 200
"""Samples up to which states of version 1 swept a copy in one call."""


class Classes(Sampled[ClassesFields, ClassesSettings]):
    """Probit classification of two classes (page, section 2.1) or more (2.4)."""

    spec: ClassVar[ModelSpec] = CLASSES

    def setting(self, state: ClassesFields, params: ClassesSettings) -> tuple[Prior, Labels, np.ndarray]:
        """The prior, the labels and the widths of the null category, from what the state keeps of the data."""
        fixed, widths = state["fixed"], state["widths"]
        labels = Labels(fixed["code"], int(fixed["n_classes"]))
        prior = prior_of(fixed["x"], fixed["inducing"], as_chosen(fixed, params), self._draws_f(params))
        return prior, labels, widths

    @staticmethod
    def _draws_f(params: ClassesSettings) -> bool:
        """Whether f itself is drawn: between copies, and where it is stretched."""
        return len(ladder(params)) > 1 or (
            params["parameters"] == "inferred" and params["moves"] == "hamiltonian"
        )

    def null_width(self, params: ClassesSettings) -> float:
        return float(ladder(params)[-1])

    def init(self, data: ModelData, params: ClassesSettings, rng: np.random.Generator) -> ClassesFields:
        frame, widths = self.frame(data, params), ladder(params)
        filled = self.filled(data, params)
        prior = make_prior(frame.fitted, filled, self._draws_f(params))
        code = frame.codes[frame.used]
        labels, theta = Labels(code, len(frame.classes)), prior.covariance.prior_mean
        gram = prior.gram(theta)
        rungs = {str(m): new_replica(rng, theta, gram, labels, width) for m, width in enumerate(widths)}
        if labels.intervals and not self.semi:
            add_flow(rungs["0"], prior, params)
        fixed: ClassesFixed = {
            "x": frame.fitted,
            "inducing": prior.inducing,
            "code": code,
            "n_classes": len(frame.classes),
        }
        if params["covariance"] == "chosen":
            fixed["expression"] = filled["expression"]
        return {
            "fixed": fixed,
            "widths": widths,
            "rungs": rungs,
            "steps": {name: steps_with_f(prior, params, labels) for name in rungs},
        }

    def stages(
        self,
        state: ClassesFields,
        data: ModelData,
        params: ClassesSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> list[Stage]:
        """z and the steps of the covariance; where there are several copies, those of each copy in turn."""
        prior, labels, widths = self.setting(state, params)
        gram, walks = state["rungs"]["0"], hyper.moves_of(params)
        parts = 1 + walks

        def work(lo: int, hi: int) -> None:
            for m in range(lo // parts, -(-hi // parts)):
                copy, steps = state["rungs"][str(m)], state["steps"][str(m)]
                ends = max(lo - m * parts, 0), min(hi - m * parts, parts)
                sweep_replica(rng, copy, prior, labels, widths[m], steps, params, clock.warming, *ends)

        seconds = self._seconds_of_z(gram, params)
        if len(widths) > 1:
            mean = (seconds + walks * hyper.move_seconds(gram, params)) / parts
            return [Stage("copies", work, len(widths) * parts, hyper.a_slice(mean))]
        return [
            Stage("auxiliary variables", work, 1, hyper.a_slice(seconds)),
            *hyper.covariance_stage(gram, params, lambda lo, hi: work(lo + 1, hi + 1)),
        ]

    @staticmethod
    def _seconds_of_z(copy: Replica, params: ClassesSettings) -> float:
        """About how long it takes to draw z of a copy anew."""
        moved = "flow" in copy and len(copy["flow"]["map"]) > 0
        times = 2 * flow.MOST_STEPS * params["trajectories"] if moved else params["site_sweeps"]
        return float(times * len(copy["z"]) * hyper.pass_seconds(copy))

    def layout(self, data: ModelData, params: ClassesSettings) -> Layout:
        copies = {
            name: Part(("M",), "int64", low=0, below=below, missing=True)
            for name, below in (("swaps.label", "M"), ("swaps.stage", 3), ("swaps.trips", None))
        }
        own = Part((), "int64", low=-1, missing=True)
        return {**FIXED, **copies, "rungs.*.map_at": own, **steps_layout("steps.*")}

    def contradiction(self, state: ClassesFields, data: ModelData, params: ClassesSettings) -> str:
        return wrong_search(state["fixed"]["x"], state["rungs"]["0"]["theta"], state["steps"].values())

    def upgrade_state(
        self, state: State, from_version: int, data: ModelData, params: ClassesSettings
    ) -> ClassesFields:
        if from_version != 1:
            return super().upgrade_state(state, from_version, data, params)
        if len(state["widths"]) == 1:
            return cast("ClassesFields", hyper.upgraded(state))
        call, parts = state.pop("call"), 1 + hyper.moves_of(params)
        if call:
            whole = len(state["fixed"]["x"]) <= WHOLE_UP_TO
            state[POSITION] = {"stage": "copies", "at": call * parts if whole else call}
        return cast("ClassesFields", state)

    def traces(self, state: ClassesFields, data: ModelData, params: ClassesSettings) -> dict[str, float]:
        """The numbers of this sweep, of the copy at the full width."""
        prior, _labels, _widths = self.setting(state, params)
        cold, steps = self.cold(state), state["steps"][str(len(state["rungs"]) - 1)]
        square = sum(squared_length(row, cold) for row in cold["z"])
        tried = steps["tried"].sum()
        return {
            "log_density": self.log_density(cold, prior, square),
            "squared_length": square,
            "amplitude": math.exp(cold["theta"][0]),
            "accepted": float(steps["taken"].sum() / tried) if tried else math.nan,
        }

    @staticmethod
    def cold(state: ClassesFields) -> Replica:
        """The copy that the model is about."""
        return state["rungs"][str(len(state["rungs"]) - 1)]

    @staticmethod
    def log_density(copy: Replica, prior: Prior, square: float) -> float:
        """Log density of z and the parameters, f integrated out, but for a constant."""
        value = -0.5 * (len(copy["z"]) * copy["log_det"] + square) + prior.covariance.log_prior(copy["theta"])
        return float(value)

    def draws(self, state: ClassesFields, data: ModelData, params: ClassesSettings) -> Mapping[str, object]:
        cold = self.cold(state)
        prior, _labels, _widths = self.setting(state, params)
        square = sum(squared_length(row, cold) for row in cold["z"])
        return {
            "z": cold["z"].copy(),
            "theta": cold["theta"].copy(),
            "log_density": self.log_density(cold, prior, square),
            "squared_length": square,
        }

    def validate(self, data: ModelData, params: ClassesSettings) -> Sequence[Problem]:
        return find_problems(data, params, self.semi, 2)

    def estimate(self, data: ModelData, params: ClassesSettings) -> Cost:
        """Bytes of one chain and seconds of a sweep, by the page's table of costs; test samples take no part in either."""
        frame, copies = self.frame(data, params), len(ladder(params))
        size, n_classes = int(frame.used.sum()), len(frame.classes)
        walks = hyper.moves_of(params) * (4 if params["moves"] == "hamiltonian" else 1)
        rows = n_classes if n_classes > 2 else 1
        if wants_inducing(size, params):
            rank = params["inducing"]
            seconds = rows * params["site_sweeps"] * size * rank * 1.5e-9
            moves = walks * size * rank**2 * 2e-9
            memory = 8.0 * size * rank
        else:
            seconds = rows * params["site_sweeps"] * size**2 * 5e-10
            moves = walks * size**3 * 2e-10  # of a covariance that all rows have in common
            memory = 8.0 * size**2
            if together.wanted(params, size, n_classes):
                seconds += rows * together.seconds(size, n_classes)
        return Cost(3 * memory * copies, (seconds + moves) * copies)

    def prepare(self) -> None:
        """Compile by a tiny fit of each form."""
        from plaidwork.plugins.gp_auxiliary.classes.compiling import compile_chances, tiny_fit

        tiny_fit(self, {"form": "dense"})
        tiny_fit(self, {"form": "inducing", "inducing": 2})
        compile_chances()

    def summarise(self, kept: Kept, data: ModelData, params: ClassesSettings) -> Results:
        from plaidwork.plugins.gp_auxiliary.classes.auxiliary import auxiliary_results

        results = super().summarise(kept, data, params)
        if kept.n_draws:
            frame = self.frame(data, params)
            names, filled = tuple(data["X"].names[0]), self.filled(data, params)
            results |= auxiliary_results(kept, frame, names, 0.0, filled)
        return results
