"""Split-merge moves of the clusters of one view, with the weights beta explicit and blocks in the part of documents.

In a split the cluster with weight b gets parts ``u b`` and ``(1 - u) b``, u uniform; its other samples are placed one after the other,
then restricted Gibbs scans follow, of which the last is scored (Jain and Neal 2004, section 3.2). In a merge the launch is drawn anew and
the last scan forced; as that has a probability of 1 at most, a merge that even so would be refused needs no launch. The weights of a Dirichlet process are atoms of intensity ``gamma / b``, so that the ratio of the priors has
``gamma / (u (1 - u))``, the Jacobian b within.
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
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import (
    Bag,
    Bases,
    Flat,
    Links,
    clusters_of,
    items_of,
    law_of,
)
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.samples import LEAST, MOVES, TRIES


class Sides(NamedTuple):
    """The two sides of a move."""

    others: np.ndarray
    """(m,) the other samples, in an order by chance"""
    own: np.ndarray
    """(2, K) samples by block"""
    weights: np.ndarray
    """(2,) alpha times the part of beta"""
    split: bool


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False)
def log_places(own: np.ndarray, weight: float) -> float:
    """Sum over blocks of ``log Gamma(weight + n_k) / Gamma(weight)``; own (K,)."""
    out = 0.0
    for k in range(own.size):
        if own[k] > 0:
            out += math.lgamma(weight + own[k]) - math.lgamma(weight)
    return out


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def place_others(
    rng: np.random.Generator,
    items: Items,
    z: np.ndarray,
    t: np.ndarray,
    pair: Clusters,
    law: Law,
    sides: Sides,
    side: np.ndarray,
    now: int,
    scan: int,
    scored: bool,
) -> float:
    """One pass over the other samples; its log probability where it is scored. ``now`` is the cluster of side 0."""
    sides, side, log_q = borrowed(sides), borrowed(side), 0.0
    for p in range(sides.others.size):
        i = sides.others[p]
        if scan >= 0:
            remove(pair, side[p], items, i, law)
            sides.own[side[p], t[i]] -= 1.0
        gap = 0.0
        for k in range(2):  # a loop, so that the density is compiled once
            gap = log_predictive(pair, k, items, i, law) - gap
        gap += math.log((sides.own[1, t[i]] + sides.weights[1]) / (sides.own[0, t[i]] + sides.weights[0]))
        tail = math.exp(-abs(gap))
        if scored and not sides.split:
            side[p] = 0 if z[i] == now else 1
        else:
            least = tail / (1.0 + tail)
            side[p] = 1 if rng.random() < (1.0 - least if gap > 0.0 else least) else 0
        if scored:
            away = gap if side[p] == 0 else -gap
            log_q -= max(away, 0.0) + math.log1p(tail)
        add(pair, side[p], items, i, law)
        sides.own[side[p], t[i]] += 1.0
    return log_q


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False)
def log_gain(c: Clusters, pair: Clusters, law: Law, sides: Sides, a: int, gamma: float, u: float) -> float:
    """What a split into these sides has for itself but for the probability of its proposal; a merge of them has the opposite."""
    out = math.log(gamma) - math.log(u) - math.log(1.0 - u)
    for s in range(2):
        out += log_places(sides.own[s], sides.weights[s]) + log_marginal(pair, s, law)
    out -= log_places(sides.own[0] + sides.own[1], sides.weights[0] + sides.weights[1])
    return out - (log_marginal(c, a, law) if sides.split else log_marginal(pair, THIRD, law))


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False)
def pick(rng: np.random.Generator, z: np.ndarray) -> tuple[int, int]:
    """Two different samples that have the view, by chance; -1 where there are not two."""
    n, here = z.size, np.empty(z.size, np.int64)
    count = 0
    for i in range(n):
        if z[i] >= 0:
            here[count] = i
            count += 1
    if count < 2:
        return -1, -1
    first = rng.integers(0, count)
    second = rng.integers(0, count - 1)
    second += second >= first
    return here[first], here[second]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False)
def gather(
    rng: np.random.Generator, z: np.ndarray, t: np.ndarray, first: int, second: int, blocks: int
) -> Sides:
    """The sides with the two chosen samples alone."""
    others, count = np.empty(z.size, np.int64), 0
    for i in range(z.size):
        if i != first and i != second and (z[i] == z[first] or z[i] == z[second]):
            others[count] = i
            count += 1
    for p in range(count - 1, 0, -1):
        q = rng.integers(0, p + 1)
        others[p], others[q] = others[q], others[p]
    own = np.zeros((2, blocks))
    own[0, t[first]] += 1.0
    own[1, t[second]] += 1.0
    return Sides(others[:count], own, np.zeros(2), z[first] == z[second])


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False)
def put_together(
    items: Items, law: Law, c: Clusters, pair: Clusters, links: Links, v: int, own: np.ndarray, z: np.ndarray, a: int, b: int
) -> None:  # fmt: skip
    """Clusters ``a`` and ``b`` as they are into the first two slots and rows of ``own``; the larger with the samples of the smaller into the third slot."""
    copy_cluster(c, a, pair, FIRST)
    copy_cluster(c, b, pair, SECOND)
    for k in range(own.shape[1]):
        own[0, k] = links.uses[k, links.first[v] + a]
        own[1, k] = links.uses[k, links.first[v] + b]
    small = a if c.size[a] < c.size[b] else b
    copy_cluster(c, b if small == a else a, pair, THIRD)
    for i in range(z.size):
        if z[i] == small:
            add(pair, THIRD, items, i, law)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False)
def carry_out(
    z: np.ndarray,
    t: np.ndarray,
    c: Clusters,
    pair: Clusters,
    law: Law,
    links: Links,
    v: int,
    sides: Sides,
    side: np.ndarray,
    first: int,
    a: int,
    b: int,
    complete: bool,
) -> None:
    """Move side 0 to cluster ``a`` and leave the others in ``b`` (split), or all from ``a`` to ``b`` (merge)."""
    come_from, go_to = (b, a) if sides.split else (a, b)
    for p in range(-1, sides.others.size):
        if p < 0 or side[p] == 0:
            i = first if p < 0 else sides.others[p]
            z[i] = go_to
            links.uses[t[i], links.first[v] + come_from] -= 1
            links.uses[t[i], links.first[v] + go_to] += 1
    if sides.split:
        copy_cluster(pair, FIRST, c, a)
        copy_cluster(pair, SECOND, c, b)
    else:
        copy_cluster(pair, THIRD, c, b)
        reset(c, a, law, complete)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def try_move(
    rng: np.random.Generator,
    items: Items,
    law: Law,
    c: Clusters,
    pair: Clusters,
    links: Links,
    v: int,
    t: np.ndarray,
    z: np.ndarray,
    scans: int,
    at: np.ndarray,
) -> None:
    """One split or merge in view ``v``, accepted or refused; needs a free slot. z (n,) is of this view, ``pair`` has three slots."""
    first, second = pick(rng, z)
    if first < 0:
        return
    a, b = z[first], z[second]
    at_a, at_b = links.first[v] + a, links.first[v] + b
    sides = gather(rng, z, t, first, second, links.members.size)
    whole = links.beta[at_a] if sides.split else links.beta[at_a] + links.beta[at_b]
    u = rng.random() if sides.split else links.beta[at_a] / whole
    u = min(max(u, 1e-12), 1.0 - 1e-12)
    alpha = links.alpha[v]
    sides.weights[0], sides.weights[1] = alpha * u * whole, alpha * (1.0 - u) * whole
    level, gain = math.log(max(rng.random(), LEAST)), 0.0
    at[TRIES] += 1
    if not sides.split:
        put_together(items, law, c, pair, links, v, sides.own, z, a, b)
        gain = log_gain(c, pair, law, sides, a, links.gamma[v], u)
        if level >= -gain:
            return
        sides.own[:] = 0.0
        sides.own[0, t[first]] += 1.0
        sides.own[1, t[second]] += 1.0
    side = np.zeros(sides.others.size, np.int64)
    for k in range(2):
        reset(pair, k, law, items.complete)
        add(pair, k, items, first if k == 0 else second, law)
    log_q = 0.0
    for scan in range(-1, scans + 1):
        log_q = place_others(rng, items, z, t, pair, law, sides, side, a, scan, scan == scans)
    if sides.split:
        gain = log_gain(c, pair, law, sides, a, links.gamma[v], u)
    gain -= log_q
    if level >= (gain if sides.split else -gain):
        return
    at[MOVES] += 1
    if sides.split:
        a = links.high[v]
        links.high[v] += 1
        links.beta[links.first[v] + a], links.beta[at_b] = u * whole, (1.0 - u) * whole
    else:
        links.beta[at_a], links.beta[at_b] = 0.0, whole
    carry_out(z, t, c, pair, law, links, v, sides, side, first, a, b, items.complete)


@njit(nogil=True, cache=True, error_model="numpy")
def make_moves(
    rng: np.random.Generator,
    bag: Bag,
    bases: Bases,
    flat: Flat,
    pair: Flat,
    links: Links,
    threes: np.ndarray,
    t: np.ndarray,
    z: np.ndarray,
    scans: int,
    at: np.ndarray,
    lo: int,
    hi: int,
) -> int:
    """Moves ``lo`` to ``hi`` of a sweep, the views in turn, every second round with scans; the first not made for want of room."""
    bag, bases, flat, pair, links = (
        borrowed(bag),
        borrowed(bases),
        borrowed(flat),
        borrowed(pair),
        borrowed(links),
    )
    rng, t, z, at = borrowed(rng), borrowed(t), borrowed(z), borrowed(at)
    views = bag.has.shape[0]
    for move in range(lo, hi):
        v = move % views
        if links.high[v] == links.slots[v]:
            return move
        items, law = items_of(bag, v), law_of(bag, bases, v)
        c, three = clusters_of(flat, links.slots, bag.width, v), clusters_of(pair, threes, bag.width, v)
        chosen = scans if move // views % 2 == 0 else -1
        try_move(rng, items, law, c, three, links, v, t, z[v], chosen, at)
    return hi
