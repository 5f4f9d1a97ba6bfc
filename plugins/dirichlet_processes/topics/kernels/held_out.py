"""What a draw says of tokens that were left out of the fit, and of documents that were not in it."""

from __future__ import annotations

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import ALPHA, ETA, HIGH, REST
from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import count_document as count


@njit(nogil=True, cache=True)
def probability_of_words(
    starts: np.ndarray,
    z: np.ndarray,
    counts: np.ndarray,
    totals: np.ndarray,
    beta: np.ndarray,
    law: np.ndarray,
    at: np.ndarray,
    docs: np.ndarray,
    words: np.ndarray,
    out: np.ndarray,
) -> None:
    """Probability of each further token (H,), given document and word, with shares and words of topics integrated out."""
    n_words, used = counts.shape[0], at[HIGH]
    own, share = np.zeros(totals.size), np.zeros(totals.size)
    before, rest = -1, 0.0
    for h in range(docs.size):
        d = docs[h]
        if d != before:
            before = d
            count(z, starts[d], starts[d + 1], own)
            size = starts[d + 1] - starts[d] + law[ALPHA]
            rest = law[ALPHA] * law[REST] / size / n_words
            for k in range(used):
                share[k] = (own[k] + law[ALPHA] * beta[k]) / size / (totals[k] + n_words * law[ETA])
        total = rest
        for k in range(used):
            total += share[k] * (counts[words[h], k] + law[ETA])
        out[h] = total


@njit(nogil=True, cache=True)
def complete(
    words: np.ndarray,
    weights: np.ndarray,
    starts: np.ndarray,
    phi: np.ndarray,
    prior: np.ndarray,
    rounds: int,
    shares: np.ndarray,
) -> None:
    """Shares (D, K + 1) of the topics in documents by the fixed point of CVB0, in ``shares``.

    words, weights (E,) are the words of the documents and their counts, starts (D + 1,); phi (V, K + 1) the probability of each word
    in each topic, prior (K + 1,) ``alpha beta``; the last topic is all that the fit has not seen.
    """
    k = prior.size
    here = np.empty(k)
    for d in range(starts.size - 1):
        lo, hi = starts[d], starts[d + 1]
        expected, new = np.zeros(k), np.empty(k)
        for _ in range(rounds):
            new[:] = 0.0
            for e in range(lo, hi):
                total = 0.0
                for j in range(k):
                    here[j] = (expected[j] + prior[j]) * phi[words[e], j]
                    total += here[j]
                for j in range(k):
                    new[j] += weights[e] * here[j] / total
            expected, new = new, expected
        size = expected.sum() + prior.sum()
        for j in range(k):
            shares[d, j] = (expected[j] + prior[j]) / size
