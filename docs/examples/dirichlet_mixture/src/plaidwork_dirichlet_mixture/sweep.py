"""The updates of a sweep: every item in turn (Neal 2000, algorithm 3), then split-merge moves (Jain & Neal 2004).

A split is launched by putting the items one after the other with one of two of them, each by its probability given those
before (Dahl 2005), and by restricted Gibbs scans from there: any launch that looks only at the items is right, and this
one parts groups that lie apart, where halves by chance are two of the same.

The items are counted and drawn by rows ``lo`` to ``hi``, which the host chooses. How many rows the moves will visit nobody
knows before they are made, so they are a machine whose position is in the arrays ``at`` and ``sums``: it can be left after
any row and taken up again. A call does a counted amount of work: never by the clock, or runs would not repeat.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from plaidwork_dirichlet_mixture.clusters import (
    Clusters,
    Items,
    Law,
    add,
    copy_cluster,
    draw_mean,
    log_marginal,
    log_predictive,
    remove,
    reset,
    standardise,
)

PHASE, ROW, HIGH, MOVE, SCAN, FIRST, SECOND, MEMBERS, SPLIT, TRIED, ACCEPTED, MOVED = range(12)
"""Places in ``at``: phase of the move under way and the next row of it, slots in use, the move, what was counted."""
LOG_Q, LOG_MARGINAL = range(2)
"""Places in ``sums``."""
PICK, SCANS, MERGE, DECIDE = range(4)
"""Phases of a move, in their order."""
DONE, UNFINISHED, CROWDED = range(3)
"""How a call ended; crowded: no slot is free, give more and call again."""


class Move(NamedTuple):
    """A split-merge move under way: its items but the two chosen ones, their sides, and the two halves."""

    members: np.ndarray
    """(n,) int64; the first ``at[MEMBERS]`` count"""
    side: np.ndarray
    """(n,) int64, 0 with the first chosen item, 1 with the second"""


def start_position() -> tuple[np.ndarray, np.ndarray]:
    """``at`` and ``sums`` before the first sweep."""
    return np.zeros(12, np.int64), np.zeros(2)


@njit(cache=True, nogil=True)
def work_per_row(d: int, full: bool) -> int:
    """Counted work of one density or update of a row."""
    return d * d // 2 + 12 * d + 40 if full else 30 * d + 40


@njit(cache=True, nogil=True)
def add_up(
    items: Items, z: np.ndarray, c: Clusters, k: int, law: Law, left_out: int, y: np.ndarray, work: np.ndarray
) -> None:
    """Cluster ``k`` from its members, but for one item."""
    reset(c, k, law)
    for i in range(z.size):
        if z[i] == k and i != left_out:
            standardise(items, i, y)
            add(c, k, y, items.known[i], law, work)
    if left_out >= 0:
        standardise(items, left_out, y)


@njit(cache=True, nogil=True)
def free_slot(c: Clusters, high: int) -> int:
    """The first free slot, -1 when there is none."""
    for k in range(high):
        if c.size[k] == 0:
            return k
    return high if high < c.size.size else -1


@njit(cache=True, nogil=True)
def choose(rng: np.random.Generator, weights: np.ndarray, n: int) -> int:
    """An index with probability proportional to the exponential of its weight; weights are overwritten."""
    top = weights[0]
    for k in range(1, n):
        top = max(top, weights[k])
    total = 0.0
    for k in range(n):
        total += math.exp(weights[k] - top)
        weights[k] = total
    mark = rng.random() * total
    for k in range(n - 1):
        if mark < weights[k]:
            return k
    return n - 1


@njit(cache=True, nogil=True)
def draw_label(
    rng: np.random.Generator,
    items: Items,
    i: int,
    z: np.ndarray,
    c: Clusters,
    law: Law,
    at: np.ndarray,
    weights: np.ndarray,
    slots: np.ndarray,
    y: np.ndarray,
    work: np.ndarray,
) -> int:
    """Take item ``i`` out of its cluster and draw one for it: an old one, or a new one. Needs a free slot."""
    standardise(items, i, y)
    old = z[i]
    if old >= 0 and not remove(c, old, y, items.known[i], law, work):
        add_up(items, z, c, old, law, i, y, work)
    new = free_slot(c, at[HIGH])
    reset(c, new, law)
    n = 0
    for k in range(at[HIGH]):
        if c.size[k] > 0:
            slots[n] = k
            weights[n] = math.log(c.size[k]) + log_predictive(c, k, y, items.known[i], law, work)
            n += 1
    slots[n] = new
    weights[n] = math.log(law.alpha) + log_predictive(c, new, y, items.known[i], law, work)
    lonely = old >= 0 and c.size[old] == 0
    k = slots[choose(rng, weights, n + 1)]
    if old >= 0 and k != old and not (lonely and k == new):
        at[MOVED] += 1
    z[i] = k
    add(c, k, y, items.known[i], law, work)
    at[HIGH] = max(at[HIGH], k + 1)
    return n


@njit(cache=True, nogil=True)
def pick_pair(rng: np.random.Generator, z: np.ndarray, move: Move, at: np.ndarray) -> None:
    """Two items by chance, and all others of their clusters in an order by chance."""
    n = z.size
    i = rng.integers(0, n)
    j = rng.integers(0, n - 1)
    j += j >= i
    count = 0
    for m in range(n):
        if m != i and m != j and (z[m] == z[i] or z[m] == z[j]):
            move.members[count] = m
            count += 1
    for p in range(count - 1, 0, -1):
        q = rng.integers(0, p + 1)
        move.members[p], move.members[q] = move.members[q], move.members[p]
    at[FIRST], at[SECOND], at[MEMBERS], at[SPLIT] = i, j, count, z[i] == z[j]


@njit(cache=True, nogil=True)
def seed_pair(
    items: Items, pair: Clusters, law: Law, at: np.ndarray, y: np.ndarray, work: np.ndarray
) -> None:
    """The two chosen items, each alone."""
    for side in range(2):
        i = at[FIRST + side]
        reset(pair, side, law)
        standardise(items, i, y)
        add(pair, side, y, items.known[i], law, work)


@njit(cache=True, nogil=True)
def add_up_side(
    items: Items,
    pair: Clusters,
    law: Law,
    move: Move,
    at: np.ndarray,
    side: int,
    left_out: int,
    y: np.ndarray,
    work: np.ndarray,
) -> None:
    """One half from its members, but for one place in the list."""
    i = at[FIRST + side]
    reset(pair, side, law)
    standardise(items, i, y)
    add(pair, side, y, items.known[i], law, work)
    for p in range(at[MEMBERS]):
        if move.side[p] == side and p != left_out:
            standardise(items, move.members[p], y)
            add(pair, side, y, items.known[move.members[p]], law, work)
    standardise(items, move.members[left_out], y)


@njit(cache=True, nogil=True)
def draw_side(
    rng: np.random.Generator,
    items: Items,
    p: int,
    z: np.ndarray,
    pair: Clusters,
    law: Law,
    move: Move,
    at: np.ndarray,
    sums: np.ndarray,
    scan: int,
    last: int,
    y: np.ndarray,
    work: np.ndarray,
) -> None:
    """Draw the side of one member given the others, or, in scan -1, given those that have one already.

    In the last scan of a merge it goes where it is now. The probability of what the last scan does is kept.
    """
    i = move.members[p]
    standardise(items, i, y)
    if scan >= 0 and not remove(pair, move.side[p], y, items.known[i], law, work):
        add_up_side(items, pair, law, move, at, move.side[p], p, y, work)
    gap = math.log(pair.size[1]) + log_predictive(pair, 1, y, items.known[i], law, work)
    gap -= math.log(pair.size[0]) + log_predictive(pair, 0, y, items.known[i], law, work)
    if scan == last and not at[SPLIT]:
        side = 0 if z[i] == z[at[FIRST]] else 1
    else:
        tail = math.exp(-abs(gap))
        least = tail / (1.0 + tail)
        side = 1 if rng.random() < (1.0 - least if gap > 0.0 else least) else 0
    if scan == last:
        away = gap if side == 0 else -gap
        sums[LOG_Q] -= max(away, 0.0) + math.log1p(math.exp(-abs(away)))
    move.side[p] = side
    add(pair, side, y, items.known[i], law, work)


@njit(cache=True, nogil=True)
def decide(
    rng: np.random.Generator,
    z: np.ndarray,
    c: Clusters,
    pair: Clusters,
    law: Law,
    move: Move,
    at: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Accept or refuse the move; ``log A(split) = log alpha + log B(a, b) + log m_a m_b / m_ab - log q``."""
    a, b = z[at[FIRST]], z[at[SECOND]]
    n_a, n_b = pair.size[0], pair.size[1]
    gain = math.log(law.alpha) + math.lgamma(n_a) + math.lgamma(n_b) - math.lgamma(n_a + n_b)
    gain += log_marginal(pair, 0, law) + log_marginal(pair, 1, law)
    gain -= log_marginal(c, a, law) if at[SPLIT] else log_marginal(pair, 2, law)
    gain -= sums[LOG_Q]
    if not at[SPLIT]:
        gain = -gain
    if math.log(max(rng.random(), 1e-300)) >= gain:
        return
    at[ACCEPTED] += 1
    if at[SPLIT]:
        new = free_slot(c, at[HIGH])
        copy_cluster(pair, 0, c, new)
        copy_cluster(pair, 1, c, b)
        z[at[FIRST]] = new
        for p in range(at[MEMBERS]):
            z[move.members[p]] = new if move.side[p] == 0 else b
        at[HIGH] = max(at[HIGH], new + 1)
    else:
        copy_cluster(pair, 2, c, b)
        reset(c, a, law)
        z[at[FIRST]] = b
        for p in range(at[MEMBERS]):
            z[move.members[p]] = b


