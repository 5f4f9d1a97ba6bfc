"""The documents as the fit uses them: split, transformed, screened; means and scales of the training half."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from plaidwork.core.api import Block, ModelData, ModelError, counted
from plaidwork.plugins.supervised_ibp import kernels
from plaidwork.plugins.supervised_ibp.matrices import Words, all_of, fixed
from plaidwork.plugins.supervised_ibp.split import equal_documents, random_split, units_of
from plaidwork.plugins.supervised_ibp.state import Settings, Transform

SETTINGS = (
    "scale", "transform", "min_documents", "screen", "test_share", "split_seed", "together", "intercept",
    "covariate_variance", "texteffect",
)  # fmt: skip
"""The settings that decide what a corpus is."""
LEAST_SPREAD = 1e-10
"""A word whose standard deviation is less than this share of its root mean square is constant."""


@dataclass(frozen=True)
class Corpus:
    """N training documents, D words kept of all, P covariates, L groups.

    Attributes
    ----------
    indptr, indices, values : CSR of the training documents by kept words, transformed, not centred.
    mean, scale : (D,) what is taken off and divided by. square : |Xs|^2.
    mapped : the three arrays of the words stay out of memory, and so does what is made of them.
    variance : mean variance of a word, after scaling. transform : what was done to the counts.
    words : (D,) columns of the kept words. idf : (D,) weights of the transformation. n_constant, n_rare : left out.
    y : (N,) standardised outcome; y_mean, y_scale in its units.
    cover : (N, P) covariates; cover_mean, cover_scale (P,); cover_names; precision (P,) of their coefficients.
    group : (N,); group_names : of all groups, one unnamed when there are none.
    train, test : documents of each half; test is not looked at by the fit.
    units : (all documents) number of the cluster, -1 where left out. n_left_out : documents without outcome or group.
    """

    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    square: float
    words: np.ndarray
    idf: np.ndarray
    n_constant: int
    n_rare: int
    y: np.ndarray
    y_mean: float
    y_scale: float
    cover: np.ndarray
    cover_mean: np.ndarray
    cover_scale: np.ndarray
    cover_names: tuple[str, ...]
    precision: np.ndarray
    group: np.ndarray
    group_names: tuple[str, ...]
    train: np.ndarray
    test: np.ndarray
    units: np.ndarray
    n_left_out: int
    variance: float = 1.0
    transform: Transform = "count"
    mapped: bool = False

    @property
    def documents(self) -> Words:
        """The training documents by kept words, none of it copied."""
        return Words(csr_matrix((self.values, self.indices, self.indptr), self.shape), self.mapped)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.y), len(self.words)

    @cached_property
    def cover_moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the covariates: ``cover' cover`` (P, P) and ``cover' y`` (P,)."""
        return self.cover.T @ self.cover, self.cover.T @ self.y

    @property
    def n_groups(self) -> int:
        return len(self.group_names)


def corpus_of(data: ModelData, params: Settings) -> Corpus:
    """The corpus of these data and settings, made once and shared by all restarts. Raises ``ModelError``."""
    return data.prepared(make_corpus, params, SETTINGS)


def variances_of(corpus: Corpus, params: Settings) -> tuple[float, float]:
    """Noise variance of the words, and prior variance of their weights, in units of the scaled words."""
    unit = corpus.variance if params["variances"] == "shares" else 1.0
    return params["noise"] * unit, params["weight_variance"] * unit


def counts_of(block: Block) -> Words:
    """The documents by words with sorted entries, each once, none 0."""
    if block.mapped:
        return Words(block.values, True).without_zeros()
    found = block.values if hasattr(block.values, "tocsr") else csr_matrix(block.values)
    found = csr_matrix(found)
    if found.dtype != np.float64:
        found = found.astype(np.float64)
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    if not all_of(found, np.isfinite):
        raise ModelError("A word count is infinite or not a number.", "Check the document-term matrix.")
    return Words(found).without_zeros()


def _usable(data: ModelData) -> np.ndarray:
    """(documents,) bool: outcome, group and covariates are known."""
    usable = np.array(data["y"].observed)
    if "group" in data:
        usable &= data["group"].values >= 0
    if "covariates" in data:
        usable &= np.asarray(data["covariates"].observed).all(axis=1)
    return usable


