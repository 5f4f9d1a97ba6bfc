"""Densities of single samples given all others: what leaving one out, weights of solutions and comparisons of fits are made of.

An observation is the row of a view. Given a draw's blocks, clusters and weights without the sample, its density is summed over all blocks
and clusters that it can have, new ones included, itself weighed by its rows in the other views (see ``kernels/samples.py``):

    p(x_iv | rest) = sum_k n_k prod_u S_ku / sum_k n_k prod_{u not v} S_ku,   with a0 in place of n_k for a new block

A weight that only the sample's own cluster has is part of the draw: with what is left of 1 it is the weight of clusters without another
sample. Where cells are held out they are what is meant, given all known cells of the sample.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from plaidwork.core.api import Block, ChainView, ModelData, Params
from plaidwork.plugins.dirichlet_processes.clusterings import spread_evenly
from plaidwork.plugins.dirichlet_processes.leaving_out import (
    LEAST_DRAWS,
    MOST_WORK,
    cells_meant,
    log_unit,
)
from plaidwork.plugins.dirichlet_processes.multi_view.drawn import draw_at, incomplete
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import Bag
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.newcomers import leave_out
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.multi_view.state import ViewTables, bag_of, one_view
from plaidwork.plugins.dirichlet_processes.newcomers import new_items
from plaidwork.plugins.dirichlet_processes.partitions import Floats


def densities_of_views(
    chain: ChainView,
    draws: np.ndarray,
    data: ModelData,
    tables: ViewTables,
    params: ViewSettings,
    index: int,
    rows: np.ndarray,
) -> Floats:
    """(s, len(rows)) log density of each row of view ``index`` on the scale of the data, NaN where it has no cell that is meant."""
    rest, both, scale = parted_views(data, tables, params, index)
    used = np.asarray(draws)[spread_evenly(len(draws), draws_within(chain, draws, tables, len(rows)))]
    fitted, out = incomplete(tables.bag), np.empty((len(used), len(rows)))
    for at, i in enumerate(used.tolist()):
        one = draw_at(chain, i, data, tables)
        leave_out(
            fitted, rest, both, one.bases, one.flat, one.pair, one.threes, one.links, one.a0,
            rows.astype(np.int64), one.block, one.cluster, out[at],
        )  # fmt: skip
    return out - scale[rows]


def draws_within(chain: ChainView, draws: np.ndarray, tables: ViewTables, rows: int) -> int:
    """How many draws there is work for, by some of them."""
    some = [int(draws[at]) for at in spread_evenly(len(draws), 20)]
    if not some:
        return LEAST_DRAWS
    clusters = float(np.mean([np.sum(chain.draw("n_clusters", i)) for i in some]))
    blocks = float(np.mean([np.max(chain.draw("block_of", i)) for i in some])) + 1.0
    views, n = tables.bag.has.shape
    row = tables.work * (clusters / views + 2.0) + 6.0 * (blocks + 1.0) * clusters
    return max(LEAST_DRAWS, int(MOST_WORK / (2.0 * (n * tables.work + rows * row))))


def parted_views(
    data: ModelData, tables: ViewTables, params: ViewSettings, index: int
) -> tuple[Bag, Bag, Floats]:
    """The rows without the cells meant, with them, and (n,) the log unit of those, NaN where a row has none."""
    blocks: tuple[Block, ...] = tuple(data["views"])
    less, more, meant = cells_meant(blocks, index)

    def bag(one: Block) -> Bag:
        items = [table.items for table in tables.tables]
        found = new_items(one_view(blocks[index]), one_view(one), tables.tables[index], params)
        items[index] = found._replace(exposure=items[index].exposure)
        has = tables.bag.has.copy()
        has[index] = one.observed.any(axis=1)
        return incomplete(bag_of(tables.tables, items, has, cast(Params, params)))

    return bag(less), bag(more), log_unit(tables.tables[index], meant, 0)
