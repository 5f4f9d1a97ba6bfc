"""Ordered classes: one latent function and cut-points on it, which are inferred too (page, section 2.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple, cast

import numpy as np

from plaidwork.core.api import (
    Clock,
    Layout,
    ModelData,
    ModelSpec,
    Part,
    Problem,
    Stage,
    State,
)
from plaidwork.plugins.gp_auxiliary.classes.density import Sampled
from plaidwork.plugins.gp_auxiliary.classes.spec import ORDERED_CLASSES
from plaidwork.plugins.gp_auxiliary.kernels import following
from plaidwork.plugins.gp_auxiliary.shared import flow, hyper
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.shared.frame import (
    classes_of,
    find_problems,
    make_frame,
    make_prior,
    order_problems,
    prior_of,
)
from plaidwork.plugins.gp_auxiliary.shared.given import ascending_problem, numbers_of
from plaidwork.plugins.gp_auxiliary.shared.given_f import draw_intervals, log_intervals
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, draw_f, is_dense, squared_length, times_q
from plaidwork.plugins.gp_auxiliary.shared.state import Gram, OrderedFields, Precision, Steps
from plaidwork.plugins.gp_auxiliary.shared.stored import FIXED, steps_layout, wrong_search
from plaidwork.plugins.gp_auxiliary.shared.stretching import stretch_amplitudes
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import CutSettings, OrderedSettings

PASSES, SCALES = 8, 3
"""Steps of every cut-point, and of the common scale, in a sweep. They cost N each where a new theta costs N^3, and
of 600 graded wines the range of the cut-points had 46 effective draws with one step a sweep and has 204 so (CPU 86 and 122 s)."""


class CutWidths(NamedTuple):
    """Prior sds of the first cut-point and of the logarithm of every gap, both around 0."""

    first: float
    gap: float


def widths_of(params: CutSettings) -> CutWidths:
    """The prior widths of the settings."""
    return CutWidths(params["cut_sd"], params["cut_gap_sd"])


def edges(cuts: np.ndarray, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Low and high end (N,) of z for classes ``code`` (N,) between cut-points (K - 1,)."""
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    return ends[code], ends[code + 1]


def start_cuts(params: CutSettings, n_cuts: int) -> np.ndarray:
    """(K - 1,) cut-points to begin with, which stay unless they are inferred."""
    if params["cut_points"] == "given":
        return np.array(numbers_of(params["given_cuts"]), dtype=np.float64)
    return np.asarray(params["gap"] * (np.arange(n_cuts) - 0.5 * (n_cuts - 1)), dtype=np.float64)


def cut_problems(params: CutSettings, n_cuts: int) -> list[Problem]:
    """What is wrong with given cut-points."""
    if params["cut_points"] != "given":
        return []
    found = ascending_problem("Given cut-points", params["given_cuts"], n_cuts, "given_cuts")
    return [found] if found else []


def log_cuts(cuts: np.ndarray, widths: CutWidths) -> float:
    """Log prior density in the coordinates (first cut-point, logarithms of the gaps), but for a constant."""
    gaps = np.log(np.diff(cuts)) / widths.gap
    return float(-0.5 * (cuts[0] / widths.first) ** 2 - 0.5 * np.sum(gaps**2))


def log_labels(f: np.ndarray, cuts: np.ndarray, code: np.ndarray, scale: np.ndarray | float = 1.0) -> float:
    """Log probability of the classes given f (N,), z integrated out; ``scale`` (N,) is one over the noise's sd."""
    low, high = edges(cuts, code)
    free = np.zeros(len(f), dtype=bool)
    return log_intervals(f * scale, low * scale, high * scale, free, 0.0, 0.0, 0.0)


def walk_cuts(
    rng: np.random.Generator,
    cuts: np.ndarray,
    f: np.ndarray,
    code: np.ndarray,
    steps: Steps,
    warming: bool,
    widths: CutWidths,
    scale: np.ndarray | float = 1.0,
    passes: int = 1,
) -> None:
    """Random-walk steps of every cut-point in turn (as first value and log gaps) given f, z integrated out; in place."""
    current = log_labels(f, cuts, code, scale) + log_cuts(cuts, widths)
    for index in passes * [*range(len(cuts))]:
        gaps = np.log(np.diff(cuts))
        first = cuts[0]
        move = hyper.step_size(steps, index) * rng.standard_normal()
        if index == 0:
            first += move
        else:
            gaps[index - 1] += move
        proposed = first + np.concatenate([[0.0], np.cumsum(np.exp(gaps))])
        value = log_labels(f, proposed, code, scale) + log_cuts(proposed, widths)
        taken = math.log(rng.random()) < value - current
        hyper.learn(steps, index, taken, warming)
        if taken:
            cuts[:] = proposed
            current = value


