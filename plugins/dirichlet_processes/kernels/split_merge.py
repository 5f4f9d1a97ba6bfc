"""Split-merge moves: two rows by chance, their cluster split, or their clusters merged.

A split is launched by placing the other rows one after the other with one of the two, each by its probability given those before
(Dahl 2005); restricted Gibbs scans from there follow (Jain and Neal 2004, section 3.2), of which the last is scored. With ``scans``
= -1 the sequential pass itself is scored: Dahl's move. In a merge the launch is drawn anew and the last pass is forced to the
present state, so that its probability is that of the way back.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.clusters import (
    add,
    copy_cluster,
    log_marginal,
    log_predictive,
    remove,
    reset,
)
from plaidwork.plugins.dirichlet_processes.kernels.forms import FIRST, SECOND, THIRD, Clusters, Items, Law
from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed
from plaidwork.plugins.dirichlet_processes.kernels.scan import ACCEPTED, HIGH, NUMBER, TRIED, free_slot


class Move(NamedTuple):
    """Two chosen rows, the other rows of their clusters in an order by chance, and what they are now."""

    first: np.int64
    second: np.int64
    others: np.ndarray
    split: bool
    """Whether the two are in one cluster now."""


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def member(rng: np.random.Generator, z: np.ndarray, c: Clusters, k: int, without: int) -> int:
    """A row of cluster ``k`` by chance, but not ``without``; -1 where there is none. O(n)."""
    left = c.size[k] - (without >= 0 and z[without] == k)
    if left == 0:
        return -1
    place = rng.integers(0, left)
    for i in range(z.size):
        if z[i] == k and i != without:
            if place == 0:
                return i
            place -= 1
    return -1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def used_slot(rng: np.random.Generator, c: Clusters, high: int, without: int) -> int:
    """One of the slots in use by chance, but not ``without``."""
    k = rng.integers(0, high)
    while c.size[k] == 0 or k == without:
        k = rng.integers(0, high)
    return int(k)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def pick(rng: np.random.Generator, z: np.ndarray, c: Clusters, at: np.ndarray, by_cluster: bool) -> Move:
    """Two rows by chance, and all others of their clusters in an order by chance. O(n).

    By cluster: every other time two rows of one cluster, which is split, else one row of each of two, which are merged; the clusters by chance,
    whatever their sizes. The second row is -1 where there are not two.
    """
    n, i, j = z.size, np.int64(-1), np.int64(-1)
    if by_cluster:
        split = rng.random() < 0.5
        k = used_slot(rng, c, at[HIGH], -1)
        i = member(rng, z, c, k, -1)
        if split:
            j = member(rng, z, c, k, i)
        elif at[NUMBER] > 1:
            j = member(rng, z, c, used_slot(rng, c, at[HIGH], k), -1)
        if j < 0:
            return Move(i, j, np.empty(0, np.int64), split)
    else:
        i = rng.integers(0, n)
        j = rng.integers(0, n - 1)
        j += j >= i
    others = np.empty(n, np.int64)
    count = 0
    for m in range(n):
        if m != i and m != j and (z[m] == z[i] or z[m] == z[j]):
            others[count] = m
            count += 1
    for p in range(count - 1, 0, -1):
        q = rng.integers(0, p + 1)
        others[p], others[q] = others[q], others[p]
    return Move(i, j, others[:count], z[i] == z[j])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def place_others(
    rng: np.random.Generator,
    items: Items,
    z: np.ndarray,
    pair: Clusters,
    law: Law,
    move: Move,
    side: np.ndarray,
    scan: int,
    scored: bool,
) -> float:
    """One pass over the other rows, each to one of the two sides; its log probability where it is scored.

    In scan -1 they have no side yet. A scored pass of a merge goes where the rows are now.
    """
    rng, items, z, pair, law = borrowed(rng), borrowed(items), borrowed(z), borrowed(pair), borrowed(law)
    move, side, log_q = borrowed(move), borrowed(side), 0.0
    for p in range(move.others.size):
        i = move.others[p]
        if scan >= 0:
            remove(pair, side[p], items, i, law)
        gap = 0.0
        for k in range(2):  # a loop, so that the density is compiled once
            gap = (
                math.log(pair.size[k] + law.shift) + law.power * log_predictive(pair, k, items, i, law) - gap
            )
        if scored and not move.split:
            side[p] = 0 if z[i] == z[move.first] else 1
        else:
            tail = math.exp(-abs(gap))
            least = tail / (1.0 + tail)
            side[p] = 1 if rng.random() < (1.0 - least if gap > 0.0 else least) else 0
        if scored:
            away = gap if side[p] == 0 else -gap
            log_q -= max(away, 0.0) + math.log1p(math.exp(-abs(away)))
        add(pair, side[p], items, i, law)
    return log_q


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def put_together(items: Items, z: np.ndarray, c: Clusters, pair: Clusters, law: Law, move: Move) -> None:
    """The two clusters of a merge as they are into the first two slots, and into the third the larger with the rows of the smaller."""
    a, b = z[move.first], z[move.second]
    copy_cluster(c, a, pair, FIRST)
    copy_cluster(c, b, pair, SECOND)
    small = a if c.size[a] < c.size[b] else b
    copy_cluster(c, b if small == a else a, pair, THIRD)
    for p in range(-1, move.others.size):
        i = move.others[p] if p >= 0 else (move.first if small == a else move.second)
        if z[i] == small:
            add(pair, THIRD, items, i, law)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def log_gain(
    c: Clusters, z: np.ndarray, pair: Clusters, law: Law, move: Move, number: int, by_cluster: bool
) -> float:
    """``log p(two) - log p(one) + log m_a m_b / m_ab``, and what the choice of the clusters has more for the merge than for the split.

    ``number`` counts the clusters before the split. By cluster a split has ``1 / number`` and two of m rows in order, the merge of its
    sides ``1 / ((number + 1) number)`` and one row of each.
    """
    s = law.shift
    n_a, n_b = pair.size[FIRST] + s, pair.size[SECOND] + s
    out = law.log_new[number] + math.lgamma(n_a) + math.lgamma(n_b) - math.lgamma(1.0 + s)
    out -= math.lgamma(n_a + n_b - s)
    out += law.power * (log_marginal(pair, FIRST, law) + log_marginal(pair, SECOND, law))
    if by_cluster:
        rows = pair.size[FIRST] + pair.size[SECOND]
        out += math.log(rows * (rows - 1.0))
        out -= math.log((number + 1.0) * pair.size[FIRST] * pair.size[SECOND])
    out -= law.power * (log_marginal(c, z[move.first], law) if move.split else log_marginal(pair, THIRD, law))
    return out


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def carry_out(
    z: np.ndarray,
    c: Clusters,
    pair: Clusters,
    law: Law,
    move: Move,
    side: np.ndarray,
    at: np.ndarray,
    complete: bool,
) -> None:
    """Do what was accepted."""
    a, b = z[move.first], z[move.second]
    if move.split:
        new = free_slot(c, at[HIGH])
        copy_cluster(pair, FIRST, c, new)
        copy_cluster(pair, SECOND, c, b)
        z[move.first] = new
        for p in range(move.others.size):
            z[move.others[p]] = new if side[p] == 0 else b
        at[HIGH] = max(at[HIGH], new + 1)
        at[NUMBER] += 1
        return
    copy_cluster(pair, THIRD, c, b)
    reset(c, a, law, complete)
    z[move.first] = b
    for p in range(move.others.size):
        z[move.others[p]] = b
    at[NUMBER] -= 1


@njit(nogil=True, cache=True, error_model="numpy")
def make_moves(
    rng: np.random.Generator,
    items: Items,
    z: np.ndarray,
    c: Clusters,
    pair: Clusters,
    law: Law,
    at: np.ndarray,
    lo: int,
    hi: int,
    scans: int,
    by_rows: int,
) -> int:
    """Moves ``lo`` to ``hi`` of a sweep, each accepted or refused, every second one Dahl's; the first one not made for want of a slot.

    The first ``by_rows`` choose two rows, which come from large clusters most often, those after them clusters.

    Needs two rows; ``pair`` has three slots. One function, as numba compiles all that a kernel calls once more with it. The number that
    decides is drawn first: the way back has a probability of 1 at most, so that a merge which even that would not save, as most are, is
    refused without a launch.
    """
    rng, items, z, c, pair = borrowed(rng), borrowed(items), borrowed(z), borrowed(c), borrowed(pair)
    law, at = borrowed(law), borrowed(at)
    for number in range(lo, hi):
        if free_slot(c, at[HIGH]) < 0:
            return number
        by_cluster = number >= by_rows
        move, last = pick(rng, z, c, at, by_cluster), scans if number % 2 == 0 else -1
        if move.second < 0:
            continue
        level, gain = math.log(max(rng.random(), 1e-300)), 0.0
        at[TRIED] += 1
        if not move.split:
            put_together(items, z, c, pair, law, move)
            gain = log_gain(c, z, pair, law, move, at[NUMBER] - 1, by_cluster)
            if level >= -gain:
                continue
        side = np.zeros(move.others.size, np.int64)
        for k in range(2):
            reset(pair, k, law, items.complete)
            add(pair, k, items, move.first if k == 0 else move.second, law)
        log_q = 0.0
        for scan in range(-1, last + 1):
            log_q = place_others(rng, items, z, pair, law, move, side, scan, scan == last)
        if move.split:
            gain = log_gain(c, z, pair, law, move, at[NUMBER], by_cluster)
        gain -= log_q
        if level < (gain if move.split else -gain):
            at[ACCEPTED] += 1
            carry_out(z, c, pair, law, move, side, at, items.complete)
    return hi
