"""What a fit found: topics with words and documents, how sure they are, and how well words are told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import betaincinv

from plaidwork.core.api import (
    Kept,
    ModelData,
    Result,
    Results,
    Table,
    agree,
    counted,
    format_count,
    format_fixed,
    format_percent,
)
from plaidwork.core.api_draws import distribution
from plaidwork.plugins.dirichlet_processes.topics.corpus import Corpus, counts_of, frozen
from plaidwork.plugins.dirichlet_processes.topics.kernels.corpus import count_pairs
from plaidwork.plugins.dirichlet_processes.topics.matching import Matched, match_draws
from plaidwork.plugins.dirichlet_processes.topics.settings import TopicSettings
from plaidwork.plugins.dirichlet_processes.topics.starts import start_topics
from plaidwork.plugins.dirichlet_processes.topics.state import Floats, Ints

TOP, TOLD, NAMED = 25, 10, 2
"""Words of a topic that are shown, that are listed and judged by, and that it is named after."""
SHARED = 0.1
"""Share of a document's words from which a topic counts as one of its topics."""
DOCUMENTS = 3
AT_ONCE = 10_000
"""Documents whose shares are worked out together."""


def summarise_topics(kept: Kept, data: ModelData, corpus: Corpus, params: TopicSettings) -> Results:
    """All results, of the draw that is nearest to others, with intervals over the draws matched to it."""
    matched = match_draws(kept)
    if matched is None:
        return {"headline": "No draw yet", "caption": ""}
    counts = counts_of(data["X"])
    words, documents = (np.array(data["X"].names[axis], object) for axis in (1, 0))
    telling = telling_words(matched.shown.phi)
    names = np.array([f"{k + 1} {', '.join(words[row[:NAMED]])}" for k, row in enumerate(telling)], object)
    shown = np.unique(np.argsort(-matched.shown.phi, axis=1, kind="stable")[:, :TOP])
    shown = np.union1d(shown, telling[:, :TOLD])
    return {
        "topic": Result(names, ("topic",)),
        **_words(matched, shown, words),
        **_topics(matched, names, telling, words, counts),
        **_documents(matched, names, documents),
        **_likeness(matched, names),
        **_numbers(kept),
        **_fits(kept, corpus, params),
    }


def telling_words(phi: Floats) -> Ints:
    """(K, V) words by how much they tell of a topic: their share times the logarithm of how much more that is than over all topics."""
    mean = np.exp(np.log(phi).mean(axis=0))
    return np.argsort(-phi * np.log(phi / mean), axis=1, kind="stable")


def coherence(counts: csr_matrix, top: Ints) -> Floats:
    """(K,) mean normalised pointwise mutual information of all pairs of the top words (K, m), by documents they are in (Bouma 2009)."""
    wanted, place = np.unique(top, return_inverse=True)
    number = np.full(counts.shape[1], -1)
    number[wanted] = np.arange(len(wanted))
    both = np.zeros((len(wanted), len(wanted)))
    count_pairs(frozen(counts.indptr, np.int64), frozen(counts.indices, np.int32), number, both)
    both /= counts.shape[0]
    single = np.diag(both)
    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.log(both / np.outer(single, single)) / -np.log(both)
    score = np.where(both >= 1.0, 1.0, np.where(both > 0, score, -1.0))
    upper = np.triu_indices(top.shape[1], 1)
    if not len(upper[0]):
        return np.zeros(len(top))
    return np.array([score[np.ix_(row, row)][upper].mean() for row in place.reshape(top.shape)])


def _words(matched: Matched, shown: Ints, words: np.ndarray) -> dict[str, Any]:
    """Mean and interval of phi: moments over draws with those of the Dirichlet law within each, as a beta law."""
    phi, seen = matched.shown.phi[:, shown], np.zeros(len(matched.shown.weight))
    first, second = np.zeros_like(phi), np.zeros_like(phi)
    for draw, place in zip(matched.draws, matched.places, strict=True):
        live = np.flatnonzero(place >= 0)
        own = place[live]
        mean = draw.phi[np.ix_(own, shown)]
        size = draw.words[own].sum(axis=1) + draw.words.shape[1] * draw.eta
        first[live] += mean
        second[live] += mean * (1.0 - mean) / (size[:, None] + 1.0) + mean**2
        seen[live] += 1
    mean = np.where(seen[:, None] > 0, first / np.maximum(seen, 1)[:, None], phi)
    variance = np.maximum(second / np.maximum(seen, 1)[:, None] - mean**2, 1e-12 * mean)
    pseudo = np.maximum(mean * (1.0 - mean) / variance - 1.0, 1e-6)
    a, b = np.maximum(mean * pseudo, 1e-6), np.maximum((1.0 - mean) * pseudo, 1e-6)
    interval = np.stack([betaincinv(a, b, 0.05), betaincinv(a, b, 0.95)], axis=2)
    return {
        "shown_word": Result(words[shown], ("shown_word",)),
        "topic_shares": Result(mean, ("topic", "shown_word"), label="share of the topic's words"),
        "topic_interval": Result(interval, ("topic", "shown_word", "side"), label="90 % interval"),
        "caption": "Share of each word in a topic: mean and 90 % interval over the draws that have a topic like it.",
    }


