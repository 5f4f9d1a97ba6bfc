"""What the stages of a sweep do to the state of one chain."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plaidwork.plugins.dirichlet_processes.base import SHAPE_B0, usual_b0
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import (
    block_moves,
    cluster_moves,
    samples,
    together,
)
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import Bases, Flat
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.finish import Ends, Priors, end_sweep
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.information import inform_links
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.weights import log_base, log_links
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.multi_view.state import (
    MOVE_SLOTS,
    ViewState,
    ViewTables,
    bases_of,
    flat_of,
    grow,
    links_of,
    put_bases,
    sides_of,
)
from plaidwork.plugins.dirichlet_processes.partitions import LEAST
from plaidwork.plugins.dirichlet_processes.state import Ints


@dataclass(frozen=True)
class Updates:
    """One chain with its data and settings."""

    state: ViewState
    tables: ViewTables
    params: ViewSettings
    rng: np.random.Generator

    @cached_property
    def bases(self) -> Bases:
        """Of all views; only the end of a sweep changes them."""
        return bases_of(self.state, self.tables)

    @property
    def flat(self) -> Flat:
        """The clusters of all views, flat."""
        return flat_of(self.state["clusters"])

    @property
    def pair(self) -> Flat:
        """Three slots of each view, flat."""
        return flat_of(self.state["pair"])

    @property
    def threes(self) -> Ints:
        """(V,) slots of each view in ``pair``."""
        return np.full(len(self.tables.tables), MOVE_SLOTS, np.int64)

    def begin(self) -> None:
        """An order of the samples; clusters and blocks are added up anew in every sweep, without what rounding left."""
        state, bag = self.state, self.tables.bag
        self.shuffle()
        samples.begin_counting(bag, self.bases, self.flat, links_of(state), state["cluster"], state["at"])

    def shuffle(self) -> None:
        """An order by chance."""
        self.state["order"] = self.rng.permutation(len(self.state["block"]))

    def count(self, lo: int, hi: int) -> None:
        """Add up clusters and blocks."""
        state = self.state
        samples.count_rows(
            self.tables.bag, self.bases, self.flat, self.pair, links_of(state), state["block"],
            state["cluster"], state["fresh"], self.threes, lo, hi,
        )  # fmt: skip

    def draw_samples(self, lo: int, hi: int) -> None:
        """Block and clusters of every sample."""
        state, bases = self.state, self.bases
        while (
            lo := samples.draw_samples(
                self.rng, self.tables.bag, bases, self.flat, links_of(state), state["block_alpha"], state["order"],
                state["block"], state["cluster"], state["fresh"], state["at"], lo, hi,
            )
        ) < hi:  # fmt: skip
            grow(state, self.tables)

    def draw_blocks(self, lo: int, hi: int) -> None:
        """Blocks of all samples given their clusters."""
        state = self.state
        while (
            lo := samples.draw_blocks(
                self.rng, self.tables.bag.has, links_of(state), state["block_alpha"], state["block"], state["cluster"], lo, hi
            )
        ) < hi:  # fmt: skip
            grow(state, self.tables)

    def move_blocks(self, lo: int, hi: int) -> None:
        """Splits and merges of blocks."""
        state = self.state
        while (
            lo := block_moves.make_moves(
                self.rng, self.tables.bag.has, links_of(state), sides_of(state), state["block_alpha"], state["block"],
                state["cluster"], self.params["scans"], state["at"], lo, hi,
            )
        ) < hi:  # fmt: skip
            grow(state, self.tables)

    def move_clusters(self, lo: int, hi: int) -> None:
        """Splits and merges of clusters, the views in turn."""
        state, bases = self.state, self.bases
        while (
            lo := cluster_moves.make_moves(
                self.rng, self.tables.bag, bases, self.flat, self.pair, links_of(state), self.threes, state["block"],
                state["cluster"], self.params["scans"], state["at"], lo, hi,
            )
        ) < hi:  # fmt: skip
            grow(state, self.tables)

    def draw_all(self, tried: tuple[int, int], lo: int, hi: int) -> None:
        """All of a sweep but the end of it, for few samples: ``tried`` moves of blocks and of clusters."""
        state, bases, place = self.state, self.bases, np.zeros(2, np.int64)
        self.shuffle()
        while not together.draw_all(
            self.rng, self.tables.bag, bases, self.flat, self.pair, links_of(state), sides_of(state), self.threes,
            state["block_alpha"], state["order"], state["block"], state["cluster"], state["fresh"], self.params["scans"],
            tried, state["at"], place,
        ):  # fmt: skip
            grow(state, self.tables)

    def finish(self, lo: int, hi: int) -> None:
        """Blocks and clusters by first sample, weights, concentrations and bases, and the evidence at the end of it."""
        state, params = self.state, self.params
        bases, ends = self.bases, new_ends(state)
        end_sweep(
            self.rng, self.tables.bag, bases, self.flat, links_of(state), state["block"], state["cluster"],
            priors_of(params), ends,
        )  # fmt: skip
        take_ends(state, params, ends)
        if params["learn_base"]:
            put_bases(state, bases)
        state["information"] = np.empty_like(state["information"])
        inform_links(links_of(state), state["block_alpha"], state["information"])


def new_ends(state: ViewState) -> Ends:
    """Where the kernels of the end of a sweep write what is not in the arrays of the state."""
    blocks, views = state["links"]["present"].shape
    return Ends(
        np.array([state["block_alpha"]]), np.empty((views, blocks)), np.empty(views), np.zeros(views, np.int64),
        state["log_evidence"],
    )  # fmt: skip


def take_ends(state: ViewState, params: ViewSettings, ends: Ends) -> None:
    """Concentrations of blocks and of their clusters. The logarithms are numpy's: others differ from them in last bits."""
    state["block_alpha"] = float(ends.concentration[0])
    for v, blocks in enumerate(ends.blocks.tolist()):
        if blocks:
            left = np.log(ends.shared[v, :blocks]).sum()
            state["links"]["alpha"][v] = max(float(ends.scaled[v] / (params["alpha_rate"] - left)), LEAST)


