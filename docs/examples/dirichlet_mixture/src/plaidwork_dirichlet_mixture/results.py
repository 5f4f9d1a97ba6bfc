"""What a fit found, without names of clusters: similarity, the nearest clustering, its means, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.api import Block, Kept, Params, Result, Results, Table, distribution, rank_chains
from plaidwork_dirichlet_mixture.partitions import (
    PointClustering,
    affinity,
    point_clustering,
    similarity,
    spread_evenly,
)
from plaidwork_dirichlet_mixture.starts import scaling

MOST_DRAWS = 400
MOST_SHOWN = 600
MOST_NUMBERS = 20_000_000
DETAIL = 3


def summarise_draws(kept: Kept, block: Block, params: Params) -> Results:
    """All results, from the draws of the chains that agree."""
    agree, reason = rank_chains([chain.kept_trace("log_joint") for chain in kept.chains])
    chains = [chain for chain, keep in zip(kept.chains, agree, strict=True) if keep and chain.n_draws]
    places = [(chain, i) for chain in chains for i in range(chain.n_draws)]
    used = [places[p] for p in spread_evenly(len(places), MOST_DRAWS)]
    draws = np.array([chain.draw("cluster_of", i) for chain, i in used], np.int64)
    numbers = np.concatenate([chain.stack("n_clusters") for chain in chains])
    point = point_clustering(draws)
    near = affinity(point.labels, draws)
    names = np.array([f"cluster {k + 1}" for k in range(len(point))])
    found: Results = {}
    found |= _texts(point, numbers, block, len(places), "" if agree.all() else reason)
    found |= _items(point, near, names, block)
    found |= _similarity(point, near, draws, block)
    found |= _number(numbers)
    found |= _centres(point, near, names, used, block)
    return found


def _texts(
    point: PointClustering, numbers: np.ndarray, block: Block, n_draws: int, reason: str
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
            f"Nearest to {n_draws} draws: {point.expected:.2f} bits away on average, 95 % within {point.ball:.2f} "
            f"(0 is equal, {np.log2(max(n, 1)):.1f} the most). {reason}"
        ).strip(),
        "similarity_caption": (
            "Probability that two items are in one cluster, in the order of the clustering"
            + (f"; {MOST_SHOWN} of {n} items." if n > MOST_SHOWN else ".")
        ),
        "assignments_caption": (
            "Probability: how often an item is together with the other members of its cluster; for a cluster of one, "
            "how often it is alone. Next: the cluster it is together with most often besides."
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
    most = max(10, MOST_NUMBERS // (k * d))
    found = []
    for chain, i in [used[p] for p in spread_evenly(len(used), most)]:
        labels, means = chain.draw("cluster_of", i), chain.draw("means", i)
        share = np.zeros((k, len(means)))
        np.add.at(share, (point.labels, labels), 1.0)
        found.append(share @ means / sizes[:, None])
    mean = np.mean(found, axis=0)
    low, high = np.quantile(found, (0.025, 0.975), axis=0)
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
