"""Samples that were not fitted: the cluster of each in every view, also in views that it lacks, and how sure that is.

A new sample has the views that are given of it; its block follows from its rows in them, and its cluster in a view that it lacks from
its block alone.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from plaidwork.core.api import (
    Kept,
    ModelData,
    Params,
    Result,
    Results,
    Table,
    counted,
    format_count,
)
from plaidwork.plugins.dirichlet_processes.clusterings import pooled_draws
from plaidwork.plugins.dirichlet_processes.multi_view.cells import shown_shares
from plaidwork.plugins.dirichlet_processes.multi_view.drawn import draw_at, incomplete
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import Bag
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.newcomers import place_new
from plaidwork.plugins.dirichlet_processes.multi_view.results import names_of, points_of
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.multi_view.state import ViewTables, bag_of, one_view
from plaidwork.plugins.dirichlet_processes.newcomers import LIKELY_NEW, MOST_DRAWS, new_items
from plaidwork.plugins.dirichlet_processes.partitions import Floats

NONE = "None of them"


def new_bag(data: ModelData, new_data: ModelData, tables: ViewTables, params: ViewSettings) -> Bag:
    """The new samples in the columns of the fit; a view whose matrix is not given all of them lack."""
    by_name = {block.name: block for block in new_data["views"]}
    m = new_data["views"][0].shape[0]
    items, has = [], np.zeros((len(tables.tables), m), bool)
    for v, (block, table) in enumerate(zip(data["views"], tables.tables, strict=True)):
        items.append(new_items(one_view(block), new_data, table, params))
        if block.name in by_name:
            has[v] = by_name[block.name].observed.any(axis=1)
    return incomplete(bag_of(tables.tables, items, has, cast(Params, params)))


def place_by_draws(kept: Kept, data: ModelData, new: Bag, tables: ViewTables) -> tuple[list[Floats], Floats]:
    """Of each view the probability of each shown cluster and of none (m, C + 1), and log density (m,) on the scale of the fit."""
    m, n = new.has.shape[1], tables.bag.has.shape[1]
    points = points_of(kept, tables)
    shares = [np.zeros((m, len(point) + 1)) for point, _, _ in points]
    shown = np.full((len(points), n), -1, np.int64)
    for labels, (point, inside, _) in zip(shown, points, strict=True):
        labels[inside] = point.labels
    density, total = np.empty(m), np.full(m, -np.inf)
    used = pooled_draws(kept, MOST_DRAWS)
    for chain, i in used:
        one = draw_at(chain, i, data, tables)
        links = one.links
        found = np.empty((m, len(links.beta) + len(shares)))
        place_new(new, one.bases, one.flat, one.pair, one.threes, links, one.a0, found, density)
        for v, share in enumerate(shares):
            own = np.arange(links.first[v], links.first[v] + links.high[v])
            to = shown_shares(one.cluster[v], shown[v], share.shape[1] - 1)
            share += found[:, np.append(own, len(links.beta) + v)] @ to
        total = np.logaddexp(total, density)
    return [share / len(used) for share in shares], total - np.log(len(used))


def predict_views(
    kept: Kept, data: ModelData, new_data: ModelData, tables: ViewTables, params: ViewSettings
) -> Results:
    """Clusters of each new sample in every view with their probabilities, and how probable it is that it belongs to none."""
    new = new_bag(data, new_data, tables, params)
    shares, density = place_by_draws(kept, data, new, tables)
    m, views = len(density), [block.name for block in data["views"]]
    given = [", ".join(view for view, has in zip(views, row, strict=True) if has) for row in new.has.T]
    columns: dict[str, Any] = {
        "Sample": np.array(new_data["views"][0].names[0], object),
        "Views given": np.array(given, object),
    }
    units: dict[str, str] = {}
    found: Results = {}
    for v, (view, share) in enumerate(zip(views, shares, strict=True)):
        names, best = np.append(names_of(view, share.shape[1] - 1), NONE), share.argmax(axis=1)
        columns[f"Cluster in {view}"] = names[best]
        columns[f"Probability in {view}"] = share[np.arange(m), best]
        columns[f"{NONE} in {view}"] = share[:, -1]
        units |= {f"Probability in {view}": "share", f"{NONE} in {view}": "share"}
        at = f"place_{v + 1}"
        found |= {
            f"probability_{v + 1}": Result(
                share, ("sample", at), label=f"probability of each cluster in “{view}”"
            ),
            at: Result(names, (at,)),
        }
    columns["Log density"] = density
    return {
        "headline": _headline(m, views, shares, new.has),
        "caption": "Probability that a new sample belongs to each cluster of the fit, averaged over draws. In a view that a sample lacks its cluster "
        "is predicted from its other views. The log density, of the views given, is on the scale of the fit, and low where a sample is unusual.",
        "assignments": Table(columns, units=units, label="clusters of new samples"),
        **found,
    }


def _headline(m: int, views: list[str], shares: list[Floats], has: np.ndarray) -> str:
    """How many are like none of the clusters of a view that they have, and for how many a view is predicted."""
    told = [counted(m, "new sample")]
    for view, share, there in zip(views, shares, has, strict=True):
        alone = int(((share[:, -1] > LIKELY_NEW) & there).sum())
        if alone:
            told.append(f"{format_count(alone)} like none of the clusters in “{view}”")
        lacking = int((~there).sum())
        if lacking:
            others = [one for one in views if one != view]
            if len(others) == 1:
                told.append(f"{format_count(lacking)} without “{view}” (predicted from “{others[0]}”)")
            else:
                told.append(f"{format_count(lacking)} without “{view}” (predicted from other views)")
    return ", ".join(told)
