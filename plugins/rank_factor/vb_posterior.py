"""The results' view of q, test samples predicted."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ChainView, Kept
from plaidwork.plugins.rank_factor.kernels.solve import doubled, outer_packed
from plaidwork.plugins.rank_factor.mixture import decisions
from plaidwork.plugins.rank_factor.posterior import (
    MOST_NUMBERS,
    Posterior,
    class_probabilities,
    display_order,
)
from plaidwork.plugins.rank_factor.rows import step_margin
from plaidwork.plugins.rank_factor.setup import NewCells, Setup
from plaidwork.plugins.rank_factor.state import Factors, Settings
from plaidwork.plugins.rank_factor.vb_newcomers import settle
from plaidwork.plugins.rank_factor.vb_sample import normal_rows
from plaidwork.plugins.rank_factor.vb_state import squares_of

Z95 = 1.959963984540054
DRAWS, SEED = 400, 0
"""Draws of the loadings for what is not linear in them, and the seed of their generator."""


def best_chain(kept: Kept) -> ChainView | None:
    """The restart with the highest bound."""
    ended = [chain for chain in kept.chains if chain.n_draws]
    return max(ended, key=lambda chain: float(chain.trace("elbo")[-1])) if ended else None


def factors_of(chain: ChainView, setup: Setup) -> Factors:
    """q by the names of the updates, fitted rows and training samples only."""
    last = chain.n_draws - 1
    rows, train = setup.rows, setup.train

    def get(name: str) -> np.ndarray:
        return chain.draw(name, last)

    return {
        "a": get("loadings")[rows], "a_cov": get("loadings_cov")[rows], "c": get("thresholds")[rows],
        "c_var": get("thresholds_var")[rows], "gamma": get("noise")[rows], "z": get("scores")[train],
        "z_cov": get("scores_cov")[train], "beta": get("beta"), "beta_cov": get("beta_cov"),
        "mu": get("group_mean"), "mu_var": get("group_mean_var"), "psi": get("group_precision"),
        "log_weight": get("log_weight"), "share": get("share")[train],
    }  # fmt: skip


def decision_moments(
    beta: np.ndarray, beta_cov: np.ndarray, z: np.ndarray, z_cov: np.ndarray, share: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(n, G) mean and sd of the classifiers' values under q."""
    groups, g, k = beta.shape
    second = doubled(outer_packed(beta.reshape(-1, k)).reshape(beta_cov.shape) + beta_cov, k)
    inner = outer_packed(z) + z_cov
    if k > z.shape[1]:
        inner = np.column_stack([inner, z, np.ones(len(z))])
    square = (inner @ second.reshape(groups * g, -1).T).reshape(-1, groups, g)
    f = decisions(z, beta)
    mean = (share[:, :, None] * f).sum(axis=1)
    variance = (share[:, :, None] * square).sum(axis=1) - mean**2
    return mean, np.sqrt(np.maximum(variance, 0.0))


def predict_cells(
    q: Factors, setup: Setup, cells: NewCells, params: Settings
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scores (M, K) and their sd, mean and sd (M, G) of the classifiers' values."""
    z, covariance, share = settle(q, setup, cells, step_margin(setup, params))
    mean, sd = decision_moments(q["beta"], q["beta_cov"], z, covariance, share)
    return z, np.sqrt(squares_of(0 * z, covariance)), mean, sd


def approximate_posterior(chain: ChainView, setup: Setup, params: Settings) -> Posterior:
    """From q of one restart."""
    q = factors_of(chain, setup)
    last = chain.n_draws - 1
    loadings, scores = chain.draw("loadings", last), chain.draw("scores", last).copy()
    k = loadings.shape[1]
    order, signs = display_order(loadings)
    spread = np.sqrt(squares_of(0 * loadings, chain.draw("loadings_cov", last)))
    scores_sd = np.sqrt(squares_of(0 * scores, chain.draw("scores_cov", last)))
    (groups, g, k_beta), n = q["beta"].shape, len(scores)
    decision, decision_sd = np.zeros((n, g)), np.zeros((n, g))
    found = decision_moments(q["beta"], q["beta_cov"], q["z"], q["z_cov"], q["share"])
    decision[setup.train], decision_sd[setup.train] = found
    if setup.test_cells is not None:
        z, z_sd, mean, sd = predict_cells(q, setup, setup.test_cells, params)
        scores[setup.test], scores_sd[setup.test] = z, z_sd
        decision[setup.test], decision_sd[setup.test] = mean, sd
    beta = q["beta"][:, :, order] * signs
    beta_sd = np.sqrt(squares_of(0 * q["beta"], q["beta_cov"]))[:, :, order]
    size = q["share"].mean(axis=0)
    weight = size[:, None, None]
    centre, sd = (weight * beta).sum(axis=0), np.sqrt((weight**2 * beta_sd**2).sum(axis=0))
    mean, wide = (loadings[:, order] * signs).T, spread[:, order].T
    return Posterior(
        mean,
        _interval(mean, wide),
        chain.draw("shrinkage", last)[:, order].T,
        scores[:, order] * signs,
        scores_sd[:, order],
        decision,
        class_probabilities(decision, decision_sd),
        beta,
        _interval(beta, beta_sd),
        q["beta"][:, :, k] if k_beta > k else np.zeros((groups, g)),
        centre,
        _interval(centre, sd),
        size,
        q["mu"][:, order] * signs,
        q["psi"],
        _drawn_loadings(chain, loadings)[:, :, order] * signs,
        chain.draw("thresholds", last),
    )


def _drawn_loadings(chain: ChainView, loadings: np.ndarray) -> np.ndarray:
    """(S, D, K) draws from q, the same ones every time."""
    rng = np.random.Generator(np.random.PCG64DXSM(SEED))
    covariance = chain.draw("loadings_cov", chain.n_draws - 1)
    count = max(1, min(DRAWS, MOST_NUMBERS // loadings.size))
    return np.stack([normal_rows(rng, loadings, covariance) for _ in range(count)])


def _interval(mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    return mean[..., None] + sd[..., None] * np.array([-Z95, Z95])
