"""One sweep, cut into slices of like work: documents, then words, then the small factors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from plaidwork.core.api import POSITION, Stage, State
from plaidwork.plugins.supervised_ibp import kernels, stochastic
from plaidwork.plugins.supervised_ibp.bound import bound_of, bound_terms
from plaidwork.plugins.supervised_ibp.corpus import Corpus, variances_of
from plaidwork.plugins.supervised_ibp.moments import (
    Parts,
    add_slice,
    clear_sums,
    n_fixed,
    outcome_moments,
    prior_precision,
    read_documents,
    read_slice,
    searching,
    second_moment,
    square_of_rest,
)
from plaidwork.plugins.supervised_ibp.order import reorder, reorders
from plaidwork.plugins.supervised_ibp.prior import update_shares
from plaidwork.plugins.supervised_ibp.start import seek
from plaidwork.plugins.supervised_ibp.state import Fields, Settings
from plaidwork.plugins.supervised_ibp.texteffect import words_by_topic

SLICE = 25_000_000
"""Multiplications of one slice, some 20 ms."""
LARGE = 8 * SLICE
"""Multiplications of a pass over the documents from which on it is cut into parts."""
MOST_PARTS = 4
SETTLED_GAIN, SETTLED_CHANGE = 1e-7, 1e-3
"""Relative gain and change of a probability below which a factorised fit goes on to the joint family."""


def _cholesky(matrix: np.ndarray) -> np.ndarray:
    """Lower Cholesky factor. LAPACK's own routine: SciPy's checks take longer than it does for a matrix of a few topics."""
    lower, info = dpotrf(matrix, lower=1, clean=1)
    if info:
        raise np.linalg.LinAlgError("A moment of the topics is not positive definite.")
    return np.asarray(lower)


def _solved(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """``matrix^-1 right``, of the matrix with this Cholesky factor."""
    return np.asarray(dpotrs(lower, right, lower=1)[0])


def update_words(state: Fields, corpus: Corpus, params: Settings, lo: int, hi: int) -> None:
    """Means of q(A) of some words; of all of them, topic by topic, where the R package is repeated."""
    if params["texteffect"]:
        words_by_topic(state, corpus, params, second_moment(state), first=not state["begun"])
        return
    noise, variance = variances_of(corpus, params)
    ridge = noise / variance
    moment = second_moment(state)
    lower = np.ascontiguousarray(_cholesky(moment + ridge * np.eye(len(moment))))
    if lo == 0:
        state["offset"][...] = 0.0
        state["outer"][...] = 0.0
        state["fit"] = 0.0
    tally = np.zeros(1)
    kernels.words(
        lo, hi, state["raw"], state["total"].sum(axis=0), corpus.mean, corpus.scale, lower,
        np.ascontiguousarray(lower.T), noise, state["phi"], state["rows"], state["offset"], state["outer"],
        tally,
    )  # fmt: skip
    state["fit"] += float(tally[0])


def update_spread(state: Fields, corpus: Corpus, params: Settings) -> None:
    """Covariance of q(A): of each topic, or of all topics at a word."""
    noise, variance = variances_of(corpus, params)
    if state["joint"]:
        moment = second_moment(state) + noise / variance * np.eye(len(state["cov"]))
        inverse = _solved(_cholesky(moment), np.eye(len(moment)))
        state["cov"] = noise * (inverse + inverse.T) / 2
    else:
        state["cov"] = np.diag(1 / (1 / variance + state["total"].sum(axis=0) / noise))


def update_prior(state: Fields, corpus: Corpus, params: Settings) -> None:
    """q of the shares."""
    total = np.minimum(state["total"].sum(axis=0)[n_fixed(state) :], len(corpus.y))
    state["share_a"], state["share_b"] = update_shares(
        params["prior"], params["alpha"], total, len(corpus.y), state["share_a"], state["share_b"]
    )


def update_outcome(state: Fields, corpus: Corpus, params: Settings) -> None:
    """q(beta, tau)."""
    second, first = outcome_moments(state, corpus)
    ridge = prior_precision(state, corpus)
    lower = _cholesky(second + np.diag(ridge))
    inverse = _solved(lower, np.eye(len(first)))
    state["coef_cov"] = (inverse + inverse.T) / 2
    state["coef"] = coef = _solved(lower, first)
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


def n_parts(corpus: Corpus, params: Settings, k: int) -> int:
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


def parts_of(corpus: Corpus, params: Settings, k: int) -> list[tuple[int, int]]:
    """First document, and the one after the last, of each part."""
    n, parts = len(corpus.y), n_parts(corpus, params, k)
    ends = (n * np.arange(parts + 1) // parts).tolist()
    return list(pairwise(ends))


def pass_of_steps(
    state: Fields, corpus: Corpus, params: Settings, sweep: int, rng: np.random.Generator
) -> list[Stage]:
    """The stages of a pass of stochastic steps: batches of documents, then what follows from the exact sums of all."""

    def follow() -> None:
        update_words(state, corpus, params, 0, len(corpus.words))
        update_spread(state, corpus, params)
        update_prior(state, corpus, params)
        update_outcome(state, corpus, params)

    found = [] if state["begun"] else _first(state, corpus, params)
    found += [
        stochastic.stage(state, corpus, params, sweep, rng, follow),
        _words("means of the weights", state, corpus, params, len(corpus.words)),
        *_small_factors("", state, corpus, params),
    ]
    if reorders(params):
        found.append(_at_once("order of the sticks", lambda: reorder(state, corpus, params)))
    return found


def stages(state: Fields, corpus: Corpus, params: Settings) -> list[Stage]:
    """The stages of a sweep: the start, where it is still to be made; documents, words and small factors of each part."""
    d, k = len(corpus.words), state["nu"].shape[1]
    parts = parts_of(corpus, params, k)
    found = [] if state["begun"] else _first(state, corpus, params)
    for number, (first, end) in enumerate(parts, start=1):
        name = _of_part(number, len(parts))
        found += [
            _documents(f"assignments{name}", state, corpus, params, (first, end)),
            _words(f"means of the weights{name}", state, corpus, params, d),
            *_small_factors(name, state, corpus, params),
        ]
    if reorders(params):
        found.append(_at_once("order of the sticks", lambda: reorder(state, corpus, params)))
    if _waiting(state, params) and not searching(state):
        found.append(_at_once("joint family", lambda: _settle(state, corpus, params)))
    return found


def whole_sweeps(state: Fields, corpus: Corpus, params: Settings, times: int) -> None:
    """Sweeps at once, of a factorised state that needs no search for singular vectors."""
    found: list[Stage] = []
    for _ in range(times):
        if (
            not found or found[0].whole is False
        ):  # the first sweep has stages of its own; the others have the same
            found = stages(state, corpus, params)
        for stage in found:
            if stage.begin is not None:
                stage.begin()
            assert isinstance(stage.size, int)
            part = stage.work(0, stage.size)
            if stage.add is not None:
                stage.add(part)
            if stage.end is not None:
                stage.end()


def _of_part(number: int, parts: int) -> str:
    return f" (part {number})" if parts > 1 else ""


def _first(state: Fields, corpus: Corpus, params: Settings) -> list[Stage]:
    """What makes all other factors of the first assignments, and those before it of singular vectors."""
    n, k = len(corpus.y), state["nu"].shape[1]
    found = []
    if "basis" in state:
        entries = SLICE // (2 * state["basis"].shape[1])
        found.append(Stage("search", lambda lo, hi: seek(state, corpus, entries), None, 1, whole=False))
    return [
        *found,
        Stage(
            "start", lambda lo, hi: read_documents(state, corpus, params, lo, hi, False), n,
            lambda lo: last_document(corpus, k, lo), begin=lambda: clear_sums(state), whole=False,
        ),
        replace(_words("first words", state, corpus, params, len(corpus.words)), whole=False),
        *(replace(stage, whole=False) for stage in _small_factors(" (first)", state, corpus, params)),
        _at_once("begun", lambda: _begun(state)),
    ]  # fmt: skip


def _begun(state: Fields) -> None:
    state["begun"] = True


def _documents(name: str, state: Fields, corpus: Corpus, params: Settings, part: tuple[int, int]) -> Stage:
    """q(z) of the documents of a part."""
    (first, end), k = part, state["nu"].shape[1]

    def begin() -> None:
        if first == 0:
            state["tally"][...] = 0.0

    several = last_document(corpus, k, first) < end

    def work(lo: int, hi: int) -> Parts | None:
        if several:
            return read_slice(state, corpus, params, first + lo, first + hi)
        read_documents(state, corpus, params, first + lo, first + hi, True)
        return None

    return Stage(
        name, work, end - first, lambda lo: last_document(corpus, k, first + lo) - first, begin, parallel=several,
        add=partial(add_slice, state) if several else None,
    )  # fmt: skip


def _words(name: str, state: Fields, corpus: Corpus, params: Settings, d: int) -> Stage:
    k = state["nu"].shape[1]
    cut = d if params["texteffect"] else max(1, SLICE // (3 * k * k + 20 * k))
    return Stage(name, lambda lo, hi: update_words(state, corpus, params, lo, hi), d, cut)


def _small_factors(name: str, state: Fields, corpus: Corpus, params: Settings) -> list[Stage]:
    return [
        _at_once(f"spread of the weights{name}", lambda: update_spread(state, corpus, params)),
        _at_once(f"shares{name}", lambda: update_prior(state, corpus, params)),
        _at_once(f"coefficients and noise{name}", lambda: update_outcome(state, corpus, params)),
    ]


def _at_once(name: str, work: Callable[[], object]) -> Stage:
    """A stage that takes next to no time."""

    def once(lo: int, hi: int) -> None:
        work()

    return Stage(name, once, slice=1000)


def _waiting(state: Fields, params: Settings) -> bool:
    """Whether the fit is still factorised, and is to go on to the joint family."""
    return bool(params["family"] == "joint" and not state["joint"])


def _settle(state: Fields, corpus: Corpus, params: Settings) -> None:
    """A factorised fit that has settled goes on to the joint family."""
    elbo = bound_of(state, corpus, params)
    settled = abs(elbo - state["last"]) <= SETTLED_GAIN * (1 + abs(elbo))
    state["last"] = elbo
    if settled and state["tally"][1] <= SETTLED_CHANGE:
        state["joint"] = True
        state["tally"][1] = np.nan  # the family has just begun: it has not changed by little
        update_spread(state, corpus, params)


def traces_of(state: Fields, corpus: Corpus, params: Settings) -> dict[str, float]:
    """Traces after a sweep."""
    terms, moves = bound_terms(state, corpus, params), state.get("moves")
    return {
        "elbo": sum(terms.values()),
        **terms,
        "active": float((state["total"].sum(axis=0)[n_fixed(state) :] > 1).sum()),
        "moves_left": float(moves["most"] - moves["vain"]) if moves else 0.0,
        "change": np.nan if _waiting(state, params) else float(np.minimum(1.0, state["tally"][1])),
    }


def upgraded(state: State, corpus: Corpus, params: Settings) -> State:
    """A state of version 2, in which the model itself kept where the sweep stood."""
    stage, at, read = state.pop("stage"), state.pop("at"), state.pop("read")
    state["begun"] = stage in ("documents", "words")
    if stage == "search":
        state["sought"] = at
        state[POSITION] = {"stage": stage, "at": 1}
        return state
    if not state["begun"]:
        state[POSITION] = {"stage": stage, "at": at}
        return state
    parts = parts_of(corpus, params, state["nu"].shape[1])
    if stage == "documents" and at == read == 0:  # between two sweeps
        return state
    # “read” is the first document of the part in which the documents stand, or of the one after that of the words
    number = [first for first, _ in parts].index(read) if stage == "documents" or read else len(parts)
    number -= stage == "words" and read > 0
    number = min(number, len(parts) - 1)
    name, first = _of_part(number + 1, len(parts)), parts[number][0]
    words = {"documents": "assignments", "words": "means of the weights"}
    state[POSITION] = {"stage": f"{words[stage]}{name}", "at": at - first if stage == "documents" else at}
    return state
