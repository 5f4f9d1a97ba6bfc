"""How the d x d numbers of several matrices of correlated columns lie one after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from plaidwork.plugins.dirichlet_processes.kernels.scatter import lower_root
from plaidwork.plugins.dirichlet_processes.partitions import Floats

Ints = NDArray[np.int64]


def pieces(first: Ints) -> Iterator[tuple[int, slice, slice]]:
    """Of each matrix of correlated columns: its number of them, their places, and those of its d x d numbers."""
    at = 0
    for lo, hi in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        d = hi - lo
        yield d, slice(lo, hi), slice(at, at + d * d)
        at += d * d


def roots_of(psi: Floats, first: Ints) -> Floats:
    """(Q,) the upper triangles U with ``U' U = Psi0``."""
    parts = [lower_root(psi[square].reshape(d, d)).T.ravel() for d, _, square in pieces(first)]
    return np.concatenate([np.zeros(0), *parts])


def packed(psi: Floats, first: Ints) -> Floats:
    """The numbers of Psi0 on and below the diagonals, one matrix after the other: what a draw keeps."""
    parts = [psi[square].reshape(d, d)[np.tril_indices(d)] for d, _, square in pieces(first)]
    return np.concatenate([np.zeros(0), *parts])


def unpacked(kept: Floats, first: Ints) -> Floats:
    """(Q,) from what ``packed`` gave."""
    out, at = [np.zeros(0)], 0
    for d, _, _ in pieces(first):
        whole, count = np.zeros((d, d)), d * (d + 1) // 2
        whole[np.tril_indices(d)] = kept[at : at + count]
        out.append((whole + np.tril(whole, -1).T).ravel())
        at += count
    return np.concatenate(out)


def log_determinant(psi: Floats) -> float:
    """``log |psi|`` of a positive definite matrix."""
    return 2.0 * float(np.log(np.diag(lower_root(np.ascontiguousarray(psi)))).sum())
