"""q before the first sweep, and moments read off it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from scipy.special import digamma

from plaidwork.plugins.rank_factor.kernels.solve import diagonal, doubled, outer_packed, packed_size
from plaidwork.plugins.rank_factor.mixture import decisions
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.shrinkage import mean_log
from plaidwork.plugins.rank_factor.start import new_state
from plaidwork.plugins.rank_factor.state import GammaFactor, Q, Settings, factors_of

START_VARIANCE = 0.01


def _identity(shape: tuple[int, ...], k: int) -> tuple[np.ndarray, np.ndarray]:
    covariance = np.zeros((*shape, packed_size(k)))
    covariance[..., diagonal(k)] = START_VARIANCE
    return covariance, np.full(shape, k * np.log(START_VARIANCE))


def new_q(setup: Setup, params: Settings, rng: np.random.Generator, n_features: int = 0) -> Q:
    """All of q; names as in NOTES.md. Gamma factors are kept by shape and rate.

    ``n_features`` counts those left out too; 0: none is.
    """
    start = new_state(setup, params, rng)
    (d, n, g), k = setup.shape, factors_of(params, setup.shape[0])
    size = groups, _, k_beta = start["beta"].shape
    share = np.full((n, groups), 0.1 / groups)
    share[np.arange(n), start["t"]] += 0.9
    a_cov, a_log_det = _identity((d,), k)
    z_cov, z_log_det = _identity((n,), k)
    beta_cov, beta_log_det = _identity((groups, g), k_beta)
    r, s = params["loading_shape"], params["loading_rate"]
    r_beta, s_beta = params["coefficient_shape"], params["coefficient_rate"]
    gamma = params["noise_shape"] + 0.5 * setup.known.sum(axis=1)
    psi = params["precision_shape"] + 0.5 * k * share.sum(axis=0)
    return {
        "a": start["a"], "z": start["z"], "c": start["c"], "beta": start["beta"], "mu": start["mu"],
        "a_cov": a_cov, "a_log_det": a_log_det, "z_cov": z_cov, "z_log_det": z_log_det,
        "beta_cov": beta_cov, "beta_log_det": beta_log_det, "c_var": np.full(start["c"].shape, START_VARIANCE),
        "xi_eta": np.ones((d, k)), "xi_square": np.ones((d, k)), "xi_mean": np.ones((d, k)), "xi_inverse": np.ones((d, k)),
        "b_eta": np.ones(size), "b_square": np.ones(size), "b_mean": np.ones(size), "b_inverse": np.ones(size),
        "xi_order": r - 0.5, "eta_shape": r + s, "eta_rate": np.full((d, k), r + s),
        "phi_shape": 0.5 + s * d, "phi_rate": np.full(k, 0.5 + s * d), "top_shape": 0.5 + 0.5 * k, "top_rate": 0.5 + 0.5 * k,
        "e_shape": r_beta + s_beta, "e_rate": np.full(size, r_beta + s_beta),
        "b_phi_shape": 0.5 + s_beta * k_beta, "b_phi_rate": np.full((groups, g), 0.5 + s_beta * k_beta),
        "b_top_shape": 1.0, "b_top_rate": np.ones((groups, g)),
        "gamma_shape": gamma, "gamma_rate": gamma.copy(),
        "share": share, "mu_var": np.full(groups, START_VARIANCE if groups > 1 else 0.0),
        "psi_shape": psi, "psi_rate": psi.copy(), "nu_a": np.ones(groups), "nu_b": np.ones(groups),
        "alpha_shape": params["mass_shape"] + groups - 1.0, "alpha_rate": 1.0 * groups,
        "label_kappa": np.repeat((setup.y != 0).astype(float)[:, None], groups, axis=1),
        "precision": np.zeros((0, 0)), "linear": np.zeros((0, 0)), "kappa": np.zeros(0), "w": np.zeros((0, 0)),
        "hinges": np.zeros(d), "measured": np.zeros((d, 4)), "squares": np.zeros(d),
        "gaussian": setup.likelihood == "gaussian", "good": {}, "share_added": 0.0,
        "rows": setup.rows, "train": setup.train, "n_samples": len(setup.codes), "n_features": n_features or d,
    }  # fmt: skip


def a_second(state: Q, lo: int, hi: int) -> np.ndarray:
    """(hi - lo, packed) E[a a']."""
    return outer_packed(state["a"][lo:hi]) + state["a_cov"][lo:hi]


def z_second(state: Q) -> np.ndarray:
    """(N, packed) E[z z']."""
    return outer_packed(state["z"]) + state["z_cov"]


def extended_second(state: Q) -> np.ndarray:
    """(N, packed) the same of the scores with a one appended when the classifiers have an offset."""
    second, z = z_second(state), state["z"]
    if state["beta"].shape[2] == z.shape[1]:
        return second
    return np.column_stack([second, z, np.ones(len(z))])


def beta_second(state: Q) -> np.ndarray:
    """(T, G, packed) E[beta beta']."""
    beta = state["beta"]
    flat = outer_packed(beta.reshape(-1, beta.shape[2]))
    return flat.reshape(state["beta_cov"].shape) + state["beta_cov"]


def squares_of(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """E[x^2] of every entry."""
    return mean**2 + covariance[..., diagonal(mean.shape[-1])]


def _gamma(state: Q, name: GammaFactor) -> tuple[Any, Any]:
    """Shape and rate."""
    by_name = cast("Mapping[str, Any]", state)
    return by_name[f"{name}_shape"], by_name[f"{name}_rate"]


def mean_of(state: Q, name: GammaFactor) -> np.ndarray:
    """Mean of a gamma factor."""
    shape, rate = _gamma(state, name)
    return np.asarray(shape / rate)


def log_of(state: Q, name: GammaFactor) -> np.ndarray:
    """E log of a gamma factor."""
    return mean_log(*_gamma(state, name))


def prior_of_scores(state: Q) -> tuple[np.ndarray, np.ndarray]:
    """(T,) <psi> and E log psi; 1 and 0 with a single group."""
    if state["share"].shape[1] == 1:
        return np.ones(1), np.zeros(1)
    return mean_of(state, "psi"), log_of(state, "psi")


def score_distances(state: Q) -> np.ndarray:
    """(N, T) E |z - mu_t|^2."""
    z, k = state["z"], state["z"].shape[1]
    trace = state["z_cov"][:, diagonal(k)].sum(axis=1)
    return ((z[:, None] - state["mu"]) ** 2).sum(axis=2) + trace[:, None] + k * state["mu_var"]


def log_shares(state: Q) -> np.ndarray:
    """(T,) E log q_t."""
    a, b = state["nu_a"], state["nu_b"]
    both = digamma(a + b)
    log_nu, log_rest = digamma(a) - both, digamma(b) - both
    log_nu[-1] = 0.0
    return log_nu + np.concatenate([[0.0], np.cumsum(log_rest[:-1])])


def label_moments(state: Q) -> tuple[np.ndarray, np.ndarray]:
    """(N, T, G) mean of beta' z + b0, and of its square."""
    groups, g, k = state["beta"].shape
    second = doubled(beta_second(state).reshape(groups * g, -1), k)
    square = (extended_second(state) @ second.T).reshape(-1, groups, g)
    f = decisions(state["z"], state["beta"])
    return f, np.maximum(square, f**2)
