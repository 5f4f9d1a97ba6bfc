"""Tables of the clusters of a view, and the log densities of blocks and clusters and of the bases."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import Links
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.block_moves import log_block
from plaidwork.plugins.dirichlet_processes.topics.kernels.tables import draw_tables

SHAPE_B0 = 2.0
"""Shape of the law of b0, as in ``base.py``."""


@njit(nogil=True, cache=True, error_model="numpy")
def seat_blocks(rng: np.random.Generator, links: Links, v: int, seats: np.ndarray) -> None:
    """Add the tables of all blocks to those of the clusters (C,) of view ``v``."""
    first, alpha = links.first[v], links.alpha[v]
    for k in range(links.members.size):
        if links.present[k, v] > 0:
            for c in range(seats.size):
                seats[c] += draw_tables(rng, links.uses[k, first + c], alpha * links.beta[first + c])


@njit(nogil=True, cache=True, error_model="numpy")
def log_links(links: Links, a0: float) -> float:
    """Log density of blocks, clusters of all samples given their blocks, and weights of clusters as atoms of a Dirichlet process."""
    total, n = math.lgamma(a0), 0
    for k in range(links.members.size):
        if links.members[k] > 0:
            n += links.members[k]
            total += math.log(a0) + math.lgamma(links.members[k]) + log_block(links, k)
    total -= math.lgamma(a0 + n)
    for v in range(links.slots.size):
        gamma = links.gamma[v]
        for c in range(links.first[v], links.first[v] + links.high[v]):
            total += math.log(gamma) - math.log(links.beta[c])
        total += (gamma - 1.0) * math.log(links.rest[v])
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def log_base(
    m0: np.ndarray, b0: np.ndarray, rate: np.ndarray, k0: float, prior: tuple[float, float, float]
) -> float:
    """``log_prior`` of ``base.py`` for a view; ``prior`` is the rate of b0's law, the mean of k0's and the shape of rates."""
    usual, mean_weight, shape = prior
    total = -m0.size * (0.5 * math.log(2.0 * math.pi) - SHAPE_B0 * math.log(usual) + math.lgamma(SHAPE_B0))
    for j in range(m0.size):
        total += (SHAPE_B0 - 1.0) * math.log(b0[j]) - usual * b0[j] - 0.5 * m0[j] * m0[j]
    if m0.size > 0:
        total -= math.log(mean_weight) + k0 / mean_weight
    for j in range(rate.size):
        total -= math.log(shape) + rate[j] / shape
    return total
