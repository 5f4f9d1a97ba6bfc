"""Quick classification: mean-field variational inference (Girolami & Rogers 2006; page, section 4).

``q(f_k) = N(M_k, S)`` and ``q(z_n)`` a unit normal around ``M_n`` cut to the label's cone. The mean of q is the most
probable f, so predictions are good; q is too narrow, so its uncertainty of f is too small: the samplers are for that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

import numpy as np

from plaidwork.core.api import (
    Clock,
    Cost,
    Layout,
    ModelData,
    ModelSpec,
    Problem,
    Stage,
    State,
    chain_of,
)
from plaidwork.plugins.gp_auxiliary.classes.predicting import Predicting, as_chosen
from plaidwork.plugins.gp_auxiliary.classes.spec import QUICK_CLASSES
from plaidwork.plugins.gp_auxiliary.shared import hyper
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.shared.frame import find_problems, make_frame, make_prior, prior_of
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.state import OrderedFixed, QuickFields
from plaidwork.plugins.gp_auxiliary.shared.stored import FIXED
from plaidwork.plugins.gp_auxiliary.shared.tilting import bound_of, placed, tilt
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import LawSettings

_SMALLEST_STEP = 1e-3
_PARTS = 4


def bound(prior: Prior, theta: np.ndarray, state: QuickFields) -> float:
    """The lower bound of the log probability of labels and parameters at the state's z~ (the parameters' prior but for
    a constant): ``sum log Z_n - (z~ - M)'M / 2 - K log|I + C| / 2``, where ``M = S z~``."""
    value = bound_of(state["z"], state["mean"], state["fixed"]["code"], state["gram"]["log_det"])
    return value + prior.covariance.log_prior(theta)


def start_of_search(covariance: Covariance, spread: float, rng: np.random.Generator) -> np.ndarray:
    """(P,) parameters from which a restart begins: the mean of the prior for the first, around it by ``spread`` standard deviations of
    the prior for others, which so may find another optimum."""
    if chain_of(rng) == 0 or spread == 0:
        return covariance.prior_mean
    return covariance.prior_mean + spread * covariance.prior_sd * rng.standard_normal(
        len(covariance.prior_mean)
    )


class QuickClasses(Predicting[QuickFields, LawSettings]):
    """Classification of two or more classes by mean-field variational inference."""

    spec: ClassVar[ModelSpec] = QUICK_CLASSES

    def setting(self, state: QuickFields, params: LawSettings) -> Prior:
        return prior_of(
            state["fixed"]["x"], state["fixed"]["inducing"], as_chosen(state["fixed"], params), False
        )

    def init(self, data: ModelData, params: LawSettings, rng: np.random.Generator) -> QuickFields:
        frame, filled = make_frame(data, params), self.filled(data, params)
        prior = make_prior(frame.fitted, filled, False)
        rows = 1 if len(frame.classes) == 2 else len(frame.classes)
        # of given parameters the bound has one optimum
        spread = params["start_spread"] if params["parameters"] == "inferred" else 0.0
        theta = start_of_search(prior.covariance, spread, rng)
        fixed: OrderedFixed = {"x": frame.fitted, "inducing": prior.inducing, "code": frame.codes[frame.used]}
        if params["covariance"] == "chosen":
            fixed["expression"] = filled["expression"]
        return {
            "fixed": fixed,
            "theta": theta,
            "gram": prior.gram(theta),
            "z": np.zeros((rows, len(frame.fitted))),
            "mean": np.zeros((rows, len(frame.fitted))),
            "step": np.full(len(theta), 0.5),
            "best": theta.copy(),
            "top": 0.0,
        }

    def stages(
        self, state: QuickFields, data: ModelData, params: LawSettings, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        """The auxiliary variables and f, then one parameter of the covariance."""
        prior, gram = self.setting(state, params), state["gram"]

        def auxiliary(lo: int, hi: int) -> None:
            state["z"], _log_z = tilt(state["mean"], state["fixed"]["code"])
            state["mean"] = placed(state["z"], state["gram"])

        def climb(lo: int, hi: int) -> None:
            for part in range(lo, hi):
                self._climb(state, prior, clock.sweep % len(state["theta"]), part)

        seconds = len(state["z"]) * hyper.pass_seconds(gram)
        found = [Stage("auxiliary variables", auxiliary, slice=hyper.a_slice(seconds))]
        if params["parameters"] == "inferred":
            found.append(Stage("covariance", climb, _PARTS, hyper.a_slice(hyper.walk_seconds(gram))))
        return found

    def traces(self, state: QuickFields, data: ModelData, params: LawSettings) -> Mapping[str, float]:
        inferred = params["parameters"] == "inferred"
        return {
            "elbo": bound(self.setting(state, params), state["theta"], state),
            "amplitude": math.exp(state["theta"][0]),
            "step": float(state["step"].max()) if inferred else 0.0,
        }

    def layout(self, data: ModelData, params: LawSettings) -> Layout:
        return FIXED

    def upgrade_state(
        self, state: State, from_version: int, data: ModelData, params: LawSettings
    ) -> QuickFields:
        if from_version == 1:
            return cast("QuickFields", hyper.upgraded(state))
        return super().upgrade_state(state, from_version, data, params)

    def _climb(self, state: QuickFields, prior: Prior, index: int, part: int) -> None:
        """Try a parameter a step up and down, with z~ as it is, and halve the step when neither helps; in four parts."""
        step = float(state["step"][index])
        if step < _SMALLEST_STEP:
            return
        if part == 0:
            state["best"], state["top"] = state["theta"].copy(), self._value(state, prior, state["theta"])
        elif part < 3:
            proposed = state["theta"].copy()
            proposed[index] += step if part == 1 else -step
            value = self._value(state, prior, proposed)
            if value > state["top"]:
                state["best"], state["top"] = proposed, value
        elif state["best"][index] == state["theta"][index]:
            state["step"][index] *= 0.5
        else:
            state["theta"] = state["best"]
            state["gram"] = prior.gram(state["theta"])
            state["mean"] = placed(state["z"], state["gram"])

    def _value(self, state: QuickFields, prior: Prior, theta: np.ndarray) -> float:
        return prior.log_density(theta, state["z"]) + prior.covariance.log_prior(theta)

    def converged(self, traces: Mapping[str, np.ndarray], tolerance: float) -> bool:
        """The bound has settled over as many sweeps as there are parameters, and no parameter takes large steps."""
        values = traces["elbo"]
        if len(values) < 12 or traces["step"][-1] > 0.1:
            return False
        change = abs(float(values[-1] - values[-11]))
        return change <= tolerance * max(1.0, abs(float(values[-1])))

    def may_stop(self, traces: Mapping[str, np.ndarray], params: LawSettings) -> bool:
        """No parameter takes large steps any more."""
        return bool(traces["step"][-1] <= 0.1)

    def draws(self, state: QuickFields, data: ModelData, params: LawSettings) -> Mapping[str, object]:
        return {"z": state["z"].copy(), "theta": state["theta"].copy()}

    def validate(self, data: ModelData, params: LawSettings) -> Sequence[Problem]:
        return find_problems(data, params, False, 2)

    def estimate(self, data: ModelData, params: LawSettings) -> Cost:
        size = int(self.frame(data, params).used.sum())
        return Cost(24.0 * size**2, 2e-10 * size**3 + 1e-8 * size**2)

    def prepare(self) -> None:
        from plaidwork.plugins.gp_auxiliary.classes.compiling import compile_chances, tiny_fit

        tiny_fit(self, {"form": "dense"})
        tiny_fit(self, {"form": "inducing", "inducing": 2})
        compile_chances()
