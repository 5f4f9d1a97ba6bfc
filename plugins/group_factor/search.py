"""Leading components of the values of all views, or of what a fit leaves over of them: found in slices, as a part of a sweep."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from plaidwork.core.api import ModelData
from plaidwork.core.numerics.signs import signed
from plaidwork.plugins.group_factor import blocks, products
from plaidwork.plugins.group_factor.cells import View, in_tiles, parts_of
from plaidwork.plugins.group_factor.state import Fields, Search

PASSES, SPARE = 10, 10
"""Passes over the data that find the components, and directions followed besides the wanted ones."""
TURNS = 200
"""The most steps of varimax."""
SLICE = 100_000_000
"""Multiplications and additions in one slice."""
Rows = Callable[[Fields, View, int, int], np.ndarray]
"""(hi - lo, N) values of features lo..hi-1 of a view, whose components are sought."""


@njit(nogil=True, cache=True, fastmath=products.FAST)
def _gradient(loadings, rotation):
    """(K, K) loadings^T of (L^3 - L times the mean square of its column), where L = loadings rotation."""
    d, k = loadings.shape
    turned, square, out = np.empty((d, k)), np.zeros(k), np.zeros((k, k))
    for i in range(d):
        row = turned[i]
        row[:] = 0.0
        for j in range(k):
            factor, source = loadings[i, j], rotation[j]
            for c in range(k):
                row[c] += factor * source[c]
        for c in range(k):
            square[c] += row[c] * row[c]
    for i in range(d):
        row = turned[i]
        for c in range(k):
            row[c] *= row[c] * row[c] - square[c] / d
        for j in range(k):
            factor, target = loadings[i, j], out[j]
            for c in range(k):
                target[c] += factor * row[c]
    return out


def turn(loadings: np.ndarray, rotation: np.ndarray) -> tuple[np.ndarray, float]:
    """One step of varimax: the next (K, K) rotation of the (D, K) loadings, and what it has reached."""
    left, values, right = np.linalg.svd(_gradient(loadings, rotation))
    return left @ right, float(values.sum())


def _dots(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """(L, L) scalar products of the rows of two (L, N), without the threads of a BLAS library."""
    return np.asarray(np.einsum("an,bn->ab", one, two))


def _mixed(by: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """(k, N) sums of the (L, N) rows, each by a column of ``by`` (L, k)."""
    return np.asarray(np.einsum("lk,ln->kn", by, rows))


def orthonormal(rows: np.ndarray) -> np.ndarray:
    """(L, N) an orthonormal basis of the space of the (L, N) rows; rows of zeros in place of what they lack."""
    for _ in range(2):  # once leaves rounding errors of nearly parallel rows
        size = np.sqrt((rows**2).sum(axis=1))[:, None]
        rows = rows / np.where(size > 0, size, 1.0)
        square = _dots(rows, rows)
        values, vectors = np.linalg.eigh(square)
        keep = values > 1e-12 * values[-1]
        factor = np.where(keep, 1 / np.sqrt(np.where(keep, values, 1.0)), 0.0)
        rows = _mixed(vectors * factor, rows)
    return rows


def levelled(loadings: np.ndarray) -> np.ndarray:
    """Rows of like length (Kaiser), those near 0 left small: else the strongest features decide the rotation."""
    squares = (loadings**2).sum(axis=1)
    return loadings / np.sqrt(squares + max(0.1 * squares.mean(), 1e-300))[:, None]


def new_search(wanted: int, n: int, d: int, rng: np.random.Generator) -> Search:
    """A search for the leading ``wanted`` components of (D, N) values."""
    rank = min(wanted + SPARE, n, d)
    return {
        "phase": "pass", "at": 0, "pass": 0, "turns": 0, "last": 0.0,
        "basis": rng.standard_normal((rank, n)), "sum": np.zeros((rank, n)),
    }  # fmt: skip


def advance_search(
    work: Search, state: Fields, data: ModelData | None, rows: Rows, wanted: int, rotate: bool
) -> np.ndarray | None:
    """The next slice of a search; at its end the components (k, N), k at most ``wanted``, their mean square 1.

    The leading right singular vectors by subspace iteration (Halko, Martinsson & Tropp 2011, algorithm 4.4), rotated by
    varimax of the loadings if wanted. Their signs do not lean on those of the steps before. ``data`` where views may stay in their file.
    """
    if work["phase"] == "turn":
        return _turn(work)
    n_features = len(state["lik"])
    if data is not None and blocks.staying(state):
        over = _search_block(work, state, data, rows)
        return _end_of_pass(work, n_features, wanted, rotate) if over else None
    basis, lo = work["basis"], work["at"]
    hi = min(n_features, lo + _features(basis))
    small = basis.astype(state["float"].dtype)
    for view, below, above in parts_of(state, lo, hi):
        for a, b in in_tiles(above - below, basis.shape[1], products.CHUNK):
            at, stop = below + a, below + b
            x = rows(state, view, at - view.first, stop - view.first)
            image = np.zeros((stop - at, len(basis)))
            products.dots_of_rows(x, 0, small, image)
            if work["phase"] == "loadings":
                work["loadings"][at:stop] = image / basis.shape[1]
            else:
                turned = np.ascontiguousarray(image.T.astype(x.dtype))
                products.dots_of_columns(turned, x, 0, 0, work["sum"])
    work["at"] = hi
    return _end_of_pass(work, n_features, wanted, rotate) if hi == n_features else None


def _features(basis: np.ndarray) -> int:
    """Features of a slice, a multiple of those that are summed up in the type of the cells."""
    return max(1, SLICE // (2 * basis.size * products.CHUNK)) * products.CHUNK


def _search_block(work: Search, state: Fields, data: ModelData, rows: Rows) -> bool:
    """The next block of samples; whether a pass has ended. The first time over the blocks the image of the basis is summed up, the
    second time its sums over features: the same as above, in another order of the loops."""
    (rank, n), d = work["basis"].shape, len(state["lik"])
    first = work["at"] < n
    lo = work["at"] if first else work["at"] - n
    hi = min(n, lo + blocks.at_once(state))
    image = work.setdefault("image", np.zeros((d, rank)))
    part = blocks.part_of(state, data, lo, hi)
    small = work["basis"][:, lo:hi].astype(state["float"].dtype)
    step = _features(work["basis"])
    for at in range(0, d, step):
        for view, below, above in parts_of(part, at, min(d, at + step)):
            x = rows(part, view, below - view.first, above - view.first)
            if first:
                products.dots_of_rows(x, 0, small, image[below:above])
            else:
                turned = np.ascontiguousarray(image[below:above].T.astype(x.dtype))
                found = np.ascontiguousarray(work["sum"][:, lo:hi])
                products.dots_of_columns(turned, x, 0, 0, found)
                work["sum"][:, lo:hi] = found
    work["at"] += hi - lo
    if work["phase"] == "loadings" and work["at"] == n:
        work["loadings"] = image / n
        work["at"] = 2 * n
    if work["at"] < 2 * n:
        return False
    del work["image"]
    return True


def _end_of_pass(work: Search, d: int, wanted: int, rotate: bool) -> np.ndarray | None:
    n = work["basis"].shape[1]
    work["at"] = 0
    if work["phase"] == "loadings":
        work["loadings"] = levelled(work["loadings"])
        work["phase"] = "turn"
        return None
    work["pass"] += 1
    if work["pass"] < PASSES:
        work["basis"] = orthonormal(work["sum"])
        work["sum"] = np.zeros_like(work["basis"])
        return None
    square = _dots(work["basis"], work["sum"])
    values, vectors = np.linalg.eigh((square + square.T) / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    use = 0
    if values[0] > 0:
        use = min(wanted, n - 1, int((values > 1e-10 * values[0]).sum()))
    work["basis"] = _mixed(vectors[:, :use], work["basis"]) * np.sqrt(n)
    if not rotate or use < 2:
        return signed(work["basis"].T).T
    work["phase"], work["loadings"], work["rotation"] = "loadings", np.zeros((d, use)), np.eye(use)
    return None


def _turn(work: Search) -> np.ndarray | None:
    """Some steps of varimax."""
    loadings = work["loadings"]
    for _ in range(max(1, SLICE // (4 * loadings.size * loadings.shape[1]))):
        work["rotation"], reached = turn(loadings, work["rotation"])
        work["turns"] += 1
        if reached <= work["last"] * (1 + 1e-8) or work["turns"] == TURNS:
            return signed(_mixed(work["rotation"], work["basis"]).T).T
        work["last"] = reached
    return None
