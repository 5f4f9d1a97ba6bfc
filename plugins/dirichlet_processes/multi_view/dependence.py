"""How far clusters of different views depend on each other: the joint table of a draw, and its mutual information."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from plaidwork.plugins.dirichlet_processes.multi_view.kernels.information import inform, tabulate
from plaidwork.plugins.dirichlet_processes.multi_view.state import ViewState
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.state import Ints


def pairs_of(views: int) -> list[tuple[int, int]]:
    """All pairs of views, in order."""
    return list(itertools.combinations(range(views), 2))


class Shares(NamedTuple):
    """Blocks and what clusters of each view a new sample of them has; the last block and the last cluster of a view are new ones."""

    block: Floats
    """(K + 1,)"""
    view: tuple[Floats, ...]
    """(K + 1, C_v + 1) of each view"""

    def joint(self, v: int, w: int) -> Floats:
        """(C_v + 1, C_w + 1) probability of a cluster of each of two views for a new sample."""
        return np.asarray((self.block[:, None] * self.view[v]).T @ self.view[w])


def shares_of(state: ViewState) -> Shares:
    """Of a state at the end of a sweep."""
    links = state["links"]
    k = int((links["members"] > 0).sum())
    law = (state["block_alpha"], links["alpha"])
    return _shares(
        links["members"][:k], links["present"][:k], links["uses"][:k], links["beta"], links["rest"], law,
        links["first"], links["high"],
    )  # fmt: skip


def shares_of_draw(draw: Mapping[str, Any]) -> Shares:
    """Of what is kept of a draw."""
    block, clusters = np.asarray(draw["block_of"], np.int64), np.asarray(draw["cluster_of"], np.int64)
    high, beta = np.array(draw["n_clusters"], np.int64), np.array(draw["weight"], float)
    begin, views = np.cumsum(high) - high, len(clusters)
    members = np.bincount(block)
    uses, present = np.zeros((len(members), len(beta)), np.int64), np.zeros((len(members), views), np.int64)
    rest = np.empty(views)
    for v, labels in enumerate(clusters):
        inside = labels >= 0
        np.add.at(uses, (block[inside], begin[v] + labels[inside]), 1)
        np.add.at(present[:, v], block[inside], 1)
        rest[v] = max(1.0 - beta[begin[v] : begin[v] + high[v]].sum(), 0.0)
    law = np.array(draw["concentrations"], float)
    return _shares(members, present, uses, beta, rest, (float(law[0]), law[1 : 1 + views]), begin, high)


def _shares(
    members: Ints, present: Ints, uses: Ints, beta: Floats, rest: Floats, law: tuple[float, Floats], begin: Ints, high: Ints
) -> Shares:  # fmt: skip
    """As ``tabulate`` has them."""
    block = np.empty(len(members) + 1)
    table = np.empty(len(block) * int((high + 1).sum()))
    tabulate(members, present, uses, beta, rest, law, begin, high, block, table)
    ends = len(block) * np.cumsum(high + 1)
    return Shares(block, tuple(part.reshape(len(block), -1) for part in np.split(table, ends[:-1])))


def information(shares: Shares) -> Floats:
    """(pairs + V + 1,) in nats: mutual information of all pairs, entropy of each view, and the total correlation of all.

    The total correlation is of the joint table of all views; NaN where that has over a million cells.
    """
    high = np.array([view.shape[1] - 1 for view in shares.view], np.int64)
    out = np.empty(len(high) * (len(high) - 1) // 2 + len(high) + 1)
    inform(shares.block, np.concatenate([view.ravel() for view in shares.view]), high, out)
    return out
