"""What a stored state of the topics may hold: slots that the tokens name, and counts of them."""

from __future__ import annotations

from typing import cast

import numpy as np

from plaidwork.core.api import Layout, Part
from plaidwork.core.api import State as Stored
from plaidwork.plugins.dirichlet_processes.stored import standing
from plaidwork.plugins.dirichlet_processes.topics.corpus import Corpus
from plaidwork.plugins.dirichlet_processes.topics.kernels.collapsed import BLOCK, HIGH
from plaidwork.plugins.dirichlet_processes.topics.state import TopicState

LAYOUT: Layout = {
    "topic": Part(low=0, below="S"),
    "counts": Part((None, "S"), low=0.0),
    "totals": Part(("S",), low=0.0),
    "beta": Part(("S",), low=0.0),
    "law": Part(low=0.0),
    "at": Part(low=0),
    "tables": Part(("T",), low=0),
    "phi": Part(("W", "F"), low=0.0),
    "running": Part(("W", "F"), low=0.0),
    "sums": Part(("F",), low=0.0),
    "held_out.draws": Part((), "int64", low=-1),
    "kept": Part((), "int64", low=0),
}
"""S slots; tables, and words of topics within a quick sweep, are of those there were when they were made."""
QUICK, TABLES, WEIGHTS = "words of topics", "tables", "weights and concentrations"


def contradiction_of(state: TopicState, corpus: Corpus) -> str:
    """What topics, counts and the place in the sweep say against each other, as a part of a sentence; empty when nothing."""
    slots, high = len(state["totals"]), int(state["at"][HIGH])
    if not slots or slots % BLOCK or not int(state["topic"].max(initial=0)) < high <= slots:
        return f"“at” says that slots below {high} of {slots} are in use"
    counts = np.zeros(state["counts"].size, np.float32)
    places = corpus.words.astype(np.int64) * slots + state["topic"]
    found = np.bincount(places, minlength=counts.size).astype(np.float32).reshape(state["counts"].shape)
    if not np.array_equal(found, state["counts"]):
        return "“counts” does not count the topics of the words"
    if not np.array_equal(np.bincount(state["topic"], minlength=slots), state["totals"]):
        return "“totals” does not count the topics"
    if (state["law"][:3] <= 0.0).any():
        return "“law” has a concentration that is not above 0"
    stage, at = standing(cast(Stored, state), "")
    quick = len(state["phi"]) > 0
    if quick and (state["phi"].shape != state["counts"].shape or len(state["sums"]) != slots):
        return "“phi” is of other words or topics"
    if stage == QUICK and at and not quick:
        return "“phi” is missing"
    if ((stage == TABLES and at) or stage == WEIGHTS) and len(state["tables"]) != slots:
        return "“tables” is of other topics"
    return ""
