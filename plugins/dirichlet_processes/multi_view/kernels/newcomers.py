"""Samples given the blocks and clusters of others: density of some cells of a row, block and clusters of a new one."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.clusters import (
    copy_cluster,
    log_predictive,
    remove,
    reset,
)
from plaidwork.plugins.dirichlet_processes.kernels.forms import FIRST, SECOND
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
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.samples import LEAST, put, share_of, weigh


@njit(nogil=True, cache=True, error_model="numpy")
def begin(bag: Bag, bases: Bases, pair: Flat, threes: np.ndarray) -> None:
    """Empty the second slot of each view in ``pair``, which has three, as ``threes`` (V,) tells."""
    for v in range(bag.has.shape[0]):
        reset(
            clusters_of(pair, threes, bag.width, v),
            SECOND,
            law_of(bag, bases, v),
            bag.complete[v],
        )


@njit(nogil=True, cache=True, error_model="numpy")
def weigh_row(
    bag: Bag,
    bases: Bases,
    flat: Flat,
    pair: Flat,
    threes: np.ndarray,
    links: Links,
    i: int,
    density: np.ndarray,
    empty: np.ndarray,
) -> float:
    """Densities of row ``i`` in all clusters, ``density`` (all slots,), and in empty ones, (V,), over the largest of each view.

    The sum of the logs of those; all are 1 in a view that the row lacks.
    """
    bag, bases, flat, pair, links = (
        borrowed(bag),
        borrowed(bases),
        borrowed(flat),
        borrowed(pair),
        borrowed(links),
    )
    density, empty, total = borrowed(density), borrowed(empty), 0.0
    for v in range(bag.has.shape[0]):
        first, high = links.first[v], links.high[v]
        if not bag.has[v, i]:
            for s in range(first, first + high):
                density[s] = 1.0
            empty[v] = 1.0
            continue
        items, law = items_of(bag, v), law_of(bag, bases, v)
        fresh = log_predictive(clusters_of(pair, threes, bag.width, v), SECOND, items, i, law)
        c = clusters_of(flat, links.slots, bag.width, v)
        top = weigh(c, items, i, law, first, high, fresh, density)
        empty[v] = math.exp(fresh - top)
        total += top
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def log_blocks(
    has: np.ndarray,
    links: Links,
    a0: float,
    i: int,
    density: np.ndarray,
    empty: np.ndarray,
    weights: np.ndarray,
) -> float:
    """Log of the sum of the weights that row ``i`` gives the blocks; their logs into ``weights`` (K + 1,), of a new one last."""
    has, links, weights = borrowed(has), borrowed(links), borrowed(weights)
    blocks = links.members.size
    for k in range(blocks + 1):
        members = a0 if k == blocks else float(links.members[k])
        weights[k] = math.log(members) if members > 0.0 else -np.inf
        for v in range(has.shape[0]):
            if members > 0.0 and has[v, i]:
                weights[k] += math.log(share_of(links, k if k < blocks else -1, v, density, empty[v]))
    top, total = weights.max(), 0.0
    for k in range(blocks + 1):
        total += math.exp(weights[k] - top)
    return top + math.log(total)


@njit(nogil=True, cache=True, error_model="numpy")
def leave_out(
    fitted: Bag,
    rest: Bag,
    both: Bag,
    bases: Bases,
    flat: Flat,
    pair: Flat,
    threes: np.ndarray,
    links: Links,
    a0: float,
    rows: np.ndarray,
    t: np.ndarray,
    z: np.ndarray,
    out: np.ndarray,
) -> None:
    """Log density of some cells of each of m rows given the row's other cells and all other rows of a draw, into ``out`` (m,).

    ``both`` has all cells of the row, ``rest`` all but those meant; the other rows are in their clusters with what ``fitted`` has of
    them. The row's own block and clusters are summed over, new ones included.
    """
    density, empty = np.zeros(links.beta.size), np.zeros(links.slots.size)
    weights = np.empty(links.members.size + 1)
    begin(fitted, bases, pair, threes)
    for place in range(rows.size):
        i = rows[place]
        put(links, fitted.has, z, i, t[i], -1)
        for v in range(fitted.has.shape[0]):
            if fitted.has[v, i]:
                c = clusters_of(flat, links.slots, fitted.width, v)
                copy_cluster(c, z[v, i], clusters_of(pair, threes, fitted.width, v), FIRST)
                remove(c, z[v, i], items_of(fitted, v), i, law_of(fitted, bases, v))
        more = weigh_row(both, bases, flat, pair, threes, links, i, density, empty)
        more += log_blocks(both.has, links, a0, i, density, empty, weights)
        less = weigh_row(rest, bases, flat, pair, threes, links, i, density, empty)
        less += log_blocks(rest.has, links, a0, i, density, empty, weights)
        out[place] = more - less
        for v in range(fitted.has.shape[0]):
            if fitted.has[v, i]:
                c = clusters_of(flat, links.slots, fitted.width, v)
                copy_cluster(clusters_of(pair, threes, fitted.width, v), FIRST, c, z[v, i])
        put(links, fitted.has, z, i, t[i], 1)


@njit(nogil=True, cache=True, error_model="numpy")
def term(links: Links, k: int, v: int, s: int) -> float:
    """Weight of the cluster at place ``s`` of view ``v`` in block ``k``; that behind the last is a new one."""
    uses = float(links.uses[k, s]) if k < links.members.size else 0.0
    return uses + links.alpha[v] * links.beta[s]


@njit(nogil=True, cache=True, error_model="numpy")
def log_terms(links: Links, k: int, v: int, density: np.ndarray, free: float) -> float:
    """Log of the sum of the terms of all clusters of view ``v`` in block ``k``; ``free`` is that of a new cluster."""
    total = free
    for s in range(links.first[v], links.first[v] + links.high[v]):
        total += term(links, k, v, s) * density[s]
    return math.log(max(total, LEAST))


@njit(nogil=True, cache=True, error_model="numpy")
def place_new(
    new: Bag,
    bases: Bases,
    flat: Flat,
    pair: Flat,
    threes: np.ndarray,
    links: Links,
    a0: float,
    share: np.ndarray,
    log_density: np.ndarray,
) -> None:
    """Where one draw puts m new rows: ``share`` (m, all slots + V) probability of each cluster of a view, new ones of the views last.

    The clusters of a view that a row lacks follow from its block. ``log_density`` (m,) is on the scale of the fit.
    """
    new, bases, flat, pair, links = (
        borrowed(new),
        borrowed(bases),
        borrowed(flat),
        borrowed(pair),
        borrowed(links),
    )
    views, slots = links.slots.size, links.beta.size
    density, empty = np.zeros(slots), np.zeros(views)
    weights = np.empty(links.members.size + 1)
    whole = math.log(links.members.sum() + a0)
    begin(new, bases, pair, threes)
    share[:] = 0.0
    for i in range(new.has.shape[1]):
        log_density[i] = weigh_row(new, bases, flat, pair, threes, links, i, density, empty)
        total = log_blocks(new.has, links, a0, i, density, empty, weights)
        log_density[i] += total - whole
        for k in range(weights.size):
            if weights[k] == -np.inf:
                continue
            for v in range(views):
                free = links.alpha[v] * links.rest[v] * empty[v]
                part = math.exp(weights[k] - total - log_terms(links, k, v, density, free))
                for s in range(links.first[v], links.first[v] + links.high[v]):
                    share[i, s] += part * term(links, k, v, s) * density[s]
                share[i, slots + v] += part * free
