"""What a fit found, without names of clusters: similarity, the nearest clustering, its means, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.api import Block, Kept, Params, Result, Results, Table
from plaidwork.core.api_draws import distribution, rank_chains, standard_error
from plaidwork_dirichlet_mixture.partitions import (
    PointClustering,
    affinity,
    point_clustering,
    similarity,
    spread_evenly,
)
from plaidwork_dirichlet_mixture.starts import scaling

MOST_SHOWN = 600
BATCHES = 5
"""Batches of successive draws in a chain, for the Monte Carlo error."""
MOST_NUMBERS = 20_000_000
DETAIL = 3


def summarise_draws(kept: Kept, block: Block, params: Params) -> Results:
    """All results, from the draws of the chains that agree."""
    agree, reason = rank_chains([chain.kept_trace("log_joint") for chain in kept.chains])
    chains = [chain for chain, keep in zip(kept.chains, agree, strict=True) if keep and chain.n_draws]
    used = [(chain, i) for chain in chains for i in range(chain.n_draws)]
    draws = np.array([chain.draw("cluster_of", i) for chain, i in used], np.int64)
    numbers = np.concatenate([chain.stack("n_clusters") for chain in chains])
    point = point_clustering(draws)
    near, error = averaged_affinity(point.labels, draws, [chain.n_draws for chain in chains])
    names = np.array([f"cluster {k + 1}" for k in range(len(point))])
    found: Results = {}
    found |= _texts(point, numbers, block, len(used), error, "" if agree.all() else reason)
    found |= _items(point, near, names, block)
    found |= _similarity(point, near, draws, block)
    found |= _number(numbers)
    found |= _centres(point, near, names, used, block)
    return found


def averaged_affinity(labels: np.ndarray, draws: np.ndarray, counts: list[int]) -> tuple[np.ndarray, float]:
    """:func:`affinity` (n, K) to a clustering over all draws (s, n), of the chains one after the other, and the largest Monte
    Carlo error of an item's with its own cluster, NaN where it is unknown."""
    ends = np.cumsum(counts)
    by_batch = [
        [(len(part), affinity(labels, part)) for part in np.array_split(own, min(BATCHES, len(own)))]
        for own in np.split(draws, ends[:-1])
    ]
    by_chain = [
        np.asarray(sum(size * near for size, near in parts) / sum(size for size, _ in parts))
        for parts in by_batch
    ]
    near = np.asarray(sum(count * one for count, one in zip(counts, by_chain, strict=True)) / ends[-1])
    own = np.arange(len(labels)), labels
    chains = np.stack([one[own] for one in by_chain])
    batches = np.stack([one[own] for parts in by_batch for _, one in parts])
    return near, float(standard_error(chains, batches).max())


def _texts(
    point: PointClustering, numbers: np.ndarray, block: Block, n_draws: int, error: float, reason: str
) -> dict[str, Any]:
    sizes = np.bincount(point.labels)
    low, high = (int(q) for q in np.quantile(numbers, (0.05, 0.95), method="nearest"))
    k, n = len(sizes), len(point.labels)
    shown = [str(size) for size in sizes[:4]] + ([f"{k - 4} smaller ones"] if k > 4 else [])
    words = shown[0] if k == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    number = f"{low}" if low == high else f"{low} to {high}"
    return {
        "headline": f"{k} cluster{'s' if k > 1 else ''} of {n} items: {words}",
        "number_headline": f"{number} cluster{'s' if high > 1 else ''} in most draws",
        "caption": (
            f"Nearest to all {n_draws} draws: {point.expected:.2f} bits away on average, 95 % within {point.ball:.2f} "
            f"(0 is equal, {np.log2(max(n, 1)):.1f} the most). {reason}"
        ).strip(),
        "similarity_caption": (
            "Probability that two items are in one cluster, in the order of the clustering"
            + (f"; {MOST_SHOWN} of {n} items." if n > MOST_SHOWN else ".")
        ),
        "assignments_caption": (
            "Probability: how often an item is together with the other members of its cluster; for a cluster of one, "
            f"how often it is alone, over all {n_draws} draws"
            + (f" (Monte Carlo error up to {error:.3f})" if np.isfinite(error) else "")
            + ". Next: the cluster it is together with most often besides."
        ),
        "profile_caption": "Mean of each cluster in standard deviations from the mean of the column.",
        "centres_caption": "Posterior mean and 95 % interval of each cluster's mean, in the unit of the data.",
    }


