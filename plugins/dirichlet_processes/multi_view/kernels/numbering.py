"""Blocks and clusters numbered by their first samples."""

from __future__ import annotations

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import Links


@njit(nogil=True, cache=True, error_model="numpy")
def number_by_first(labels: np.ndarray, used: np.ndarray) -> int:
    """Number labels (n,) by first appearance, in place; -1 stays. ``used`` gets the old ones in that order; how many they are."""
    rank, number = np.full(used.size, -1, np.int64), 0
    for i in range(labels.size):
        old = labels[i]
        if old < 0:
            continue
        if rank[old] < 0:
            rank[old] = number
            used[number] = old
            number += 1
        labels[i] = rank[old]
    return number


@njit(nogil=True, cache=True, error_model="numpy")
def number_blocks(t: np.ndarray, links: Links) -> None:
    """Number the blocks by their first samples."""
    used = np.empty(links.members.size, np.int64)
    number = number_by_first(t, used)
    members, present, uses = links.members.copy(), links.present.copy(), links.uses.copy()
    for k in range(links.members.size):
        links.members[k] = members[used[k]] if k < number else 0
        for v in range(links.present.shape[1]):
            links.present[k, v] = present[used[k], v] if k < number else 0
        for s in range(links.uses.shape[1]):
            links.uses[k, s] = uses[used[k], s] if k < number else 0


@njit(nogil=True, cache=True, error_model="numpy")
def number_clusters(z: np.ndarray, links: Links, v: int, used: np.ndarray) -> int:
    """Number the clusters of view ``v`` by their first samples, z (n,); ``used`` gets the old ones in that order; how many they are."""
    first, slots = links.first[v], links.slots[v]
    number = number_by_first(z, used)
    beta, row = np.empty(slots), np.empty(slots, np.int64)
    for s in range(slots):
        beta[s] = links.beta[first + used[s]] if s < number else 0.0
    for s in range(slots):
        links.beta[first + s] = beta[s]
    for k in range(links.members.size):
        for s in range(slots):
            row[s] = links.uses[k, first + used[s]] if s < number else 0
        for s in range(slots):
            links.uses[k, first + s] = row[s]
    links.high[v] = number
    return number
