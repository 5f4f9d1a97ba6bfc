"""Density of single items given a draw, by which the host leaves items out and compares fits.

A cluster of its own, means and covariances are integrated out given the labels of all others and alpha: leaving an item out
by the weights ``1 / p(x_i | x_-i, z_-i, alpha)`` is then exact but for the number of draws.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.core.api import Block, ChainView, Params
from plaidwork_dirichlet_mixture.clusters import (
    Clusters,
    Items,
    Law,
    add,
    empty_clusters,
    log_predictive,
    remove,
    reset,
    standardise,
)
from plaidwork_dirichlet_mixture.starts import read_only, scaling
from plaidwork_dirichlet_mixture.sweep import add_up


@njit(cache=True, nogil=True)
def densities(items: Items, z: np.ndarray, c: Clusters, law: Law, rows: np.ndarray, out: np.ndarray) -> None:
    """Log densities of ``rows`` given all other items and their labels, into ``out`` (rows,); standardised units.

    ``c`` has a slot for every label in ``z`` (n,) and a free one behind them.
    """
    n, new = z.size, z.max() + 1
    y, work, weights = np.empty(items.x.shape[1]), np.empty(items.x.shape[1]), np.empty(new + 1)
    for k in range(new + 1):
        reset(c, k, law)
    for i in range(n):
        standardise(items, i, y)
        add(c, z[i], y, items.known[i], law, work)
    for r in range(rows.size):
        i = rows[r]
        standardise(items, i, y)
        if not remove(c, z[i], y, items.known[i], law, work):
            add_up(items, z, c, z[i], law, i, y, work)
        for k in range(new + 1):
            weight = law.alpha if k == new else float(c.size[k])
            weights[k] = -math.inf
            if weight > 0.0:
                weights[k] = math.log(weight) + log_predictive(c, k, y, items.known[i], law, work)
        top = weights.max()
        out[r] = top + math.log(np.exp(weights - top).sum()) - math.log(n - 1 + law.alpha)
        add(c, z[i], y, items.known[i], law, work)


def log_density_of_items(
    chain: ChainView, draws: np.ndarray, block: Block, params: Params, table: np.ndarray, rows: np.ndarray
) -> np.ndarray:
    """(draws, rows) log densities in nats, in the unit of the data; ``table`` as in :class:`Law`."""
    d, full = block.shape[1], params["covariance"] == "full"
    centre, scale = scaling(block, params["standardise"])
    items = Items(read_only(block.values), read_only(block.observed), centre, scale)
    weight, rows = params["within_weight"], np.asarray(rows, np.int64)
    out = np.empty((len(draws), len(rows)))
    for place, draw in enumerate(draws):
        labels = np.array(chain.draw("cluster_of", int(draw)), np.int64)
        alpha = float(chain.draw("alpha", int(draw)))
        law = Law(full, alpha, params["mean_weight"], weight, weight * params["within"], table)
        densities(
            items, labels, Clusters(**empty_clusters(int(labels.max()) + 2, d, full)), law, rows, out[place]
        )
    nothing = ~block.observed[rows].any(axis=1)
    out -= block.observed[rows] @ np.log(scale)
    out[:, nothing] = np.nan
    return out
