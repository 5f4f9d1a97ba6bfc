"""What is wrong or noteworthy about data and settings, before the fit."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ModelData, ModelError, Problem, counted
from plaidwork.plugins.supervised_ibp.corpus import Corpus, corpus_of, variances_of
from plaidwork.plugins.supervised_ibp.state import Settings

FEW_TEST = 10
"""Fewer test documents than this are hardly enough for any effect."""


def problems_of(data: ModelData, params: Settings) -> list[Problem]:
    """All problems; an error when no fit can be made."""
    if params["start"] == "given" and "start" not in data:
        return [
            Problem("The start is “Given”, and there are no start values.", "Add “Start values”.", "start")
        ]
    try:
        corpus = corpus_of(data, params)
    except ModelError as error:
        return [Problem(error.message, error.hint)]
    return [
        Problem(message, hint, where, "warning")
        for found in (_documents(data, corpus, params), _vocabulary(corpus), _package(corpus, params))
        for message, hint, where in found
    ]


def _documents(data: ModelData, corpus: Corpus, params: Settings) -> list[tuple[str, str, str]]:
    found = []
    if corpus.n_left_out:
        text = f"Left out for want of outcome, group or covariate: {counted(corpus.n_left_out, 'document')}."
        found.append((text, "", "y"))
    empty = int((np.diff(corpus.indptr) == 0).sum())
    if empty:
        found.append(
            (f"None of the words in {counted(empty, 'training document')}.", "Check the matrix.", "X")
        )
    if not len(corpus.test) and params["test_share"] > 0:
        text = "There are no test documents: all others are tied to training documents."
        found.append((text, "Effects need test documents.", "test_share"))
    elif params["test_share"] > 0 and len(corpus.test) < FEW_TEST:
        found.append(
            (f"Only {counted(len(corpus.test), 'test document')}.", "Effects will be vague.", "test_share")
        )
    torn = np.intersect1d(corpus.units[corpus.train], corpus.units[corpus.test])
    if len(torn):
        text = f"The split tears {counted(len(torn), 'cluster')} (or equal documents) apart."
        found.append((text, "Test documents are then not independent of the fit.", "split"))
    return found


def _package(corpus: Corpus, params: Settings) -> list[tuple[str, str, str]]:
    """What differs from the R package where its results are to be repeated."""
    if not params["texteffect"]:
        return []
    differ = {
        "“Word counts” should be “As they are”": corpus.transform == "count",
        "“Scaling” should be “Mean 0, variance 1”": params["scale"] == "standardise",
        "“Background topic” should be off": not params["background"],
        "“Variance of the weights” should be 5": variances_of(corpus, params)[1] == 5.0,
    }
    found = [rule for rule, holds in differ.items() if not holds]
    text = "The fit will not be that of the R package texteffect"
    return (
        [(f"{text}: {'; '.join(found)}.", "Change these, or turn the option off.", "texteffect")]
        if found
        else []
    )


def _vocabulary(corpus: Corpus) -> list[tuple[str, str, str]]:
    found = []
    if corpus.n_constant:
        text = f"Left out, the same in all training documents: {counted(corpus.n_constant, 'word')}."
        found.append((text, "", "X"))
    if corpus.n_rare:
        found.append((f"Left out, too rare: {counted(corpus.n_rare, 'word')}.", "", "min_documents"))
    return found
