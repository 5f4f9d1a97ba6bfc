"""Split-merge moves of blocks, clusters and weights fixed (Jain and Neal 2004, section 3.2).

Two samples by chance, their block split or their blocks merged, the others placed one after the other, then restricted scans of which
the last is scored. In a merge the launch is drawn anew and the last scan forced to where the samples are. Side 0 has the first
chosen sample; a side's clusters are counted in a row of ``Links`` of three blocks: the two sides and both together.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import Links
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.samples import (
    BLOCK_MOVES,
    BLOCK_TRIES,
    LEAST,
    free_block,
    put,
)

MOST = 1e300
"""The largest odds."""


@njit(nogil=True, cache=True, error_model="numpy")
def log_block(links: Links, k: int) -> float:
    """Log probability of the clusters of all samples of block ``k``, its shares integrated out."""
    links, total = borrowed(links), 0.0
    for v in range(links.slots.size):
        alpha = links.alpha[v]
        total += math.lgamma(alpha) - math.lgamma(alpha + links.present[k, v])
        for s in range(links.first[v], links.first[v] + links.high[v]):
            if links.uses[k, s] > 0:
                total += math.lgamma(alpha * links.beta[s] + links.uses[k, s]) - math.lgamma(
                    alpha * links.beta[s]
                )
    return total


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def odds_of(sides: Links, has: np.ndarray, z: np.ndarray, i: int) -> float:
    """How much likelier sample ``i`` is in the first side than in the second, given its clusters."""
    odds = sides.members[0] / sides.members[1]
    for v in range(has.shape[0]):
        if has[v, i]:
            s, alpha = sides.first[v] + z[v, i], sides.alpha[v]
            weight = alpha * sides.beta[s]
            above = (sides.uses[0, s] + weight) * (sides.present[1, v] + alpha)
            odds *= above / ((sides.uses[1, s] + weight) * (sides.present[0, v] + alpha))
    return min(max(odds, LEAST), MOST)


@njit(nogil=True, cache=True, error_model="numpy")
def place_others(
    rng: np.random.Generator,
    has: np.ndarray,
    sides: Links,
    z: np.ndarray,
    t: np.ndarray,
    others: np.ndarray,
    side: np.ndarray,
    now: int,
    split: bool,
    scan: int,
    scored: bool,
) -> float:
    """One pass over the others, each to one of the two sides; its log probability where it is scored.

    In scan -1 they have no side yet. A scored pass of a merge goes where the samples are; ``now`` is the block of side 0.
    """
    rng, has, sides, z, t = borrowed(rng), borrowed(has), borrowed(sides), borrowed(z), borrowed(t)
    others, side, log_q = borrowed(others), borrowed(side), 0.0
    for p in range(others.size):
        i = others[p]
        if scan >= 0:
            put(sides, has, z, i, side[p], -1)
        odds = odds_of(sides, has, z, i)
        if scored and not split:
            side[p] = 0 if t[i] == now else 1
        else:
            side[p] = 1 if rng.random() * (1.0 + odds) < 1.0 else 0
        if scored:
            log_q += math.log((odds if side[p] == 0 else 1.0) / (1.0 + odds))
        put(sides, has, z, i, side[p], 1)
    return log_q


@njit(nogil=True, cache=True, error_model="numpy")
def log_gain(sides: Links, a0: float) -> float:
    """What a split into the first two sides has for itself but for the probability of its proposal; both together become the third."""
    sides = borrowed(sides)
    sides.members[2] = sides.members[0] + sides.members[1]
    sides.present[2] = sides.present[0] + sides.present[1]
    sides.uses[2] = sides.uses[0] + sides.uses[1]
    gain = math.log(a0) + math.lgamma(sides.members[0]) + math.lgamma(sides.members[1])
    gain -= math.lgamma(sides.members[2])
    return gain + log_block(sides, 0) + log_block(sides, 1) - log_block(sides, 2)


@njit(nogil=True, cache=True, error_model="numpy")
def try_move(
    rng: np.random.Generator,
    has: np.ndarray,
    links: Links,
    sides: Links,
    a0: float,
    t: np.ndarray,
    z: np.ndarray,
    scans: int,
    at: np.ndarray,
) -> None:
    """One split or merge, accepted or refused; needs a free block and two samples. ``sides`` has three blocks."""
    rng, has, links, sides = borrowed(rng), borrowed(has), borrowed(links), borrowed(sides)
    t, z, at = borrowed(t), borrowed(z), borrowed(at)
    n = t.size
    first, second = rng.integers(0, n), rng.integers(0, n - 1)
    second += second >= first
    a, b = t[first], t[second]
    split = a == b
    level, gain = math.log(max(rng.random(), LEAST)), 0.0
    at[BLOCK_TRIES] += 1
    if (
        not split
    ):  # the way back has a probability of 1 at most: what even that would not save needs no launch
        for k in range(2):
            block = a if k == 0 else b
            sides.members[k] = links.members[block]
            sides.present[k] = links.present[block]
            sides.uses[k] = links.uses[block]
        gain = log_gain(sides, a0)
        if level >= -gain:
            return
    others, count = np.empty(n, np.int64), 0
    for i in range(n):
        if i != first and i != second and (t[i] == a or t[i] == b):
            others[count] = i
            count += 1
    others = others[:count]
    for p in range(count - 1, 0, -1):
        q = rng.integers(0, p + 1)
        others[p], others[q] = others[q], others[p]
    side = np.zeros(count, np.int64)
    sides.members[:] = 0
    sides.present[:] = 0
    sides.uses[:] = 0
    put(sides, has, z, first, 0, 1)
    put(sides, has, z, second, 1, 1)
    log_q = 0.0
    for scan in range(-1, scans + 1):
        log_q = place_others(rng, has, sides, z, t, others, side, a, split, scan, scan == scans)
    if split:
        gain = log_gain(sides, a0)
    gain -= log_q
    if level >= (gain if split else -gain):
        return
    at[BLOCK_MOVES] += 1
    go_to, come_from = (free_block(links), b) if split else (b, a)
    for p in range(-1, count):
        if p < 0 or side[p] == 0:
            moved = first if p < 0 else others[p]
            put(links, has, z, moved, come_from, -1)
            put(links, has, z, moved, go_to, 1)
            t[moved] = go_to


@njit(nogil=True, cache=True, error_model="numpy")
def make_moves(
    rng: np.random.Generator,
    has: np.ndarray,
    links: Links,
    sides: Links,
    a0: float,
    t: np.ndarray,
    z: np.ndarray,
    scans: int,
    at: np.ndarray,
    lo: int,
    hi: int,
) -> int:
    """Moves ``lo`` to ``hi`` of a sweep; the first one not made for want of room."""
    for move in range(lo, hi):
        if free_block(links) < 0:
            return move
        try_move(rng, has, links, sides, a0, t, z, scans, at)
    return hi
