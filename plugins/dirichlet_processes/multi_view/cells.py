"""The contingency table of two views: how many samples each pair of clusters has, and how many it would if the views were independent."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.core.api import Kept, Result, Table, counted
from plaidwork.plugins.dirichlet_processes.clusterings import pooled_draws
from plaidwork.plugins.dirichlet_processes.multi_view.dependence import pairs_of, shares_of_draw
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.state import Ints

MOST_DRAWS = 400
"""Draws over which tables are averaged, evenly spread over those of all chains."""
ENDS = (0.05, 0.95)
NAMES = ("block_of", "cluster_of", "n_clusters", "weight", "concentrations")


def shown_shares(drawn: Ints, shown: Ints, clusters: int) -> Floats:
    """(C + 1, clusters + 1) share of each cluster of a draw that is in each shown one; new clusters are in none of them."""
    number = int(drawn.max(initial=-1)) + 1
    out = np.zeros((number + 1, clusters + 1))
    inside = drawn >= 0
    np.add.at(out, (drawn[inside], shown[inside]), 1.0)
    out[:number] /= np.maximum(out[:number].sum(axis=1, keepdims=True), 1.0)
    out[number, clusters] = 1.0
    return out


def cells_of(kept: Kept, labels: Ints, views: list[str], names: list[np.ndarray]) -> dict[str, Any]:
    """Results of all pairs: samples in both clusters, expected ones with 90 % intervals, those of independent views, and how surely
    there are more. ``labels`` (V, n) of the clusters shown, -1 where a sample lacks the view."""
    pairs, n = pairs_of(len(views)), labels.shape[1]
    numbers = [len(called) for called in names]
    joint: list[list[Floats]] = [[] for _ in pairs]
    for chain, i in pooled_draws(kept, MOST_DRAWS):
        draw = {name: chain.draw(name, i) for name in NAMES}
        shares, clusters = shares_of_draw(draw), np.asarray(draw["cluster_of"], np.int64)
        to = [shown_shares(clusters[v], labels[v], numbers[v]) for v in range(len(views))]
        for p, (v, w) in enumerate(pairs):
            joint[p].append(to[v].T @ shares.joint(v, w) @ to[w])
    found: dict[str, Any] = {}
    columns: dict[str, list[Any]] = {
        name: []
        for name in ("Cluster", "Other cluster", "Samples", "Expected", "Low", "High", "If independent", "More", "Log ratio")
    }  # fmt: skip
    for p, (v, w) in enumerate(pairs):
        tables = np.array(joint[p])
        alone = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
        tables, alone = tables[:, :-1, :-1], alone[:, :-1, :-1]
        ratio = np.log2(np.maximum(tables, 1e-12) / np.maximum(alone, 1e-12))
        counts = np.zeros((numbers[v], numbers[w]))
        both = (labels[v] >= 0) & (labels[w] >= 0)
        np.add.at(counts, (labels[v][both], labels[w][both]), 1.0)
        total = int(both.sum())
        expected, chance = total * tables.mean(axis=0), total * alone.mean(axis=0)
        low, high = total * np.quantile(tables, ENDS, axis=0)
        more, at = (ratio > 0).mean(axis=0), f"{v + 1}_{w + 1}"
        dims = (f"cluster_{v + 1}", f"cluster_{w + 1}")
        found |= {
            f"cells_{at}": Result(counts, dims, label="samples in both clusters"),
            f"expected_{at}": Result(expected, dims, label="expected samples"),
            f"expected_interval_{at}": Result(np.stack([low, high], axis=-1), (*dims, "side"), label="90 % interval"),
            f"alone_{at}": Result(chance, dims, label="expected samples if the views were independent"),
            f"more_{at}": Result(more, dims, label="probability of more samples than that"),
            f"log_ratio_{at}": Result(ratio.mean(axis=0), dims, label="log2 of expected over independent"),
        }  # fmt: skip
        columns["Cluster"] += np.repeat(names[v], numbers[w]).tolist()
        columns["Other cluster"] += np.tile(names[w], numbers[v]).tolist()
        whole = (counts, expected, low, high, chance, more, ratio.mean(axis=0))
        for name, values in zip(list(columns)[2:], whole, strict=True):
            columns[name] += values.ravel().tolist()
    arrays = {
        name: np.array(values, object if "luster" in name else float) for name, values in columns.items()
    }
    arrays["Samples"] = arrays["Samples"].astype(np.int64)
    found["cells"] = Table(arrays, units={"More": "share"}, label="pairs of clusters")
    found["cells_caption"] = (
        "Samples that are in both clusters; expected ones by the model with a 90 % interval, and those if the views were independent. "
        "More: the probability that a pair has more samples than that. Log ratio: of expected to independent ones, to base 2; "
        f"means over {counted(min(MOST_DRAWS, len(joint[0])), 'draw')} for n = {n}."
    )
    return found
