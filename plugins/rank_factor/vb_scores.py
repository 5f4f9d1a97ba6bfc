"""q of scores, groups, classifiers and the mixture."""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.rank_factor import vb_state as q
from plaidwork.plugins.rank_factor.kernels import pairs as pair_kernels
from plaidwork.plugins.rank_factor.kernels.labels import add_mean_terms, mean_label_weights, mean_scores
from plaidwork.plugins.rank_factor.kernels.solve import row_moments
from plaidwork.plugins.rank_factor.mixture import extended
from plaidwork.plugins.rank_factor.rows import step_margin
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.shrinkage import scale_moments
from plaidwork.plugins.rank_factor.state import Q, Settings
from plaidwork.plugins.rank_factor.vb_rows import unpacked


def update_label_weights(state: Q, setup: Setup, params: Settings) -> None:
    """q of the label augmentation, given each group."""
    f, square = q.label_moments(state)
    mean_label_weights(setup.y, f, square, params["label_weight"], state["label_kappa"])


def update_groups(state: Q, setup: Setup, params: Settings) -> None:
    """q(t), the label augmentation at its best for every group."""
    f, square = q.label_moments(state)
    y, weight = setup.y[:, None], params["label_weight"]
    u = weight * (1.0 - y * f)
    root = weight * np.sqrt(np.maximum(1.0 - 2.0 * y * f + square, 0.0))
    hinge = ((u + root) * (y != 0)).sum(axis=2)
    psi, log_psi = q.prior_of_scores(state)
    k = state["z"].shape[1]
    log_share = q.log_shares(state) + 0.5 * k * log_psi - 0.5 * psi * q.score_distances(state) - hinge
    share = np.exp(log_share - log_share.max(axis=1, keepdims=True))
    state["share"] = share / share.sum(axis=1, keepdims=True)


def score_terms(state: Q, setup: Setup, params: Settings, lo: int, hi: int) -> tuple[np.ndarray, np.ndarray]:
    """Precision and linear term of the scores of samples lo to hi; those of pairs lack the other samples."""
    every = state["precision"]
    precision = np.repeat(every, hi - lo, axis=0) if len(every) == 1 else every[lo:hi].copy()
    linear = state["linear"][lo:hi].copy()
    psi, _ = q.prior_of_scores(state)
    add_mean_terms(
        lo, hi, precision, linear, state["share"], psi, state["mu"], setup.y, state["label_kappa"],
        state["beta"], q.beta_second(state), params["label_weight"],
    )  # fmt: skip
    return precision, linear


def update_scores(state: Q, setup: Setup, params: Settings, lo: int, hi: int) -> None:
    """q(z) of samples lo to hi."""
    precision, linear = score_terms(state, setup, params, lo, hi)
    z, covariance, log_det = state["z"], state["z_cov"], state["z_log_det"]
    if setup.pairs is None:
        mean_scores(lo, hi, precision, linear, z, covariance, log_det)
        return
    pairs, k = setup.pairs, z.shape[1]
    spread = np.ascontiguousarray(unpacked(state["a_cov"], k).transpose(1, 0, 2)).reshape(k, -1)
    pair_kernels.mean_samples(
        lo, hi, precision, linear, pairs.first, pairs.row, pairs.other, pairs.pair, pairs.sign, state["kappa"],
        state["w"], state["a"], spread, step_margin(setup, params), z, covariance, log_det,
    )  # fmt: skip


def update_coefficients(state: Q, setup: Setup, params: Settings) -> None:
    """q(beta)."""
    groups, g, _ = state["beta"].shape
    weight, share = params["label_weight"], state["share"][:, :, None]
    steep = (share * weight**2 * state["label_kappa"]).reshape(-1, groups * g)
    pull = (share * setup.y[:, None] * (weight**2 * state["label_kappa"] + weight)).reshape(-1, groups * g)
    precision = steep.T @ q.extended_second(state)
    linear = pull.T @ extended(state["z"], state["beta"])
    parts = (state["b_inverse"], state["beta"], state["beta_cov"])
    inverse, beta, covariance = (part.reshape(groups * g, -1) for part in parts)
    log_det = state["beta_log_det"].reshape(-1)
    row_moments(precision, linear, inverse, beta, covariance, log_det)


def update_coefficient_scales(state: Q, params: Settings) -> None:
    """q(b)."""
    state["b_eta"] = q.mean_of(state, "e")
    state["b_square"] = q.squares_of(state["beta"], state["beta_cov"])
    state["b_mean"], state["b_inverse"], _ = scale_moments(
        state["b_eta"], state["b_square"], params["coefficient_shape"]
    )


def update_coefficient_rates(state: Q) -> None:
    """q(e), then q of the rate of each classifier and of that rate's."""
    state["e_rate"] = state["b_mean"] + q.mean_of(state, "b_phi")[..., None]
    state["b_phi_rate"] = q.mean_of(state, "b_top") + q.mean_of(state, "e").sum(axis=2)
    state["b_top_rate"] = 1.0 + q.mean_of(state, "b_phi")


def update_centres(state: Q) -> None:
    """q(mu)."""
    psi, _ = q.prior_of_scores(state)
    precision = 1.0 + psi * state["share"].sum(axis=0)
    state["mu"] = psi[:, None] * (state["share"].T @ state["z"]) / precision[:, None]
    state["mu_var"] = 1.0 / precision


def update_precisions(state: Q, params: Settings) -> None:
    """q(psi)."""
    share, k = state["share"], state["z"].shape[1]
    state["psi_shape"] = params["precision_shape"] + 0.5 * k * share.sum(axis=0)
    state["psi_rate"] = params["precision_rate"] + 0.5 * (share * q.score_distances(state)).sum(axis=0)


def update_sticks(state: Q, params: Settings) -> None:
    """q(nu), then q(alpha)."""
    count = state["share"].sum(axis=0)
    after = np.concatenate([np.cumsum(count[::-1])[::-1][1:], [0.0]])
    state["nu_a"], state["nu_b"] = 1.0 + count, q.mean_of(state, "alpha") + after
    log_rest = q.digamma(state["nu_b"]) - q.digamma(state["nu_a"] + state["nu_b"])
    state["alpha_rate"] = params["mass_rate"] - float(log_rest[:-1].sum())
