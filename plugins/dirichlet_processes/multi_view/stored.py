"""What a stored state of clusters in several views may hold: labels of blocks and clusters, their slots, and counts of them."""

from __future__ import annotations

from typing import cast

import numpy as np

from plaidwork.core.api import Layout, Part
from plaidwork.core.api import State as Stored
from plaidwork.plugins.dirichlet_processes.multi_view.state import (
    ViewState,
    ViewTables,
    clusters_at,
    row_width,
)
from plaidwork.plugins.dirichlet_processes.stored import standing

ALL = "clusters of all views"
TOGETHER = "clusters, blocks, and moves of both"
"""The stage of a short sweep in which all but its end is done."""


def layout_of(n: int, views: int) -> Layout:
    """The places of a state of ``n`` samples: B blocks, and slots of clusters of all views, one after the other."""

    def count(*shape: int | str | None) -> Part:
        return Part(shape or None, low=0, below=n + 1)

    flat = ("joint_centre", "joint_root", "joint_constant", "joint_work")
    return {
        "block": Part(low=0, below="B"),
        "cluster": Part(low=-1, below=ALL),
        "order": Part(low=0, below=n),
        "links.members": count("B"),
        "links.present": count("B", views),
        "links.uses": count("B", ALL),
        "links.beta": Part((ALL,), low=0.0),
        "links.slots": Part(low=1),
        "links.first": Part(low=0),
        "links.high": Part(low=0),
        "links.*": Part(low=0.0),
        "sides.uses": count(None, ALL),
        "sides.*": count(),
        "clusters.size": count(ALL),
        "clusters.known": count("known"),
        **{f"clusters.{name}": Part() for name in flat},
        **{f"clusters.{name}": Part((name,)) for name in ("mean", "square", "centre", "weight", "constant")},
        **{f"clusters.{name}": Part((name,)) for name in ("levels", "coded", "events", "time")},
        "pair.size": count(),
        "pair.known": count(),
        "at": Part(low=0),
        "block_alpha": Part(low=0.0),
    }


def contradiction_of(state: ViewState, tables: ViewTables) -> str:
    """What slots, labels and counts say against each other, as a part of a sentence; empty when nothing.

    At the beginning of a sweep blocks and clusters are added up anew, so that only within one their sums matter.
    """
    links, has = state["links"], np.asarray(tables.bag.has)
    if wrong := _slots(state, tables):
        return wrong
    if not np.array_equal(state["cluster"] >= 0, has):
        return "“cluster” has no cluster for a view that a sample has, or one for a view that it lacks"
    if (state["cluster"].max(axis=1, initial=-1) >= links["high"]).any():
        return "“cluster” names clusters that are not in use"
    stage, at = standing(cast(Stored, state), "clusters")
    if stage in ("clusters", TOGETHER) and not at:
        return ""
    if stage == "blocks and clusters" and not np.array_equal(
        np.sort(state["order"]), np.arange(has.shape[1])
    ):
        return "“order” does not name every sample once"
    return _sums(state, tables, min(at, has.shape[1]) if stage == "clusters" else has.shape[1])


def _slots(state: ViewState, tables: ViewTables) -> str:
    """Whether the arrays of all views are as long as their slots say."""
    links = state["links"]
    slots, first = links["slots"], links["first"]
    whole = len(links["beta"])
    if slots.max() > whole or slots.sum() != whole or not np.array_equal(np.diff(first), slots) or first[0]:
        return f"“links.slots” does not say where the {whole} slots are"
    if (links["high"] > slots).any():
        return "“links.high” says that more clusters are in use than there are slots"
    for name, flat in state["clusters"].items():
        if len(flat) != sum(int(s) * row_width(name, row) for s, row in zip(slots, tables.widths)):
            return f"“clusters.{name}” is of other slots"
    return ""


def _sums(state: ViewState, tables: ViewTables, rows: int) -> str:
    """Whether blocks and clusters count the first samples."""
    links, has = state["links"], np.asarray(tables.bag.has)[:, :rows]
    block, cluster = state["block"][:rows], state["cluster"][:, :rows]
    blocks = len(links["members"])
    if not np.array_equal(np.bincount(block, minlength=blocks), links["members"]):
        return "“links.members” does not count the samples of the blocks"
    uses, present = np.zeros_like(links["uses"]), np.zeros_like(links["present"])
    for v, table in enumerate(tables.tables):
        here = np.flatnonzero(has[v])
        np.add.at(present[:, v], block[here], 1)
        np.add.at(uses, (block[here], links["first"][v] + cluster[v, here]), 1)
        own = clusters_at(state, tables, v)
        known = np.zeros_like(own.known)
        np.add.at(known, cluster[v, here], table.items.known[here].astype(known.dtype))
        if not np.array_equal(np.bincount(cluster[v, here], minlength=len(own.size)), own.size):
            return "“clusters.size” does not count the labels"
        if not np.array_equal(known, own.known):
            return "“clusters.known” does not count the labels"
    if not np.array_equal(present, links["present"]) or not np.array_equal(uses, links["uses"]):
        return "“links.uses” does not count the labels"
    return ""
