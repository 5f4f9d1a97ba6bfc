"""Quick regression: the best parameters by ascent from several starts, each optimum kept.

The evidence has several optima where few data can be noise or a rough function (Rasmussen & Williams 2006, section 5.4.1). The ascent is
quasi-Newton with the BFGS update of the inverse Hessian (Nocedal & Wright 2006, Numerical Optimization, equation 6.17).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal, TypedDict

import numpy as np

from plaidwork.core.api import (
    Clock,
    Cost,
    Kept,
    Layout,
    ModelData,
    ModelSpec,
    Part,
    Results,
    Stage,
    Table,
    format_number,
)
from plaidwork.plugins.gp_auxiliary.regression.model import Regressing
from plaidwork.plugins.gp_auxiliary.regression.moments import Fitted
from plaidwork.plugins.gp_auxiliary.regression.parameters import as_shown
from plaidwork.plugins.gp_auxiliary.regression.samples import (
    Samples,
    filled,
    make_samples,
    points_of,
)
from plaidwork.plugins.gp_auxiliary.regression.sparse import bound_and_slope, solve_sparse
from plaidwork.plugins.gp_auxiliary.regression.spec import QUICK
from plaidwork.plugins.gp_auxiliary.regression.state import (
    RegressionFixed,
    amplitude,
    fixed_of,
    noise_variance,
    prior_of,
    settings_at,
)
from plaidwork.plugins.gp_auxiliary.shared.evidence import evidence
from plaidwork.plugins.gp_auxiliary.shared.frame import wants_inducing
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.state import Floats
from plaidwork.plugins.gp_auxiliary.shared.stored import FIXED
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

NEAR = 3.0
"""Nats by which two optima differ at most for both to be worth a word."""
RISES = 2.0
"""Nats by which the bound rises with the second half of the inducing points where more of them would change the fit."""
SAME = 0.05
"""Nats within which two ascents may have found one optimum."""
_SETTLED, _FEW = 1e-3, 3
"""Gain of so many steps after each other that ends an ascent."""
_MOST_STEPS = 200
_ENOUGH, _SHORT = 1e-4, 1e-6
_FAR = 20.0
"""Logarithms beyond which no parameter goes."""
_LONGEST = 3.0
"""Logarithms that a step changes at most."""


class QuickSettings(RegressionSettings):
    """Settings of the ascent."""

    starts: int
    raised: Literal["posterior", "evidence"]


class QuickFields(TypedDict):
    """The state of the ascents, which are made one after the other."""

    fixed: RegressionFixed
    points: Floats
    """(M, D) inducing points; M = 0 for the exact law."""
    optima: Floats
    """(S, P) where each start has come to; those not begun yet are where they begin."""
    tops: Floats
    """(S,) the objective there."""
    at: int
    """Number of the ascent under way; S when all have ended."""
    slope: Floats
    """(P,)"""
    curve: Floats
    """(P, P) what stands for the inverse of the negative Hessian."""
    length: float
    """Share of the next step that is tried."""
    tried: int
    still: int
    """Steps after each other that gained next to nothing."""


class QuickRegression(Regressing[QuickFields, QuickSettings]):
    """Regression at the most probable parameters."""

    spec: ClassVar[ModelSpec] = QUICK

    def prior(self, state: QuickFields, params: QuickSettings) -> Prior:
        """The law of the values."""
        return prior_of(state["fixed"], params, points=state["points"])

    def estimate(self, data: ModelData, params: QuickSettings) -> Cost:
        """Bytes of the ascents and seconds of a step."""
        size, inputs = int(make_samples(data, params).frame.used.sum()), data["X"].shape[1]
        if not wants_inducing(size, params):
            return super().estimate(data, params)
        points = params["inducing"]
        seconds = size * points * (6e-11 * points + 2e-9 * (inputs + 3)) + 1e-9 * points**3
        return Cost(8.0 * (size + 6.0 * points) * (points + inputs + 20.0), seconds)

    def init(self, data: ModelData, params: QuickSettings, rng: np.random.Generator) -> QuickFields:
        fixed = fixed_of(make_samples(data, params))
        points = points_of(fixed["x"], settings_at(fixed, params))
        prior = prior_of(fixed, params, points=points)
        law = prior.covariance
        noise = rng.standard_normal((params["starts"] - 1, len(law.parameters)))
        optima = np.vstack([law.prior_mean, law.prior_mean + law.prior_sd * noise])
        optima = np.clip(optima, -_FAR, _FAR)
        found = [climbed(prior, place, fixed["y"], params["raised"]) for place in optima]
        return {
            "fixed": fixed,
            "points": points,
            "optima": optima,
            "tops": np.array([value for value, _slope in found]),
            "at": 0,
            "slope": found[0][1],
            "curve": np.eye(len(law.parameters)),
            "length": 1.0,
            "tried": 0,
            "still": 0,
        }

    def layout(self, data: ModelData, params: QuickSettings) -> Layout:
        return {**FIXED, "tops": Part(unset=True)}

    def stages(
        self,
        state: QuickFields,
        data: ModelData,
        params: QuickSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> list[Stage]:
        """A try of a step of the ascent under way."""
        prior = self.prior(state, params)

        def work(lo: int, hi: int) -> None:
            if state["at"] < len(state["tops"]):
                try_step(state, prior, params["raised"])

        return [Stage("ascent", work)]

    def traces(self, state: QuickFields, data: ModelData, params: QuickSettings) -> dict[str, float]:
        theta, prior = best_of(state["optima"], state["tops"]), self.prior(state, params)
        return {
            "log_density": float(state["tops"].max()),
            "noise": state["fixed"]["unit"] * math.sqrt(noise_variance(prior, theta)),
            "amplitude": amplitude(prior, theta),
            "left": float(len(state["tops"]) - state["at"]),
        }

    def draws(self, state: QuickFields, data: ModelData, params: QuickSettings) -> Mapping[str, object]:
        return {
            "theta": best_of(state["optima"], state["tops"]).copy(),
            "log_density": float(state["tops"].max()),
            "optima": state["optima"].copy(),
            "tops": state["tops"].copy(),
        }

    def converged(self, traces: Mapping[str, np.ndarray], tolerance: float) -> bool:
        """All ascents have ended."""
        return bool(traces["left"][-1] == 0)

    def prepare(self) -> None:
        from plaidwork.plugins.gp_auxiliary.regression.new import tiny_fit

        tiny_fit(self)

    def summarise(self, kept: Kept, data: ModelData, params: QuickSettings) -> Results:
        results = super().summarise(kept, data, params)
        if kept.n_draws:
            chain = kept.chains[0]
            samples = make_samples(data, params)
            fitted = Fitted.of(samples, filled(params, samples.season))
            optima, tops = (np.asarray(chain.draw(name, chain.n_draws - 1)) for name in ("optima", "tops"))
            results |= optima_results(optima, tops, fitted.prior(), samples)
            results |= point_results(best_of(optima, tops), fitted)
            doubts = [str(results.pop(name)) for name in ("points_doubt", "optima_doubt") if name in results]
            if doubts:
                results["doubt"] = ". ".join(doubts)
        return results


def climbed(prior: Prior, theta: np.ndarray, y: np.ndarray, raised: str) -> tuple[float, np.ndarray]:
    """The objective in nats, the prior's density but for a constant, and its gradient (P,)."""
    if prior.dense:
        found = evidence(prior, theta, y[None])
        value, slope = found.value - 0.5 * len(y) * math.log(2.0 * math.pi), found.gradient
    else:
        value, slope = bound_and_slope(prior, theta, y)
    if raised == "posterior":
        law = prior.covariance
        value += law.log_prior(theta)
        slope = slope - (theta - law.prior_mean) / law.prior_sd**2
    return value, slope


