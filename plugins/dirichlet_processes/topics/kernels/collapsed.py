"""The topic of every token given all others, topics' words integrated out (Teh et al. 2006, section 5.3, with explicit weights).

A topic k is joined with weight ``(n_dk + alpha beta_k) (n_wk + eta) / (n_k + V eta)``, a new one with ``alpha beta_u / V``. Weights are
computed for all slots at once and summed by block, which the processor does in a few steps; slots without a topic have weight 0. Numba makes
half as much again of a block of 48 as of one of 16, 32 or 64. Counts are float32, exact up to 2^24.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed, fetch

BLOCK = 48
"""Slots come in multiples of it."""
ALPHA, GAMMA, ETA, REST = range(4)
"""Places in ``law``: concentration of the documents, of the corpus, weight of each word, and what all topics leave of beta."""
LINE, AHEAD = 16, 2
"""Numbers in a line of the processor's cache, and how many tokens before it is needed the row of a word is asked for."""
HIGH, MOVED, TRIED, ACCEPTED, BORN = range(5)
"""Places in ``at``: slots in use, tokens that moved, moves tried and accepted, and topics born in this sweep."""


@njit(nogil=True, cache=True)
def found_topic(rng: np.random.Generator, beta: np.ndarray, law: np.ndarray, at: np.ndarray) -> int:
    """Give a new topic its part of what is left of beta: Beta(1, gamma) of it. Needs a free slot."""
    new = at[HIGH]
    kept = math.exp(math.log(max(rng.random(), 1e-300)) / law[GAMMA])  # of Beta(gamma, 1)
    beta[new] = law[REST] * (1.0 - kept)
    law[REST] *= kept
    at[HIGH] += 1
    at[BORN] += 1
    return new


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def weigh(
    share: np.ndarray, counts: np.ndarray, w: int, eta: np.float32, sums: np.ndarray, blocks: int
) -> np.floating:
    """``share * (counts[w] + eta)`` summed by block of slots into ``sums``; their total."""
    total = np.float32(0.0)
    for b in range(blocks):
        part = np.float32(0.0)
        for j in range(BLOCK):
            part += share[b * BLOCK + j] * (counts[w, b * BLOCK + j] + eta)
        sums[b] = part
        total += part
    return total


@njit(nogil=True, cache=True)
def slot_at(
    mark: float, share: np.ndarray, counts: np.ndarray, w: int, eta: np.float32, sums: np.ndarray, blocks: int
) -> int:
    """The slot in which the running sum of the weights passes ``mark``, the last one with a weight if rounding lets none."""
    b = 0
    while b < blocks - 1 and mark >= sums[b]:
        mark -= sums[b]
        b += 1
    last = -1
    for k in range(b * BLOCK, (b + 1) * BLOCK):
        here = share[k] * (counts[w, k] + eta)
        if here > 0.0:
            last = k
            mark -= here
            if mark < 0.0:
                return k
    while last < 0:  # nothing in the last block: the sums of those before have been rounded up
        b -= 1
        for k in range(b * BLOCK, (b + 1) * BLOCK):
            last = k if share[k] > 0.0 else last
    return last


@njit(nogil=True, cache=True)
def count_document(z: np.ndarray, lo: int, hi: int, own: np.ndarray) -> None:
    """Tokens of one document by topic."""
    own[:] = 0.0
    for t in range(lo, hi):
        own[z[t]] += 1.0


@njit(nogil=True, cache=True)
def draw_tokens(
    rng: np.random.Generator,
    words: np.ndarray,
    starts: np.ndarray,
    z: np.ndarray,
    counts: np.ndarray,
    totals: np.ndarray,
    beta: np.ndarray,
    law: np.ndarray,
    at: np.ndarray,
    first: int,
    hi: int,
) -> int:
    """Draw the topics of the tokens from ``first`` up to document ``hi``; the first token not drawn for want of a slot.

    words (T,), starts (D + 1,) of the documents, z (T,), counts (V, slots) float32, totals (slots,), beta (slots,).
    """
    rng, words, z, counts = borrowed(rng), borrowed(words), borrowed(z), borrowed(counts)
    totals, beta, law, at = borrowed(totals), borrowed(beta), borrowed(law), borrowed(at)
    slots = totals.size
    eta = np.float32(law[ETA])
    alpha, every = law[ALPHA], counts.shape[0] * law[ETA]
    own, prior = np.empty(slots, np.float32), np.empty(slots, np.float32)
    share, inverse = np.empty(slots, np.float32), np.empty(slots, np.float32)
    sums = np.empty(slots // BLOCK, np.float32)
    for k in range(slots):
        prior[k] = alpha * beta[k]
        inverse[k] = 1.0 / (totals[k] + every)
    doc = np.searchsorted(starts, first, side="right") - 1
    t = first
    while t < starts[hi]:
        end = starts[doc + 1]
        count_document(z, starts[doc], end, own)
        for k in range(slots):
            share[k] = (own[k] + prior[k]) * inverse[k]
        while t < end:
            if at[HIGH] == slots:
                return t
            old, w = z[t], words[t]
            own[old] -= 1.0
            counts[w, old] -= 1.0
            totals[old] -= 1.0
            inverse[old] = 1.0 / (totals[old] + every)
            share[old] = (own[old] + prior[old]) * inverse[old]
            ahead = words[min(t + AHEAD, words.size - 1)]
            for k in range(0, at[HIGH], LINE):
                fetch(counts, ahead, k)
            blocks = (at[HIGH] + BLOCK - 1) // BLOCK
            total = weigh(share, counts, w, eta, sums, blocks)
            mark = rng.random() * (total + alpha * law[REST] / counts.shape[0])
            if mark < total:
                k = slot_at(mark, share, counts, w, eta, sums, blocks)
            else:
                k = found_topic(rng, beta, law, at)
                prior[k] = alpha * beta[k]
            at[MOVED] += k != old
            z[t] = k
            own[k] += 1.0
            counts[w, k] += 1.0
            totals[k] += 1.0
            inverse[k] = 1.0 / (totals[k] + every)
            share[k] = (own[k] + prior[k]) * inverse[k]
            t += 1
        doc += 1
    return t
