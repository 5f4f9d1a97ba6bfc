"""What the stages of a sweep do to the state of one chain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.dirichlet_processes.base import update_base
from plaidwork.plugins.dirichlet_processes.kernels import scan, split_merge
from plaidwork.plugins.dirichlet_processes.kernels.clusters import Clusters, doubled
from plaidwork.plugins.dirichlet_processes.partitions import draw_hyper
from plaidwork.plugins.dirichlet_processes.settings import Settings
from plaidwork.plugins.dirichlet_processes.state import State, Table, clusters_of, law_at, refresh_weights

SLICE = 25_000_000
"""Work of a slice, about a nanosecond each."""
ROOM = 20
"""Clusters beyond those there are for which a slice of labels has time: what a row costs besides, and new ones."""
AT_ONCE = 1000
"""Slice of a stage that takes next to no time: the next one is done in the same."""


def work_of_row(table: Table) -> int:
    """Counted work of one density of a row; a count costs a few log gammas."""
    numbers, codes, _, counts = table.widths
    return 30 + 3 * numbers * (1 if table.items.complete else 8) + 4 * codes + 60 * counts


@dataclass(frozen=True)
class Updates:
    """One chain with its data and settings."""

    state: State
    table: Table
    params: Settings
    rng: np.random.Generator

    def begin(self) -> None:
        """An order of the rows; the clusters are added up anew in every sweep, without what rounding left."""
        state = self.state
        state["order"] = self.rng.permutation(len(state["labels"]))
        law = law_at(state, self.table, self.params)
        scan.begin_counting(state["labels"], clusters_of(state), law, state["at"], self.table.items.complete)

    def count(self, lo: int, hi: int) -> None:
        """Add up the clusters."""
        state = self.state
        scan.count_rows(
            self.table.items, state["labels"], clusters_of(state), law_at(state, self.table, self.params), state["fresh"],
            Clusters(**state["pair"]), lo, hi,
        )  # fmt: skip

    def end(self) -> None:
        """Count the clusters."""
        scan.end_counting(clusters_of(self.state), self.state["at"])

    def grow(self) -> None:
        """Make room for more clusters, whose slots are empty as the kernels expect."""
        self.state["clusters"] = doubled(self.state["clusters"])

    def draw_labels(self, lo: int, hi: int) -> None:
        """A cluster for every row."""
        state, law = self.state, law_at(self.state, self.table, self.params)
        while (
            lo := scan.draw_labels(
                self.rng, self.table.items, state["order"], state["labels"], clusters_of(state), law, state["fresh"],
                state["at"], lo, hi,
            )
        ) < hi:  # fmt: skip
            self.grow()

    def make_moves(self, lo: int, hi: int) -> None:
        """Splits and merges."""
        state, law = self.state, law_at(self.state, self.table, self.params)
        while (
            lo := split_merge.make_moves(
                self.rng, self.table.items, state["labels"], clusters_of(state), Clusters(**state["pair"]), law, state["at"],
                lo, hi, self.params["scans"],
            )
        ) < hi:  # fmt: skip
            self.grow()

    def finish(self, lo: int, hi: int) -> None:
        """Clusters by first row, concentration, base, and the evidence at the end of it."""
        state, params = self.state, self.params
        number = self.sort_clusters()
        sizes = state["clusters"]["size"][:number]
        state["alpha"], state["discount"] = draw_hyper(
            self.rng, params, sizes, state["alpha"], state["discount"]
        )
        refresh_weights(state, params)
        if params["learn_base"]:
            update_base(self.rng, clusters_of(state), number, state["base"], params, self.table)
        state["log_evidence"] = scan.evidence(clusters_of(state), number, law_at(state, self.table, params))

    def sort_clusters(self) -> int:
        """Number the clusters by their first rows, their slots in the same order; how many there are."""
        state = self.state
        used, first, codes = np.unique(state["labels"], return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        state["labels"] = rank[codes].astype(np.int64)
        for array in state["clusters"].values():
            array[: len(used)] = array[used[order]]
        state["clusters"]["size"][len(used) :] = 0
        state["at"][[scan.HIGH, scan.NUMBER]] = len(used)
        return len(used)
