"""One sweep, cut into slices of like work, in the order of NOTES.md."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import digamma

from plaidwork.core.api import Params, State
from plaidwork.plugins.group_factor import kernels
from plaidwork.plugins.group_factor.bound import bound_terms, elbo_of, likelihood_of

SLICE = 4_000_000
"""Products of cells and factors in one slice, some 10 to 20 ms."""
ROWS = 16
"""Samples whose scores are updated side by side, when that is little work."""
ROW_WORK = 8_000_000
"""The most products of features, factors and samples for one such step."""
STAGES = ("deviance", "weights", "scores", "local")


def drops_now(sweep: int, params: Params) -> bool:
    """Whether weak factors leave before this sweep."""
    start, every = params["drop_start"], params["drop_every"]
    return sweep >= max(1, start) and (sweep - start) % every == 0


def update_weights(state: State, params: Params, lo: int, hi: int, only: int = -1) -> None:
    """q(w, s) of some features."""
    shape, rate = state["alpha_shape"], state["alpha_rate"]
    alpha = shape / rate
    slab = np.log(alpha) if params["slab"] == "full" else digamma(shape) - np.log(rate)
    odds = digamma(state["theta_a"]) - digamma(state["theta_b"])
    kernels.update_weights(
        lo, hi, state["A"], state["Y"], state["scale"], state["mu"], state["z"], state["zz"], state["view"], alpha,
        slab, odds, state["loc"], state["var"], state["var0"], state["gamma"], state["w"], state["ww"], only,
    )  # fmt: skip


def update_alpha(state: State, params: Params) -> None:
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


def update_theta(state: State, params: Params) -> None:
    """q(theta) of every factor and view."""
    for m in range(state["theta_a"].shape[1]):
        active = state["gamma"][:, state["view"] == m]
        total = active.sum(axis=1)
        state["theta_a"][:, m] = params["sparsity_a"] + total
        state["theta_b"][:, m] = params["sparsity_b"] + np.maximum(active.shape[1] - total, 0.0)


def rows_at_once(state: State) -> int:
    """Samples of one call of the kernel; fewer when there are very many features and factors."""
    return min(ROWS, max(1, ROW_WORK // (len(state["A"]) * max(1, len(state["z"])))))


def update_scores(state: State, lo: int, hi: int, only: int = -1) -> None:
    """q(z) of some samples."""
    rows = rows_at_once(state)
    for start in range(lo, hi, rows):
        kernels.update_scores(
            start, min(hi, start + rows), state["A"], state["Y"], state["scale"], state["mu"], state["w"],
            state["ww"], state["z"], state["v"], state["zz"], only,
        )  # fmt: skip


def update_intercepts(state: State, params: Params, lo: int, hi: int) -> None:
    """q(mu) of some features."""
    if params["intercept"]:
        kernels.update_intercepts(
            lo, hi, state["A"], state["Y"], state["kind"], params["intercept_variance"], state["z"], state["w"],
            state["mu"], state["mu_var"],
        )  # fmt: skip


def update_local(state: State, params: Params, lo: int, hi: int) -> None:
    """Noise precisions and local parameters of some features."""
    kernels.update_local(
        lo, hi, state["raw"], state["kind"], state["tau_shape"], params["noise_rate"], state["z"], state["zz"],
        state["w"], state["ww"], state["mu"], state["mu_var"], state["A"], state["Y"], state["scale"],
        state["tau_rate"], state["const"],
    )  # fmt: skip


def measure(state: State, lo: int, hi: int) -> None:
    """Add the deviances of some features to ``state["deviance"]``."""
    kernels.deviances(
        lo, hi, state["raw"], state["A"], state["kind"], state["mu"], state["null"], state["z"], state["w"],
        state["view"], state["deviance"],
    )  # fmt: skip


def explained(deviance: np.ndarray) -> np.ndarray:
    """(K + 1, M) share of deviance explained; 0 where there is nothing to explain.

    The row of a factor is what it takes away when it is added to the intercepts alone, so that a factor without weights
    has 0; the last row is what all take away from the best constants. For Gaussian views both are 1 - SSE / SST.
    """
    none, base = deviance[-2], deviance[-1]
    gain = np.vstack([none - deviance[:-3], base - deviance[-3]])
    return np.where(base > 0, gain / np.where(base > 0, base, 1.0), 0.0)


def drop_weak(state: State, params: Params) -> None:
    """Take out all factors that explain too little in every view; one factor always stays."""
    share = explained(state["deviance"])[:-1]
    weak = (share < params["min_r2"]).all(axis=1)
    if params["min_r2"] == 0:
        weak = (state["gamma"] < 0.01).all(axis=1)
    if weak.all():
        weak[share.max(axis=1).argmax()] = False
    if weak.any():
        keep_factors(state, np.flatnonzero(~weak))
        state["dropped"] += int(weak.sum())


def keep_factors(state: State, index: np.ndarray) -> None:
    """Only these factors, in this order."""
    for name in ("z", "v", "zz", "loc", "var", "var0", "gamma", "w", "ww", "alpha_shape", "alpha_rate", "theta_a", "theta_b"):  # fmt: skip
        state[name] = np.ascontiguousarray(state[name][index])


def _begin(state: State) -> None:
    k, m = state["alpha_shape"].shape
    state["deviance"] = np.zeros((k + 3, m))


def advance(state: State, params: Params, sweep: int) -> dict[str, float] | None:
    """The next slice; the traces when it ends the sweep."""
    n_features, n_samples = state["A"].shape
    stage = STAGES[state["stage"]]
    if stage == "deviance" and not drops_now(sweep, params):
        state["stage"], stage = 1, "weights"
    k = max(1, len(state["z"]))
    lo = state["at"]
    if stage == "scores":
        end = n_samples
        rows = rows_at_once(state)
        hi = min(end, lo + rows * max(1, SLICE // (rows * n_features * k)))
        update_scores(state, lo, hi)
    else:
        end = n_features
        hi = min(end, lo + max(1, SLICE // (n_samples * (k + (10 if stage == "local" else 1)))))
        if stage == "deviance":
            if lo == 0:
                _begin(state)
            hi = min(end, lo + max(1, SLICE // (n_samples * k * 10)))
            measure(state, lo, hi)
        elif stage == "weights":
            update_weights(state, params, lo, hi)
        else:
            update_intercepts(state, params, lo, hi)
            update_local(state, params, lo, hi)
            likelihood_of(state, lo, hi)
    state["at"] = hi
    if hi < end:
        return None
    if stage == "deviance":
        drop_weak(state, params)
    elif stage == "weights":
        update_alpha(state, params)
        if sweep >= params["theta_start"]:
            update_theta(state, params)
    state["at"] = 0
    state["stage"] = (state["stage"] + 1) % len(STAGES)
    return traces_of(state, params) if stage == "local" else None


def traces_of(state: State, params: Params) -> dict[str, float]:
    """Traces after a sweep."""
    terms = bound_terms(state, params)
    return {
        "elbo": sum(terms.values()),
        **terms,
        "n_factors": float(len(state["z"])),
        "active": float((state["gamma"] > 0.5).mean()),
    }


def blocks(state: State, params: Params, sweep: int) -> Iterator[tuple[str, float]]:
    """One sweep with the bound after every single factor of q."""
    d, n = state["A"].shape
    if drops_now(sweep, params):
        _begin(state)
        measure(state, 0, d)
        drop_weak(state, params)

    trial = _copy(
        state
    )  # one factor at a time rounds otherwise than a whole kernel, which is what step() calls
    for k in range(len(state["z"])):
        update_weights(trial, params, 0, d, k)
        yield f"w of factor {k + 1}", elbo_of(trial, params)
    update_weights(state, params, 0, d)
    yield "w", elbo_of(state, params)
    update_alpha(state, params)
    yield "alpha", elbo_of(state, params)
    if sweep >= params["theta_start"]:
        update_theta(state, params)
        yield "theta", elbo_of(state, params)
    trial = _copy(state)
    for k in range(len(state["z"])):
        update_scores(trial, 0, n, k)
        yield f"z of factor {k + 1}", elbo_of(trial, params)
    update_scores(state, 0, n)
    yield "z", elbo_of(state, params)
    update_intercepts(state, params, 0, d)
    yield "mu", elbo_of(state, params)
    update_local(state, params, 0, d)
    yield "tau and zeta", elbo_of(state, params)


def _copy(state: State) -> State:
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
