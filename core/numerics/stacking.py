"""Weights of several fits by how well they predict: stacking, and pseudo-BMA with a Bayesian bootstrap.

Source: Yao, Vehtari, Simpson, Gelman (2018), Using stacking to average Bayesian predictive distributions, Bayesian
Analysis 13, 917-1007; Yao, Vehtari, Gelman (2022), Stacking for non-mixing Bayesian computations, JMLR 23(79), 1-45.
"""

from __future__ import annotations

import numpy as np

_PRIOR = 1.001
"""Dirichlet prior of the weights (2022, equation 6, with little more than 1): equal predictions get equal weights."""
_ROUNDS = 20_000
_STILL = 1e-10


def stacking_weights(elpd: np.ndarray, prior: float = _PRIOR) -> np.ndarray:
    """Weights (K,) that maximise the log score of the mixture of K predictive distributions; they sum to 1.

    Parameters
    ----------
    elpd : (N, K) log predictive densities of N observations, each held out or left out; an observation that is not
        finite for some k is left out.
    prior : a Dirichlet prior of the weights, at least 1; 1 is none.

    Notes
    -----
    The score is concave. Each round takes the mean share of every k in the mixture's density of the observations (the EM
    algorithm for mixture weights), so the score never falls; O(N K) a round, 20 000 at most.
    Raises ``ValueError`` when no observation is left.
    """
    elpd = elpd[np.isfinite(elpd).all(axis=1)]
    if not len(elpd):
        raise ValueError("stacking needs observations with a finite density")
    n, k = elpd.shape
    density = np.exp(elpd - elpd.max(axis=1, keepdims=True))
    weights = np.full(k, 1.0 / k)
    for _ in range(_ROUNDS):
        share = weights * (density / (density @ weights)[:, None]).sum(axis=0)
        found = (share + prior - 1.0) / (n + k * (prior - 1.0))
        moved, weights = np.abs(found - weights).max(), found
        if moved < _STILL:
            break
    return weights / weights.sum()


def pseudo_bma_weights(elpd: np.ndarray, rng: np.random.Generator, n_boot: int = 1000) -> np.ndarray:
    """Weights (K,) proportional to ``exp`` of the summed log densities, averaged over a Bayesian bootstrap of the
    observations (2018, section 3.4); ``elpd`` (N, K).
    """
    n = len(elpd)
    totals = n * rng.dirichlet(np.ones(n), n_boot) @ elpd
    weights = np.exp(totals - totals.max(axis=1, keepdims=True))
    return np.asarray((weights / weights.sum(axis=1, keepdims=True)).mean(axis=0))


def mixture_elpd(elpd: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(N,) log densities of the mixture, by weights (K,) of ``elpd`` (N, K)."""
    top = elpd.max(axis=1, keepdims=True)
    return np.asarray(top[:, 0] + np.log(np.exp(elpd - top) @ weights))
