"""The evidence lower bound by term."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import betaln, digamma, gammaln, xlogy

from plaidwork.core.api import ModelData
from plaidwork.plugins.group_factor import kernels, local, products
from plaidwork.plugins.group_factor.blocks import add_level_errors, add_level_spread, measure_errors
from plaidwork.plugins.group_factor.cells import View, in_tiles, tile, views_of
from plaidwork.plugins.group_factor.intercepts import for_kernels
from plaidwork.plugins.group_factor.state import Fields, Predictor, Settings


def kl_gamma(a: np.ndarray, b: np.ndarray, a0: float, b0: float) -> float:
    """KL of Gamma(a, b) from Gamma(a0, b0), shape and rate, summed."""
    kl = (a - a0) * digamma(a) - gammaln(a) + gammaln(a0) + a0 * (np.log(b) - np.log(b0)) + a * (b0 - b) / b
    return float(kl.sum())


def kl_beta(a: np.ndarray, b: np.ndarray, a0: float, b0: float) -> float:
    """KL of Beta(a, b) from Beta(a0, b0), summed."""
    kl = (
        betaln(a0, b0)
        - betaln(a, b)
        + (a - a0) * digamma(a)
        + (b - b0) * digamma(b)
        + (a0 - a + b0 - b) * digamma(a + b)
    )
    return float(kl.sum())


def predicted(
    state: Predictor, lo: int, hi: int, single: bool = False
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Features lo..hi-1 a few at a time: which, <x> without the intercept, and its variance, (features, N).

    ``single``: these in float32.
    """
    n = state["z"].shape[1]
    dtype = np.dtype(np.float32 if state["single"] else np.float64)
    z = state["z"].astype(dtype)
    both = np.concatenate([state["zz"], state["v"]]).astype(dtype)
    for start, end in in_tiles(hi - lo, 4 * n):
        x, spread = (np.empty((end - start, n), np.float32 if single else np.float64) for _ in range(2))
        products.predict(lo + start, lo + end, z, both, state["w"], state["ww"], x, spread)
        yield lo + start, lo + end, x, spread


def measure_squares(state: Fields, view: View, lo: int, hi: int) -> None:
    """Expected squared errors of features lo..hi-1 of a Gaussian view, by group, into ``state["squares"]``.

    Of a view that stays in its file the errors of <x> are there already, from a pass over the file.
    """
    if view.summed:
        if not view.stays:
            state["squares"][:, lo:hi] = 0.0
            add_level_errors(state, view, lo, hi)
        add_level_spread(state, lo, hi)
        return
    for at, end, x, spread in predicted(state, lo, hi):
        arrays, group = view.arrays, state["group"]
        local.squares(at, end, view.first, arrays["y"], arrays["known"], group, x, spread, state["squares"])


def gaussian_likelihood(state: Fields, params: Settings, here: slice) -> None:
    """The likelihood of Gaussian features from their squared errors."""
    shape, scale = state["tau_shape"][:, here], state["scale"][:, here]
    cells = 2 * (shape - params["noise_shape"])
    log = digamma(shape) - np.log(state["tau_rate"][:, here]) - np.log(2 * np.pi)
    state["lik"][here] = 0.5 * (cells * log - scale * state["squares"][:, here]).sum(axis=0)


def likelihood_of(state: Fields, params: Settings, data: ModelData | None) -> None:
    """The likelihood's part by feature, as q stands now, into ``state["lik"]``; ``data`` where views stay in their file."""
    if data is not None:
        measure_errors(state, data)
    for view in views_of(state):
        end = view.first + view.size
        if view.kind == kernels.GAUSSIAN:
            measure_squares(state, view, view.first, end)
            gaussian_likelihood(state, params, view.features)
            continue
        for at, stop, x, spread in predicted(state, view.first, end):
            cells = tile(state, replace(view, level=False), at - view.first, stop - view.first, shifted=False)
            mu, mu_var = for_kernels(state, at, stop, x, spread)
            local.quadratics(
                at, stop, cells.T, cells.B, cells.T_at[0], x, spread, mu, mu_var, state["const"], state["lik"],
            )  # fmt: skip


def bound_terms(state: Fields, params: Settings) -> dict[str, float]:
    """Terms of the bound; the likelihood as it stands in ``state["lik"]``."""
    view, collapsed = state["view"], params["slab"] == "collapsed"
    shape, rate = state["alpha_shape"], state["alpha_rate"]
    mean, log = (shape / rate)[:, view], (digamma(shape) - np.log(rate))[:, view]
    a, b = state["theta_a"], state["theta_b"]
    total = digamma(a + b)
    log_in, log_out = (digamma(a) - total)[:, view], (digamma(b) - total)[:, view]
    gamma, loc, var, var0 = state["gamma"], state["loc"], state["var"], state["var0"]
    slab = gamma / 2 * (log - mean * (loc**2 + var) + np.log(var) + 1)
    if not collapsed:
        slab = slab + (1 - gamma) / 2 * (log - mean * var0 + np.log(var0) + 1)
    spike = gamma * log_in + (1 - gamma) * log_out - xlogy(gamma, gamma) - xlogy(1 - gamma, 1 - gamma)
    soft = state["kind"] != kernels.GAUSSIAN
    if not params["intercept"]:
        soft = soft & False
    mu, mu_var, prior = state["mu"][..., soft], state["mu_var"][..., soft], params["intercept_variance"]
    intercepts = 0.5 * (1 + np.log(mu_var / prior) - (mu**2 + mu_var) / prior).sum()
    gaussian = state["kind"] == kernels.GAUSSIAN
    kl = (
        kl_gamma(shape, rate, params["weight_shape"], params["weight_rate"])
        + kl_beta(a, b, params["sparsity_a"], params["sparsity_b"])
        + kl_gamma(
            state["tau_shape"][:, gaussian],
            state["tau_rate"][:, gaussian],
            params["noise_shape"],
            params["noise_rate"],
        )
    )
    score_shape, score_rate = state["score_shape"], state["score_rate"]
    precision, log_precision = np.ones(1), np.zeros(1)
    if len(state["scale"]) > 1 and "smooth" not in state:
        precision = (score_shape / score_rate)[:, state["group"]]
        log_precision = (digamma(score_shape) - np.log(score_rate))[:, state["group"]]
        kl += kl_gamma(score_shape, score_rate, params["weight_shape"], params["weight_rate"])
    scores = float(0.5 * (log_precision + 1 + np.log(state["v"]) - precision * state["zz"]).sum())
    if "smooth" in state:
        scores = -float(state["smooth"]["kl"].sum())
    return {
        "likelihood": float(state["lik"].sum()),
        "weights": float(slab.sum() + spike.sum()),
        "scores": scores,
        "other": float(intercepts - kl),
    }


def elbo_of(state: Fields, params: Settings, data: ModelData | None = None) -> float:
    """The whole bound, everything computed anew; the state stays as it is."""
    own = state.copy()
    own["lik"], own["squares"] = state["lik"].copy(), state["squares"].copy()
    likelihood_of(own, params, data)
    return sum(bound_terms(own, params).values())
