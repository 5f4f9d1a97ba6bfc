"""The two models: by sampling, and by variational ascent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from plaidwork.core.api import (
    Block,
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
    passes,
)
from plaidwork.plugins.rank_factor import ascent, gibbs, mixture
from plaidwork.plugins.rank_factor import vb_state as q
from plaidwork.plugins.rank_factor.checks import find_problems
from plaidwork.plugins.rank_factor.density import label_values
from plaidwork.plugins.rank_factor.kernels.solve import packed_size
from plaidwork.plugins.rank_factor.posterior import sampled_posterior
from plaidwork.plugins.rank_factor.prediction import predict_by_draws, predict_by_q
from plaidwork.plugins.rank_factor.results import summarise_posterior
from plaidwork.plugins.rank_factor.setup import Setup, setup_of
from plaidwork.plugins.rank_factor.spec import RANK_FACTOR, RANK_FACTOR_VB
from plaidwork.plugins.rank_factor.start import new_state
from plaidwork.plugins.rank_factor.state import (
    Fields,
    Q,
    SamplerSettings,
    Settings,
    Shared,
    factors_of,
    wrong_groups,
)
from plaidwork.plugins.rank_factor.stored import wrong_sums
from plaidwork.plugins.rank_factor.vb_posterior import approximate_posterior, best_chain
from plaidwork.plugins.rank_factor.vb_sample import draw_q

S = TypeVar("S", bound=Shared)
P = TypeVar("P", bound=Settings)
WARM_UP = (
    {"scheme": "levels"},
    {"scheme": "pairs"},
    {"likelihood": "gaussian", "classifier": "nonlinear"},
)
WINDOW = 10
"""Sweeps over which the ascent judges its progress."""


def spread_out(values: np.ndarray, places: np.ndarray, size: int, fill: float = 0.0) -> np.ndarray:
    """(size, …) with the values at their places along the first axis, ``fill`` elsewhere."""
    out = np.full((size, *values.shape[1:]), fill, values.dtype)
    out[places] = values
    return out


class RankFactorModel(Model[S, P]):
    """What both share."""

    warm_up: ClassVar[tuple[dict[str, str], ...]] = WARM_UP
    """Settings of the tiny fits that compile the kernels."""

    def validate(self, data: ModelData, params: P) -> Sequence[Problem]:
        return find_problems(data, params)

    def estimate(self, data: ModelData, params: P) -> Cost:
        n, d = (float(side) for side in data["X"].shape)
        k = factors_of(params, int(d))
        cell = 5e-8 + 2.5e-10 * packed_size(k)
        memory = n * d * (30 if params["scheme"] == "levels" else 80) + 8 * (n + d) * packed_size(k)
        return Cost(memory=memory, seconds_per_sweep=n * d * cell + (n + d) * 4e-10 * k**3)

    def prepare(self) -> None:
        """Compile the kernels on tiny data, one fit per sort of likelihood."""
        data, rng = tiny_data(), np.random.Generator(np.random.PCG64DXSM(0))
        for settings in self.warm_up:
            given = {"n_factors": 2, "n_components": 2, **settings}
            params = cast("P", self.spec.check_params(given))
            state = self.init(data, params, rng)
            for _ in passes(self, state, data, params, rng, Clock(0, 0)):
                pass

    def layout(self, data: ModelData, params: P) -> Layout:
        follows = {name: Part(same=True) for name in ("rows", "train")}
        kept = {
            "good.bound": Part((), missing=True, unset=True),
            "good.traces.*": Part((), missing=True, unset=True),
        }
        return {**follows, **kept, "good.**": Part(like=""), "t": Part(low=0)}

    def draw_layout(self, data: ModelData, params: P) -> Layout:
        return {"group": Part(low=-1, below=params["n_components"])}

    def contradiction(self, state: S, data: ModelData, params: P) -> str:
        return wrong_groups(state) or wrong_sums(state, setup_of(data, params), self.in_slices(data, params))

    def in_slices(self, data: ModelData, params: P) -> bool:
        """Whether a sweep goes over these data as over large ones."""
        return False

    def upgrade_state(self, state: State, from_version: int, data: ModelData, params: P) -> S:
        if from_version == 1:
            return cast("S", gibbs.upgraded(state))
        return super().upgrade_state(state, from_version, data, params)

    def _common(self, state: S, data: ModelData, setup: Setup) -> dict[str, Any]:
        n, d = data["X"].shape
        rows, train = setup.rows, setup.train
        c = state["c"] if state["c"].shape[1] else np.zeros((len(rows), 1))
        return {
            "loadings": spread_out(state["a"], rows, d),
            "scores": spread_out(state["z"], train, n),
            "beta": state["beta"].copy(),
            "thresholds": spread_out(c, rows, d),
            "group_mean": state["mu"].copy(),
        }


class RankFactor(RankFactorModel[Fields, SamplerSettings]):
    """Max-margin rank-likelihood factor model by Gibbs sampling."""

    spec: ClassVar[ModelSpec] = RANK_FACTOR
    warm_up = (*WARM_UP, {"classifier": "process"})

    def in_slices(self, data: ModelData, params: SamplerSettings) -> bool:
        setup = setup_of(data, params)
        return gibbs.is_large(setup, factors_of(params, setup.shape[0]))

    def estimate(self, data: ModelData, params: SamplerSettings) -> Cost:
        cost, (n, d) = super().estimate(data, params), data["X"].shape
        kept = 16.0 * n * d if n * d * gibbs.cell_work(factors_of(params, d)) >= gibbs.LARGE else 0.0
        return replace(cost, memory=cost.memory + kept)

    def upgrade_state(
        self, state: State, from_version: int, data: ModelData, params: SamplerSettings
    ) -> Fields:
        new = (
            cast("Fields", state)
            if from_version == 2
            else super().upgrade_state(state, from_version, data, params)
        )
        return gibbs.begun_anew(new) if self.in_slices(data, params) else new

    def init(self, data: ModelData, params: SamplerSettings, rng: np.random.Generator) -> Fields:
        return new_state(setup_of(data, params), params, rng)

    def stages(
        self, state: Fields, data: ModelData, params: SamplerSettings, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        return gibbs.stages(state, setup_of(data, params), params, rng, clock)

    def traces(self, state: Fields, data: ModelData, params: SamplerSettings) -> Mapping[str, float]:
        return gibbs.traces_of(state, setup_of(data, params), params)

    def draws(self, state: Fields, data: ModelData, params: SamplerSettings) -> Mapping[str, Any]:
        setup = setup_of(data, params)
        n, d = data["X"].shape
        found = self._common(state, data, setup)
        decision = spread_out(label_values(state), setup.train, n)
        if len(setup.test):
            found["scores"][setup.test], decision[setup.test] = state["new_z"], state["new_f"]
        return {
            **found,
            "shrinkage": spread_out(1.0 / (1.0 + state["xi"]), setup.rows, d, 1.0),
            "noise": spread_out(state["gamma"], setup.rows, d, 1.0),
            "group_precision": state["psi"].copy(),
            "log_weight": mixture.log_weights(state),
            "decision": decision,
            "group": spread_out(state["t"], setup.train, n, -1),
        }

    def summarise(self, kept: Kept, data: ModelData, params: SamplerSettings) -> Results:
        if not kept.n_draws:
            return {"headline": "No draws yet", "caption": ""}
        setup = setup_of(data, params)
        return summarise_posterior(sampled_posterior(kept, setup, params), data, setup, params)

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: SamplerSettings) -> Results:
        return predict_by_draws(kept, data, new_data, setup_of(data, params), params)


class RankFactorVB(RankFactorModel[Q, Settings]):
    """The same model by coordinate ascent on the evidence lower bound."""

    spec: ClassVar[ModelSpec] = RANK_FACTOR_VB

    def init(self, data: ModelData, params: Settings, rng: np.random.Generator) -> Q:
        return q.new_q(setup_of(data, params), params, rng, data["X"].shape[1])

    def stages(
        self, state: Q, data: ModelData, params: Settings, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        return ascent.stages(state, setup_of(data, params), params, clock)

    def traces(self, state: Q, data: ModelData, params: Settings) -> Mapping[str, float]:
        return ascent.traces_of(state)

    def converged(self, traces: Mapping[str, np.ndarray], tolerance: float) -> bool:
        """The mean change of the bound over ``WINDOW`` sweeps, some of which may have been undone."""
        bound = traces["elbo"]
        if len(bound) <= mixture.FROZEN_SWEEPS + WINDOW:
            return False
        return bool(bound[-1] - bound[-1 - WINDOW] <= WINDOW * tolerance * max(1.0, abs(bound[-1])))

    def draws(self, state: Q, data: ModelData, params: Settings) -> Mapping[str, Any]:
        setup = setup_of(data, params)
        n, d = data["X"].shape
        psi, _ = q.prior_of_scores(state)
        c_var = state["c_var"] if state["c_var"].shape[1] else np.zeros((len(setup.rows), 1))
        gaussian = setup.likelihood == "gaussian"
        return {
            **self._common(state, data, setup),
            "shrinkage": spread_out(1.0 / (1.0 + state["xi_mean"]), setup.rows, d, 1.0),
            "noise": spread_out(q.mean_of(state, "gamma"), setup.rows, d, 1.0) if gaussian else np.ones(d),
            "group_precision": psi.copy(),
            "log_weight": q.log_shares(state) if len(psi) > 1 else np.zeros(1),
            "loadings_cov": spread_out(state["a_cov"], setup.rows, d),
            "scores_cov": spread_out(state["z_cov"], setup.train, n),
            "beta_cov": state["beta_cov"].copy(),
            "thresholds_var": spread_out(c_var, setup.rows, d),
            "group_mean_var": state["mu_var"].copy(),
            "share": spread_out(state["share"], setup.train, n),
        }

    def sample(self, state: Q, rng: np.random.Generator, n: int) -> Sequence[Mapping[str, Any]]:
        samples, features = int(state["n_samples"]), int(state["n_features"])
        rows, train, k = state["rows"], state["train"], state["z"].shape[1]
        fills = {"shrinkage": 1.0, "noise": 1.0}
        found = []
        for _ in range(n):
            one = draw_q(state, rng)
            if not one["thresholds"].shape[1]:
                one["thresholds"] = np.zeros((len(rows), 1))
            for name in ("loadings", "thresholds", "shrinkage", "noise"):
                one[name] = spread_out(one[name], rows, features, fills.get(name, 0.0))
            for name in ("scores", "share"):
                one[name] = spread_out(one[name], train, samples)
            one |= {
                "loadings_cov": np.zeros((features, packed_size(k))),
                "scores_cov": np.zeros((samples, packed_size(k))),
                "beta_cov": np.zeros(state["beta_cov"].shape),
                "thresholds_var": np.zeros(one["thresholds"].shape),
                "group_mean_var": np.zeros(state["mu_var"].shape),
            }
            found.append(one)
        return found

    def summarise(self, kept: Kept, data: ModelData, params: Settings) -> Results:
        chain = best_chain(kept)
        if chain is None:
            return {"headline": "No restart has ended yet", "caption": ""}
        setup = setup_of(data, params)
        return summarise_posterior(approximate_posterior(chain, setup, params), data, setup, params)

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: Settings) -> Results:
        return predict_by_q(kept, data, new_data, setup_of(data, params), params)


def tiny_data() -> ModelData:
    """Five samples in two classes, one of them for the test."""
    x = np.arange(15.0).reshape(5, 3) ** 2 % 7
    known = np.ones(x.shape, bool)
    known[0, 0] = False
    names = tuple(f"s{i}" for i in range(5))
    labels = np.arange(5) % 2
    return ModelData(
        {
            "X": Block("X", x * known, known, None, (names, ("a", "b", "c"))),
            "y": Block("y", labels, labels >= 0, None, (names,), ("no", "yes")),
            "split": Block(
                "split", labels // 4 + (np.arange(5) > 3), labels >= 0, None, (names,), ("train", "test")
            ),
        }
    )
