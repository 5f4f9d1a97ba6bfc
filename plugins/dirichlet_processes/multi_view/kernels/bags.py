"""All views in one-dimensional arrays, one view after the other, so that one compiled kernel takes any number of them.

Numba compiles a tuple of views anew for every length. A piece of a one-dimensional array becomes the array of one view without a copy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.forms import FIRST, Clusters, Items, Law, Rows
from plaidwork.plugins.dirichlet_processes.kernels.pieces import cut, stretch

NUMBERS, CODES, LEVELS, COUNTS = range(4)
"""Places in a row of ``width``: columns of numbers and of codes, levels of all codes, columns of counts."""


class Bag(NamedTuple):
    """The data of V views of n samples."""

    numbers: np.ndarray
    known: np.ndarray
    codes: np.ndarray
    counts: np.ndarray
    exposure: np.ndarray
    """All as in ``Items``, flat"""
    width: np.ndarray
    """(V, 4) int64"""
    complete: np.ndarray
    """(V,) bool: no number is missing"""
    has: np.ndarray
    """(V, n) bool: the sample has a known cell in the view"""
    first: np.ndarray
    """``Law.first`` of all views, flat"""
    step: np.ndarray
    """(n + 1,) as in ``Law``"""
    a0: float
    level_weight: float
    rate_shape: float


class Bases(NamedTuple):
    """What the clusters of each view have in common, as in ``Law``, flat."""

    m0: np.ndarray
    k0: np.ndarray
    b0: np.ndarray
    rate: np.ndarray


class Flat(NamedTuple):
    """Clusters of all views, as in ``Clusters``, flat: no view has correlated columns."""

    size: np.ndarray
    known: np.ndarray
    mean: np.ndarray
    square: np.ndarray
    centre: np.ndarray
    weight: np.ndarray
    constant: np.ndarray
    levels: np.ndarray
    coded: np.ndarray
    events: np.ndarray
    time: np.ndarray


class Links(NamedTuple):
    """Blocks of samples, and how they use the clusters of the views. Clusters of view v begin at column ``first[v]``."""

    members: np.ndarray
    """(K,) int64 samples of each block; a block of size 0 is free"""
    present: np.ndarray
    """(K, V) int64 those that have the view"""
    uses: np.ndarray
    """(K, all slots) int64 samples of a block in a cluster"""
    beta: np.ndarray
    """(all slots,) weight of each cluster in its view"""
    rest: np.ndarray
    """(V,) what all clusters of a view leave of beta"""
    alpha: np.ndarray
    """(V,) concentration of a block's clusters"""
    gamma: np.ndarray
    """(V,) concentration of a view's clusters"""
    slots: np.ndarray
    """(V,) int64 clusters for which a view has room"""
    first: np.ndarray
    """(V + 1,) int64"""
    high: np.ndarray
    """(V,) int64 slots in use"""


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def items_of(bag: Bag, v: int) -> Items:
    """The data of view ``v``; no view has correlated columns, or rows of counts that share a total."""
    n, width = bag.has.shape[1], bag.width
    numbers, codes, counts = 0, 0, 0
    for u in range(v):
        numbers += n * width[u, NUMBERS]
        codes += n * width[u, CODES]
        counts += n * width[u, COUNTS]
    return Items(
        cut(bag.numbers, numbers, n, width[v, NUMBERS]),
        cut(bag.known, numbers, n, width[v, NUMBERS]),
        cut(bag.codes, codes, n, width[v, CODES]),
        cut(bag.counts, counts, n, width[v, COUNTS]),
        cut(bag.exposure, counts, n, width[v, COUNTS]),
        bag.complete[v],
        cut(bag.numbers, FIRST, n, FIRST),
        cut(bag.known, FIRST, n, FIRST),
        stretch(bag.known, FIRST, FIRST),
        Rows(
            cut(bag.first, FIRST, n, FIRST),
            stretch(bag.first, FIRST, FIRST),
            stretch(bag.numbers, FIRST, FIRST),
            cut(bag.numbers, FIRST, n, FIRST),
            cut(bag.numbers, FIRST, n, FIRST),
        ),
    )


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def law_of(bag: Bag, bases: Bases, v: int) -> Law:
    """The law of the clusters of view ``v``; the prior of partitions is not in it."""
    numbers, codes, counts = 0, 0, 0
    for u in range(v):
        numbers += bag.width[u, NUMBERS]
        codes += bag.width[u, CODES] + 1
        counts += bag.width[u, COUNTS]
    g, p = bag.width[v, NUMBERS], bag.width[v, COUNTS]
    return Law(
        bag.a0,
        stretch(bases.m0, numbers, g),
        stretch(bases.k0, numbers, g),
        stretch(bases.b0, numbers, g),
        bag.step,
        bag.level_weight,
        stretch(bag.first, codes, bag.width[v, CODES] + 1),
        bag.rate_shape,
        stretch(bases.rate, counts, p),
        0.0,
        stretch(bases.rate, FIRST, FIRST),
        stretch(bag.first, FIRST, FIRST),
        stretch(bases.rate, FIRST, FIRST),
        stretch(bases.rate, FIRST, FIRST),
        stretch(bases.rate, FIRST, FIRST),
        stretch(bases.rate, FIRST, FIRST),
        1.0,
    )


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def clusters_of(flat: Flat, slots: np.ndarray, width: np.ndarray, v: int) -> Clusters:
    """The clusters of view ``v`` of all views' ``flat`` ones."""
    s = slots[v]
    size, numbers, codes, levels, counts = 0, 0, 0, 0, 0
    for u in range(v):
        size += slots[u]
        numbers += slots[u] * width[u, NUMBERS]
        codes += slots[u] * width[u, CODES]
        levels += slots[u] * width[u, LEVELS]
        counts += slots[u] * width[u, COUNTS]
    g, c, p = width[v, NUMBERS], width[v, CODES], width[v, COUNTS]
    return Clusters(
        stretch(flat.size, size, s),
        cut(flat.known, numbers, s, g),
        cut(flat.mean, numbers, s, g),
        cut(flat.square, numbers, s, g),
        cut(flat.centre, numbers, s, g),
        cut(flat.weight, numbers, s, g),
        cut(flat.constant, numbers, s, g),
        cut(flat.levels, levels, s, width[v, LEVELS]),
        cut(flat.coded, codes, s, c),
        cut(flat.events, counts, s, p),
        cut(flat.time, counts, s, p),
        cut(flat.mean, FIRST, s, FIRST),
        cut(flat.mean, FIRST, s, FIRST),
        cut(flat.mean, FIRST, s, FIRST),
        cut(flat.mean, FIRST, s, FIRST),
    )
