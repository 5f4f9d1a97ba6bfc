"""Training and test half: whole clusters, equal documents together."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from plaidwork.plugins.supervised_ibp import kernels
from plaidwork.plugins.supervised_ibp.like_r import LikeR
from plaidwork.plugins.supervised_ibp.matrices import fixed


def equal_documents(counts: Any) -> np.ndarray:
    """(N,) int64: documents with the same words have the same number; those without words each their own."""
    n = counts.shape[0]
    bits = np.ascontiguousarray(counts.data, np.float64).view(np.uint64)
    hashes = kernels.row_hashes(
        fixed(counts.indptr, np.int64), fixed(counts.indices, np.int32), fixed(bits, np.uint64)
    )
    _, number = np.unique(hashes, return_inverse=True)
    empty = np.diff(counts.indptr) == 0
    number = number.astype(np.int64)
    number[empty] = n + np.flatnonzero(empty)
    return number


def units_of(partitions: list[np.ndarray], n: int) -> np.ndarray:
    """(n,) number of the unit of every document, numbered as they appear: all that any partition ties together.

    A negative number in a partition ties to nothing.
    """
    rows, columns, offset = [np.arange(n)], [np.arange(n)], n
    for partition in partitions:
        known = np.flatnonzero(partition >= 0)
        _, number = np.unique(partition[known], return_inverse=True)
        rows.append(known)
        columns.append(offset + number)
        offset += int(number.max(initial=-1)) + 1
    row, column = np.concatenate(rows), np.concatenate(columns)
    graph = coo_matrix((np.ones(len(row), np.int8), (row, column)), (offset, offset))
    _, label = connected_components(graph, directed=False)
    label = label[:n]
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number]


def random_split(units: np.ndarray, share: float, seed: int, like_r: bool = False) -> np.ndarray:
    """(n,) bool, True for test documents.

    Units in random order go to the training half until it has its part of the documents, the others to the test
    half. Without ties the training half is the first part of ``default_rng(seed).permutation(n)``, or ``like_r`` of what
    ``sample(n)`` gives after ``set.seed(seed)`` in R.
    """
    sizes = np.bincount(units)
    n = len(sizes)
    order = LikeR(seed).sample(n, n) if like_r else np.random.default_rng(seed).permutation(n)
    before = np.concatenate([[0], np.cumsum(sizes[order])[:-1]])
    wanted = int(len(units) * (1 - share)) if like_r else round(len(units) * (1 - share))
    test = np.empty(len(sizes), bool)
    test[order] = before >= wanted
    return test[units]
