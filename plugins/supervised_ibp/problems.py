"""What is wrong or noteworthy about data and settings, before the fit."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ModelData, ModelError, Params, Problem
from plaidwork.plugins.supervised_ibp.corpus import Corpus, corpus_of

FEW_TEST = 10
"""Fewer test documents than this are hardly enough for any effect."""


def problems_of(data: ModelData, params: Params) -> list[Problem]:
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
        for found in (_documents(data, corpus, params), _vocabulary(corpus))
        for message, hint, where in found
    ]


def _documents(data: ModelData, corpus: Corpus, params: Params) -> list[tuple[str, str, str]]:
    found = []
    if corpus.n_left_out:
        text = f"{corpus.n_left_out} documents lack the outcome, group or a covariate and are left out."
        found.append((text, "", "y"))
    empty = int((np.diff(corpus.indptr) == 0).sum())
    if empty:
        found.append((f"{empty} training documents have none of the words.", "Check the matrix.", "X"))
    if not len(corpus.test) and params["test_share"] > 0:
        text = "There are no test documents: all others are tied to training documents."
        found.append((text, "Effects need test documents.", "test_share"))
    elif params["test_share"] > 0 and len(corpus.test) < FEW_TEST:
        found.append(
            (f"There are only {len(corpus.test)} test documents.", "Effects will be vague.", "test_share")
        )
    torn = np.intersect1d(corpus.units[corpus.train], corpus.units[corpus.test])
    if len(torn):
        text = f"The split tears {len(torn)} clusters (or equal documents) apart."
        found.append((text, "Test documents are then not independent of the fit.", "split"))
    return found


def _vocabulary(corpus: Corpus) -> list[tuple[str, str, str]]:
    found = []
    if corpus.n_constant:
        text = f"{corpus.n_constant} words are the same in all training documents and are left out."
        found.append((text, "", "X"))
    if corpus.n_rare:
        found.append((f"{corpus.n_rare} words are too rare and are left out.", "", "min_documents"))
    return found
