"""How far the top words of a topic go together in its documents and in no others."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

from plaidwork.plugins.supervised_ibp.corpus import Corpus


def top_words(phi: np.ndarray, count: int) -> np.ndarray:
    """(K, count) kept words of the largest weights in each topic; phi (K, D)."""
    return np.argsort(-phi, axis=1, kind="stable")[:, : min(count, phi.shape[1])]


def _scatter(columns: csr_matrix, inside: np.ndarray, scale: np.ndarray) -> float:
    """n times the mean over pairs of words of the covariance among the documents ``inside``; 0 for fewer than 2."""
    n, count = int(inside.sum()), columns.shape[1]
    if n < 2 or count < 2:
        return 0.0
    part = columns[inside]
    total = np.asarray(part.sum(axis=0)).ravel()
    covariance = ((part.T @ part).toarray() - np.outer(total, total) / n) / (n - 1) / np.outer(scale, scale)
    return float(n * covariance[np.triu_indices(count, 1)].mean())


def exclusivity(corpus: Corpus, nu: np.ndarray, phi: np.ndarray, count: int = 10) -> np.ndarray:
    """(K,) exclusivity of every topic on the scaled words of the training documents.

    Mean over pairs of the top words of |I| cov_I - (N - |I|) cov_notI with I the documents with nu > 0.5; 0 for a topic
    without documents. As ``sibp_exclusivity`` of the R package texteffect. nu (N, K), phi (K, D).

    Only the columns of top words are taken out of the sparse matrix.
    """
    best = top_words(phi, count)
    wanted, place = np.unique(best, return_inverse=True)
    columns = csc_matrix(corpus.documents.csr[:, wanted])
    place = place.reshape(best.shape)
    out = np.zeros(len(best))
    for k in range(len(best)):
        inside = nu[:, k] > 0.5
        if inside.any():
            own, scale = csr_matrix(columns[:, place[k]]), corpus.scale[best[k]]
            out[k] = _scatter(own, inside, scale) - _scatter(own, ~inside, scale)
    return out
