"""The state before the first sweep. Components are found in slices, as the first part of the first sweep."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit

from plaidwork.core.api import Block, ModelData, ModelError, counted
from plaidwork.core.numerics.signs import signed
from plaidwork.plugins.group_factor import blocks, kernels, local, products
from plaidwork.plugins.group_factor.cells import (
    View,
    fill_centred,
    in_tiles,
    known_of,
    of_samples,
    parts_of,
    views_of,
)
from plaidwork.plugins.group_factor.intercepts import of_group
from plaidwork.plugins.group_factor.reading import ReadView, read_view
from plaidwork.plugins.group_factor.state import Fields, OfFeatures, Search, Settings, StartWork

SINGLE_CELLS = 1_000_000
"""From so many cells on the predictions are summed in the type of the cells: rounding is then 1e-10 of the bound."""
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


def centred_rows(state: Fields, view: View, lo: int, hi: int) -> np.ndarray:
    """(hi - lo, N) what the components of the start explain: values less their mean, 0 where missing."""
    y = view.arrays["y"]
    if view.kind == kernels.GAUSSIAN:
        return np.asarray(y[lo:hi])
    out = np.empty((hi - lo, y.shape[1]), state["float"].dtype)
    here = slice(view.first + lo, view.first + hi)
    fill_centred(y, of_group(state["centre"], 0)[here], lo, out)
    if state["centre"].ndim == 2:
        out -= known_of(view, lo, hi) * (
            of_samples(state["centre"], here, state["group"]) - state["centre"][:1, here].T
        )
    return out


def advance_start(state: Fields, data: ModelData, params: Settings) -> bool:
    """The next slice of the search for components; whether it is at its end."""
    work = state["start"]
    wanted, rotate = params["n_factors"], params["init"] == "varimax"
    found = advance_search(work, state, data, centred_rows, wanted, rotate)
    if found is None:
        return False
    del state["start"]
    scores = work["fill"]
    scores[: len(found)] = found
    _set_scores(state, scores + work["noise"])
    return True


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


def _set_scores(state: Fields, scores: np.ndarray) -> None:
    state["z"] = np.ascontiguousarray(scores)
    state["zz"] = state["z"] ** 2 + state["v"]


def start_scores(
    state: Fields, params: Settings, rng: np.random.Generator, given: np.ndarray | None
) -> StartWork | None:
    """Set the means of q(z), or return what :func:`advance_start` works on; ``given`` are (N, k) of the first factors."""
    k, n = state["z"].shape
    if params["init"] == "given":
        if given is None:
            raise ModelError(
                "“Start from given values” needs the input “Start values”.", "Add it, or start otherwise."
            )
        if given.shape[1] > k:
            raise ModelError(
                f"“Start values” has {counted(given.shape[1], 'factor')}, “Factors” allows {k}.",
                "Raise “Factors”.",
            )
        scores = params["start_noise"] * rng.standard_normal((k, n))
        scores[: given.shape[1]] += given.T
        _set_scores(state, scores)
        return None
    fill = rng.standard_normal((k, n))
    if params["init"] == "random":
        _set_scores(state, fill)
        return None
    noise = params["start_noise"] * rng.standard_normal((k, n))
    return {**new_search(k, n, len(state["lik"]), rng), "fill": fill, "noise": noise}


def new_state(
    given_blocks: tuple[Block, ...],
    likelihoods: tuple[str, ...],
    group: np.ndarray,
    params: Settings,
    rng: np.random.Generator,
    given: np.ndarray | None = None,
) -> Fields:
    """All of q and the cells. ``likelihoods`` of the views, ``group`` (N,) the sample groups from 0 on."""
    n_groups, n, k, m = int(group.max(initial=0)) + 1, len(group), params["n_factors"], len(given_blocks)
    read = [
        read_view(block, word, params, group) for block, word in zip(given_blocks, likelihoods, strict=True)
    ]
    sizes = [view.null.shape[-1] for view in read]
    d = sum(sizes)
    v = np.full((k, n), params["start_variance"])
    state: Fields = {
        "dropped": 0, "single": int(params["dtype"] == "float32" and n * d >= SINGLE_CELLS), "float": np.zeros(0, params["dtype"]), "group": group.astype(np.int64),
        "kinds": np.array([view.kind for view in read]), "level": np.array([view.level for view in read]),
        "first": np.concatenate([[0], np.cumsum(sizes)]),
        "kind": np.repeat([view.kind for view in read], sizes), "view": np.repeat(np.arange(m), sizes),
        "cells": {str(index): view.arrays for index, view in enumerate(read)},
        "z": np.zeros((k, n)), "v": v, "zz": v.copy(),
        "loc": np.zeros((k, d)), "var": np.ones((k, d)), "var0": np.ones((k, d)),
        "cross": np.zeros((k, n_groups, d)), "total": np.zeros((n_groups, d)), "stale": 1,
        "gamma": np.ones((k, d)), "w": np.zeros((k, d)), "ww": np.zeros((k, d)),
        "alpha_shape": np.ones((k, m)), "alpha_rate": np.ones((k, m)),
        "theta_a": np.full((k, m), params["sparsity_a"]), "theta_b": np.full((k, m), params["sparsity_b"]),
        "score_shape": np.ones((k, n_groups)), "score_rate": np.ones((k, n_groups)),
        "const": np.zeros(d), "lik": np.zeros(d), "squares": np.zeros((n_groups, d)),
        "deviance": np.zeros((n_groups, k + 3, m)), **_of_features(read, params),
    }  # fmt: skip
    for view in views_of(state):
        _start_local(state, view)
    work = start_scores(state, params, rng, given)
    if work is not None:
        state["start"] = work
    return state


def _of_features(read: list[ReadView], params: Settings) -> OfFeatures:
    """Intercepts, noise precisions and constants of all features."""
    null, centre, variance = (
        np.concatenate([getattr(view, name) for view in read], axis=-1)
        for name in ("null", "centre", "variance")
    )
    count = np.concatenate([view.count for view in read], axis=1)
    sizes = [view.null.shape[-1] for view in read]
    gaussian = np.repeat([view.kind == kernels.GAUSSIAN for view in read], sizes)
    shape = np.where(gaussian, params["noise_shape"] + 0.5 * count, 1.0)
    return {
        "mu": null.copy() if params["intercept"] and params["intercept_start"] == "rates" else np.zeros(null.shape),
        "mu_var": np.where(gaussian | (not params["intercept"]), 0.0, np.full(null.shape, 1e-2)),
        "tau_shape": shape, "tau_rate": np.where(gaussian, shape * variance, 1.0),
        "scale": np.where(gaussian, np.broadcast_to(1.0 / variance, shape.shape), 1.0),
        "null": null, "centre": centre,
    }  # fmt: skip


def _start_local(state: Fields, view: View) -> None:
    """The local parameters for the start of the intercepts, no factors yet."""
    if view.kind == kernels.GAUSSIAN:
        return
    n = state["z"].shape[1]
    nothing = np.zeros(n)
    for row in range(view.size):
        d, y = view.first + row, view.arrays["y"][row]
        one = state["mu"].ndim == 1
        x = nothing if one else state["mu"][state["group"], d]
        mu = float(state["mu"][d]) if one else 0.0
        if view.kind == kernels.BERNOULLI:
            found = local.bits_local(y, x, nothing, mu, 0.0, view.arrays["T"][row])
        else:
            found = local.tangent_local(view.kind, y, x, nothing, mu, 0.0, view.arrays["B"][row])
        state["const"][d], state["lik"][d] = found