def best_of(optima: np.ndarray, tops: np.ndarray) -> np.ndarray:
    """(P,) the best place (S, P)."""
    return np.asarray(optima[int(np.argmax(tops))])


def try_step(state: QuickFields, prior: Prior, raised: str) -> None:
    """A try of a step; when nothing is gained any more, the next start."""
    at, y = state["at"], state["fixed"]["y"]
    place, top = state["optima"][at], state["tops"][at]
    direction = state["curve"] @ state["slope"]
    direction *= min(1.0, _LONGEST / max(np.abs(direction).max(), 1e-300))
    step = np.clip(place + state["length"] * direction, -_FAR, _FAR) - place
    value, slope = climbed(prior, place + step, y, raised)
    state["tried"] += 1
    if value - top >= _ENOUGH * float(step @ state["slope"]) and value > -math.inf:
        change = state["slope"] - slope
        along = float(step @ change)
        if along > 1e-12:
            if state["tried"] == 1:  # the size of the first curve (equation 6.20)
                state["curve"] = state["curve"] * (along / float(change @ change))
            turn = np.eye(len(step)) - np.outer(step, change) / along
            state["curve"] = turn @ state["curve"] @ turn.T + np.outer(step, step) / along
        state["still"] = state["still"] + 1 if value - top < _SETTLED else 0
        state["optima"][at], state["tops"][at], state["slope"] = place + step, value, slope
        state["length"] = 1.0
    else:
        state["length"] *= 0.25
    if state["still"] >= _FEW or state["length"] < _SHORT or state["tried"] >= _MOST_STEPS:
        _begin_next(state, prior, raised)


