"""How far clusters of different views depend on each other: the joint table of a draw, and its mutual information."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from plaidwork.plugins.dirichlet_processes.multi_view.state import ViewState
from plaidwork.plugins.dirichlet_processes.partitions import Floats


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
    """At the end of a sweep: ``p_kv = (n_kv. + alpha_v beta_v) / (n_kv + alpha_v)``, of a new block beta_v."""
    links, a0 = state["links"], state["block_alpha"]
    k = int((links["members"] > 0).sum())
    block = np.append(links["members"][:k], a0) / (links["members"][:k].sum() + a0)
    views = []
    for v, high in enumerate(links["high"]):
        lo, alpha = int(links["first"][v]), float(links["alpha"][v])
        beta = np.append(links["beta"][lo : lo + high], links["rest"][v])
        uses = np.zeros((k + 1, int(high) + 1))
        uses[:k, :high] = links["uses"][:k, lo : lo + high]
        views.append((uses + alpha * beta) / (uses.sum(axis=1, keepdims=True) + alpha))
    return Shares(block, tuple(views))


def mutual_information(joint: Floats) -> float:
    """In nats, of a table (A, B) that sums to 1."""
    expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    inside = joint > 0
    return max(float((joint[inside] * np.log(joint[inside] / expected[inside])).sum()), 0.0)


def entropy(share: Floats) -> float:
    """In nats."""
    inside = share[share > 0]
    return -float((inside * np.log(inside)).sum())


def information(shares: Shares) -> tuple[Floats, Floats, float]:
    """Mutual information of all pairs, entropy of each view (V,), and total correlation, in nats.

    The total correlation is exact: the joint table of all views is summed over the blocks' terms, and where it would be too large
    (over a million cells) NaN is given.
    """
    views = len(shares.view)
    mutual = np.array([mutual_information(shares.joint(v, w)) for v, w in pairs_of(views)])
    alone = np.array([entropy(shares.block @ view) for view in shares.view])
    cells = float(np.prod([view.shape[1] for view in shares.view]))
    if cells > 1e6:
        return mutual, alone, float("nan")
    whole = np.zeros(())
    for k, weight in enumerate(shares.block):
        part = np.array(weight)
        for view in shares.view:
            part = np.multiply.outer(part, view[k])
        whole = whole + part
    return mutual, alone, max(float(alone.sum() - entropy(whole.ravel())), 0.0)
