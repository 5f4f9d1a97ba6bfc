"""Densities of single samples given all others: what leaving one out, weights of solutions and comparisons of fits are made of.

An observation is the row of a matrix. Given a draw's clusters of all other samples and its base, its density is summed over the clusters
that the sample can be in, itself weighed by its rows in the other matrices:

    p(x_iv | rest) = sum_k w_k p(x_i | k) / sum_k w_k p(x_i without x_iv | k)

Its cluster, and missing cells of its own in correlated columns, are integrated out, so that the draw without them is what the
observation is left out of. Where cells are held out they are what is meant, given all known cells of the row.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plaidwork.core.api import Block, ChainView, ModelData
from plaidwork.plugins.dirichlet_processes.clusterings import spread_evenly
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Items, empty_clusters
from plaidwork.plugins.dirichlet_processes.kernels.newcomers import leave_out
from plaidwork.plugins.dirichlet_processes.newcomers import base_of_draw, joint_of_draw, new_items
from plaidwork.plugins.dirichlet_processes.partitions import Floats, log_new
from plaidwork.plugins.dirichlet_processes.settings import Settings
from plaidwork.plugins.dirichlet_processes.state import Table, law_of
from plaidwork.plugins.dirichlet_processes.sweep import work_of_row

MOST_WORK = 30e9
"""Work of all draws of a chain and one matrix, about a nanosecond each: of larger data fewer draws are taken."""
LEAST_DRAWS = 20


def densities_of_rows(
    chain: ChainView,
    draws: np.ndarray,
    data: ModelData,
    table: Table,
    params: Settings,
    index: int,
    rows: np.ndarray,
) -> Floats:
    """(s, len(rows)) log density of each row of matrix ``index`` on the scale of the data, NaN where it has no cell that is meant."""
    n = len(table.items.numbers)
    number = (
        int(np.mean([chain.draw("n_clusters", int(i)) for i in spread_evenly(len(draws), 20)]))
        if len(draws)
        else 1
    )
    work = work_of_row(table) * 2.0 * (n + len(rows) * (number + 2))
    used = np.asarray(draws)[spread_evenly(len(draws), max(LEAST_DRAWS, int(MOST_WORK / work)))]
    rest, both, scale = parted(data, table, params, index)
    fitted = table.items._replace(complete=False)
    out = np.empty((len(used), len(rows)))
    for at, i in enumerate(used.tolist()):
        labels = np.asarray(chain.draw("cluster_of", i), np.int64)
        base = base_of_draw(chain, i, data, table, params)
        discount = float(chain.draw("discount", i))
        weights = log_new(params, n, float(chain.draw("alpha", i)), discount)
        slots = int(labels.max()) + 2
        leave_out(
            fitted._replace(joint=joint_of_draw(chain, i, table)), rest, both, rows.astype(np.int64), labels,
            Clusters(**empty_clusters(slots, *table.widths, table.joint_widths)),
            Clusters(**empty_clusters(1, *table.widths, table.joint_widths)),
            law_of(table, base, params, weights, discount), out[at],
        )  # fmt: skip
    return out - scale[rows]


def parted(data: ModelData, table: Table, params: Settings, index: int) -> tuple[Items, Items, Floats]:
    """The rows without the cells meant, with them, and (n,) the log unit of those, NaN where a row has none."""
    blocks: tuple[Block, ...] = tuple(data["views"])
    less, more, meant = cells_meant(blocks, index)

    def items(one: Block) -> Items:
        parts = tuple(one if v == index else other for v, other in enumerate(blocks))
        found = new_items(data, ModelData({"views": parts}), table, params)
        return found._replace(complete=False, exposure=table.items.exposure)

    return items(less), items(more), log_unit(table, meant, index)


def cells_meant(blocks: tuple[Block, ...], index: int) -> tuple[Block, Block, NDArray[np.bool_]]:
    """A matrix without the cells meant, with them, and which they are: held-out ones where any cell of the data is, else all known ones."""
    block = blocks[index]
    if not any(other.held_out is not None and other.held_out.any() for other in blocks):
        return replace(block, observed=np.zeros(block.shape, bool)), block, block.observed
    meant = np.zeros(block.shape, bool) if block.held_out is None else block.held_out
    values = block.values if block.truth is None else np.where(meant, block.truth, block.values)
    more = replace(block, values=values, observed=block.observed | meant, held_out=None, truth=None)
    return block, more, meant


def log_unit(table: Table, meant: NDArray[np.bool_], index: int) -> Floats:
    """(n,) what log densities of these cells of matrix ``index`` are less on the scale of the data; NaN where a row has none of them."""
    scale = np.where(meant.any(axis=1), 0.0, np.nan)
    for places, units in ((table.number_of, table.scale), (table.joint_of, table.joint_scale)):
        for (v, j), unit in zip(places.tolist(), units.tolist(), strict=True):
            if v == index:
                scale += np.where(meant[:, j], np.log(unit), 0.0)
    return scale
