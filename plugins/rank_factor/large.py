"""A sweep over large data in another order of sums, so that rows and samples can be drawn by several threads at once.

Small data add up what every row says to each score, N symmetric matrices, while the rows are drawn one after the other. Of large data
the rows keep p and h of their cells, and a slice of samples makes the products for itself: no two slices write the same sums, and the N
matrices do not pass through memory for every few rows. The law of the sweep is the same; its numbers are not, as rows and samples
are drawn from generators of their slices (``Stage.streams``).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Literal

import numpy as np

from plaidwork.core.api import Stage
from plaidwork.plugins.rank_factor.kernels.solve import fill_outer, outer_packed, packed_size
from plaidwork.plugins.rank_factor.rows import Said
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import Fields, Floats, Kept

SLICE = 30_000_000
"""Work after which a slice ends, some 30 ms."""
TOGETHER = 4
"""The number of slices is a multiple of it, so that one, two or four threads end together."""


def even_slices(units: int, each: int) -> Callable[[int], int]:
    """Where the slice that begins at a unit ends; slices of like size, of so many ``units`` that take ``each`` of work."""
    count = min(units, TOGETHER * ceil(units * each / (TOGETHER * SLICE)))

    def end(lo: int) -> int:
        return -(-(lo + 1) * count // units) * units // count

    return end


def products(
    state: Fields, name: Literal["zz", "aa"], of: Literal["z", "a"], title: str, shapes: tuple[int, int]
) -> Stage:
    """A stage that makes (n, packed) products x x' of (n, K) scores or loadings."""
    n, k = shapes

    def begin() -> None:
        state[name] = np.zeros((n, packed_size(k)))  # a state is stored before all are filled

    def work(lo: int, hi: int) -> None:
        fill_outer(state[of][lo:hi], state[name][lo:hi])

    return Stage(title, work, n, even_slices(n, packed_size(k)), begin=begin, whole=False, parallel=True)


def uses_products(setup: Setup, of: Literal["z", "a"]) -> bool:
    """Whether the products of scores, or loadings, of all samples, or rows, are needed."""
    if setup.likelihood == "gaussian":
        return not setup.complete
    return of == "a" or setup.likelihood == "levels"


def begin_rows(state: Fields, setup: Setup) -> None:
    """Places for what the rows keep, and empty sums."""
    (d, n, _), k = setup.shape, state["z"].shape[1]
    state["precision"], state["linear"] = np.zeros((0, packed_size(k))), np.zeros((0, k))
    state["scale_precision"], state["scale_linear"] = np.zeros(packed_size(k)), np.zeros(k)
    if setup.pairs is not None:
        state["kappa"], state["w"] = np.zeros(len(setup.pairs.low)), np.zeros((n, d))
    if setup.likelihood != "gaussian":
        state["p"] = np.zeros((d, n))
    if setup.likelihood == "levels":
        state["h"] = np.zeros((d, n))
    if not uses_products(setup, "z"):
        state["zz"] = score_products(state, setup)


def score_products(state: Fields, setup: Setup) -> Floats:
    """(N, packed) products z z'; values without gaps take their sum (1, packed) alone, pairs none of them."""
    z = state["z"]
    return outer_packed(z) if uses_products(setup, "z") else packed(z.T @ z)[None]


def packed(square: Floats) -> Floats:
    """The lower triangle of a symmetric matrix, row by row."""
    return square[np.tril_indices(len(square))]


def keep_rows(state: Fields, lo: int, hi: int, said: Said) -> None:
    """Keep what rows lo to hi say of each cell. Values follow from the state."""
    if "p" in state:
        state["p"][lo:hi] = said.p
    if "h" in state and said.h is not None:
        state["h"][lo:hi] = said.h


def sample_terms(state: Fields, setup: Setup, lo: int, hi: int) -> tuple[Floats, Floats]:
    """What all rows say to the scores of samples lo to hi: precision (hi - lo, packed) and linear term (hi - lo, K)."""
    a, here = state["a"], slice(lo, hi)
    if setup.likelihood == "gaussian":
        weighed = state["gamma"][:, None] * a
        linear = setup.x[:, here].T @ weighed
        if setup.complete:
            return np.repeat(packed(weighed.T @ a)[None], hi - lo, axis=0), linear
        return (state["gamma"][:, None] * setup.known[:, here]).T @ state["aa"], linear
    precision = state["p"][:, here].T @ state["aa"]
    return precision, state["h"][:, here].T @ a if "h" in state else np.zeros((hi - lo, a.shape[1]))


def forget(state: Fields, *names: Kept) -> None:
    """Let go of what was kept for a later stage."""
    for name in names:
        state.pop(name, None)
