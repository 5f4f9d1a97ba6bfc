"""Partitions without names: similarity of items, variation of information, and the clustering nearest to all draws.

Source: Wade and Ghahramani (2018), Bayesian cluster analysis: point estimation and credible balls. Their lower bound
proposes clusterings (hierarchical cuts, then single items moved while it falls); the expectation itself decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

MOST_ITEMS = 2500
"""Above it the matrix of similarities is not made, and the clustering is the best of the draws."""
MOST_CANDIDATES = 150
PROPOSING = 3e9
"""Comparisons of two items for the similarities that propose clusterings: a few seconds."""
MOST_CUTS = 30


@dataclass(frozen=True)
class PointClustering:
    """The clustering with the least expected variation of information found.

    Attributes
    ----------
    labels : (n,) int64, largest cluster first
    expected : mean distance to the draws, bits
    ball : distance within which 95 % of the draws are, bits
    """

    labels: np.ndarray
    expected: float
    ball: float

    def __len__(self) -> int:
        return int(self.labels.max()) + 1


@njit(cache=True, nogil=True)
def similarity(draws: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Share of the draws (s, n) in which two of the ``items`` (q,) are together: (q, q) float32. O(s q^2)."""
    s, q = draws.shape[0], items.size
    counts = np.zeros((q, q), np.int32)
    row = np.empty(q, np.int64)
    for t in range(s):
        for a in range(q):
            row[a] = draws[t, items[a]]
        for a in range(q):
            label = row[a]
            for b in range(q):
                counts[a, b] += row[b] == label
    out = np.empty((q, q), np.float32)
    for a in range(q):
        for b in range(q):
            out[a, b] = counts[a, b] / s
    return out


@njit(cache=True, nogil=True)
def information(size: int) -> float:
    """``m log2 m``, 0 for 0."""
    return size * math.log2(size) if size > 0 else 0.0


