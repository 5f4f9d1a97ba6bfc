"""Blocks of counts and of links, their number inferred (see NOTES.md, “Counts and links”)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np

from plaidwork.core.api import (
    Block,
    ChainView,
    Clock,
    Cost,
    Kept,
    Layout,
    Model,
    ModelData,
    ModelSpec,
    Problem,
    Results,
    Stage,
    Trial,
    passes,
)
from plaidwork.core.api_blocks import nmi_overlap_ishiguro
from plaidwork.plugins.plaid.counts.checks import estimate_cost, find_problems
from plaidwork.plugins.plaid.counts.draws import draw_of, log_probability, rates_at
from plaidwork.plugins.plaid.counts.entries import add_by_level, entries_of, one_block
from plaidwork.plugins.plaid.counts.fields import CountCopy, CountFields, CountSettings
from plaidwork.plugins.plaid.counts.results import summarise_counts
from plaidwork.plugins.plaid.counts.spec import PLAID_COUNTS
from plaidwork.plugins.plaid.counts.sweep import (
    LEAST_SHAPE,
    MADE,
    MOVES,
    CountSetting,
    copy_stage,
    draw_copy,
    least_shape,
    log_joint,
    log_likelihood_of,
    new_copy,
    warming,
)
from plaidwork.plugins.plaid.fields import Flags, Floats
from plaidwork.plugins.plaid.held_out import add_density, mean_density, no_draws_yet
from plaidwork.plugins.plaid.kernels.birth_death import harmonic
from plaidwork.plugins.plaid.large import covered_cells
from plaidwork.plugins.plaid.priors import Gamma
from plaidwork.plugins.plaid.simulate import draw_subsets
from plaidwork.plugins.plaid.state import given_blocks, read_only, true_blocks
from plaidwork.plugins.plaid.stored import layout_of_counts, wrong_copies

AT_ONCE = 1000
"""Slice of a stage that takes next to no time."""

TRIAL: dict[str, Any] = {
    "expected_blocks": 1.5,
    "mass_shape": 3.0,
    "max_blocks": 3,
    "block_rate_shape": 3.0,
    "degree_shape": 3.0,
    "degree_rate": 1.5,
    "background_shape": 2.0,
    "background_rate": 2.0,
    "start": "prior",
    "start_blocks": 2,
    "warm_starts": 1,
}


def _harmonics(shape: tuple[int, ...]) -> float:
    return float(harmonic(shape[0]) * harmonic(shape[1]))


class PlaidCounts(Model[CountFields, CountSettings]):
    """Overlapping blocks of counts or links over a background with degrees of rows and columns."""

    spec: ClassVar[ModelSpec] = PLAID_COUNTS
    likelihood_of: ClassVar[str] = "X"
    trials: ClassVar[Sequence[Trial]] = (
        Trial(name="counts", params=TRIAL | {"likelihood": "poisson"}, shapes={"X": (4, 3)}, missing=0.1),
        Trial(name="links", params=TRIAL | {"likelihood": "bernoulli"}, shapes={"X": (4, 3)}, missing=0.1),
    )

    def setting(self, data: ModelData, params: CountSettings, clock: Clock) -> CountSetting:
        """What the tasks of a sweep share."""
        harmonics = _harmonics(data["X"].shape)
        mass_rate = params["mass_shape"] * harmonics / params["expected_blocks"]
        entries = entries_of(data, params)
        by_level = add_by_level(entries.links, params)
        pairs = max(params[name] for name in MADE[by_level])
        return CountSetting(
            entries,
            Gamma(params["mass_shape"], mass_rate, params["learn_mass"], params["mass_value"]),
            self._rate_prior(params),
            (params["degree_shape"], params["degree_rate"], least_shape(params, clock)),
            (params["background_shape"], params["background_rate"]),
            (params["row_degrees"], params["column_degrees"]),
            harmonics,
            params["max_blocks"],
            params["prior_share"],
            tuple(name for n in range(pairs) for name in MADE[by_level] if n < params[name]),
            params["warm_starts"] if warming(params, clock) else 1,
            params["block_shape"],
            by_level,
        )

    def _rate_prior(self, params: CountSettings) -> Gamma:
        shape, guess = params["block_rate_shape"], params["block_rate"] / params["block_shape"]
        return Gamma(shape, shape * guess, params["learn_block_rate"], 1.0 / guess)

    def init(self, data: ModelData, params: CountSettings, rng: np.random.Generator) -> CountFields:
        block: Block = data["X"]
        setting = self.setting(data, params, Clock(0, 0))
        rows, columns = self._start(data, params, rng)
        alpha = setting.mass.shape / setting.mass.rate if setting.mass.learned else setting.mass.value
        rate = params["block_shape"] / params["block_rate"]
        theta = rng.standard_gamma(params["block_shape"], len(rows)) / rate
        entries, cells = setting.entries, block.shape[0] * block.shape[1]
        level = max(float(entries.values.sum()), 1.0) / cells
        copy = new_copy(rows, columns, theta, level, alpha, rate)
        draw_copy(copy, setting, rng)
        return self._new_state(copy, block)

    def _new_state(self, copy: CountCopy, block: Block) -> CountFields:
        return {
            "copies": {"0": copy},
            "warm": False,
            "order": np.empty(0, np.int64),
            "accepted": dict.fromkeys(MOVES, 0),
            "held_out": no_draws_yet(block),
        }

    def _start(self, data: ModelData, params: CountSettings, rng: np.random.Generator) -> tuple[Flags, Flags]:
        n_rows, n_columns = data["X"].shape
        if params["start"] == "given":
            rows, columns = given_blocks(data)
            kept = one_block(rows, columns)
            return rows[kept], columns[kept]
        size = min(params["start_blocks"], params["max_blocks"]) if params["start"] == "prior" else 0
        return draw_subsets(rng, size, n_rows), draw_subsets(rng, size, n_columns)

    def stages(
        self,
        state: CountFields,
        data: ModelData,
        params: CountSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> Sequence[Stage]:
        setting = self.setting(data, params, clock)
        found = [copy_stage(0, state, setting, rng, lambda: self._arrange(state, setting))]
        found += [copy_stage(number, state, setting, rng) for number in range(1, setting.copies)]
        if len(state["held_out"]["rows"]) and not clock.warming:
            found.append(
                Stage("held-out cells", lambda lo, hi: self._add_held_out(state, data, params), slice=AT_ONCE)
            )
        return found

    def _arrange(self, state: CountFields, setting: CountSetting) -> None:
        """At the start of a sweep: make the copies it needs; after the warm starts go on with the best one.

        Members of blocks that add by level are often unsure; then each block takes more from the log joint of a draw than it
        gives, though there are so many such draws that together they weigh more. So these copies are ranked by their likelihood.
        """
        warm = setting.copies > 1
        if state["warm"] and not warm:
            height = log_likelihood_of if setting.by_level else log_joint
            heights = {name: height(copy, setting) for name, copy in state["copies"].items()}
            state["copies"] = {"0": state["copies"][max(heights, key=lambda name: heights[name])]}
        elif warm and not state["warm"]:
            copy = state["copies"]["0"]
            state["copies"] = {str(number): deepcopy(copy) for number in range(setting.copies)}
        state["warm"] = warm
        state["accepted"] = dict.fromkeys(MOVES, 0)

    def _held_out_density(self, state: CountFields, data: ModelData, params: CountSettings) -> Floats:
        held, copy = state["held_out"], state["copies"]["0"]
        i, j = held["rows"], held["columns"]
        u, v, links = copy["row_degrees"], copy["column_degrees"], entries_of(data, params).links
        by_level = add_by_level(links, params)
        rates = rates_at(copy["rows"], copy["columns"], copy["theta"], copy["level"], u, v, by_level, i, j)
        return log_probability(data["X"].truth[i, j], rates, links)

    def _add_held_out(self, state: CountFields, data: ModelData, params: CountSettings) -> None:
        add_density(state["held_out"], self._held_out_density(state, data, params))

    def traces(self, state: CountFields, data: ModelData, params: CountSettings) -> dict[str, float]:
        copy, setting = state["copies"]["0"], self.setting(data, params, Clock(0, 0))
        rows, columns = copy["rows"], copy["columns"]
        cells = float(rows.shape[1] * columns.shape[1])
        background = copy["level"] * float(copy["row_degrees"].mean() * copy["column_degrees"].mean())
        sizes = (
            (rows @ copy["row_degrees"]) * (columns @ copy["column_degrees"])
            if setting.by_level
            else rows.sum(axis=1) * columns.sum(axis=1)
        )
        added = float(copy["theta"] @ sizes) / cells
        found = {
            "log_joint": log_joint(copy, setting),
            "n_blocks": float(len(rows)),
            "covered": covered_cells(rows, columns) / cells,
            "background": background,
            "explained": added / (added + background),
            "row_spread": copy["row_shape"] ** -0.5 if params["row_degrees"] else math.nan,
            "column_spread": copy["column_shape"] ** -0.5 if params["column_degrees"] else math.nan,
            "alpha": copy["alpha"],
            "held_out": mean_density(state["held_out"], lambda: self._held_out_density(state, data, params)),
            "nmi": self._nmi(copy, data),
        }
        for name in ("birth_death", "one_to_two"):
            tries = params[name]
            found[name] = state["accepted"][name] / tries if tries else math.nan
        return found

    def _nmi(self, copy: CountCopy, data: ModelData) -> float:
        """Agreement with the true blocks; NaN when they were not given."""
        truth = true_blocks(data)
        return math.nan if truth is None else nmi_overlap_ishiguro(copy["rows"], copy["columns"], *truth)

    def draws(self, state: CountFields, data: ModelData, params: CountSettings) -> Mapping[str, Any]:
        copy = state["copies"]["0"]
        shown = {"row": params["row_degrees"], "column": params["column_degrees"]}
        degrees = {"row": copy["row_degrees"], "column": copy["column_degrees"]}
        return {
            "Z1": copy["rows"].copy(),
            "Z2": copy["columns"].copy(),
            "theta": copy["theta"].copy(),
            **{name: copy[name] for name in ("level", "alpha", "rate")},
            **{f"{side}_degree": degrees[side][None][: int(on)].copy() for side, on in shown.items()},
            "log_joint": log_joint(copy, self.setting(data, params, Clock(0, 0))),
        }

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: CountSettings,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        assert columns is not None  # cells are the observations
        block: Block = data["X"]
        source = block.values if block.truth is None else block.truth
        values = np.asarray(source[rows, columns], np.float64).ravel()
        links = entries_of(data, params).links
        by_level = add_by_level(links, params)
        return np.array(
            [draw_of(chain, draw, links, by_level).density(rows, columns, values) for draw in draws.tolist()]
        ).reshape(len(draws), len(rows))

    def summarise(self, kept: Kept, data: ModelData, params: CountSettings) -> Results:
        levels = params["row_degrees"] and params["column_degrees"]
        entries = entries_of(data, params)
        by_level = add_by_level(entries.links, params)
        return summarise_counts(kept, data, params["max_blocks"], entries, levels, by_level)

    def layout(self, data: ModelData, params: CountSettings) -> Layout:
        return layout_of_counts(data["X"].shape)

    def contradiction(self, state: CountFields, data: ModelData, params: CountSettings) -> str:
        return wrong_copies(state, "copies")

    def validate(self, data: ModelData, params: CountSettings) -> Sequence[Problem]:
        return find_problems(data, params)

    def estimate(self, data: ModelData, params: CountSettings) -> Cost:
        return estimate_cost(data["X"], params)

    def prepare(self) -> None:
        """Run a tiny sweep; every kernel has one signature."""
        rng = np.random.Generator(np.random.PCG64DXSM(0))
        values = read_only(rng.poisson(1.0, (4, 3)).astype(float))
        data = ModelData({"X": Block("X", values, read_only(np.ones((4, 3), bool)), None, ((), ()))})
        settings: Any = self.spec.check_params(
            {
                "start": "prior",
                "birth_death": 20,
                "one_to_two": 20,
                "level_births": 20,
                "level_scans": 20,
                "seeded": 20,
            }
        )
        params: CountSettings = settings
        state = self.init(data, params, rng)
        for _ in passes(self, state, data, params, rng, Clock(0, 0)):
            pass
        self.traces(state, data, params)

    def simulate(
        self, params: CountSettings, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], CountFields]:
        """Memberships, rates, degrees and data from the prior. Without a word on it (“as in the data”) they are counts."""
        shape = shapes["X"]
        harmonics = _harmonics(shape)
        mass_rate = params["mass_shape"] * harmonics / params["expected_blocks"]
        mass = Gamma(params["mass_shape"], mass_rate, params["learn_mass"], params["mass_value"])
        alpha, rate = mass.draw(rng), self._rate_prior(params).draw(rng)
        size = rng.poisson(alpha * harmonics)
        while size > params["max_blocks"]:
            size = rng.poisson(alpha * harmonics)
        rows, columns = (draw_subsets(rng, size, n) for n in shape)
        level = rng.gamma(params["background_shape"]) / params["background_rate"]
        copy = new_copy(
            rows, columns, rng.standard_gamma(params["block_shape"], size) / rate, level, alpha, rate
        )
        for side, n in zip(("row", "column"), shape, strict=True):
            if params[f"{side}_degrees"]:  # type: ignore[literal-required]
                spread = 0.0
                while spread < LEAST_SHAPE:
                    spread = rng.gamma(params["degree_shape"]) / params["degree_rate"]
                copy[f"{side}_shape"] = spread  # type: ignore[literal-required]
                copy[f"{side}_degrees"] = np.maximum(rng.gamma(spread, size=n) / spread, 1e-280)  # type: ignore[literal-required]
        values = self._data(copy, params, rng)
        block = Block("X", read_only(values), read_only(np.ones(values.shape, bool)), None, ((), ()))
        return {"X": values}, self._new_state(copy, block)

    def simulate_data(
        self,
        state: CountFields,
        params: CountSettings,
        shapes: Mapping[str, tuple[int, ...]],
        rng: np.random.Generator,
    ) -> dict[str, np.ndarray]:
        return {"X": self._data(state["copies"]["0"], params, rng)}

    def _data(self, copy: CountCopy, params: CountSettings, rng: np.random.Generator) -> np.ndarray:
        levels = copy["row_degrees"][:, None] * copy["column_degrees"]
        rates = np.einsum("k,ki,kj->ij", copy["theta"], copy["rows"], copy["columns"])
        by_level = add_by_level(params["likelihood"] == "bernoulli", params)
        rates = (copy["level"] + rates) * levels if by_level else copy["level"] * levels + rates
        counts = rng.poisson(np.minimum(rates, 1e15)).astype(float)
        return np.minimum(counts, 1.0) if params["likelihood"] == "bernoulli" else counts
