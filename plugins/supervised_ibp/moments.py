"""Moments of q that the updates and the bound share."""

from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np

from plaidwork.plugins.supervised_ibp import kernels
from plaidwork.plugins.supervised_ibp.corpus import Corpus, variances_of
from plaidwork.plugins.supervised_ibp.documents import documents
from plaidwork.plugins.supervised_ibp.prior import log_shares
from plaidwork.plugins.supervised_ibp.state import SUMS, Fields, Settings, Sum
from plaidwork.plugins.supervised_ibp.texteffect import printed_moment

Parts = dict[Sum, np.ndarray]
"""The sums of the pass over documents by name."""


def copied(state: Fields) -> Fields:
    found = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
    return cast("Fields", found)


def n_fixed(state: Fields) -> int:
    """How many topics at the front all documents have: 1 with a background topic."""
    return int(state["nu"].shape[1] - len(state["share_a"]))


def searching(state: Fields) -> bool:
    """Whether moves are still to be tried."""
    return "moves" in state and state["moves"]["vain"] < state["moves"]["most"]


def clear_sums(state: Fields) -> None:
    for name in SUMS:
        state[name][...] = 0.0


def topic_gram(state: Fields) -> np.ndarray:
    """B = E[A A'], (K, K)."""
    return state["outer"] + len(state["phi"]) * state["cov"]


def second_moment(state: Fields) -> np.ndarray:
    """M = E[Z'Z], (K, K), of all groups."""
    gram: np.ndarray = state["gram"].sum(axis=0)
    diagonal_of(gram)[:] = state["total"].sum(axis=0)
    return gram


def diagonal_of(matrix: np.ndarray) -> np.ndarray:
    """The diagonal of a contiguous (K, K) array, to write to; ``np.diag_indices`` take longer than all else of a few topics."""
    return matrix.reshape(-1)[:: len(matrix) + 1]


@cache
def _off_diagonal(k: int) -> np.ndarray:
    """(K, K) 1 but for 0 on the diagonal."""
    return 1 - np.eye(k)


def pulls_of(state: Fields, corpus: Corpus, params: Settings) -> tuple[np.ndarray, ...]:
    """base, cross, pull, cover_pull of :func:`documents.documents`."""
    groups, k = state["total"].shape
    covers = corpus.cover.shape[1]
    log_in, log_out = log_shares(params["prior"], state["share_a"], state["share_b"])
    gram = topic_gram(state) / variances_of(corpus, params)[0]
    rate = state["tau_shape"] / state["tau_rate"]
    coef = state["coef"]
    second = state["coef_cov"] + rate * np.outer(coef, coef)  # E[tau beta beta']
    if params["texteffect"]:
        second = printed_moment(state)
    odds = np.concatenate([np.zeros(n_fixed(state)), log_in - log_out])
    blocks = [slice(covers + g * k, covers + (g + 1) * k) for g in range(groups)]
    own = np.array([second[block, block] for block in blocks])
    base = odds - state["offset"] - gram.diagonal() / 2 - own.diagonal(axis1=1, axis2=2) / 2
    cross = (gram + own) * _off_diagonal(k)
    cover_pull = np.array([second[:covers, block] for block in blocks])
    return base, cross, rate * coef[covers:].reshape(groups, k), np.ascontiguousarray(cover_pull)


def read_documents(state: Fields, corpus: Corpus, params: Settings, lo: int, hi: int, update: bool) -> None:
    """q(z) of some documents (or only their sums)."""
    _read(state, corpus, params, lo, hi, update, {name: state[name] for name in SUMS})


def read_slice(state: Fields, corpus: Corpus, params: Settings, lo: int, hi: int) -> Parts:
    """q(z) of some documents, and what that changes in the sums, for :func:`add_slice`: slices may be read at once."""
    parts: Parts = {name: np.zeros_like(state[name]) for name in SUMS}
    _read(state, corpus, params, lo, hi, True, parts)
    return parts


def add_slice(state: Fields, parts: Parts) -> None:
    """Add to the sums what a slice of documents has changed in them; of the changes of nu the largest counts."""
    largest = max(state["tally"][1], parts["tally"][1])
    for name in SUMS:
        state[name] += parts[name]
    state["tally"][1] = largest


def _read(
    state: Fields, corpus: Corpus, params: Settings, lo: int, hi: int, update: bool, parts: Parts
) -> None:
    base, cross, pull, cover_pull = pulls_of(state, corpus, params)
    documents(
        lo, hi, update, n_fixed(state), corpus.indptr, corpus.indices, corpus.values, state["rows"], base, cross, pull, corpus.cover,
        cover_pull, corpus.group, corpus.y, state["nu"], parts["raw"], parts["gram"], parts["total"], parts["ny"],
        parts["cover_nu"], parts["spread"], parts["tally"],
    )  # fmt: skip


def outcome_moments(state: Fields, corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """E[w'w] (Q, Q) and E[w]'y (Q,), covariates first, then the topics of every group."""
    groups, k = state["total"].shape
    covers = corpus.cover.shape[1]
    size = covers + groups * k
    second, first = np.zeros((size, size)), np.zeros(size)
    second[:covers, :covers], first[:covers] = corpus.cover_moments
    for g in range(groups):
        block = slice(covers + g * k, covers + (g + 1) * k)
        own = state["gram"][g].copy()
        diagonal_of(own)[:] = state["total"][g]
        second[block, block] = own
        second[:covers, block] = state["cover_nu"][g]
        second[block, :covers] = state["cover_nu"][g].T
        first[block] = state["ny"][g]
    return second, first


def prior_precision(state: Fields, corpus: Corpus) -> np.ndarray:
    """Lambda, its diagonal (Q,)."""
    return np.concatenate([corpus.precision, np.ones(state["total"].size)])


def square_of_rest(state: Fields, corpus: Corpus) -> float:
    """E|y - w m|^2 over q(z) at the means m of the coefficients; a sum of squares, without cancellation."""
    groups, k = state["total"].shape
    covers = corpus.cover.shape[1]
    coef = state["coef"][covers:].reshape(groups, k)
    square = kernels.residual_square(
        corpus.y, corpus.cover, state["nu"], corpus.group, state["coef"][:covers], coef
    )
    return float(square) + float((coef**2 * state["spread"]).sum())
