"""Partitions without names: how often two samples are together, and the partition nearest to all draws.

The expected variation of information to S draws is lowered by moves of single samples, scored by contingency tables of the partition
with each draw (Dahl, Johnson and Müller 2022, Search algorithms and loss functions for Bayesian clustering), so that no matrix of all
pairs is needed: O(S) for a sample and a cluster.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, no_cpython_wrapper=True)
def clusters_in(labels: np.ndarray) -> int:
    """One more than the largest label (n,). A loop, as numba needs long to compile what finds the largest of an array."""
    high = 0
    for i in range(labels.size):
        high = max(high, labels[i] + 1)
    return high


@njit(nogil=True, cache=True)
def similarity(draws: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Share of the draws (S, n) in which two of the ``items`` (q,) are together: (q, q) float32. O(S q^2)."""
    s, q = draws.shape[0], items.size
    counts = np.zeros((q, q), np.int32)
    row = np.empty(q, np.int64)
    for t in range(s):
        for a in range(q):
            row[a] = draws[t, items[a]]
        for a in range(q):
            for b in range(a + 1):
                counts[a, b] += row[a] == row[b]
    out = np.empty((q, q), np.float32)
    for a in range(q):
        for b in range(a + 1):
            out[a, b] = out[b, a] = counts[a, b] / s
    return out


@njit(nogil=True, cache=True, no_cpython_wrapper=True)
def entropy_term(m: int) -> float:
    """``m log2 m``, 0 for 0."""
    return m * math.log2(m) if m > 0 else 0.0


@njit(nogil=True, cache=True)
def variation(labels: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Variation of information (Meilă 2007) between a partition (n,) and each of the draws (S, n), in bits. O(S n)."""
    s, n = draws.shape
    out = np.empty(s)
    high = clusters_in(labels)
    for t in range(s):
        wide = clusters_in(draws[t])
        both, rows, columns = (
            np.zeros((high, wide), np.int64),
            np.zeros(high, np.int64),
            np.zeros(wide, np.int64),
        )
        for i in range(n):
            both[labels[i], draws[t, i]] += 1
            rows[labels[i]] += 1
            columns[draws[t, i]] += 1
        total = 0.0
        for a in range(high):
            total += entropy_term(rows[a])
            for b in range(wide):
                total -= 2.0 * entropy_term(both[a, b])
        for b in range(wide):
            total += entropy_term(columns[b])
        out[t] = max(total / n, 0.0)
    return out


@njit(nogil=True, cache=True)
def improve(labels: np.ndarray, draws: np.ndarray, order: np.ndarray, slots: int, passes: int) -> None:
    """Move single samples to where the expected variation of information is lower, in place; -1 is not placed yet.

    At most ``slots`` clusters. Of what a sample's move changes, ``f(m) = m log2 m`` of the two clusters and of the cells of the
    tables that the sample is in: going into a cell of m it is ``f(m + 1) - f(m)``, looked up.
    """
    s, n = draws.shape
    step = np.empty(n + 1)
    for m in range(n + 1):
        step[m] = entropy_term(m + 1) - entropy_term(m)
    sizes, high = np.zeros(slots, np.int64), 0
    for t in range(s):
        high = max(high, clusters_in(draws[t]))
    tables = np.zeros((high, slots, s), np.int32)
    cost = np.empty(slots)
    for i in range(n):
        if labels[i] >= 0:
            sizes[labels[i]] += 1
            for t in range(s):
                tables[draws[t, i], labels[i], t] += 1
    for _ in range(passes):
        changed = False
        for place in range(n):
            i = order[place]
            old = labels[i]
            if old >= 0:
                sizes[old] -= 1
                for t in range(s):
                    tables[draws[t, i], old, t] -= 1
            empty = False
            best, least = 0, np.inf
            for k in range(slots):
                if sizes[k] == 0:
                    if empty:
                        continue
                    empty = True
                inside = 0.0
                for t in range(s):
                    inside += step[tables[draws[t, i], k, t]]
                cost[k] = step[sizes[k]] - 2.0 * inside / s
                if cost[k] < least:
                    best, least = k, cost[k]
            stays = cost[old] <= least + 1e-9 if sizes[old] > 0 else sizes[best] == 0
            if old >= 0 and stays:
                best = old
            changed = changed or best != old
            labels[i] = best
            sizes[best] += 1
            for t in range(s):
                tables[draws[t, i], best, t] += 1
        if not changed:
            break


@njit(nogil=True, cache=True)
def togetherness(labels: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Mean share of draws in which each sample is with the other members of each cluster: (n, K). O(S n K).

    Where a sample is its cluster's only member it is the share of draws in which it is alone.
    """
    s, n = draws.shape
    high = clusters_in(labels)
    sizes = np.zeros(high)
    for i in range(n):
        sizes[labels[i]] += 1.0
    out = np.zeros((n, high))
    for t in range(s):
        wide = clusters_in(draws[t])
        both, rows = np.zeros((wide, high)), np.zeros(wide)
        for i in range(n):
            both[draws[t, i], labels[i]] += 1.0
            rows[draws[t, i]] += 1.0
        for i in range(n):
            for k in range(high):
                own = 1.0 if labels[i] == k else 0.0
                if sizes[k] > own:
                    out[i, k] += (both[draws[t, i], k] - own) / (sizes[k] - own)
                else:
                    out[i, k] += rows[draws[t, i]] == 1.0
    return out / s


def prepare() -> None:
    """Compile the kernels."""
    draws = np.array([[0, 0, 1], [0, 1, 1]])
    labels = np.array([0, 0, -1])
    improve(labels, draws, np.arange(3), 3, 2)
    variation(labels, draws)
    similarity(draws, np.arange(3))
    togetherness(labels, draws)
