"""Split-merge moves of topics, with the weights beta explicit.

Two tokens are chosen, half of the time from one document, without a look at their topics. In a split the topic with weight b gets parts
``u b`` and ``(1 - u) b``, u uniform; its other tokens are placed one after the other, then restricted Gibbs scans follow, of which the
last one is scored (Jain and Neal 2004, section 3.2). In a merge the launch is drawn anew and the last scan forced to where the tokens are;
as the way back has a probability of 1 at most, a merge that even that would not save, as most are, is refused without a launch.
The weights of a Dirichlet process are atoms of intensity ``gamma / b``, so that the ratio of the priors has
``gamma / (u (1 - u))``, the Jacobian b within.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import (
    ACCEPTED,
    ALPHA,
    ETA,
    GAMMA,
    HIGH,
    TRIED,
)
from plaidwork.plugins.dirichlet_processes.topics.kernels.tables import log_rising


class Sides(NamedTuple):
    """The two sides of a move: side 0 has the first chosen token, side 1 the second."""

    tokens: np.ndarray
    """(m,) the other tokens of their topics, in the order of the corpus"""
    docs: np.ndarray
    """(m,) their documents, numbered from 0 among those that occur"""
    split: bool
    words: np.ndarray
    """(2, V) counts"""
    own: np.ndarray
    """(2, documents that occur)"""
    totals: np.ndarray
    """(2,)"""
    weights: np.ndarray
    """(2,) alpha times the part of beta"""


@njit(nogil=True, cache=True)
def pick(rng: np.random.Generator, starts: np.ndarray, words: int) -> tuple[int, int]:
    """Two different tokens, every second time of one document; -1 where that document has no other."""
    first = int(rng.integers(0, words))
    if rng.random() < 0.5:
        second = int(rng.integers(0, words - 1))
        return first, second + (second >= first)
    doc = np.searchsorted(starts, first, side="right") - 1
    lo, n = starts[doc], starts[doc + 1] - starts[doc]
    if n < 2:
        return first, -1
    second = int(lo + rng.integers(0, n - 1))
    return first, second + (second >= first)


@njit(nogil=True, cache=True)
def gather(
    words: np.ndarray, starts: np.ndarray, z: np.ndarray, first: int, second: int, size: int, n_words: int
) -> Sides:
    """The sides with the two chosen tokens alone; ``size`` tokens have their topics."""
    tokens, docs = np.empty(size - 2, np.int64), np.empty(size - 2, np.int64)
    a, b, m, occurring = z[first], z[second], 0, 0
    place = np.zeros(2, np.int64)
    for d in range(starts.size - 1):
        found = False
        for t in range(starts[d], starts[d + 1]):
            if z[t] == a or z[t] == b:
                found = True
                if t == first:
                    place[0] = occurring
                elif t == second:
                    place[1] = occurring
                else:
                    tokens[m], docs[m] = t, occurring
                    m += 1
        occurring += found
    own = np.zeros((2, occurring))
    sides = Sides(tokens, docs, a == b, np.zeros((2, n_words)), own, np.zeros(2), np.zeros(2))
    put(sides, 0, words[first], place[0])
    put(sides, 1, words[second], place[1])
    return sides


@njit(nogil=True, cache=True)
def put(sides: Sides, s: int, word: int, doc: int) -> None:
    """Put a token on a side."""
    sides.words[s, word] += 1.0
    sides.own[s, doc] += 1.0
    sides.totals[s] += 1.0


@njit(nogil=True, cache=True)
def settle(words: np.ndarray, z: np.ndarray, sides: Sides, now: int, sign: float) -> None:
    """Put the other tokens on the sides where they are, or take them off again; ``now`` is the topic of side 0."""
    for p in range(sides.tokens.size):
        t = sides.tokens[p]
        s = 0 if z[t] == now else 1
        sides.words[s, words[t]] += sign
        sides.own[s, sides.docs[p]] += sign
        sides.totals[s] += sign


@njit(nogil=True, cache=True)
def place_tokens(
    rng: np.random.Generator,
    words: np.ndarray,
    z: np.ndarray,
    sides: Sides,
    side: np.ndarray,
    eta: float,
    now: int,
    scan: int,
    scored: bool,
) -> float:
    """One pass over the other tokens, each to one of the two sides; its log probability where it is scored.

    In scan -1 they have no side yet. A scored pass of a merge goes where the tokens are; ``now`` is the topic of side 0.
    """
    log_q, part = 0.0, 1.0
    every = sides.words.shape[1] * eta
    for p in range(sides.tokens.size):
        t, d = sides.tokens[p], sides.docs[p]
        w, s = words[t], side[p]
        if scan >= 0:
            sides.words[s, w] -= 1.0
            sides.own[s, d] -= 1.0
            sides.totals[s] -= 1.0
        f0 = (sides.own[0, d] + sides.weights[0]) * (sides.words[0, w] + eta) * (sides.totals[1] + every)
        f1 = (sides.own[1, d] + sides.weights[1]) * (sides.words[1, w] + eta) * (sides.totals[0] + every)
        if scored and not sides.split:
            s = 0 if z[t] == now else 1
        else:
            s = 0 if rng.random() * (f0 + f1) < f0 else 1
        if scored:
            part *= (f0 if s == 0 else f1) / (f0 + f1)
            if part < 1e-200:
                log_q += math.log(max(part, 1e-300))
                part = 1.0
        side[p] = s
        put(sides, s, w, d)
    return log_q + math.log(part)


@njit(nogil=True, cache=True)
def log_topic(counts: np.ndarray, total: float, eta: float) -> float:
    """Log probability of the words (V,) of one topic."""
    out = -log_rising(int(total), counts.size * eta)
    for w in range(counts.size):
        if counts[w] > 0:
            out += log_rising(int(counts[w]), eta)
    return out


@njit(nogil=True, cache=True)
def log_places(own: np.ndarray, weight: float) -> float:
    """Sum over documents of ``log Gamma(weight + n_d) / Gamma(weight)``; own (documents,)."""
    out = 0.0
    for d in range(own.size):
        if own[d] > 0:
            out += log_rising(int(own[d]), weight)
    return out


@njit(nogil=True, cache=True)
def log_gain(sides: Sides, law: np.ndarray, u: float) -> float:
    """What a split into these sides has for itself but for the probability of its proposal; a merge of them has the opposite."""
    eta = law[ETA]
    out = math.log(law[GAMMA]) - math.log(u) - math.log(1.0 - u)
    for s in range(2):
        out += log_topic(sides.words[s], sides.totals[s], eta) + log_places(sides.own[s], sides.weights[s])
    out -= log_topic(sides.words[0] + sides.words[1], sides.totals[0] + sides.totals[1], eta)
    return out - log_places(sides.own[0] + sides.own[1], sides.weights[0] + sides.weights[1])


@njit(nogil=True, cache=True)
def carry_out(
    words: np.ndarray,
    z: np.ndarray,
    counts: np.ndarray,
    totals: np.ndarray,
    sides: Sides,
    side: np.ndarray,
    first: int,
    a: int,
    b: int,
) -> None:
    """Move the tokens of side 0 to topic ``a`` and leave the others in ``b`` (split), or all from ``a`` to ``b`` (merge)."""
    come_from, go_to = (b, a) if sides.split else (a, b)
    for p in range(-1, sides.tokens.size):
        t = first if p < 0 else sides.tokens[p]
        if p < 0 or side[p] == 0:
            z[t] = go_to
            counts[words[t], come_from] -= 1.0
            counts[words[t], go_to] += 1.0
            totals[come_from] -= 1.0
            totals[go_to] += 1.0


@njit(nogil=True, cache=True)
def try_move(
    rng: np.random.Generator,
    words: np.ndarray,
    starts: np.ndarray,
    z: np.ndarray,
    counts: np.ndarray,
    totals: np.ndarray,
    beta: np.ndarray,
    law: np.ndarray,
    at: np.ndarray,
    scans: int,
) -> None:
    """One split or merge, accepted or refused. Needs a free slot and two tokens."""
    first, second = pick(rng, starts, words.size)
    if second < 0:
        return
    a, b = z[first], z[second]
    size = int(totals[a]) if a == b else int(totals[a] + totals[b])
    sides = gather(words, starts, z, first, second, size, counts.shape[0])
    whole = beta[a] if sides.split else beta[a] + beta[b]
    u = rng.random() if sides.split else beta[a] / whole
    u = min(max(u, 1e-12), 1.0 - 1e-12)
    sides.weights[0], sides.weights[1] = law[ALPHA] * u * whole, law[ALPHA] * (1.0 - u) * whole
    level, gain = math.log(max(rng.random(), 1e-300)), 0.0
    at[TRIED] += 1
    if not sides.split:
        settle(words, z, sides, a, 1.0)
        gain = log_gain(sides, law, u)
        if level >= -gain:
            return
        settle(words, z, sides, a, -1.0)
    side = np.zeros(sides.tokens.size, np.int64)
    log_q = 0.0
    for scan in range(-1, scans):
        log_q = place_tokens(rng, words, z, sides, side, law[ETA], a, scan, scan == scans - 1)
    if sides.split:
        gain = log_gain(sides, law, u)
    gain -= log_q
    if level >= (gain if sides.split else -gain):
        return
    at[ACCEPTED] += 1
    if sides.split:
        a = at[HIGH]
        at[HIGH] += 1
        beta[a], beta[b] = u * whole, (1.0 - u) * whole
    else:
        beta[a], beta[b] = 0.0, whole
    carry_out(words, z, counts, totals, sides, side, first, a, b)


@njit(nogil=True, cache=True)
def make_moves(
    rng: np.random.Generator,
    words: np.ndarray,
    starts: np.ndarray,
    z: np.ndarray,
    counts: np.ndarray,
    totals: np.ndarray,
    beta: np.ndarray,
    law: np.ndarray,
    at: np.ndarray,
    scans: np.ndarray,
    lo: int,
    hi: int,
) -> int:
    """Moves ``lo`` to ``hi`` of a sweep, each with one of the numbers of ``scans`` by chance; the first not made for want of a slot."""
    for move in range(lo, hi):
        if at[HIGH] == totals.size:
            return move
        chosen = scans[rng.integers(0, scans.size)]
        try_move(rng, words, starts, z, counts, totals, beta, law, at, chosen)
    return hi