@njit(cache=True, nogil=True)
def finish(
    rng: np.random.Generator, z: np.ndarray, c: Clusters, law: Law, at: np.ndarray, sums: np.ndarray
) -> None:
    """Number the clusters by first appearance, add up their log densities and draw their means."""
    label, sizes = np.empty(at[HIGH], np.int64), np.empty(at[HIGH], np.int64)
    for k in range(at[HIGH]):
        label[k] = -1
    count = 0
    sums[LOG_MARGINAL] = 0.0
    for i in range(z.size):
        k = z[i]
        if label[k] < 0:
            label[k] = count
            sizes[count] = c.size[k]
            sums[LOG_MARGINAL] += log_marginal(c, k, law)
            draw_mean(rng, c, k, law, c.drawn[count])
            count += 1
        z[i] = label[k]
    for k in range(c.size.size):
        c.size[k] = sizes[k] if k < count else 0
    at[HIGH] = count


@njit(cache=True, nogil=True)
def begin(z: np.ndarray, c: Clusters, law: Law, at: np.ndarray) -> None:
    """Empty all slots that the labels use."""
    at[HIGH] = 0
    for i in range(z.size):
        at[HIGH] = max(at[HIGH], z[i] + 1)
    for k in range(at[HIGH]):
        reset(c, k, law)
    at[TRIED] = at[ACCEPTED] = at[MOVED] = at[MOVE] = at[PHASE] = at[ROW] = 0


