"""Ordered grades by several raters with offsets and precisions, on one latent function (page, section 2.6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal, cast, get_args

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
    State,
)
from plaidwork.plugins.gp_auxiliary.classes.ordinal import (
    cut_problems,
    log_labels,
    shift_cuts,
    start_cuts,
    walk_cuts,
    widths_of,
)
from plaidwork.plugins.gp_auxiliary.raters.data import (
    distinct,
    find_rated_problems,
    free_offsets,
    place_ratings,
    read_table,
)
from plaidwork.plugins.gp_auxiliary.raters.law import Ratings, scaled_prior
from plaidwork.plugins.gp_auxiliary.raters.moves import (
    draw_latent,
    draw_offsets,
    draw_precisions,
    shift_consensus,
    shift_raters,
    stretch,
    walk_raters,
)
from plaidwork.plugins.gp_auxiliary.raters.spec import RATED
from plaidwork.plugins.gp_auxiliary.shared import hyper
from plaidwork.plugins.gp_auxiliary.shared.frame import make_prior, prior_of
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, draw_f
from plaidwork.plugins.gp_auxiliary.shared.state import RatedFields, RatedFixed
from plaidwork.plugins.gp_auxiliary.shared.stored import FIXED, steps_layout, wrong_search
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RatedSettings

_Name = Literal["f", "together", "offset", "precision", "cuts", "theta"]
_KEPT: tuple[_Name, ...] = get_args(_Name)


class Rated(Model[RatedFields, RatedSettings]):
    """Ratings of unequal number; f is integrated out of the covariance's steps and of the shifts."""

    spec: ClassVar[ModelSpec] = RATED
    likelihood_of: ClassVar[str] = "ratings"

    def init(self, data: ModelData, params: RatedSettings, rng: np.random.Generator) -> RatedFields:
        table = read_table(data)
        frame, ratings = place_ratings(table, params)
        n_cuts = ratings.n_grades - 1
        cuts = start_cuts(params, n_cuts)
        law = make_prior(frame.fitted, params, True)
        fixed: RatedFixed = {
            "x": frame.fitted,
            "inducing": law.inducing,
            "item": ratings.item,
            "rater": ratings.rater,
            "code": ratings.code,
            "sizes": np.array([ratings.n_raters, ratings.n_grades]),
            "free": free_offsets(table.raters, params),
        }
        offset = np.zeros(ratings.n_raters)
        precision = np.full(ratings.n_raters, params["precision_shape"] / params["precision_rate"])
        centre = 0.3 * rng.standard_normal(len(ratings.item))
        q = draw_latent(rng, ratings, centre, np.ones(len(centre)), cuts)
        theta = law.covariance.prior_mean
        scale = ratings.scale(precision, len(frame.fitted))
        together = ratings.together(q, offset, precision, scale)
        state: RatedFields = {
            "fixed": fixed,
            "cuts": cuts,
            "offset": offset,
            "precision": precision,
            "q": q,
            "f": np.zeros(len(frame.fitted)),
            "theta": theta,
            "scale": scale,
            "together": together,
            "steps": hyper.steps_of(law, params),
            "cut_steps": hyper.new_steps(n_cuts, 0.2),
            "joint_steps": hyper.new_steps(1, 0.2),
            **scaled_prior(law, scale).gram(theta),
        }
        if params["moves"] == "hamiltonian":
            state["rater_steps"] = hyper.new_steps(2 * ratings.n_raters, 0.3)
        self._draw_f(rng, state)
        return state

    def stages(
        self,
        state: RatedFields,
        data: ModelData,
        params: RatedSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> Sequence[Stage]:
        """Ratings, raters, the covariance, and f."""
        law = self.law(state, params)

        def move(lo: int, hi: int) -> None:
            prior, together = self._together(state, law)
            steps = state["steps"]
            hyper.move_theta(rng, state["theta"], together[None], prior, steps, clock.warming, lo, hi)

        def latent(lo: int, hi: int) -> None:
            self._weigh(state, law)
            self._shift(state, params, rng)
            self._draw_f(rng, state)

        ratings = 1e-6 * len(state["q"])
        return [
            Stage(
                "ratings and cut-points",
                lambda lo, hi: self._rate(state, params, rng, clock, lo, hi),
                params["site_sweeps"],
                hyper.a_slice(ratings + hyper.pass_seconds(state)),
            ),
            Stage(
                "raters",
                lambda lo, hi: self._judge(state, params, rng, clock, law),
                slice=hyper.a_slice(ratings),
            ),
            *hyper.covariance_stage(state, params, move),
            Stage("latent function", latent, slice=hyper.a_slice(hyper.walk_seconds(state))),
        ]

    def layout(self, data: ModelData, params: RatedSettings) -> Layout:
        ratings = {f"fixed.{name}": Part(same=True) for name in ("item", "rater", "sizes", "free")}
        walks = steps_layout("steps", "cut_steps", "joint_steps", "rater_steps")
        return {**FIXED, **ratings, **walks, "precision": Part(low=1e-300)}

    def contradiction(self, state: RatedFields, data: ModelData, params: RatedSettings) -> str:
        return wrong_search(state["fixed"]["x"], state["theta"], [state["steps"]])

    def upgrade_state(
        self, state: State, from_version: int, data: ModelData, params: RatedSettings
    ) -> RatedFields:
        if from_version == 1:
            return cast("RatedFields", hyper.upgraded(state))
        return super().upgrade_state(state, from_version, data, params)

    def law(self, state: RatedFields, params: RatedSettings) -> Prior:
        """The law of f at the objects of the fit."""
        return prior_of(state["fixed"]["x"], state["fixed"]["inducing"], params, True)

    def _together(self, state: RatedFields, law: Prior) -> tuple[Prior, np.ndarray]:
        """The law of ``s f`` at the raters' precisions, and ``s y`` (N,)."""
        ratings = Ratings.of(state["fixed"])
        scale = ratings.scale(state["precision"], len(law.x))
        together = ratings.together(state["q"], state["offset"], state["precision"], scale)
        return scaled_prior(law, scale), together

    def _weigh(self, state: RatedFields, law: Prior) -> None:
        """Bring ``s``, ``s y`` and the precision matrix up to date."""
        prior, together = self._together(state, law)
        state["scale"], state["together"] = prior.x[:, -1].copy(), together
        state.update(prior.gram(state["theta"]))

    def _draw_f(self, rng: np.random.Generator, state: RatedFields) -> None:
        state["f"] = draw_f(rng, state["together"][None], state)[0] / state["scale"]

    def _rate(
        self,
        state: RatedFields,
        params: RatedSettings,
        rng: np.random.Generator,
        clock: Clock,
        lo: int,
        hi: int,
    ) -> None:
        """Turns lo..hi-1: f, but for the first turn; cut-points given f with q integrated out; q at once after them."""
        ratings, cuts = Ratings.of(state["fixed"]), state["cuts"]
        inferred = params["cut_points"] == "inferred"
        for turn in range(lo, hi):
            if turn:
                state["together"] = ratings.together(
                    state["q"], state["offset"], state["precision"], state["scale"]
                )
                self._draw_f(rng, state)
            centre = state["f"][ratings.item] + state["offset"][ratings.rater]
            sharpness = np.sqrt(state["precision"])[ratings.rater]
            if inferred:
                widths, steps = widths_of(params), state["cut_steps"]
                walk_cuts(rng, cuts, centre, ratings.code, steps, clock.warming, widths, sharpness)
            if "rater_steps" in state and turn + 1 == params["site_sweeps"]:  # f is drawn no more at these
                prior = (params["precision_shape"], params["precision_rate"])
                walk_raters(rng, ratings, state["f"], state, state["rater_steps"], prior, clock.warming)
                centre = state["f"][ratings.item] + state["offset"][ratings.rater]
                sharpness = np.sqrt(state["precision"])[ratings.rater]
            state["q"] = draw_latent(rng, ratings, centre, sharpness, cuts)

    def _judge(
        self, state: RatedFields, params: RatedSettings, rng: np.random.Generator, clock: Clock, law: Prior
    ) -> None:
        """Offsets and precisions given f and q, and what moves together with them."""
        ratings, cuts, free = Ratings.of(state["fixed"]), state["cuts"], state["fixed"]["free"]
        inferred = params["cut_points"] == "inferred"
        rest = state["q"] - state["f"][ratings.item]
        state["offset"] = draw_offsets(rng, ratings, rest, state["precision"], free)
        prior = (params["precision_shape"], params["precision_rate"])
        state["precision"] = draw_precisions(rng, ratings, rest, state["offset"], *prior)
        if inferred and free.all():
            shift_raters(rng, state["q"], state["offset"], cuts, params["cut_sd"])
        if inferred and params["parameters"] == "inferred":
            stretch(rng, state, law.covariance, free, prior, widths_of(params), clock.warming)
        state["steps"]["current"][0] = math.nan

    def _shift(self, state: RatedFields, params: RatedSettings, rng: np.random.Generator) -> None:
        together, scale = state["together"], state["scale"]
        if state["fixed"]["free"].all():
            shift_consensus(rng, together, scale, state, state["offset"])
        if params["cut_points"] == "inferred":
            state["q"] += shift_cuts(rng, together, scale, state, state["cuts"], params["cut_sd"])

    def traces(self, state: RatedFields, data: ModelData, params: RatedSettings) -> dict[str, float]:
        tried = state["steps"]["tried"].sum()
        width = width_of(state["cuts"])
        return {
            "log_likelihood": self._log_likelihood(state),
            "amplitude": math.exp(state["theta"][0]) / width**2,
            "accepted": float(state["steps"]["taken"].sum() / tried) if tried else math.nan,
            "spread": float(np.ptp(state["offset"]) / width),
            "noise": float(np.exp(-0.5 * np.log(state["precision"]).mean()) / width),
        }

    def _log_likelihood(self, state: RatedFields) -> float:
        """Of the given ratings, q integrated out. It does not depend on the model's scale and origin."""
        ratings = Ratings.of(state["fixed"])
        sharpness = np.sqrt(state["precision"])[ratings.rater]
        centre = state["f"][ratings.item] + state["offset"][ratings.rater]
        return log_labels(centre, state["cuts"], ratings.code, sharpness)

    def draws(self, state: RatedFields, data: ModelData, params: RatedSettings) -> Mapping[str, object]:
        kept: dict[str, object] = {name: state[name].copy() for name in _KEPT}
        return kept | {"log_likelihood": self._log_likelihood(state)}

    def validate(self, data: ModelData, params: RatedSettings) -> Sequence[Problem]:
        found = find_rated_problems(data, params)
        if any(problem.severity == "error" for problem in found):
            return found
        return [*found, *cut_problems(params, len(read_table(data).grades) - 1)]

    def estimate(self, data: ModelData, params: RatedSettings) -> Cost:
        """Bytes of one chain and seconds of a sweep."""
        size = len(distinct(data["X"])[0].values) if "rater" in data else data["X"].shape[0]
        rank = size if params["form"] == "dense" else min(size, params["inducing"], 2000)
        if params["form"] == "auto" and size <= 2000:
            rank = size
        count = float(np.count_nonzero(data["ratings"].observed))
        moves = hyper.moves_of(params) * (4 if params["moves"] == "hamiltonian" else 1)
        seconds = (2 + moves) * size * rank**2 * 5e-10 + 3e-7 * count * params["site_sweeps"]
        return Cost(40.0 * size * rank + 100.0 * count, seconds)

    def prepare(self) -> None:
        from plaidwork.plugins.gp_auxiliary.classes.compiling import tiny_fit

        tiny_fit(self, {"form": "dense"}, 3)
        tiny_fit(self, {"form": "inducing", "inducing": 2}, 3)

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: RatedSettings,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        from plaidwork.plugins.gp_auxiliary.raters.density import log_probability_of_ratings

        assert columns is not None  # cells are the observations
        return log_probability_of_ratings(chain, draws, data, params, rows, columns)

    def summarise(self, kept: Kept, data: ModelData, params: RatedSettings) -> Results:
        from plaidwork.plugins.gp_auxiliary.raters.results import summarise_raters

        return summarise_raters(kept, data, params)

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: RatedSettings) -> Results:
        from plaidwork.plugins.gp_auxiliary.raters.results import predict_ratings

        return predict_ratings(kept, data, new_data, params)


def width_of(cuts: np.ndarray) -> float:
    """Mean distance of neighbouring cut-points (K - 1,), the width of a grade; 1 where there are two grades."""
    return float(cuts[-1] - cuts[0]) / (len(cuts) - 1) if len(cuts) > 1 else 1.0