def move_together(
    rng: np.random.Generator,
    z: np.ndarray,
    cuts: np.ndarray,
    gram: Precision,
    steps: Steps,
    warming: bool,
    widths: CutWidths,
) -> None:
    """Scale and shift z and the cut-points together, f integrated out (page, section 2.2, step 4); in place.

    The exponent of the scale is N + 1 in (first cut-point, log gaps), for any number of
    classes: N from z and one from the first cut-point; the logarithms of the gaps shift, which costs nothing.
    """
    for _ in range(SCALES):
        square = squared_length(z, gram)
        factor = math.exp(hyper.step_size(steps, 0) * rng.standard_normal())
        ratio = (len(z) + 1) * math.log(factor) - 0.5 * (factor**2 - 1.0) * square
        ratio += log_cuts(cuts * factor, widths) - log_cuts(cuts, widths)
        taken = math.log(rng.random()) < ratio
        hyper.learn(steps, 0, taken, warming)
        if taken:
            z *= factor
            cuts *= factor
    shift_cuts(rng, z, np.ones(len(z)), gram, cuts, widths.first)


def stretch_cuts(
    rng: np.random.Generator,
    f: np.ndarray,
    cuts: np.ndarray,
    code: np.ndarray,
    theta: np.ndarray,
    law: Covariance,
    widths: CutWidths | None,
) -> float:
    """f (N,), the amplitudes in theta (P,) and, where they have a prior of these widths, the cut-points (K - 1,) stretched by one
    factor, z integrated out; in place. Returns the factor.

    Given f the cut-points are narrow, and given z so are the amplitudes: here only the labels and the priors decide. The volume
    of f cancels with its prior's; that of the cut-points in (first one, log gaps) is the factor itself.
    """

    def log_rest(factor: float) -> float:
        if widths is None:
            return log_labels(f * factor, cuts, code)
        stretched = cuts * factor
        return log_labels(f * factor, stretched, code) + log_cuts(stretched, widths) + math.log(factor)

    factor = stretch_amplitudes(rng, theta, law, log_rest)
    f *= factor
    if widths is not None:
        cuts *= factor
    return factor


def shift_cuts(
    rng: np.random.Generator,
    together: np.ndarray,
    scale: np.ndarray,
    gram: Precision,
    cuts: np.ndarray,
    first_sd: float,
) -> float:
    """Shift the cut-points and ``together`` (N,), which is ``scale`` (N,) times values with noise around f, by a normal draw given
    everything else, f integrated out (page, section 2.2, step 4). In place; returns the shift."""
    product = times_q(scale, gram)
    weight = float(product @ scale) + 1.0 / first_sd**2
    mean = -(float(product @ together) + cuts[0] / first_sd**2) / weight
    shift = mean + rng.standard_normal() / math.sqrt(weight)
    together += shift * scale
    cuts += shift
    return float(shift)