def _halves(
    data: ModelData, counts: csr_matrix, usable: np.ndarray, params: Settings
) -> tuple[np.ndarray, np.ndarray]:
    """Units of all documents and which of them are test documents."""
    n = counts.shape[0]
    ties = [equal_documents(counts)] if params["together"] and not params["texteffect"] else []
    if "cluster" in data:
        ties.append(np.asarray(data["cluster"].values))
    units = np.full(n, -1)
    kept = np.flatnonzero(usable)
    units[kept] = units_of([tie[kept] for tie in ties], len(kept))
    if "split" in data:
        return units, np.asarray(data["split"].values) > 0
    test = np.zeros(n, bool)
    test[kept] = random_split(units[kept], params["test_share"], params["split_seed"], params["texteffect"])
    return units, test


def transform_of(counts: Words, params: Settings) -> Transform:
    """What is done to the counts: the setting, or by their values, logarithms of whole numbers of 0 or more alone."""
    if params["transform"] != "auto":
        return params["transform"]
    return "log1p" if all_of(counts.csr, lambda data: (data >= 0) & (data == np.floor(data))) else "count"


def _transformed(counts: Words, transform: Transform) -> Words:
    if transform in ("count", "tfidf"):
        return counts
    if transform == "log1p" and not all_of(counts.csr, lambda data: data >= 0):
        raise ModelError("Logarithms need counts of 0 or more.", "Choose another transformation.")
    change = np.log1p if transform == "log1p" else np.ones_like
    return counts.valued(lambda block: change(block.data))


def _screened(train: csr_matrix, y: np.ndarray, kept: np.ndarray, most: int) -> np.ndarray:
    """The ``most`` words of ``kept`` whose presence goes along with the outcome, by |z| of the difference of means."""
    count, sums = np.zeros(train.shape[1]), np.zeros(train.shape[1])
    kernels.presence(fixed(train.indptr, np.int64), fixed(train.indices, np.int32), y, count, sums)
    count, sums = count[kept], sums[kept]
    n = len(y)
    spread = np.sqrt(np.maximum(count * (1 - count / n), 0.5 / n))
    score = np.abs(sums) / spread  # y has mean 0 and variance 1
    best = np.argsort(-score, kind="stable")[:most]
    return np.sort(kept[best])


def _weighted(words: Words, transform: Transform, idf: np.ndarray) -> Words:
    return words.valued(lambda block: block.data * idf[block.indices]) if transform == "tfidf" else words


def prepared_rows(data: ModelData, corpus: Corpus, rows: np.ndarray, params: Settings) -> csr_matrix:
    """Documents of ``data`` by kept words, transformed like the training half, not centred."""
    counts = _transformed(counts_of(data["X"]).rows(rows), corpus.transform)
    return _weighted(counts.columns(corpus.words), corpus.transform, corpus.idf).csr


def _vocabulary(train: csr_matrix, y: np.ndarray, params: Settings) -> dict[str, Any]:
    """Words that are kept, and mean, scale and idf of each."""
    n, n_words = train.shape
    count, total, square = np.zeros(n_words), np.zeros(n_words), np.zeros(n_words)
    indices, values = fixed(train.indices, np.int32), fixed(train.data, np.float64)
    kernels.column_sums(indices, values, np.zeros(n_words), count, total, square)
    mean, rms = total / n, np.sqrt(square / n)
    square[:] = 0
    kernels.column_sums(indices, values, mean, np.zeros(n_words), np.zeros(n_words), square)
    spread = np.sqrt(np.maximum(square + (n - count) * mean**2, 0) / (n - 1))
    idf = np.log(n / np.maximum(count, 1)) if params["transform"] == "tfidf" else np.ones(n_words)
    rare = count < params["min_documents"]
    constant = ~rare & ((spread <= LEAST_SPREAD * rms) | (idf == 0))
    kept = np.flatnonzero(~rare & ~constant)
    if params["screen"]:
        kept = _screened(train, y, kept, params["screen"])
    if not len(kept):
        raise ModelError(
            f"No word is left of {n_words}: {int(rare.sum())} are in fewer than "
            f"{counted(params['min_documents'], 'training document')}, {int(constant.sum())} are the same in all.",
            "Lower “Least documents of a word”, or check the matrix.",
        )
    idf, mean, spread = idf[kept], mean[kept] * idf[kept], spread[kept] * idf[kept]
    scale = spread if params["scale"] == "standardise" else np.ones(len(kept))
    return {
        "words": kept, "idf": idf, "n_rare": int(rare.sum()), "n_constant": int(constant.sum()),
        "mean": mean if params["scale"] != "none" else np.zeros(len(kept)),
        "scale": scale, "variance": float(np.mean((spread / scale) ** 2)),
    }  # fmt: skip


