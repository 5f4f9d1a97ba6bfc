"""Documents as rows of tokens, and what can be wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from plaidwork.core.api import Block, ModelData, Params, Problem, agree, counted, format_count, format_number
from plaidwork.plugins.dirichlet_processes.topics.settings import TopicSettings

Ints = NDArray[np.int64]
Words = NDArray[np.int32]
MOST = 2**24
"""Tokens of one word that are still counted exactly."""
SEED = 1917
"""Of the choice of documents of which words are left out: the same in all fits of a corpus, so that they can be compared."""


@dataclass(frozen=True)
class Corpus:
    """Tokens, one document after the other, the words of a document in the order of the columns.

    ``words`` (T,) and ``starts`` (D + 1,) are what the fit sees; ``out_docs`` and ``out_words`` (H,) tokens that are left out.
    """

    words: Words
    starts: Ints
    n_words: int
    out_docs: Ints
    out_words: Words

    @property
    def lengths(self) -> Ints:
        """(D,) tokens of each document."""
        return np.diff(self.starts)


def counts_of(block: Block) -> csr_matrix:
    """(D, V) counts with sorted entries, each once, none 0."""
    found = csr_matrix(block.values, dtype=np.float64, copy=True)
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def corpus_of(data: ModelData, params: TopicSettings) -> Corpus:
    """The corpus, read once for all chains."""
    found: Corpus = data.prepared(read, cast(Params, params), ("left_out",))
    return found


def read(data: ModelData, params: Any) -> Corpus:
    """Tokens from counts; which are left out depends on the corpus and the share alone."""
    counts = counts_of(data["X"])
    n = counts.data.astype(np.int64)
    docs = np.repeat(np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr)), n)
    words = np.repeat(counts.indices.astype(np.int32), n)
    out = np.zeros(len(words), bool)
    if params["left_out"] > 0:
        rng = np.random.default_rng(SEED)
        chosen = rng.random(counts.shape[0]) < params["left_out"]
        order = np.lexsort(
            (rng.random(len(words)), docs)
        )  # every second token of a document in an order by chance
        first = np.concatenate([[0], np.cumsum(np.bincount(docs, minlength=counts.shape[0]))])
        out[order] = (np.arange(len(words)) - first[docs]) % 2 == 1
        out &= chosen[docs]
    starts = np.concatenate([[0], np.cumsum(np.bincount(docs[~out], minlength=counts.shape[0]))])
    arrays = words[~out], starts.astype(np.int64), docs[out], words[out]
    for array in arrays:
        array.flags.writeable = False
    return Corpus(arrays[0], arrays[1], counts.shape[1], arrays[2], arrays[3])


def find_problems(data: ModelData) -> list[Problem]:
    """Errors stop the fit; warnings are shown."""
    block: Block = data["X"]
    counts = counts_of(block)
    wrong = np.flatnonzero((counts.data < 0) | (counts.data != np.floor(counts.data)))
    if len(wrong):
        place = int(wrong[0])
        row = int(np.searchsorted(counts.indptr, place, side="right")) - 1
        value = format_number(float(counts.data[place]))
        text = f"Document “{block.names[0][row]}” has {value} of the word “{block.names[1][counts.indices[place]]}”; whole numbers from 0 on are needed."
        return [Problem(text, "Give counts of words, without weights or transformation.", "X")]
    if counts.data.sum() < 2:
        return [Problem("There are fewer than two words in all documents.", "Choose another matrix.", "X")]
    by_word = np.asarray(counts.sum(axis=0)).ravel()
    if by_word.max() >= MOST:
        text = f"The word “{block.names[1][int(by_word.argmax())]}” comes {format_count(int(by_word.max()))} times; fewer than {format_count(MOST)} can be counted."
        return [Problem(text, "Divide the counts, or leave the word out.", "X")]
    return _notes(counts, by_word)


def _notes(counts: csr_matrix, by_word: np.ndarray) -> list[Problem]:
    found = []
    if empty := int((np.diff(counts.indptr) == 0).sum()):
        text = f"{counted(empty, 'document')} {agree(empty, 'has', 'have')} no word: their topics are those expected of any document."
        found.append(Problem(text, "Leave them out if that is not meant.", "X", "warning"))
    if unused := int((by_word == 0).sum()):
        text = f"{counted(unused, 'word')} {agree(unused, 'is', 'are')} in no document."
        found.append(Problem(text, "Leave them out: every topic gives them a small share.", "X", "warning"))
    return found
