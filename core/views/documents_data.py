"""Documents with scores, words and texts, read from the run and its data. Called in the pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.text.options import TextOptions
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.numbers import format_count, format_number, format_probability
from plaidwork.core.pictures.words import capital
from plaidwork.core.views.columns import ItemColumns, datasets_of
from plaidwork.core.views.sources import SourceError, Sources, data_axis, role_names


@dataclass(frozen=True)
class TopicWords:
    """Words of a factor with their weights, the heaviest first."""

    terms: tuple[str, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Documents:
    """(n, K) scores of documents, and what is known of them; ``selection_kind`` is their kind of selection.

    ``strength`` (n, K) breaks ties of the scores. ``words`` (K, m) with ``terms``, or None; ``texts`` (n,) or None when the data have none; ``outcome`` (n,) or None.
    """

    scores: np.ndarray
    strength: np.ndarray | None
    names: tuple[str, ...]
    factors: tuple[str, ...]
    words: np.ndarray | None
    terms: tuple[str, ...]
    texts: np.ndarray | None
    outcome: np.ndarray | None
    outcome_name: str
    annotations: Mapping[str, np.ndarray]
    counts: tuple[Dataset, np.ndarray] | None
    """The counts that the run was fitted to, words in columns, and the row of each document (-1: none)."""
    options: TextOptions
    data_name: str
    score_name: str
    strength_name: str
    word: str
    selection_kind: str
    layer_dim: str
    doc: str

    @property
    def factor_word(self) -> str:
        """What a factor is called."""
        return self.layer_dim.replace("_", " ")

    def counted_words(self, i: int, most: int = 60) -> str:
        """The words of a document with how often each comes, those that come most first; empty where they are not known."""
        if self.counts is None or (at := int(self.counts[1][i])) < 0:
            return ""
        data = self.counts[0]
        row = data.values[[at]].toarray().ravel() if data.is_sparse else np.asarray(data.values[at])
        order = [k for k in np.argsort(-np.nan_to_num(row), kind="stable").tolist() if row[k] > 0]
        often = ("" if data.kind == "binary" else f" {format_number(float(row[k]))}" for k in order[:most])
        told = [data.column_names[k] + times for k, times in zip(order, often, strict=False)]
        rest = (f"{format_count(len(order) - most)} more",) if len(order) > most else ()
        return " · ".join((*told, *rest))

    def score_text(self, value: Any) -> str:
        """A score; probabilities as elsewhere."""
        chance = "probability" in self.score_name.casefold()
        return format_probability(float(value)) if chance else format_number(float(value), 3)

    def order(self, k: int) -> np.ndarray:
        """Documents by the score on a factor, the highest first; those as good to three decimals by strength."""
        score = np.nan_to_num(self.scores[:, k], nan=-np.inf)
        if self.strength is None:
            return np.argsort(-score, kind="stable")
        return np.lexsort((-np.nan_to_num(self.strength[:, k]), -np.round(score, 3)))

    def top_words(self, k: int, count: int) -> TopicWords:
        """The words of a factor that weigh most."""
        if self.words is None:
            return TopicWords((), ())
        weights = self.words[k]
        best = np.argsort(-np.abs(weights), kind="stable")[:count]
        best = best[weights[best] != 0]
        return TopicWords(tuple(self.terms[i] for i in best), tuple(float(weights[i]) for i in best))


def read_documents(sources: Sources, options: Mapping[str, Any]) -> Documents:
    """The documents of a view. Raises ``SourceError``."""
    result = sources.result("scores", 2)
    scores = np.asarray(result.values)
    scores = (
        scores if scores.dtype.kind == "f" else scores.astype(np.float64)
    )  # no copy of those of a million documents
    n, count = scores.shape
    dims = result.dims if len(result.dims) == 2 else ("document", "factor")
    names = role_names(sources, "documents", dims[0], n)
    dim = str(options.get("dim", dims[0]))
    columns = ItemColumns(sources, dim, names)
    title, cut, data_name = _text_column(sources, dim, names, columns)
    words, terms = _words(sources, count)
    outcome, outcome_name = None, "Outcome"
    if sources.has("outcome"):
        found = sources.get("outcome")
        outcome, outcome_name = np.asarray(found.values), capital(found.label or "outcome")
        if outcome.shape != (n,):
            raise SourceError(
                f"The outcome has the shape {outcome.shape}; there are {counted(n, 'document')}."
            )
    strength, strength_name = None, ""
    if sources.has("strength"):
        strength = sources.array("strength", (n, count))
        strength_name = capital(sources.result("strength").label or "strength")
    return Documents(
        scores,
        strength,
        names,
        sources.dim_names(dims[1], count),
        words,
        terms,
        columns.annotations[title] if title else None,
        outcome,
        outcome_name,
        {name: column for name, column in columns.annotations.items() if name != title},
        None if title else _counts(sources, dim, names),
        cut,
        data_name,
        capital(result.label or "score"),
        strength_name,
        dims[0].replace("_", " ") if dim == dims[0] else dim.replace("_", " "),
        data_axis(sources, dims[0], n) or dims[0],
        dims[1],
        result.doc,
    )


def _words(sources: Sources, count: int) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """(K, m) weights of the words and their names; None without the role."""
    if not sources.has("words"):
        return None, ()
    result = sources.result("words", 2)
    values = np.asarray(result.values, dtype=np.float64)
    dims = result.dims if len(result.dims) == 2 else ("factor", "word")
    if values.shape[0] != count:
        values, dims = values.T, dims[::-1]
    if values.shape[0] != count:
        raise SourceError(
            f"The words need {counted(count, 'factor')}, as the scores have. Found {values.shape}."
        )
    return values, role_names(sources, "names", dims[1], values.shape[1])


def _counts(sources: Sources, dim: str, names: tuple[str, ...]) -> tuple[Dataset, np.ndarray] | None:
    """The matrix of counts with a row for each document, and the row of each; None when the run has no such."""
    for dataset, axis, at in datasets_of(sources, dim, names):
        if axis == 0 and dataset.kind in ("count", "binary") and dataset.column_names:
            return dataset, at
    return None


def _text_column(
    sources: Sources, dim: str, names: tuple[str, ...], columns: ItemColumns
) -> tuple[str, TextOptions, str]:
    """Title of the annotation with the texts (empty when there is none), how they were cut, name of the data."""
    first = ""
    for dataset, axis, _ in datasets_of(sources, dim, names):
        first = first or dataset.name
        roles = dataset.source.options.get("roles", {}) if axis == 0 else {}
        table = (dataset.row_table, dataset.column_table)[axis]
        titles = [title for title, role in dict(roles).items() if role == "text" and title in table]
        titles += [title for title in table if title.casefold() == "text"]
        if titles and titles[0] in columns.annotations:
            return titles[0], TextOptions.of(dataset.source.options, counted=not roles), dataset.name
    return "", TextOptions.of({}, counted=True), first
