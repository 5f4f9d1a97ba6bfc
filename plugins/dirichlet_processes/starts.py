"""The state of a chain before its first sweep: another one for each chain, so that chains that agree have found it."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import chain_of
from plaidwork.plugins.dirichlet_processes.base import first_base, least_b0
from plaidwork.plugins.dirichlet_processes.joint import least_scatter
from plaidwork.plugins.dirichlet_processes.joint_layout import pieces
from plaidwork.plugins.dirichlet_processes.kernels.forms import doubled, empty_clusters
from plaidwork.plugins.dirichlet_processes.likeness import learns_shape
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.settings import Settings
from plaidwork.plugins.dirichlet_processes.state import SLOTS, Base, Ints, State, Table, refresh_weights

VARIED = ("together", "sequential", "means", "random")
RANDOM = 8
ROUNDS, MOST_MEANS = 10, 50


def start_labels(table: Table, params: Settings, rng: np.random.Generator) -> Ints:
    """(n,) labels, -1 for rows that the first sweep places."""
    n = len(table.items.numbers)
    word: str = params["start"]
    if word == "varied":
        word = VARIED[chain_of(rng) % len(VARIED)]
    if word == "sequential":
        return np.full(n, -1, np.int64)
    if word == "random":
        return rng.integers(0, min(RANDOM, n), n)
    return k_means(table, rng) if word == "means" else np.zeros(n, np.int64)


def root_shares(table: Table) -> Floats:
    """(n, W) square roots of the shares of counts that share a total, NaN where the total is 0 or missing."""
    rows, codes = table.items.rows, len(table.code_of)
    counts = np.zeros((len(rows.totals), len(table.share_of)))
    owner = np.repeat(np.arange(len(counts)), rows.spans[:, -1] - rows.spans[:, 0])
    counts[owner, rows.place - table.first[codes]] = rows.tally
    totals = np.repeat(rows.totals, np.diff(table.first[codes:]), axis=1)
    return np.sqrt(np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0))


def k_means(table: Table, rng: np.random.Generator) -> Ints:
    """Lloyd's rounds with about sqrt(n) centres on the standardised columns, missing cells at the mean. (n,)"""
    items = table.items
    counts = np.where(items.counts >= 0, np.log1p(np.maximum(items.counts, 0.0)), np.nan)
    codes = np.where(items.codes >= 0, items.codes.astype(float), np.nan)
    joint = np.where(items.joint_known, items.joint, np.nan)
    parts = [np.where(items.known, items.numbers, np.nan), joint, codes, counts, root_shares(table)]
    columns = np.concatenate(parts, axis=1)
    known = ~np.isnan(columns)
    columns = np.where(known, columns, 0.0)
    seen = np.maximum(known.sum(axis=0), 1)
    columns = np.where(known, columns - columns.sum(axis=0) / seen, 0.0)
    columns /= np.maximum(np.sqrt((columns**2).sum(axis=0) / seen), 1e-12)
    n = len(columns)
    centres = columns[rng.permutation(n)[: min(max(1, round(np.sqrt(n))), MOST_MEANS)]]
    labels = np.zeros(n, np.int64)
    for _ in range(ROUNDS):
        labels = np.argmin((centres**2).sum(axis=1) - 2.0 * columns @ centres.T, axis=1)
        sizes = np.bincount(labels, minlength=len(centres))
        sums: Floats = np.zeros_like(centres)
        np.add.at(sums, labels, columns)
        centres = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def new_state(
    labels: Ints,
    widths: tuple[int, int, int, int],
    params: Settings,
    base: Base,
    alpha: float,
    discount: float,
    joint: Floats,
    joint_widths: tuple[int, ...] = (),
) -> State:
    """The state with these labels; ``widths`` and ``joint_widths`` as ``Table`` has them, ``joint`` (n, F) as the state."""
    clusters = empty_clusters(SLOTS, *widths, joint_widths)
    while len(clusters["size"]) <= labels.max() + 1:
        clusters = doubled(clusters)
    n = len(labels)
    state: State = {
        "labels": labels.astype(np.int64),
        "order": np.arange(n),
        "alpha": float(alpha),
        "discount": float(discount),
        "base": base,
        "clusters": clusters,
        "pair": empty_clusters(3, *widths, joint_widths),
        "joint": joint,
        "fresh": np.zeros(n),
        "at": np.zeros(5, np.int64),
        "log_evidence": 0.0,
        "log_new": np.zeros(0),
    }
    refresh_weights(state, params)
    return state


def first_state(table: Table, params: Settings, rng: np.random.Generator) -> State:
    """Where a chain begins."""
    numbers, _, _, counts = table.widths
    base = first_base(params, len(table.kinds), numbers, counts, table.joint_widths)
    base["k0"][table.row_matrix] = params["share_weight"]
    if learns_shape(params, table.kinds):
        base["shape"] = max(params["within_shape"], params["least_shape"])
    if params["learn_base"]:
        base["b0"] = np.maximum(base["b0"], least_b0(params, table.least))
        for d, columns, square in pieces(table.joint_first):
            diagonal = base["psi"][square][:: d + 1]
            diagonal[:] = np.maximum(diagonal, least_scatter(params, table.joint_least[columns]))
    alpha = params["alpha_shape"] / params["alpha_rate"] if params["learn_alpha"] else params["alpha"]
    discount = (
        params["discount"] if params["prior"] == "pitman_yor" and not params["learn_discount"] else 0.25
    )
    labels = start_labels(table, params, rng)
    joint = table.items.joint.copy()
    return new_state(labels, table.widths, params, base, alpha, discount, joint, table.joint_widths)
