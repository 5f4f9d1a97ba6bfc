"""The state before the first sweep."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ModelError, Params, State
from plaidwork.plugins.group_factor import kernels
from plaidwork.plugins.group_factor.views import Views

START_VARIANCE = 0.02
"""Of q(z): small, or the first sweeps forget the start (see NOTES.md)."""


def varimax(loadings: np.ndarray, steps: int = 200) -> np.ndarray:
    """(K, K) rotation that makes the columns of the (D, K) loadings sparse."""
    n, k = loadings.shape
    rotation, last = np.eye(k), 0.0
    for _ in range(steps):
        turned = loadings @ rotation
        target = turned**3 - turned * ((turned**2).sum(axis=0) / n)
        left, values, right = np.linalg.svd(loadings.T @ target)
        rotation = left @ right
        if values.sum() <= last * (1 + 1e-8):
            break
        last = values.sum()
    return rotation


def levelled(loadings: np.ndarray) -> np.ndarray:
    """Rows of like length (Kaiser), those near 0 left small: else the strongest features decide the rotation."""
    squares = (loadings**2).sum(axis=1)
    return loadings / np.sqrt(squares + max(0.1 * squares.mean(), 1e-300))[:, None]


def principal_scores(x: np.ndarray, k: int, rng: np.random.Generator, rotate: bool) -> np.ndarray:
    """(k, N) scores of unit variance of the (D, N) data; noise where there are no more components."""
    n = x.shape[1]
    scores = rng.standard_normal((k, n))
    if x.shape[0] < n:
        values, left = np.linalg.eigh(x @ x.T)
        squares = np.maximum(values[::-1], 0.0)
        use = _components(squares, k, n)
        right = (x.T @ left[:, ::-1][:, :use]) / np.sqrt(squares[:use])
    else:
        values, vectors = np.linalg.eigh(x.T @ x)
        squares = np.maximum(values[::-1], 0.0)
        use = _components(squares, k, n)
        right = vectors[:, ::-1][:, :use]
    if not use:
        return scores
    found = right * np.sqrt(n)
    if rotate and use > 1:
        found = found @ varimax(levelled(x @ found / n))
    scores[:use] = found.T
    return scores


def _components(squares: np.ndarray, k: int, n: int) -> int:
    return min(k, n - 1, int((squares > 1e-10 * squares[0]).sum()) if squares[0] > 0 else 0)


def start_scores(
    views: Views, params: Params, rng: np.random.Generator, given: np.ndarray | None
) -> np.ndarray:
    """(K, N) means of q(z); ``given`` are (N, k) values of the first factors."""
    k, n = params["n_factors"], views.raw.shape[1]
    if params["init"] == "given":
        if given is None:
            raise ModelError(
                "“Start from given values” needs the input “Start values”.", "Add it, or start otherwise."
            )
        if given.shape[1] > k:
            raise ModelError(
                f"“Start values” has {given.shape[1]} factors, “Factors” allows {k}.", "Raise “Factors”."
            )
        scores = params["start_noise"] * rng.standard_normal((k, n))
        scores[: given.shape[1]] += given.T
        return scores
    if params["init"] == "random":
        return rng.standard_normal((k, n))
    known = views.observed
    x = views.raw - ((views.raw * known).sum(axis=1) / known.sum(axis=1))[:, None]
    x *= known
    scores = principal_scores(x, k, rng, params["init"] == "varimax")
    return scores + params["start_noise"] * rng.standard_normal((k, n))


def new_state(
    views: Views, params: Params, rng: np.random.Generator, given: np.ndarray | None = None
) -> State:
    """All of q and what it remembers of the data."""
    (d, n), k, m = views.raw.shape, params["n_factors"], len(views.names)
    gaussian = views.kind == kernels.GAUSSIAN
    z = start_scores(views, params, rng, given)
    v = np.full((k, n), START_VARIANCE)
    count = views.observed.sum(axis=1)
    variance = np.maximum((views.raw**2 * views.observed).sum(axis=1) / count, 1e-300)
    tau_shape = np.where(gaussian, params["noise_shape"] + 0.5 * count, 1.0)
    mu = np.zeros(d)
    if params["intercept"]:
        mu = np.where(gaussian, 0.0, views.null)
    state: State = {
        "stage": 0, "at": 0, "sweeps": 0, "dropped": 0,
        "raw": views.raw.copy(), "A": views.observed.copy(), "Y": views.raw.copy(),
        "kind": views.kind.astype(np.int64), "view": views.view.astype(np.int64),
        "z": z, "v": v, "zz": z**2 + v,
        "loc": np.zeros((k, d)), "var": np.ones((k, d)), "var0": np.ones((k, d)),
        "gamma": np.ones((k, d)), "w": np.zeros((k, d)), "ww": np.zeros((k, d)),
        "alpha_shape": np.ones((k, m)), "alpha_rate": np.ones((k, m)),
        "theta_a": np.full((k, m), params["sparsity_a"]), "theta_b": np.full((k, m), params["sparsity_b"]),
        "mu": mu, "mu_var": np.where(gaussian | (not params["intercept"]), 0.0, 1e-2),
        "tau_shape": tau_shape, "tau_rate": np.where(gaussian, tau_shape * variance, 1.0),
        "scale": np.where(gaussian, 1.0 / variance, 1.0),
        "const": np.zeros(d), "lik": np.zeros(d), "null": views.null.copy(), "deviance": np.zeros((k + 3, m)),
    }  # fmt: skip
    spared = np.flatnonzero(~gaussian)
    for feature in spared:  # the local parameters for the start of the intercepts
        x = state["mu"][feature]
        T, B, C = _bounds(int(views.kind[feature]), views.raw[feature], float(x))
        known = views.observed[feature]
        state["A"][feature], state["Y"][feature] = T * known, B * known
        state["const"][feature] = float((C * known).sum())
    return state


def _bounds(kind: int, y: np.ndarray, x: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T, B, C of a feature whose <x> is one number."""
    values, place = np.unique(y, return_inverse=True)
    found = np.array([kernels.bound(kind, float(value), x, 0.0) for value in values])[place]
    return found[:, 0], found[:, 1], found[:, 2]
