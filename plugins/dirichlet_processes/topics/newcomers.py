"""Documents that were not fitted: the topics of each."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Kept, ModelData, ModelError, Result, Results, Table, counted, format_count
from plaidwork.plugins.dirichlet_processes.clusterings import spread_evenly
from plaidwork.plugins.dirichlet_processes.topics.corpus import Words, counts_of, entries_of
from plaidwork.plugins.dirichlet_processes.topics.kernels.held_out import complete
from plaidwork.plugins.dirichlet_processes.topics.matching import Draw, Matched, match_draws
from plaidwork.plugins.dirichlet_processes.topics.results import NAMED, telling_words
from plaidwork.plugins.dirichlet_processes.topics.state import Floats, Ints

MOST_DRAWS, ROUNDS = 20, 30


def document_shares(draw: Draw, words: Words, weights: Floats, starts: Ints) -> Floats:
    """(D, K + 1) expected shares of the topics of a draw in documents, and of a topic that it has not, by 30 rounds of CVB0."""
    v = draw.words.shape[1]
    phi = np.ascontiguousarray(np.vstack([draw.phi, np.full((1, v), 1.0 / v)]).T)
    prior = np.maximum(draw.alpha * np.append(draw.weight, draw.rest), 1e-12)
    shares = np.zeros((len(starts) - 1, len(prior)))
    complete(words, weights, starts, phi, prior, ROUNDS, shares)
    return shares


def shares_by_draws(matched: Matched, words: Words, weights: Floats, starts: Ints) -> Floats:
    """(D, K + 1) shares of the topics shown and of all others, averaged over draws."""
    used = spread_evenly(len(matched.draws), MOST_DRAWS)
    total = np.zeros((len(starts) - 1, len(matched.shown.weight) + 1))
    for s in used:
        found, place = document_shares(matched.draws[s], words, weights, starts), matched.places[s]
        live = np.flatnonzero(place >= 0)
        total[:, live] += found[:, place[live]]
        total[:, -1] += np.delete(found, place[live], axis=1).sum(axis=1)
    return total / len(used)


def predict_documents(kept: Kept, data: ModelData, new_data: ModelData) -> Results:
    """The topics of new documents; words that the fit does not know are left out by the host."""
    matched = match_draws(kept)
    if matched is None:
        raise ModelError("No draw with its topics has been kept yet.", "Let the fit go on.")
    counts = counts_of(new_data["X"])
    if any((counts.data[some] < 0).any() for some in entries_of(counts)):
        raise ModelError("The new documents have negative counts.", "Give how often each word comes.")
    starts, words = counts.indptr.astype(np.int64), counts.indices.astype(np.int32, copy=False)
    shares = shares_by_draws(matched, words, counts.data, starts)
    vocabulary = np.array(data["X"].names[1], object)
    topics = [
        f"{k + 1} {', '.join(vocabulary[row[:NAMED]])}"
        for k, row in enumerate(telling_words(matched.shown.phi))
    ]
    names = np.array([*topics, "Others"], object)
    best = shares.argmax(axis=1)
    known = np.asarray(counts.sum(axis=1)).ravel().astype(np.int64)
    m = len(shares)
    table = {
        "Document": np.array(new_data["X"].names[0], object),
        "Topic": names[best],
        "Share": shares[np.arange(m), best],
        "Known words": known,
    }
    told = f", {format_count(int((known == 0).sum()))} without a known word" if (known == 0).any() else ""
    return {
        "headline": f"{counted(m, 'new document')}{told}",
        "caption": "The largest topic of each new document, and the shares of all topics, averaged over draws. Words that the fit does not know "
        "count for nothing.",
        "assignments": Table(table, units={"Share": "share"}, label="topics of new documents"),
        "shares": Result(shares, ("document", "shown_topic"), label="share of each topic"),
        "shown_topic": Result(names, ("shown_topic",)),
    }