def _begin_next(state: QuickFields, prior: Prior, raised: str) -> None:
    state["at"] += 1
    state["curve"], state["length"] = np.eye(len(state["slope"])), 1.0
    state["tried"], state["still"] = 0, 0
    if state["at"] < len(state["tops"]):
        place = state["optima"][state["at"]]
        state["slope"] = climbed(prior, place, state["fixed"]["y"], raised)[1]


def optima_results(optima: np.ndarray, tops: np.ndarray, prior: Prior, samples: Samples) -> Results:
    """Where each start (S, P) has ended, the best first, and whether two optima are about as good."""
    order = np.argsort(-tops, kind="stable")
    optima, tops = optima[order], tops[order]
    law = prior.covariance
    columns = {
        "Start": order + 1,
        "Objective": tops,
        "Below the best": tops[0] - tops,
    }
    unit = float(np.exp(np.log(samples.spread).mean()))
    columns["Noise sd"] = unit * np.sqrt([noise_variance(prior, place) for place in optima])
    for i, parameter in enumerate(law.parameters):
        if parameter.kind != "noise":
            columns[parameter.name] = as_shown(parameter, optima[:, i])
    others = [k for k in range(1, len(tops)) if not _same(optima[0], tops[0], optima[k], tops[k])]
    near = [k for k in others if tops[0] - tops[k] < NEAR]
    note = (
        "All starts have found one optimum."
        if not others
        else "The other optima are much worse than the best."
    )
    if len(tops) == 1:
        note = "There was one start only."
    results: Results = {}
    if near:
        gap = format_number(float(tops[0] - tops[near[0]]), 2)
        note = f"Another optimum is about as good: {gap} nats below the best. The sampler weighs both: “Gaussian process regression”."
        results["optima_doubt"] = f"Another optimum is about as good: {gap} nats below the best"
    return {**results, "optima": Table(columns, label="Optima"), "optima_note": note}


def point_results(theta: np.ndarray, fitted: Fitted) -> Results:
    """The bound at the best parameters (P,) by a quarter, half and all of the inducing points, and whether more would change the fit."""
    size = len(fitted.x)
    if not len(fitted.points):
        table = Table({"Points": np.array([size]), "Bound": np.array([np.nan])}, label="Inducing points")
        return {"points": table, "points_note": "The computation is exact: no inducing points were needed."}
    rows = []
    for step in (4, 2, 1):
        prior = replace(fitted.prior(), inducing=np.ascontiguousarray(fitted.points[::step]))
        rows.append((len(prior.inducing), solve_sparse(prior, theta, fitted.y).bound(fitted.y)))
    counts, bounds = (np.array(column) for column in zip(*rows, strict=True))
    gain = float(bounds[-1] - bounds[-2])
    said = f"Half of the points would lower the bound by {format_number(gain, 3)} nats"
    results: Results = {"points": Table({"Points": counts, "Bound": bounds}, label="Inducing points")}
    if gain > RISES and counts[-1] < size:
        results["points_doubt"] = f"More inducing points would change the fit: {said[0].lower()}{said[1:]}"
        return {
            **results,
            "points_note": f"More points would change the fit: {said[0].lower()}{said[1:]}. Approximate.",
        }
    return {**results, "points_note": f"The points are enough: {said[0].lower()}{said[1:]}. Approximate."}


def _same(first: np.ndarray, top: float, second: np.ndarray, other: float) -> bool:
    """Whether two ascents have ended at one optimum: as good, and alike in all that is not as good as 0."""
    small = np.maximum(first, second) < -6.0
    return bool(abs(top - other) < SAME and (small | (np.abs(first - second) < 0.5)).all())
