"""How far clusters of different views depend on each other: the joint table of a draw, and its mutual information."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from plaidwork.plugins.dirichlet_processes.multi_view.state import ViewState
from plaidwork.plugins.dirichlet_processes.partitions import Floats

MOST_CELLS = 1e6


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
    k, views = int((links["members"] > 0).sum()), []
    for v, high in enumerate(links["high"]):
        lo = int(links["first"][v])
        beta = np.append(links["beta"][lo : lo + high], links["rest"][v])
        views.append((links["uses"][:k, lo : lo + high], beta))
    return _shares(links["members"][:k], views, state["block_alpha"], links["alpha"])


def shares_of_draw(draw: Mapping[str, Any]) -> Shares:
    """Of what is kept of a draw."""
    block, clusters = np.asarray(draw["block_of"], np.int64), np.asarray(draw["cluster_of"], np.int64)
    k, at, views = int(block.max()) + 1, 0, []
    for labels, high in zip(clusters, np.asarray(draw["n_clusters"], np.int64), strict=True):
        uses, inside = np.zeros((k, int(high)), np.int64), labels >= 0
        np.add.at(uses, (block[inside], labels[inside]), 1)
        beta = np.asarray(draw["weight"])[at : at + high]
        views.append((uses, np.append(beta, max(1.0 - beta.sum(), 0.0))))
        at += int(high)
    law = np.asarray(draw["concentrations"], float)
    return _shares(np.bincount(block), views, float(law[0]), law[1 : 1 + len(clusters)])


def _shares(
    members: np.ndarray, views: Sequence[tuple[np.ndarray, Floats]], a0: float, alpha: Floats
) -> Shares:
    """``p_kv = (n_kv. + alpha_v beta_v) / (n_kv + alpha_v)``, of a new block beta_v; ``views`` has uses (K, C) and beta (C + 1,)."""
    k = len(members)
    found = []
    for (uses, beta), own in zip(views, alpha, strict=True):
        counts = np.zeros((k + 1, len(beta)))
        counts[:k, :-1] = uses
        found.append((counts + own * beta) / (counts.sum(axis=1, keepdims=True) + own))
    return Shares(np.append(members, a0) / (members.sum() + a0), tuple(found))


def mutual_information(joint: Floats) -> float:
    """In nats, of a table (A, B) that sums to 1."""
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    inside = joint > 0
    return max(float((joint[inside] * np.log(joint[inside] / expected[inside])).sum()), 0.0)


def entropy(share: Floats) -> float:
    """In nats."""
    inside = share[share > 0]
    return -float((inside * np.log(inside)).sum())


def information(shares: Shares) -> Floats:
    """(pairs + V + 1,) in nats: mutual information of all pairs, entropy of each view, and the total correlation of all.

    The total correlation is of the joint table of all views; NaN where that has over a million cells.
    """
    views = len(shares.view)
    mutual = [mutual_information(shares.joint(v, w)) for v, w in pairs_of(views)]
    alone = [entropy(shares.block @ view) for view in shares.view]
    if views == 2:
        return np.array([*mutual, *alone, mutual[0]])
    if np.prod([float(view.shape[1]) for view in shares.view]) > MOST_CELLS:
        return np.array([*mutual, *alone, np.nan])
    whole = np.zeros(())
    for k, weight in enumerate(shares.block):
        part = np.array(weight)
        for view in shares.view:
            part = np.multiply.outer(part, view[k])
        whole = whole + part
    return np.array([*mutual, *alone, max(sum(alone) - entropy(whole.ravel()), 0.0)])
