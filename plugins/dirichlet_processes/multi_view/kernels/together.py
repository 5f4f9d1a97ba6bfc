"""All of a sweep but the end of it in one kernel, for few samples: five calls, with their tuples of arrays, took as long as half of the work."""

from __future__ import annotations

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed
from plaidwork.plugins.dirichlet_processes.multi_view.kernels import block_moves, cluster_moves
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import Bag, Bases, Flat, Links
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.samples import (
    begin_counting,
    count_rows,
    draw_blocks,
    draw_samples,
)

move_blocks, move_clusters = block_moves.make_moves, cluster_moves.make_moves
COUNTING, SAMPLES, BLOCKS, MOVES_OF_BLOCKS = range(4)
DONE = 5
"""Stages; that before the end are moves of clusters."""


@njit(nogil=True, cache=True, error_model="numpy")
def draw_all(
    rng: np.random.Generator,
    bag: Bag,
    bases: Bases,
    flat: Flat,
    pair: Flat,
    links: Links,
    sides: Links,
    threes: np.ndarray,
    a0: float,
    order: np.ndarray,
    t: np.ndarray,
    z: np.ndarray,
    fresh: np.ndarray,
    scans: int,
    tried: tuple[int, int],
    at: np.ndarray,
    place: np.ndarray,
) -> bool:
    """The stages from ``place`` (stage, sample or move) on; False where it stopped there for want of room, to be called again with more.

    ``tried`` moves of blocks and of clusters; the other arguments as the stages have them.
    """
    rng, bag, bases, flat = borrowed(rng), borrowed(bag), borrowed(bases), borrowed(flat)
    pair, links, sides, threes = borrowed(pair), borrowed(links), borrowed(sides), borrowed(threes)
    order, t, z, fresh, at = borrowed(order), borrowed(t), borrowed(z), borrowed(fresh), borrowed(at)
    while place[0] < DONE:
        stage, lo, hi = place[0], place[1], t.size
        if stage == COUNTING:
            begin_counting(bag, bases, flat, links, z, at)
            count_rows(bag, bases, flat, pair, links, t, z, fresh, threes, 0, hi)
            lo = hi
        elif stage == SAMPLES:
            lo = draw_samples(rng, bag, bases, flat, links, a0, order, t, z, fresh, at, lo, hi)
        elif stage == BLOCKS:
            lo = draw_blocks(rng, bag.has, links, a0, t, z, lo, hi)
        elif stage == MOVES_OF_BLOCKS:
            hi = tried[0]
            lo = move_blocks(rng, bag.has, links, sides, a0, t, z, scans, at, lo, hi)
        else:
            hi = tried[1]
            lo = move_clusters(rng, bag, bases, flat, pair, links, threes, t, z, scans, at, lo, hi)
        if lo < hi:
            place[1] = lo
            return False
        place[0], place[1] = stage + 1, 0
    return True