def _items(point: PointClustering, near: np.ndarray, names: np.ndarray, block: Block) -> dict[str, Any]:
    n, k = near.shape
    own = near[np.arange(n), point.labels]
    others = near.copy()
    others[np.arange(n), point.labels] = -1.0
    second = others.argmax(axis=1)
    table = {
        "Item": np.array(block.names[0], object),
        "Cluster": names[point.labels],
        "Probability": own,
        "Next": names[second] if k > 1 else np.full(n, ""),
        "Probability of next": others[np.arange(n), second] if k > 1 else np.zeros(n),
    }
    return {
        "assignments": Table(table, label="clusters of the items"),
        "labels": Result(point.labels, ("item",), label="cluster of each item, from 0"),
        "certainty": Result(own, ("item",), label="probability of an item's cluster"),
        "expected_distance": Result(np.array(point.expected), unit="bits"),
        "credible_ball": Result(np.array(point.ball), unit="bits"),
    }


def _similarity(point: PointClustering, near: np.ndarray, draws: np.ndarray, block: Block) -> dict[str, Any]:
    n = len(point.labels)
    order = np.lexsort((-near[np.arange(n), point.labels], point.labels))
    shown = order[spread_evenly(n, MOST_SHOWN)]
    return {
        "similarity": Result(
            similarity(draws, shown), ("shown_item", "shown_item"), label="probability to be together"
        ),
        "shown_item": Result(np.array(block.names[0])[shown], ("shown_item",)),
        "similarity_items": Result(shown, ("shown_item",), label="places of the shown items"),
    }


def _number(numbers: np.ndarray) -> dict[str, Any]:
    support, probability = distribution(numbers)
    return {
        "number": Result(support, ("number",)),
        "number_probability": Result(probability, ("number",), label="probability"),
    }


def _centres(
    point: PointClustering, near: np.ndarray, names: np.ndarray, used: list[Any], block: Block
) -> dict[str, Any]:
    """Means of the clusters: in each draw the mean, over the members, of the means of the clusters they are in."""
    k, d = len(point), block.shape[1]
    sizes = np.bincount(point.labels)
    shares = []
    for chain, i in used:
        share = np.zeros((k, len(chain.draw("means", i))))
        np.add.at(share, (point.labels, chain.draw("cluster_of", i)), 1.0)
        shares.append(share / sizes[:, None])
    mean, low, high = np.zeros((k, d)), np.zeros((k, d)), np.zeros((k, d))
    step = max(1, MOST_NUMBERS // (k * len(used)))
    for lo in range(0, d, step):  # some columns at a time, of all draws
        part = slice(lo, lo + step)
        found = np.stack(
            [share @ chain.draw("means", i)[:, part] for share, (chain, i) in zip(shares, used, strict=True)]
        )
        mean[:, part] = found.mean(axis=0)
        low[:, part], high[:, part] = np.quantile(found, (0.025, 0.975), axis=0)
    centre, scale = scaling(block, True)
    profile = (mean - centre) / scale
    columns = np.array(block.names[1], object)
    own = near[np.arange(len(point.labels)), point.labels]
    clusters = {
        "Cluster": names,
        "Items": sizes,
        "Certainty": np.bincount(point.labels, own) / sizes,
        "Stands out by": np.array([_marks(row, columns) for row in profile], object),
    }
    detail = {
        "Cluster": np.repeat(names, d),
        "Column": np.tile(columns, k),
        "Mean": mean.ravel(),
        "Low": low.ravel(),
        "High": high.ravel(),
    }
    units = dict.fromkeys(("Mean", "Low", "High"), block.unit) if block.unit else {}
    return {
        "clusters": Table(clusters, label="clusters"),
        "found_cluster": Result(names, ("found_cluster",)),
        "profile": Result(profile, ("found_cluster", "feature"), label="mean, standard deviations"),
        "centres": Table(detail, units=units, label="means of the clusters"),
    }


def _marks(row: np.ndarray, columns: np.ndarray) -> str:
    """The columns in which a cluster is furthest from the whole, with how far."""
    best = np.argsort(-np.abs(row), kind="stable")[:DETAIL]
    return ", ".join(f"{columns[j]} {row[j]:+.1f}" for j in best)
