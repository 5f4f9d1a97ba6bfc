"""Other topics to try in place of those that a fit has: grown anew, turned round, put together with another.

All are probabilities of the documents (N, K), with a background first where there is one, which is 1 or 0 in all documents.
A proposal is good or bad by the bound alone (``search.py``).
"""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.moments import n_fixed
from plaidwork.plugins.supervised_ibp.state import Fields, Floats, Settings

QUANTILES = (0.5, 0.7, 0.85)
"""Share of the documents without a new topic, one at random."""
MOST_POWERS = 12
"""Products with the words of what is left, one to so many: few give a direction at random, many the leading one."""
SHARES = (0.45, 0.3, 0.15, 0.05, 0.05)
NEW, TOGETHER, FORGOTTEN, TURNED, BACKGROUND = range(5)
"""Kinds of proposals: a new topic; two put together; topics of some documents begun anew; one turned round; the background."""
FORGETS, RARE = (0.1, 0.3, 0.6), 0.2
"""Share of the documents that begin anew, one at random, and the probability of each topic in them."""


def new_topic(state: Fields, corpus: Corpus, k: int, rng: np.random.Generator) -> Floats:
    """(N,) a topic along a direction of the words that the others, without topic ``k``, leave unexplained."""
    others = np.arange(state["nu"].shape[1]) != k
    nu, phi, ratio = state["nu"][:, others], state["phi"][:, others], corpus.mean / corpus.scale
    words = corpus.documents.csr

    def scores(direction: Floats) -> Floats:
        found: Floats = words @ (direction / corpus.scale) - ratio @ direction - nu @ (phi.T @ direction)
        return found

    direction = rng.standard_normal(corpus.shape[1])
    for _ in range(rng.integers(1, MOST_POWERS + 1)):
        score = scores(direction)
        direction = words.T @ score / corpus.scale - ratio * score.sum() - phi @ (nu.T @ score)
        direction /= max(float(np.linalg.norm(direction)), 1e-300)
    score = scores(direction) * rng.choice((-1.0, 1.0))
    above = (score - np.quantile(score, rng.choice(QUANTILES))) / max(float(score.std()), 1e-12)
    found: Floats = 1 / (1 + np.exp(-np.clip(4 * above, -30, 30)))
    return found


def proposal(state: Fields, corpus: Corpus, params: Settings, rng: np.random.Generator, late: bool) -> Floats:
    """(N, K) other topics; when it is ``late``, sometimes the same without their background, or with one."""
    fixed, nu = n_fixed(state), state["nu"].copy()
    free = nu.shape[1] - fixed
    k = fixed + int(rng.integers(free))
    kind = rng.choice(len(SHARES), p=SHARES)
    if kind == BACKGROUND and late and fixed and params["background_if_better"]:
        nu[:, 0] = 1 - nu[:, 0]
    elif kind == TURNED:
        nu[:, k] = 1 - nu[:, k]
    elif kind == FORGOTTEN:
        nu[rng.random(len(nu)) < rng.choice(FORGETS), fixed:] = RARE
    elif kind == TOGETHER and free > 1:
        other = fixed + (k - fixed + 1 + int(rng.integers(free - 1))) % free
        _put_together(nu, k, other, int(rng.integers(6)))
    else:
        unused = np.flatnonzero(nu[:, fixed:].sum(axis=0) <= 1)
        k = fixed + int(unused[0]) if len(unused) else k
        nu[:, k] = new_topic(state, corpus, k, rng)
    return nu


def _put_together(nu: Floats, k: int, other: int, how: int) -> None:
    """Topic ``k``, and sometimes ``other``, made anew of both: another code for the same documents, in place."""
    a, b = nu[:, k].copy(), nu[:, other].copy()
    either = 1 - (1 - a) * (1 - b)
    first, second = (
        (a * b, b),
        (a * (1 - b), b),
        (either, b),
        (a * (1 - b) + b * (1 - a), b),
        (a * b, either),
        (a * (1 - b), b * (1 - a)),
    )[how]
    nu[:, k], nu[:, other] = first, second
