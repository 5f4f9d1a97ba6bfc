"""What a fit found, without names of clusters: similarity, the nearest partition and its ball, profiles, in plain words."""

from __future__ import annotations

import math
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
    format_percent,
)
from plaidwork.core.api_draws import distribution
from plaidwork.plugins.dirichlet_processes.clusterings import (
    MOST_DRAWS,
    NearestPartition,
    agreement_of_halves,
    half_of_draws,
    nearest_to,
    rank_of_certainty,
    spread_evenly,
    words_of_agreement,
)
from plaidwork.plugins.dirichlet_processes.kernels.clusterings import similarity, togetherness
from plaidwork.plugins.dirichlet_processes.likeness import learns_shape
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.profiles import Profiles, profiles_of
from plaidwork.plugins.dirichlet_processes.settings import Settings
from plaidwork.plugins.dirichlet_processes.state import Ints
from plaidwork.plugins.dirichlet_processes.state import Table as Columns

MOST_SHOWN = 600
"""Samples in the picture of similarities."""
UNSURE = 0.6
LISTED = 6
"""Clusters whose sizes the headline tells; of more it tells the largest."""
DETAIL = 3


def summarise_draws(kept: Kept, data: ModelData, table: Columns, params: Settings) -> Results:
    """All results, from the draws of all chains."""
    chains = [chain for chain in kept.chains if chain.n_draws]
    numbers = np.concatenate([chain.stack("n_clusters") for chain in chains])
    point, draws = nearest_to(kept)
    together = togetherness(point.labels, draws)
    certainty = rank_of_certainty(together, point.labels)
    base = [
        np.mean([chain.stack(name).mean(axis=0) for chain in chains], axis=0)
        for name in ("base_centre", "base_scale", "base_weight")
    ]
    if learns_shape(params, table.kinds):
        shape = float(np.mean([chain.stack("base_shape").mean() for chain in chains]))
        params = {**params, "within_shape": shape}
    profile = profiles_of(point.labels, data, table, params, *base)
    names = np.array([f"Cluster {k + 1}" for k in range(len(point))], object)
    samples = np.array(data["views"][0].names[0], object)
    found: Results = {}
    agreement = agreement_of_halves(draws, half_of_draws(kept, MOST_DRAWS), np.arange(draws.shape[1]))
    found |= _words(point, numbers, certainty[0], len(draws), params, agreement)
    if not math.isnan(agreement):
        label = "agreement of two halves of the chains in who is with whom"
        found["agreement"] = Result(np.array(agreement), label=label)
    found |= _samples(point, certainty, names, samples)
    found |= _similarity(point, certainty[0], draws, samples)
    found |= _clusters(point, certainty[0], profile, names)
    found |= _number(numbers)
    return found


def _words(
    point: NearestPartition,
    numbers: Ints,
    certainty: Floats,
    n_draws: int,
    params: Settings,
    agreement: float,
) -> dict[str, Any]:
    sizes, n = np.bincount(point.labels), len(point.labels)
    k, unsure = len(sizes), int((certainty < UNSURE).sum())
    low, high = (int(q) for q in np.quantile(numbers, (0.025, 0.975), method="nearest"))
    listed = [format_count(size) for size in (sizes if k <= LISTED else sizes[:DETAIL])]
    words = listed[0] if k == 1 else f"{', '.join(listed[:-1])} and {listed[-1]}"
    found = f"{counted(k, 'cluster')}{' of' if k <= LISTED else ', the largest of'} {words} samples"
    support, probability = distribution(numbers)
    likely, share = int(support[probability.argmax()]), float(probability.max())
    one = float(probability[support == 1].sum())
    doubt = "no sample uncertain" if not unsure else f"{unsure} of {counted(n, 'sample')} uncertain"
    more = (
        "The prior is that of a finite mixture, so the number of clusters is an answer."
        if params["prior"] == "finite"
        else "Under this prior small extra clusters come and go: for “how many” take the finite mixture."
    )
    ball = (
        f"Nearest to {counted(n_draws, 'draw')} of all chains, {format_fixed(point.expected, 2)} bits away on average (0 is equal). "
        f"The credible ball of 95 % of them reaches {format_fixed(point.ball, 2)} bits, and holds partitions with "
        f"{point.fewest if point.fewest == point.most else f'{point.fewest} to {point.most}'} clusters."
    )
    return {
        "headline": f"{found}, {_agreement(k, n, unsure, one, doubt)}",
        "certainty_headline": f"{doubt[0].upper()}{doubt[1:]}",
        "caption": ball,
        "similarity_caption": f"Probability that two samples are in one cluster. {ball}"
        + words_of_agreement(agreement),
        "number_headline": f"{counted(likely, 'cluster')} in {format_percent(share)} of the draws"
        + ("" if low == high else f", {low} to {high} in 95 %"),
        "number_caption": f"Clusters with at least one sample. {more}",
        "assignments_caption": "Certainty: how often a sample is together with the other members of its cluster, on average over them; of a cluster "
        f"of one, how often it is alone. Below {UNSURE:g} it counts as uncertain.",
    }


