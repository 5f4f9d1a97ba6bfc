"""What a stored state of the mixture may hold: labels and counts that the kernels index with."""

from __future__ import annotations

from typing import cast

import numpy as np

from plaidwork.core.api import POSITION, Layout, Part, counted
from plaidwork.core.api import State as Stored
from plaidwork.plugins.dirichlet_processes.kernels import scan
from plaidwork.plugins.dirichlet_processes.state import Copy, Ints, State, Table

FIRST, SWAPS, OF_COPY = "clusters", "swaps", " of copy "
"""Names of stages, and what those of a copy have before its number."""


def standing(state: Stored, first: str) -> tuple[str, int]:
    """Stage and unit in which the sweep stands; at the beginning of the first one between two sweeps."""
    position = state.get(POSITION, {})
    return str(position.get("stage", first)), int(position.get("at", 0))


def layout_of(n: int) -> Layout:
    """The places of a state of ``n`` rows; S slots."""
    counts, slots = Part(low=0, below=n + 1), ("S", None)
    return {
        "labels": Part(low=-1, below="S"),
        "order": Part(low=0, below=n),
        "clusters.size": Part(("S",), low=0, below=n + 1),
        "clusters.known": Part(slots, low=0, below=n + 1),
        "clusters.*": Part(slots),
        "pair.size": counts,
        "pair.known": counts,
        "at": Part(low=0),
        "alpha": Part(low=0.0),
        "discount": Part(low=0.0, below=1),
        "base.shape": Part(low=1.0),
        "copies.*.**": Part(like=""),
        "swaps.label": Part(("M",), "int64", low=0, below="M", missing=True),
        "swaps.stage": Part(("M",), "int64", low=0, below=3, missing=True),
        "swaps.trips": Part(("M",), "int64", low=0, missing=True),
    }


def contradiction_of(state: State, table: Table) -> str:
    """What counts and labels of the chain or of a copy say against each other, as a part of a sentence; empty when nothing."""
    stage, at = standing(cast(Stored, state), FIRST)
    stage, _, number = stage.partition(OF_COPY)
    copies = state.get("copies", {})
    if set(copies) != {str(one) for one in range(1, len(state.get("powers", (1.0,))))}:
        return "“copies” are not one for each power"
    found = _of_copy(state, table, *((FIRST, 0) if number or stage == SWAPS else (stage, at)))
    for name, copy in copies.items():
        found = found or _of_copy(copy, table, *((stage, at) if name == number else (FIRST, 0)))
    return found


def _of_copy(state: Copy, table: Table, stage: str, at: int) -> str:
    """The same of a copy in unit ``at`` of a stage of its sweep.

    At the beginning of a sweep the clusters are added up anew, so that only within one their sums matter.
    """
    n = len(state["labels"])
    if stage == FIRST:
        return _sums(state, table, min(at, n)) if at else ""
    if stage == "labels":
        if not np.array_equal(np.sort(state["order"]), np.arange(n)):
            return "“order” does not name every row once"
        drawn = state["order"][:at]
    else:
        drawn = np.arange(n)
    if state["labels"][drawn].min(initial=0) < 0:
        return "“labels” has rows without a cluster"
    return _sums(state, table, n) or _numbers(state)


def _sums(state: Copy, table: Table, rows: int) -> str:
    """Whether sizes and known cells are those of the first rows."""
    labels, clusters = state["labels"][:rows], state["clusters"]
    here = np.flatnonzero(labels >= 0)
    if not np.array_equal(np.bincount(labels[here], minlength=len(clusters["size"])), clusters["size"]):
        return "“clusters.size” does not count the labels"
    known = np.zeros_like(clusters["known"])
    np.add.at(known, labels[here], table.items.known[here].astype(known.dtype))
    return "" if np.array_equal(known, clusters["known"]) else "“clusters.known” does not count the labels"


def _numbers(state: Copy) -> str:
    """Whether the slots in use are those of the labels."""
    at: Ints = state["at"]
    size = state["clusters"]["size"]
    if not int(state["labels"].max(initial=-1)) < at[scan.HIGH] <= len(size):
        return f"“at” says that slots below {at[scan.HIGH]} are in use"
    if at[scan.NUMBER] != (size > 0).sum():
        return f"“at” counts {counted(int(at[scan.NUMBER]), 'cluster')}, the labels {(size > 0).sum()}"
    return ""
