"""Topics of broken sticks put in the order of their sizes, when the bound rises by that."""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.moments import n_fixed
from plaidwork.plugins.supervised_ibp.prior import log_shares, prior_bound, update_shares
from plaidwork.plugins.supervised_ibp.state import Fields, Settings, TopicArray

ROUNDS = 3
"""Updates of the sticks in either order before the two are compared."""
LEAST_GAIN = 1e-9
"""Relative rise of the bound below which nothing moves."""
AXES: dict[TopicArray, tuple[int, ...]] = {
    "nu": (1,), "phi": (1,), "rows": (1,), "raw": (1,), "offset": (0,), "outer": (0, 1), "cov": (0, 1), "gram": (1, 2),
    "total": (1,), "ny": (1,), "spread": (1,), "cover_nu": (2,),
}  # fmt: skip
"""Which axes of the state are topics."""


def reorders(params: Settings) -> bool:
    """The order of topics matters for broken sticks only."""
    return bool(params["prior"] == "stick" and params["reorder"])


def _part(total: np.ndarray, n: int, alpha: float, a: np.ndarray, b: np.ndarray) -> float:
    """All terms of the bound that the order of the topics changes."""
    log_in, log_out = log_shares("stick", a, b)
    return float((total * log_in + (n - total) * log_out).sum()) + prior_bound("stick", alpha, a, b)


def reorder(state: Fields, corpus: Corpus, params: Settings) -> bool:
    """Common topics first, the sticks made anew, when the bound is then higher; whether that was so."""
    n, alpha, fixed = len(corpus.y), params["alpha"], n_fixed(state)
    total = np.minimum(state["total"].sum(axis=0)[fixed:], n)
    order = np.argsort(-total, kind="stable")
    if np.array_equal(order, np.arange(len(order))):
        return False
    ends = []
    for sizes in (total, total[order]):
        a, b = state["share_a"], state["share_b"]
        for _ in range(ROUNDS):
            a, b = update_shares("stick", alpha, sizes, n, a, b)
        ends.append((_part(sizes, n, alpha, a, b), a, b))
    last = max(_part(total, n, alpha, state["share_a"], state["share_b"]), ends[0][0])
    gain, a, b = ends[1]
    if not gain > last + LEAST_GAIN * (1 + abs(last)):
        return False
    state["share_a"], state["share_b"] = a, b
    _permute(state, np.concatenate([np.arange(fixed), fixed + order]), corpus.cover.shape[1])
    return True


def _permute(state: Fields, order: np.ndarray, covers: int) -> None:
    for name, axes in AXES.items():
        for axis in axes:
            state[name] = np.ascontiguousarray(np.take(state[name], order, axis=axis))
    groups, k = state["total"].shape
    starts = covers + k * np.arange(groups)[:, None]
    places = np.concatenate([np.arange(covers), (starts + order).ravel()])
    state["coef"] = state["coef"][places]
    state["coef_cov"] = np.ascontiguousarray(state["coef_cov"][np.ix_(places, places)])
