"""Draws from the prior: concentrations, blocks, clusters of all views, bases; and data given them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from plaidwork.plugins.dirichlet_processes.base import prior_base
from plaidwork.plugins.dirichlet_processes.multi_view.dependence import information, shares_of
from plaidwork.plugins.dirichlet_processes.multi_view.settings import ViewSettings
from plaidwork.plugins.dirichlet_processes.multi_view.starts import concentrations
from plaidwork.plugins.dirichlet_processes.multi_view.state import ViewState, new_state
from plaidwork.plugins.dirichlet_processes.partitions import Floats
from plaidwork.plugins.dirichlet_processes.settings import CODES, COUNTS, NUMBERS
from plaidwork.plugins.dirichlet_processes.simulate import draw_matrix, draw_partition, kinds_simulated
from plaidwork.plugins.dirichlet_processes.state import Base, Ints

LEAST = 1e-300


def draw_law(params: ViewSettings, views: int, rng: np.random.Generator) -> tuple[float, Floats, Floats]:
    """Concentrations of blocks, and by view of a block's and a view's clusters."""
    if not params["learn"]:
        return concentrations(params, views)
    block = float(rng.gamma(params["block_alpha_shape"]) / params["block_alpha_rate"])
    alpha = rng.gamma(params["alpha_shape"], size=views) / params["alpha_rate"]
    gamma = rng.gamma(params["gamma_shape"], size=views) / params["gamma_rate"]
    return max(block, 1e-12), np.maximum(alpha, 1e-12), np.maximum(gamma, 1e-12)


def draw_clusters(
    rng: np.random.Generator, block: Ints, alpha: float, gamma: float
) -> tuple[Ints, Floats, float]:
    """Clusters of one view (n,) given the blocks, their weights and the rest; shares of the blocks integrated out."""
    beta: list[float] = []
    rest, found = 1.0, np.empty(len(block), np.int64)
    uses: list[list[float]] = [[] for _ in range(int(block.max()) + 1)]
    for i, k in enumerate(block):
        own = np.array(uses[k] + [0.0] * (len(beta) - len(uses[k])))
        running = np.cumsum(np.append(own + alpha * np.array(beta), alpha * rest))
        c = min(int(np.searchsorted(running, rng.random() * running[-1], side="right")), len(beta))
        if c == len(beta):
            kept = math.exp(math.log(max(rng.random(), LEAST)) / gamma)
            beta.append(max(rest * (1.0 - kept), LEAST))
            rest = max(rest * kept, LEAST)
            own = np.append(own, 0.0)
        own[c] += 1.0
        uses[k] = own.tolist()
        found[i] = c
    return found, np.array(beta), rest


def draw_state(
    params: ViewSettings, shapes: Sequence[tuple[int, ...]], rng: np.random.Generator
) -> ViewState:
    """A state from the prior; every sample has every view. Categories are 0 and 1."""
    law = draw_law(params, len(shapes), rng)
    n = shapes[0][0]
    block = draw_partition(rng, np.full(n + 1, math.log(law[0])), 0.0)
    clusters, betas, rest, bases, widths = [], [], [], [], []
    for v, (kind, (_, d)) in enumerate(zip(kinds_simulated(params, len(shapes)), shapes, strict=True)):
        found, beta, left = draw_clusters(rng, block, float(law[1][v]), float(law[2][v]))
        numbers, codes, counts = (d * (kind == one) for one in (NUMBERS, CODES, COUNTS))
        base: Base = prior_base(params, 1, numbers, counts, rng)
        if kind != NUMBERS:  # it stays as it begins
            base["k0"] = np.full(1, params["mean_weight"])
        clusters.append(found)
        betas.append(beta)
        rest.append(left)
        bases.append(base)
        widths.append((numbers, codes, 2 * codes, counts))
    state = new_state(block, np.array(clusters), np.array(widths), bases, law, betas, np.array(rest))
    counted(state)
    state["information"] = information(shares_of(state))
    return state


def counted(state: ViewState) -> None:
    """Count blocks and the clusters that they use, as at the end of a sweep."""
    links, block = state["links"], state["block"]
    np.add.at(links["members"], block, 1)
    for v, labels in enumerate(state["cluster"]):
        np.add.at(links["present"][:, v], block, 1)
        np.add.at(links["uses"], (block, links["first"][v] + labels), 1)


def draw_data(
    state: ViewState, params: ViewSettings, shapes: Sequence[tuple[int, ...]], rng: np.random.Generator
) -> tuple[Floats, ...]:
    """Matrices given the clusters of all views and their bases."""
    kinds = kinds_simulated(params, len(shapes))
    return tuple(
        draw_matrix(labels, base, kind, shape[1], params, rng)
        for labels, base, kind, shape in zip(state["cluster"], state["base"], kinds, shapes, strict=True)
    )
