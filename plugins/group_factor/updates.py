"""The coordinate updates of q, each of some features or samples, in the order of NOTES.md."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import digamma

from plaidwork.plugins.group_factor import blocks, grams, kernels, local, products, singles
from plaidwork.plugins.group_factor.bound import gaussian_likelihood, measure_squares, predicted
from plaidwork.plugins.group_factor.cells import (
    TILE_CELLS,
    View,
    across,
    in_tiles,
    level_of,
    parts_of,
    tile,
    views_of,
)
from plaidwork.plugins.group_factor.intercepts import for_kernels, update_by_group
from plaidwork.plugins.group_factor.state import Fields, Predictor, Settings

SIDE = 32
"""Samples of a tile of the scores are a multiple of it: so many cells of a feature, at least, are read at once."""


def update_weights(
    state: Fields, params: Settings, lo: int, hi: int, only: int = -1, gram: np.ndarray | None = None
) -> None:
    """q(w, s) of features lo..hi-1; ``gram``: only of views known by sums, which with ``state["cross"]`` are not those of all samples."""
    shape, rate = state["alpha_shape"], state["alpha_rate"]
    alpha = shape / rate
    slab = np.log(alpha) if params["slab"] == "full" else digamma(shape) - np.log(rate)
    odds = digamma(state["theta_a"]) - digamma(state["theta_b"])
    float_type = state["float"].dtype
    z, zz = (state[name] if gram is not None else state[name].astype(float_type) for name in ("z", "zz"))
    table = products.padded(z, dtype=float_type) if gram is None else z
    found = state["loc"], state["var"], state["var0"], state["gamma"], state["w"], state["ww"]
    prior = state["view"], alpha, slab, odds
    whole = gram
    for view, below, above in parts_of(state, lo, hi):
        if view.level:
            if gram is None or view.summed:
                whole = level_gram(state) if whole is None else whole
                _update_level(state, view, below, above, whole, z, (*prior, *found, only))
            continue
        if gram is not None:
            continue
        if grams.pay(state):
            sums = grams.of_features(state, view, below - view.first, above - view.first)
            kernels.weights_of_level(below, *sums, *prior, *found, only)
            continue
        for start, end in in_tiles(above - below, z.shape[1]):
            at, stop = below + start, below + end
            cells = tile(state, view, at - view.first, stop - view.first)
            assert cells.T is not None
            products.take_away(at, cells.T, cells.T_at[0], table, state["w"], cells.B)
            kernels.weights(at, cells.T, cells.T_at[0], cells.B, z, zz, *prior, *found, only)


def _update_level(
    state: Fields, view: View, lo: int, hi: int, whole: np.ndarray, z: np.ndarray, others: tuple[Any, ...]
) -> None:
    """q(w, s) of features lo..hi-1 of a level view, from the Gram matrices (G, width) of the factor values."""
    level = level_of(state, view)
    for start, end in in_tiles(hi - lo, whole.shape[1] if view.summed else z.shape[1]):
        at, stop = lo + start, lo + end
        here = level[:, at - view.first : stop - view.first]
        cross = np.zeros((stop - at, len(z)))
        if view.summed:
            cross += np.einsum("gd,kgd->dk", here, state["cross"][:, :, at:stop])
        else:
            products.dots_of_rows(tile(state, view, at - view.first, stop - view.first).B, 0, z, cross)
        kernels.weights_of_level(at, here.T @ whole, cross, *others)


def level_gram(state: Predictor) -> np.ndarray:
    """(G, width) Gram matrices of the factor values by sample group."""
    first, second = np.ascontiguousarray(state["z"].T), np.ascontiguousarray(state["zz"].T)
    groups = np.arange(len(state["scale"]))[:, None] == state["group"]
    gram = np.zeros((len(groups), products.width(first.shape[1])))
    products.gram_of_rows(groups.astype(state["float"].dtype), 0, first, second, gram)
    return gram


def update_alpha(state: Fields, params: Settings) -> None:
    """q(alpha) of every factor and view."""
    gamma, second = state["gamma"], state["ww"]
    full = params["slab"] == "full"
    for m in range(state["alpha_shape"].shape[1]):
        here = state["view"] == m
        active = gamma[:, here]
        half = 0.5 * (here.sum() if full else active.sum(axis=1))
        square = second[:, here]
        if full:
            square = square + (1 - active) * state["var0"][:, here]
        state["alpha_shape"][:, m] = params["weight_shape"] + half
        state["alpha_rate"][:, m] = params["weight_rate"] + 0.5 * square.sum(axis=1)


def update_theta(state: Fields, params: Settings) -> None:
    """q(theta) of every factor and view."""
    for m in range(state["theta_a"].shape[1]):
        active = state["gamma"][:, state["view"] == m]
        total = active.sum(axis=1)
        state["theta_a"][:, m] = params["sparsity_a"] + total
        state["theta_b"][:, m] = params["sparsity_b"] + np.maximum(active.shape[1] - total, 0.0)


def update_scores(state: Predictor, lo: int, hi: int, only: int = -1) -> None:
    """q(z) of samples lo..hi-1."""
    float_type = state["float"].dtype
    views = list(views_of(state))
    soft = [view for view in views if not view.level]
    here = np.concatenate(
        [np.arange(view.first, view.first + view.size) for view in soft] or [np.zeros(0, int)]
    )
    gram = np.zeros((len(state["scale"]), products.width(len(state["w"]))))
    for view in views:
        if view.level:
            add_level(state, view, gram)
    precision = state["score_shape"] / state["score_rate"]
    if soft and grams.pay(state):
        for left in range(lo, hi, grams.SAMPLES):
            right = min(hi, left + grams.SAMPLES)
            sums, cross = grams.of_samples(state, soft, left, right)
            sums += gram.T[:, state["group"][left:right]]
            cross += cross_of_level(state, views, left, right)
            kernels.scores_of_samples(
                left, sums, cross, state["group"], precision, state["z"], state["v"], state["zz"], only
            )
        return
    first, second = (np.ascontiguousarray(state[name][:, here], float_type) for name in ("w", "ww"))
    table = products.padded(first, dtype=float_type)
    step = max(SIDE, TILE_CELLS // max(1, len(here), products.CHUNK) // SIDE * SIDE)
    for left in range(lo, hi, step):
        right = min(hi, left + step)
        T, rest = across(state, soft, left, right)
        products.take_away(left, T, 0, table, state["z"], rest)
        cross = cross_of_level(state, views, left, right)
        kernels.scores(
            left, T, rest, first, second, gram, cross, state["group"], precision,
            state["z"], state["v"], state["zz"], only,
        )  # fmt: skip


def add_level(state: Predictor, view: View, gram: np.ndarray) -> None:
    """Add the Gram matrices (G, width) of the weights of a level view by sample group."""
    first, second = (np.ascontiguousarray(state[name][:, view.features].T) for name in ("w", "ww"))
    level = np.ascontiguousarray(level_of(state, view), dtype=state["float"].dtype)
    products.gram_of_rows(level, 0, first, second, gram)


def cross_of_level(state: Predictor, views: list[View], left: int, right: int) -> np.ndarray:
    """(K, samples) sums of (B - T <mu>) <w> over the level views."""
    cross = np.zeros((len(state["z"]), right - left))
    for view in views:
        if not view.level:
            continue
        small = state["w"][:, view.features].astype(state["float"].dtype)
        for start, end in in_tiles(view.size, right - left, products.CHUNK):
            cells = tile(state, view, start, end, left, right)
            products.dots_of_columns(np.ascontiguousarray(small[:, start:end]), cells.B, 0, 0, cross)
    return cross


def update_score_precision(state: Fields, params: Settings) -> None:
    """q of the prior precision of a factor's values in a sample group; it is 1 where there is one group, or all have one course."""
    n_groups = len(state["scale"])
    if n_groups == 1 or "smooth" in state:
        return
    for g in range(n_groups):
        here = state["group"] == g
        state["score_shape"][:, g] = params["weight_shape"] + 0.5 * here.sum()
        state["score_rate"][:, g] = params["weight_rate"] + 0.5 * state["zz"][:, here].sum(axis=1)


