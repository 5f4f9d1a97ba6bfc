"""The model: what the host calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    Params,
    Part,
    Problem,
    Results,
    Stage,
    Trial,
    passes,
    refuse_errors,
)
from plaidwork.core.api import (
    State as Stored,
)
from plaidwork.plugins.dirichlet_processes.base import log_prior
from plaidwork.plugins.dirichlet_processes.joint_layout import packed, pieces
from plaidwork.plugins.dirichlet_processes.kernels import scan
from plaidwork.plugins.dirichlet_processes.likeness import at_shape, log_prior_shape
from plaidwork.plugins.dirichlet_processes.partitions import log_hyper, log_partition
from plaidwork.plugins.dirichlet_processes.reading import TABLE_SETTINGS, find_problems, kinds_of, read
from plaidwork.plugins.dirichlet_processes.settings import JOINT, Settings
from plaidwork.plugins.dirichlet_processes.spec import DP_MIXTURE
from plaidwork.plugins.dirichlet_processes.starts import first_state
from plaidwork.plugins.dirichlet_processes.state import State, Table, with_joint
from plaidwork.plugins.dirichlet_processes.stored import contradiction_of, layout_of
from plaidwork.plugins.dirichlet_processes.sweep import Updates, filled_again
from plaidwork.plugins.dirichlet_processes.tempering import (
    annealed_power,
    copy_stages,
    stages_of_copies,
    swap_rate,
    with_copies,
)

SMALL: dict[str, Any] = {
    "standardise": False,
    "within": 0.7,
    "mean_weight": 0.6,
    "alpha_shape": 3.0,
    "within_shape": 3.0,
    "learn_shape": False,
}
"""Priors without a number taken from the data, so that ``simulate`` and a sweep have one law."""


def _trial(
    name: str, likelihoods: str, *widths: int, rows: int = 6, missing: float = 0.0, **settings: Any
) -> Trial:
    shapes = {"views": tuple((rows, width) for width in widths)}
    params = {**SMALL, "likelihoods": likelihoods, **settings}
    return Trial(name=name, params=params, shapes=shapes, missing=missing, warmup=40, thin=4)


class DirichletProcessMixture(Model[State, Settings]):
    """Clusters with parameters of their own, their number unknown; parameters integrated out."""

    spec: ClassVar[ModelSpec] = DP_MIXTURE
    likelihood_of: ClassVar[str] = "views"
    likelihood_by_row: ClassVar[bool] = True
    trials: ClassVar[Sequence[Trial]] = (
        _trial("numbers", "gaussian", 2, 1),
        _trial(
            "numbers with gaps, base fixed", "gaussian", 3, missing=0.12, learn_base=False, learn_alpha=False
        ),
        _trial("categories, finite, annealed", "categorical", 3, missing=0.1, prior="finite", anneal=0.5),
        _trial("counts, Pitman-Yor", "poisson", 2, prior="pitman_yor"),
        _trial("correlated columns with gaps", "gaussian_full", 2, missing=0.15),
        _trial(
            "correlated and other columns, finite",
            "gaussian_full, gaussian, gaussian_full",
            1,
            1,
            2,
            prior="finite",
        ),
        _trial("counts that share a total", "multinomial", 3, share_weight=0.6),
        _trial(
            "counts that share a total beside other columns",
            "multinomial, gaussian, categorical, multinomial",
            2,
            1,
            1,
            3,
            prior="finite",
            share_weight=0.6,
        ),
        _trial("all three, no moves", "gaussian, categorical, poisson", 1, 2, 1, moves=0),
        _trial("likeness learned", "gaussian", 2, 1, learn_shape=True),
        _trial(
            "likeness of correlated columns learned",
            "gaussian_full, gaussian, categorical",
            2,
            1,
            1,
            missing=0.1,
            learn_shape=True,
        ),
        _trial("spread near its least", "gaussian_full, gaussian", 2, 2, least_within=0.8),
        _trial(
            "correlated columns with gaps, Pitman-Yor", "gaussian_full", 2, missing=0.15, prior="pitman_yor"
        ),
        _trial(
            "counts and numbers with gaps, finite", "poisson, gaussian", 2, 2, missing=0.12, prior="finite"
        ),
        _trial(
            "shares of a total and categories, Pitman-Yor with its discount fixed",
            "multinomial, categorical",
            3,
            2,
            prior="pitman_yor",
            learn_discount=False,
            share_weight=0.6,
        ),
    )

    def init(self, data: ModelData, params: Settings, rng: np.random.Generator) -> State:
        refuse_errors(problems_of(data, params))
        table = table_of(data, params)
        state = first_state(table, params, rng)
        if params["rungs"] == 1:
            return state
        return with_copies(
            state, params, [first_state(table, params, rng) for _ in range(1, params["rungs"])]
        )

    def stages(
        self, state: State, data: ModelData, params: Settings, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        table = table_of(data, params)
        if "copies" in state:
            own = copy_stages(Updates(state, table, params, rng))
            return [*own, *stages_of_copies(state, table, params, rng, clock)]
        return copy_stages(Updates(state, table, params, rng, annealed_power(params, clock)))

    def traces(self, state: State, data: ModelData, params: Settings) -> Mapping[str, float]:
        at, n = state["at"], len(state["labels"])
        k, tried = int(at[scan.NUMBER]), int(at[scan.TRIED])
        return {
            "log_joint": log_joint(state, table_of(data, params), params),
            "n_clusters": float(k),
            "largest": float(state["clusters"]["size"][:k].max() / n),
            "alpha": state["alpha"],
            "discount": state["discount"],
            "likeness": state["base"].get("shape", params["within_shape"]),
            "moved": float(at[scan.MOVED] / n),
            "accepted": float(at[scan.ACCEPTED] / tried) if tried else math.nan,
            "swapped": swap_rate(state),
        }

    def draws(self, state: State, data: ModelData, params: Settings) -> Mapping[str, Any]:
        table = table_of(data, params)
        return {
            "cluster_of": state["labels"].copy(),
            "n_clusters": int(state["at"][scan.NUMBER]),
            "alpha": state["alpha"],
            "discount": state["discount"],
            **base_by_column(state, table, data),
            "base_shape": state["base"].get("shape", params["within_shape"]),
            "base_spread": packed(state["base"]["psi"], table.joint_first),
            "imputed": state["joint"][~table.items.joint_known].astype(np.float32),
        }

    def layout(self, data: ModelData, params: Settings) -> Layout:
        return layout_of(data["views"][0].shape[0])

    def draw_layout(self, data: ModelData, params: Settings) -> Layout:
        return {"cluster_of": Part(low=0, below="sample"), "n_clusters": Part(low=1)}

    def contradiction(self, state: State, data: ModelData, params: Settings) -> str:
        return contradiction_of(state, table_of(data, params))

    def upgrade_state(self, state: Stored, from_version: int, data: ModelData, params: Settings) -> State:
        if from_version == 1:  # no correlated columns
            return with_joint(state, table_of(data, params))
        return super().upgrade_state(state, from_version, data, params)

    def refresh(self, state: State, data: ModelData, params: Settings) -> State:
        filled_again(state, table_of(data, params), params)
        return state

    def summarise(self, kept: Kept, data: ModelData, params: Settings) -> Results:
        from plaidwork.plugins.dirichlet_processes.results import summarise_draws

        return summarise_draws(kept, data, table_of(data, params), params)

    def predict(self, kept: Kept, data: ModelData, new_data: ModelData, params: Settings) -> Results:
        from plaidwork.plugins.dirichlet_processes.newcomers import predict_new

        return predict_new(kept, data, new_data, table_of(data, params), params)

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
        from plaidwork.plugins.dirichlet_processes.leaving_out import densities_of_rows

        return densities_of_rows(chain, draws, data, table_of(data, params), params, index, rows)

    def validate(self, data: ModelData, params: Settings) -> Sequence[Problem]:
        return problems_of(data, params)

    def prepare(self) -> None:
        from plaidwork.plugins.dirichlet_processes.kernels.clusterings import prepare

        params = cast(Settings, self.spec.check_params({}))
        data = tiny_data()
        rng = np.random.default_rng(1)
        for _ in passes(self, self.init(data, params, rng), data, params, rng, Clock(0, 1)):
            pass
        prepare()

    def estimate(self, data: ModelData, params: Settings) -> Cost:
        blocks = tuple(data["views"])
        n, d = blocks[0].shape[0], sum(block.shape[1] for block in blocks)
        kinds = kinds_of(params, blocks)
        joint = sum(block.shape[1] ** 2 for block, kind in zip(blocks, kinds, strict=True) if kind == JOINT)
        row = 1e-9 * (60.0 + 12.0 * d + 2.0 * joint)
        memory = 8.0 * n * (3 * d + 4) + 8.0 * 60 * (d + joint) * params["rungs"]
        moves = params["moves"] + 0.1 * params["cluster_moves"]  # these are of small clusters most often
        sweep = n * row * (12.0 + moves * (params["scans"] + 3)) + 3e-4
        return Cost(memory, params["rungs"] * sweep)

    def simulate(
        self, params: Settings, shapes: Mapping[str, Any], rng: np.random.Generator
    ) -> tuple[dict[str, Any], State]:
        from plaidwork.plugins.dirichlet_processes.simulate import draw_data, draw_state

        state = draw_state(params, shapes["views"], rng)
        return {"views": draw_data(state, params, shapes["views"], rng)}, state

    def simulate_data(
        self, state: State, params: Settings, shapes: Mapping[str, Any], rng: np.random.Generator
    ) -> dict[str, Any]:
        from plaidwork.plugins.dirichlet_processes.simulate import draw_data

        return {"views": draw_data(state, params, shapes["views"], rng)}


def problems_of(data: ModelData, params: Settings) -> list[Problem]:
    """What is wrong with data and settings."""
    found = find_problems(data, params)
    plain = params["rungs"] == 1 or any(one.severity == "error" for one in found)
    if not plain and not table_of(data, params).items.joint_whole.all():
        text = "A tempered chain takes no correlated columns with missing cells."
        hint = "Take their columns as independent, or the chain without copies."
        found.append(Problem(text, hint, "rungs"))
    return found


def table_of(data: ModelData, params: Settings) -> Table:
    """The data as the kernels take them, read once for all chains."""
    found: Table = data.prepared(
        read, cast(Params, params), (*TABLE_SETTINGS, "correlated_columns", "judge_columns", "least_within")
    )
    return found


def base_by_column(state: State, table: Table, data: ModelData) -> dict[str, np.ndarray]:
    """The base with an entry for every column of every matrix."""
    widths = [block.shape[1] for block in data["views"]]
    first = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    centre, scale, base = np.zeros(first[-1]), np.zeros(first[-1]), state["base"]
    numbers = first[table.number_of[:, 0]] + table.number_of[:, 1]
    counts = first[table.count_of[:, 0]] + table.count_of[:, 1]
    centre[numbers], scale[numbers], scale[counts] = base["m0"], base["b0"], base["rate"]
    joint = first[table.joint_of[:, 0]] + table.joint_of[:, 1]
    centre[joint] = base["joint_m0"]
    for d, columns, square in pieces(table.joint_first):
        scale[joint[columns]] = 0.5 * base["psi"][square][:: d + 1]
    return {"base_centre": centre, "base_scale": scale, "base_weight": base["k0"].copy()}


def log_joint(state: State, table: Table, params: Settings) -> float:
    """Exact log density of data (in their own unit), partition, concentration and base; parameters integrated out."""
    sizes = state["clusters"]["size"][: int(state["at"][scan.NUMBER])]
    total = (
        state["log_evidence"]
        + table.constant
        + log_prior(state["base"], at_shape(params, state["base"]), table)
    )
    total += log_prior_shape(state["base"], params)
    total += log_partition(params, sizes, state["alpha"], state["discount"], state["log_new"])
    return float(total + log_hyper(params, state["alpha"], state["discount"]))


def tiny_data() -> ModelData:
    """A few cells of each kind, to compile the kernels with."""
    values = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 1.0], [6.0, 0.0]])
    known = np.ones((4, 2), bool)
    halves = values + 0.5
    for array in (values, halves, known):
        array.setflags(write=False)
    names = (tuple("abcd"), ("a", "b"))
    blocks = (Block("X", values, known, None, names), Block("Y", halves, known, None, names))
    return ModelData({"views": blocks})
