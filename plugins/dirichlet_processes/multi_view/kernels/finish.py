"""The end of a sweep in one kernel: numbers of blocks and clusters, tables, concentrations, weights, bases and evidence.

The laws, the order of the random numbers and the order of the sums are those of ``draw_alpha`` and ``draw_shared_alpha`` of
``partitions.py`` and of ``update_base`` of ``base.py``, in numpy, so that the draws are the same to the last bit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Law
from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed
from plaidwork.plugins.dirichlet_processes.kernels.scan import evidence
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import (
    COUNTS,
    NUMBERS,
    Bag,
    Bases,
    Flat,
    Links,
    clusters_of,
    law_of,
)
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.numbering import number_blocks, number_clusters
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.samples import LEAST
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.sums import column_sum, sum_of
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.weights import SHAPE_B0, seat_blocks

LEAST_ALPHA = 1e-12


class Priors(NamedTuple):
    """Settings of what is drawn at the end of a sweep."""

    learn: bool
    learn_base: bool
    block_alpha: tuple[float, float]
    alpha: tuple[float, float]
    gamma: tuple[float, float]
    """Shapes and rates of the concentrations"""
    within: float
    """b0 at which the prior mean of a variance is the usual one"""
    mean_weight: float


class Ends(NamedTuple):
    """What comes out besides."""

    concentration: np.ndarray
    """(1,) of the blocks"""
    shared: np.ndarray
    """(V, K) Beta draws of the blocks, of which ``blocks`` (V,) are there: alpha is ``scaled`` over its rate less the sum of their logs,
    which numpy takes"""
    scaled: np.ndarray
    """(V,) the gamma draw of alpha"""
    blocks: np.ndarray
    log_evidence: np.ndarray
    """(V,)"""


@njit(nogil=True, cache=True, error_model="numpy")
def draw_one_alpha(
    rng: np.random.Generator, alpha: float, n: int, k: int, prior: tuple[float, float]
) -> float:
    """``draw_alpha``: the concentration of a Dirichlet process given k clusters of n rows."""
    shape, rate = prior
    above = rng.standard_gamma(float(n))
    ratio = above / max(rng.standard_gamma(alpha + 1.0), LEAST)
    tilted = rate + math.log1p(ratio)
    odds = (shape + k - 1.0) / (n * tilted)
    more = rng.random() * (1.0 + odds) < odds
    return max(rng.standard_gamma(shape + k - (0.0 if more else 1.0)) / tilted, LEAST_ALPHA)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_shared(rng: np.random.Generator, links: Links, v: int, seats: int, shape: float, ends: Ends) -> None:
    """``draw_shared_alpha`` of the blocks of view ``v``, but for its last step."""
    alpha, ended, n = links.alpha[v], 0, 0
    for k in range(links.members.size):
        size = links.present[k, v]
        if size > 0:
            ends.shared[v, n] = max(rng.beta(alpha + 1.0, float(size)), LEAST)
            n += 1
    for k in range(links.members.size):
        size = links.present[k, v]
        if size > 0:
            ended += rng.random() * (size + alpha) < size
    ends.blocks[v] = n
    ends.scaled[v] = rng.standard_gamma(shape + seats - ended)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_weights(rng: np.random.Generator, links: Links, v: int, priors: Priors, ends: Ends) -> None:
    """Concentrations and weights of the clusters of a view given the tables of its blocks; gamma first, as it is drawn without a
    look at the weights (see the topics)."""
    first, number, total = links.first[v], links.high[v], 0
    seats = np.zeros(number, np.int64)
    seat_blocks(rng, links, v, seats)
    for c in range(number):
        total += seats[c]
    if priors.learn and number > 0:
        links.gamma[v] = draw_one_alpha(rng, links.gamma[v], total, number, priors.gamma)
        draw_shared(rng, links, v, total, priors.alpha[0], ends)
    parts = np.empty(number + 1)
    for c in range(number):
        parts[c] = rng.standard_gamma(float(seats[c]))
    parts[number] = rng.standard_gamma(links.gamma[v])
    whole = max(sum_of(parts), LEAST)
    for c in range(number):
        links.beta[first + c] = max(parts[c] / whole, LEAST)
    links.rest[v] = max(parts[number] / whole, LEAST)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_blocks_alpha(
    rng: np.random.Generator, links: Links, t: np.ndarray, priors: Priors, ends: Ends
) -> None:
    """Number the blocks t (n,) by their first samples and draw their concentration."""
    number_blocks(t, links)
    blocks = 0
    for k in range(links.members.size):
        blocks += links.members[k] > 0
    if priors.learn:
        before = ends.concentration[0]
        ends.concentration[0] = draw_one_alpha(rng, before, t.size, blocks, priors.block_alpha)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_links(rng: np.random.Generator, links: Links, t: np.ndarray, priors: Priors, ends: Ends) -> None:
    """Weights and concentrations alone, clusters as they are."""
    draw_blocks_alpha(rng, links, t, priors, ends)
    for v in range(links.slots.size):
        draw_weights(rng, links, v, priors, ends)


@njit(nogil=True, cache=True, error_model="numpy")
def keep_rows(array: np.ndarray, used: np.ndarray, number: int, moved: bool) -> None:
    """Rows ``used`` of an array (slots, width) first, zeros after them."""
    if array.shape[1] == 0:
        return
    if moved:
        old = array.copy()
        for k in range(number):
            for j in range(array.shape[1]):
                array[k, j] = old[used[k], j]
    for k in range(number, array.shape[0]):
        for j in range(array.shape[1]):
            array[k, j] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def sort_clusters(c: Clusters, links: Links, v: int, z: np.ndarray) -> None:
    """Number the clusters of a view by their first samples. What those without one weigh is not needed: all weights are drawn next."""
    slots = links.slots[v]
    used = np.empty(slots, np.int64)
    number = number_clusters(z, links, v, used)
    moved = False
    for k in range(number):
        moved = moved or used[k] != k
    size = c.size.copy()
    for k in range(slots):
        c.size[k] = size[used[k]] if k < number else 0
    keep_rows(c.known, used, number, moved)
    keep_rows(c.mean, used, number, moved)
    keep_rows(c.square, used, number, moved)
    keep_rows(c.centre, used, number, moved)
    keep_rows(c.weight, used, number, moved)
    keep_rows(c.constant, used, number, moved)
    keep_rows(c.levels, used, number, moved)
    keep_rows(c.coded, used, number, moved)
    keep_rows(c.events, used, number, moved)
    keep_rows(c.time, used, number, moved)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_numbers(
    rng: np.random.Generator, c: Clusters, number: int, law: Law, within: float, mean_weight: float
) -> None:
    """``update_base`` for columns of numbers; all of ``law.k0`` (G,) are the one weight of the view."""
    width, a0 = law.m0.size, law.a0
    s2, mu = np.empty((number, width)), np.empty((number, width))
    for k in range(number):
        for j in range(width):
            s2[k, j] = max(rng.standard_gamma(a0 + 0.5 * c.known[k, j]), LEAST)
    for k in range(number):
        for j in range(width):
            count, k0, gap = c.known[k, j], law.k0[j], c.mean[k, j] - law.m0[j]
            k_c = k0 + count
            b_c = law.b0[j] + 0.5 * c.square[k, j] + 0.5 * k0 * count / k_c * gap * gap
            s2[k, j] = b_c / s2[k, j]
            mu[k, j] = law.m0[j] + count / k_c * gap + math.sqrt(s2[k, j] / k_c) * rng.standard_normal()
    total = np.empty(width)
    column_sum(1.0 / s2, total)
    rate = SHAPE_B0 / within
    for j in range(width):
        law.b0[j] = max(rng.standard_gamma(SHAPE_B0 + number * a0) / (rate + total[j]), LEAST)
    weight = np.empty((number, width))
    for k in range(number):
        for j in range(width):
            weight[k, j] = law.k0[j] / s2[k, j]
    precision = np.empty(width)
    column_sum(weight, precision)
    column_sum(weight * mu, total)
    for j in range(width):
        tight = 1.0 + precision[j]
        law.m0[j] = total[j] / tight + rng.standard_normal() / math.sqrt(tight)
    for k in range(number):
        for j in range(width):
            gap = mu[k, j] - law.m0[j]
            weight[k, j] = gap * gap / (2.0 * s2[k, j])
    column_sum(weight, total)
    drawn = rng.standard_gamma(1.0 + 0.5 * number * width)
    law.k0[:] = max(drawn / (1.0 / mean_weight + sum_of(total)), LEAST_ALPHA)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_rates(rng: np.random.Generator, c: Clusters, number: int, law: Law) -> None:
    """``update_base`` for columns of counts."""
    width, a = law.rate.size, law.rate_shape
    rates, total = np.empty((number, width)), np.empty(width)
    for k in range(number):
        for j in range(width):
            rates[k, j] = rng.standard_gamma(a + c.events[k, j]) / (law.rate[j] + c.time[k, j])
    column_sum(rates, total)
    for j in range(width):
        law.rate[j] = max(rng.standard_gamma(1.0 + number * a) / (1.0 / a + total[j]), LEAST_ALPHA)


@njit(nogil=True, cache=True, error_model="numpy")
def end_sweep(
    rng: np.random.Generator,
    bag: Bag,
    bases: Bases,
    flat: Flat,
    links: Links,
    t: np.ndarray,
    z: np.ndarray,
    priors: Priors,
    ends: Ends,
) -> None:
    """Everything but the last step of alpha; ``bases`` and what is in ``links`` and ``flat`` change in place."""
    rng, bag, bases, flat, links = (
        borrowed(rng),
        borrowed(bag),
        borrowed(bases),
        borrowed(flat),
        borrowed(links),
    )
    draw_blocks_alpha(rng, links, t, priors, ends)
    for v in range(bag.has.shape[0]):
        c, law = clusters_of(flat, links.slots, bag.width, v), law_of(bag, bases, v)
        sort_clusters(c, links, v, z[v])
        draw_weights(rng, links, v, priors, ends)
        number = links.high[v]
        if priors.learn_base and bag.width[v, NUMBERS] > 0:
            draw_numbers(rng, c, number, law, priors.within, priors.mean_weight)
        if priors.learn_base and bag.width[v, COUNTS] > 0:
            draw_rates(rng, c, number, law)
        ends.log_evidence[v] = evidence(c, number, law)
