"""Group factor analysis by coordinate ascent on the evidence lower bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from plaidwork.core.api import (
    ChainView,
    Clock,
    Cost,
    Kept,
    Layout,
    Model,
    ModelData,
    Problem,
    Relaxation,
    Results,
    Stage,
    State,
    passes,
    refuse_errors,
)
from plaidwork.plugins.group_factor import growing, smooth, stochastic, stored, sweep, weak
from plaidwork.plugins.group_factor.bound import elbo_of
from plaidwork.plugins.group_factor.density import log_density_of_cells
from plaidwork.plugins.group_factor.imputation import fitted_columns
from plaidwork.plugins.group_factor.inputs import as_fitted, blocks_of, groups_of, likelihoods_of, places_of
from plaidwork.plugins.group_factor.intercepts import intercept_draws
from plaidwork.plugins.group_factor.problems import problems_of, problems_of_places
from plaidwork.plugins.group_factor.project import project
from plaidwork.plugins.group_factor.reading import block_memory
from plaidwork.plugins.group_factor.results import summarise_fit
from plaidwork.plugins.group_factor.spec import GROUP_FACTOR
from plaidwork.plugins.group_factor.start import new_state
from plaidwork.plugins.group_factor.state import Fields, Settings
from plaidwork.plugins.group_factor.upgrading import upgraded

QUIET_SWEEPS = 10
"""Sweeps in a row whose gain must be small: three can be a plateau before a factor finds its place (see NOTES.md)."""


class GroupFactor(Model[Fields, Settings]):
    """Spike-and-slab group factor analysis."""

    spec = GROUP_FACTOR
    likelihood_of = "views"
    relaxation = Relaxation(
        means=("z", "w", "mu", "cross"),
        logs=("v", "alpha_rate", "theta_a", "theta_b", "tau_rate"),
        fixed=(
            "y",
            "known",
            "float",
            "group",
            "kinds",
            "level",
            "first",
            "kind",
            "view",
            "null",
            "centre",
            "tau_shape",
            "shift",
            "unit",
            "columns",
            "total",
            "places",
        ),
    )

    def init(self, data: ModelData, params: Settings, rng: np.random.Generator) -> Fields:
        given = data["start"].values if "start" in data else None
        blocks = blocks_of(data)
        group = groups_of(data)[1]
        refuse_errors(self.validate(data, params))
        words = likelihoods_of(blocks, params)
        blocks, laws = zip(*map(as_fitted, blocks, words), strict=True)
        return new_state(blocks, laws, group, params, rng, given, places_of(data))

    def stages(
        self, state: Fields, data: ModelData, params: Settings, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        return sweep.stages(state, data, params, clock.sweep, rng)

    def traces(self, state: Fields, data: ModelData, params: Settings) -> Mapping[str, float]:
        return sweep.traces_of(state, params)

    def objective(self, state: Fields, data: ModelData, params: Settings) -> float:
        return elbo_of(state, params, data)

    def layout(self, data: ModelData, params: Settings) -> Layout:
        return stored.layout()

    def contradiction(self, state: Fields, data: ModelData, params: Settings) -> str:
        return stored.contradiction_of(cast(State, state)) or stochastic.contradiction_of(
            cast(State, state), params
        )

    def upgrade_state(self, state: State, from_version: int, data: ModelData, params: Settings) -> Fields:
        if from_version in (2, 3):
            views = data["views"]
            return upgraded(state, from_version, (views[0].shape[0], sum(view.shape[1] for view in views)))
        return super().upgrade_state(state, from_version, data, params)

    def converged(self, traces: Mapping[str, np.ndarray], tolerance: float) -> bool:
        bound, factors = traces["elbo"], traces["n_factors"]
        if len(bound) < 2 * QUIET_SWEEPS or len(set(factors[-2 * QUIET_SWEEPS :])) > 1:
            return False
        gains = np.abs(np.diff(bound[-QUIET_SWEEPS - 1 :]))
        return bool((gains <= tolerance * max(1.0, abs(float(bound[-1])))).all())

    def extrapolates(self, clock: Clock, params: Settings) -> bool:
        changing = weak.drops_now(clock.sweep, params) or growing.grows_now(clock.sweep, params)
        return not (changing or stochastic.now(clock.sweep, params))

    def may_stop(self, traces: Mapping[str, np.ndarray], params: Settings) -> bool:
        factors = traces["n_factors"]
        return growing.may_stop(factors, params) and stochastic.may_stop(len(factors), params)

    def extrapolated(self, state: Fields, before: Fields, data: ModelData, params: Settings) -> None:
        if "smooth" in state:
            smooth.held_still(state, before)
        sweep.bring_up_to_date(state, before)

    def draws(self, state: Fields, data: ModelData, params: Settings) -> Mapping[str, Any]:
        a, b = state["theta_a"], state["theta_b"]
        return {
            "z": state["z"].copy(),
            "z_var": state["v"].copy(),
            "w": state["w"].copy(),
            "w_var": np.maximum(state["ww"] - state["w"] ** 2, 0.0),
            "inclusion": state["gamma"].copy(),
            "alpha": state["alpha_shape"] / state["alpha_rate"],
            "theta": a / (a + b),
            **intercept_draws(state, state["mu"], state["mu_var"]),
            "tau": state["scale"].copy(),
            "score_precision": state["score_shape"] / state["score_rate"],
            **smooth.draws(state),
        }

    def sample(self, state: Fields, rng: np.random.Generator, n: int) -> Sequence[Mapping[str, Any]]:
        found = []
        for _ in range(n):
            on = rng.random(state["gamma"].shape) < state["gamma"]
            slab = state["loc"] + np.sqrt(state["var"]) * rng.standard_normal(on.shape)
            z = state["z"] + np.sqrt(state["v"]) * rng.standard_normal(state["z"].shape)
            if "smooth" in state:
                z = smooth.sample_scores(state, rng)
            mu = state["mu"] + np.sqrt(state["mu_var"]) * rng.standard_normal(state["mu"].shape)
            precision = np.ones_like(state["score_shape"])
            if precision.shape[1] > 1:
                precision = rng.gamma(state["score_shape"]) / state["score_rate"]
            tau = np.where(state["kind"] == 0, rng.gamma(state["tau_shape"]) / state["tau_rate"], 1.0)
            found.append(
                {
                    "z": z,
                    "z_var": np.zeros_like(z),
                    "w": on * slab,
                    "w_var": np.zeros_like(slab),
                    "inclusion": on.astype(float),
                    "alpha": rng.gamma(state["alpha_shape"]) / state["alpha_rate"],
                    "theta": rng.beta(state["theta_a"], state["theta_b"]),
                    **intercept_draws(state, mu, np.zeros_like(mu)),
                    "tau": tau,
                    "score_precision": precision,
                    **smooth.draws(state),
                }
            )
        return found

    def summarise(self, kept: Kept, data: ModelData, params: Settings) -> Results:
        return summarise_fit(kept, data, params)

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: Settings) -> Results:
        return project(kept, data, new_data, params)

    def fitted(
        self, kept: Kept, data: ModelData, params: Settings, name: str, index: int, columns: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        if name == "views":
            return fitted_columns(kept, data, params, index, columns)
        nothing = np.full((data[name].shape[0], len(columns)), np.nan)
        return nothing, nothing.copy()

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: Settings,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        assert columns is not None  # cells are the observations
        return log_density_of_cells(chain, data, params, index, rows, columns)

    def validate(self, data: ModelData, params: Settings) -> Sequence[Problem]:
        found = problems_of(blocks_of(data), params, groups_of(data)[1])
        return [*found, *problems_of_places(data, params)]

    def prepare(self) -> None:
        rng = np.random.default_rng(0)
        warm_up(self, rng)

    def estimate(self, data: ModelData, params: Settings) -> Cost:
        k, blocks = params["n_factors"], blocks_of(data)
        cells = float(sum(np.prod(block.shape) for block in blocks))
        inside = float(sum(np.prod(block.shape) for block in blocks if not block.stays))
        sides = blocks[0].shape[0] + sum(
            block.shape[1] for block in blocks
        )  # of these there are some twenty arrays, copies included
        memory = inside * 3 * 8 + 8.0 * 20 * k * sides + block_memory(blocks)
        n = blocks[0].shape[0]
        along = k * smooth.WORK * n**3 if "along" in data else 0.0
        return Cost(memory=memory, seconds_per_sweep=cells * (3e-9 * k + 4e-8) + along)


def warm_up(model: GroupFactor, rng: np.random.Generator) -> None:
    """Compile the kernels on a tiny problem."""
    from plaidwork.core.api import Block

    def block(name: str, values: np.ndarray) -> Block:
        names = tuple(
            tuple(f"{word}{i}" for i in range(size)) for word, size in zip("sf", values.shape, strict=True)
        )
        return Block(name, values, np.ones(values.shape, bool), None, names)

    shape = (4, 3)
    data = ModelData(
        {
            "views": (
                block("a", rng.standard_normal(shape)),
                block("b", np.eye(*shape)),
                block("c", np.arange(12.0).reshape(shape)),
            )
        }
    )
    params = cast(Settings, model.spec.check_params({"n_factors": 2, "drop_start": 1}))
    state = model.init(data, params, rng)
    for state["single"] in (0, 1):  # 1 as for large data
        for _ in passes(model, state, data, params, rng, Clock(1, 0)):
            pass
