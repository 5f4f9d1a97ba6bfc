"""What a fit found: how far views depend on each other, and in each of them the nearest partition, in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.api import (
    Kept,
    ModelData,
    Result,
    Results,
    Table,
    counted,
    format_count,
    format_fixed,
)
from plaidwork.plugins.dirichlet_processes.clusterings import (
    MOST_DRAWS,
    NearestPartition,
    agreement_of_halves,
    half_of_draws,
    nearest_partition,
    pooled_draws,
    rank_of_certainty,
    spread_evenly,
    words_of_agreement,
)
from plaidwork.plugins.dirichlet_processes.kernels.clusterings import similarity, togetherness
from plaidwork.plugins.dirichlet_processes.multi_view.cells import cells_of
from plaidwork.plugins.dirichlet_processes.multi_view.dependence import pairs_of
from plaidwork.plugins.dirichlet_processes.multi_view.reference import permuted_information
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.multi_view.state import ViewTables, check_labels, one_view
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.profiles import Profiles, profiles_of
from plaidwork.plugins.dirichlet_processes.results import MOST_SHOWN, UNSURE, marks
from plaidwork.plugins.dirichlet_processes.state import Ints

INTERVAL = (0.025, 0.975)
SURE = 0.95
"""Share of permutations that mutual information has to exceed to be called more than chance."""


def points_of(kept: Kept, tables: ViewTables) -> list[tuple[NearestPartition, Ints, Ints]]:
    """Of each view the partition that is shown, of which samples it is, and the draws (S, those) that it is nearest to."""
    drawn = np.array([chain.draw("cluster_of", i) for chain, i in pooled_draws(kept, MOST_DRAWS)], np.int64)
    check_labels(drawn, tables)
    found = []
    for v, has in enumerate(tables.bag.has):
        inside = np.flatnonzero(has)
        draws = np.ascontiguousarray(drawn[:, v, inside])
        found.append((nearest_partition(draws, kept.under_way), inside, draws))
    return found


def names_of(view: str, clusters: int) -> np.ndarray:
    """What the clusters of a view are called."""
    return np.array([f"{view} {k + 1}" for k in range(clusters)], object)


def summarise_views(kept: Kept, data: ModelData, tables: ViewTables, params: ViewSettings) -> Results:
    """All results, from the draws of all chains."""
    blocks = tuple(data["views"])
    found: Results = {}
    points, certainties, names, half = [], [], [], half_of_draws(kept, MOST_DRAWS)
    for v, (block, (point, inside, draws)) in enumerate(zip(blocks, points_of(kept, tables), strict=True)):
        certainty = rank_of_certainty(togetherness(point.labels, draws), point.labels)
        called = names_of(block.name, len(point))
        agreement = words_of_agreement(agreement_of_halves(draws, half, np.arange(len(inside))))
        samples = np.array(block.names[0], object)
        found |= _similarity(v, point, certainty[0], draws, inside, samples, called, agreement)
        points.append((point, inside))
        certainties.append(certainty)
        names.append(called)
    n = len(blocks[0].names[0])
    labels, sure = np.full((len(blocks), n), -1, np.int64), np.zeros((len(blocks), n))
    for v, (point, inside) in enumerate(points):
        labels[v, inside], sure[v, inside] = point.labels, certainties[v][0]
    nearest = [point for point, _ in points]
    found |= _dependence(kept, tables, params, [block.name for block in blocks])
    found |= cells_of(kept, labels, [block.name for block in blocks], names)
    profile, stands_out = _profiles(kept, data, tables, params, labels, names)
    found |= profile
    found |= _samples(blocks, points, certainties, names, labels, sure, stands_out)
    found |= _words(nearest, labels, sure, [block.name for block in blocks])
    return found


def _dependence(kept: Kept, tables: ViewTables, params: ViewSettings, names: list[str]) -> dict[str, Any]:
    """The table of all pairs, and the headline."""
    chains = [chain for chain in kept.chains if chain.n_draws]
    mutual = np.concatenate([chain.stack("mutual") for chain in chains])
    entropy = np.concatenate([chain.stack("entropy") for chain in chains])
    total = np.concatenate([chain.stack("total_correlation") for chain in chains])
    chance = permuted_information(kept, tables, params)
    pairs = pairs_of(len(names))
    most = np.array([np.minimum(entropy[:, v], entropy[:, w]).mean() for v, w in pairs])
    low, high = np.quantile(mutual, INTERVAL, axis=0)
    mean, by_chance = mutual.mean(axis=0), chance.mean(axis=0)
    beyond = (mean[None, :] > chance).mean(axis=0)
    table = {
        "View": np.array([names[v] for v, _ in pairs], object),
        "Other view": np.array([names[w] for _, w in pairs], object),
        "Mutual information": mean,
        "Low": low,
        "High": high,
        "By chance": by_chance,
        "At most": most,
        "Share": mean / np.maximum(most, 1e-12),
    }
    nats = ("Mutual information", "Low", "High", "By chance", "At most")
    best = int(np.argmax(mean - by_chance))
    v, w = pairs[best]
    told = f"{format_fixed(mean[best], 2)} nats ({format_fixed(low[best], 2)} to {format_fixed(high[best], 2)}) of at most {format_fixed(most[best], 2)}"
    which = f"“{names[v]}” and “{names[w]}”"
    if beyond[best] < SURE:
        which = (
            f"{which} share no more than by chance:"
            if len(pairs) == 1
            else "No two views share more than by chance; most is shared by " + which + ":"
        )
    else:
        which = (
            f"{which} share" if len(pairs) == 1 else f"Of {counted(len(pairs), 'pair')} {which} share most:"
        )
    caption = (
        "Mutual information of the clusters of two views, posterior mean and 95 % interval. By chance: the same clusters with the "
        f"samples permuted, {format_fixed(by_chance[best], 3)} nats here. At most: the smaller entropy of the two."
    )
    if len(names) > 2 and np.isfinite(total).all():
        ends = [format_fixed(q, 2) for q in (total.mean(), *np.quantile(total, INTERVAL))]
        caption += f" Total correlation of all views: {ends[0]} nats ({ends[1]} to {ends[2]})."
    return {
        "headline": f"{which} {told}",
        "caption": caption,
        "information": Table(table, units={**dict.fromkeys(nats, "nats"), "Share": "share"}, label="dependence of views"),
        "mutual_information": Result(mean, ("pair",), unit="nats", label="mutual information"),
        "chance_information": Result(by_chance, ("pair",), unit="nats", label="mutual information by chance"),
    }  # fmt: skip


def _similarity(
    v: int,
    point: NearestPartition,
    own: Floats,
    draws: Ints,
    inside: Ints,
    samples: np.ndarray,
    names: np.ndarray,
    agreement: str,
) -> dict[str, Any]:
    order = np.lexsort((-own, point.labels))
    shown, at = order[spread_evenly(len(order), MOST_SHOWN)], v + 1
    ball = (
        f"Nearest to {counted(len(draws), 'draw')} of all chains, {format_fixed(point.expected, 2)} bits away on average (0 is equal); "
        f"95 % of them are within {format_fixed(point.ball, 2)} bits."
    )
    ball += agreement
    return {
        f"similarity_{at}": Result(
            similarity(draws, shown), (f"shown_{at}", f"shown_{at}"), label="probability to be together"
        ),
        f"shown_sample_{at}": Result(samples[inside[shown]], (f"shown_{at}",)),
        f"shown_place_{at}": Result(inside[shown], (f"shown_{at}",), label="places of the samples shown"),
        f"cluster_{at}": Result(names, (f"cluster_{at}",)),
        f"ball_{at}": ball,
    }


def _samples(
    blocks: tuple[Any, ...],
    points: list[tuple[NearestPartition, Ints]],
    certainties: list[tuple[Floats, Ints, Floats]],
    names: list[np.ndarray],
    labels: Ints,
    sure: Floats,
    stands_out: list[str],
) -> dict[str, Any]:
    columns: dict[str, Any] = {"Sample": np.array(blocks[0].names[0], object)}
    for v, block in enumerate(blocks):
        called = np.append(names[v], "")
        columns[block.name] = called[labels[v]]
        columns[f"Certainty in {block.name}"] = np.where(labels[v] >= 0, sure[v], np.nan)
    rows: dict[str, list[Any]] = {"View": [], "Cluster": [], "Samples": [], "Certainty": []}
    for v, (point, _) in enumerate(points):
        sizes = np.bincount(point.labels)
        rows["View"] += [blocks[v].name] * len(point)
        rows["Cluster"] += list(names[v])
        rows["Samples"] += sizes.tolist()
        rows["Certainty"] += (np.bincount(point.labels, certainties[v][0]) / sizes).tolist()
    views = np.array([block.name for block in blocks], object)
    return {
        "assignments": Table(columns, label="clusters of the samples"),
        "labels": Result(labels, ("view", "sample"), label="cluster of each sample in each view, from 0"),
        "certainty": Result(
            sure, ("view", "sample"), label="certainty of a sample's cluster", doc="0 in a view that it lacks"
        ),
        "view_names": Result(views, ("view",)),
        "clusters": Table(
            {
                name: np.array(values, object if name in ("View", "Cluster") else None)
                for name, values in rows.items()
            }
            | {"Stands out by": np.array(stands_out, object)},
            label="clusters",
        ),
    }


def _profiles(
    kept: Kept,
    data: ModelData,
    tables: ViewTables,
    params: ViewSettings,
    labels: Ints,
    names: list[np.ndarray],
) -> tuple[dict[str, Any], list[str]]:
    chains = [chain for chain in kept.chains if chain.n_draws]
    centre, scale, weight = (
        np.mean([chain.stack(name).mean(axis=0) for chain in chains], axis=0)
        for name in ("base_centre", "base_scale", "base_weight")
    )
    found: dict[str, Any] = {}
    parts: list[Profiles] = []
    first = 0
    for v, (block, table) in enumerate(zip(data["views"], tables.tables, strict=True)):
        here, at = slice(first, first + block.shape[1]), v + 1
        first += block.shape[1]
        profile = profiles_of(
            labels[v], one_view(block), table, params, centre[here], scale[here], weight[v : v + 1]
        )
        parts.append(profile)
        dims = (f"cluster_{at}", f"column_{at}")
        found |= {
            f"column_names_{at}": Result(np.array(profile.names, object), dims[1:]),
            f"profile_{at}": Result(profile.value, dims, label="mean in each cluster"),
            f"profile_interval_{at}": Result(profile.interval, (*dims, "side"), label="95 % interval"),
            f"stands_out_{at}": Result(
                profile.stands_out, dims, label="standard deviations from all samples"
            ),
        }
    rows = [len(part.names) for part in parts]
    detail = {
        "View": np.concatenate(
            [
                np.full(part.value.size, block.name, object)
                for part, block in zip(parts, data["views"], strict=True)
            ]
        ),
        "Cluster": np.concatenate([np.repeat(called, r) for called, r in zip(names, rows, strict=True)]),
        "Column": np.concatenate([np.tile(np.array(part.names, object), len(part.value)) for part in parts]),
        "Mean": np.concatenate([part.value.ravel() for part in parts]),
        "Low": np.concatenate([part.interval[..., 0].ravel() for part in parts]),
        "High": np.concatenate([part.interval[..., 1].ravel() for part in parts]),
        "All samples": np.concatenate([np.tile(part.whole, len(part.value)) for part in parts]),
        "Standard deviations": np.concatenate([part.stands_out.ravel() for part in parts]),
    }
    told = [marks(row, np.array(part.names, object)) for part in parts for row in part.stands_out]
    found |= {
        "profile_table": Table(detail, label="columns by cluster"),
        "profile_caption": "Posterior mean and 95 % interval of each cluster's mean (of yes or no and categories the share, of counts the rate), "
        "given this grouping.",
    }
    return found, told


def _words(points: list[NearestPartition], labels: Ints, sure: Floats, names: list[str]) -> dict[str, Any]:
    counts = [int((row >= 0).sum()) for row in labels]
    unsure = [int(((row < UNSURE) & (own >= 0)).sum()) for row, own in zip(sure, labels, strict=True)]
    told = ", ".join(
        f"{counted(len(point), 'cluster')} in “{name}”" for point, name in zip(points, names, strict=True)
    )
    doubt = ", ".join(
        f"{format_count(few)} of {format_count(count)} in “{name}”"
        for few, count, name in zip(unsure, counts, names, strict=True)
    )
    return {
        "groups_headline": told,
        "groups_caption": "Clusters have no names from draw to draw; of each view the clustering is shown that is nearest to the draws of all chains.",
        "certainty_headline": f"Uncertain samples: {doubt}",
        "assignments_caption": "Certainty: how often a sample is together with the other members of its cluster in this view, on average over them. "
        f"Below {UNSURE:g} it counts as uncertain. A view that a sample lacks has no cluster.",
    }
