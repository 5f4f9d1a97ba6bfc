"""Topics of documents that the fit has not seen, from their words alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix, diags

from plaidwork.plugins.supervised_ibp import kernels
from plaidwork.plugins.supervised_ibp.corpus import Corpus, variances_of
from plaidwork.plugins.supervised_ibp.matrices import Words, fixed
from plaidwork.plugins.supervised_ibp.prior import log_shares, prior_means
from plaidwork.plugins.supervised_ibp.state import Settings
from plaidwork.plugins.supervised_ibp.texteffect import new_topics

EXACT_TOPICS = 12
"""Up to so many topics all 2^K states of a document are looked at."""
MOST_EXACT = 20
SWEEPS, TOLERANCE = 200, 1e-8
EXACT_WORK, ASCENT_WORK = 400_000, 4_000_000
"""States of all documents, and products, in one slice (some 20 ms)."""


@dataclass(frozen=True)
class Topics:
    """What q says of the topics: phi (K, D) of kept words, cov (K, K), share_a and share_b (K,).

    With a background topic phi and cov have one more, at the front.
    """

    phi: np.ndarray
    cov: np.ndarray
    share_a: np.ndarray
    share_b: np.ndarray

    @property
    def n_fixed(self) -> int:
        """How many topics at the front all documents have."""
        return len(self.phi) - len(self.share_a)


def scores(topics: Topics, corpus: Corpus, params: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """base (K,), rows (D, K) and cross (K, K) of q(z): theta = base + x rows. A background topic is in base."""
    noise, n_fixed = variances_of(corpus, params)[0], topics.n_fixed
    gram = (topics.phi @ topics.phi.T + len(corpus.words) * topics.cov) / noise
    log_in, log_out = log_shares(params["prior"], topics.share_a, topics.share_b)
    rows = np.ascontiguousarray((topics.phi[n_fixed:] / (corpus.scale * noise)).T)
    base = (
        log_in
        - log_out
        - corpus.mean @ rows
        - np.diag(gram)[n_fixed:] / 2
        - gram[n_fixed:, :n_fixed].sum(axis=1)
    )
    own = gram[n_fixed:, n_fixed:]
    return base, rows, own * (1 - np.eye(len(own)))


def log_density(
    words: csr_matrix, topics: Topics, corpus: Corpus, params: Settings, evidence: np.ndarray
) -> np.ndarray:
    """(n,) log density of the transformed words of documents, given their ``evidence`` from :func:`infer`; of q(A) at its best.

    Comparable between fits to the same words and transformation, whatever their scaling, variances and priors.
    """
    noise, n_fixed = variances_of(corpus, params)[0], topics.n_fixed
    ratio, common = corpus.mean / corpus.scale, topics.phi[:n_fixed]
    gram = common @ common.T + len(corpus.words) * topics.cov[:n_fixed, :n_fixed]
    square, pull = np.empty(words.shape[0]), np.empty(words.shape[0])
    for here, block in Words(words).blocks():
        scaled = block @ diags(1 / corpus.scale)
        square[here] = (
            np.asarray(scaled.multiply(scaled).sum(axis=1)).ravel() - 2 * (scaled @ ratio) + ratio @ ratio
        )
        pull[here] = (scaled @ common.T - common @ ratio).sum(axis=1) - gram.sum() / 2
    log_out = log_shares(params["prior"], topics.share_a, topics.share_b)[1].sum()
    norm = 0.5 * len(corpus.words) * np.log(2 * np.pi * noise) + np.log(corpus.scale).sum()
    out: np.ndarray = evidence + log_out + (pull - square / 2) / noise - norm
    return out


def infer(
    words: csr_matrix,
    topics: Topics,
    corpus: Corpus,
    params: Settings,
    *,
    method: str = "auto",
    starts: int = 8,
    seed: int = 1,
    report: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """E[z] of new documents and the log evidence (or its bound) of each beside that of no topic: (N, K) and (N,).

    Parameters
    ----------
    words : documents by kept words as :func:`corpus.prepared_rows` gives them.
    method : ``exact``, ``mean-field`` (from the prior means and ``starts`` random starts, the best bound of each
        document kept), ``auto``: exact up to 12 topics, or ``texteffect``: from the one start that the R package draws.
    seed : of the random starts; nothing else is random.
    """
    base, rows, cross = scores(topics, corpus, params)
    n, k = words.shape[0], len(base)
    exact = method == "exact" or (method == "auto" and k <= EXACT_TOPICS)
    chunk = max(1, EXACT_WORK >> min(k, 30) if exact else ASCENT_WORK // (20 * (starts + 1) * k * k))
    indptr, indices = fixed(words.indptr, np.int64), fixed(words.indices, np.int32)
    values = fixed(words.data, np.float64)
    rng, means = np.random.default_rng(seed), prior_means(params["prior"], params["alpha"], k)
    nu, evidence = np.empty((n, k)), np.empty(n)
    drawn = new_topics(n, k, params["noise"]) if method == "texteffect" else None
    for lo in range(0, n, chunk):
        hi = min(n, lo + chunk)
        theta = np.empty((hi - lo, k))
        kernels.pulls(lo, hi, indptr, indices, values, rows, base, theta)
        if drawn is not None:
            first = np.ascontiguousarray(drawn[None, lo:hi])
            kernels.mean_field_shares(theta, cross, first, 1000, 1e-6, nu[lo:hi], evidence[lo:hi])
        elif exact:
            kernels.exact_shares(theta, cross, nu[lo:hi], evidence[lo:hi])
        else:
            first = np.empty((starts + 1, hi - lo, k))
            first[0] = means
            first[1:] = rng.random((hi - lo, starts, k)).transpose(
                1, 0, 2
            )  # by document, whatever the slices
            kernels.mean_field_shares(theta, cross, first, SWEEPS, TOLERANCE, nu[lo:hi], evidence[lo:hi])
        if report is not None:
            report(hi / n)
    return nu, evidence
