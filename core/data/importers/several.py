"""Several files at once: each a view, or a table about samples or features; joined by the names of the samples.

Nothing is added before the report is read: :func:`read_file` looks at one file, :func:`join` at all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from plaidwork.core.data.annotate import attach, rename_rows
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._column import Annotations, read_annotations
from plaidwork.core.data.importers._orientation import (
    SPELLING,
    TABLE_WORDS,
    TURN,
    FileRead,
    Finding,
    Role,
    View,
    Work,
    orient,
)
from plaidwork.core.data.importers._sniff import sniff
from plaidwork.core.data.importers.base import ImportOptions, Progress
from plaidwork.core.data.importers.delimited import DelimitedReader
from plaidwork.core.data.importers.reading import read_datasets
from plaidwork.core.data.importers.spreadsheet import SpreadsheetReader
from plaidwork.core.data.joining import has_default_names
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError, PlaidworkError
from plaidwork.core.spelling import near_misses

__all__ = ["SPELLING", "FileRead", "Finding", "Joined", "Part", "Role", "guess_role", "join", "read_file"]

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Part:
    """What became of one file (or one matrix of it): ``name`` of the view, or of the table's file.

    ``n_matched`` of its ``n_names`` samples (or features, of a table about them) are in another view.
    """

    file: str
    name: str
    use: Literal["view", "samples", "features", "nothing"]
    n_names: int
    n_other: int
    n_matched: int
    unmatched: tuple[str, ...] = ()
    turned: bool = False
    path: Path = Path()


@dataclass(frozen=True)
class Joined:
    """Views ready to be added, and the report on them.

    Attributes
    ----------
    n_samples, n_common : samples in any view, and with values in all of them.
    """

    views: tuple[Dataset, ...]
    parts: tuple[Part, ...]
    findings: tuple[Finding, ...]
    n_samples: int = 0
    n_common: int = 0

    @property
    def problem(self) -> str:
        """Why the views cannot be added, or empty."""
        return next((found.message for found in self.findings if found.severity == "error"), "")

    @property
    def text(self) -> str:
        """The report as lines, for a terminal or a log."""
        lines = []
        for part in self.parts:
            if part.use == "view":
                shared = f", {part.n_matched} of the samples in other views" if len(self.views) > 1 else ""
                lines.append(
                    f"{part.name}: {counted(part.n_names, 'sample')} × {counted(part.n_other, 'feature')}{shared}"
                )
            elif part.use != "nothing":
                lines.append(f"{part.file}: about {part.use}, {part.n_matched} of {part.n_names} names match")
        if len(self.views) > 1:
            lines.append(f"{counted(self.n_samples, 'sample')} in all, {self.n_common} of them in every view")
        lines += [f"{found.message}. {found.detail}".strip() for found in self.findings]
        return "\n".join(lines)


# -- one file -----------------------------------------------------------------------------------------
def guess_role(path: Path, options: ImportOptions | None = None) -> Role:
    """``table`` for text files that hold labels rather than numbers, or are called so; else ``view``."""
    if not path.name.lower().endswith((*DelimitedReader.suffixes, *SpreadsheetReader.suffixes)):
        return "view"
    try:
        layout = sniff(path, dict(options or {}))
    except DataError:
        return "view"
    if layout.n_columns < 2:
        return "view"
    numbers, labels = len(layout.value_columns) + len(layout.alleles), len(layout.labels)
    called = bool(TABLE_WORDS & set(re.split(r"[^a-z]+", path.name.lower())))
    if not numbers or (called and (labels or numbers <= 30)):
        return "table"
    return "table" if labels >= 2 and labels >= 0.5 * numbers else "view"


def read_file(
    path: str | Path,
    options: ImportOptions | None = None,
    role: Role | None = None,
    progress: Progress | None = None,
) -> FileRead:
    """Read one file. What is wrong with it is in ``problem``, so that the others can be looked at."""
    path = Path(path)
    use: Role = role or (guess_role(path, options) if path.is_file() else "view")
    try:
        if use == "table":
            return FileRead(path, use, table=read_annotations(path, options))
        found = read_datasets(path, options, progress)
        wrong = next((data for data in found if len(data.shape) != 2), None)
        if wrong is not None:
            raise DataError(
                f"{path.name} holds one column, “{wrong.name}”.", "Use it as a table, or leave it out."
            )
        return FileRead(path, use, tuple(found))
    except PlaidworkError as error:
        return FileRead(path, use, problem=error.message, hint=error.hint)


# -- all files ----------------------------------------------------------------------------------------
def join(
    reads: Sequence[FileRead],
    fixes: Iterable[str] = (),
    refused: Iterable[str] = (),
    names: Sequence[str] = (),
) -> Joined:
    """Join the views of files by the names of their samples, and attach the tables.

    Parameters
    ----------
    fixes : keys of fixes to apply (``spelling``, ``turn NAME``).
    refused : keys of fixes that would be applied by themselves and must not be (``turn NAME``).
    names : other names for the views, in order; empty texts keep the name.

    Errors in the report (``problem``): a file that cannot be read, no view, no sample in common.
    """
    fixes, refused = set(fixes), set(refused)
    views = [View(read, data) for read in reads for data in read.datasets]
    for view, name in zip(views, names):
        if name.strip():
            view.data = view.data.with_(name=name.strip())
    work = Work(views, [read for read in reads if read.table is not None])
    for read in reads:
        if read.problem:
            work.findings.append(Finding("error", read.problem.rstrip("."), read.hint))
    _name_apart(work)
    orient(work, fixes, refused)
    _spell(work, fixes)
    parts = [*_view_parts(work), *_attach_tables(work)]
    parts += [
        Part(read.path.name, read.path.name, "nothing", 0, 0, 0, path=read.path)
        for read in reads
        if read.problem
    ]
    _note_samples(work, refused)
    rows = [set(view.data.row_names) for view in work.views]
    full = [_with_values(view.data) for view in work.views]
    common, union = (set.intersection(*full), set.union(*rows)) if rows else (set(), set())
    _judge(work, rows)
    rank = {"error": 0, "warning": 1, "info": 2}
    findings = sorted(work.findings, key=lambda found: rank[found.severity])
    return Joined(
        tuple(view.data for view in work.views), tuple(parts), tuple(findings), len(union), len(common)
    )


def _with_values(data: Dataset) -> set[str]:
    """The samples that have at least one value."""
    if data.is_sparse:
        return set(data.row_names)
    there = ~np.isnan(data.values).all(axis=1)
    return {name for name, has in zip(data.row_names, there) if has}


def _name_apart(work: Work) -> None:
    """Views of one name get the name of their file before it, or a number behind it."""
    taken: set[str] = set()
    for view in work.views:
        name, number = view.data.name, 2
        while name in taken:
            name, number = f"{view.data.name} {number}", number + 1
        taken.add(name)
        if name != view.data.name:
            view.data = view.data.with_(name=name)


# -- spelling -------------------------------------------------------------------------------------------
def _spell(work: Work, fixes: set[str]) -> None:
    """Names that differ in case, blanks, "-", "." or "_" only: a hint, or one spelling when that was asked for."""
    examples: list[str] = []
    number = 0
    for index, view in enumerate(work.views):
        known = [name for other in work.views[:index] for name in other.data.row_names]
        found = near_misses(view.data.row_names, known)
        if not found:
            continue
        number += len(found)
        examples += [f"“{old}” in {view.data.name} and “{new}”" for old, new in list(found.items())[:_SHOWN]]
        if SPELLING in fixes:
            view.data = rename_rows(view.data, found)
    if not number:
        return
    message = f"{counted(number, 'name')} {agree(number, 'differs', 'differ')} in spelling only"
    detail = f"{', '.join(examples[:_SHOWN])}{', …' if number > _SHOWN else ''}"
    fix = ("Take them for the same samples", SPELLING)
    work.findings.append(Finding("warning", message, detail, fix, applied=SPELLING in fixes))


def _note_samples(work: Work, refused: set[str]) -> None:
    """Views whose rows are called like those of another view have their samples there: that is what joins them.

    So do views that were turned, and those that the user does not want turned.
    """
    for view in work.views:
        others = (other for other in work.views if other is not view)
        kept = f"{TURN} {view.data.name}" in refused
        if view.turned or kept or any(view.rows & other.rows for other in others):
            view.data = view.data.with_(samples_in="rows")


# -- report ---------------------------------------------------------------------------------------------
def _view_parts(work: Work) -> list[Part]:
    parts = []
    for view in work.views:
        others: set[str] = set().union(*(set(o.data.row_names) for o in work.views if o is not view), set())
        own = view.data.row_names
        unmatched = tuple(name for name in own if name not in others) if len(work.views) > 1 else ()
        matched = len(own) - len(unmatched) if len(work.views) > 1 else 0
        n, m = view.data.shape
        parts.append(
            Part(
                view.read.path.name,
                view.data.name,
                "view",
                n,
                m,
                matched,
                unmatched,
                view.turned,
                view.read.path,
            )
        )
    return parts


def _attach_tables(work: Work) -> list[Part]:
    parts = []
    for read in work.tables:
        table = read.table
        assert table is not None
        names = set(table.names)
        samples: set[str] = set().union(*(set(view.data.row_names) for view in work.views), set())
        features = [len(names & view.columns) for view in work.views]
        on_samples = len(names & samples) >= max(features, default=0)
        matched: set[str] = set()
        for view, n_features in zip(work.views, features):
            if on_samples and names & set(view.data.row_names):
                matched |= names & set(view.data.row_names)
                table_here = _respelled(table, view)
                view.data = attach(view.data, table_here, "rows", read.path)
            elif not on_samples and n_features:
                matched |= names & view.columns
                view.data = attach(view.data, table, "columns", read.path)
        use: Literal["samples", "features"] = "samples" if on_samples else "features"
        lost = tuple(name for name in table.names if name not in matched)
        parts.append(
            Part(
                read.path.name,
                read.path.name,
                use,
                len(table.names),
                len(table.columns),
                len(matched),
                lost,
                path=read.path,
            )
        )
        if work.views and not matched:
            first = table.names[0] if table.names else ""
            near = near_misses(table.names[:2000], sorted(samples))
            other = next(iter(near.values()), work.views[0].data.row_names[0])
            work.findings.append(
                Finding(
                    "error",
                    f"No name of {read.path.name} is a sample or feature of a view",
                    f"It has “{next(iter(near), first)}”, {work.views[0].data.name} has “{other}”",
                )
            )
    return parts


def _respelled(table: Annotations, view: View) -> Annotations:
    """The table with the names of the view where rows were renamed."""
    renamed: dict[str, Any] = dict(view.data.source.options.get("rename_rows", {}))
    if not renamed or set(renamed) & set(table.names) == set():
        return table
    known = set(table.names)
    names = tuple(
        renamed[name] if name in renamed and renamed[name] not in known else name for name in table.names
    )
    return Annotations(names, table.columns)


def _judge(work: Work, rows: Sequence[set[str]]) -> None:
    """Views without common samples, and those that only a few share."""
    if not work.views:
        if not any(found.severity == "error" for found in work.findings):
            work.findings.append(
                Finding("error", "None of the files holds a matrix of numbers", "Use one of them as a view")
            )
        return
    unnamed = [view for view in work.views if has_default_names(view.data.row_names)]
    if len(work.views) > 1 and unnamed:
        if len(unnamed) < len(work.views):
            name = unnamed[0].data.name
            work.findings.append(
                Finding(
                    "error", f"{name} has no names of samples, the others have", "Choose the column of names"
                )
            )
        elif len({len(view.data.row_names) for view in unnamed}) > 1:
            sizes = ", ".join(f"{len(v.data.row_names)} in {v.data.name}" for v in unnamed)
            work.findings.append(
                Finding(
                    "error", f"Without names, views need equally many samples. Found {sizes}", "Add names"
                )
            )
        else:
            work.findings.append(Finding("warning", "No names given: samples are joined by their position"))
        return
    for index, view in enumerate(work.views):
        others = set().union(*(entry for number, entry in enumerate(rows) if number != index), set())
        if len(work.views) > 1 and not rows[index] & others:
            other = next(v for v in work.views if v is not view)
            work.findings.append(
                Finding(
                    "error",
                    f"{view.data.name} has no sample in common with the other views",
                    f"Its first sample is “{view.data.row_names[0]}”, that of {other.data.name} “{other.data.row_names[0]}”",
                )
            )
            if len(work.views) == 2:
                break
