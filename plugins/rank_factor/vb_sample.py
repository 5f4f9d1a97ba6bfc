"""Independent draws from q."""

from __future__ import annotations

import numpy as np
from numba import njit

from plaidwork.plugins.rank_factor.kernels.random import gig
from plaidwork.plugins.rank_factor.state import Q
from plaidwork.plugins.rank_factor.vb_rows import unpacked

PART_NUMBERS = 5_000_000
"""Entries of covariances that are taken apart at a time."""


def normal_rows(rng: np.random.Generator, mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """One draw of every row of ``mean`` (n, K) under its packed covariance (n, K (K + 1) / 2)."""
    k = mean.shape[1]
    out = mean + 0.0
    part = max(1, PART_NUMBERS // (k * k))
    for lo in range(0, len(mean), part):
        whole = unpacked(covariance[lo : lo + part], k)
        values, vectors = np.linalg.eigh(whole)  # of a feature left out it is 0, which has no Cholesky factor
        noise = rng.standard_normal((len(whole), k)) * np.sqrt(np.maximum(values, 0.0))
        out[lo : lo + part] += np.einsum("nij,nj->ni", vectors, noise)
    return out


@njit(nogil=True, cache=True)
def _scales(rng, eta, square, order, out):
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = gig(rng, 2.0 * eta[i, k], max(square[i, k], 1e-12), order)


def log_shares_drawn(rng: np.random.Generator, state: Q) -> np.ndarray:
    """(T,) log q_t of drawn sticks, without rounding; 0 with a single group."""
    a, b = state["nu_a"], state["nu_b"]
    if len(a) == 1:
        return np.zeros(1)
    one = np.log(rng.standard_gamma(a))
    other = np.log(rng.standard_gamma(b + 1.0)) + np.log1p(-rng.random(len(b))) / b
    both = np.logaddexp(one, other)
    log_nu = np.append((one - both)[:-1], 0.0)
    return log_nu + np.concatenate([[0.0], np.cumsum((other - both)[:-1])])


def draw_q(state: Q, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """One draw of what is kept, fitted rows and training samples only; variances are 0, shares 0 or 1."""
    groups, g, k_beta = state["beta"].shape
    xi = np.empty(state["a"].shape)
    _scales(rng, state["xi_eta"], state["xi_square"], state["xi_order"], xi)
    beta = normal_rows(
        rng, state["beta"].reshape(-1, k_beta), state["beta_cov"].reshape(groups * g, -1)
    ).reshape(state["beta"].shape)
    noise = rng.standard_normal(state["mu"].shape) * np.sqrt(state["mu_var"])[:, None]
    psi = rng.standard_gamma(state["psi_shape"]) / state["psi_rate"] if groups > 1 else np.ones(1)
    t = (rng.random((len(state["share"]), 1)) > np.cumsum(state["share"], axis=1)[:, :-1]).sum(axis=1)
    gamma = np.ones(len(state["a"]))
    if state["gaussian"]:
        gamma = rng.standard_gamma(state["gamma_shape"]) / state["gamma_rate"]
    return {
        "loadings": normal_rows(rng, state["a"], state["a_cov"]),
        "scores": normal_rows(rng, state["z"], state["z_cov"]),
        "thresholds": state["c"] + rng.standard_normal(state["c"].shape) * np.sqrt(state["c_var"]),
        "beta": beta,
        "shrinkage": 1.0 / (1.0 + xi),
        "noise": gamma,
        "group_mean": state["mu"] + noise,
        "group_precision": psi,
        "log_weight": log_shares_drawn(rng, state),
        "share": np.eye(groups)[t],
    }
