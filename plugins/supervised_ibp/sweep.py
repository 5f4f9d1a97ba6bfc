"""One sweep, cut into slices of like work: documents, then words, then the small factors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import cho_solve, cholesky

from plaidwork.core.api import Params, State
from plaidwork.plugins.supervised_ibp import kernels
from plaidwork.plugins.supervised_ibp.bound import bound_terms, elbo_of
from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.moments import (
    clear_sums,
    copied,
    n_fixed,
    outcome_moments,
    prior_precision,
    read_documents,
    second_moment,
    square_of_rest,
)
from plaidwork.plugins.supervised_ibp.order import reorder, reorders
from plaidwork.plugins.supervised_ibp.prior import update_shares
from plaidwork.plugins.supervised_ibp.start import seek
from plaidwork.plugins.supervised_ibp.texteffect import words_by_topic

SLICE = 25_000_000
"""Multiplications of one slice, some 20 ms."""
LARGE = 8 * SLICE
"""Multiplications of a pass over the documents from which on it is cut into parts."""
MOST_PARTS = 4
SETTLED_GAIN, SETTLED_CHANGE = 1e-7, 1e-3
"""Relative gain and change of a probability below which a factorised fit goes on to the joint family."""


def update_words(state: State, corpus: Corpus, params: Params, lo: int, hi: int) -> None:
    """Means of q(A) of some words; of all of them, topic by topic, where the R package is repeated."""
    if params["texteffect"]:
        words_by_topic(state, corpus, params, second_moment(state), first=state["stage"] == "first words")
        return
    ridge = params["noise"] / params["weight_variance"]
    moment = second_moment(state)
    lower = np.ascontiguousarray(cholesky(moment + ridge * np.eye(len(moment)), lower=True))
    if lo == 0:
        state["offset"][...] = 0.0
        state["outer"][...] = 0.0
        state["fit"] = 0.0
    tally = np.zeros(1)
    kernels.words(
        lo, hi, state["raw"], state["total"].sum(axis=0), corpus.mean, corpus.scale, lower,
        np.ascontiguousarray(lower.T), params["noise"], state["phi"], state["rows"], state["offset"], state["outer"],
        tally,
    )  # fmt: skip
    state["fit"] += float(tally[0])


def update_spread(state: State, params: Params) -> None:
    """Covariance of q(A): of each topic, or of all topics at a word."""
    noise, variance = params["noise"], params["weight_variance"]
    if state["joint"]:
        moment = second_moment(state) + noise / variance * np.eye(len(state["cov"]))
        lower = cholesky(moment, lower=True)
        inverse = cho_solve((lower, True), np.eye(len(moment)))
        state["cov"] = noise * (inverse + inverse.T) / 2
    else:
        state["cov"] = np.diag(1 / (1 / variance + state["total"].sum(axis=0) / noise))


def update_prior(state: State, corpus: Corpus, params: Params) -> None:
    """q of the shares."""
    total = np.minimum(state["total"].sum(axis=0)[n_fixed(state) :], len(corpus.y))
    state["share_a"], state["share_b"] = update_shares(
        params["prior"], params["alpha"], total, len(corpus.y), state["share_a"], state["share_b"]
    )


def update_outcome(state: State, corpus: Corpus, params: Params) -> None:
    """q(beta, tau)."""
    second, first = outcome_moments(state, corpus)
    ridge = prior_precision(state, corpus)
    lower = cholesky(second + np.diag(ridge), lower=True)
    inverse = cho_solve((lower, True), np.eye(len(first)))
    state["coef_cov"] = (inverse + inverse.T) / 2
    state["coef"] = coef = cho_solve((lower, True), first)
    state["tau_shape"] = params["tau_shape"] + len(corpus.y) / 2
    rest = square_of_rest(state, corpus) + float((ridge * coef**2).sum())
    state["tau_rate"] = params["tau_rate"] + rest / 2


def last_document(corpus: Corpus, k: int, lo: int) -> int:
    """Where a slice of documents that begins at ``lo`` ends."""
    n = len(corpus.y)

    def work(hi: int) -> int:
        return int(2 * k * (corpus.indptr[hi] - corpus.indptr[lo]) + (hi - lo) * (2 * k * k + 20 * k))

    least, most = lo + 1, n
    while least < most:
        middle = (least + most + 1) // 2
        if work(middle) <= SLICE:
            least = middle
        else:
            most = middle - 1
    return least


def n_parts(corpus: Corpus, params: Params, k: int) -> int:
    """Into how many parts a sweep goes through the documents, with an update of all other factors after each.

    By itself: one for small data; for large ones up to 4, the updates of the words costing no more than the documents.
    """
    if params["texteffect"]:
        return 1
    if params["parts"]:
        return int(min(params["parts"], len(corpus.y)))
    read = 2 * k * float(corpus.indptr[-1]) + len(corpus.y) * (2 * k * k + 20 * k)
    if read < LARGE:
        return 1
    return int(np.clip(read / (len(corpus.words) * (3 * k * k + 20 * k)), 1, MOST_PARTS))


def _end_of_part(corpus: Corpus, params: Params, k: int, lo: int) -> int:
    """Where the part ends that the document ``lo`` is in."""
    n, parts = len(corpus.y), n_parts(corpus, params, k)
    ends = n * np.arange(1, parts + 1) // parts
    return int(ends[np.searchsorted(ends, lo, side="right")])


def advance(state: State, corpus: Corpus, params: Params) -> dict[str, float] | None:
    """The next slice; the traces when it ends the sweep."""
    k = state["nu"].shape[1]
    lo, stage = state["at"], state["stage"]
    n = len(corpus.y)
    if stage == "search":
        seek(state, corpus, SLICE // (2 * state["basis"].shape[1]))
        return None
    if stage in ("start", "documents"):
        if lo == 0 and stage == "start":
            clear_sums(state)
        elif lo == 0:
            state["tally"][...] = 0.0
        end = _end_of_part(corpus, params, k, lo) if stage == "documents" else n
        hi = min(end, last_document(corpus, k, lo))
        read_documents(state, corpus, params, lo, hi, stage == "documents")
    else:
        end = len(corpus.words)
        hi = end if params["texteffect"] else min(end, lo + max(1, SLICE // (3 * k * k + 20 * k)))
        update_words(state, corpus, params, lo, hi)
    state["at"] = hi if hi < end else 0
    if hi < end:
        return None
    if stage in ("start", "documents"):
        state["stage"], state["read"] = ("first words", 0) if stage == "start" else ("words", end % n)
        return None
    state["stage"], state["at"] = "documents", state["read"]
    _small_factors(state, corpus, params)
    if stage == "first words" or state["read"]:
        return None
    if reorders(params):
        reorder(state, corpus, params)
    return _ended(state, corpus, params)


def _small_factors(state: State, corpus: Corpus, params: Params) -> None:
    update_spread(state, params)
    update_prior(state, corpus, params)
    update_outcome(state, corpus, params)


def _ended(state: State, corpus: Corpus, params: Params) -> dict[str, float]:
    """Traces after a sweep; a factorised fit that has settled goes on to the joint family."""
    terms = bound_terms(state, corpus, params)
    waiting = params["family"] == "joint" and not state["joint"]
    change = float(state["tally"][1])
    if waiting:
        elbo = sum(terms.values())
        if abs(elbo - state["last"]) <= SETTLED_GAIN * (1 + abs(elbo)) and change <= SETTLED_CHANGE:
            state["joint"] = True
            update_spread(state, params)
            terms = bound_terms(state, corpus, params)
    elbo = sum(terms.values())
    state["last"] = elbo
    return {
        "elbo": elbo,
        **terms,
        "active": float((state["total"].sum(axis=0)[n_fixed(state) :] > 1).sum()),
        "change": np.nan if waiting else min(1.0, change),
    }


def blocks(state: State, corpus: Corpus, params: Params) -> Iterator[tuple[str, float]]:
    """One sweep with the bound after every factor of q."""
    while state["stage"] in ("search", "start", "first words"):
        advance(state, corpus, params)
    while state["stage"] == "documents" or state["read"]:
        before = state["stage"]
        advance(state, corpus, params)
        if before == "documents" or state["stage"] == "documents":
            yield "assignments" if before == "documents" else "other factors", elbo_of(state, corpus, params)
    trial = copied(state)
    update_words(trial, corpus, params, 0, len(corpus.words))
    yield "means of the weights", elbo_of(trial, corpus, params)
    update_spread(trial, params)
    yield "spread of the weights", elbo_of(trial, corpus, params)
    update_prior(trial, corpus, params)
    yield "shares", elbo_of(trial, corpus, params)
    if reorders(params):
        update_outcome(trial, corpus, params)
        yield "coefficients and noise", elbo_of(trial, corpus, params)
    traces = None
    while traces is None:
        traces = advance(state, corpus, params)
    yield "order of the sticks" if reorders(params) else "coefficients and noise", traces["elbo"]