def _topics(
    matched: Matched, names: np.ndarray, telling: Ints, words: np.ndarray, counts: csr_matrix
) -> dict[str, Any]:
    top = np.argsort(-matched.shown.phi, axis=1, kind="stable")[:, :TOLD]
    size = matched.shown.words.sum(axis=1)
    prevalence = size / size.sum()
    spread = np.repeat(prevalence[:, None], 2, axis=1)
    found: list[list[float]] = [[] for _ in names]
    for draw, place in zip(matched.draws, matched.places, strict=True):
        own = draw.words.sum(axis=1) / max(draw.words.sum(), 1)
        for k in np.flatnonzero(place >= 0):
            found[k].append(float(own[place[k]]))
    for topic, values in enumerate(found):
        if values:
            spread[topic] = np.quantile(values, [0.05, 0.95])
            prevalence[topic] = np.mean(values)
    main, sure = len(names), int((matched.presence >= 0.9).sum())
    table = {
        "Topic": names,
        "Words": np.array([", ".join(words[row[:TOLD]]) for row in telling], object),
        "Prevalence": prevalence,
        "Low": spread[:, 0],
        "High": spread[:, 1],
        "Presence": matched.presence,
        "Documents": sum((matched.shown.shares(*some) > SHARED).sum(axis=1) for some in _blocks(matched)),
        "Coherence": coherence(counts, top),
    }
    units = dict.fromkeys(("Prevalence", "Low", "High", "Presence"), "share")
    told = (
        f"{'each' if sure == main else format_count(sure) + ' of them'} found again in at least 9 of 10 draws"
    )
    return {
        "topics": Table(table, units=units, decimals={"Coherence": 2}, label="topics"),
        "presence": Result(matched.presence, ("topic",), label="share of the draws with a like"),
        "prevalence": Result(prevalence, ("topic",), label="share of all words"),
        "coherence": Result(table["Coherence"], ("topic",), label="coherence of the ten top words"),
        "headline": f"{counted(main, 'topic')} {agree(main, 'holds', 'hold')} 99 % of the words, {told}"
        if main > 1
        else "One topic holds 99 % of the words",
        "topics_caption": "Prevalence is the share of all words, with a 90 % interval; presence the share of the draws with a topic like it (Hellinger "
        "distance below 0.5); documents those with more than a tenth of their words from it; coherence is 1 where the ten top words "
        "are always in the same documents, 0 where they meet by chance. Words are those that tell most of the topic.",
    }


def _blocks(matched: Matched) -> Iterator[tuple[int, int]]:
    """First document, and the one after the last, of some at a time."""
    documents = matched.shown.documents.shape[1]
    return ((lo, min(lo + AT_ONCE, documents)) for lo in range(0, documents, AT_ONCE))


def _mean_shares(matched: Matched, lo: int, hi: int) -> Floats:
    """(K, hi - lo) shares of the topics in some documents, averaged over the draws that have a topic like it."""
    own = matched.shown.shares(lo, hi)
    total, seen = np.zeros_like(own), np.zeros(len(own))
    for draw, place in zip(matched.draws, matched.places, strict=True):
        live = place >= 0
        total[live] += draw.shares(lo, hi)[place[live]]
        seen += live
    found: Floats = np.where(seen[:, None] > 0, total / np.maximum(seen, 1.0)[:, None], own)
    return found


