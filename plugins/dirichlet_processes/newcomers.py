"""Samples that were not fitted: the cluster of each, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plaidwork.core.api import (
    Block,
    ChainView,
    Kept,
    ModelData,
    Result,
    Results,
    Table,
    agree,
    counted,
    first_number,
    format_count,
)
from plaidwork.plugins.dirichlet_processes.clusterings import nearest_to, pooled_draws
from plaidwork.plugins.dirichlet_processes.columns import part
from plaidwork.plugins.dirichlet_processes.joint_layout import unpacked
from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Items, empty_clusters
from plaidwork.plugins.dirichlet_processes.kernels.newcomers import place_new
from plaidwork.plugins.dirichlet_processes.likeness import learns_shape
from plaidwork.plugins.dirichlet_processes.partitions import Floats, log_new
from plaidwork.plugins.dirichlet_processes.reading import exposure_of
from plaidwork.plugins.dirichlet_processes.rows import counts_of, packed_rows, whole_rows
from plaidwork.plugins.dirichlet_processes.settings import ColumnSettings, Settings
from plaidwork.plugins.dirichlet_processes.state import Base, law_of
from plaidwork.plugins.dirichlet_processes.state import Table as Columns

MOST_DRAWS = 200
"""Draws over which new samples are averaged, evenly spread over those of all chains."""
LIKELY_NEW = 0.5


def new_items(data: ModelData, new_data: ModelData, table: Columns, params: ColumnSettings) -> Items:
    """The new samples in the columns of the fit: a matrix that they lack is missing, and so is a category that the fit has not seen, or a row
    with gaps where counts share a total."""
    fitted = tuple(data["views"])
    by_name = {block.name: block for block in new_data["views"]}
    m = next(iter(by_name.values())).shape[0]

    def cells(places: np.ndarray) -> tuple[Floats, np.ndarray]:
        values, known = np.zeros((m, len(places))), np.zeros((m, len(places)), bool)
        for at, (v, j) in enumerate(places):
            if (block := by_name.get(fitted[v].name)) is not None:
                values[:, at], known[:, at] = block.values[:, j], block.observed[:, j]
        return values, known

    numbers, known = cells(table.number_of)
    numbers = np.where(known, (numbers - table.centre) / table.scale, 0.0)
    coded, seen = cells(table.code_of)
    codes = np.full(coded.shape, -1, np.int64)
    for at, (v, j) in enumerate(table.code_of):
        if (block := by_name.get(fitted[v].name)) is not None:
            coded[:, at] = _in_words_of(fitted[v], block, j, coded[:, at])
    for at, levels in enumerate(table.values):
        place = np.minimum(np.searchsorted(levels, coded[:, at]), len(levels) - 1)
        codes[:, at] = np.where(seen[:, at] & (levels[place] == coded[:, at]), place, -1)
    counts, there = cells(table.count_of)
    row = {
        v: _exposure(
            by_name.get(fitted[v].name), fitted[v], table.count_of[table.count_of[:, 0] == v, 1], m, params
        )
        for v in np.unique(table.count_of[:, 0])
    }
    exposure = np.array([row[v] for v in table.count_of[:, 0]]).reshape(-1, m).T * table.unit
    joint, joint_known = cells(table.joint_of)
    joint = np.where(joint_known, (joint - table.joint_centre) / table.joint_scale, 0.0)
    counts = np.where(there, counts, -1.0)
    numbers, known, codes, counts, exposure, joint_known = (
        _read_only(array) for array in (numbers, known, codes, counts, exposure, joint_known)
    )
    whole = _read_only(np.asarray(joint_known.all(axis=1)))
    shared = [
        np.zeros((m, fitted[v].shape[1]))
        if (block := by_name.get(fitted[v].name)) is None
        else counts_of(block)
        for v in table.row_matrix
    ]
    rows = packed_rows(m, shared, int(table.first[len(table.values)]))
    return Items(numbers, known, codes, counts, exposure, bool(known.all()), joint, joint_known, whole, rows)


def _exposure(
    block: Block | None, fitted: Block, columns: Sequence[int], m: int, params: ColumnSettings
) -> Floats:
    return np.ones(m) if block is None else exposure_of(part(block, columns), part(fitted, columns), params)


def _in_words_of(fitted: Block, new: Block, j: int, numbers: Floats) -> Floats:
    """The numbers of a column of categories as the fit has them, where both say for which words theirs stand; -1 for other words."""
    known, own = (block.levels[j] if block.levels else () for block in (fitted, new))
    if not known or not own or known == own:
        return numbers
    place = {word: number + first_number(known) for number, word in enumerate(known)}
    meant = np.array([place.get(word, -1) for word in own], float)
    return meant[np.clip(numbers - first_number(own), 0, len(own) - 1).astype(np.int64)]


def _rows_with_gaps(new_data: ModelData, name: str) -> int:
    """Rows of the matrix of this name that are known in part."""
    found = [block for block in new_data["views"] if block.name == name]
    return sum(int((block.observed.any(axis=1) & ~whole_rows(block)).sum()) for block in found)


def _read_only(array: np.ndarray) -> np.ndarray:
    out = np.ascontiguousarray(array)
    out.flags.writeable = False
    return out


def base_of_draw(chain: ChainView, i: int, data: ModelData, table: Columns, params: ColumnSettings) -> Base:
    """The base of a draw, from what is kept of it by column.

    Runs of before columns could be correlated kept no ``base_spread`` and no ``imputed``; none of their columns is.
    """
    centre, scale = np.asarray(chain.draw("base_centre", i)), np.asarray(chain.draw("base_scale", i))
    spread = chain.draw("base_spread", i) if table.joint_widths else np.zeros(0)
    first = np.concatenate([[0], np.cumsum([block.shape[1] for block in data["views"]])])
    numbers = first[table.number_of[:, 0]] + table.number_of[:, 1]
    counts = first[table.count_of[:, 0]] + table.count_of[:, 1]
    base: Base = {
        "m0": centre[numbers],
        "k0": np.asarray(chain.draw("base_weight", i)),
        "b0": scale[numbers],
        "rate": scale[counts],
        "joint_m0": centre[first[table.joint_of[:, 0]] + table.joint_of[:, 1]],
        "psi": unpacked(np.asarray(spread), table.joint_first),
    }
    if learns_shape(params, table.kinds):
        base["shape"] = float(chain.draw("base_shape", i))
    return base


def joint_of_draw(chain: ChainView, i: int, table: Columns) -> Floats:
    """(n, F) correlated columns with the missing cells of a draw."""
    joint = table.items.joint.copy()
    if table.joint_widths:
        joint[~table.items.joint_known] = chain.draw("imputed", i)
    return joint


def place_by_draws(
    kept: Kept, data: ModelData, new: Items, table: Columns, params: Settings
) -> tuple[Floats, Floats]:
    """Probability of each shown cluster and of none (m, C + 1), and log density (m,) on the scale of the fit, over draws."""
    point, (n, m) = nearest_to(kept)[0], (len(table.items.numbers), len(new.numbers))
    complete = table.items.complete and new.complete
    items, new = table.items._replace(complete=complete), new._replace(complete=complete)
    share, density, total = np.zeros((m, len(point) + 1)), np.zeros(m), np.full(m, -np.inf)
    used = pooled_draws(kept, MOST_DRAWS)
    for chain, i in used:
        labels = np.asarray(chain.draw("cluster_of", i), np.int64)
        base = base_of_draw(chain, i, data, table, params)
        filled = items._replace(joint=joint_of_draw(chain, i, table))
        discount = float(chain.draw("discount", i))
        weights = log_new(params, n + 1, float(chain.draw("alpha", i)), discount)
        c = Clusters(**empty_clusters(int(labels.max()) + 2, *table.widths, table.joint_widths))
        place_new(
            filled,
            labels,
            point.labels,
            new,
            c,
            law_of(table, base, params, weights, discount),
            share,
            density,
        )
        total = np.logaddexp(total, density)
    return share / len(used), total - np.log(len(used))


def predict_new(
    kept: Kept, data: ModelData, new_data: ModelData, table: Columns, params: Settings
) -> Results:
    """The cluster of each new sample with its probability, and how probable it is that it belongs to none."""
    new = new_items(data, new_data, table, params)
    share, density = place_by_draws(kept, data, new, table, params)
    names = np.array([*(f"Cluster {k + 1}" for k in range(share.shape[1] - 1)), "None of them"], object)
    best = share.argmax(axis=1)
    alone = int((share[:, -1] > LIKELY_NEW).sum())
    m = len(share)
    table_of_samples = {
        "Sample": np.array(new_data["views"][0].names[0], object),
        "Cluster": names[best],
        "Probability": share[np.arange(m), best],
        "None of them": share[:, -1],
        "Log density": density,
    }
    gaps = sum(_rows_with_gaps(new_data, data["views"][v].name) for v in table.row_matrix)
    told = "all are like some cluster" if not alone else f"{format_count(alone)} like none of the clusters"
    return {
        "headline": f"{counted(m, 'new sample')}, {told}",
        "caption": "Probability that a new sample belongs to each cluster of the fit, averaged over draws; the log density is on the scale of the "
        "fit, and low where a sample is unusual."
        + (
            f" {counted(gaps, 'row')} of counts that share a total {agree(gaps, 'has', 'have')} gaps, and {agree(gaps, 'was', 'were')} left out."
            if gaps
            else ""
        ),
        "assignments": Table(
            table_of_samples,
            units={"Probability": "share", "None of them": "share"},
            label="clusters of new samples",
        ),
        "probability": Result(share, ("sample", "shown"), label="probability of each cluster"),
        "shown": Result(names, ("shown",)),
    }