def priors_of(params: ViewSettings) -> Priors:
    """The settings that the kernel of the end of a sweep takes."""
    return Priors(
        params["learn"],
        params["learn_base"],
        (params["block_alpha_shape"], params["block_alpha_rate"]),
        (params["alpha_shape"], params["alpha_rate"]),
        (params["gamma_shape"], params["gamma_rate"]),
        usual_b0(params),
        params["mean_weight"],
    )


def log_hyper(state: ViewState, params: ViewSettings) -> float:
    """Log density of the concentrations, as far as they are learned."""
    if not params["learn"]:
        return 0.0
    links = state["links"]
    found = [
        ("block_alpha", [state["block_alpha"]]),
        ("alpha", links["alpha"].tolist()),
        ("gamma", links["gamma"].tolist()),
    ]
    total = 0.0
    for name, values in found:
        a, b = params[f"{name}_shape"], params[f"{name}_rate"]  # type: ignore[literal-required]
        total += len(values) * (a * math.log(b) - math.lgamma(a))
        total += sum((a - 1.0) * math.log(x) - b * x for x in values)
    return total


def log_joint(state: ViewState, tables: ViewTables, params: ViewSettings) -> float:
    """Exact log density of data (in their own unit), blocks, clusters, weights, concentrations and bases."""
    total = (
        log_links(links_of(state), state["block_alpha"])
        + log_hyper(state, params)
        + float(state["log_evidence"].sum())
    )
    prior = SHAPE_B0 / usual_b0(params), params["mean_weight"], params["rate_shape"]
    for table, base in zip(tables.tables, state["base"], strict=True):
        total += table.constant
        if params["learn_base"]:
            total += log_base(base["m0"], base["b0"], base["rate"], float(base["k0"][0]), prior)
    return total
