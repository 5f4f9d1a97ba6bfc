"""What the factors of a draw explain of the views."""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.group_factor import local
from plaidwork.plugins.group_factor.intercepts import drawn, of_group
from plaidwork.plugins.group_factor.products_level import explained_by_level
from plaidwork.plugins.group_factor.views import Views
from plaidwork.plugins.group_factor.weak import explained

Sums = dict[int, tuple[np.ndarray, np.ndarray]]
"""Of the views that are known by sums, see ``Views.sums``."""


def sums_of(views: Views, draw: dict[str, np.ndarray]) -> Sums:
    """What is needed of the views without gaps: one pass over their samples."""
    return {m: views.sums(m, draw["z"]) for m in views.summed}


def deviance_of(views: Views, draw: dict[str, np.ndarray], sums: Sums, only: int | None = None) -> np.ndarray:
    """(K + 3, M), see ``local.deviances``; of the samples of one group where ``only`` says so."""
    out = np.zeros((len(draw["z"]) + 3, len(views.names)))
    mu, z = drawn(draw), np.ascontiguousarray(draw["z"])
    for m, (raw, observed) in enumerate(zip(views.raw, views.observed, strict=True)):
        here = views.place(m)
        w = np.ascontiguousarray(draw["w"][:, here])
        if m in sums:
            by_group = explained_by_level(*sums[m], z, w, views.group, local.OFF)
            out[:, m] += by_group.sum(axis=0) if only is None else by_group[only]
            continue
        for g in range(len(mu) if views.null.ndim == 2 else 1):
            known = observed * (views.group == g) if views.null.ndim == 2 else observed
            known = known if only is None else known * (views.group == only)
            local.deviances(
                0, len(raw), raw, known, views.kind[here].astype(np.int64), np.ascontiguousarray(mu[g][here]),
                np.ascontiguousarray(of_group(views.null, g)[here]), z, w, views.view[here].astype(np.int64), out,
            )  # fmt: skip
    return out


def share_by_group(views: Views, draw: dict[str, np.ndarray], sums: Sums) -> np.ndarray:
    """(G, K + 1, M) share explained among the samples of each group, see ``weak.explained``."""
    return np.array([explained(deviance_of(views, draw, sums, g)) for g in range(len(views.groups))])
