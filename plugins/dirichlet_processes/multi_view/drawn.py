"""A kept draw as the kernels take it: blocks and clusters added up again from the labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plaidwork.core.api import ChainView, ModelData, ModelError
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import samples
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import Bag, Bases, Flat, Links
from plaidwork.plugins.dirichlet_processes.multi_view.state import (
    MOVE_SLOTS,
    ViewTables,
    bases_of,
    check_labels,
    flat_of,
    links_of,
    new_state,
)
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.state import Base, Ints

LEAST_REST = 1e-16
"""Draws keep the weights of the clusters that are there; what they leave of 1 is known to the last digit of a sum."""


class Drawn(NamedTuple):
    """One draw, its rows added up."""

    block: Ints
    """(n,)"""
    cluster: Ints
    """(V, n), -1 in a view that a sample lacks"""
    a0: float
    bases: Bases
    flat: Flat
    pair: Flat
    """Three slots of each view"""
    threes: Ints
    """(V,) that number"""
    links: Links


def incomplete(bag: Bag) -> Bag:
    """The same rows for sums that take rows with missing cells beside them."""
    return bag._replace(complete=np.zeros_like(bag.complete))


def bases_of_draw(chain: ChainView, i: int, data: ModelData, tables: ViewTables) -> list[Base]:
    """The base of each view, from what is kept of it by column."""
    centre, scale, weight = (
        np.asarray(chain.draw(name, i), float) for name in ("base_centre", "base_scale", "base_weight")
    )
    found: list[Base] = []
    first = 0
    for v, (block, table) in enumerate(zip(data["views"], tables.tables, strict=True)):
        numbers, counts = first + table.number_of[:, 1], first + table.count_of[:, 1]
        first += block.shape[1]
        found.append(
            {
                "m0": centre[numbers],
                "k0": weight[v : v + 1],
                "b0": scale[numbers],
                "rate": scale[counts],
                "joint_m0": np.zeros(0),
                "psi": np.zeros(0),
            }
        )
    return found


def draw_at(chain: ChainView, i: int, data: ModelData, tables: ViewTables) -> Drawn:
    """Draw ``i`` of a chain, with sums that take rows with missing cells beside them. O(n columns)."""
    block = np.array(chain.draw("block_of", i), np.int64)
    cluster = np.array(chain.draw("cluster_of", i), np.int64)
    law = np.asarray(chain.draw("concentrations", i), float)
    views = len(cluster)
    ends = np.cumsum(np.asarray(chain.draw("n_clusters", i), np.int64))
    beta: list[Floats] = np.split(np.asarray(chain.draw("weight", i), float), ends[:-1])
    check_labels(cluster, tables)
    if len(beta) != views or any(
        int(labels.max(initial=-1)) >= len(one) for labels, one in zip(cluster, beta)
    ):
        raise ModelError(
            "A draw names clusters of which it has no weight.", "Fit again with the same settings."
        )
    rest = np.array([max(1.0 - float(one.sum()), LEAST_REST) for one in beta])
    state = new_state(
        block,
        cluster,
        tables.widths,
        bases_of_draw(chain, i, data, tables),
        (float(law[0]), law[1 : 1 + views], law[1 + views :]),
        beta,
        rest,
    )
    bag, bases, links = incomplete(tables.bag), bases_of(state, tables), links_of(state)
    flat, pair = flat_of(state["clusters"]), flat_of(state["pair"])
    threes = np.full(views, MOVE_SLOTS, np.int64)
    samples.begin_counting(bag, bases, flat, links, cluster, state["at"])
    samples.count_rows(bag, bases, flat, pair, links, block, cluster, state["fresh"], threes, 0, len(block))
    return Drawn(block, cluster, float(law[0]), bases, flat, pair, threes, links)
