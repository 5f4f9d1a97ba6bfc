"""The partition nearest to all draws, with the ball of 95 % of them (Wade and Ghahramani 2018)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import ChainView, Kept, format_correlation
from plaidwork.plugins.dirichlet_processes.kernels.clusterings import (
    improve,
    similarity,
    togetherness,
    variation,
)
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.state import Ints

MOST_DRAWS = 2000
"""Draws that are compared, evenly spread over those of all chains."""
MOST_SCORED = 400
"""Draws by which moves of single samples are scored; the expectation over all draws decides between what they end in."""
MOST_COMPARED = 300
"""Samples whose pairs are compared between two halves of the chains."""
MOST_CELLS = 40_000_000
CANDIDATES = 60
SEQUENTIAL = 8
PASSES = 30


@dataclass(frozen=True)
class NearestPartition:
    """The partition with the least expected variation of information that was found.

    Attributes
    ----------
    labels : (n,) the largest cluster first
    expected : mean distance to the draws, bits
    ball : distance within which 95 % of the draws lie, bits
    fewest, most : numbers of clusters of the draws in the ball
    """

    labels: Ints
    expected: float
    ball: float
    fewest: int
    most: int

    def __len__(self) -> int:
        return int(self.labels.max()) + 1


def pooled_draws(kept: Kept, most: int) -> list[tuple[ChainView, int]]:
    """Chain and number of at most so many draws, evenly spread over those of all chains."""
    used = [(chain, i) for chain in kept.chains for i in range(chain.n_draws)]
    return [used[place] for place in spread_evenly(len(used), most)]


def half_of_draws(kept: Kept, most: int) -> Ints:
    """(S,) 0 or 1 for each of :func:`pooled_draws`: every other chain is of the first half of the chains."""
    place = {chain.chain: i for i, chain in enumerate(one for one in kept.chains if one.n_draws)}
    return np.array([place[chain.chain] % 2 for chain, _ in pooled_draws(kept, most)], np.int64)


def agreement_of_halves(draws: Ints, half: Ints, samples: Ints) -> float:
    """Correlation of how often two samples are together between both halves of the draws (S, n), over pairs of the ``samples`` (q,).

    1 where the halves are equal; NaN for a single chain, and where one half has all pairs alike and the other not.
    """
    if not 0 < half.sum() < len(half):
        return math.nan
    some = samples[spread_evenly(len(samples), MOST_COMPARED)]
    pairs = np.triu_indices(len(some), 1)
    one, other = (similarity(draws[half == h], some)[pairs].astype(float) for h in (0, 1))
    if np.array_equal(one, other):
        return 1.0
    return float(np.corrcoef(one, other)[0, 1]) if one.std() > 0 and other.std() > 0 else math.nan


def words_of_agreement(agreement: float) -> str:
    """A sentence with the space before it; empty where nothing is known."""
    if math.isnan(agreement):
        return ""
    return (
        f" Who is with whom correlates by {format_correlation(agreement)} between two halves of the chains."
    )


def nearest_to(kept: Kept) -> tuple[NearestPartition, Ints]:
    """The partition that is shown, and the draws (S, n) that it is nearest to."""
    draws = np.array([chain.draw("cluster_of", i) for chain, i in pooled_draws(kept, MOST_DRAWS)], np.int64)
    return nearest_partition(draws, kept.under_way), draws


def spread_evenly(n: int, most: int) -> Ints:
    """At most ``most`` places below ``n``, evenly spread."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).round().astype(np.int64)


def by_size(labels: Ints) -> Ints:
    """The same partition numbered from the largest cluster on; ties by first sample."""
    _, first, codes, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(sizes), np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return np.asarray(rank[codes])


def nearest_partition(draws: Ints, quick: bool = False) -> NearestPartition:
    """The partition nearest to the draws (S, n); no random number but of a fixed seed, so that it repeats.

    The best of some draws, and partitions built sample by sample in orders by chance, are each improved by moves of single samples.
    """
    s, n = draws.shape
    slots = min(n, 2 * int(draws.max() + 1) + 2)
    scored = min(MOST_SCORED, max(20, MOST_CELLS // (slots * int(draws.max() + 1))))
    some = np.ascontiguousarray(draws[spread_evenly(s, scored)])
    rng = np.random.default_rng(n)
    candidates = [draws[t].copy() for t in spread_evenly(s, 10 if quick else CANDIDATES)]
    best = min(candidates, key=lambda labels: float(variation(labels, some).mean()))
    starts = [best.copy(), *(np.full(n, -1, np.int64) for _ in range(1 if quick else SEQUENTIAL))]
    for start in starts:
        improve(start, some, rng.permutation(n), slots, PASSES)
    found = [by_size(placed(labels, some)) for labels in (best, *starts)]
    distance = [variation(labels, draws) for labels in found]
    chosen = int(np.argmin([one.mean() for one in distance]))
    ball = float(np.quantile(distance[chosen], 0.95, method="inverted_cdf"))
    inside = draws[distance[chosen] <= ball + 1e-12].max(axis=1) + 1
    return NearestPartition(
        found[chosen], float(distance[chosen].mean()), ball, int(inside.min()), int(inside.max())
    )


def placed(labels: Ints, draws: Ints) -> Ints:
    """The partition with samples that stand alone, but seldom do in the draws, in the cluster that they are with most often.

    The expected loss sets a sample apart that belongs to three clusters in turn; it would read as a cluster that nobody found.
    """
    labels = by_size(labels)
    alone = np.bincount(labels)[labels] == 1
    if alone.any() and labels.max() > 0:
        own, second, next_to = rank_of_certainty(togetherness(labels, draws), labels)
        move = alone & (own < next_to)
        move &= ~alone[np.array([np.flatnonzero(labels == k)[0] for k in second])]
        labels = np.where(move, second, labels)
    return labels


def rank_of_certainty(together: Floats, labels: Ints) -> tuple[Floats, Ints, Floats]:
    """Of each sample (n,): how surely it is in its cluster, the next cluster, and how often it is with that; from ``togetherness``."""
    rows = np.arange(len(labels))
    own = together[rows, labels]
    others = together.copy()
    others[rows, labels] = -1.0
    second = others.argmax(axis=1)
    return own, second, np.maximum(others[rows, second], 0.0)
