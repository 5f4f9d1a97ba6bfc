"""The label of every row in turn, given all others (Neal 2000, algorithm 3), for any prior of partitions of the form
``weight(join k) = n_k + shift``, ``weight(new | K) = exp(log_new[K])``; densities of the data to the power of the law.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.clusters import (
    add,
    log_known,
    log_marginal,
    remove,
    reset,
)
from plaidwork.plugins.dirichlet_processes.kernels.forms import FIRST, Clusters, Items, Law
from plaidwork.plugins.dirichlet_processes.kernels.joint import fill_row
from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed

NOTHING = 45.0
"""A weight so many nats below the largest is less than the last digit of the sum."""
HIGH, NUMBER, MOVED, TRIED, ACCEPTED = range(5)
"""Places in ``at``: slots in use or below one in use, clusters, rows that moved, moves tried and accepted in this sweep."""


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def free_slot(c: Clusters, high: int) -> int:
    """The first free slot, -1 when there is none."""
    for k in range(high):
        if c.size[k] == 0:
            return k
    return high if high < c.size.size else -1


@njit(nogil=True, cache=True, error_model="numpy")
def choose(rng: np.random.Generator, weights: np.ndarray, n: int) -> int:
    """One of the first n places with probability proportional to the exponential of its weight; weights are overwritten."""
    top = weights[0]
    for k in range(1, n):
        top = max(top, weights[k])
    total = 0.0
    for k in range(n):
        if weights[k] > top - NOTHING:
            total += math.exp(weights[k] - top)
        weights[k] = total
    mark = rng.random() * total
    for k in range(n - 1):
        if mark < weights[k]:
            return k
    return n - 1


@njit(nogil=True, cache=True, error_model="numpy")
def count_rows(
    items: Items, z: np.ndarray, c: Clusters, law: Law, fresh: np.ndarray, spare: Clusters, lo: int, hi: int
) -> None:
    """Put rows ``lo`` to ``hi`` into their clusters, which row 0 finds empty; ``fresh`` (n,) gets their log density in an empty one."""
    items, z, c, law = borrowed(items), borrowed(z), borrowed(c), borrowed(law)
    fresh, spare = borrowed(fresh), borrowed(spare)
    for k in range(c.size.size if lo == 0 else 0):
        reset(c, k, law, items.complete)
    reset(spare, FIRST, law, items.complete)
    for i in range(lo, hi):
        fresh[i] = log_known(spare, FIRST, items, i, law)
        if z[i] >= 0:
            add(c, z[i], items, i, law)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_labels(
    rng: np.random.Generator,
    items: Items,
    order: np.ndarray,
    z: np.ndarray,
    c: Clusters,
    law: Law,
    fresh: np.ndarray,
    at: np.ndarray,
    lo: int,
    hi: int,
) -> int:
    """Take the row at each of the places ``lo`` to ``hi`` of the order out of its cluster and draw one for it: an old one, or a new one.

    The first place not drawn for want of a slot. Missing cells of correlated columns are drawn with the label, after it.
    """
    weights, slots = np.empty(c.size.size + 1), np.empty(c.size.size + 1, np.int64)
    rng, items, order, z, c = borrowed(rng), borrowed(items), borrowed(order), borrowed(z), borrowed(c)
    law, fresh, at = borrowed(law), borrowed(fresh), borrowed(at)
    for place in range(lo, hi):
        new = free_slot(c, at[HIGH])
        if new < 0:
            return place
        i = order[place]
        old = z[i]
        if old >= 0:
            remove(c, old, items, i, law)
            at[NUMBER] -= c.size[old] == 0
            new = free_slot(c, at[HIGH])
        n = 0
        for k in range(at[HIGH]):
            if c.size[k] > 0:
                slots[n] = k
                weights[n] = math.log(c.size[k] + law.shift) + law.power * log_known(c, k, items, i, law)
                n += 1
        slots[n] = new
        weights[n] = law.log_new[at[NUMBER]] + law.power * fresh[i]
        lonely = old >= 0 and c.size[old] == 0
        k = slots[choose(rng, weights, n + 1)]
        at[NUMBER] += k == new
        at[MOVED] += old >= 0 and k != old and not (lonely and k == new)
        z[i] = k
        if not items.joint_whole[i]:
            fill_row(rng, c, k, items, i, law)
        add(c, k, items, i, law)
        at[HIGH] = max(at[HIGH], k + 1)
    return hi


@njit(nogil=True, cache=True, error_model="numpy")
def fill_rows(
    rng: np.random.Generator, items: Items, rows: np.ndarray, z: np.ndarray, c: Clusters, law: Law
) -> None:
    """Draw the missing cells of correlated columns of these rows, each given its known ones and the rest of its cluster."""
    for i in rows:
        remove(c, z[i], items, i, law)
        fill_row(rng, c, z[i], items, i, law)
        add(c, z[i], items, i, law)


@njit(nogil=True, cache=True, error_model="numpy")
def evidence(c: Clusters, number: int, law: Law) -> float:
    """Log density of the data in the first ``number`` slots, parameters integrated out."""
    total = 0.0
    for k in range(number):
        total += log_marginal(c, k, law)
    return total
