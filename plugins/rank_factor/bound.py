"""The evidence lower bound (of the generalised posterior's norm), term by term."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, digamma, xlogy

from plaidwork.plugins.rank_factor import vb_state as q
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.shrinkage import gamma_bound, scale_bound
from plaidwork.plugins.rank_factor.state import Q, Settings

LOG_2PI = float(np.log(2 * np.pi))


def data_bound(state: Q, setup: Setup) -> float:
    """Expected log likelihood of Gaussian rows, from the expected squares in ``state``; hinges are summed elsewhere."""
    count = setup.known.sum(axis=1)
    log_gamma, gamma = q.log_of(state, "gamma"), q.mean_of(state, "gamma")
    return float(0.5 * (count * (log_gamma - LOG_2PI) - gamma * state["squares"]).sum())


def label_bound(state: Q, setup: Setup, params: Settings) -> float:
    """Expected log hinges of the labels, at the weights in the state."""
    f, square = q.label_moments(state)
    y, weight, kappa = setup.y[:, None], params["label_weight"], state["label_kappa"]
    u = weight * (1.0 - y * f)
    u2 = np.maximum(weight**2 * (1.0 - 2.0 * y * f + square), 0.0)
    known = np.broadcast_to(y != 0, kappa.shape)
    safe = np.where(known, kappa, 1.0)
    term = np.where(known, -u - 0.5 * (safe * u2 + 1.0 / safe), 0.0)
    return float((state["share"] * term.sum(axis=2)).sum())


def score_bound(state: Q) -> float:
    """Prior and entropy of the scores and of the groups."""
    k = state["z"].shape[1]
    psi, log_psi = q.prior_of_scores(state)
    share = state["share"]
    prior = 0.5 * k * (log_psi - LOG_2PI) - 0.5 * psi * q.score_distances(state)
    total = (share * prior).sum() + 0.5 * (k * (1 + LOG_2PI) + state["z_log_det"]).sum()
    if share.shape[1] > 1:
        total += (share * q.log_shares(state)).sum() - xlogy(share, share).sum()
    return float(total)


def gauss_entropy(log_det: np.ndarray, k: int) -> float:
    return float(0.5 * (k * (1 + LOG_2PI) + log_det).sum())


def loading_bound(state: Q, params: Settings) -> float:
    """Loadings with their shrinkage."""
    r, s = params["loading_shape"], params["loading_rate"]
    eta, log_eta = q.mean_of(state, "eta"), q.log_of(state, "eta")
    square = q.squares_of(state["a"], state["a_cov"])
    total = gauss_entropy(state["a_log_det"], state["a"].shape[1])
    total += scale_bound(eta, log_eta, square, (state["xi_eta"], state["xi_square"]), r)
    total += gamma_bound(
        state["eta_shape"], state["eta_rate"], s, q.mean_of(state, "phi"), q.log_of(state, "phi")
    )
    total += gamma_bound(
        state["phi_shape"], state["phi_rate"], 0.5, q.mean_of(state, "top"), q.log_of(state, "top")
    )
    return total + gamma_bound(state["top_shape"], state["top_rate"], 0.5, 1.0, 0.0)


def coefficient_bound(state: Q, params: Settings) -> float:
    """Classifiers with their shrinkage."""
    r, s = params["coefficient_shape"], params["coefficient_rate"]
    eta, log_eta = q.mean_of(state, "e"), q.log_of(state, "e")
    square = q.squares_of(state["beta"], state["beta_cov"])
    total = gauss_entropy(state["beta_log_det"], state["beta"].shape[2])
    total += scale_bound(eta, log_eta, square, (state["b_eta"], state["b_square"]), r)
    rate, log_rate = q.mean_of(state, "b_phi")[..., None], q.log_of(state, "b_phi")[..., None]
    total += gamma_bound(state["e_shape"], state["e_rate"], s, rate, log_rate)
    total += gamma_bound(
        state["b_phi_shape"], state["b_phi_rate"], 0.5, q.mean_of(state, "b_top"), q.log_of(state, "b_top")
    )
    return total + gamma_bound(state["b_top_shape"], state["b_top_rate"], 0.5, 1.0, 0.0)


def threshold_bound(state: Q, setup: Setup, params: Settings) -> float:
    """Thresholds; 0 where there are none."""
    if setup.likelihood != "levels":
        return 0.0
    used = np.arange(state["c"].shape[1]) < setup.ranks.top[:, None]
    mean, variance, prior = state["c"][used], state["c_var"][used], params["threshold_sd"] ** 2
    return float(0.5 * (1 + np.log(variance / prior) - (mean**2 + variance) / prior).sum())


def mixture_bound(state: Q, params: Settings) -> float:
    """mu, psi, nu and alpha; 0 with a single group."""
    groups, k = state["mu"].shape
    if groups == 1:
        return 0.0
    variance = state["mu_var"]
    total = float(0.5 * (k * (1 + np.log(variance)) - (state["mu"] ** 2).sum(axis=1) - k * variance).sum())
    rate = params["precision_rate"]
    total += gamma_bound(state["psi_shape"], state["psi_rate"], params["precision_shape"], rate, np.log(rate))
    alpha, log_alpha = q.mean_of(state, "alpha"), q.log_of(state, "alpha")
    a, b = state["nu_a"][:-1], state["nu_b"][:-1]
    log_nu, log_rest = digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)
    entropy = betaln(a, b) - (a - 1) * log_nu - (b - 1) * log_rest
    total += float((log_alpha + (alpha - 1) * log_rest + entropy).sum())
    rate = params["mass_rate"]
    return total + gamma_bound(
        state["alpha_shape"], state["alpha_rate"], params["mass_shape"], rate, np.log(rate)
    )


def noise_bound(state: Q, setup: Setup, params: Settings) -> float:
    """Noise precisions; 0 for ranks."""
    if setup.likelihood != "gaussian":
        return 0.0
    rate = params["noise_rate"]
    return gamma_bound(state["gamma_shape"], state["gamma_rate"], params["noise_shape"], rate, np.log(rate))


def elbo(state: Q, setup: Setup, params: Settings, hinges: float) -> float:
    """The bound; ``hinges`` are the expected log hinges of the rank likelihood, whatever their weights."""
    total = data_bound(state, setup) if setup.likelihood == "gaussian" else hinges
    total += label_bound(state, setup, params) + score_bound(state) + loading_bound(state, params)
    total += coefficient_bound(state, params) + threshold_bound(state, setup, params)
    return total + mixture_bound(state, params) + noise_bound(state, setup, params)
