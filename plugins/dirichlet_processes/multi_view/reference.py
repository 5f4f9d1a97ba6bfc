"""What views share by chance: mutual information where the samples of all views but the first are permuted.

The clusters of some draws are kept, so sizes and numbers of clusters are those that were found; blocks, weights and concentrations are
drawn anew for the permuted samples. What is left of mutual information is the bias of the table for clusters of these sizes.
"""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Kept
from plaidwork.plugins.dirichlet_processes.clusterings import pooled_draws
from plaidwork.plugins.dirichlet_processes.multi_view.dependence import information, pairs_of, shares_of
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.finish import draw_links
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.multi_view.state import (
    ViewState,
    ViewTables,
    check_labels,
    links_of,
    new_state,
)
from plaidwork.plugins.dirichlet_processes.multi_view.sweep import Updates, new_ends, priors_of, take_ends
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.state import Base, Ints

PERMUTATIONS = 20
SWEEPS, USED = 60, 30
"""Sweeps for a permutation, and the last of them, which are averaged."""
MOVES = 3


def without_data(
    block: Ints, cluster: Ints, tables: ViewTables, params: ViewSettings, law: tuple[float, Floats, Floats]
) -> ViewState:
    """A state with these clusters, whose bases are of no matter."""
    views = len(cluster)
    sizes = [np.bincount(labels[labels >= 0], minlength=1) for labels in cluster]
    beta = [0.95 * (size + 1e-3) / (size + 1e-3).sum() for size in sizes]
    bases: list[Base] = [
        {
            "m0": np.zeros(int(row[0])),
            "k0": np.ones(1),
            "b0": np.ones(int(row[0])),
            "rate": np.ones(int(row[3])),
            "joint_m0": np.zeros(0),
            "psi": np.zeros(0),
        }
        for row in tables.widths
    ]
    return new_state(block, cluster, tables.widths, bases, law, beta, np.full(views, 0.05))


def draw_dependence(
    state: ViewState, tables: ViewTables, params: ViewSettings, rng: np.random.Generator
) -> None:
    """A sweep of blocks, weights and concentrations, the clusters as they are."""
    one, links, n = Updates(state, tables, params, rng), state["links"], len(state["block"])
    links["members"][:], links["present"][:], links["uses"][:] = 0, 0, 0
    np.add.at(links["members"], state["block"], 1)
    for v, labels in enumerate(state["cluster"]):
        inside = labels >= 0
        np.add.at(links["present"][:, v], state["block"][inside], 1)
        np.add.at(links["uses"], (state["block"][inside], links["first"][v] + labels[inside]), 1)
    one.draw_blocks(0, n)
    if n > 1:
        one.move_blocks(0, MOVES)
    ends = new_ends(state)
    draw_links(rng, links_of(state), state["block"], priors_of(params), ends)
    take_ends(state, params, ends)


def permuted_information(kept: Kept, tables: ViewTables, params: ViewSettings) -> Floats:
    """(permutations, pairs) mutual information in nats; fewer permutations while chains run. Repeats itself: its seed is fixed."""
    used = pooled_draws(kept, 3 if kept.under_way else PERMUTATIONS)
    rng, found = np.random.default_rng(len(used)), []
    for chain, i in used:
        cluster = np.array(chain.draw("cluster_of", i), np.int64)
        check_labels(cluster, tables)
        drawn, views = np.asarray(chain.draw("concentrations", i), float), len(cluster)
        for labels in cluster[1:]:
            inside = np.flatnonzero(labels >= 0)
            labels[inside] = labels[rng.permutation(inside)]
        law = (float(drawn[0]), drawn[1 : 1 + views], drawn[1 + views :])
        block = np.zeros(cluster.shape[1], np.int64)
        pairs = len(pairs_of(views))
        state, total = without_data(block, cluster, tables, params, law), []
        for sweep in range(SWEEPS):
            draw_dependence(state, tables, params, rng)
            if sweep >= SWEEPS - USED:
                total.append(information(shares_of(state))[:pairs])
        found.append(np.mean(total, axis=0))
    return np.array(found)


def prepare_reference(state: ViewState, tables: ViewTables, params: ViewSettings) -> None:
    """Compile the kernels as they are called here."""
    law = (state["block_alpha"], state["links"]["alpha"], state["links"]["gamma"])
    other = without_data(np.zeros_like(state["block"]), state["cluster"].copy(), tables, params, law)
    draw_dependence(other, tables, params, np.random.default_rng(1))
