"""The model: what the host calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from plaidwork.core.api import (
    Clock,
    Cost,
    Dataset,
    Kept,
    Layout,
    Model,
    ModelData,
    ModelError,
    ModelSpec,
    Params,
    Problem,
    Results,
    Stage,
    State,
    Trial,
    passes,
)
from plaidwork_lcms_annotation import moves
from plaidwork_lcms_annotation.groups import ASSIGNED, CHANGED, CLUSTERS, HIGH, MOVED, TRIED
from plaidwork_lcms_annotation.peaks import LISTS, prepared_lists
from plaidwork_lcms_annotation.scales import draw_rates, draw_scales, log_prior, log_rates
from plaidwork_lcms_annotation.spec import SPEC
from plaidwork_lcms_annotation.state import Terms, law_of, layout_of, new_state, ready, terms_of, work_of

PEAKS_AT_ONCE = 30_000
"""Peaks of one slice: some 20 ms."""
BLOCKS_AT_ONCE = 10_000
PEAKS_OF_A_BLOCK = 8
"""A block move for so many peaks. With one for two of them a sweep took half as long again, and chains mixed no better (NOTES.md)."""
FIRST_SWEEPS = 3
SMALL: Mapping[str, Any] = {
    "ppm": 30.0, "rt_sd": 5.0, "priors": "given", "run_start": 0.0, "run_end": 60.0, "level": 10.0, "level_spread": 1.0,
    "adducts_positive": "M+H, 1, 1, H; M+Na, 1, 1, Na", "top": 1, "rates": "given", "alpha": 1.0,
}  # fmt: skip


class LcmsAnnotation(Model):
    """Peaks of an LC-MS run explained by listed formulas, their adducts and isotopes."""

    spec: ClassVar[ModelSpec] = SPEC
    trials: ClassVar[Sequence[Trial]] = (
        Trial(name="given", params=SMALL, shapes={"peaks": (5, 3), "formulas": (4,)}, warmup=60, thin=4),
        Trial(
            name="inferred, replicates",
            # two replicates would pin every peak down in a whole run: a window of a few ions, and errors as wide as they are apart
            params={
                **SMALL,
                "rates": "inferred",
                "scales": "inferred",
                "ppm": 1000.0,
                "mz_low": 180.0,
                "mz_high": 184.0,
            },
            shapes={"peaks": (5, 6), "formulas": (3,)},
            warmup=150,
            thin=20,
        ),
    )

    def init(self, data: ModelData, params: Params, rng: np.random.Generator) -> State:
        self._refuse(data, params)
        n = data["peaks"].shape[0]
        state, terms = new_state(np.full(n, -1), np.full(n, -1), params), terms_of(data, params)
        ready(state, terms)
        active = len(terms.lists.candidates.active)
        for _ in range(FIRST_SWEEPS):
            self._peaks(state, terms, rng, 0, active)
        self._settle(state, terms)
        return state

    def _refuse(self, data: ModelData, params: Params) -> None:
        """What ``validate`` calls an error, for who calls without it."""
        for problem in self.validate(data, params):
            if problem.severity == "error":
                raise ModelError(problem.message, problem.hint)

    def _peaks(self, state: State, terms: Terms, rng: np.random.Generator, lo: int, hi: int) -> None:
        near, theory = terms.lists.candidates, terms.lists.theory
        moves.move_peaks(rng, work_of(state), terms.seen, near, theory, law_of(state, terms), lo, hi)

    @staticmethod
    def _settle(state: State, terms: Terms) -> None:
        """Positions of the candidates that the peaks now are."""
        choice, position = state["work"]["choice"], terms.lists.candidates.position
        state["position"][:] = np.where(choice >= 0, np.append(position, -1)[choice], -1)

    def layout(self, data: ModelData, params: Params) -> Layout:
        return layout_of(terms_of(data, params))

    def stages(
        self, state: State, data: ModelData, params: Params, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        terms = terms_of(data, params)
        near, theory, seen = terms.lists.candidates, terms.lists.theory, terms.seen

        def blocks(lo: int, hi: int) -> None:
            moves.move_blocks(rng, work_of(state), seen, near, theory, law_of(state, terms), lo, hi)

        def formulas(lo: int, hi: int) -> None:
            moves.move_formulas(rng, work_of(state), seen, near, theory, law_of(state, terms), lo, hi)

        def above(lo: int, hi: int) -> None:
            self._settle(state, terms)
            if params["rates"] == "inferred":
                draw_rates(state, rng)
            if params["scales"] == "inferred":
                draw_scales(state, terms, params, rng, clock.warming)

        return [
            Stage(
                "peaks",
                lambda lo, hi: self._peaks(state, terms, rng, lo, hi),
                len(near.active),
                PEAKS_AT_ONCE,
                begin=lambda: ready(state, terms),
                whole=False,
            ),
            Stage(
                "blocks",
                blocks,
                lambda: n_blocks(state),
                BLOCKS_AT_ONCE,
                begin=lambda: moves.list_assigned(work_of(state)),
                whole=False,
            ),
            Stage("formulas", formulas, lambda: int(state["work"]["at"][HIGH]), BLOCKS_AT_ONCE, whole=False),
            Stage("rates and scales", above),
        ]

    def traces(self, state: State, data: ModelData, params: Params) -> Mapping[str, float]:
        terms, at, n = terms_of(data, params), state["work"]["at"], len(state["cluster"])
        lists = terms.lists
        law = law_of(state, terms)
        density = moves.log_joint(work_of(state), terms.seen, lists.candidates, lists.theory, law)
        inferred = params["scales"] == "inferred"
        if params["rates"] == "inferred":
            density += log_rates(state)
        if inferred:
            density += log_prior(state["scales"], params)
        scales = state["scales"] if inferred else np.full(4, math.nan)
        return {
            "log_joint": float(density),
            "n_clusters": float(at[CLUSTERS]),
            "n_background": float(n - at[ASSIGNED]),
            "moved": float(at[MOVED] / n),
            "blocks_moved": float(at[CHANGED] / at[TRIED]) if at[TRIED] else math.nan,
            "alpha": state["alpha"] if params["rates"] == "inferred" else math.nan,
            "share": state["background"] if params["rates"] == "inferred" else math.nan,
            "ppm": float(scales[0]),
            "rt_sd": float(scales[1]),
            "ratio_sd": float(scales[2]),
            "bias": float(scales[3]),
        }

    def draws(self, state: State, data: ModelData, params: Params) -> Mapping[str, Any]:
        found = np.flatnonzero(state["cluster"] >= 0)
        _, first, label = np.unique(state["cluster"][found], return_index=True, return_inverse=True)
        return {
            "assigned_peak": found,
            "assigned_cluster": np.argsort(np.argsort(first))[label],  # numbered by their first peaks
            "assigned_position": state["position"][found],
            "n_clusters": int(state["work"]["at"][CLUSTERS]),
            "n_background": len(state["cluster"]) - len(found),
            "alpha": state["alpha"],
            "share": state["background"],
            "scales": state["scales"].copy(),
        }

    def refresh(self, state: State, data: ModelData, params: Params) -> State:
        ready(state, terms_of(data, params))
        return state

    def summarise(self, kept: Kept, data: ModelData, params: Params) -> Results:
        from plaidwork_lcms_annotation.results import summarise_draws

        return summarise_draws(kept, data, params)

    def validate(self, data: ModelData, params: Params) -> Sequence[Problem]:
        from plaidwork_lcms_annotation.problems import find_problems

        return find_problems(data, params)

    def prepare(self) -> None:
        from plaidwork_lcms_annotation.simulate import tiny_data

        params = self.spec.check_params({**SMALL, "rates": "inferred", "scales": "inferred"})
        data, rng = tiny_data(), np.random.default_rng(1)
        state = self.init(data, params, rng)
        for _ in passes(self, state, data, params, rng, Clock(0, 1)):
            pass
        self.traces(state, data, params)

    def estimate(self, data: ModelData, params: Params) -> Cost:
        lists = data.prepared(prepared_lists, params, LISTS)
        n, near = len(lists.peaks.seen), len(lists.candidates.position)
        active, replicates = len(lists.candidates.active), lists.peaks.seen.shape[1]
        memory = 8.0 * (
            13 * n + near * (5 + replicates) + active * (8 + 2 * replicates * (1 + len(lists.adducts)))
        )
        return Cost(memory, 1e-6 * (0.05 * n + 0.5 * active + 0.3 * near) * replicates)

    def simulate(
        self, params: Params, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> tuple[dict[str, Dataset], State]:
        from plaidwork_lcms_annotation.simulate import simulate_all

        return simulate_all(params, shapes, rng)

    def simulate_data(
        self, state: State, params: Params, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> dict[str, Dataset]:
        from plaidwork_lcms_annotation.simulate import simulate_peaks

        return simulate_peaks(state, params, shapes, rng)


def n_blocks(state: State) -> int:
    """Block moves of a sweep: one for every eight peaks that are not background, whose number they do not change."""
    return int(state["work"]["at"][ASSIGNED] + PEAKS_OF_A_BLOCK - 1) // PEAKS_OF_A_BLOCK
