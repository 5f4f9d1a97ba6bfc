"""The model of several views: what the host calls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, cast

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
    Part,
    Problem,
    Results,
    Stage,
    State,
    Trial,
    passes,
    refuse_errors,
)
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import samples
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.multi_view.spec import MULTI_VIEW_CLUSTERS
from plaidwork.plugins.dirichlet_processes.multi_view.starts import first_state
from plaidwork.plugins.dirichlet_processes.multi_view.state import (
    ViewState,
    ViewTables,
    tables_of,
    with_joint,
)
from plaidwork.plugins.dirichlet_processes.multi_view.stored import TOGETHER, contradiction_of, layout_of
from plaidwork.plugins.dirichlet_processes.multi_view.sweep import Updates, log_joint
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.reading import find_problems
from plaidwork.plugins.dirichlet_processes.sweep import AT_ONCE, ROOM, SLICE

FEW = SLICE // 10
"""A sweep of less work, by what its stages are not going to change, is two stages: asking for six, and for their arrays, took as long as the work."""

SMALL: dict[str, Any] = {
    "standardise": False, "within": 0.7, "mean_weight": 0.6, "within_shape": 3.0, "block_alpha_shape": 3.0,
    "block_alpha_rate": 2.0, "alpha_shape": 3.0, "alpha_rate": 2.0, "gamma_shape": 3.0, "gamma_rate": 2.0,
}  # fmt: skip
"""Priors without a number taken from the data, under which a few samples have one block or several."""


def _trial(
    name: str, likelihoods: str, *widths: int, rows: int = 5, missing: float = 0.0, **settings: Any
) -> Trial:
    shapes = {"views": tuple((rows, width) for width in widths)}
    params = {**SMALL, "likelihoods": likelihoods, **settings}
    return Trial(name=name, params=params, shapes=shapes, missing=missing, warmup=40, thin=4)


class MultiViewClusters(Model[ViewState, ViewSettings]):
    """Clusters of each view, and blocks of samples that tie them; parameters and shares integrated out."""

    spec: ClassVar[ModelSpec] = MULTI_VIEW_CLUSTERS
    likelihood_of: ClassVar[str] = "views"
    likelihood_by_row: ClassVar[bool] = True
    trials: ClassVar[Sequence[Trial]] = (
        _trial("two views of numbers", "gaussian", 2, 1, block_moves=2),
        _trial("numbers and categories, concentrations fixed", "gaussian, categorical", 1, 3, learn=False),
        _trial("three views, no moves", "gaussian, categorical, poisson", 1, 2, 1, moves=0, block_moves=0),
        _trial("numbers and counts with gaps", "gaussian, poisson", 3, 3, missing=0.15, block_moves=1),
    )

    def init(self, data: ModelData, params: ViewSettings, rng: np.random.Generator) -> ViewState:
        refuse_errors(problems_of(data, params))
        return first_state(tables_of(data, params), params, rng)

    def stages(
        self,
        state: ViewState,
        data: ModelData,
        params: ViewSettings,
        rng: np.random.Generator,
        clock: Clock,
    ) -> Sequence[Stage]:
        tables = tables_of(data, params)
        one = Updates(state, tables, params, rng)
        n, views = len(state["block"]), len(tables.tables)
        unit = tables.work
        high, blocks = max(state["links"]["high"].tolist()), int(np.count_nonzero(state["links"]["members"]))
        drawn = (high + ROOM) * unit + 6 * views * (blocks + ROOM) * (high + ROOM)
        move, block_move = 2 * (params["scans"] + 3) * n * unit // views, 400 * n * views
        tried = (params["block_moves"], params["moves"] * views) if n > 1 else (0, 0)
        # clusters are numbered and summed up at the end: no traces before
        last = Stage("weights, concentrations and bases", one.finish, slice=AT_ONCE)
        if n * unit * ROOM + tried[0] * block_move + tried[1] * move < FEW:
            return [Stage(TOGETHER, partial(one.draw_all, tried), slice=AT_ONCE, whole=False), last]
        return [
            Stage("clusters", one.count, n, 1 + SLICE // (3 * unit), begin=one.begin, whole=False),
            Stage("blocks and clusters", one.draw_samples, n, 1 + SLICE // drawn, whole=False),
            Stage("blocks", one.draw_blocks, n, 1 + SLICE // (40 * views * (blocks + ROOM)), whole=False),
            Stage("splits and merges of blocks", one.move_blocks, tried[0], 1 + SLICE // block_move, whole=False),
            Stage("splits and merges of clusters", one.move_clusters, tried[1], 1 + SLICE // move, whole=False),
            last,
        ]  # fmt: skip

    def traces(self, state: ViewState, data: ModelData, params: ViewSettings) -> Mapping[str, float]:
        at, links = state["at"], state["links"]
        return {
            "log_joint": log_joint(state, tables_of(data, params), params),
            "shared": _mean(state["information"][: -len(links["high"]) - 1].tolist()),
            "n_clusters": _mean(links["high"].tolist()),
            "n_blocks": float(np.count_nonzero(links["members"])),
            "alpha": math.exp(_mean(map(math.log, links["alpha"].tolist()))),
            "gamma": math.exp(_mean(map(math.log, links["gamma"].tolist()))),
            "moved": float(at[samples.MOVED] / len(state["block"])),
            "accepted_blocks": _share(at, samples.BLOCK_MOVES, samples.BLOCK_TRIES),
            "accepted": _share(at, samples.MOVES, samples.TRIES),
        }

    def layout(self, data: ModelData, params: ViewSettings) -> Layout:
        return layout_of(data["views"][0].shape[0], len(data["views"]))

    def draw_layout(self, data: ModelData, params: ViewSettings) -> Layout:
        return {
            "block_of": Part(low=0, below="sample"),
            "cluster_of": Part(low=-1, below="sample"),
            "n_clusters": Part(low=0),
        }

    def contradiction(self, state: ViewState, data: ModelData, params: ViewSettings) -> str:
        return contradiction_of(state, tables_of(data, params))

    def upgrade_state(
        self, state: State, from_version: int, data: ModelData, params: ViewSettings
    ) -> ViewState:
        if from_version == 1:
            return with_joint(state, tables_of(data, params))
        return super().upgrade_state(state, from_version, data, params)

    def draws(self, state: ViewState, data: ModelData, params: ViewSettings) -> Mapping[str, Any]:
        links, tables = state["links"], tables_of(data, params)
        views, found = len(links["high"]), state["information"]
        pieces = [
            links["beta"][lo : lo + high] for lo, high in zip(links["first"][:-1], links["high"], strict=True)
        ]
        return {
            "block_of": state["block"].copy(),
            "cluster_of": state["cluster"].copy(),
            "n_clusters": links["high"].copy(),
            "concentrations": np.concatenate([[state["block_alpha"]], links["alpha"], links["gamma"]]),
            "weight": np.concatenate(pieces),
            "mutual": found[: -views - 1].copy(),
            "entropy": found[-views - 1 : -1].copy(),
            "total_correlation": float(found[-1]),
            **base_by_column(state, tables, data),
        }

    def summarise(self, kept: Kept, data: ModelData, params: ViewSettings) -> Results:
        from plaidwork.plugins.dirichlet_processes.multi_view.results import summarise_views

        return summarise_views(kept, data, tables_of(data, params), params)

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: ViewSettings) -> Results:
        from plaidwork.plugins.dirichlet_processes.multi_view.newcomers import predict_views

        return predict_views(kept, data, new_data, tables_of(data, params), params)

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: ViewSettings,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        from plaidwork.plugins.dirichlet_processes.multi_view.leaving_out import densities_of_views

        return densities_of_views(chain, draws, data, tables_of(data, params), params, index, rows)

    def validate(self, data: ModelData, params: ViewSettings) -> Sequence[Problem]:
        return problems_of(data, params)

    def prepare(self) -> None:
        from plaidwork.plugins.dirichlet_processes.kernels.clusterings import prepare
        from plaidwork.plugins.dirichlet_processes.multi_view.reference import prepare_reference

        params = cast(ViewSettings, self.spec.check_params({"start": "random"}))
        data = tiny_views()
        rng = np.random.default_rng(1)
        state = self.init(data, params, rng)
        for _ in passes(self, state, data, params, rng, Clock(0, 1)):
            pass
        prepare()
        prepare_reference(state, tables_of(data, params), params)

    def estimate(self, data: ModelData, params: ViewSettings) -> Cost:
        blocks = tuple(data["views"])
        n, d, views = blocks[0].shape[0], sum(block.shape[1] for block in blocks), len(blocks)
        row = 1e-9 * (60.0 * views + 6.0 * d)
        memory = 8.0 * n * (3 * d + 4 * views) + 8.0 * 60 * d
        work = 12.0 + (params["moves"] + 0.3 * params["block_moves"]) * (params["scans"] + 3)
        return Cost(memory, n * row * work + 3e-4)

    def simulate(
        self, params: ViewSettings, shapes: Mapping[str, Any], rng: np.random.Generator
    ) -> tuple[dict[str, Any], ViewState]:
        from plaidwork.plugins.dirichlet_processes.multi_view.simulate import draw_data, draw_state

        state = draw_state(params, shapes["views"], rng)
        return {"views": draw_data(state, params, shapes["views"], rng)}, state

    def simulate_data(
        self, state: ViewState, params: ViewSettings, shapes: Mapping[str, Any], rng: np.random.Generator
    ) -> dict[str, Any]:
        from plaidwork.plugins.dirichlet_processes.multi_view.simulate import draw_data

        return {"views": draw_data(state, params, shapes["views"], rng)}


def _mean(numbers: Iterable[float]) -> float:
    """Of few numbers, for which an array takes longer."""
    found = list(numbers)
    return math.fsum(found) / len(found)


def _share(at: np.ndarray, done: int, tried: int) -> float:
    return float(at[done] / at[tried]) if at[tried] else math.nan


def problems_of(data: ModelData, params: ViewSettings) -> list[Problem]:
    """Errors stop the fit; warnings are shown."""
    found = find_problems(data, params)
    blocks = tuple(data["views"])
    if len(blocks) < 2:
        text = "Only one matrix is chosen; dependence is that of two or more views of the same samples."
        return [
            Problem(text, "Choose another matrix, or take the Dirichlet process mixture.", "views"),
            *found,
        ]
    for block in blocks:
        if not block.observed.any():
            text = f"“{block.name}” has no known cell."
            found.insert(0, Problem(text, "Choose other matrices.", "views"))
    for i, block in enumerate(blocks):
        for other in blocks[i + 1 :]:
            both = int((block.observed.any(axis=1) & other.observed.any(axis=1)).sum())
            if both < 2:
                count = "No sample has" if not both else "Only one sample has"
                text = f"{count} both “{block.name}” and “{other.name}”."
                hint = "Nothing says how far they depend on each other."
                found.append(Problem(text, hint, "views", "warning"))
    return found


def base_by_column(state: ViewState, tables: ViewTables, data: ModelData) -> dict[str, Floats]:
    """The bases with an entry for every column of every matrix."""
    centres, scales = [], []
    for table, base, block in zip(tables.tables, state["base"], data["views"], strict=True):
        centre, scale = np.zeros(block.shape[1]), np.zeros(block.shape[1])
        centre[table.number_of[:, 1]], scale[table.number_of[:, 1]] = base["m0"], base["b0"]
        scale[table.count_of[:, 1]] = base["rate"]
        centres.append(centre)
        scales.append(scale)
    return {
        "base_centre": np.concatenate(centres),
        "base_scale": np.concatenate(scales),
        "base_weight": np.concatenate([base["k0"] for base in state["base"]]),
    }


def tiny_views() -> ModelData:
    """A few cells of two views, to compile the kernels with."""
    blocks = []
    for name, values in (
        ("A", [[0.0, 1.0], [1.0, 0.0], [5.0, 1.0], [6.0, 0.0]]),
        ("B", [[0.5], [0.2], [3.0], [4.1]]),
    ):
        array = np.array(values)
        known = np.ones(array.shape, bool)
        for one in (array, known):
            one.setflags(write=False)
        columns = tuple(f"{name}{j + 1}" for j in range(array.shape[1]))
        blocks.append(Block(name, array, known, None, (tuple("abcd"), columns)))
    return ModelData({"views": tuple(blocks)})
