"""Regression by sampling the parameters of covariance and noise, the function integrated out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from plaidwork.core.api import (
    ChainView,
    Clock,
    Cost,
    Kept,
    Layout,
    Model,
    ModelData,
    ModelSpec,
    Part,
    Problem,
    Results,
    Stage,
    Trial,
)
from plaidwork.plugins.gp_auxiliary.regression.law import law_of
from plaidwork.plugins.gp_auxiliary.regression.moments import solve_dense
from plaidwork.plugins.gp_auxiliary.regression.noise import (
    NoiseLaw,
    draw_degrees,
    draw_residuals,
    draw_scales,
)
from plaidwork.plugins.gp_auxiliary.regression.outputs import all_cells
from plaidwork.plugins.gp_auxiliary.regression.problems import find_problems
from plaidwork.plugins.gp_auxiliary.regression.samples import (
    filled,
    make_samples,
    season_of,
)
from plaidwork.plugins.gp_auxiliary.regression.season_found import with_choice_told
from plaidwork.plugins.gp_auxiliary.regression.spec import REGRESSION
from plaidwork.plugins.gp_auxiliary.regression.state import (
    RegressionFields,
    RegressionFixed,
    amplitude,
    draw_values,
    fixed_of,
    log_density,
    noise_variance,
    numbered,
    prior_of,
    settings_at,
    start_of,
)
from plaidwork.plugins.gp_auxiliary.regression.varying import Sliced, try_angle
from plaidwork.plugins.gp_auxiliary.shared import hyper
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.stored import FIXED, steps_layout, wrong_search
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RegressionSettings

SLICES = 4
"""Elliptical slices of a varying noise in a sweep: they cost a few values each, a trajectory five gradients."""


_TRIAL = {
    "standardise": False,
    "standardise_y": False,
    "amplitude_sd": 0.7,
    "gamma_sd": 0.7,
    "noise_sd": 0.7,
}
_SMALL = {"X": (8, 2), "y": (8,)}
FieldsT = TypeVar("FieldsT", bound=Mapping[str, Any])
SettingsT = TypeVar("SettingsT", bound=RegressionSettings)


class Regressing(Model[FieldsT, SettingsT], Generic[FieldsT, SettingsT]):
    """What the regressions say of samples, given draws of their parameters."""

    likelihood_of: ClassVar[str] = "y"
    likelihood_by_row: ClassVar[bool] = True

    def validate(self, data: ModelData, params: SettingsT) -> Sequence[Problem]:
        return find_problems(data, params)

    def estimate(self, data: ModelData, params: SettingsT) -> Cost:
        """Bytes of one chain and seconds of a sweep; test samples take no part in either."""
        samples, inputs = make_samples(data, params), data["X"].shape[1]
        fitted = int(samples.frame.used.sum())
        size = len(samples.cells) if samples.outputs else fitted
        whole = size == fitted * len(samples.outputs)
        turns, size = (3.0, fitted) if whole else (1.0, size)
        gradient = 6e-11 * size**3 + (4e-8 + 3.5e-10 * inputs) * size**2
        return Cost(40.0 * turns * size**2, hyper.UNITS * turns * gradient)

    def summarise(self, kept: Kept, data: ModelData, params: SettingsT) -> Results:
        from plaidwork.plugins.gp_auxiliary.regression.results import summarise_draws

        samples = make_samples(data, params)
        results = summarise_draws(kept, samples, data, filled(params, samples.season))
        return with_choice_told(results, samples, data, params)

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: SettingsT) -> Results:
        from plaidwork.plugins.gp_auxiliary.regression.new import predict_new

        samples = make_samples(data, params)
        return predict_new(kept, samples, new_data, filled(params, samples.season))

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: SettingsT,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        from plaidwork.plugins.gp_auxiliary.regression.new import log_density_left_out

        samples = make_samples(data, params)
        return log_density_left_out(chain, draws, samples, filled(params, samples.season))[:, rows]


class Regression(Regressing[RegressionFields, RegressionSettings]):
    """Regression with normal noise of one variance, with Student's, or with one whose variance changes with the inputs."""

    spec: ClassVar[ModelSpec] = REGRESSION
    trials: ClassVar[Sequence[Trial]] = (
        Trial(params=_TRIAL, shapes=_SMALL, warmup=60, thin=2),
        Trial(
            name="walks",
            params={**_TRIAL, "moves": "walk", "walks": 6},
            shapes=_SMALL,
            thin=4,
        ),
        Trial(
            name="terms",
            params={
                **_TRIAL,
                "covariance": "expression",
                "expression": "matern32(ard) + linear",
                "metric": "mode",
            },
            shapes={"X": (6, 2), "y": (6,)},
            thin=4,
        ),
        Trial(
            name="season",
            params={
                **_TRIAL,
                "covariance": "expression",
                "expression": "periodic * rbf + linear",
                "period": 1.5,
            },
            shapes={"X": (6, 2), "y": (6,)},
            warmup=60,
            thin=4,
        ),
        Trial(
            name="groups",
            params={
                **_TRIAL,
                "covariance": "expression",
                "expression": "linear + same * rbf",
                "noise": "groups",
            },
            shapes={"X": (7, 2), "y": (7,), "groups": (7,)},
            warmup=60,
            thin=4,
        ),
        Trial(
            name="outputs",
            params={
                **_TRIAL,
                "covariance": "expression",
                "expression": "same * linear",
                "moves": "walk",
                "walks": 6,
            },
            shapes={"X": (8, 1), "y": (8, 2), "groups": (8,)},
            thin=6,
        ),
        Trial(name="student", params={**_TRIAL, "noise": "student"}, shapes=_SMALL, thin=4),
        Trial(name="varying", params={**_TRIAL, "noise": "varying"}, shapes=_SMALL, thin=4),
    )

    def prior(self, state: RegressionFields, params: RegressionSettings) -> Prior:
        """The law of the chain's values."""
        return prior_of(state["fixed"], params, state["scale"])

    def init(self, data: ModelData, params: RegressionSettings, rng: np.random.Generator) -> RegressionFields:
        fixed = fixed_of(make_samples(data, params))
        law = NoiseLaw.of(params["noise"], fixed["x"])
        theta = start_of(prior_of(fixed, params).covariance, rng)
        return self._begun(fixed, theta, law.start_shape(), np.ones(len(fixed["y"])), law, params)

    def _begun(
        self,
        fixed: RegressionFixed,
        theta: np.ndarray,
        shape: np.ndarray,
        scale: np.ndarray,
        law: NoiseLaw,
        params: RegressionSettings,
    ) -> RegressionFields:
        prior = prior_of(fixed, params, scale)
        return {
            "fixed": fixed,
            "theta": theta,
            "log_density": log_density(prior, theta, fixed["y"]),
            "steps": hyper.steps_of(prior, settings_at(fixed, params)),
            "shape": shape,
            "scale": scale,
            "places": law.places,
            "slices": 0,
        }

    def stages(
        self,
        state: RegressionFields,
        data: ModelData,
        params: RegressionSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> list[Stage]:
        """A trajectory of the parameters, or steps of a walk, and where the noise has a shape its moves."""
        prior, y, kind = self.prior(state, params), state["fixed"]["y"], params["noise"]

        def move(lo: int, hi: int) -> None:
            hyper.move_theta(rng, state["theta"], y[None], prior, state["steps"], clock.warming, lo, hi)

        def end() -> None:
            state["slices"] = 0
            state["log_density"] = log_density(self.prior(state, params), state["theta"], y)

        def student(lo: int, hi: int) -> None:
            draw_student(rng, state, prior)

        common: list[Sliced] = []  # theta stays while the noise moves

        def varying(lo: int, hi: int) -> bool:
            if not common:
                common.append(Sliced.of(prior, state))
            state["slices"] += try_angle(rng, state, common[0])
            return state["slices"] == SLICES

        seconds = 2e-4 + prior.gradient_seconds()
        covariance = Stage(
            "covariance", move, hyper.moves_of(settings_at(state["fixed"], params)), hyper.a_slice(seconds)
        )
        if kind in ("normal", "groups"):
            return [replace(covariance, end=end)]
        if kind == "student":
            return [covariance, Stage("noise", student, end=end)]
        return [covariance, Stage("noise", varying, None, hyper.a_slice(seconds), end=end)]

    def layout(self, data: ModelData, params: RegressionSettings) -> Layout:
        bracket = {f"bracket.{name}": Part((), missing=True) for name in ("low", "high", "height")}
        bracket["bracket.other"] = Part(("J",), missing=True)
        return {**FIXED, **bracket, **steps_layout("steps")}

    def contradiction(self, state: RegressionFields, data: ModelData, params: RegressionSettings) -> str:
        return wrong_search(state["fixed"]["x"], state["theta"], [state["steps"]])

    def traces(
        self, state: RegressionFields, data: ModelData, params: RegressionSettings
    ) -> dict[str, float]:
        prior, theta, steps = self.prior(state, params), state["theta"], state["steps"]
        tried, noise = steps["tried"].sum(), noise_variance(prior, theta)
        if params["noise"] == "varying":  # its level alone may as well be that of u
            noise *= math.exp(np.log(state["scale"]).mean())
        return {
            "log_density": state["log_density"],
            "noise": state["fixed"]["unit"] * math.sqrt(noise),
            "amplitude": amplitude(prior, theta),
            "degrees": float(state["shape"][0]) if params["noise"] == "student" else math.nan,
            "accepted": float(steps["taken"].sum() / tried) if tried else math.nan,
        }

    def draws(
        self, state: RegressionFields, data: ModelData, params: RegressionSettings
    ) -> Mapping[str, object]:
        kept = state["scale"] if params["noise"] == "student" else state["scale"][:0]
        return {
            "theta": state["theta"].copy(),
            "log_density": state["log_density"],
            "shape": state["shape"].copy(),
            "scale": kept.copy(),
        }

    def prepare(self) -> None:
        """Compile by a tiny fit."""
        from plaidwork.plugins.gp_auxiliary.regression.new import tiny_fit

        tiny_fit(self)

    def simulate(
        self, params: RegressionSettings, shapes: Mapping[str, Any], rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], RegressionFields]:
        x = rng.standard_normal(shapes["X"])
        law = NoiseLaw.of(params["noise"], x)
        season = season_of(params, numbered(x), np.ones(x.shape[1]))
        codes = np.arange(len(x), dtype=np.int64) % 2 if "groups" in shapes else np.full(len(x), -1, np.int64)
        cells = all_cells(*shapes["y"]) if len(shapes["y"]) > 1 else np.zeros((0, 2), np.int64)
        fixed: RegressionFixed = {
            "x": x,
            "y": np.zeros(math.prod(shapes["y"])),
            "unit": 1.0,
            "season": season,
            "codes": codes,
            "cells": cells,
        }
        prior = prior_of(fixed, params)
        theta = prior.covariance.prior_mean
        theta = theta + prior.covariance.prior_sd * rng.standard_normal(len(theta))
        shape = law.prior_shape(rng)
        scale = law.scale_at(shape, x)
        if params["noise"] == "student":
            scale = 0.5 * shape[0] / rng.gamma(0.5 * shape[0], size=len(x))
        y = draw_values(prior_of(fixed, params, scale), theta, rng)
        fixed = {**fixed, "y": y}
        return _simulated(fixed, y, shapes), self._begun(fixed, theta, shape, scale, law, params)

    def simulate_data(
        self,
        state: RegressionFields,
        params: RegressionSettings,
        shapes: Mapping[str, Any],
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        y = draw_values(self.prior(state, params), state["theta"], rng)
        return _simulated(state["fixed"], y, shapes)

    def refresh(
        self, state: RegressionFields, data: ModelData, params: RegressionSettings
    ) -> RegressionFields:
        fixed = fixed_of(make_samples(data, params))
        state["steps"]["current"][0] = math.nan
        prior = prior_of(fixed, params, state["scale"])
        return {**state, "fixed": fixed, "log_density": log_density(prior, state["theta"], fixed["y"])}


def _simulated(fixed: RegressionFixed, y: np.ndarray, shapes: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Inputs and values, those of several outputs as (n, P)."""
    data = {
        "X": fixed["x"].copy(),
        "y": y.copy() if y.ndim == len(shapes["y"]) else y.reshape(shapes["y"][::-1]).T.copy(),
    }
    if "groups" in shapes:
        data["groups"] = fixed["codes"].copy()
    return data


def draw_student(rng: np.random.Generator, state: RegressionFields, prior: Prior) -> None:
    """The degrees of freedom and the scales of Student's noise, by residuals drawn for it."""
    theta, y, law = state["theta"], state["fixed"]["y"], law_of(prior)
    noise = law.noise(prior.x, theta)
    rest = draw_residuals(rng, solve_dense(prior, theta, y).root, noise, y)
    squares = rest * rest / law.noises(theta)[0]
    degrees = draw_degrees(rng, squares)
    state["shape"] = np.array([degrees])
    state["scale"] = draw_scales(rng, degrees, squares)
    state["steps"]["current"][0] = math.nan
