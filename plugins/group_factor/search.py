"""Leading components of the values of all views, or of what a fit leaves over of them: found in slices, as a part of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numba import njit

from plaidwork.core.api import ModelData
from plaidwork.core.numerics.signs import signed
from plaidwork.plugins.group_factor import blocks, products
from plaidwork.plugins.group_factor.cells import View, in_tiles, parts_of
from plaidwork.plugins.group_factor.products_level import SAMPLES
from plaidwork.plugins.group_factor.state import Fields, Search

PASSES, SPARE = 10, 10
"""Passes over the data that find the components, and directions followed besides the wanted ones."""
SOME, MANY, REFINING = 8, 32, 2
"""Stretches of samples that all passes but the last ``REFINING`` go over, where there are so many."""
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


def some_samples(n: int) -> list[tuple[int, int]]:
    """Stretches of samples, evenly spread, by which a search begins; all samples where they are few."""
    count = n // SAMPLES
    if count < MANY:
        return [(0, n)]
    return [(at * SAMPLES, (at + 1) * SAMPLES) for at in (i * count // SOME for i in range(SOME))]


def new_search(wanted: int, n: int, d: int, rng: np.random.Generator, some: bool = False) -> Search:
    """A search for the leading ``wanted`` components of (D, N) values; ``some``: at first of some samples, where they are many."""
    samples = length(some_samples(n)) if some else n
    rank = min(wanted + SPARE, n, d)
    return {
        "phase": "pass", "at": 0, "pass": 0, "turns": 0, "last": 0.0, "some": int(samples < n),
        "basis": rng.standard_normal((rank, samples)), "sum": np.zeros((rank, samples)),
    }  # fmt: skip


def length(ranges: list[tuple[int, int]]) -> int:
    return sum(hi - lo for lo, hi in ranges)


def ranges_of(work: Search, n: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The samples that a pass finds the image of the basis with, and those for which it is summed over features."""
    if not work.get("some"):
        return [(0, n)], [(0, n)]
    some = some_samples(n)
    return some, [(0, n)] if work["pass"] == PASSES - 1 else some


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
        return _end_of_pass(work, state, wanted, rotate) if over else None
    basis, lo = work["basis"], work["at"]
    read, summed = ranges_of(work, state["z"].shape[1])
    hi = min(n_features, lo + _features(basis))
    small = basis.astype(state["float"].dtype)
    for view, below, above in parts_of(state, lo, hi):
        for a, b in in_tiles(above - below, basis.shape[1], products.CHUNK):
            at, stop = below + a, below + b
            x = rows(state, view, at - view.first, stop - view.first)
            image = np.zeros((stop - at, len(basis)))
            for part, here in _columns(x, read):
                products.dots_of_rows(part, 0, np.ascontiguousarray(small[:, here]), image)
            if work["phase"] == "loadings":
                work["loadings"][at:stop] = image / basis.shape[1]
                continue
            turned = np.ascontiguousarray(image.T.astype(x.dtype))
            for part, here in _columns(x, summed):
                _add_columns(turned, part, work["sum"], here)
    work["at"] = hi
    return _end_of_pass(work, state, wanted, rotate) if hi == n_features else None


def _columns(x: np.ndarray, ranges: list[tuple[int, int]]) -> Iterator[tuple[np.ndarray, slice]]:
    """The columns of ``x`` that ranges of samples are, and which of all these they are."""
    place = 0
    for lo, hi in ranges:
        yield np.ascontiguousarray(x[:, lo:hi]), slice(place, place + hi - lo)
        place += hi - lo


def _add_columns(turned: np.ndarray, x: np.ndarray, sums: np.ndarray, here: slice) -> None:
    """Add to columns ``here`` of ``sums`` (L, .) those of ``turned`` (L, d) times ``x`` (d, .)."""
    if here == slice(0, sums.shape[1]):
        products.dots_of_columns(turned, x, 0, 0, sums)
        return
    found = np.ascontiguousarray(sums[:, here])
    products.dots_of_columns(turned, x, 0, 0, found)
    sums[:, here] = found


def _features(basis: np.ndarray) -> int:
    """Features of a slice, a multiple of those that are summed up in the type of the cells."""
    return max(1, SLICE // (2 * basis.size * products.CHUNK)) * products.CHUNK


def _search_block(work: Search, state: Fields, data: ModelData, rows: Rows) -> bool:
    """The next block of samples; whether a pass has ended. The first time over the blocks the image of the basis is summed up, the
    second time its sums over features: the same as above, in another order of the loops. ``at`` counts the samples of both."""
    n, (rank, width), d = state["z"].shape[1], work["basis"].shape, len(state["lik"])
    read, summed = ranges_of(work, n)
    first = work["at"] < width
    place = work["at"] if first else work["at"] - width
    lo, hi = _block_at(read if first else summed, place, blocks.at_once(state))
    here = slice(place, place + hi - lo)
    image = work.setdefault("image", np.zeros((d, rank)))
    part = blocks.part_of(state, data, lo, hi)
    small = np.ascontiguousarray(work["basis"][:, here].astype(state["float"].dtype)) if first else None
    step = _features(work["basis"])
    for at in range(0, d, step):
        for view, below, above in parts_of(part, at, min(d, at + step)):
            x = rows(part, view, below - view.first, above - view.first)
            if small is not None:
                products.dots_of_rows(x, 0, small, image[below:above])
            else:
                turned = np.ascontiguousarray(image[below:above].T.astype(x.dtype))
                _add_columns(turned, x, work["sum"], here)
    work["at"] += hi - lo
    end = width + length(summed)
    if work["phase"] == "loadings" and work["at"] == width:
        work["loadings"] = image / n
        work["at"] = end
    if work["at"] < end:
        return False
    del work["image"]
    return True


def _block_at(ranges: list[tuple[int, int]], place: int, size: int) -> tuple[int, int]:
    """The block of at most ``size`` samples that begins ``place`` samples into the ranges."""
    for lo, hi in ranges:
        if place < hi - lo:
            return lo + place, min(hi, lo + place + size)
        place -= hi - lo
    raise IndexError(place)


def _end_of_pass(work: Search, state: Fields, wanted: int, rotate: bool) -> np.ndarray | None:
    n, d = state["z"].shape[1], len(state["lik"])
    work["at"] = 0
    if work["phase"] == "loadings":
        work["loadings"] = levelled(work["loadings"])
        work["phase"] = "turn"
        return None
    work["pass"] += 1
    if work.get("some") and work["pass"] == PASSES:  # this one summed up for all samples
        work["some"], work["pass"] = 0, PASSES - REFINING
    if work["pass"] < PASSES:
        work["basis"] = orthonormal(work["sum"])
        work["sum"] = np.zeros((len(work["basis"]), length(ranges_of(work, n)[1])))
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
