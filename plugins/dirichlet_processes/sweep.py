"""What the stages of a sweep do to the state of one chain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.dirichlet_processes.base import update_base
from plaidwork.plugins.dirichlet_processes.kernels import scan, split_merge
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Items, Law, doubled
from plaidwork.plugins.dirichlet_processes.likeness import at_shape, update_shape
from plaidwork.plugins.dirichlet_processes.partitions import draw_hyper
from plaidwork.plugins.dirichlet_processes.settings import Settings
from plaidwork.plugins.dirichlet_processes.state import (
    Copy,
    State,
    Table,
    clusters_of,
    items_of,
    law_at,
    refresh_weights,
)

SLICE = 25_000_000
"""Work of a slice, about a nanosecond each."""
ROOM = 20
"""Clusters beyond those there are for which a slice of labels has time: what a row costs besides, and new ones."""
AT_ONCE = 1000
"""Slice of a stage that takes next to no time: the next one is done in the same."""


def work_of_row(table: Table) -> int:
    """Counted work of one density of a row; a count costs a few log gammas."""
    numbers, codes, _, counts = table.widths
    joint = sum(30 + d * d for d in table.joint_widths) * (1 if table.items.joint_whole.all() else 4)
    rows = table.items.rows
    shares = len(rows.tally) * 10 // max(len(rows.totals), 1) + 60 * rows.totals.shape[1]
    return 30 + 3 * numbers * (1 if table.items.complete else 8) + 4 * codes + 60 * counts + joint + shares


def slice_of_labels(state: Copy, unit: int) -> int:
    """Rows of a slice of labels, where the density of a row takes ``unit`` of work."""
    return 1 + SLICE // ((int(state["at"][scan.HIGH]) + ROOM) * unit)


@dataclass(frozen=True)
class Updates:
    """One chain with its data and settings."""

    state: Copy
    table: Table
    params: Settings
    rng: np.random.Generator
    power: float = 1.0
    """Of the density of the data, where this is a tempered copy."""

    @property
    def law(self) -> Law:
        """The law of this sweep."""
        return law_at(self.state, self.table, self.params, self.power)

    @property
    def items(self) -> Items:
        """The rows, missing cells of correlated columns as this chain has drawn them."""
        return items_of(self.state, self.table)

    def begin(self) -> None:
        """An order of the rows; the clusters are added up anew in every sweep, without what rounding left."""
        state = self.state
        state["order"] = self.rng.permutation(len(state["labels"]))
        state["at"][:] = 0
        state["at"][scan.HIGH] = int(state["labels"].max(initial=-1)) + 1

    def count(self, lo: int, hi: int) -> None:
        """Add up the clusters."""
        state = self.state
        scan.count_rows(
            self.items, state["labels"], clusters_of(state), self.law, state["fresh"],
            Clusters(**state["pair"]), lo, hi,
        )  # fmt: skip

    def end(self) -> None:
        """Count the clusters."""
        at = self.state["at"]
        at[scan.NUMBER] = np.count_nonzero(self.state["clusters"]["size"][: at[scan.HIGH]])

    def grow(self) -> None:
        """Make room for more clusters, whose slots are empty as the kernels expect."""
        self.state["clusters"] = doubled(self.state["clusters"])

    def draw_labels(self, lo: int, hi: int) -> None:
        """A cluster for every row."""
        state, law = self.state, self.law
        while (
            lo := scan.draw_labels(
                self.rng, self.items, state["order"], state["labels"], clusters_of(state), law, state["fresh"],
                state["at"], lo, hi,
            )
        ) < hi:  # fmt: skip
            self.grow()

    def make_moves(self, lo: int, hi: int) -> None:
        """Splits and merges."""
        state, law = self.state, self.law
        while (
            lo := split_merge.make_moves(
                self.rng, self.items, state["labels"], clusters_of(state), Clusters(**state["pair"]), law, state["at"],
                lo, hi, self.params["scans"], self.params["moves"],
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
        if params["learn_base"] and self.power == 1.0:  # its laws are those of the whole density
            clusters, base = clusters_of(state), state["base"]
            update_shape(self.rng, clusters, number, base, params, self.table)
            update_base(self.rng, clusters, number, base, at_shape(params, base), self.table)
        state["log_evidence"] = scan.evidence(clusters_of(state), number, self.law)

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


ROUNDS = 40


def filled_again(state: State, table: Table, params: Settings) -> None:
    """Draw the missing cells of correlated columns for data that were replaced: rounds from row to row, labels as they are."""
    state["joint"] = table.items.joint.copy()
    rows = np.flatnonzero(~table.items.joint_whole)
    if not len(rows):
        return
    seed = np.frombuffer(table.items.joint.tobytes(), np.uint32)
    rng = np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(seed.tolist())))
    one = Updates(state, table, params, rng)
    one.begin()
    one.count(0, len(state["labels"]))
    law, clusters = law_at(state, table, params), clusters_of(state)
    for _ in range(ROUNDS):
        scan.fill_rows(rng, one.items, rows, state["labels"], clusters, law)
    one.end()
