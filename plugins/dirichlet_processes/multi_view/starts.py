"""The state of a chain before its first sweep: another one for each chain, so that chains that agree have found it."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import chain_of
from plaidwork.plugins.dirichlet_processes.base import first_base
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.multi_view.state import ViewState, ViewTables, new_state
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.starts import k_means
from plaidwork.plugins.dirichlet_processes.state import Base, Ints, Table

VARIED = ("means", "together", "random")
RANDOM = 8
REST = 0.05


def start_labels(word: str, table: Table, rng: np.random.Generator) -> Ints:
    """(n,) clusters of all samples in a view, from 0 without a gap."""
    n = len(table.items.numbers)
    if word == "means":
        return k_means(table, rng)
    if word == "random":
        return np.unique(rng.integers(0, min(RANDOM, n), n), return_inverse=True)[1].astype(np.int64)
    return np.zeros(n, np.int64)


def first_state(tables: ViewTables, params: ViewSettings, rng: np.random.Generator) -> ViewState:
    """Where a chain begins: blocks are those of the first view's clusters where these are by k-means, else one."""
    word: str = params["start"]
    if word == "varied":
        word = VARIED[chain_of(rng) % len(VARIED)]
    labels = np.array([start_labels(word, table, rng) for table in tables.tables])
    bases: list[Base] = [first_base(params, 1, int(row[0]), int(row[3])) for row in tables.widths]
    law = concentrations(params, len(labels))
    beta: list[Floats] = [np.bincount(one) / len(one) * (1.0 - REST) for one in labels]
    block = labels[0].copy() if word == "means" else np.zeros_like(labels[0])
    cluster = np.where(tables.bag.has, labels, -1)
    return new_state(block, cluster, tables.widths, bases, law, beta, np.full(len(labels), REST))


def concentrations(params: ViewSettings, views: int) -> tuple[float, Floats, Floats]:
    """Those that are fixed, or where a chain begins."""
    if not params["learn"]:
        return params["block_alpha"], np.full(views, params["alpha"]), np.full(views, params["gamma"])
    return (
        params["block_alpha_shape"] / params["block_alpha_rate"],
        np.full(views, params["alpha_shape"] / params["alpha_rate"]),
        np.full(views, params["gamma_shape"] / params["gamma_rate"]),
    )
