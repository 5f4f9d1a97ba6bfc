"""The supervised Indian buffet process by coordinate ascent on the evidence lower bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from plaidwork.core.api import (
    Block,
    Clock,
    Cost,
    Kept,
    Layout,
    Model,
    ModelData,
    ModelError,
    Part,
    Problem,
    Results,
    Stage,
    State,
    passes,
)
from plaidwork.plugins.supervised_ibp import search, stochastic, sweep
from plaidwork.plugins.supervised_ibp.bound import elbo_of
from plaidwork.plugins.supervised_ibp.corpus import corpus_of
from plaidwork.plugins.supervised_ibp.effort import SWEEPS, moves_for
from plaidwork.plugins.supervised_ibp.moments import n_fixed
from plaidwork.plugins.supervised_ibp.problems import problems_of
from plaidwork.plugins.supervised_ibp.spec import SUPERVISED_IBP
from plaidwork.plugins.supervised_ibp.start import begun
from plaidwork.plugins.supervised_ibp.state import Fields, Settings

SETTLED = 1e-4
"""Largest change of a probability at which a fit counts as converged."""


class SupervisedIbp(Model[Fields, Settings]):
    """Binary topics of documents that explain words and an outcome."""

    spec = SUPERVISED_IBP

    def init(self, data: ModelData, params: Settings, rng: np.random.Generator) -> Fields:
        return begun(corpus_of(data, params), data, params, rng)

    def stages(
        self, state: Fields, data: ModelData, params: Settings, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        corpus = corpus_of(data, params)
        if stochastic.now(state, clock.sweep, params):
            return sweep.pass_of_steps(state, corpus, params, clock.sweep, rng)
        return [*sweep.stages(state, corpus, params), *search.stages(state, corpus, params, rng)]

    def traces(self, state: Fields, data: ModelData, params: Settings) -> Mapping[str, float]:
        return sweep.traces_of(state, corpus_of(data, params), params)

    def objective(self, state: Fields, data: ModelData, params: Settings) -> float:
        return elbo_of(state, corpus_of(data, params), params)

    def layout(self, data: ModelData, params: Settings) -> Layout:
        counts = ("most", "vain", "tried", "topic", "candidate", "swept")
        kept = ("trial", "walk", "leader", "other")
        return {
            **{f"moves.{name}": Part((), "int64", low=0, missing=True) for name in counts},
            "moves.last": Part((), missing=True, unset=True),
            **{f"moves.{name}.**": Part(like="") for name in kept},
            "steps.order": Part(("batches",), "int64", low=0, missing=True),
            "steps.kept.**": Part(like=""),
        }

    def contradiction(self, state: Fields, data: ModelData, params: Settings) -> str:
        return stochastic.contradiction_of(cast("State", state), corpus_of(data, params), params)

    def upgrade_state(self, state: State, from_version: int, data: ModelData, params: Settings) -> Fields:
        if from_version == 2:
            return cast("Fields", sweep.upgraded(state, corpus_of(data, params), params))
        return super().upgrade_state(state, from_version, data, params)

    def converged(self, traces: Mapping[str, np.ndarray], tolerance: float) -> bool:
        bound, change = traces["elbo"], traces["change"]
        if (
            not _all_tried(traces) or len(bound) < 2 or not change[-1] < SETTLED
        ):  # not a number before the joint family has begun
            return False
        return bool(abs(bound[-1] - bound[-2]) < tolerance * (1 + abs(bound[-1])))

    def may_stop(self, traces: Mapping[str, np.ndarray], params: Settings) -> bool:
        """All moves have been tried, and the joint family has begun a while ago, if the fit is to go on to it; the last sweep was exact."""
        begun = _all_tried(traces) and bool(np.isfinite(traces["change"][-10:]).all())
        return begun and stochastic.may_stop(len(traces["elbo"]), params)

    def draws(self, state: Fields, data: ModelData, params: Settings) -> Mapping[str, Any]:
        weights = np.zeros((len(state["outer"]), data["X"].shape[1]))
        weights[:, corpus_of(data, params).words] = state["phi"].T
        cov, fixed = state["cov"].copy(), n_fixed(state)
        if fixed and not state["nu"][0, 0]:  # a background that is not there has no weights, not unknown ones
            cov[:fixed], cov[:, :fixed] = 0.0, 0.0
        return {
            "assignments": state["nu"].copy(),
            "weights": weights,
            "weight_cov": cov,
            "share_a": state["share_a"].copy(),
            "share_b": state["share_b"].copy(),
            "coefficients": state["coef"].copy(),
            "coefficient_cov": state["coef_cov"].copy(),
            "precision_shape": state["tau_shape"],
            "precision_rate": state["tau_rate"],
        }

    def summarise(self, kept: Kept, data: ModelData, params: Settings) -> Results:
        from plaidwork.plugins.supervised_ibp.results import summarise_fit

        return summarise_fit(kept, data, params)

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: Settings) -> Results:
        from plaidwork.plugins.supervised_ibp.predict import predict_new

        return predict_new(kept, data, new_data, params)

    def validate(self, data: ModelData, params: Settings) -> Sequence[Problem]:
        return problems_of(data, params)

    def prepare(self) -> None:
        _warm_up(self)

    def estimate(self, data: ModelData, params: Settings) -> Cost:
        """The training half alone is read by a sweep."""
        block: Block = data["X"]
        (n, d), k = block.shape, params["n_topics"] + params["background"]
        entries = block.values.nnz if hasattr(block.values, "nnz") else n * d
        part = 1 - params["test_share"]
        work = 2 * k * entries * part + 2 * n * part * k * k + 3 * d * k * k
        if moves_for(work, params):
            work *= 1 + SWEEPS
        return Cost(
            memory=8.0 * n * part * (4 * k + 16) + 40.0 * d * k,  # state, checkpoint, draw and the start
            seconds_per_sweep=0.8e-9 * work + 1e-4,
            shared=_copies(block, entries) * part,
        )


def _copies(block: Block, entries: float) -> float:
    """Bytes of the words, and of two copies of them while results are worked out; of mapped ones only where numbers of columns have eight
    bytes, of which the corpus holds four, and results eight."""
    if block.mapped:
        return 12.0 * entries if block.values.indices.dtype == np.int64 else 0.0
    return 36.0 * entries


def _all_tried(traces: Mapping[str, np.ndarray]) -> bool:
    """Whether no moves are left; runs from before there were any do not have that trace."""
    return "moves_left" not in traces or traces["moves_left"][-1] <= 0


def _warm_up(model: SupervisedIbp) -> None:
    """Compile the kernels on a tiny problem."""
    rng = np.random.default_rng(0)

    def block(name: str, values: np.ndarray) -> Block:
        names = tuple(tuple(f"{name}{i}" for i in range(size)) for size in values.shape)
        return Block(name, values, np.ones(values.shape, bool), None, names)

    data = ModelData(
        {"X": block("X", rng.poisson(1.0, (12, 4)) + np.eye(12, 4)), "y": block("y", np.arange(12.0))}
    )
    given = {"n_topics": 2, "start": "sparse", "test_share": 0.0}
    params = cast("Settings", model.spec.check_params(given))
    try:
        state = model.init(data, params, rng)
    except ModelError:  # pragma: no cover - the tiny problem is sound
        return
    for _ in passes(model, state, data, params, rng, Clock(0, 0)):
        elbo_of(state, corpus_of(data, params), params)
