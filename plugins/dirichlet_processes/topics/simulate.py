"""Draws from the prior: concentrations, topics of tokens, words; and words given the topics.

A document has one token more than there are words: the model takes lengths as given. Tokens of a document come in the order of the words,
so the topics of a state say something of the words before these are drawn: ``draw_words`` weighs every way to fill all documents.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from plaidwork.core.api import Block, ModelData, ModelError
from plaidwork.plugins.dirichlet_processes.topics.corpus import Ints, read
from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import ETA
from plaidwork.plugins.dirichlet_processes.topics.settings import TopicSettings
from plaidwork.plugins.dirichlet_processes.topics.state import Floats, TopicState, new_state
from plaidwork.plugins.dirichlet_processes.topics.sweep import refreshed

MOST_WAYS = 60_000
Law = tuple[float, float, float]


def as_data(counts: NDArray[Any]) -> ModelData:
    """The counts (D, V) as a model gets them."""
    values = np.asarray(counts, float)
    known = np.ones(values.shape, bool)
    for array in (values, known):
        array.flags.writeable = False
    d, v = values.shape
    names = tuple(f"d{i + 1}" for i in range(d)), tuple(f"w{j + 1}" for j in range(v))
    return ModelData({"X": Block("X", values, known, None, names)})


def draw_law(params: TopicSettings, rng: np.random.Generator) -> Law:
    """Alpha, gamma and eta."""
    if not params["learn"]:
        return params["alpha"], params["gamma"], params["eta"]
    found = [
        max(float(rng.gamma(params[f"{name}_shape"]) / params[f"{name}_rate"]), 1e-12)  # type: ignore[literal-required]
        for name in ("alpha", "gamma", "eta")
    ]
    return found[0], found[1], found[2]


def draw_topics(
    rng: np.random.Generator, lengths: Ints, alpha: float, gamma: float
) -> tuple[Ints, Floats, float]:
    """Topics of all tokens (T,), weights (K,) of those in use, and the rest; a document's shares integrated out."""
    beta: list[float] = []
    rest, topics = 1.0, []
    for n in lengths:
        own = np.zeros(len(beta))
        for _ in range(n):
            running = np.cumsum(np.append(own + alpha * np.array(beta), alpha * rest))
            k = min(int(np.searchsorted(running, rng.random() * running[-1], side="right")), len(beta))
            if k == len(beta):
                kept = math.exp(math.log(max(rng.random(), 1e-300)) / gamma)
                beta.append(rest * (1.0 - kept))
                rest *= kept
                own = np.append(own, 0.0)
            own[k] += 1.0
            topics.append(k)
    return np.array(topics, np.int64), np.maximum(np.array(beta), 1e-300), max(rest, 1e-300)


def draw_all(
    params: TopicSettings, shape: tuple[int, int], rng: np.random.Generator
) -> tuple[Floats, TopicState]:
    """Counts (D, V) and the state they are from."""
    d, v = shape
    alpha, gamma, eta = draw_law(params, rng)
    lengths = np.full(d, v + 1)
    topics, beta, rest = draw_topics(rng, lengths, alpha, gamma)
    seen = np.zeros((len(beta), v))
    words = np.empty(len(topics), np.int64)
    for t, k in enumerate(topics):
        running = np.cumsum(seen[k] + eta)
        words[t] = min(int(np.searchsorted(running, rng.random() * running[-1], side="right")), v - 1)
        seen[k, words[t]] += 1.0
    docs = np.repeat(np.arange(d), lengths)
    counts = np.zeros(shape)
    np.add.at(counts, (docs, words), 1.0)
    order = np.lexsort((words, docs))
    corpus = read(as_data(counts), {**params, "left_out": 0.0})
    state = new_state(corpus, topics[order], beta, (alpha, gamma, eta, rest))
    return counts, refreshed(state, corpus)


@lru_cache(maxsize=4)
def ways(shape: tuple[int, int]) -> tuple[Ints, Ints, Floats]:
    """All ways to fill the documents: words of all tokens (W, T), counts (W, D, V), log number of orders (W,)."""
    d, v = shape
    one = np.array(list(itertools.combinations_with_replacement(range(v), v + 1)))
    if len(one) ** d > MOST_WAYS:
        raise ModelError("So many documents cannot be drawn anew.", "Take fewer documents or words.")
    counts = np.array([np.bincount(words, minlength=v) for words in one])
    chosen = np.array(list(itertools.product(range(len(one)), repeat=d)))
    orders = (math.lgamma(v + 2.0) - gammaln(counts + 1.0).sum(axis=1))[chosen].sum(axis=1)
    return one[chosen].reshape(len(chosen), -1), counts[chosen], orders


def draw_words(state: TopicState, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Counts (D, V) given the topics of the tokens in their order; the words of the topics integrated out.

    A sequence of words and topics is as probable as any other order of its tokens, so that counts and sorted topics have the
    probability of one sequence times the number of orders that the words have.
    """
    words, counts, orders = ways(shape)
    topics, eta, v = state["topic"], float(state["law"][ETA]), shape[1]
    weight = orders.copy()
    steps = gammaln(eta + np.arange(len(topics) + 1)) - math.lgamma(eta)
    for k in np.unique(topics):
        own = words[:, topics == k]
        for w in range(v):
            weight += steps[(own == w).sum(axis=1)]
    running = np.cumsum(np.exp(weight - weight.max()))
    found = min(int(np.searchsorted(running, rng.random() * running[-1], side="right")), len(running) - 1)
    return counts[found].astype(float)
