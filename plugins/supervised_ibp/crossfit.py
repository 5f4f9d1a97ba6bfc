"""What the topics are worth in documents that have not shaped them, told without the test half: five cross-fits within the
training half.

Topics of the training documents themselves overstate it, as words and outcome of these documents shaped the topics. Here the
topics are refitted to four fifths of the training documents, from where the fit ended, and found in the last fifth from its
words alone, as they will be in the test half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from plaidwork.plugins.supervised_ibp import kernels, sweep
from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.effort import multiplications
from plaidwork.plugins.supervised_ibp.heldout import Topics, infer, log_density
from plaidwork.plugins.supervised_ibp.matrices import fixed
from plaidwork.plugins.supervised_ibp.start import new_state
from plaidwork.plugins.supervised_ibp.state import Floats, Settings

FOLDS = 5
LEAST_SWEEPS, MOST_SWEEPS, WORK = 5, 100, 2e10
"""Sweeps of a refit; the most multiplications of all of them together, some 20 s."""
THRESHOLD = 0.5
"""A document has a topic from this probability on, as in the effects by default."""
FEW_SHARE, FEW = 0.1, 20
"""Fewer test documents with a topic, or without it, than this share or this number leave its effect vague."""


@dataclass(frozen=True)
class Expected:
    """Test documents expected to have each topic, (K,), of ``n`` test documents."""

    count: Floats
    n: int

    @property
    def few(self) -> np.ndarray:
        """(K,) bool: topics that too few test documents will have, or lack."""
        found: np.ndarray = np.minimum(self.count, self.n - self.count) < max(FEW, FEW_SHARE * self.n)
        return found


def folds_of(corpus: Corpus, params: Settings) -> np.ndarray:
    """(N,) fold of each training document, equal ones and clusters together, by the seed of the split."""
    _, unit = np.unique(corpus.units[corpus.train], return_inverse=True)
    order = np.random.default_rng([params["split_seed"], FOLDS]).permutation(int(unit.max()) + 1)
    fold: np.ndarray = (order % FOLDS)[unit]
    return fold


def part_of(corpus: Corpus, rows: np.ndarray) -> Corpus:
    """The corpus of some training documents; words, means and scales stay those of all."""
    matrix, d = corpus.documents.rows(rows).csr, len(corpus.words)
    indices, values = fixed(matrix.indices, np.int32), fixed(matrix.data, np.float64)
    count, total, square = np.zeros(d), np.zeros(d), np.zeros(d)
    kernels.column_sums(indices, values, corpus.mean, count, total, square)
    square = (square + (len(rows) - count) * corpus.mean**2) / corpus.scale**2
    return replace(
        corpus,
        indptr=fixed(matrix.indptr, np.int64),
        indices=indices,
        values=values,
        square=float(square.sum()),
        y=corpus.y[rows],
        cover=np.ascontiguousarray(corpus.cover[rows]),
        group=np.ascontiguousarray(corpus.group[rows]),
        train=corpus.train[rows],
    )


def n_sweeps(corpus: Corpus, k: int) -> int:
    """Sweeps of a refit: as many as keep the work of all of them within bounds."""
    return int(np.clip(WORK / (FOLDS * multiplications(corpus, k)), LEAST_SWEEPS, MOST_SWEEPS))


def refitted(corpus: Corpus, nu: Floats, params: Settings, sweeps: int) -> Topics:
    """Topics after so many sweeps from the topics ``nu`` (N, K) of the documents of ``corpus``, no background among them."""
    state = new_state(corpus, nu, params)
    for _ in range(sweeps):
        sweep.whole_sweeps(state, corpus, params, 1)
    return Topics(np.ascontiguousarray(state["phi"].T), state["cov"], state["share_a"], state["share_b"])


def crossfit(
    corpus: Corpus, nu: Floats, params: Settings, report: Callable[[float], None] | None = None
) -> tuple[Floats, Floats]:
    """By fits that have not seen the document: probability of each topic (N, K), and log density of its words (N,), NaN where
    no fit could be made. ``nu`` as in :func:`refitted`.
    """
    fold, out, density = folds_of(corpus, params), np.zeros(nu.shape), np.full(len(nu), np.nan)
    sweeps = n_sweeps(corpus, nu.shape[1] + params["background"])
    for number in range(FOLDS):
        rows, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if len(rows) and len(rest) > 1:
            topics = refitted(part_of(corpus, rest), nu[rest], params, sweeps)
            words = part_of(corpus, rows).documents.csr
            out[rows], evidence = infer(words, topics, corpus, params)
            density[rows] = log_density(words, topics, corpus, params, evidence)
        if report is not None:
            report((number + 1) / FOLDS)
    return out, density


def expected_test(corpus: Corpus, nu: Floats) -> Expected:
    """Test documents expected to have each topic, by the cross-fitted probabilities ``nu`` (N, K)."""
    share = (nu >= THRESHOLD).mean(axis=0)
    return Expected(share * len(corpus.test), len(corpus.test))