def update_noise(state: Fields, params: Settings, lo: int, hi: int) -> None:
    """q(tau) of those of features lo..hi-1 that are Gaussian, and their part of the bound."""
    for view, below, above in parts_of(state, lo, hi):
        if view.kind == kernels.GAUSSIAN:
            measure_squares(state, view, below, above)
            noise_of_squares(state, params, slice(below, above))


def noise_of_squares(state: Fields, params: Settings, here: slice) -> None:
    """q(tau) of Gaussian features and their part of the bound, from ``state["squares"]``."""
    rate = params["noise_rate"] + 0.5 * state["squares"][:, here]
    state["tau_rate"][:, here] = np.maximum(rate, 1e-300)
    state["scale"][:, here] = state["tau_shape"][:, here] / state["tau_rate"][:, here]
    gaussian_likelihood(state, params, here)


def update_zeta(state: Predictor) -> None:
    """The local parameters of all features, and their part of the bound."""
    update_soft(state, 0, len(state["lik"]), 1.0, False)


def update_local(state: Fields, params: Settings, lo: int, hi: int) -> None:
    """Intercepts, noise precisions and local parameters of features lo..hi-1, each feature in one go; and the products of Gaussian
    features with the new factor values."""
    update_soft(state, lo, hi, params["intercept_variance"], params["intercept"])
    update_noise(state, params, lo, hi)
    blocks.update_products(state, lo, hi)


def update_soft(state: Predictor, lo: int, hi: int, v_mu: float, intercepts: bool) -> None:
    """Intercepts and local parameters of those of features lo..hi-1 that are not Gaussian, and their part of the bound."""
    for view, below, above in parts_of(state, lo, hi):
        if view.kind == kernels.GAUSSIAN:
            continue
        y, first = view.arrays["y"], view.first
        single = bool(state["single"]) and view.kind == kernels.BERNOULLI
        for at, end, x, spread in predicted(state, below, above, single):
            by_group = state["mu"].ndim == 2
            if by_group and intercepts:
                update_by_group(state, view, at, end, x, v_mu)
            mu, mu_var = for_kernels(state, at, end, x, spread)
            rest = v_mu, mu, mu_var, state["const"], state["lik"], intercepts and not by_group, True
            if view.kind == kernels.BERNOULLI:
                update = singles.update_bits if x.dtype == np.float32 else local.update_bits
                update(at, end, first, y, view.arrays["T"], x, spread, *rest)
            else:
                local.update_tangents(at, end, first, view.kind, y, view.arrays["B"], x, spread, *rest)