def _documents(matched: Matched, names: np.ndarray, documents: np.ndarray) -> dict[str, Any]:
    shares = np.empty((len(documents), len(names)), np.float32)
    place, most, shared = np.zeros((len(names), 0), np.int64), np.zeros((len(names), 0)), 0
    for lo, hi in _blocks(matched):
        here = _mean_shares(matched, lo, hi)
        shares[lo:hi] = here.T
        shared += int((here > SHARED).sum())
        place = np.hstack([place, np.broadcast_to(np.arange(lo, hi), here.shape)])
        most = np.hstack([most, here])
        best = np.argsort(-most, axis=1, kind="stable")[:, :DOCUMENTS]
        place, most = np.take_along_axis(place, best, axis=1), np.take_along_axis(most, best, axis=1)
    table = {
        "Topic": np.repeat(names, place.shape[1]),
        "Document": documents[place].ravel(),
        "Share": most.ravel(),
    }
    per = shared / len(documents)
    return {
        "document_names": Result(documents, ("document",)),
        "document_shares": Result(shares, ("document", "topic"), label="share of the document"),
        "representative": Table(table, units={"Share": "share"}, label="documents that say most of each topic"),
        "mixed_headline": f"A document has {format_fixed(per, 1)} topics on average",
        "documents_caption": "Expected share of each topic in a document, over the draws that have a topic like it. A topic with "
        "more than a tenth of a document's words is counted.",
    }  # fmt: skip


def _likeness(matched: Matched, names: np.ndarray) -> dict[str, Any]:
    unit = matched.shown.phi / np.linalg.norm(matched.shown.phi, axis=1, keepdims=True)
    cosine = np.clip(unit @ unit.T, 0.0, 1.0)
    np.fill_diagonal(cosine, 1.0)
    told = "One topic: nothing to compare"
    if len(names) > 1:
        i, j = np.unravel_index(int((cosine - 2.0 * np.eye(len(names))).argmax()), cosine.shape)
        told = f"Most alike: {names[i]} and {names[j]} ({format_fixed(float(cosine[i, j]), 2)})"
    return {
        "likeness": Result(cosine, ("topic", "topic_2"), label="cosine of the words"),
        "likeness_headline": told,
        "likeness_caption": "Cosine of the words of two topics: 1 where they have the same words in the same shares, 0 where they "
        "share none.",
    }


def _numbers(kept: Kept) -> dict[str, Any]:
    chains = [chain for chain in kept.chains if chain.n_draws]
    main = np.concatenate([chain.stack("main_topics") for chain in chains]).astype(np.int64)
    support, probability = distribution(main)
    least = min(chain.n_draws for chain in chains)
    values = np.stack(
        [
            np.stack([chain.stack(name)[:least] for name in ("alpha", "gamma", "eta")], axis=1)
            for chain in chains
        ]
    )
    most = int(probability.argmax())
    return {
        "number": Result(support, ("number",)),
        "number_probability": Result(probability, ("number",), label="probability"),
        "number_headline": f"{counted(int(support[most]), 'main topic')} with probability {format_percent(float(probability[most]))}",
        "number_caption": "Topics that hold 99 % of the words, over the draws of all chains. Where chains stay apart this is where "
        "they began, and no finding.",
        "concentrations": Result(values, ("chain", "draw", "concentration"), label="concentrations"),
        "concentration": Result(np.array(["Alpha", "Gamma", "Eta"], object), ("concentration",)),
    }


def _fits(kept: Kept, corpus: Corpus, params: TopicSettings) -> dict[str, Any]:
    """Each chain with where it began, its topics and its perplexity."""
    chains = [chain for chain in kept.chains if chain.n_draws]
    last = np.array([chain.kept_trace("perplexity")[-1] for chain in chains])
    table = {
        "Chain": np.array([chain.chain + 1 for chain in chains]),
        "Topics at the start": np.array(
            [start_topics(len(corpus.words), params, chain.chain) for chain in chains]
        ),
        "Main topics": np.array([float(np.median(chain.stack("main_topics"))) for chain in chains]),
        "Log joint density": np.array([float(chain.stack("log_joint").mean()) for chain in chains]),
        "Perplexity": last,
    }
    if not len(corpus.out_words):
        told = "No word was left out"
    else:
        told = f"Perplexity {format_fixed(float(last.mean()), 1)} over {counted(len(corpus.out_words), 'word')} left out"
    caption = (
        "Perplexity: as uncertain as a choice among so many words. It is that of words that the fit has not seen, given the "
        "other words of their documents, probabilities averaged over draws. Lower is better."
    )
    return {
        "fits": Table(table, label="chains"),
        "perplexity_headline": told,
        "perplexity_caption": caption,
        **({"held_out_perplexity": Result(np.array(last.mean()), label="Perplexity")} if len(corpus.out_words) else {}),
    }  # fmt: skip