def _covers(data: ModelData, train: np.ndarray, params: Settings) -> dict[str, Any]:
    """Covariates of the outcome, standardised on the training half, an intercept first when wanted."""
    n = len(train)
    parts, mean, scale, names = [np.empty((n, 0))], [np.empty(0)], [np.empty(0)], []
    if params["intercept"]:
        parts.append(np.ones((n, 1)))
        mean.append(np.zeros(1))
        scale.append(np.ones(1))
        names.append("Intercept")
    if "covariates" in data:
        block = data["covariates"]
        values = np.asarray(block.values)[train]
        spread = values.std(axis=0, ddof=1)
        spread = np.where(spread > LEAST_SPREAD * np.abs(values).max(axis=0, initial=0), spread, 1.0)
        parts.append((values - values.mean(axis=0)) / spread)
        mean.append(values.mean(axis=0))
        scale.append(spread)
        names += list(block.names[1])
    cover = np.ascontiguousarray(np.concatenate(parts, axis=1))
    return {
        "cover": cover, "cover_mean": np.concatenate(mean), "cover_scale": np.concatenate(scale),
        "cover_names": tuple(names), "precision": np.full(cover.shape[1], 1 / params["covariate_variance"]),
    }  # fmt: skip


def _outcome(data: ModelData, train: np.ndarray) -> dict[str, Any]:
    y = np.asarray(data["y"].values, float)[train]
    if not np.isfinite(y).all():
        raise ModelError("An outcome is infinite.", "Check the outcome.")
    mean, spread = float(y.mean()), float(y.std(ddof=1))
    if not spread > LEAST_SPREAD * np.abs(y).max():
        raise ModelError(
            f"The outcome is {y[0]:g} in all {counted(len(y), 'training document')}.",
            "Topics of an outcome need one that differs.",
        )
    return {"y": (y - mean) / spread, "y_mean": mean, "y_scale": spread}


def make_corpus(data: ModelData, params: Settings) -> Corpus:
    """Everything that the fit reads of the data. O(nnz). Raises ``ModelError`` for data that cannot be fitted."""
    counts, usable = counts_of(data["X"]), _usable(data)
    units, test = _halves(data, counts.csr, usable, params)
    train, held = np.flatnonzero(usable & ~test), np.flatnonzero(usable & test)
    if len(train) < 2:
        raise ModelError(
            f"Too few training documents: {len(train)}.",
            "Lower “Share of test documents”, or add documents.",
        )
    outcome = _outcome(data, train)
    half = counts.rows(train)
    transform = transform_of(half, params)
    half = _transformed(half, transform)
    found = _vocabulary(half.csr, outcome["y"], params)
    half = _weighted(half.columns(found["words"]), transform, found["idf"])
    indices, values = fixed(half.csr.indices, np.int32), fixed(half.csr.data, np.float64)
    group, group_names = np.zeros(len(train), np.int64), ("",)
    if "group" in data:
        group, group_names = np.asarray(data["group"].values)[train], tuple(data["group"].categories)
    n, mean, scale = len(train), found["mean"], found["scale"]
    count, total, square = np.zeros(len(mean)), np.zeros(len(mean)), np.zeros(len(mean))
    kernels.column_sums(indices, values, mean, count, total, square)
    square = (square + (n - count) * mean**2) / scale**2
    return Corpus(
        indptr=fixed(half.csr.indptr, np.int64),
        indices=indices,
        values=values,
        square=float(square.sum()),
        group=np.ascontiguousarray(group, np.int64),
        group_names=group_names,
        train=train,
        test=held,
        units=units,
        n_left_out=int((~usable).sum()),
        transform=transform,
        mapped=half.mapped,
        **found,
        **outcome,
        **_covers(data, train, params),
    )
