"""Block and clusters of every sample, given all others.

A sample joins block k with weight ``n_k prod_v S_kv`` and a new one with ``a_0 prod_v S_0v``, where

    S_kv = (sum_c (n_kvc + alpha_v beta_vc) f_vc + alpha_v beta_vu f_v0) / (n_kv + alpha_v)

sums over the clusters of view v; f_vc is the density of its row in cluster c, f_v0 in an empty one. Then the cluster of each view is
drawn from the terms of the sum of its block: blocks and clusters are one draw. A view that a sample lacks has no part in it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.clusters import (
    add,
    log_predictive,
    remove,
    reset,
)
from plaidwork.plugins.dirichlet_processes.kernels.forms import FIRST, Clusters, Items, Law
from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed
from plaidwork.plugins.dirichlet_processes.kernels.scan import choose
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import (
    Bag,
    Bases,
    Flat,
    Links,
    clusters_of,
    items_of,
    law_of,
)

LEAST, FLOOR, LITTLE = 1e-300, 1e-200, 1e-100
"""The least share of a block is FLOOR; a product of shares becomes a logarithm below LITTLE: one logarithm for many views."""
MOVED, BLOCK_TRIES, BLOCK_MOVES, TRIES, MOVES = range(5)
"""Places in ``at``: samples that changed a cluster, moves of blocks and of clusters tried and accepted in this sweep."""


@njit(nogil=True, cache=True, error_model="numpy")
def begin_counting(bag: Bag, bases: Bases, flat: Flat, links: Links, z: np.ndarray, at: np.ndarray) -> None:
    """Empty the clusters; a sample is in no cluster of a view that it lacks."""
    bag, bases, flat, links, z = borrowed(bag), borrowed(bases), borrowed(flat), borrowed(links), borrowed(z)
    at[:] = 0
    links.members[:] = 0
    links.present[:] = 0
    links.uses[:] = 0
    for v in range(bag.has.shape[0]):
        c, law = clusters_of(flat, links.slots, bag.width, v), law_of(bag, bases, v)
        for k in range(links.slots[v]):
            reset(c, k, law, bag.complete[v])
        for i in range(z.shape[1]):
            if not bag.has[v, i]:
                z[v, i] = -1


@njit(nogil=True, cache=True, error_model="numpy")
def count_rows(
    bag: Bag,
    bases: Bases,
    flat: Flat,
    pair: Flat,
    links: Links,
    t: np.ndarray,
    z: np.ndarray,
    fresh: np.ndarray,
    ones: np.ndarray,
    lo: int,
    hi: int,
) -> None:
    """Put samples ``lo`` to ``hi`` into their blocks and clusters; ``fresh`` (V, n) gets their log densities in empty clusters.

    ``pair`` has three slots for every view, which ``ones`` (V,) tells.
    """
    bag, bases, flat, pair, links = (
        borrowed(bag),
        borrowed(bases),
        borrowed(flat),
        borrowed(pair),
        borrowed(links),
    )
    t, z, fresh = borrowed(t), borrowed(z), borrowed(fresh)
    for i in range(lo, hi):
        links.members[t[i]] += 1
    for v in range(bag.has.shape[0]):
        c, law, items = clusters_of(flat, links.slots, bag.width, v), law_of(bag, bases, v), items_of(bag, v)
        spare = clusters_of(pair, ones, bag.width, v)
        reset(spare, FIRST, law, items.complete)
        for i in range(lo, hi):
            if bag.has[v, i]:
                fresh[v, i] = log_predictive(spare, FIRST, items, i, law)
                add(c, z[v, i], items, i, law)
                links.present[t[i], v] += 1
                links.uses[t[i], links.first[v] + z[v, i]] += 1


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def free_block(links: Links) -> int:
    """The first free block, -1 when there is none."""
    for k in range(links.members.size):
        if links.members[k] == 0:
            return k
    return -1


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def has_room(links: Links) -> bool:
    """Whether a sample could found a block and a cluster in every view."""
    for v in range(links.slots.size):
        if links.high[v] == links.slots[v]:
            return False
    return free_block(links) >= 0


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False)
def found_cluster(rng: np.random.Generator, links: Links, v: int) -> int:
    """Give a new cluster its part of what is left of beta: Beta(1, gamma) of it. Needs a free slot."""
    new = links.high[v]
    kept = math.exp(math.log(max(rng.random(), LEAST)) / links.gamma[v])  # of Beta(gamma, 1)
    links.beta[links.first[v] + new] = max(links.rest[v] * (1.0 - kept), LEAST)
    links.rest[v] = max(links.rest[v] * kept, LEAST)
    links.high[v] += 1
    return new


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def weigh(
    c: Clusters, items: Items, i: int, law: Law, first: int, high: int, fresh: float, density: np.ndarray
) -> float:
    """Densities of row ``i`` in the clusters of a view, into ``density`` from ``first`` on, over the largest; the log of that.

    ``fresh`` is its log density in an empty cluster.
    """
    top = fresh
    for s in range(high):
        found = log_predictive(c, s, items, i, law) if c.size[s] > 0 else fresh
        density[first + s] = found
        top = max(top, found)
    for s in range(high):
        density[first + s] = math.exp(density[first + s] - top)
    return top


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def take_out(
    bag: Bag,
    bases: Bases,
    flat: Flat,
    links: Links,
    i: int,
    k: int,
    z: np.ndarray,
    fresh: np.ndarray,
    density: np.ndarray,
    empty: np.ndarray,
) -> None:
    """Take sample ``i`` out; ``density`` (all slots,) and ``empty`` (V,) get its densities, over the largest of the view."""
    links.members[k] -= 1
    for v in range(bag.has.shape[0]):
        if not bag.has[v, i]:
            continue
        c, law, items = clusters_of(flat, links.slots, bag.width, v), law_of(bag, bases, v), items_of(bag, v)
        first = links.first[v]
        links.present[k, v] -= 1
        links.uses[k, first + z[v, i]] -= 1
        remove(c, z[v, i], items, i, law)
        top = weigh(c, items, i, law, first, links.high[v], fresh[v, i], density)
        empty[v] = math.exp(fresh[v, i] - top)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def share_of(links: Links, k: int, v: int, density: np.ndarray, empty: float) -> float:
    """``S_kv``; ``k`` = -1 is a new block."""
    first, alpha = links.first[v], links.alpha[v]
    total = alpha * links.rest[v] * empty
    for s in range(first, first + links.high[v]):
        weight = alpha * links.beta[s]
        if k >= 0:
            weight += links.uses[k, s]
        total += weight * density[s]
    seen = links.present[k, v] if k >= 0 else 0
    return max(total, FLOOR) / (seen + alpha)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def log_weight(
    links: Links, has: np.ndarray, i: int, k: int, density: np.ndarray, empty: np.ndarray, size: float
) -> float:
    """Log of ``size prod_v S_kv`` over the views that sample ``i`` has."""
    total, product = 0.0, size
    for v in range(has.shape[0]):
        if has[v, i]:
            product *= share_of(links, k, v, density, empty[v])
            if product < LITTLE:
                total += math.log(product)
                product = 1.0
    return total + math.log(product)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def draw_cluster(
    rng: np.random.Generator,
    links: Links,
    k: int,
    v: int,
    density: np.ndarray,
    empty: float,
    running: np.ndarray,
) -> int:
    """A cluster of view ``v`` for a sample of block ``k``, one of the terms of ``S_kv``."""
    first, alpha, high = links.first[v], links.alpha[v], links.high[v]
    total = 0.0
    for s in range(high):
        total += (links.uses[k, first + s] + alpha * links.beta[first + s]) * density[first + s]
        running[s] = total
    mark = rng.random() * (total + alpha * links.rest[v] * empty)
    if mark >= total:
        return found_cluster(rng, links, v)
    for s in range(high):
        if mark < running[s]:
            return s
    return high - 1


@njit(nogil=True, cache=True, error_model="numpy")
def draw_samples(
    rng: np.random.Generator,
    bag: Bag,
    bases: Bases,
    flat: Flat,
    links: Links,
    a0: float,
    order: np.ndarray,
    t: np.ndarray,
    z: np.ndarray,
    fresh: np.ndarray,
    at: np.ndarray,
    lo: int,
    hi: int,
) -> int:
    """Draw block and clusters of the samples at places ``lo`` to ``hi``; the first place not drawn for want of room."""
    bag, bases, flat, links = borrowed(bag), borrowed(bases), borrowed(flat), borrowed(links)
    rng, order, t, z, fresh, at = (
        borrowed(rng),
        borrowed(order),
        borrowed(t),
        borrowed(z),
        borrowed(fresh),
        borrowed(at),
    )
    views, blocks = bag.has.shape[0], links.members.size
    density, empty, running = np.zeros(links.beta.size), np.zeros(views), np.empty(links.beta.size)
    weights, found = np.empty(blocks + 1), np.empty(blocks + 1, np.int64)
    for place in range(lo, hi):
        if not has_room(links):
            return place
        i = order[place]
        take_out(bag, bases, flat, links, i, t[i], z, fresh, density, empty)
        n = 0
        for k in range(blocks):
            if links.members[k] > 0:
                size = float(links.members[k])
                found[n], weights[n] = k, log_weight(links, bag.has, i, k, density, empty, size)
                n += 1
        found[n], weights[n] = free_block(links), log_weight(links, bag.has, i, -1, density, empty, a0)
        k = found[choose(rng, weights, n + 1)]
        t[i] = k
        links.members[k] += 1
        moved = False
        for v in range(views):
            if bag.has[v, i]:
                s = draw_cluster(rng, links, k, v, density, empty[v], running)
                moved = moved or s != z[v, i]
                z[v, i] = s
                links.present[k, v] += 1
                links.uses[k, links.first[v] + s] += 1
                c = clusters_of(flat, links.slots, bag.width, v)
                add(c, s, items_of(bag, v), i, law_of(bag, bases, v))
        at[MOVED] += moved
    return hi


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def chance_of(links: Links, has: np.ndarray, z: np.ndarray, i: int, k: int) -> float:
    """Probability of the clusters of sample ``i`` in block ``k`` without it; -1 is a new block."""
    product = 1.0
    for v in range(has.shape[0]):
        if has[v, i]:
            s = links.first[v] + z[v, i]
            if k >= 0:
                product *= (links.uses[k, s] + links.alpha[v] * links.beta[s]) / (
                    links.present[k, v] + links.alpha[v]
                )
            else:
                product *= links.beta[s]
    return max(product, LEAST)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def put(links: Links, has: np.ndarray, z: np.ndarray, i: int, k: int, by: int) -> None:
    """Add sample ``i`` to block ``k`` (``by`` 1) or take it out (-1)."""
    links.members[k] += by
    for v in range(has.shape[0]):
        if has[v, i]:
            links.present[k, v] += by
            links.uses[k, links.first[v] + z[v, i]] += by


@njit(nogil=True, cache=True, error_model="numpy")
def draw_blocks(
    rng: np.random.Generator,
    has: np.ndarray,
    links: Links,
    a0: float,
    t: np.ndarray,
    z: np.ndarray,
    lo: int,
    hi: int,
) -> int:
    """Draw the blocks of samples ``lo`` to ``hi`` given their clusters; the first one not drawn for want of room."""
    rng, has, links, t, z = borrowed(rng), borrowed(has), borrowed(links), borrowed(t), borrowed(z)
    blocks = links.members.size
    weights, found = np.empty(blocks + 1), np.empty(blocks + 1, np.int64)
    for i in range(lo, hi):
        if free_block(links) < 0:
            return i
        put(links, has, z, i, t[i], -1)
        n = 0
        for k in range(blocks):
            if links.members[k] > 0:
                found[n], weights[n] = k, math.log(links.members[k] * chance_of(links, has, z, i, k))
                n += 1
        found[n], weights[n] = free_block(links), math.log(a0 * chance_of(links, has, z, i, -1))
        t[i] = found[choose(rng, weights, n + 1)]
        put(links, has, z, i, t[i], 1)
    return hi
