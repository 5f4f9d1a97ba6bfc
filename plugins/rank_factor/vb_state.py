"""q before the first sweep, and moments read off it."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from plaidwork.core.api import Params, State
from plaidwork.plugins.rank_factor.kernels.solve import diagonal, doubled, outer_packed, packed_size
from plaidwork.plugins.rank_factor.mixture import decisions
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.shrinkage import mean_log
from plaidwork.plugins.rank_factor.start import new_state

START_VARIANCE = 0.01


def _identity(shape: tuple[int, ...], k: int) -> tuple[np.ndarray, np.ndarray]:
    covariance = np.zeros((*shape, packed_size(k)))
    covariance[..., diagonal(k)] = START_VARIANCE
    return covariance, np.full(shape, k * np.log(START_VARIANCE))


def new_q(setup: Setup, params: Params, rng: np.random.Generator, n_features: int = 0) -> State:
    """All of q; names as in NOTES.md. Gamma factors are kept by shape and rate.

    ``n_features`` counts those left out too; 0: none is.
    """
    start = new_state(setup, params, rng)
    (d, n, g), k = setup.shape, params["n_factors"]
    groups, _, k_beta = start["beta"].shape
    share = np.full((n, groups), 0.1 / groups)
    share[np.arange(n), start["t"]] += 0.9
    state: State = {name: start[name] for name in ("a", "z", "c", "beta", "mu")}
    state["a_cov"], state["a_log_det"] = _identity((d,), k)
    state["z_cov"], state["z_log_det"] = _identity((n,), k)
    state["beta_cov"], state["beta_log_det"] = _identity((groups, g), k_beta)
    state["c_var"] = np.full(start["c"].shape, START_VARIANCE)
    for prefix, shape in (("xi", (d, k)), ("b", (groups, g, k_beta))):
        state[f"{prefix}_eta"], state[f"{prefix}_square"] = np.ones(shape), np.ones(shape)
        state[f"{prefix}_mean"], state[f"{prefix}_inverse"] = np.ones(shape), np.ones(shape)
    r, s = params["loading_shape"], params["loading_rate"]
    state["xi_order"] = r - 0.5
    state["eta_shape"], state["eta_rate"] = r + s, np.full((d, k), r + s)
    state["phi_shape"], state["phi_rate"] = 0.5 + s * d, np.full(k, 0.5 + s * d)
    state["top_shape"], state["top_rate"] = 0.5 + 0.5 * k, 0.5 + 0.5 * k
    r, s = params["coefficient_shape"], params["coefficient_rate"]
    state["e_shape"], state["e_rate"] = r + s, np.full((groups, g, k_beta), r + s)
    state["b_phi_shape"], state["b_phi_rate"] = 0.5 + s * k_beta, np.full((groups, g), 0.5 + s * k_beta)
    state["b_top_shape"], state["b_top_rate"] = 1.0, np.ones((groups, g))
    state["gamma_shape"] = params["noise_shape"] + 0.5 * setup.known.sum(axis=1)
    state["gamma_rate"] = state["gamma_shape"].copy()
    count = share.sum(axis=0)
    state["share"], state["mu_var"] = share, np.full(groups, START_VARIANCE if groups > 1 else 0.0)
    state["psi_shape"] = params["precision_shape"] + 0.5 * k * count
    state["psi_rate"] = state["psi_shape"].copy()
    state["nu_a"], state["nu_b"] = np.ones(groups), np.ones(groups)
    state["alpha_shape"], state["alpha_rate"] = params["mass_shape"] + groups - 1.0, 1.0 * groups
    state |= {
        "label_kappa": np.repeat((setup.y != 0).astype(float)[:, None], groups, axis=1), "precision": np.zeros((0, 0)), "linear": np.zeros((0, 0)),
        "kappa": np.zeros(0), "w": np.zeros((0, 0)), "hinges": np.zeros(d), "measured": np.zeros((d, 4)),
        "squares": np.zeros(d), "gaussian": setup.likelihood == "gaussian",
        "good": {}, "share_added": 0.0,
        "rows": setup.rows, "train": setup.train, "n_samples": len(setup.codes), "n_features": n_features or d,
    }  # fmt: skip
    return state


def a_second(state: State, lo: int, hi: int) -> np.ndarray:
    """(hi - lo, packed) E[a a']."""
    return outer_packed(state["a"][lo:hi]) + state["a_cov"][lo:hi]


def z_second(state: State) -> np.ndarray:
    """(N, packed) E[z z']."""
    return outer_packed(state["z"]) + state["z_cov"]


def extended_second(state: State) -> np.ndarray:
    """(N, packed) the same of the scores with a one appended when the classifiers have an offset."""
    second, z = z_second(state), state["z"]
    if state["beta"].shape[2] == z.shape[1]:
        return second
    return np.column_stack([second, z, np.ones(len(z))])


def beta_second(state: State) -> np.ndarray:
    """(T, G, packed) E[beta beta']."""
    beta = state["beta"]
    flat = outer_packed(beta.reshape(-1, beta.shape[2]))
    return flat.reshape(state["beta_cov"].shape) + state["beta_cov"]


def squares_of(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """E[x^2] of every entry."""
    return mean**2 + covariance[..., diagonal(mean.shape[-1])]


def mean_of(state: State, name: str) -> np.ndarray:
    """Mean of a gamma factor."""
    return np.asarray(state[f"{name}_shape"] / state[f"{name}_rate"])


def log_of(state: State, name: str) -> np.ndarray:
    """E log of a gamma factor."""
    return mean_log(state[f"{name}_shape"], state[f"{name}_rate"])


def prior_of_scores(state: State) -> tuple[np.ndarray, np.ndarray]:
    """(T,) <psi> and E log psi; 1 and 0 with a single group."""
    if state["share"].shape[1] == 1:
        return np.ones(1), np.zeros(1)
    return mean_of(state, "psi"), log_of(state, "psi")


def score_distances(state: State) -> np.ndarray:
    """(N, T) E |z - mu_t|^2."""
    z, k = state["z"], state["z"].shape[1]
    trace = state["z_cov"][:, diagonal(k)].sum(axis=1)
    return ((z[:, None] - state["mu"]) ** 2).sum(axis=2) + trace[:, None] + k * state["mu_var"]


def log_shares(state: State) -> np.ndarray:
    """(T,) E log q_t."""
    a, b = state["nu_a"], state["nu_b"]
    both = digamma(a + b)
    log_nu, log_rest = digamma(a) - both, digamma(b) - both
    log_nu[-1] = 0.0
    return log_nu + np.concatenate([[0.0], np.cumsum(log_rest[:-1])])


def label_moments(state: State) -> tuple[np.ndarray, np.ndarray]:
    """(N, T, G) mean of beta' z + b0, and of its square."""
    groups, g, k = state["beta"].shape
    second = doubled(beta_second(state).reshape(groups * g, -1), k)
    square = (extended_second(state) @ second.T).reshape(-1, groups, g)
    f = decisions(state["z"], state["beta"])
    return f, np.maximum(square, f**2)