@njit(cache=True, nogil=True)
def count_items(items: Items, z: np.ndarray, c: Clusters, law: Law, lo: int, hi: int) -> None:
    """Put items ``lo`` to ``hi`` into the clusters that their labels name."""
    y, work = np.empty(items.x.shape[1]), np.empty(items.x.shape[1])
    for i in range(lo, hi):
        if z[i] >= 0:
            standardise(items, i, y)
            add(c, z[i], y, items.known[i], law, work)


@njit(cache=True, nogil=True)
def draw_labels(
    rng: np.random.Generator,
    items: Items,
    z: np.ndarray,
    c: Clusters,
    law: Law,
    at: np.ndarray,
    lo: int,
    hi: int,
) -> int:
    """Draw the clusters of items ``lo`` to ``hi``; returns the first one that is not drawn, for want of a free slot."""
    y, work = np.empty(items.x.shape[1]), np.empty(items.x.shape[1])
    weights, slots = np.empty(c.size.size + 1), np.empty(c.size.size + 1, np.int64)
    for i in range(lo, hi):
        if free_slot(c, at[HIGH]) < 0:
            return i
        draw_label(rng, items, i, z, c, law, at, weights, slots, y, work)
    return hi


@njit(cache=True, nogil=True)
def make_moves(
    rng: np.random.Generator,
    items: Items,
    z: np.ndarray,
    c: Clusters,
    pair: Clusters,
    move: Move,
    law: Law,
    at: np.ndarray,
    sums: np.ndarray,
    n_moves: int,
    n_scans: int,
    budget: int,
) -> int:
    """Go on with the moves until all are made or ``budget`` is used up; everything is changed in place."""
    n, d = items.x.shape
    unit = work_per_row(d, law.full)
    y, work = np.empty(d), np.empty(d)
    while budget > 0:
        phase, row = at[PHASE], at[ROW]
        at[ROW] += 1
        if phase == PICK:
            at[ROW] = 0
            if at[MOVE] >= n_moves or n < 2:
                return DONE
            if free_slot(c, at[HIGH]) < 0:
                return CROWDED
            at[MOVE] += 1
            at[TRIED] += 1
            pick_pair(rng, z, move, at)
            seed_pair(items, pair, law, at, y, work)
            sums[LOG_Q] = 0.0
            at[SCAN] = -1
            at[PHASE] = SCANS
            budget -= 4 * unit + 4 * n
        elif phase == SCANS:
            if row < at[MEMBERS]:
                draw_side(rng, items, row, z, pair, law, move, at, sums, at[SCAN], n_scans, y, work)
                budget -= 6 * unit
            elif at[SCAN] < n_scans:
                at[SCAN] += 1
                at[ROW] = 0
            else:
                at[PHASE], at[ROW] = (DECIDE if at[SPLIT] else MERGE), 0
        elif phase == MERGE:
            if row == 0:
                copy_cluster(c, z[at[FIRST]], pair, 2)
                standardise(items, at[SECOND], y)
                add(pair, 2, y, items.known[at[SECOND]], law, work)
            if row < at[MEMBERS]:
                i = move.members[row]
                if z[i] == z[at[SECOND]]:
                    standardise(items, i, y)
                    add(pair, 2, y, items.known[i], law, work)
                    budget -= 2 * unit
            else:
                at[PHASE], at[ROW] = DECIDE, 0
        else:
            decide(rng, z, c, pair, law, move, at, sums)
            at[PHASE], at[ROW] = PICK, 0
            budget -= 4 * unit
    return UNFINISHED
