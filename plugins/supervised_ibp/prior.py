"""q of the topics' shares: beta factors for the finite prior and for broken sticks."""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, digamma


def _stick_scores(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """base_j = E log of (1 - v_j) and the sticks before it."""
    log_all = digamma(a + b)
    before = np.concatenate([[0.0], np.cumsum(digamma(a) - log_all)[:-1]])
    return digamma(b) - log_all + before


def log_shares(prior: str, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E log pi_k and E log(1 - pi_k), (K,) each; the latter a lower bound for sticks.

    The bound is the multinomial one of Doshi-Velez et al. (2009), at its best weights.
    """
    log_all = digamma(a + b)
    if prior == "finite":
        return digamma(a) - log_all, digamma(b) - log_all
    scores = _stick_scores(a, b)
    return np.cumsum(digamma(a) - log_all), np.logaddexp.accumulate(scores)


def update_shares(
    prior: str, alpha: float, total: np.ndarray, n: int, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The parameters of q given the expected documents of every topic, ``total`` (K,), of ``n`` documents."""
    K, rest = len(total), n - total
    if prior == "finite":
        return alpha / K + total, 1.0 + rest
    scores = _stick_scores(a, b)
    below = np.where(np.tri(K, dtype=bool), scores, -np.inf)
    weights = np.exp(below - np.logaddexp.accumulate(scores)[:, None])  # Q_kj
    after = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1] - weights  # sum over i > j of Q_ki
    tail = np.cumsum(total[::-1])[::-1]
    return alpha + tail + rest @ after, 1.0 + rest @ weights


def first_shares(prior: str, alpha: float, K: int) -> tuple[np.ndarray, np.ndarray]:
    """The prior itself."""
    return np.full(K, alpha / K if prior == "finite" else alpha), np.ones(K)


def prior_bound(prior: str, alpha: float, a: np.ndarray, b: np.ndarray) -> float:
    """E log p of the shares and the entropy of q."""
    first = alpha / len(a) if prior == "finite" else alpha
    log_all = digamma(a + b)
    log_in, log_out = digamma(a) - log_all, digamma(b) - log_all
    expected = np.log(first) + (first - 1) * log_in
    return float((expected - (a - 1) * log_in - (b - 1) * log_out + betaln(a, b)).sum())


def prior_means(prior: str, alpha: float, K: int) -> np.ndarray:
    """E pi_k under the prior, (K,)."""
    if prior == "finite":
        return np.full(K, alpha / (alpha + K))
    return (alpha / (alpha + 1)) ** np.arange(1, K + 1)
