"""From words to a matrix of counts, with the reason for every word that is left out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plaidwork.core.data.importers.base import Progress
from plaidwork.core.data.text.options import TextOptions, document_bound
from plaidwork.core.data.text.stop_words import stem_words
from plaidwork.core.data.text.tokens import Tokens, is_number_word

KEPT, STOP, NUMBER, SHORT, RARE, FREQUENT, BEYOND = range(7)
REASONS = (
    "kept",
    "stop word",
    "number",
    "too short",
    "in too few documents",
    "in too many documents",
    "beyond the most words",
)
"""Words for the codes in :attr:`TermCounts.reason`."""


@dataclass(frozen=True, slots=True)
class TermCounts:
    """Every term with its counts, and what became of it.

    Attributes
    ----------
    terms : all terms, those left out too.
    count, documents : (V,) int64, occurrences and number of documents of each term.
    reason : (V,) int8, ``KEPT`` or why it was left out (index into ``REASONS``).
    matrix : (N, W) CSR, float64, the counts of the W terms kept; terms sorted, indices sorted.
    """

    terms: tuple[str, ...]
    count: np.ndarray
    documents: np.ndarray
    reason: np.ndarray
    matrix: Any
    bounds: tuple[int, int] = (1, 1)

    @property
    def kept(self) -> np.ndarray:
        """(W,) int64, places of the terms kept among ``terms``, in the order of the columns."""
        chosen = np.flatnonzero(self.reason == KEPT)
        return chosen[np.argsort(np.array([self.terms[i] for i in chosen], dtype=str), kind="stable")]

    @property
    def lengths(self) -> np.ndarray:
        """(N,) int64, words kept of every document."""
        return np.asarray(self.matrix.sum(axis=1)).reshape(-1).astype(np.int64)

    def n_of(self, reason: int) -> int:
        """Number of terms with a reason."""
        return int((self.reason == reason).sum())


@dataclass(slots=True)
class Stems:
    """Stems that were worked out already, by language; kept between two previews."""

    known: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, language: str, words: list[str]) -> list[str]:
        """The stems of words."""
        known = self.known.setdefault(language, {})
        new = [word for word in words if word not in known]
        known.update(zip(new, stem_words(language, new)))
        return [known[word] for word in words]


def count_words(
    tokens: Tokens, options: TextOptions, stems: Stems | None = None, progress: Progress | None = None
) -> TermCounts:
    """Filter, stem, join to phrases and count. O(T log T) in the number of words.

    Order: stop words, numbers and short words go; what remains is stemmed; phrases are of words that are then
    neighbours; then the bounds on documents apply, and at last the most words.
    """
    words = list(tokens.words)
    reason = word_reasons(words, options)
    stemmed = words
    if options.stem:
        chosen = np.flatnonzero(reason == KEPT)
        found = (stems or Stems()).of(options.stem, [words[i] for i in chosen])
        for at, stem in zip(chosen.tolist(), found):
            stemmed[at] = stem
    if progress is not None:
        progress(0.3)
    # words of one stem share a number, but only within what became of them
    index_of: dict[tuple[str, int], int] = {}
    group = np.fromiter(
        (index_of.setdefault((word, int(code)), len(index_of)) for word, code in zip(stemmed, reason)),
        np.int64,
        len(stemmed),
    )
    terms = [word for word, _ in index_of]
    added = set(
        options.add_stop_words
    )  # those of the user may be stems and phrases, as the vocabulary shows them
    codes = np.array([code or STOP * (word in added) for word, code in index_of], dtype=np.int8)
    ids, documents = group[tokens.ids], tokens.documents
    alive = codes[ids] == KEPT
    parts = [(ids[~alive], documents[~alive])]
    ids, documents = ids[alive], documents[alive]
    parts.append((ids, documents))
    for length in range(2, options.ngrams + 1):
        starts, numbers, names = _phrases(ids, documents, terms, length)
        parts.append((numbers + len(terms), documents[starts]))
        terms += names
    phrases = [STOP * (term in added) for term in terms[len(codes) :]]
    codes = np.concatenate([codes, np.array(phrases, dtype=np.int8)])
    if progress is not None:
        progress(0.6)
    matrix = _matrix(parts, tokens.n_documents, len(terms))
    return keep_terms(matrix, tuple(terms), codes, options)


def word_reasons(words: list[str], options: TextOptions) -> np.ndarray:
    stop = options.stop_list
    reason = np.zeros(len(words), dtype=np.int8)
    for index, word in enumerate(words):
        mark = len(word) == 1 and not word.isalnum()
        # texts that keep their capitals still lose “The”
        if word in stop or word.lower() in stop:
            reason[index] = STOP
        elif options.numbers == "drop" and is_number_word(word):
            reason[index] = NUMBER
        elif len(word) < options.min_length and not mark:
            reason[index] = SHORT
    return reason


def _phrases(
    ids: np.ndarray, documents: np.ndarray, terms: list[str], length: int
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Where phrases of ``length`` words begin, the number of the phrase there, and the phrases by number."""
    n = max(len(ids) - length + 1, 0)
    at = np.flatnonzero(documents[:n] == documents[len(documents) - n :])  # not across documents
    code = ids[at]
    for step in range(1, length):  # joined pair by pair, so that no product overflows
        _, code = np.unique(code, return_inverse=True)
        code = code * len(terms) + ids[at + step]
    _, first, numbers = np.unique(code, return_index=True, return_inverse=True)
    names = [" ".join(terms[ids[i + step]] for step in range(length)) for i in at[first].tolist()]
    return at, numbers, names


