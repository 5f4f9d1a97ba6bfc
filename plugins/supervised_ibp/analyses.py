"""Effects of topics on the outcome, from the documents that the fit has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from plaidwork.core.api import (
    Analysis,
    AnalysisData,
    ModelError,
    Params,
    Result,
    Results,
    Table,
    agree,
    counted,
)
from plaidwork.core.api_scores import benjamini_hochberg, holm
from plaidwork.plugins.supervised_ibp import heldout
from plaidwork.plugins.supervised_ibp.corpus import Corpus, corpus_of, prepared_rows
from plaidwork.plugins.supervised_ibp.effects import Estimates, p_values, regress
from plaidwork.plugins.supervised_ibp.effects_spec import EFFECTS, Wanted
from plaidwork.plugins.supervised_ibp.exclusivity import top_words
from plaidwork.plugins.supervised_ibp.results import correlation, listed, topic_labels
from plaidwork.plugins.supervised_ibp.state import Settings

ADJUSTED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda p: p,
    "holm": holm,
    "bh": benjamini_hochberg,
}
NAMED_WORDS = 3
"""Top words beside the name of a topic."""
LONGEST = 200
"""Test documents named of each topic."""


class Effects(Analysis):
    """AMCE of binary topics in the test half."""

    spec = EFFECTS

    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Any) -> Results:
        wanted = cast("Wanted", params)
        of_fit = cast("Settings", data.settings)
        corpus = corpus_of(data, of_fit)
        if not len(corpus.test):
            raise ModelError("The run has no test documents.", "Fit with a share of test documents above 0.")
        restart, topics = _topics(results, corpus, wanted)
        k = len(topics.share_a)
        if wanted["method"] == "exact" and k > heldout.MOST_EXACT:
            raise ModelError(f"{counted(k, 'topic')} have too many combinations.", "Choose “Approximate”.")
        words = prepared_rows(data, corpus, corpus.test, of_fit)
        nu, _evidence = heldout.infer(
            words, topics, corpus, of_fit, method=wanted["method"], starts=wanted["starts"],
            seed=wanted["seed"], report=lambda share: report(0.5 * share),
        )  # fmt: skip
        kind = _kind(data, wanted)
        found = regress(
            np.asarray(data["y"].values, float)[corpus.test],
            nu >= wanted["threshold"],
            group=np.asarray(data["group"].values)[corpus.test] if "group" in data else None,
            n_groups=corpus.n_groups,
            covariates=_covariates(data, corpus, wanted),
            least=wanted["least"],
            kind=kind,
            level=wanted["level"],
            cluster=_clusters(data, corpus, kind),
            resamples=wanted["resamples"],
            seed=wanted["seed"],
            report=lambda share: report(0.5 + 0.5 * share),
        )
        names = np.array(data["X"].names[0])[corpus.test]
        vocabulary = np.array(data["X"].names[1])[corpus.words]
        return _results(found, nu, topics, corpus, names, vocabulary, restart, kind, wanted, data)


def _topics(results: Mapping[str, Any], corpus: Corpus, wanted: Wanted) -> tuple[int, heldout.Topics]:
    """The restart used (from 1) and its topics."""
    numbers = [int(number) for number in results["restarts"].values]
    restart = wanted["restart"] or int(results["shown"].values)
    if restart not in numbers or len(results["weights"].values) < len(numbers):
        raise ModelError(f"There is no restart {restart}.", f"There are: {', '.join(map(str, numbers))}.")
    last: dict[str, np.ndarray] = {
        name: results[name].values[numbers.index(restart), -1]
        for name in ("weights", "cov", "share_a", "share_b")
    }
    phi = np.ascontiguousarray(last["weights"][:, corpus.words])
    return restart, heldout.Topics(phi, last["cov"], last["share_a"], last["share_b"])


def _kind(data: AnalysisData, wanted: Wanted) -> str:
    if wanted["errors"] == "auto":
        return "cluster" if "cluster" in data else "hc2"
    if wanted["errors"] == "cluster" and "cluster" not in data:
        raise ModelError("The fit has no clusters.", "Choose other standard errors, or fit with clusters.")
    return str(wanted["errors"])


def _clusters(data: AnalysisData, corpus: Corpus, kind: str) -> np.ndarray | None:
    return corpus.units[corpus.test] if "cluster" in data and kind in ("cluster", "bootstrap") else None


def _covariates(data: AnalysisData, corpus: Corpus, wanted: Wanted) -> np.ndarray | None:
    if not wanted["use_covariates"]:
        return None
    if "covariates" not in data:
        raise ModelError("The fit has no covariates.", "Turn “Adjust for the covariates” off.")
    return np.asarray(data["covariates"].values, float)[corpus.test]


def _labels(corpus: Corpus, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels of intercepts and effects, and the group of each."""
    groups = list(corpus.group_names)
    topics = [f"{label}{group and f' ({group})'}" for group in groups for label in topic_labels(k)]
    bases = [f"No topic{group and f' ({group})'}" for group in groups]
    return np.array(bases + topics), np.array(groups + [group for group in groups for _ in range(k)])


def _with_words(labels: np.ndarray, words: list[str]) -> np.ndarray:
    return np.array([f"{label}: {text}" for label, text in zip(labels, words, strict=True)])