class OrderedClasses(Sampled[OrderedFields, OrderedSettings]):
    """Ordinal probit regression on a Gaussian process."""

    spec: ClassVar[ModelSpec] = ORDERED_CLASSES

    def setting(self, state: OrderedFields, params: OrderedSettings) -> Prior:
        return prior_of(state["fixed"]["x"], state["fixed"]["inducing"], params, False)

    def init(self, data: ModelData, params: OrderedSettings, rng: np.random.Generator) -> OrderedFields:
        frame = make_frame(data, params)
        x, code = frame.fitted, frame.codes[frame.used]
        n_cuts = len(frame.classes) - 1
        cuts = start_cuts(params, n_cuts)
        low, high = edges(cuts, code)
        inset = 0.1 * (params["gap"] if params["cut_points"] != "given" else min([1.0, *np.diff(cuts)]))
        inner = np.clip(rng.standard_normal(len(x)), low + inset, high - inset)
        z, prior = np.clip(inner, low, high), make_prior(x, params, False)
        theta = prior.covariance.prior_mean
        gram, reference = prior.gram(theta), flow.new_reference(z)
        return {
            "fixed": {"x": x, "inducing": prior.inducing, "code": code},
            "cuts": cuts,
            "z": z,
            "theta": theta,
            "steps": hyper.steps_of(prior, params),
            "cut_steps": hyper.new_steps(n_cuts, 0.2),
            "joint_steps": hyper.new_steps(1, 0.1),
            "reference": reference,
            "flow": flow.flow_of(prior, theta, gram, reference),
            **gram,
        }

    def _set_flow(self, state: OrderedFields, prior: Prior) -> None:
        state["flow"] = flow.flow_of(prior, state["theta"], state, state["reference"])

    def stages(
        self,
        state: OrderedFields,
        data: ModelData,
        params: OrderedSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> Sequence[Stage]:
        """z and the cut-points, then the covariance."""
        prior = self.setting(state, params)

        def move(lo: int, hi: int) -> None:
            z, steps = state["z"][None], state["steps"]
            moved = hyper.move_theta(rng, state["theta"], z, prior, steps, clock.warming, lo, hi)
            if moved or (self._stretches(params) and hi == hyper.moves_of(params)):
                state.update(prior.gram(state["theta"]))
                self._set_flow(state, prior)

        seconds = 2 * flow.MOST_STEPS * params["trajectories"] * hyper.pass_seconds(state)
        return [
            Stage(
                "auxiliary variables and cut-points",
                lambda lo, hi: self._place(state, prior, params, rng, clock),
                slice=hyper.a_slice(seconds),
            ),
            *hyper.covariance_stage(state, params, move),
        ]

    def layout(self, data: ModelData, params: OrderedSettings) -> Layout:
        joint = {
            f"joint_steps.{name}": Part(("J",)) for name in ("log_size", "tried", "taken")
        }  # version 1.0 had two
        return {**FIXED, **joint, **steps_layout("steps", "cut_steps", "joint_steps")}

    def contradiction(self, state: OrderedFields, data: ModelData, params: OrderedSettings) -> str:
        return wrong_search(state["fixed"]["x"], state["theta"], [state["steps"]])

    def upgrade_state(
        self, state: State, from_version: int, data: ModelData, params: OrderedSettings
    ) -> OrderedFields:
        if from_version == 1:
            return cast("OrderedFields", hyper.upgraded(state))
        return super().upgrade_state(state, from_version, data, params)

    def _place(
        self,
        state: OrderedFields,
        prior: Prior,
        params: OrderedSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> None:
        """The order matters: cut-points and f are drawn with z integrated out, and z at once after them."""
        z, cuts, code, reference = state["z"], state["cuts"], state["fixed"]["code"], state["reference"]
        if clock.warming and flow.learn(reference):
            self._set_flow(state, prior)
        w = flow.place_of(rng, z, state, state["flow"])
        inferred = params["cut_points"] == "inferred"
        if inferred:
            f, scale = flow.values_of(w, state["flow"]), 1.0 / state["flow"]["sd"]
            widths, steps = widths_of(params), state["cut_steps"]
            walk_cuts(rng, cuts, f, code, steps, clock.warming, widths, scale, PASSES)
            if params["cut_moves"] == "followed":
                law = state["flow"]
                following.follow(
                    rng, law["map"], len(law["turn"]) == 0, w, law["centre"], code, cuts, law["sd"],
                    reference["pull"], reference["bend"], *widths,
                )  # fmt: skip
        ends = edges(cuts, code)
        flow.move(rng, w, z, ends, state["flow"], reference, clock.warming, params["trajectories"])
        if inferred:
            move_together(rng, z, cuts, state, state["joint_steps"], clock.warming, widths_of(params))
        if self._stretches(params):
            self._stretch(state, prior, params, rng)
        state["steps"]["current"][0] = math.nan

    @staticmethod
    def _stretches(params: OrderedSettings) -> bool:
        return params["stretch"] == "together" and params["parameters"] == "inferred"

    @staticmethod
    def _stretch(
        state: OrderedFields, prior: Prior, params: OrderedSettings, rng: np.random.Generator
    ) -> None:
        """f given z, stretched, and z given it. The precision is that of theta before, until the covariance has moved too."""
        z, cuts, code = state["z"], state["cuts"], state["fixed"]["code"]
        root = state["flow"]["root"] if is_dense(state) else state["root"]
        f = draw_f(rng, z[None], cast("Gram", {**state, "root": root}))[0]
        widths = widths_of(params) if params["cut_points"] == "inferred" else None
        stretch_cuts(rng, f, cuts, code, state["theta"], prior.covariance, widths)
        free = np.zeros(len(z), dtype=bool)
        draw_intervals(rng, f, z, *edges(cuts, code), free, 0.0, 0.0, 0.0)

    def traces(self, state: OrderedFields, data: ModelData, params: OrderedSettings) -> dict[str, float]:
        prior = self.setting(state, params)
        square = squared_length(state["z"], state)
        tried = state["steps"]["tried"].sum()
        cuts = state["cuts"]
        log_density = -0.5 * (state["log_det"] + square) + prior.covariance.log_prior(state["theta"])
        return {
            "log_density": log_density + log_cuts(cuts, widths_of(params)),
            "squared_length": square,
            "amplitude": math.exp(state["theta"][0]),
            "mean_cut": float(cuts.mean()),
            "width": float(cuts[-1] - cuts[0]) if len(cuts) > 1 else math.nan,
            "accepted": float(state["steps"]["taken"].sum() / tried) if tried else math.nan,
        }

    def draws(self, state: OrderedFields, data: ModelData, params: OrderedSettings) -> Mapping[str, object]:
        traces = self.traces(state, data, params)
        return {
            "z": state["z"][None].copy(),
            "theta": state["theta"].copy(),
            "cuts": state["cuts"].copy(),
            "log_density": traces["log_density"],
            "squared_length": traces["squared_length"],
        }

    def validate(self, data: ModelData, params: OrderedSettings) -> Sequence[Problem]:
        found = find_problems(data, params, False, 2)
        n_cuts = len(classes_of(data["y"])[1]) - 1
        return [*found, *cut_problems(params, n_cuts), *order_problems(data)]

    def prepare(self) -> None:
        from plaidwork.plugins.gp_auxiliary.classes.compiling import tiny_fit

        tiny_fit(self, {"form": "dense"}, 3)
        tiny_fit(self, {"form": "inducing", "inducing": 2}, 3)