@njit(cache=True, nogil=True)
def distances(labels: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Variation of information between a clustering (n,) and each of the draws (s, n), bits. O(s n)."""
    s, n = draws.shape
    out = np.empty(s)
    k = labels.max() + 1
    for t in range(s):
        m = draws[t].max() + 1
        both = np.zeros((k, m), np.int64)
        for i in range(n):
            both[labels[i], draws[t, i]] += 1
        total = 0.0
        for a in range(k):
            total += information(both[a].sum())
            for b in range(m):
                total -= 2.0 * information(both[a, b])
        for b in range(m):
            total += information(both[:, b].sum())
        out[t] = max(total / n, 0.0)
    return out


@njit(cache=True, nogil=True)
def lower_bound(labels: np.ndarray, together: np.ndarray) -> float:
    """Lower bound of the expected variation of information, but for a constant; bits times n. O(n^2)."""
    n = labels.size
    sizes = np.zeros(labels.max() + 1, np.int64)
    for i in range(n):
        sizes[labels[i]] += 1
    total = 0.0
    for i in range(n):
        mass = 0.0
        for j in range(n):
            if labels[j] == labels[i]:
                mass += together[i, j]
        total += math.log2(sizes[labels[i]]) - 2.0 * math.log2(mass)
    return total


@njit(cache=True, nogil=True)
def improve(labels: np.ndarray, together: np.ndarray, passes: int) -> None:
    """Move single items while the lower bound falls; labels are changed in place. O(n^2) per pass."""
    n = labels.size
    slots = labels.max() + 2
    sizes = np.zeros(slots, np.int64)
    mass = np.zeros((n, slots))
    for i in range(n):
        sizes[labels[i]] += 1
        for j in range(n):
            mass[i, labels[j]] += together[i, j]
    gain = np.empty(slots)
    for _ in range(passes):
        changed = False
        for i in range(n):
            a = labels[i]
            if sizes[a] == 1:
                spare = -1
            else:
                spare = 0
                while spare < slots and sizes[spare] > 0:
                    spare += 1
            for k in range(slots):
                gain[k] = 0.0 if sizes[k] > 0 or k == spare else np.inf
                if k != a and gain[k] == 0.0:
                    gain[k] = information(sizes[k] + 1) - information(sizes[k])
                    gain[k] -= 2.0 * math.log2(mass[i, k] + together[i, i])
            left = information(sizes[a] - 1) - information(sizes[a]) + 2.0 * math.log2(mass[i, a])
            for j in range(n):
                k = labels[j]
                if j == i:
                    continue
                if k == a:
                    left -= 2.0 * math.log2(1.0 - min(together[i, j] / mass[j, a], 1.0 - 1e-12))
                else:
                    gain[k] -= 2.0 * math.log2(1.0 + together[i, j] / mass[j, k])
            best = a
            for k in range(slots):
                if k != a and gain[k] + left < (0.0 if best == a else gain[best] + left) - 1e-9:
                    best = k
            if best == a:
                continue
            changed = True
            for j in range(n):
                mass[j, a] -= together[i, j]
                mass[j, best] += together[i, j]
            sizes[a] -= 1
            sizes[best] += 1
            labels[i] = best
        if not changed:
            break


def prepare() -> None:
    """Compile the kernels."""
    draws = np.array([[0, 0, 1], [0, 1, 1]])
    together = similarity(draws, np.arange(3))
    labels = np.array([0, 0, 1])
    distances(labels, draws)
    lower_bound(labels, together)
    improve(labels, together, 1)


def by_size(labels: np.ndarray) -> np.ndarray:
    """The same clustering numbered from the largest cluster on (ties: by first item)."""
    _, first, codes, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[codes]


def hierarchical_cuts(together: np.ndarray, most: int) -> list[np.ndarray]:
    """Cuts of the average-linkage tree of ``1 - similarity`` into 1 to ``most`` clusters."""
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    n = len(together)
    if n < 2:
        return [np.zeros(n, np.int64)]
    tree = linkage(squareform(1.0 - together.astype(float), checks=False), "average")
    return list(cut_tree(tree, n_clusters=range(1, min(most, n) + 1)).T.astype(np.int64))


def spread_evenly(n: int, most: int) -> np.ndarray:
    """At most ``most`` indices below ``n``, evenly spread."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.int64)


def point_clustering(draws: np.ndarray) -> PointClustering:
    """The clustering nearest to all draws (s, n) in expected variation of information."""
    n = draws.shape[1]
    candidates = list(np.unique(draws[spread_evenly(len(draws), MOST_CANDIDATES)], axis=0))
    if n <= MOST_ITEMS:
        some = draws[spread_evenly(len(draws), max(MOST_CANDIDATES, int(PROPOSING / n**2)))]
        together = similarity(some, np.arange(n))  # it only proposes: the expectation over all draws decides
        cuts = hierarchical_cuts(together, min(MOST_CUTS, 2 * int(draws.max() + 1) + 1))
        bounds = [lower_bound(cut, together) for cut in cuts]
        starts = [cuts[i] for i in np.argsort(bounds, kind="stable")[:2]]
        starts.append(min(candidates, key=lambda labels: float(distances(labels, draws).mean())))
        for start in starts:
            better = start.copy()
            improve(better, together, 20)
            candidates += [start, by_size(better)]
    expected = [float(distances(labels, draws).mean()) for labels in candidates]
    best = int(np.argmin(expected))
    labels = by_size(candidates[best])
    return PointClustering(labels, expected[best], float(np.quantile(distances(labels, draws), 0.95)))


def affinity(labels: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Mean probability of each item to be together with the members of each cluster, itself left out: (n, K).

    For a cluster of one, its own item gets the probability of being alone.
    """
    n, k = len(labels), int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=k)
    sums, alone = np.zeros((n, k)), np.zeros(n)
    for draw in draws:
        both = np.zeros((k, int(draw.max()) + 1))
        np.add.at(both, (labels, draw), 1.0)
        sums += both.T[draw]
        alone += both.sum(axis=0)[draw] == 1
    own = np.arange(n), labels
    sums[own] -= len(draws)
    others = np.tile(sizes.astype(float), (n, 1))
    others[own] -= 1
    found = sums / np.maximum(others, 1.0) / len(draws)
    single = sizes[labels] == 1
    found[np.flatnonzero(single), labels[single]] = alone[single] / len(draws)
    return np.asarray(np.clip(found, 0.0, 1.0))
