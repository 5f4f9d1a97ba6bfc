"""What is the same for all formats: the raw table that each gives becomes a dataset, or the preview of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._damage import memory_told
from plaidwork.core.data.importers._findings import (
    copied_issues,
    correlations_issue,
    far_issue,
    line_issues,
    name_issue,
    skew_issue,
    whole_issue,
)
from plaidwork.core.data.importers._matrix import finished, samples_found, wanted_steps
from plaidwork.core.data.importers.base import Fix, Grid, ImportOptions, Issue, Preview, Progress, RawTable
from plaidwork.core.data.joining import default_names
from plaidwork.core.data.levels import COUNTED, LEVELS
from plaidwork.core.data.measured import are_times
from plaidwork.core.data.reading_options import declared_choices
from plaidwork.core.data.transforms import apply_steps
from plaidwork.core.data.value_kinds import kind_of_table
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

HEAD, WIDE = 200, 100
"""Rows and columns of a preview."""
_RANK = {"error": 0, "warning": 1, "info": 2}


class TableReader:
    """A reader that gives one raw table; a :class:`~plaidwork.core.data.importers.base.Reader` with that."""

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """The table; with ``head`` of its beginning, and doubts are reported instead of raised. Raises ``DataError``."""
        raise NotImplementedError

    def preview(self, path: Path, options: ImportOptions) -> Preview:
        """The first rows, and all that was found in them (in the whole file, when it is small)."""
        path = Path(path)
        try:
            with memory_told(path):
                return previewed(self.raw(path, options, head=True), options)
        except DataError as error:
            return previewed(unread(path, options, refusal(error, self.way_out(error))), options)

    def way_out(self, error: DataError) -> Fix | None:
        """The option that would let a refused file be read, if there is one."""
        return None

    def read(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> Dataset:
        """The whole file. Raises ``DataError`` naming file, row, column, what was found and what was expected."""
        if progress is not None:
            progress(0.0)
        dataset = finished(self.raw(Path(path), options, progress), options)
        if progress is not None:
            progress(1.0)
        return dataset


def unread(path: Path, options: ImportOptions, issue: Issue) -> RawTable:
    """A table of which nothing could be read, and why."""
    return RawTable(path, "", np.empty((0, 0)), (), in_force=options, doubts=[issue], grid=Grid((), (), ()))


def refusal(error: DataError, fix: Fix | None = None) -> Issue:
    """An error as what a preview tells."""
    return Issue("error", error.message.removesuffix("."), error.hint, fix=fix)


def several_arrays(
    path: Path,
    message: str,
    unclear: str,
    options: ImportOptions,
    choices: Mapping[str, Sequence[tuple[Any, str]]],
) -> RawTable:
    """Nothing yet: which array of the file is the data has to be chosen."""
    raw = unread(path, options, Issue("error", message, unclear))
    raw.unclear, raw.choices = {"array": unclear}, choices
    return raw


def previewed(raw: RawTable, options: ImportOptions) -> Preview:
    """The preview of a raw table: its beginning, what is in force, and what is doubtful, errors first."""
    issues = sorted((*raw.doubts, *_looks(raw, options)), key=lambda issue: _RANK[issue.severity])
    if raw.checked:
        detail = "The rest is checked during the import"
        issues.append(
            Issue(
                "info",
                f"The first {counted(raw.checked, 'row')} {agree(raw.checked, 'was', 'were')} checked",
                detail,
            )
        )
    in_force, detected, choices = dict(raw.in_force), raw.detected, dict(raw.choices)
    if raw.asks_samples:
        known = raw.words, raw.row_names, raw.column_names, raw.samples_in
        in_force["samples_in"] = samples_found(options, *known)
        detected |= {"samples_in"} - options.keys()
        choices["samples_in"] = declared_choices("samples_in")
    grid = raw.grid or _grid(raw)
    n_rows, n_columns = raw.values.shape if raw.values.ndim == 2 else (len(raw.values), 1)
    return Preview(
        path=raw.path,
        header=grid.header,
        cells=grid.cells,
        roles=grid.roles,
        options=in_force,
        detected=detected,
        unclear=dict(raw.unclear),
        n_rows=n_rows if raw.n_rows is None else raw.n_rows,
        n_columns=n_columns if raw.n_columns is None else raw.n_columns,
        issues=tuple(issues),
        choices=choices,
        makes=raw.makes,
        dropped=_dropped(raw, options),
        words=raw.words,
        rows=grid.rows,
        pictures=raw.pictures,
    )


def _dropped(raw: RawTable, options: ImportOptions) -> tuple[int, int]:
    """How many rows and columns of the matrix the options leave out; none of a table that was not read to its end."""
    steps = [step for step in wanted_steps(options) if step.name.startswith("drop_")]
    values = raw.values
    if not steps or raw.checked or hasattr(values, "tocsr") or values.dtype.kind != "f" or values.ndim != 2:
        return 0, 0
    if raw.n_rows not in (None, len(values)) or values.shape[1] != len(raw.column_names):
        return 0, 0
    values = values.T if options.get("transpose") else values
    names = (default_names("row", values.shape[0]), default_names("column", values.shape[1]))
    try:
        kept = apply_steps(Dataset("", values, *names), steps)
    except DataError:  # nothing would be left, which the import tells
        return 0, 0
    return values.shape[0] - kept.shape[0], values.shape[1] - kept.shape[1]


def _looks(raw: RawTable, options: ImportOptions) -> list[Issue]:
    """What names and numbers look like: repeated names, lines without values, skewness."""
    found: list[Issue] = []
    values, sides = raw.values, (raw.row_names, raw.column_names)
    if not options.get("rename_duplicates"):
        for names, what, places in zip(sides, ("row", "column"), (raw.row_places, raw.column_places)):
            filled = [name or f"{what} {index + 1}" for index, name in enumerate(names)]
            issue = name_issue(filled, what, places)
            found += [issue] if issue else []
    if hasattr(values, "tocsr") or values.dtype.kind != "f" or not values.size or raw.categories is not None:
        return found
    words = not {LEVELS, COUNTED}.isdisjoint(raw.column_table)  # whose numbers are no measurements
    if values.ndim == 2 and not any(issue.severity == "error" for issue in raw.doubts):
        # of lines that were not read to their ends nothing can be said
        all_rows = not raw.checked and raw.n_rows in (None, len(values))
        all_columns = values.shape[1] == len(raw.column_names)
        for axis, seen in ((0, all_columns and (all_rows or raw.checked)), (1, all_rows)):
            lines = line_issues(values, sides[axis], axis) if seen and not (axis == 0 and words) else []
            found += [issue for issue in lines if issue.fix and not options.get(issue.fix[1])]
        found += copied_issues(values, *sides, raw.column_places) if all_columns and all_rows else []
    if words:
        return found
    correlations = correlations_issue(values)
    if correlations:
        return [*found, correlations]
    kind = options.get("kind") or kind_of_table(np.where(np.isfinite(values), values, np.nan))
    judged = not (
        options.get("kind") or are_times(raw.column_names, raw.unit)
    )  # of years nobody takes counts
    whole = whole_issue(kind, len(raw.column_names)) if judged else None
    found += [whole] if whole else []
    far = far_issue(values, *sides) if kind in ("real", "ordinal") else None
    found += [far] if far else []
    if not options.get("log") and not far and kind != "ordinal":  # of grades and ages nobody takes logarithms
        skewed = skew_issue(values, kind)
        found += [skewed] if skewed else []
    return found


def _grid(raw: RawTable) -> Grid:
    """Names, labels and the first values, row by row."""
    values = raw.values[:HEAD] if raw.values.ndim == 1 else raw.values[:HEAD, :WIDE]
    values = values.toarray() if hasattr(values, "toarray") else values
    shown = tuple(raw.column_names[:WIDE])
    labels = raw.row_table.values()
    cells = tuple(
        (name, *(str(column[i]) for column in labels), *map(_text, np.atleast_1d(line)))
        for i, (name, line) in enumerate(zip(raw.row_names, values))
    )
    roles = ("name", *["label"] * len(labels), *["value"] * len(shown))
    return Grid(("", *raw.row_table, *shown), cells, roles)


def _text(cell: Any) -> str:
    if not isinstance(cell, float):
        return str(cell)
    return "" if np.isnan(cell) else f"{cell:.7g}"
