"""The model: what the host calls."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plaidwork.core.api import (
    POSITION,
    Block,
    ChainView,
    Clock,
    Cost,
    Kept,
    Layout,
    Model,
    ModelData,
    ModelError,
    ModelSpec,
    Params,
    Part,
    Problem,
    Results,
    Stage,
    State,
    Trial,
    passes,
)
from plaidwork_dirichlet_mixture import sweep
from plaidwork_dirichlet_mixture.clusters import (
    Clusters,
    Items,
    Law,
    grown,
    predictive_table,
)
from plaidwork_dirichlet_mixture.concentration import draw_alpha, log_gamma_density
from plaidwork_dirichlet_mixture.spec import SPEC
from plaidwork_dirichlet_mixture.starts import (
    find_problems,
    new_state,
    read_only,
    scaling,
    upgraded,
    wrong_counts,
)

SLICE = 25_000_000
"""Work of a slice, about a nanosecond each."""
TABLE_SETTINGS = ("covariance", "within_weight", "mean_weight")
ROOM = 20
"""Clusters beyond those there are for which a slice of labels has time: what a row costs besides, and new ones."""
AT_ONCE = 1000
"""Slice of a stage that takes next to no time: the next one is done in the same."""
PRIOR = {"standardise": False, "within": 0.7, "within_weight": 4.0, "mean_weight": 0.4, "alpha_shape": 3.0}
"""Priors without a number taken from the data, so that ``simulate`` and a sweep have one law."""


class DirichletMixture(Model):
    """Clusters with mean and covariance of their own, their number unknown; parameters integrated out."""

    spec: ClassVar[ModelSpec] = SPEC
    likelihood_of: ClassVar[str] = "X"
    likelihood_by_row: ClassVar[bool] = True
    trials: ClassVar[Sequence[Trial]] = (
        Trial(name="full", params=PRIOR, shapes={"X": (7, 2)}, warmup=40, thin=4),
        Trial(
            name="diagonal", params={**PRIOR, "covariance": "diagonal"}, shapes={"X": (7, 3)}, missing=0.12,
            warmup=40, thin=4,
        ),
        Trial(
            name="gibbs alone", params={**PRIOR, "split_merge": 0, "learn_alpha": False, "alpha": 0.8},
            shapes={"X": (6, 2)}, warmup=60, thin=6,
        ),
    )  # fmt: skip

    def init(self, data: ModelData, params: Params, rng: np.random.Generator) -> State:
        for problem in find_problems(data["X"], params):
            if problem.severity == "error":
                raise ModelError(problem.message, problem.hint)
        centre, scale = scaling(data["X"], params["standardise"])
        labels = np.full(data["X"].shape[0], -1 if params["start"] == "sequential" else 0, np.int64)
        alpha = params["alpha_shape"] / params["alpha_rate"] if params["learn_alpha"] else params["alpha"]
        return new_state(labels, float(alpha), centre, scale, params)

    def layout(self, data: ModelData, params: Params) -> Layout:
        """Labels, and sums by cluster of any number of slots S."""
        n = data["X"].shape[0]
        return {
            "labels": Part(low=-1, below="S"),
            "members": Part(low=0, below=n),
            "side": Part(low=0, below=2),
            "clusters.size": Part(("S",), low=0, below=n + 1),
            "clusters.seen": Part(("S", None), low=0, below=n + 1),
            "clusters.factor": Part(("S", None, None)),
            "clusters.*": Part(("S", None)),
            "pair.size": Part(low=0, below=n + 1),
            "pair.seen": Part(low=0, below=n + 1),
            "at": Part(low=0),
        }

    def contradiction(self, state: State, data: ModelData, params: Params) -> str:
        return wrong_counts(state) if POSITION in state else ""

    def stages(
        self, state: State, data: ModelData, params: Params, rng: np.random.Generator, clock: Clock
    ) -> Sequence[Stage]:
        (n, d), law = data["X"].shape, law_of(state, data, params)
        one = Updates(state, items_of(state, data["X"]), law, params, rng)
        unit = sweep.work_per_row(d, law.full)
        drawn = (int(state["at"][sweep.HIGH]) + ROOM) * unit
        return [  # clusters are numbered and summed up at the end: no traces before
            Stage("clusters", one.count, n, 1 + SLICE // (2 * unit), begin=one.begin, whole=False),
            Stage("labels", one.draw_labels, n, 1 + SLICE // drawn, whole=False),
            Stage("splits and merges", one.make_moves, size=None, slice=2, whole=False),
            Stage("means and alpha", one.finish, slice=AT_ONCE),
        ]

    def traces(self, state: State, data: ModelData, params: Params) -> Mapping[str, float]:
        at, n = state["at"], len(state["labels"])
        k, tried = int(at[sweep.HIGH]), int(at[sweep.TRIED])
        return {
            "log_joint": log_joint(state, data["X"], params),
            "n_clusters": float(k),
            "alpha": state["alpha"],
            "largest": float(state["clusters"]["size"][:k].max() / n),
            "moved": float(at[sweep.MOVED] / n),
            "accepted": float(at[sweep.ACCEPTED] / tried) if tried else math.nan,
        }

    def upgrade_state(self, state: State, from_version: int, data: ModelData, params: Params) -> State:
        return (
            upgraded(state) if from_version == 1 else super().upgrade_state(state, from_version, data, params)
        )

    def draws(self, state: State, data: ModelData, params: Params) -> Mapping[str, Any]:
        k = int(state["at"][sweep.HIGH])
        return {
            "cluster_of": state["labels"].copy(),
            "n_clusters": k,
            "alpha": state["alpha"],
            "sizes": state["clusters"]["size"][:k].copy(),
            "means": state["clusters"]["drawn"][:k] * state["scale"] + state["centre"],
        }

    def summarise(self, kept: Kept, data: ModelData, params: Params) -> Results:
        from plaidwork_dirichlet_mixture.results import summarise_draws

        return summarise_draws(kept, data["X"], params)

    def log_likelihood(
        self,
        chain: ChainView,
        draws: np.ndarray,
        data: ModelData,
        params: Params,
        index: int,
        rows: np.ndarray,
        columns: np.ndarray | None,
    ) -> np.ndarray:
        from plaidwork_dirichlet_mixture.density import log_density_of_items

        table = data.prepared(table_of, params, TABLE_SETTINGS)
        return log_density_of_items(chain, draws, data["X"], params, table, rows)

    def validate(self, data: ModelData, params: Params) -> Sequence[Problem]:
        return find_problems(data["X"], params)

    def prepare(self) -> None:
        from plaidwork_dirichlet_mixture.partitions import prepare
        from plaidwork_dirichlet_mixture.starts import tiny_block

        params = self.spec.check_params({})
        data = ModelData({"X": tiny_block()})
        rng = np.random.default_rng(1)
        for _ in passes(self, self.init(data, params, rng), data, params, rng, Clock(0, 1)):
            pass
        prepare()

    def estimate(self, data: ModelData, params: Params) -> Cost:
        n, d = data["X"].shape
        full = params["covariance"] == "full"
        clusters = 6.0
        row = 1e-9 * float(sweep.work_per_row.py_func(d, full))
        moves = params["split_merge"] * (params["launch_scans"] + 2) * 6.0 * 0.5
        memory = 8.0 * (3 * n + 19 * (d * d if full else 4 * d))
        return Cost(memory, n * row * (clusters + 7.0 + moves) + 5e-5)

    def simulate(
        self, params: Params, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], State]:
        from plaidwork_dirichlet_mixture.simulate import draw_partition, draw_values

        n, d = shapes["X"]
        alpha = float(params["alpha"])
        if params["learn_alpha"]:
            alpha = float(rng.gamma(params["alpha_shape"]) / params["alpha_rate"])
        labels = draw_partition(rng, n, alpha)
        values, means = draw_values(rng, labels, d, params)
        state = new_state(labels, alpha, np.zeros(d), np.ones(d), params)
        k = len(means)
        while len(state["clusters"]["size"]) < k:
            state["clusters"] = grown(state["clusters"])
        state["clusters"]["size"][:k] = np.bincount(labels)
        state["clusters"]["drawn"][:k] = means
        state["at"][sweep.HIGH] = k
        return {"X": values}, state

    def simulate_data(
        self, state: State, params: Params, shapes: Mapping[str, tuple[int, ...]], rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """New data given the clustering: the parameters that a sweep integrates out are drawn anew."""
        from plaidwork_dirichlet_mixture.simulate import draw_values

        values, _means = draw_values(rng, state["labels"], shapes["X"][1], params)
        return {"X": values * state["scale"] + state["centre"]}


@dataclass(frozen=True)
class Updates:
    """What the stages of a sweep do to the state of one chain."""

    state: State
    items: Items
    law: Law
    params: Params
    rng: np.random.Generator

    @property
    def clusters(self) -> Clusters:
        """The slots as they are now: ``grow`` makes new ones."""
        return Clusters(**self.state["clusters"])

    def grow(self) -> None:
        """Make room for more clusters."""
        self.state["clusters"] = grown(self.state["clusters"])

    def begin(self) -> None:
        """Empty the clusters: they are added up anew in every sweep, without what rounding left."""
        sweep.begin(self.state["labels"], self.clusters, self.law, self.state["at"])

    def count(self, lo: int, hi: int) -> None:
        """Add up the clusters."""
        sweep.count_items(self.items, self.state["labels"], self.clusters, self.law, lo, hi)

    def draw_labels(self, lo: int, hi: int) -> None:
        """A cluster for every item."""
        z, at = self.state["labels"], self.state["at"]
        while (lo := sweep.draw_labels(self.rng, self.items, z, self.clusters, self.law, at, lo, hi)) < hi:
            self.grow()

    def make_moves(self, lo: int, hi: int) -> bool:
        """Half a slice of split-merge moves; whether all are made."""
        state, params, status = self.state, self.params, sweep.CROWDED
        while status == sweep.CROWDED:
            status = sweep.make_moves(
                self.rng, self.items, state["labels"], self.clusters, Clusters(**state["pair"]),
                sweep.Move(state["members"], state["side"]), self.law, state["at"], state["sums"],
                params["split_merge"], params["launch_scans"], SLICE // 2,
            )  # fmt: skip
            if status == sweep.CROWDED:
                self.grow()
        return bool(status == sweep.DONE)

    def finish(self, lo: int, hi: int) -> None:
        """Clusters in order, their means, and alpha."""
        state, params = self.state, self.params
        sweep.finish(self.rng, state["labels"], self.clusters, self.law, state["at"], state["sums"])
        if params["learn_alpha"]:
            n, k = len(state["labels"]), int(state["at"][sweep.HIGH])
            state["alpha"] = draw_alpha(
                self.rng, state["alpha"], n, k, params["alpha_shape"], params["alpha_rate"]
            )


def items_of(state: State, block: Block) -> Items:
    """The data as the kernels take them; no copy."""
    return Items(read_only(block.values), read_only(block.observed), state["centre"], state["scale"])


def law_of(state: State, data: ModelData, params: Params) -> Law:
    """The numbers of the conditionals at the state's alpha."""
    weight, kappa = params["within_weight"], params["mean_weight"]
    table = data.prepared(table_of, params, TABLE_SETTINGS)
    full = params["covariance"] == "full"
    return Law(full, state["alpha"], kappa, weight, weight * params["within"], table)


def table_of(data: ModelData, params: Params) -> np.ndarray:
    """What a fit needs of its data again and again: made once for all chains."""
    (n, d), full = data["X"].shape, params["covariance"] == "full"
    return predictive_table(n, d, full, params["mean_weight"], params["within_weight"])


def log_joint(state: State, block: Block, params: Params) -> float:
    """Exact log density of data (in their own unit), clustering and alpha; parameters integrated out."""
    n, k = len(state["labels"]), int(state["at"][sweep.HIGH])
    alpha, sizes = state["alpha"], state["clusters"]["size"][:k]
    total = k * math.log(alpha) + math.lgamma(alpha) - math.lgamma(alpha + n)
    total += sum(math.lgamma(size) for size in sizes) + float(state["sums"][sweep.LOG_MARGINAL])
    total -= float(block.observed.sum(axis=0) @ np.log(state["scale"]))
    if params["learn_alpha"]:
        total += log_gamma_density(alpha, params["alpha_shape"], params["alpha_rate"])
    return total
