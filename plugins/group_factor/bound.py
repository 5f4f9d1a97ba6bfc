"""The evidence lower bound by term."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, digamma, gammaln, xlogy

from plaidwork.core.api import Params, State
from plaidwork.plugins.group_factor import kernels

TERMS = ("likelihood", "weights", "scores", "other")


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


def likelihood_of(state: State, lo: int = 0, hi: int | None = None) -> np.ndarray:
    """The likelihood's part by feature."""
    hi = len(state["raw"]) if hi is None else hi
    elog = digamma(state["tau_shape"]) - np.log(state["tau_rate"])
    kernels.likelihood(
        lo, hi, state["raw"], state["kind"], state["tau_shape"], elog, state["z"], state["zz"], state["w"],
        state["ww"], state["mu"], state["mu_var"], state["A"], state["Y"], state["scale"], state["const"],
        state["lik"],
    )  # fmt: skip
    return state["lik"][lo:hi]


def bound_terms(state: State, params: Params) -> dict[str, float]:
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
    mu, mu_var, prior = state["mu"][soft], state["mu_var"][soft], params["intercept_variance"]
    intercepts = 0.5 * (1 + np.log(mu_var / prior) - (mu**2 + mu_var) / prior).sum()
    gaussian = state["kind"] == kernels.GAUSSIAN
    kl = (
        kl_gamma(shape, rate, params["weight_shape"], params["weight_rate"])
        + kl_beta(a, b, params["sparsity_a"], params["sparsity_b"])
        + kl_gamma(
            state["tau_shape"][gaussian],
            state["tau_rate"][gaussian],
            params["noise_shape"],
            params["noise_rate"],
        )
    )
    return {
        "likelihood": float(state["lik"].sum()),
        "weights": float(slab.sum() + spike.sum()),
        "scores": float(0.5 * (1 + np.log(state["v"]) - state["zz"]).sum()),
        "other": float(intercepts - kl),
    }


def elbo_of(state: State, params: Params) -> float:
    """The whole bound, everything computed anew."""
    likelihood_of(state)
    return sum(bound_terms(state, params).values())
