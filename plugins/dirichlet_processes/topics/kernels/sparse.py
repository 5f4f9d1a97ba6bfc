"""The topic of every token given the words of the topics, which are drawn before: cost of the topics of the document alone.

No topic comes or goes here: the last token of a topic stays where it is, which is reversible.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import ALPHA, ETA, HIGH, MOVED


@njit(nogil=True, cache=True)
def draw_words(
    rng: np.random.Generator,
    counts: np.ndarray,
    law: np.ndarray,
    at: np.ndarray,
    phi: np.ndarray,
    sums: np.ndarray,
    lo: int,
    hi: int,
) -> None:
    """Gamma draws of words ``lo`` to ``hi`` in every topic into ``phi`` (V, slots), their sums by topic added to ``sums`` (slots,)."""
    eta = law[ETA]
    for w in range(lo, hi):
        for k in range(at[HIGH]):
            found = rng.standard_gamma(eta + counts[w, k])
            phi[w, k] = found
            sums[k] += found


@njit(nogil=True, cache=True)
def weigh_words(
    beta: np.ndarray, law: np.ndarray, at: np.ndarray, phi: np.ndarray, sums: np.ndarray, running: np.ndarray
) -> None:
    """Make ``phi`` probabilities, and ``running`` (V, slots) the running sums of ``alpha beta_k phi_kw`` over topics."""
    for w in range(phi.shape[0]):
        total = 0.0
        for k in range(at[HIGH]):
            phi[w, k] /= sums[k]
            total += law[ALPHA] * beta[k] * phi[w, k]
            running[w, k] = total


@njit(nogil=True, cache=True)
def draw_given_words(
    rng: np.random.Generator,
    words: np.ndarray,
    starts: np.ndarray,
    z: np.ndarray,
    counts: np.ndarray,
    totals: np.ndarray,
    at: np.ndarray,
    phi: np.ndarray,
    running: np.ndarray,
    lo: int,
    hi: int,
) -> None:
    """Draw the topics of the tokens of documents ``lo`` to ``hi``."""
    own, place = np.zeros(totals.size, np.int64), np.empty(totals.size, np.int64)
    seen, sums = np.empty(totals.size, np.int64), np.empty(totals.size)
    used = at[HIGH]
    for d in range(lo, hi):
        n = 0
        for t in range(starts[d], starts[d + 1]):
            k = z[t]
            if own[k] == 0:
                place[k], seen[n] = n, k
                n += 1
            own[k] += 1
        for t in range(starts[d], starts[d + 1]):
            old, row = z[t], phi[words[t]]
            if totals[old] == 1:
                continue
            own[old] -= 1
            if own[old] == 0:
                n -= 1
                seen[place[old]], place[seen[n]] = seen[n], place[old]
            total = 0.0
            for s in range(n):
                total += own[seen[s]] * row[seen[s]]
                sums[s] = total
            mark = rng.random() * (total + running[words[t], used - 1])
            if mark < total:
                s = 0
                while mark >= sums[s]:
                    s += 1
                k = seen[s]
            else:
                k = min(np.searchsorted(running[words[t], :used], mark - total, side="right"), used - 1)
            if own[k] == 0:
                place[k], seen[n] = n, k
                n += 1
            own[k] += 1
            if k != old:
                z[t] = k
                totals[old] -= 1.0
                totals[k] += 1.0
                counts[words[t], old] -= 1.0
                counts[words[t], k] += 1.0
                at[MOVED] += 1
        for s in range(n):
            own[seen[s]] = 0
