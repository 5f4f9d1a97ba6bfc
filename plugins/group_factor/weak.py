"""What each factor explains during the fit, and factors that leave because it is too little."""

from __future__ import annotations

from functools import partial

import numpy as np

from plaidwork.core.api import Stage
from plaidwork.plugins.group_factor import local, singles, smooth
from plaidwork.plugins.group_factor.cells import View, in_tiles, known_of, parts_of, views_of
from plaidwork.plugins.group_factor.intercepts import of_group
from plaidwork.plugins.group_factor.kernels import BERNOULLI, BOHNING
from plaidwork.plugins.group_factor.products_level import explained_by_level
from plaidwork.plugins.group_factor.state import BY_FACTOR, Fields, Settings

SLICE, WORK = 200_000_000, 100
"""Multiplications and additions in one slice, and what a cell costs by factor in the same unit."""


def drops_now(sweep: int, params: Settings) -> bool:
    """Whether weak factors leave before this sweep."""
    start, every = params["drop_start"], params["drop_every"]
    return sweep >= max(1, start) and (sweep - start) % every == 0


def stage(state: Fields, params: Settings) -> Stage:
    """The stage in which weak factors are found and leave."""
    k, n = state["z"].shape
    begin, end, add = partial(_begin, state), partial(_end, state, params), partial(_add, state)
    work, cut = partial(measure, state), max(1, SLICE // (n * WORK * k))
    return Stage("weak factors", work, len(state["lik"]), cut, begin, end, parallel=True, add=add)


def _begin(state: Fields) -> None:
    k, m = state["alpha_shape"].shape
    state["deviance"] = np.zeros((len(state["scale"]), k + 3, m))


def _add(state: Fields, part: np.ndarray) -> None:
    state["deviance"] += part


def _end(state: Fields, params: Settings) -> None:
    for view in views_of(state):
        if view.summed:
            here = view.features
            state["deviance"][:, :, view.index] += explained_by_level(
                state["cross"][:, :, here], state["total"][:, here], state["z"], state["w"][:, here],
                state["group"], local.OFF,
            )  # fmt: skip
    drop_weak(state, params)


def measure(state: Fields, lo: int, hi: int) -> np.ndarray:
    """The deviances of features lo..hi-1, as they are added to ``state["deviance"]`` (G, K + 3, M), but for those that sums tell."""
    found = np.zeros_like(state["deviance"])
    for view, below, above in parts_of(state, lo, hi):
        if view.summed:
            continue
        add = _bits if state["single"] and view.kind in (BERNOULLI, BOHNING) else _cells
        for start, end in in_tiles(above - below, state["z"].shape[1]):
            add(state, view, below + start, below + end, found)
    return found


def _cells(state: Fields, view: View, lo: int, hi: int, found: np.ndarray) -> None:
    """Add those of features lo..hi-1 of one view."""
    rows = lo - view.first, hi - view.first
    y, known = view.arrays["y"][slice(*rows)].astype(float), known_of(view, *rows).astype(float)
    for g, out in enumerate(found):
        local.deviances(
            lo, hi, y, known * (state["group"] == g), state["kind"], of_group(state["mu"], g),
            of_group(state["null"], g), state["z"], state["w"], state["view"], out,
        )  # fmt: skip


def _bits(state: Fields, view: View, lo: int, hi: int, found: np.ndarray) -> None:
    """The same of bits, in float32."""
    z, y = state["z"].astype(np.float32), view.arrays["y"][lo - view.first : hi - view.first]
    x = state["w"][:, lo:hi].T.astype(np.float32) @ z
    for g, out in enumerate(found):
        own = y if len(found) == 1 else np.where(state["group"] == g, y, np.int8(-1))
        mu, null = of_group(state["mu"], g), of_group(state["null"], g)
        singles.deviances(lo, hi, own, x, z, mu, null, state["w"], state["view"], out)


def explained(deviance: np.ndarray) -> np.ndarray:
    """(K + 1, M) share of deviance explained; 0 where there is nothing to explain.

    The row of a factor is what it takes away when it is added to the intercepts alone, so that a factor without weights
    has 0; the last row is what all take away from the best constants. For Gaussian views both are 1 - SSE / SST.
    """
    none, base = deviance[-2], deviance[-1]
    gain = np.vstack([none - deviance[:-3], base - deviance[-3]])
    return np.where(base > 0, gain / np.where(base > 0, base, 1.0), 0.0)


def drop_weak(state: Fields, params: Settings) -> None:
    """Take out all factors that explain too little in every view and sample group; one factor always stays."""
    share = np.concatenate([explained(part)[:-1] for part in state["deviance"]], axis=1)
    weak = np.asarray((share < params["min_r2"]).all(axis=1))
    if params["min_r2"] == 0:
        weak = np.asarray((state["gamma"] < 0.01).all(axis=1))
    if weak.all():
        weak[share.max(axis=1).argmax()] = False
    if weak.any():
        keep_factors(state, np.flatnonzero(~weak))
        state["dropped"] += int(weak.sum())


def keep_factors(state: Fields, index: np.ndarray) -> None:
    """Only these factors, in this order."""
    for name in BY_FACTOR:
        state[name] = np.ascontiguousarray(state[name][index])
    if "smooth" in state:
        smooth.keep(state["smooth"], index)
