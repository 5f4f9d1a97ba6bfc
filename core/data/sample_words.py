"""Words and names by which one tells samples from features."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from plaidwork.core.draws.counting import plural

FEATURE_WORDS = {
    "gene",
    "probe",
    "feature",
    "transcript",
    "protein",
    "word",
    "term",
    "cpg",
    "snp",
    "variable",
}
SAMPLE_WORDS = {
    "sample",
    "patient",
    "cell",
    "subject",
    "individual",
    "person",
    "document",
    "doc",
    "barcode",
    "mouse",
    "respondent",
    "participant",
    "donor",
    "specimen",
}
TWO_MEANINGS = {"probe"}
"""Titles that alone do not tell: of a microarray a feature, and the German word for a sample."""
_FEATURE_TABLES = {"features", "featureinfo", "probes", "genes"}
_DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}(?:[ T].*)?", re.ASCII)
_ENOUGH = 0.8
_FIRST = 200
_DIFFERENT = 0.6
"""Share of the columns that have titles of their own, at least, where they are variables."""
_DENSE = 1.2
"""How far numbers of rows reach beyond their count at most, where some rows were left out."""
_FEATURE_NAMES = (
    r"ENS[A-Z]{0,6}[GTPE]\d{6,}(\.\d+)?",  # Ensembl
    r"[NX][MRP]_\d{6,}(\.\d+)?",  # RefSeq
    r"\d{3,}(_[a-z])*_at",  # Affymetrix probe sets
    r"ILMN_\d{5,}",
    r"cg\d{8}",
    r"rs\d{3,}",
    r"chr[0-9XYM]{1,2}[:_]\d+.*",
)
_SAMPLE_NAMES = (
    r"TCGA[-.].+",
    r"GSM\d{3,}",
    r"[SE]RR\d{5,}",
    r"(sample|patient|subject|person|cell|mouse|donor|tumou?r)[ _.-]?\d+",
)


_SAMPLE_LABELS = {plural(word).lower() for word in SAMPLE_WORDS} | SAMPLE_WORDS
_FEATURE_LABELS = {plural(word).lower() for word in FEATURE_WORDS} | FEATURE_WORDS


def labels_say(row_label: str, column_label: str) -> Literal["", "rows", "columns"]:
    """Where the samples are by what rows and columns are called; empty when that does not tell."""
    rows, columns = row_label.strip().lower(), column_label.strip().lower()
    in_rows = rows in _SAMPLE_LABELS or columns in _FEATURE_LABELS
    in_columns = columns in _SAMPLE_LABELS or rows in _FEATURE_LABELS
    return "" if in_rows == in_columns else "rows" if in_rows else "columns"


def about_features(file: str) -> bool:
    """Whether a table is called after features (``cll_drugs_features.csv``)."""
    return bool(set(re.split(r"[^a-z]+", file.lower())) & _FEATURE_TABLES)


def names_look_like(names: Sequence[str]) -> Literal["", "features", "samples"]:
    """What names look like that follow a usual scheme (``ENSG00000141510``, ``TCGA-02-0001``); only a guess."""
    first = [name.strip() for name in names[:_FIRST]]
    guesses: tuple[tuple[Literal["features", "samples"], tuple[str, ...]], ...] = (
        ("features", _FEATURE_NAMES),
        ("samples", _SAMPLE_NAMES),
    )
    for what, schemes in guesses:
        scheme = re.compile("|".join(f"(?:{one})" for one in schemes), re.IGNORECASE)
        if len(first) > 2 and sum(bool(scheme.fullmatch(name)) for name in first) >= _ENOUGH * len(first):
            return what
    return ""


def are_dates(texts: Sequence[str]) -> bool:
    """Whether most of the texts are dates (``2024-11-03``, ``3.11.2024``), with or without a time: they name nothing."""
    first = texts[:_FIRST]
    return sum(bool(_DATE.fullmatch(text.strip())) for text in first) > 0.5 * len(first)


def names_say(rows: Sequence[str], columns: Sequence[str]) -> Literal["", "rows", "columns"]:
    """Where the samples seem to be by the names of rows and columns; empty when these follow no known scheme."""
    on_rows, on_columns = names_look_like(rows), names_look_like(columns)
    in_rows = on_rows == "samples" or on_columns == "features"
    in_columns = on_columns == "samples" or on_rows == "features"
    return "" if in_rows == in_columns else "rows" if in_rows else "columns"


def titles_say(rows: Sequence[str], columns: Sequence[str]) -> Literal["", "rows"]:
    """Whether the rows are the samples as they are numbered from 0 or 1 on, or not named, and columns titled as variables are.

    Titles that differ by a number behind them only, as *ctrl_1* and *ctrl_2*, may be samples; numbers with large gaps, genes.
    """
    numbers = [int(name) for name in (row.strip() for row in rows[:_FIRST]) if name.isdecimal()]
    numbered = len(numbers) == len(rows[:_FIRST]) and numbers == sorted(set(numbers))
    dense = not numbers or (numbers[0] <= 1 and numbers[-1] <= _DENSE * len(numbers))
    stems = {re.sub(r"[\W\d_]+$", "", title.strip().casefold()) for title in columns} - {""}
    return "rows" if numbered and dense and columns and len(stems) > _DIFFERENT * len(columns) else ""
