"""Several files on their way to views: what was read, what was found, and where the samples are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from plaidwork.core.data.dataset import Dataset, turned_samples
from plaidwork.core.data.importers._column import Annotations
from plaidwork.core.data.joining import has_default_names
from plaidwork.core.data.sample_words import about_features

Role = Literal["view", "table"]
SPELLING, TURN = "spelling", "turn"
"""Fixes: alike names are taken for the same sample; samples of one file are in its columns (``turn NAME``)."""
TABLE_WORDS = {
    "sample", "samples", "sampleinfo", "metadata", "meta", "clinical", "annotation", "annotations", "pheno", "phenotype",
    "phenotypes", "classes", "labels", "patients", "covariates", "features", "featureinfo", "probes", "design",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileRead:
    """One file as it was read: matrices, or a table of annotations, or why it cannot be used."""

    path: Path
    role: Role = "view"
    datasets: tuple[Dataset, ...] = ()
    table: Annotations | None = None
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something worth knowing before views are added. ``fix`` is what would mend it: ``(text, key)``."""

    severity: Literal["error", "warning", "info"]
    message: str
    detail: str = ""
    fix: tuple[str, str] | None = None
    applied: bool = False


@dataclass
class View:
    """A dataset on its way."""

    read: FileRead
    data: Dataset
    turned: bool = False

    @property
    def rows(self) -> set[str]:
        return set() if has_default_names(self.data.row_names) else set(self.data.row_names)

    @property
    def columns(self) -> set[str]:
        return set() if has_default_names(self.data.column_names) else set(self.data.column_names)

    def turn(self) -> None:
        data = self.data
        values = data.values.T.tocsr() if data.is_sparse else data.values.T
        options = {**data.source.options, "transpose": not data.source.options.get("transpose", False)}
        self.data = data.with_(
            values=values,
            row_names=data.column_names,
            column_names=data.row_names,
            row_table=data.column_table,
            column_table=data.row_table,
            row_label=data.column_label if data.column_label != "columns" else "samples",
            column_label=data.row_label if data.row_label != "rows" else "features",
            samples_in=turned_samples(data.samples_in),
            source=replace(data.source, options=options),
        )
        self.turned = not self.turned


@dataclass
class Work:
    views: list[View]
    tables: list[FileRead]
    findings: list[Finding] = field(default_factory=list)


# -- samples in rows or in columns ----------------------------------------------------------------------
def orient(work: Work, fixes: set[str], refused: set[str]) -> None:
    """Turn the views whose columns, not rows, hold the samples of the others; say so, offer to turn it back."""
    about = _sample_names(work)
    found = [view for view in work.views if f"{TURN} {view.data.name}" in fixes]
    for view in found:
        view.turn()
    together = [view for view in work.views if view not in found and _all_in_columns(view, work.views, about)]
    rest = [view for view in work.views if view not in found and view not in together]
    for view in together:
        if f"{TURN} {view.data.name}" not in refused:
            view.turn()
    for view in sorted(rest, key=lambda view: _gain(view, work.views), reverse=True):
        if _in_columns(view, work.views, about):
            together.append(view)
            if f"{TURN} {view.data.name}" not in refused:
                view.turn()
    for view in work.views:
        if view in found or view in together:
            message = f"The samples of {view.data.name} are in the columns of {view.read.path.name}"
            fix = ("Turn it, so that samples are in the rows", f"{TURN} {view.data.name}")
            work.findings.append(Finding("warning", message, "", fix, applied=view.turned))


def _sample_names(work: Work) -> set[str]:
    """Names in the tables that are about samples: rows of a view, columns of several, or a file called so."""
    found: set[str] = set()
    for read in work.tables:
        assert read.table is not None
        names = set(read.table.names)
        words = set(re.split(r"[^a-z]+", read.path.name.lower()))
        called = bool(words & TABLE_WORDS) and not about_features(read.path.name)
        on_rows = any(names & view.rows for view in work.views)
        on_columns = sum(bool(names & view.columns) for view in work.views)
        if on_rows or on_columns > 1 or called:
            found |= names
    return found


def _all_in_columns(view: View, views: Sequence[View], about: set[str]) -> bool:
    """Whether all views have the same samples in their columns: no two agree in rows, or all say that rows are features.

    A view alone has them there when it says so itself.
    """
    others = [other for other in views if other is not view]
    if view.rows & about:
        return False
    if not others:
        return _words_say_columns(view)
    agree = any(one.rows & other.rows for one in views for other in views if one is not other)
    across = any(one.columns & other.rows for one in views for other in views if one is not other)
    if agree:
        return all(map(_words_say_columns, views)) and all(view.columns & other.columns for other in others)
    return not across and any(view.columns & other.columns for other in others)


def _in_columns(view: View, views: Sequence[View], about: set[str]) -> bool:
    """Whether no row, but some column, is called like a sample elsewhere."""
    rows: set[str] = set().union(about, *(other.rows for other in views if other is not view))
    return not view.rows & rows and bool(view.columns & rows)


def _gain(view: View, views: Sequence[View]) -> tuple[float, int]:
    """How well its columns agree with the rows of the others; of equals the one with fewer common names."""
    rows: set[str] = set().union(*(other.rows for other in views if other is not view), set())
    common = len(view.columns & rows)
    return common / max(min(len(view.columns), len(rows)), 1), -common


def _words_say_columns(view: View) -> bool:
    return view.data.samples_in == "columns"
