"""Rows of counts that share a total: how the kernels take them, and the weight of each column's share, learned.

    p_k ~ Dirichlet(a_v, …, a_v)       a_v ~ Exponential of mean ``share_weight`` for each such matrix

a_v is drawn by slice sampling of its logarithm given the sums of the clusters, shares integrated out. Tables (as the topics have them)
would cost a step for each count, of which a matrix of reads has millions; log gammas cost the same for every sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from scipy.special import gammaln

from plaidwork.core.api import Block
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Rows
from plaidwork.plugins.dirichlet_processes.partitions import Floats, slice_draw
from plaidwork.plugins.dirichlet_processes.settings import ColumnSettings, Settings
from plaidwork.plugins.dirichlet_processes.state import Base, Table

LOG_WEIGHT = (-20.0, 12.0)
"""Where the weight of a share is looked for; its prior has nothing beyond that could be seen."""


def whole_rows(block: Block) -> np.ndarray:
    """(n,) bool: no cell of the row is missing."""
    return np.asarray(block.observed.all(axis=1))


def counts_of(block: Block) -> Floats:
    """(n, W) counts, 0 in rows that are not known as a whole."""
    return np.where(whole_rows(block)[:, None], block.values, 0.0)


def packed_rows(n: int, matrices: Sequence[Floats], start: int) -> Rows:
    """Matrices of counts (n, W_j), beside each other from place ``start`` on, by their counts above 0."""
    counts = np.concatenate([np.zeros((n, 0)), *matrices], axis=1)
    row, column = np.nonzero(counts)
    above = np.array([(one > 0).sum(axis=1) for one in matrices], np.int64).reshape(-1, n).T
    ends = np.concatenate([[0], np.cumsum(above.ravel())]).astype(np.int64)
    m = len(matrices)
    spans = ends[np.arange(n)[:, None] * m + np.arange(m + 1)]
    totals = np.array([one.sum(axis=1) for one in matrices]).reshape(-1, n).T
    ways = np.array([gammaln(one.sum(axis=1) + 1.0) - gammaln(one + 1.0).sum(axis=1) for one in matrices])
    found = (spans, start + column, counts[row, column], totals, ways.reshape(-1, n).T)
    parts = [np.ascontiguousarray(part) for part in found]
    for part in parts:
        part.flags.writeable = False
    return Rows(*parts)


def share_weight(params: ColumnSettings) -> float:
    """The setting, asked for only where there are such rows: not every model here takes them."""
    return cast(Settings, params)["share_weight"]


def log_prior_shares(base: Base, params: ColumnSettings, table: Table) -> float:
    """Log density of the weights of shares."""
    if not len(table.row_matrix):
        return 0.0
    mean = share_weight(params)
    return -float((math.log(mean) + base["k0"][table.row_matrix] / mean).sum())


def update_shares(
    rng: np.random.Generator, c: Clusters, number: int, base: Base, params: ColumnSettings, table: Table
) -> None:
    """Draw the weights of shares given the clusters in the first ``number`` slots, in place. O(K W) and as many log gammas as sums differ."""
    codes = len(table.code_of)
    for j, v in enumerate(table.row_matrix):
        lo, hi = table.first[codes + j : codes + j + 2]
        density = density_of_weight(
            c.levels[:number, lo:hi], c.coded[:number, codes + j], share_weight(params)
        )
        base["k0"][v] = math.exp(slice_draw(rng, math.log(base["k0"][v]), density, *LOG_WEIGHT))


def density_of_weight(sums: Floats, totals: Floats, mean: float) -> Callable[[float], float]:
    """Of the logarithm of the weight given the sums (K, W) and totals (K,) of clusters, its log density but for a constant."""
    value, times = np.unique(sums[sums > 0], return_counts=True)
    width = sums.shape[1]

    def density(u: float) -> float:
        a = math.exp(u)
        found = (times * (gammaln(a + value) - gammaln(a))).sum()
        found += (gammaln(a * width) - gammaln(a * width + totals)).sum()
        return float(found) + u - a / mean

    return density
