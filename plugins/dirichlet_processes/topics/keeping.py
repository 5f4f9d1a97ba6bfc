"""What is kept of a draw: numbers of every one, words and documents of the topics of some, so that long runs stay small."""

from __future__ import annotations

from typing import Any

import numpy as np

from plaidwork.plugins.dirichlet_processes.topics.corpus import Corpus
from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import REST
from plaidwork.plugins.dirichlet_processes.topics.kernels.corpus import count_documents
from plaidwork.plugins.dirichlet_processes.topics.state import TopicState, used_topics

ROOM = 20_000
"""Numbers of words and documents by topic that are kept per draw on average; of a larger corpus every so manieth draw has them."""


def kept_topics(state: TopicState, corpus: Corpus) -> dict[str, Any]:
    """Tokens by topic and word, and by topic and document, of this draw, or of no topic where it is not its turn."""
    used, docs = used_topics(state), len(corpus.starts) - 1
    every = 1 + used * (corpus.n_words + docs) // ROOM
    turn = state["kept"] % every == 0
    state["kept"] += 1
    if not turn:
        used = 0
    by_document = np.zeros((used, docs), np.min_scalar_type(int(corpus.lengths.max(initial=0))))
    if used:
        count_documents(corpus.starts, state["topic"], by_document)
    return {
        "topic_words": state["counts"][:, :used].T.astype(np.int64),
        "topic_documents": by_document,
        "weight": state["beta"][:used].copy(),
        "rest": float(state["law"][REST]),
    }
