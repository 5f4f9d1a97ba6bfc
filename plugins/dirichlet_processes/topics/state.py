"""What a chain keeps, by name."""

from __future__ import annotations

import math
from typing import TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from plaidwork.core.api import ModelError
from plaidwork.plugins.dirichlet_processes.topics.corpus import Corpus
from plaidwork.plugins.dirichlet_processes.topics.kernels import collapsed
from plaidwork.plugins.dirichlet_processes.topics.kernels import corpus as passes
from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import BLOCK

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Topics = NDArray[np.uint16]
"""Of every token, so that a million documents take little; fewer than 65,536 slots."""
MOST_SLOTS = 2**16
FREE = 16
"""Slots that are free at the start at least."""


class HeldOut(TypedDict):
    """The tokens that were left out."""

    total: Floats
    """(H,) sum of their probabilities since the warm-up"""
    draws: int


class TopicState(TypedDict):
    """All that the next sweep depends on."""

    topic: Topics
    """(T,) slot of each token"""
    counts: Singles
    """(V, slots) tokens of each word in each topic"""
    totals: Floats
    """(slots,) tokens of each topic"""
    beta: Floats
    """(slots,) weight of each topic in the corpus"""
    law: Floats
    """(4,) see ``kernels/collapsed.py``"""
    at: Ints
    """(5,) see ``kernels/collapsed.py``"""
    tables: Ints
    """(slots,)"""
    phi: Singles
    """(V, slots) words of the topics in a quick sweep, else empty"""
    running: Singles
    """(V, slots) as ``sparse.weigh_words`` says, else empty"""
    sums: Floats
    """(slots,)"""
    log_places: float
    """Log probability of the topics of all tokens"""
    log_words: float
    """Log probability of all words"""
    held_out: HeldOut
    kept: int
    """Sweeps since words of topics were last kept"""


def slots_for(used: int) -> int:
    """Slots for so many topics and some more."""
    return BLOCK * math.ceil((used + FREE) / BLOCK)


def new_state(
    corpus: Corpus, topic: np.ndarray, beta: np.ndarray, law: tuple[float, float, float, float]
) -> TopicState:
    """The state with these topics of the tokens (T,), all of ``beta`` (K,) in use."""
    slots, used = slots_for(len(beta)), len(beta)
    at = np.zeros(5, np.int64)
    at[collapsed.HIGH] = used
    state: TopicState = {
        "topic": topic.astype(np.uint16),
        "counts": np.zeros((corpus.n_words, slots), np.float32),
        "totals": np.zeros(slots),
        "beta": np.concatenate([beta, np.zeros(slots - used)]),
        "law": np.array(law, float),
        "at": at,
        "tables": np.zeros(slots, np.int64),
        "phi": np.zeros((0, 0), np.float32),
        "running": np.zeros((0, 0), np.float32),
        "sums": np.zeros(0),
        "log_places": 0.0,
        "log_words": 0.0,
        "held_out": {"total": np.zeros(len(corpus.out_docs)), "draws": 0},
        "kept": 0,
    }
    count_again(state, corpus)
    return state


def count_again(state: TopicState, corpus: Corpus) -> None:
    """The counts of the topics of all tokens."""
    passes.count_topics(corpus.words, state["topic"], state["counts"], state["totals"])


def grow(state: TopicState) -> None:
    """Half as many slots again, the new ones empty."""
    old = len(state["totals"])
    more = slots_for(old + old // 2) - old
    if old + more > MOST_SLOTS:
        raise ModelError(
            f"There are more topics than {old}, and no more than {MOST_SLOTS} can be told apart.",
            "Fix the concentrations at smaller values.",
        )
    state["counts"] = np.concatenate(
        [state["counts"], np.zeros((len(state["counts"]), more), np.float32)], axis=1
    )
    for name in ("totals", "beta"):
        state[name] = np.concatenate([state[name], np.zeros(more)])


def in_blocks(state: TopicState) -> TopicState:
    """A state of before blocks had so many slots, with empty ones up to a whole block."""
    old = len(state["totals"])
    more = -old % BLOCK
    wider = {
        name: np.pad(state[name], ((0, 0),) * (state[name].ndim - 1) + ((0, more),))
        for name in ("counts", "totals", "beta", "tables", "phi", "running", "sums")
        if state[name].shape[-1] == old
    }
    return cast(TopicState, {**state, **wider})


def compact(state: TopicState) -> None:
    """Take out topics without a token, what they had of beta goes back to the rest; the others keep their order."""
    at, high = state["at"], int(state["at"][collapsed.HIGH])
    live = state["totals"][:high] > 0
    if live.all():
        return
    state["law"][collapsed.REST] += state["beta"][:high][~live].sum()
    order, used = np.flatnonzero(live), int(live.sum())
    place = np.zeros(high, np.uint16)
    place[order] = np.arange(used)
    passes.renumber(state["topic"], place)
    state["counts"][:, :used] = state["counts"][:, order]
    state["counts"][:, used:high] = 0.0
    for array in (state["totals"], state["beta"]):
        array[:used] = array[order]
        array[used:high] = 0.0
    at[collapsed.HIGH] = used


def used_topics(state: TopicState) -> int:
    """Topics there are at the end of a sweep."""
    return int(state["at"][collapsed.HIGH])
