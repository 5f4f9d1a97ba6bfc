"""What a fit says in words: headlines with their numbers, and captions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plaidwork.core.api import agree, counted, format_correlation, format_percent, format_rate
from plaidwork.core.api_scores import correlation_interval
from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.state import Settings, Transform

if TYPE_CHECKING:
    from plaidwork.plugins.supervised_ibp.crossfit import Expected
    from plaidwork.plugins.supervised_ibp.results import Fit


NONE_IN_RANGE = (
    "Attention: no restart has all its topics in 2 to 90 % of the training documents; this one has the highest bound of all. "
    "Try more restarts, fewer topics, or leave rare words out."
)
ADDED_TO: dict[Transform, str] = {
    "count": "the count of a word",
    "log1p": "the logarithm of 1 + the count of a word",
    "binary": "the presence of a word",
    "tfidf": "the tf-idf of a word",
}


def _reason(fit: Fit, fits: list[Fit], params: Settings) -> str:
    if params["show"] == "exclusivity":
        return "the most exclusive"
    if params["show"] == "bound-in-range" and fit.in_range:
        count = sum(one.in_range for one in fits)
        return f"the highest bound of the {count} with all topics in 2 to 90 % of the documents"
    return "the highest bound"


def caution(expected: Expected | None) -> str:
    """What to think of before the test half is opened; empty where nothing speaks against it."""
    if expected is None or not expected.few.any():
        return ""
    few = [f"topic {k + 1} ({expected.count[k]:.0f})" for k in np.flatnonzero(expected.few)]
    return (
        f"Of {counted(expected.n, 'test document')}, too few are expected with, or without, {', '.join(few)} for a clear effect. "
        "Other settings or another restart may give topics that split the documents better."
    )


def texts(corpus: Corpus, fit: Fit, fits: list[Fit], explained: float, params: Settings) -> dict[str, str]:
    """Headline of the fit and captions of its views."""
    n, used = len(corpus.y), int((fit.free.sum(axis=0) > 1).sum())
    headline = (
        f"{used} of {counted(fit.free.shape[1], 'topic')} in use, {format_percent(max(explained, 0.0), 1)} of the words' variance explained "
        f"in {counted(n, 'training document')}"
    )
    parts = [
        f"Training documents only; {counted(len(corpus.test), 'test document')} {agree(len(corpus.test), 'is', 'are')} kept for the effects."
    ]
    if len(fits) > 1:
        parts.append(f"Restart {fit.chain.chain + 1} of {len(fits)}, {_reason(fit, fits, params)}.")
    if params["show"] == "bound-in-range" and not fit.in_range:
        parts.append(NONE_IN_RANGE)
    if params["background"] and not fit.fixed:
        parts.append("Without a background topic, as the bound is higher so.")
    return {
        "headline": headline,
        "caption": " ".join(parts),
        "extra_caption": f"What a topic adds to {ADDED_TO[corpus.transform]} in a document. " + parts[0],
        "fit_caption": "The part of a word's variance in the training documents that the topics explain.",
        "least_caption": "Short documents, other languages, and themes that have no topic are found here.",
        "training_caption": "Not effects: these outcomes helped to find the topics in these same documents.",
        "documents_caption": "Training documents, the most probable first; among equals, those of which the topic explains most.",
        "restarts_caption": "A high bound can come from topics of a few odd documents, high exclusivity from topics that nearly all "
        "documents have; the sizes tell.",
    }


def findings(
    corpus: Corpus,
    fit: Fit,
    fits: list[Fit],
    words: np.ndarray,
    word_shares: np.ndarray,
    expected: np.ndarray,
) -> dict[str, str]:
    """Headlines of the views of sizes, words, residuals, documents and restarts.

    words, word_shares : (D,) words and the share of the variance explained of each. expected : (N,) fitted outcome.
    """
    n, k = fit.free.shape
    inside = (fit.free > 0.5).sum(axis=0)
    largest, least = int(inside.argmax()), int(inside.argmin())
    sizes = f"Topic {largest + 1} is in {inside[largest]} of {counted(n, 'training document')}"
    if k > 1:
        sizes += f", topic {least + 1} in {inside[least]}"
    best = int(word_shares.argmax())
    rest = corpus.y_mean + corpus.y_scale * corpus.y - expected
    explained = 1 - float((rest**2).sum()) / float(max((corpus.y_scale**2) * (corpus.y**2).sum(), 1e-300))
    none = int((fit.free.sum(axis=1) < 0.5).sum())
    return {
        "sizes_headline": sizes,
        "correlation_headline": _together(fit.free),
        "words_headline": f"“{words[best]}” is explained best: {format_percent(float(word_shares[best]))} of its variance"
        if word_shares[best] > 0
        else "The topics explain no word's variance",
        "outcome_headline": f"The fit explains {format_percent(explained) if explained > 0 else 'nothing'} of the outcome's "
        "variance in the training documents",
        "least_headline": f"{format_rate(none, n)} training documents have no topic",
        "restarts_headline": _restarts(fit, fits),
    }


def _together(nu: np.ndarray) -> str:
    """The two topics that go together most, or keep apart most, where that is more than chance."""
    k = nu.shape[1]
    live = nu.std(axis=0) > 1e-9
    if live.sum() < 2:
        return "One topic alone has no correlation"
    found = np.corrcoef(nu[:, live].T)
    np.fill_diagonal(found, 0.0)
    names = np.arange(1, k + 1)[live]
    a, b = sorted(np.unravel_index(np.abs(found).argmax(), found.shape))
    value = float(found[a, b])
    pairs = len(names) * (len(names) - 1) // 2
    _, low, high = correlation_interval(value, len(nu), level=1 - 0.05 / pairs)
    if not (low > 0 or high < 0):
        return f"No two topics clearly go together or keep apart: largest correlation {format_correlation(value)}"
    verb = "go together" if value > 0 else "keep apart"
    return f"Topic {names[a]} and topic {names[b]} {verb} most: correlation {format_correlation(value)}"


def _restarts(fit: Fit, fits: list[Fit]) -> str:
    if len(fits) == 1:
        return "One restart, with nothing beside it"
    bounds = np.array([one.bound for one in fits])
    place = int((bounds > fit.bound).sum()) + 1
    return f"Restart {fit.chain.chain + 1} of {len(fits)} is shown; by the bound it is number {place}"
