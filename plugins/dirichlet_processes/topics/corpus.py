"""Documents as rows of tokens, and what can be wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from plaidwork.core.api import Block, ModelData, Params, Problem, agree, counted, format_count, format_number
from plaidwork.core.api_sparse import scratch_array, taken
from plaidwork.plugins.dirichlet_processes.topics.kernels import corpus as passes
from plaidwork.plugins.dirichlet_processes.topics.settings import TopicSettings

Ints = NDArray[np.int64]
Words = NDArray[np.int32]
MOST = 2**24
"""Tokens of one word that are still counted exactly."""
AT_ONCE = 1 << 20
"""Entries that are looked at together."""
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
    """(D, V) counts with sorted entries, each once, none 0; the matrix itself where it is so."""
    if block.mapped:
        found = block.values
        return taken(found, None, _without_zeros) if _has_zeros(found) else found
    found = csr_matrix(block.values, dtype=np.float64)
    if not found.has_canonical_format:
        found = found.copy()
        found.sum_duplicates()
    return _without_zeros(found) if _has_zeros(found) else found


def _has_zeros(counts: csr_matrix) -> bool:
    return not counts.data.all()


def _without_zeros(counts: csr_matrix) -> csr_matrix:
    found = counts.copy()
    found.eliminate_zeros()
    return found


def corpus_of(data: ModelData, params: TopicSettings) -> Corpus:
    """The corpus, read once for all chains."""
    found: Corpus = data.prepared(read, cast(Params, params), ("left_out",))
    return found


def read(data: ModelData, params: Any) -> Corpus:
    """Tokens from counts; which are left out depends on the corpus and the share alone."""
    block: Block = data["X"]
    counts, room = counts_of(block), scratch_array if block.mapped else np.zeros
    indptr, values = frozen(counts.indptr, np.int64), frozen(counts.data, np.float64)
    lengths = np.empty(counts.shape[0], np.int64)
    passes.lengths_of(indptr, values, lengths)
    out = np.zeros(0, bool)
    if params["left_out"] > 0:
        rng, out = np.random.default_rng(SEED), room(int(lengths.sum()), bool)
        chosen = rng.random(counts.shape[0]) < params["left_out"]
        passes.choose_left_out(rng, lengths, chosen, out)
    left = int(np.count_nonzero(out))
    arrays = (
        room(int(lengths.sum()) - left, np.int32),
        np.empty(counts.shape[0] + 1, np.int64),
        np.empty(left, np.int64),
        np.empty(left, np.int32),
    )
    passes.spread_tokens(indptr, frozen(counts.indices, np.int32), values, out, *arrays)
    words, starts, out_docs, out_words = (frozen(array, array.dtype) for array in arrays)
    return Corpus(words, starts, counts.shape[1], out_docs, out_words)


def frozen(array: np.ndarray, dtype: Any) -> np.ndarray:
    """The array as that type, not to be written to: kernels are compiled once for all data."""
    found = array.astype(dtype, copy=False).view()
    found.flags.writeable = False
    return found


def entries_of(counts: csr_matrix) -> Iterator[slice]:
    """Some entries at a time, so that what is worked out of them stays small."""
    return (slice(lo, lo + AT_ONCE) for lo in range(0, len(counts.data), AT_ONCE))


def find_problems(data: ModelData) -> list[Problem]:
    """Errors stop the fit; warnings are shown."""
    block: Block = data["X"]
    counts = counts_of(block)
    place = _first_wrong(counts)
    if place >= 0:
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


def _first_wrong(counts: csr_matrix) -> int:
    """The first entry that is no count; -1 without any."""
    for some in entries_of(counts):
        values = counts.data[some]
        wrong = np.flatnonzero((values < 0) | (values != np.floor(values)))
        if len(wrong):
            return int(some.start + wrong[0])
    return -1


def _notes(counts: csr_matrix, by_word: np.ndarray) -> list[Problem]:
    found = []
    if empty := int((np.diff(counts.indptr) == 0).sum()):
        text = f"{counted(empty, 'document')} {agree(empty, 'has', 'have')} no word: their topics are those expected of any document."
        found.append(Problem(text, "Leave them out if that is not meant.", "X", "warning"))
    if unused := int((by_word == 0).sum()):
        text = f"{counted(unused, 'word')} {agree(unused, 'is', 'are')} in no document."
        found.append(Problem(text, "Leave them out: every topic gives them a small share.", "X", "warning"))
    return found