def _agreement(k: int, n: int, unsure: int, one: float, doubt: str) -> str:
    """How far the draws agree with the clusters that are shown: ``k`` of them, ``one`` the share of the draws with a single one.

    A partition can be nearest to draws that agree on none, as one cluster is to draws that part the samples in many ways.
    """
    if k == 1 and 2 * unsure > n:
        return f"but only in {format_percent(one)} of the draws; the others part them in different ways"
    if k == 1 and unsure:
        return f"{format_count(unsure)} of them often apart from the others"
    if 2 * unsure > n:
        return f"one of many groupings that are about as probable: {doubt}"
    return doubt


def _samples(
    point: NearestPartition, certainty: tuple[Floats, Ints, Floats], names: np.ndarray, samples: np.ndarray
) -> dict[str, Any]:
    own, second, next_to = certainty
    one = len(point) == 1
    table = {
        "Sample": samples,
        "Cluster": names[point.labels],
        "Certainty": own,
        "Next": np.full(len(own), "", object) if one else names[second],
        "Together with next": np.zeros(len(own)) if one else next_to,
    }
    return {
        "assignments": Table(table, label="clusters of the samples"),
        "labels": Result(point.labels, ("sample",), label="cluster of each sample, from 0"),
        "certainty": Result(own, ("sample",), label="certainty of a sample's cluster"),
        "expected_distance": Result(
            np.array(point.expected), unit="bits", label="mean distance of the draws"
        ),
        "credible_ball": Result(np.array(point.ball), unit="bits", label="radius of the credible ball"),
        "uncertain": Result(np.array(float((own < UNSURE).sum())), label="uncertain samples"),
    }


def _similarity(point: NearestPartition, own: Floats, draws: Ints, samples: np.ndarray) -> dict[str, Any]:
    order = np.lexsort((-own, point.labels))
    shown = order[spread_evenly(len(order), MOST_SHOWN)]
    return {
        "similarity": Result(
            similarity(draws, shown), ("shown_sample", "shown_sample"), label="probability to be together"
        ),
        "shown_sample": Result(
            samples[shown], ("shown_sample",), doc="those shown, by cluster and certainty"
        ),
        "shown_place": Result(shown, ("shown_sample",), label="places of the samples shown"),
    }


def _clusters(point: NearestPartition, own: Floats, profile: Profiles, names: np.ndarray) -> dict[str, Any]:
    sizes, k, rows = np.bincount(point.labels), len(point), len(profile.names)
    columns = np.array(profile.names, object)
    table = {
        "Cluster": names,
        "Samples": sizes,
        "Certainty": np.bincount(point.labels, own) / sizes,
        "Stands out by": np.array([marks(row, columns) for row in profile.stands_out], object),
    }
    detail = {
        "Cluster": np.repeat(names, rows),
        "Column": np.tile(columns, k),
        "Mean": profile.value.ravel(),
        "Low": profile.interval[..., 0].ravel(),
        "High": profile.interval[..., 1].ravel(),
        "All samples": np.tile(profile.whole, k),
        "Standard deviations": profile.stands_out.ravel(),
    }
    far = np.abs(profile.stands_out).max(axis=0)
    most = int(far.argmax())
    return {
        "clusters": Table(table, label="clusters"),
        "cluster": Result(names, ("cluster",)),
        "column_names": Result(columns, ("profile_column",)),
        "profile": Result(profile.value, ("cluster", "profile_column"), label="mean in each cluster"),
        "profile_interval": Result(
            profile.interval, ("cluster", "profile_column", "side"), label="95 % interval"
        ),
        "profile_whole": Result(profile.whole, ("profile_column",), label="mean of all samples"),
        "stands_out": Result(
            profile.stands_out, ("cluster", "profile_column"), label="standard deviations from all samples"
        ),
        "profile_table": Table(detail, label="columns by cluster"),
        "profile_headline": "One cluster: nothing to compare"
        if k == 1
        else f"Clusters differ most in {columns[most]}",
        "profile_caption": "Posterior mean and 95 % interval of each cluster's mean (of yes or no, categories and counts that share a total "
        "the share, of other counts the rate), "
        "given this grouping.",
    }


def marks(row: Floats, columns: np.ndarray) -> str:
    """The columns in which a cluster is furthest from the whole, with how far in standard deviations."""
    best = np.argsort(-np.abs(row), kind="stable")[:DETAIL]
    return ", ".join(f"{columns[j]} {format_fixed(float(row[j]), 1, sign=True)}" for j in best)


def _number(numbers: Ints) -> dict[str, Any]:
    support, probability = distribution(numbers)
    return {
        "number": Result(support, ("number",)),
        "number_probability": Result(probability, ("number",), label="probability"),
    }
