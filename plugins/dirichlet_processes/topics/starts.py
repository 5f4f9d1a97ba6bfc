"""The state of a chain before its first sweep."""

from __future__ import annotations

import math

import numpy as np

from plaidwork.core.api import chain_of
from plaidwork.plugins.dirichlet_processes.topics.corpus import AT_ONCE, Corpus
from plaidwork.plugins.dirichlet_processes.topics.kernels.corpus import renumber
from plaidwork.plugins.dirichlet_processes.topics.settings import TopicSettings
from plaidwork.plugins.dirichlet_processes.topics.state import TopicState, new_state

VARIED = (0.5, 1.0, 1.0, 1.5)
FEWEST, MOST = 4, 100
REST = 0.05


def start_topics(tokens: int, params: TopicSettings, chain: int) -> int:
    """How many topics a chain begins with: about a ninth of the root of the number of tokens, another number in some chains.

    A topic is seldom founded by a single token, so a chain with too few topics stays there for long; one with too many loses them.
    """
    if params["start_topics"]:
        return min(params["start_topics"], tokens)
    usual = min(max(math.sqrt(tokens) / 9.0, FEWEST), MOST)
    return min(max(2, round(usual * VARIED[chain % len(VARIED)])), tokens)


def first_state(corpus: Corpus, params: TopicSettings, rng: np.random.Generator) -> TopicState:
    """Every token in a topic by chance."""
    tokens = len(corpus.words)
    topics = start_topics(tokens, params, chain_of(rng))
    topic, size = np.empty(tokens, np.uint16), np.zeros(topics, np.int64)
    for lo in range(0, tokens, AT_ONCE):  # the numbers of one call, which would be eight bytes each
        some = rng.integers(0, topics, min(AT_ONCE, tokens - lo))
        topic[lo : lo + AT_ONCE] = some
        size += np.bincount(some, minlength=topics)
    if not size.all():
        renumber(topic, (np.cumsum(size > 0) - 1).astype(np.uint16))
        size = size[size > 0]
    law = [params["alpha"], params["gamma"], params["eta"]]
    if params["learn"]:
        law = [params[f"{name}_shape"] / params[f"{name}_rate"] for name in ("alpha", "gamma", "eta")]  # type: ignore[literal-required]
    beta = size / size.sum() * (1.0 - REST)
    return new_state(corpus, topic, beta, (law[0], law[1], law[2], REST))
