"""What the stages of a sweep do to the state of one chain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.dirichlet_processes.base import log_prior, update_base
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters
from plaidwork.plugins.dirichlet_processes.kernels.scan import evidence
from plaidwork.plugins.dirichlet_processes.multi_view.dependence import information, shares_of
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import block_moves, cluster_moves, samples
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.numbering import number_blocks, number_clusters
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.weights import log_links, seat_blocks
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.multi_view.state import (
    MOVE_SLOTS,
    ViewState,
    ViewTables,
    bases_of,
    clusters_at,
    grow,
    law_of_view,
    links_of,
    sides_of,
)
from plaidwork.plugins.dirichlet_processes.partitions import Floats, draw_alpha, draw_shared_alpha
from plaidwork.plugins.dirichlet_processes.state import Ints

LEAST = 1e-300


@dataclass(frozen=True)
class Updates:
    """One chain with its data and settings."""

    state: ViewState
    tables: ViewTables
    params: ViewSettings
    rng: np.random.Generator

    @property
    def flat(self) -> Clusters:
        """The clusters of all views, flat."""
        return Clusters(**self.state["clusters"])

    @property
    def pair(self) -> Clusters:
        """Three slots of each view, flat."""
        return Clusters(**self.state["pair"])

    @property
    def threes(self) -> Ints:
        """(V,) slots of each view in ``pair``."""
        return np.full(len(self.tables.tables), MOVE_SLOTS, np.int64)

    def begin(self) -> None:
        """An order of the samples; clusters and blocks are added up anew in every sweep, without what rounding left."""
        state, bag = self.state, self.tables.bag
        state["order"] = self.rng.permutation(len(state["block"]))
        samples.begin_counting(
            bag, bases_of(state, self.tables), self.flat, links_of(state), state["cluster"], state["at"]
        )

    def count(self, lo: int, hi: int) -> None:
        """Add up clusters and blocks."""
        state = self.state
        samples.count_rows(
            self.tables.bag, bases_of(state, self.tables), self.flat, self.pair, links_of(state), state["block"],
            state["cluster"], state["fresh"], self.threes, lo, hi,
        )  # fmt: skip

    def draw_samples(self, lo: int, hi: int) -> None:
        """Block and clusters of every sample."""
        state, bases = self.state, bases_of(self.state, self.tables)
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
        state, bases = self.state, bases_of(self.state, self.tables)
        while (
            lo := cluster_moves.make_moves(
                self.rng, self.tables.bag, bases, self.flat, self.pair, links_of(state), self.threes, state["block"],
                state["cluster"], self.params["scans"], state["at"], lo, hi,
            )
        ) < hi:  # fmt: skip
            grow(state, self.tables)

    def finish(self, lo: int, hi: int) -> None:
        """Blocks and clusters by first sample, weights, concentrations and bases, and the evidence at the end of it."""
        state, params = self.state, self.params
        links = links_of(state)
        number_blocks(state["block"], links)
        blocks = int((links.members > 0).sum())
        if params["learn"]:
            state["block_alpha"] = draw_alpha(
                self.rng, state["block_alpha"], len(state["block"]), blocks,
                params["block_alpha_shape"], params["block_alpha_rate"],
            )  # fmt: skip
        for v, table in enumerate(self.tables.tables):
            c = clusters_at(state, self.tables, v)
            sort_clusters(state, c, v)
            draw_weights(self.rng, state, v, params)
            number, base = int(links.high[v]), state["base"][v]
            if params["learn_base"]:
                update_base(self.rng, c, number, base, params, table)
            state["log_evidence"][v] = evidence(c, number, law_of_view(base, table, params))
        state["information"] = information(shares_of(state))


def sort_clusters(state: ViewState, c: Clusters, v: int) -> None:
    """Number the clusters of a view by their first samples; those without one give their weight back to the rest."""
    links = state["links"]
    lo, hi = int(links["first"][v]), int(links["first"][v + 1])
    whole, used = links["beta"][lo:hi].sum(), np.empty(hi - lo, np.int64)
    number = number_clusters(state["cluster"][v], links_of(state), v, used)
    links["rest"][v] += max(whole - links["beta"][lo : lo + number].sum(), 0.0)
    used = used[:number]
    moved = bool((used != np.arange(number)).any())
    for array in c:
        if moved:
            array[:number] = array[used]
        array[number:] = 0


def draw_weights(rng: np.random.Generator, state: ViewState, v: int, params: ViewSettings) -> None:
    """Concentrations and weights of the clusters of a view given the tables of its blocks; gamma first, as it is drawn without a
    look at the weights (see the topics)."""
    links = state["links"]
    lo, number = int(links["first"][v]), int(links["high"][v])
    beta = links["beta"][lo : lo + number]
    alpha = float(links["alpha"][v])
    seats = np.zeros(number, np.int64)
    seat_blocks(rng, links_of(state), v, seats)
    total = int(seats.sum())
    if params["learn"] and number:
        links["gamma"][v] = draw_alpha(
            rng, float(links["gamma"][v]), total, number, params["gamma_shape"], params["gamma_rate"]
        )
        links["alpha"][v] = draw_shared_alpha(
            rng, alpha, links["present"][:, v], total, params["alpha_shape"], params["alpha_rate"]
        )
    parts = rng.standard_gamma(np.append(seats, links["gamma"][v]))
    parts = np.maximum(parts / max(parts.sum(), LEAST), LEAST)
    beta[:], links["rest"][v] = parts[:-1], parts[-1]


def log_hyper(state: ViewState, params: ViewSettings) -> float:
    """Log density of the concentrations, as far as they are learned."""
    if not params["learn"]:
        return 0.0
    links = state["links"]
    found: list[tuple[str, Floats]] = [
        ("block_alpha", np.array([state["block_alpha"]])),
        ("alpha", links["alpha"]),
        ("gamma", links["gamma"]),
    ]
    total = 0.0
    for name, x in found:
        a, b = params[f"{name}_shape"], params[f"{name}_rate"]  # type: ignore[literal-required]
        total += len(x) * (a * math.log(b) - math.lgamma(a)) + float(((a - 1.0) * np.log(x) - b * x).sum())
    return total


def log_joint(state: ViewState, tables: ViewTables, params: ViewSettings) -> float:
    """Exact log density of data (in their own unit), blocks, clusters, weights, concentrations and bases."""
    total = (
        log_links(links_of(state), state["block_alpha"])
        + log_hyper(state, params)
        + float(state["log_evidence"].sum())
    )
    for table, base in zip(tables.tables, state["base"], strict=True):
        total += table.constant + log_prior(base, params, table)
    return total
