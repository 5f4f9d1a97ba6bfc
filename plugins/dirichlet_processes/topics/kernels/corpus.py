"""Passes over all tokens of a corpus and their topics that make no further array of that length."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def lengths_of(indptr: np.ndarray, counts: np.ndarray, lengths: np.ndarray) -> None:
    """Tokens of each document (D,) of counts in the form of CSR."""
    for d in range(lengths.size):
        total = 0
        for e in range(indptr[d], indptr[d + 1]):
            total += int(counts[e])
        lengths[d] = total


@njit(nogil=True, cache=True)
def choose_left_out(
    rng: np.random.Generator, lengths: np.ndarray, chosen: np.ndarray, out: np.ndarray
) -> None:
    """Mark every second token of the chosen documents, in an order by chance, in ``out`` (T,); each token takes a number."""
    t = 0
    for d in range(lengths.size):
        n = lengths[d]
        mark = np.empty(n)
        for i in range(n):
            mark[i] = rng.random()
        if chosen[d]:
            order = np.argsort(mark, kind="mergesort")
            for i in range(1, n, 2):
                out[t + order[i]] = True
        t += n


@njit(nogil=True, cache=True)
def spread_tokens(
    indptr: np.ndarray,
    indices: np.ndarray,
    counts: np.ndarray,
    out: np.ndarray,
    words: np.ndarray,
    starts: np.ndarray,
    out_docs: np.ndarray,
    out_words: np.ndarray,
) -> None:
    """Words of the tokens that stay and of those left out, and where documents start; ``out`` is empty when none is."""
    t, kept, left = 0, 0, 0
    for d in range(indptr.size - 1):
        starts[d] = kept
        for e in range(indptr[d], indptr[d + 1]):
            for _ in range(int(counts[e])):
                if out.size and out[t]:
                    out_docs[left], out_words[left] = d, indices[e]
                    left += 1
                else:
                    words[kept] = indices[e]
                    kept += 1
                t += 1
    starts[-1] = kept


@njit(nogil=True, cache=True)
def count_topics(words: np.ndarray, z: np.ndarray, counts: np.ndarray, totals: np.ndarray) -> None:
    """Tokens of each word in each topic (V, slots), and of each topic (slots,); both are made 0 before."""
    counts[:] = 0.0
    totals[:] = 0.0
    for t in range(z.size):
        counts[words[t], z[t]] += 1.0
        totals[z[t]] += 1.0


@njit(nogil=True, cache=True)
def count_documents(starts: np.ndarray, z: np.ndarray, found: np.ndarray) -> None:
    """Add the tokens of each topic in each document to ``found`` (K, D)."""
    for d in range(starts.size - 1):
        for t in range(starts[d], starts[d + 1]):
            found[z[t], d] += 1


@njit(nogil=True, cache=True)
def renumber(z: np.ndarray, place: np.ndarray) -> None:
    """Topic k becomes ``place[k]`` for all tokens."""
    for t in range(z.size):
        z[t] = place[z[t]]


@njit(nogil=True, cache=True)
def count_pairs(indptr: np.ndarray, indices: np.ndarray, place: np.ndarray, both: np.ndarray) -> None:
    """Add to ``both`` (m, m) the documents that have both of two words; ``place`` (V,) of the words wanted, else -1."""
    here = np.empty(both.shape[0], np.int64)
    for d in range(indptr.size - 1):
        n = 0
        for e in range(indptr[d], indptr[d + 1]):
            if place[indices[e]] >= 0:
                here[n] = place[indices[e]]
                n += 1
        for i in range(n):
            for j in range(n):
                both[here[i], here[j]] += 1.0
