"""The loop over the rows of a delimited file: numbers, names and labels, and where something is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from plaidwork.core.data.importers._answers import in_numbers
from plaidwork.core.data.importers._beside import (
    above_error,
    any_text,
    may_sum,
    names_total,
    totals_issue,
    units_error,
)
from plaidwork.core.data.importers._courses import dates_of_rows, words_issues
from plaidwork.core.data.importers._dates import as_numbers, as_seconds
from plaidwork.core.data.importers._findings import distinct_names
from plaidwork.core.data.importers._label_rows import labels_error
from plaidwork.core.data.importers._layout import Layout, unclear_error
from plaidwork.core.data.importers._marks import INFINITE, THOUSANDS_WORDS, like_number
from plaidwork.core.data.importers._numbers import BadCell, NumberParser, find_inexact
from plaidwork.core.data.importers._problems import Problems
from plaidwork.core.data.importers.base import ImportOptions, Issue, Progress, Put
from plaidwork.core.errors import DataError

MAX_CELLS = 4_000_000_000
_CHUNK = 256


@dataclass(slots=True)
class Table:
    """What was read: (n, m) floats (n, 0 where they were handed on), row names (or none), label texts by title, problems and notes."""

    values: np.ndarray
    names: list[str] | None
    labels: dict[str, list[str]]
    issues: list[Issue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_records: int = 0
    rows: list[int] = field(default_factory=list)
    """Rows of the file that the names come from, where there are names."""
    alleles: dict[int, list[str]] = field(default_factory=dict)
    """Texts of the columns with alleles of loci by column."""


def load_table(
    path: Path,
    layout: Layout,
    options: ImportOptions,
    progress: Progress | None = None,
    limit: int = 0,
    collect: bool = False,
    put: Put | None = None,
) -> Table:
    """Read the rows (``limit`` of them, 0 for all). Strict unless ``collect``; O(cells), memory 2 x the result.

    With ``put`` the numbers are handed on some rows at a time, and none are kept.
    """
    if layout.above is not None and not collect:
        raise above_error(path.name, layout.above)
    problems = Problems(path, layout, options, collect)
    rows = _Rows(path, layout, problems, put)
    with closing(layout.records(path, progress)) as records:
        rows.take(records, limit)
    table = rows.result()
    _check_read(path, layout, table.values, collect)
    if progress is not None:
        progress(1.0)
    return table


class _Rows:
    """The rows of a table one after the other: their numbers go to a :class:`_Batch`, names and labels are kept."""

    def __init__(self, path: Path, layout: Layout, problems: Problems, put: Put | None) -> None:
        self._path, self._layout, self._problems = path, layout, problems
        self._columns = columns = layout.value_columns if layout.decimal else []
        self._batch = _Batch(layout, columns, problems, put)
        self._named_by = layout.names if layout.names >= 0 else dates_of_rows(layout)
        self._names: list[str] | None = [] if self._named_by >= 0 else None
        self._rows: list[int] = []
        titles = distinct_names([layout.titles[index] or f"column {index + 1}" for index in layout.labels])
        self._labels: dict[str, list[str]] = {title: [] for title in titles}
        self._alleles: dict[int, list[str]] = {index: [] for index in layout.allele_columns}
        self._texts_of = [*zip(layout.labels, self._labels.values()), *self._alleles.items()]
        self._totals: list[tuple[int, str, int]] = []
        self._dates = {
            columns.index(index): order for index, order in layout.date_orders.items() if index in columns
        }
        self._untold = set() if layout.label_rows else {row for row, _ in layout.labels_above}
        contiguous = bool(columns) and columns == list(range(columns[0], columns[-1] + 1))
        self._span = slice(columns[0], columns[-1] + 1) if contiguous else None
        self.n_records = 0

    def take(self, records: Iterable[tuple[int, list[str]]], limit: int) -> None:
        """All rows below the titles, or ``limit`` of them. Raises ``DataError`` unless problems are collected."""
        layout, batch, columns, span = self._layout, self._batch, self._columns, self._span
        width, apart, skipped, titles = (
            layout.n_columns,
            {*self._untold, layout.units},
            layout.skip_rows,
            layout.header,
        )
        for row, fields in records:
            if row <= skipped:
                continue
            if titles:
                titles = False
                continue
            if limit and self.n_records >= limit:
                break
            self.n_records += 1
            if len(fields) != width:
                batch.flush()  # what is wrong in earlier rows is reported first
                fitted = self._problems.fitted(row, fields)
                if fitted is None:
                    continue
                fields = fitted
            cells = fields[span] if span is not None else [fields[index] for index in columns]
            if row in apart:
                cells = self._without(row, cells)
            if self._dates:
                cells = self._with_seconds(row, cells)
            batch.add(row, in_numbers(cells, layout.answers) if layout.answers else list(cells))
            if word := names_total(fields):
                self._totals.append((row, word, batch.n_rows - 1))
            if self._names is not None:
                self._names.append(fields[self._named_by].strip())
                self._rows.append(row)
            for index, texts in self._texts_of:
                texts.append(fields[index].strip())

    def _without(self, row: int, cells: list[str]) -> list[str]:
        """Nothing of a row of labels or of units, which is told once and not cell by cell."""
        layout = self._layout
        labels = row in self._untold
        if not labels and not any_text(cells, layout.missing):
            return cells
        if not self._problems.collect:
            raise labels_error(self._path, layout) if labels else units_error(self._path.name, row, cells)
        return [""] * len(cells)

    def _with_seconds(self, row: int, cells: Sequence[str]) -> list[str]:
        """The cells of a row with seconds in place of dates; what is no date and not missing is reported, as a number would pass for seconds."""
        found = as_seconds(cells, self._dates)
        for place in self._dates:
            text = cells[place].strip()
            if found[place] is cells[place] and not self._batch.parser.is_missing(text):
                self._batch.flush()  # what is wrong in earlier rows is reported first
                self._problems.bad_cell(row, self._columns[place], text)
                found[place] = "nan"  # which is missing whatever else is
        return found

    def result(self) -> Table:
        """All that was read."""
        values = self._batch.result()
        issues = [*self._layout.issues, *self._problems.issues(), *_notices(self._batch.parser)]
        summing = [(row, word) for row, word, place in self._totals if may_sum(values, place)]
        issues += [totals_issue(summing)] if summing else []
        issues += words_issues(self._layout, self._labels, self._batch.parser)
        names = self._names
        if self._layout.names < 0 and names is not None and ("" in names or len(set(names)) < len(names)):
            names = None
        return Table(
            values,
            names,
            self._labels,
            issues,
            n_records=self.n_records,
            rows=self._rows if names is not None else [],
            alleles=self._alleles,
        )


def _check_read(path: Path, layout: Layout, values: np.ndarray, collect: bool) -> None:
    """What can be told once all rows were read: marks that may mean either, or no row at all."""
    if "decimal" in layout.detected and layout.evidence.unclear:
        layout.unclear["decimal"] = layout.evidence.unclear
        if not collect:
            raise unclear_error(path, layout)
    if not len(values) and not collect:
        raise DataError(
            f"{path.name} holds no rows of numbers.", "Check that the file was written to its end."
        )


class _Batch:
    """Rows on their way to numbers; some thousand cells are read at once, which narrow tables need."""

    def __init__(
        self, layout: Layout, columns: Sequence[int], problems: Problems, put: Put | None = None
    ) -> None:
        self.parser = layout.parser()
        self._layout, self._columns, self._problems = layout, columns, problems
        self._most = max(4096 // max(len(columns), 1), 1)
        self._rows: list[int] = []
        self._cells: list[str] = []
        self._parts: list[np.ndarray] = []
        self._chunks: list[np.ndarray] = []
        self._dates = [place for place, index in enumerate(columns) if index in layout.date_orders]
        self._put = put
        self._n_cells = self.n_rows = 0
        self._detected = "decimal" in layout.detected
        self._unsure = self._detected and not layout.evidence.settled

    def add(self, row: int, cells: Sequence[str]) -> None:
        self._rows.append(row)
        self._cells += cells
        self.n_rows += 1
        if len(self._rows) >= self._most:
            self.flush()

    def flush(self) -> None:
        """Turn the waiting rows into numbers; problems are reported row by row."""
        if not self._rows:
            return
        cells, columns, rows = self._cells, self._columns, self._rows
        if self._unsure:
            self._unsure = _still_unsure(self._layout, cells)
        try:
            values = self.parser.row(cells)
        except BadCell as bad:
            if not self._problems.collect:
                self._refuse(bad.index, bad.text)
            values = self._collect()
        width = len(columns)
        self._look_for_inexact(values)
        infinite = np.flatnonzero(np.isinf(values)).tolist()
        if infinite:
            if self._problems.infinite_rule != "missing":
                for index in infinite:
                    if INFINITE.match(cells[index].strip()):
                        self._problems.infinite(
                            rows[index // width], columns[index % width], cells[index].strip()
                        )
            values[infinite] = np.nan
        block = values.reshape(len(rows), width)
        for place in self._dates:
            block[:, place] = as_numbers(block[:, place], self._layout.dates)
        self._parts.append(block)
        self._n_cells += values.size
        if self._n_cells > MAX_CELLS:
            raise DataError(
                f"{self._problems.path.name} holds more than {MAX_CELLS} numbers.", "Import a part of it."
            )
        if len(self._parts) == _CHUNK:
            self._join()
        self._rows, self._cells = [], []

    def _join(self) -> None:
        """Make one of the parts, and hand it on where somebody takes it."""
        if not self._parts:
            return
        chunk, self._parts = np.concatenate(self._parts), []
        if self._put is not None:
            self._put(chunk)
            chunk = np.empty((len(chunk), 0))
        self._chunks.append(chunk)

    def _look_for_inexact(self, values: np.ndarray) -> None:
        """Numbers that a float cannot hold: reported, read as missing, or the nearest one, as the user chose."""
        problems, width = self._problems, len(self._columns)
        for index, what in find_inexact(self._cells, values):
            rule = problems.infinite_rule if what == "large" else problems.inexact_rule
            if rule == "missing":
                values[index] = np.nan
            elif what == "large" or rule != "nearest":
                row, column = self._rows[index // width], self._columns[index % width]
                problems.inexact(row, column, self._cells[index].strip(), what)

    def _refuse(self, index: int, text: str) -> None:
        row, column = self._rows[index // len(self._columns)], self._columns[index % len(self._columns)]
        if self._contradicts(text):
            raise unclear_error(self._problems.path, self._layout, f"row {row}, {self._layout.title(column)}")
        self._problems.bad_cell(row, column, text)

    def _contradicts(self, text: str) -> bool:
        """Whether the text is a number with the other mark, so that the mark has to be asked for."""
        if not self._detected or not like_number(text):
            return False
        self._layout.evidence.add(text)
        if not self._layout.evidence.unclear:
            return False
        self._layout.unclear["decimal"] = self._layout.evidence.unclear
        return True

    def _collect(self) -> np.ndarray:
        values = np.full(len(self._cells), np.nan)
        for index, text in enumerate(self._cells):
            try:
                values[index] = self.parser.cell(text)
            except BadCell as bad:
                if not self._contradicts(bad.text):
                    row, column = divmod(index, len(self._columns))
                    self._problems.bad_cell(self._rows[row], self._columns[column], bad.text)
        return values

    def result(self) -> np.ndarray:
        self.flush()
        self._join()
        return np.concatenate(self._chunks) if self._chunks else np.empty((0, len(self._columns)))


def _still_unsure(layout: Layout, cells: Sequence[str]) -> bool:
    """Look on for a number that settles the decimal mark, as long as none was seen."""
    for cell in cells:
        if "." in cell or "," in cell:
            layout.evidence.add(cell)
    return not layout.evidence.settled and not layout.evidence.unclear


def _notices(parser: NumberParser) -> list[Issue]:
    found = []
    if parser.group_example:
        value = parser.cell(parser.group_example)
        mark = THOUSANDS_WORDS[parser.thousands]
        found.append(
            Issue(
                "info", f"Each {mark} is read as a thousands mark", f"“{parser.group_example}” is {value!r}"
            )
        )
    return found
