"""The state before the first sweep. Components are found in slices, as the first part of the first sweep."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ModelData, ModelError, counted
from plaidwork.plugins.group_factor import kernels, local, smooth
from plaidwork.plugins.group_factor.cells import (
    View,
    fill_centred,
    known_of,
    of_samples,
    views_of,
)
from plaidwork.plugins.group_factor.intercepts import of_group
from plaidwork.plugins.group_factor.reading import ReadView, read_view
from plaidwork.plugins.group_factor.search import advance_search, new_search
from plaidwork.plugins.group_factor.state import Fields, OfFeatures, Settings, StartWork

SINGLE_CELLS = 1_000_000
"""From so many cells on the predictions are summed in the type of the cells: rounding is then 1e-10 of the bound."""


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


def _set_scores(state: Fields, scores: np.ndarray) -> None:
    state["z"] = np.ascontiguousarray(scores)
    state["zz"] = state["z"] ** 2 + state["v"]
    if "smooth" in state:
        smooth.apart(state)


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
    return {**new_search(k, n, len(state["lik"]), rng, some=True), "fill": fill, "noise": noise}


def new_state(
    given_blocks: tuple[Block, ...],
    likelihoods: tuple[str, ...],
    group: np.ndarray,
    params: Settings,
    rng: np.random.Generator,
    given: np.ndarray | None = None,
    places: np.ndarray | None = None,
) -> Fields:
    """All of q and the cells. ``likelihoods`` of the views, ``group`` (N,) the sample groups from 0 on, ``places`` (N, p) in time or space."""
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
    if places is not None:
        state["smooth"] = smooth.new_smooth(places, k)
        smooth.apart(state)
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