def _most_probable(nu: np.ndarray, hard: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Document and topic of those that have one (``hard`` (N, K)), topic by topic, the most probable ``LONGEST`` of each first."""
    row, topic = np.nonzero(hard)
    order = np.lexsort((-nu[row, topic], topic))
    row, topic = row[order], topic[order]
    place = np.arange(len(topic)) - np.searchsorted(topic, topic)
    return row[place < LONGEST], topic[place < LONGEST]


def _results(
    found: Estimates, nu: np.ndarray, topics: heldout.Topics, corpus: Corpus, names: np.ndarray, vocabulary: np.ndarray,
    restart: int, kind: str, wanted: Wanted, data: AnalysisData,
) -> Results:  # fmt: skip
    k, groups = nu.shape[1], corpus.n_groups
    labels, group = _labels(corpus, k)
    best = [listed(vocabulary, index) for index in top_words(topics.phi[topics.n_fixed :], NAMED_WORDS)]
    own = slice(groups, None)
    titles = _with_words(labels[own], best * groups)
    p = p_values(found.value, found.error)
    p[own] = ADJUSTED[wanted["adjust"]](p[own])
    p[:groups] = np.nan
    note = [text and f"not estimable: {text}" for text in found.note]
    for g in np.flatnonzero(~np.isnan(found.value[:groups])):
        note[g] = f"{found.value[g] - corpus.y_mean:.6g} beside the mean of the training documents"
    columns = {
        "Topic": np.concatenate([labels[:groups], titles]), "Group": group, "Effect": found.value, "Standard error": found.error,
        "Low": found.interval[:, 0], "High": found.interval[:, 1], "p": p, "Test documents": found.count,
        "Note": np.array(note),
    }  # fmt: skip
    if groups == 1:
        columns.pop("Group")
    unit = data["y"].unit
    hard = nu >= wanted["threshold"]
    row, topic = _most_probable(nu, hard)
    return {
        **_texts(found, corpus, restart, kind, groups, wanted),
        "topic": Result(topic_labels(k), ("topic",)),
        "effect": Result(labels[own], ("effect",)),
        "effect_names": Result(np.tile(_with_words(topic_labels(k), best), groups), ("effect",)),
        "effect_group": Result(group[own], ("effect",)),
        "effect_reason": Result(found.note[own].astype(str), ("effect",)),
        "effect_count": Result(found.count[own], ("effect",), label="Test documents"),
        "effect_p": Result(p[own], ("effect",), label="p"),
        "effects": Result(found.value[own], ("effect",), unit=unit, label="Effect on the outcome"),
        "effect_interval": Result(found.interval[own], ("effect", "side"), unit=unit, label="Interval"),
        "baseline": Result(
            found.value[:groups], ("group_of_documents",), unit=unit, label="Mean outcome without topics"
        ),
        "effect_table": Table(columns, label="Effects of topics", units={"Effect": unit} if unit else {}),
        "test_assignments": Result(nu, ("test_document", "topic"), label="Probability"),
        "test_document": Result(names, ("test_document",)),
        "test_outcome": Result(
            np.asarray(data["y"].values, float)[corpus.test], ("test_document",), unit=unit, label="Outcome"
        ),
        "topic_weights": Result(topics.phi, ("topic", "kept_word"), label="Weight"),
        "kept_word": Result(vocabulary, ("kept_word",)),
        "documents_caption": "Test documents by the probability of the topic, worked out from their words alone.",
        "test_sizes": Table({"Topic": topic_labels(k), "Test documents": hard.sum(axis=0)}),
        "test_correlation": Result(
            correlation(hard.astype(float)), ("topic", "topic_2"), label="Correlation"
        ),
        "test_documents": Table(
            {"Topic": topic_labels(k)[topic], "Document": names[row], "Probability": nu[row, topic]},
            label="Test documents with the topic",
        ),
    }


def _texts(
    found: Estimates, corpus: Corpus, restart: int, kind: str, groups: int, wanted: Wanted
) -> dict[str, str]:
    value, interval = found.value[groups:], found.interval[groups:]
    known = ~np.isnan(value)
    clear = known & ((interval[:, 0] > 0) | (interval[:, 1] < 0))
    named = {"hc2": "HC2", "classical": "classical", "cluster": "by cluster", "bootstrap": "bootstrap"}[kind]
    level = f"{100 * wanted['level']:g} %"
    caption = f"{counted(len(corpus.test), 'test document')}, restart {restart}, {level} intervals ({named})."
    labels, _ = _labels(corpus, len(value) // groups)
    lost = labels[groups:][~known]
    if len(lost):
        caption += f" Not estimable: {', '.join(lost)} (see the table)."
    bases = [
        f"{text} {found.value[g]:.4g}"
        for g, text in enumerate(labels[:groups])
        if not np.isnan(found.value[g])
    ]
    if bases:
        caption += f" Mean outcome: {'; '.join(bases).replace('No topic', 'no topic')}."
    return {
        "headline": f"{int(clear.sum())} of {counted(int(known.sum()), 'effect')} {agree(clear.sum(), 'has', 'have')} an interval without 0",
        "caption": caption,
    }
