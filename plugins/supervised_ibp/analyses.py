"""Effects of topics on the outcome, from the documents that the fit has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from plaidwork.core.api import (
    Analysis,
    AnalysisData,
    AnalysisSpec,
    Choice,
    Hyperparameter,
    ModelError,
    Params,
    Result,
    Results,
    Table,
    View,
)
from plaidwork.core.api_scores import benjamini_hochberg, holm
from plaidwork.plugins.supervised_ibp import heldout
from plaidwork.plugins.supervised_ibp.corpus import Corpus, corpus_of, prepared_rows
from plaidwork.plugins.supervised_ibp.effects import Estimates, p_values, regress
from plaidwork.plugins.supervised_ibp.exclusivity import top_words
from plaidwork.plugins.supervised_ibp.results import correlation, listed, topic_labels

NEEDS = {
    "shown": "restart_shown",
    "restarts": "restart_numbers",
    "weights": "draws:weights",
    "cov": "draws:weight_cov",
    "share_a": "draws:share_a",
    "share_b": "draws:share_b",
}
ADJUSTED: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda p: p,
    "holm": holm,
    "bh": benjamini_hochberg,
}
NAMED_WORDS = 3
"""Top words beside the name of a topic."""
LONGEST = 200
"""Test documents named of each topic."""

SETTINGS = (
    Hyperparameter(
        "restart",
        "int",
        0,
        label="Restart",
        minimum=0,
        maximum=10_000,
        doc="Whose topics are used; 0 takes the one shown.",
    ),
    Hyperparameter(
        "errors",
        "choice",
        "auto",
        label="Standard errors",
        choices=(
            Choice(value="auto", label="Robust", doc="HC2, or by cluster when clusters were given."),
            Choice(value="hc2", label="HC2", doc="Holds when the spread differs between documents."),
            Choice(value="cluster", label="By cluster", doc="Holds when documents of a cluster are alike."),
            Choice(value="classical", label="Classical", doc="As the R package texteffect."),
            Choice(
                value="bootstrap", label="Bootstrap", doc="Quantiles over documents or clusters drawn anew."
            ),
        ),
        doc="How uncertain the effects are.",
    ),
    Hyperparameter(
        "level",
        "float",
        0.95,
        label="Interval",
        minimum=0.5,
        maximum=0.999,
        doc="Probability with which an interval covers the effect.",
    ),
    Hyperparameter(
        "adjust",
        "choice",
        "none",
        label="Adjust p for many topics",
        choices=(
            Choice(value="none", label="No"),
            Choice(value="holm", label="Holm", doc="Chance of any false finding."),
            Choice(value="bh", label="Benjamini-Hochberg", doc="Share of false findings."),
        ),
        doc="For the number of effects estimated.",
    ),
    Hyperparameter(
        "use_covariates",
        "bool",
        False,
        label="Adjust for the covariates",
        doc="The covariates of the fit enter the regression, centred.",
    ),
    Hyperparameter(
        "least",
        "int",
        5,
        label="Least documents",
        minimum=1,
        maximum=10**6,
        doc="Topics in fewer test documents, or lacking in fewer, have no estimate.",
        advanced=True,
    ),
    Hyperparameter(
        "threshold",
        "float",
        0.5,
        label="Topic from",
        minimum=0,
        open_minimum=True,
        maximum=1,
        doc="A test document has a topic when its probability is at least this.",
        advanced=True,
    ),
    Hyperparameter(
        "method",
        "choice",
        "auto",
        label="Topics of test documents",
        choices=(
            Choice(value="auto", label="Exact up to 12 topics"),
            Choice(value="exact", label="Exact", doc="All combinations of topics; up to 20 topics."),
            Choice(value="mean-field", label="Approximate", doc="Best of several starts."),
            Choice(
                value="texteffect",
                label="As the R package texteffect",
                doc="From its one random start; other starts often give other topics.",
            ),
        ),
        doc="From the words alone, never the outcome.",
        advanced=True,
    ),
    Hyperparameter(
        "starts",
        "int",
        8,
        label="Random starts",
        minimum=0,
        maximum=100,
        doc="Of the approximation, besides one from the prior.",
        advanced=True,
    ),
    Hyperparameter(
        "resamples",
        "int",
        2000,
        label="Bootstrap samples",
        minimum=100,
        maximum=100_000,
        when={"errors": "bootstrap"},
        advanced=True,
    ),
    Hyperparameter("seed", "int", 1, label="Seed", minimum=0, maximum=2**31 - 1, advanced=True),
)

EFFECTS = AnalysisSpec(
    id="supervised_ibp.effects",
    version="0.1.0",
    title="Effects of topics",
    summary="How the outcome of test documents differs with each topic.",
    needs=NEEDS,
    hyperparameters=SETTINGS,
    views=(
        View(
            "effects",
            "Effects",
            {
                "values": "effects",
                "interval": "effect_interval",
                "names": "effect_names",
                "group": "effect_group",
                "reason": "effect_reason",
                "count": "effect_count",
                "p": "effect_p",
            },
            headline="headline",
            caption="caption",
            options={"dim": "topic", "count_label": "documents", "layer": True},
        ),
        View("table", "Table", {"values": "effect_table"}, headline="headline", caption="caption"),
        View(
            "bars",
            "Sizes",
            {"values": "test_sizes"},
            options={"x_label": "Topic", "y_label": "Test documents"},
        ),
        View(
            "heatmap",
            "Correlation of topics",
            {"values": "test_correlation", "row_names": "topic", "column_names": "topic"},
            options={"scale": "diverging", "minimum": -1, "maximum": 1},
        ),
        View(
            "documents",
            "Test documents",
            {
                "scores": "test_assignments",
                "words": "topic_weights",
                "names": "kept_word",
                "documents": "test_document",
                "outcome": "test_outcome",
            },
            caption="documents_caption",
            options={"dim": "document"},
        ),
        View("table", "List of them", {"values": "test_documents"}),
    ),
    unlocks="test half",
    models=("supervised_ibp",),
    help=(
        "The topics of every test document are worked out from its words alone, with what was learned from the training "
        "documents. A document has a topic when its probability is at least one half (or as set). The outcome is then regressed on "
        "the topics by least squares: an effect is the average marginal component effect, the change of the mean "
        "outcome with one topic added, the others as they are. Topics in too few test documents, and those that other "
        "topics determine, are named as not estimable."
    ),
    citation="Fong, C., & Grimmer, J. (2016). Discovery of treatments from text corpora. ACL 2016.",
)


class Effects(Analysis):
    """AMCE of binary topics in the test half."""

    spec = EFFECTS

    def run(self, results: Mapping[str, Any], data: AnalysisData, params: Params, report: Any) -> Results:
        corpus = corpus_of(data, data.settings)
        if not len(corpus.test):
            raise ModelError("The run has no test documents.", "Fit with a share of test documents above 0.")
        restart, topics = _topics(results, corpus, params)
        k = len(topics.share_a)
        if params["method"] == "exact" and k > heldout.MOST_EXACT:
            raise ModelError(f"{k} topics have too many combinations.", "Choose “Approximate”.")
        words = prepared_rows(data, corpus, corpus.test, data.settings)
        nu, _evidence = heldout.infer(
            words, topics, corpus, data.settings, method=params["method"], starts=params["starts"],
            seed=params["seed"], report=lambda share: report(0.5 * share),
        )  # fmt: skip
        kind = _kind(data, params)
        found = regress(
            np.asarray(data["y"].values, float)[corpus.test],
            nu >= params["threshold"],
            group=np.asarray(data["group"].values)[corpus.test] if "group" in data else None,
            n_groups=corpus.n_groups,
            covariates=_covariates(data, corpus, params),
            least=params["least"],
            kind=kind,
            level=params["level"],
            cluster=_clusters(data, corpus, kind),
            resamples=params["resamples"],
            seed=params["seed"],
            report=lambda share: report(0.5 + 0.5 * share),
        )
        names = np.array(data["X"].names[0])[corpus.test]
        vocabulary = np.array(data["X"].names[1])[corpus.words]
        return _results(found, nu, topics, corpus, names, vocabulary, restart, kind, params, data)


def _topics(results: Mapping[str, Any], corpus: Corpus, params: Params) -> tuple[int, heldout.Topics]:
    """The restart used (from 1) and its topics."""
    numbers = [int(number) for number in results["restarts"].values]
    wanted = params["restart"] or int(results["shown"].values)
    if wanted not in numbers or len(results["weights"].values) < len(numbers):
        raise ModelError(f"There is no restart {wanted}.", f"There are: {', '.join(map(str, numbers))}.")
    last: dict[str, np.ndarray] = {
        name: results[name].values[numbers.index(wanted), -1]
        for name in ("weights", "cov", "share_a", "share_b")
    }
    phi = np.ascontiguousarray(last["weights"][:, corpus.words])
    return wanted, heldout.Topics(phi, last["cov"], last["share_a"], last["share_b"])


def _kind(data: AnalysisData, params: Params) -> str:
    if params["errors"] == "auto":
        return "cluster" if "cluster" in data else "hc2"
    if params["errors"] == "cluster" and "cluster" not in data:
        raise ModelError("The fit has no clusters.", "Choose other standard errors, or fit with clusters.")
    return str(params["errors"])


def _clusters(data: AnalysisData, corpus: Corpus, kind: str) -> np.ndarray | None:
    return corpus.units[corpus.test] if "cluster" in data and kind in ("cluster", "bootstrap") else None


def _covariates(data: AnalysisData, corpus: Corpus, params: Params) -> np.ndarray | None:
    if not params["use_covariates"]:
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


def _results(
    found: Estimates, nu: np.ndarray, topics: heldout.Topics, corpus: Corpus, names: np.ndarray, vocabulary: np.ndarray,
    restart: int, kind: str, params: Params, data: AnalysisData,
) -> Results:  # fmt: skip
    k, groups = nu.shape[1], corpus.n_groups
    labels, group = _labels(corpus, k)
    best = [listed(vocabulary, index) for index in top_words(topics.phi[topics.n_fixed :], NAMED_WORDS)]
    own = slice(groups, None)
    told = _with_words(labels[own], best * groups)
    p = p_values(found.value, found.error)
    p[own] = ADJUSTED[params["adjust"]](p[own])
    p[:groups] = np.nan
    note = [text and f"not estimable: {text}" for text in found.note]
    for g in np.flatnonzero(~np.isnan(found.value[:groups])):
        note[g] = f"{found.value[g] - corpus.y_mean:.6g} beside the mean of the training documents"
    columns = {
        "Topic": np.concatenate([labels[:groups], told]), "Group": group, "Effect": found.value, "Standard error": found.error,
        "Low": found.interval[:, 0], "High": found.interval[:, 1], "p": p, "Test documents": found.count,
        "Note": np.array(note),
    }  # fmt: skip
    if groups == 1:
        columns.pop("Group")
    unit = data["y"].unit
    hard = nu >= params["threshold"]
    row, topic = np.nonzero(hard)
    order = np.lexsort((-nu[row, topic], topic))
    row, topic = row[order], topic[order]
    place = np.arange(len(topic)) - np.searchsorted(topic, topic)
    row, topic = row[place < LONGEST], topic[place < LONGEST]
    return {
        **_texts(found, corpus, restart, kind, groups, params),
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
    found: Estimates, corpus: Corpus, restart: int, kind: str, groups: int, params: Params
) -> dict[str, str]:
    value, interval = found.value[groups:], found.interval[groups:]
    known = ~np.isnan(value)
    clear = known & ((interval[:, 0] > 0) | (interval[:, 1] < 0))
    named = {"hc2": "HC2", "classical": "classical", "cluster": "by cluster", "bootstrap": "bootstrap"}[kind]
    level = f"{100 * params['level']:g} %"
    caption = f"{len(corpus.test)} test documents, restart {restart}, {level} intervals ({named})."
    labels, _ = _labels(corpus, len(value) // groups)
    lost = labels[groups:][~known]
    if len(lost):
        caption += f" Not estimable: {', '.join(lost)} (see the table)."
    bases = [
        f"{text} {found.value[g]:.4g}"
        for g, text in enumerate(labels[:groups])
        if not np.isnan(found.value[g])
    ]
    caption += f" Mean outcome: {'; '.join(bases).replace('No topic', 'no topic')}."
    return {
        "headline": f"{int(clear.sum())} of {int(known.sum())} effects have an interval without 0",
        "caption": caption,
    }