def _matrix(parts: list[tuple[np.ndarray, np.ndarray]], n_documents: int, n_terms: int) -> Any:
    from scipy.sparse import csr_matrix

    ids = np.concatenate([part[0] for part in parts])
    documents = np.concatenate([part[1] for part in parts])
    return csr_matrix((np.ones(len(ids)), (documents, ids)), shape=(n_documents, n_terms))


def keep_terms(matrix: Any, terms: tuple[str, ...], reason: np.ndarray, options: TextOptions) -> TermCounts:
    """Apply the bounds on documents and the most words to (N, V) counts; ``reason`` tells what has gone already."""
    matrix.sum_duplicates()
    count = np.asarray(matrix.sum(axis=0)).reshape(-1).astype(np.int64)
    documents = np.bincount(matrix.indices, minlength=matrix.shape[1])
    n = matrix.shape[0]
    low = document_bound(options.min_documents, n, "min_documents")
    high = document_bound(options.max_documents, n, "max_documents")
    reason = reason.copy()
    open_ = reason == KEPT
    reason[open_ & (documents < low)] = RARE
    reason[open_ & (documents > high)] = FREQUENT
    chosen = np.flatnonzero(reason == KEPT)
    if options.max_words and len(chosen) > options.max_words:
        order = np.lexsort((np.array([terms[i] for i in chosen], dtype=str), -documents[chosen]))
        reason[chosen[order[options.max_words :]]] = BEYOND
    counts = TermCounts(terms, count, documents, reason, None, (low, high))
    kept = matrix[:, counts.kept]
    kept.sort_indices()
    return TermCounts(terms, count, documents, reason, kept, (low, high))


def count_terms(
    matrix: Any, terms: tuple[str, ...], options: TextOptions, progress: Progress | None = None
) -> TermCounts:
    """The same filters for an (N, V) CSR of counts whose terms were made elsewhere; equal terms are added up."""
    if progress is not None:
        progress(0.3)
    named = [term.lower() if options.lower else term for term in terms]
    index_of: dict[str, int] = {}
    group = np.array([index_of.setdefault(term, len(index_of)) for term in named], dtype=np.int64)
    if len(index_of) < len(terms):
        coo = matrix.tocoo()
        from scipy.sparse import csr_matrix

        matrix = csr_matrix((coo.data, (coo.row, group[coo.col])), shape=(matrix.shape[0], len(index_of)))
    reason = word_reasons(list(index_of), options)
    return keep_terms(matrix.copy(), tuple(index_of), reason, options)
