"""What the R package texteffect 0.3 does otherwise, for those who compare with it.

Its updates are those of the seed as printed: the weights one topic after the other, and a moment of the coefficients that
is not that of q (NOTES.md, item 1 of the corrections). The bound may fall under them.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from plaidwork.plugins.supervised_ibp.corpus import Corpus, variances_of
from plaidwork.plugins.supervised_ibp.like_r import LikeR
from plaidwork.plugins.supervised_ibp.state import Fields, Settings


def drawn_topics(random: LikeR, n: int, k: int, alpha: float) -> np.ndarray:
    """(n, k) probabilities: shares from broken sticks, then beta numbers, topic after topic."""
    sticks = np.cumprod([random.beta(alpha, 1.0) for _ in range(k)])
    return np.array([[random.beta(share, 1 - share) for _ in range(n)] for share in sticks]).T


def first_topics(corpus: Corpus, params: Settings, seed: int) -> np.ndarray:
    """(N, K) topics before the first sweep, after ``set.seed(seed)``; rows in the order that R's split has them."""
    n, k = len(corpus.train), params["n_topics"]
    drawn = drawn_topics(LikeR(seed), n, k, params["alpha"])
    used = np.sort(np.concatenate([corpus.train, corpus.test]))
    rows = used[LikeR(params["split_seed"]).sample(len(used), n)]
    if not np.array_equal(np.sort(rows), corpus.train):  # a split that was given, or clusters
        return drawn
    nu = np.empty((n, k))
    nu[np.searchsorted(corpus.train, rows)] = drawn
    return nu


def new_topics(n: int, k: int, noise: float) -> np.ndarray:
    """(n, k) topics that new documents start from; the package takes the noise for alpha here, and the seed 0."""
    return drawn_topics(LikeR(0), n, k, noise)


def printed_moment(state: Fields) -> np.ndarray:
    """What stands for E[tau beta beta'] in the seed: no S off the diagonal, c / (c - 1) of it there. (Q, Q)."""
    shape, rate, coef = state["tau_shape"], state["tau_rate"], state["coef"]
    excess = shape / (shape - 1) if shape > 1 else 1.0
    moment: np.ndarray = shape / rate * np.outer(coef, coef) + excess * np.diag(np.diag(state["coef_cov"]))
    return moment


def words_by_topic(
    state: Fields, corpus: Corpus, params: Settings, moment: np.ndarray, *, first: bool
) -> None:
    """Means of q(A), topic after topic once: (M_kk + r) phi_k = H_k - sum of M_kl phi_l, ``moment`` = M (K, K).

    ``first``: from the least squares of the words on the topics, as before the first sweep.
    """
    raw, total = state["raw"], state["total"].sum(axis=0)
    pull = (raw - np.outer(corpus.mean, total)) / corpus.scale[:, None]
    phi = pull @ np.linalg.pinv(state["gram"].sum(axis=0)) if first else state["phi"]
    noise, variance = variances_of(corpus, params)
    ridge = noise / variance * np.eye(len(moment))
    wanted = pull - phi @ np.triu(moment, 1).T
    phi = np.ascontiguousarray(solve_triangular(np.tril(moment) + ridge, wanted.T, lower=True).T)
    state["phi"] = phi
    state["rows"] = phi / (corpus.scale[:, None] * noise)
    state["offset"], state["outer"] = corpus.mean @ state["rows"], phi.T @ phi
    state["fit"] = float((pull * phi).sum())
