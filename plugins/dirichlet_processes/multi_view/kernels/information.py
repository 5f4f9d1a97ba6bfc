"""Blocks and what clusters a new sample of each has, and what the views say of each other by that.

No sum is left to BLAS, so that the figures are the same on every processor.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed, cut
from plaidwork.plugins.dirichlet_processes.multi_view.kernels.bags import Links

MOST_CELLS = 1e6
"""The total correlation is not worked out of a table of all views with more cells."""


@njit(nogil=True, cache=True, error_model="numpy")
def tabulate(
    members: np.ndarray, present: np.ndarray, uses: np.ndarray, beta: np.ndarray, rest: np.ndarray,
    law: tuple[float, np.ndarray], begin: np.ndarray, high: np.ndarray, block: np.ndarray, table: np.ndarray,
) -> None:  # fmt: skip
    """Shares of the first K blocks and of a new one, ``block`` (K + 1,), and of the clusters of each of them, the last ones new, into
    ``table``: (K + 1, C_v + 1) numbers of each view, one view after the other.

    ``p_kv = (n_kv + alpha_v beta_v) / (n_kv. + alpha_v)``, of a new block beta_v; ``law`` has the concentrations a0 and alpha (V,). The
    clusters of view v are ``high[v]`` columns of ``uses`` and of ``beta`` from ``begin[v]`` on.
    """
    a0, alpha = law
    blocks, at, n = block.size - 1, 0, a0
    for k in range(blocks):
        n += members[k]
    for k in range(blocks + 1):
        block[k] = (members[k] if k < blocks else a0) / n
    for v in range(high.size):
        for k in range(blocks + 1):
            below = alpha[v] + (present[k, v] if k < blocks else 0)
            for c in range(high[v]):
                seen = uses[k, begin[v] + c] if k < blocks else 0
                table[at] = (seen + alpha[v] * beta[begin[v] + c]) / below
                at += 1
            table[at] = alpha[v] * rest[v] / below
            at += 1


@njit(nogil=True, cache=True, error_model="numpy")
def mutual_information(joint: np.ndarray) -> float:
    """In nats, of a table (A, B) that sums to 1."""
    rows, columns, total = np.zeros(joint.shape[0]), np.zeros(joint.shape[1]), 0.0
    for a in range(rows.size):
        for b in range(columns.size):
            rows[a] += joint[a, b]
            columns[b] += joint[a, b]
    for a in range(rows.size):
        for b in range(columns.size):
            if joint[a, b] > 0.0:
                total += joint[a, b] * math.log(joint[a, b] / (rows[a] * columns[b]))
    return max(total, 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def entropy(share: np.ndarray) -> float:
    """In nats, of shares (A,)."""
    total = 0.0
    for a in range(share.size):
        if share[a] > 0.0:
            total -= share[a] * math.log(share[a])
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def joint_table(block: np.ndarray, one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """(A, B) shares of the clusters of two views, of which blocks have ``one`` (K + 1, A) and ``two`` (K + 1, B)."""
    out = np.zeros((one.shape[1], two.shape[1]))
    for k in range(block.size):
        for a in range(one.shape[1]):
            weight = block[k] * one[k, a]
            for b in range(two.shape[1]):
                out[a, b] += weight * two[k, b]
    return out


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def whole_entropy(block: np.ndarray, table: np.ndarray, high: np.ndarray, cells: int) -> float:
    """Entropy of the table of all views, which has so many cells."""
    whole, part = np.zeros(cells), np.empty(cells)
    for k in range(block.size):
        part[0], size, at = block[k], 1, 0
        for v in range(high.size):
            wide = high[v] + 1
            for i in range(size - 1, -1, -1):
                for c in range(wide - 1, -1, -1):
                    part[i * wide + c] = part[i] * table[at + k * wide + c]
            at, size = at + block.size * wide, size * wide
        for i in range(cells):
            whole[i] += part[i]
    return entropy(whole)


@njit(nogil=True, cache=True, error_model="numpy")
def inform(block: np.ndarray, table: np.ndarray, high: np.ndarray, out: np.ndarray) -> None:
    """Mutual information of all pairs of views, entropy of each, total correlation of all, into ``out`` (pairs + V + 1,), nats.

    ``block`` and ``table`` as ``tabulate`` has them. The total correlation is NaN where the table of all views has over a million cells.
    """
    views, pair, first, cells, alone = high.size, 0, 0, 1.0, 0.0
    block, table = borrowed(block), borrowed(table)
    for v in range(views):
        one = cut(table, first, block.size, high[v] + 1)
        first += one.size
        other = first
        for w in range(v + 1, views):
            two = cut(table, other, block.size, high[w] + 1)
            out[pair] = mutual_information(joint_table(block, one, two))
            pair, other = pair + 1, other + two.size
        share = np.zeros(high[v] + 1)
        for k in range(block.size):
            for c in range(share.size):
                share[c] += block[k] * one[k, c]
        out[out.size - 1 - views + v] = entropy(share)
        alone += entropy(share)
        cells *= share.size
    if views == 2:
        out[-1] = out[0]
    elif cells > MOST_CELLS:
        out[-1] = np.nan
    else:
        out[-1] = max(alone - whole_entropy(block, table, high, int(cells)), 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def inform_links(links: Links, a0: float, out: np.ndarray) -> None:
    """``inform`` of blocks and weights at the end of a sweep, when the blocks that there are come first."""
    blocks, cells = 0, 0
    for k in range(links.members.size):
        blocks += links.members[k] > 0
    for v in range(links.high.size):
        cells += links.high[v] + 1
    block, table = np.empty(blocks + 1), np.empty((blocks + 1) * cells)
    law = (a0, links.alpha)
    tabulate(
        links.members,
        links.present,
        links.uses,
        links.beta,
        links.rest,
        law,
        links.first,
        links.high,
        block,
        table,
    )
    inform(block, table, links.high, out)
