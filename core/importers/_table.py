"""The loop over the rows of a delimited file: numbers, names and labels, and where something is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.errors import DataError
from plaidwork.core.importers._findings import distinct_names
from plaidwork.core.importers._numbers import BadCell, NumberParser
from plaidwork.core.importers._sniff import Layout, unclear_error
from plaidwork.core.importers._text import Records, count_text
from plaidwork.core.importers.base import ImportOptions, Issue, Progress

MAX_CELLS = 4_000_000_000
_CHUNK = 256


@dataclass(slots=True)
class Table:
    """What was read: (n, m) floats, row names (or none), label texts by title, problems and notes."""

    values: np.ndarray
    names: list[str] | None
    labels: dict[str, list[str]]
    issues: list[Issue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    n_records: int = 0


class Problems:
    """Collects what is wrong, one entry per kind and column; or raises at the first, when strict."""

    def __init__(self, path: Path, layout: Layout, options: ImportOptions, collect: bool) -> None:
        self.path, self.layout, self.collect = path, layout, collect
        self.ragged_rule = options.get("ragged", "error")
        self.infinite_rule = options.get("infinite", "error")
        self._ragged: list[tuple[int, int]] = []
        self._bad: dict[int, list[tuple[int, str]]] = {}
        self._infinite: list[tuple[int, int, str]] = []

    def ragged(self, row: int, found: int) -> None:
        if not self.collect:
            raise DataError(
                f"{self.path.name}, row {row}: {count_text(found, 'field')} found, "
                f"{self.layout.n_columns} expected.",
                "Mend the row, or leave out rows of other length.",
            )
        self._ragged.append((row, found))

    def bad_cell(self, row: int, column: int, text: str) -> None:
        mark = self.layout.decimal
        if not self.collect:
            hint = "Mend the cell, add the text to the missing values, or use the column as a label."
            if "decimal" in self.layout.detected and ("," in text or "." in text):
                hint = f"The decimal mark “{mark}” was detected from other cells; choose it to allow thousands marks."
            raise DataError(
                f"{self.path.name}, row {row}, {self.layout.title(column)}: expected a number with "
                f"{_mark_name(mark)}, found “{_shortened(text)}”.",
                hint,
            )
        self._bad.setdefault(column, []).append((row, text))

    def infinite(self, row: int, column: int, text: str) -> None:
        if not self.collect:
            raise DataError(
                f"{self.path.name}, row {row}, {self.layout.title(column)}: expected a finite number, found “{text}”.",
                "Mend the cell, or read infinite values as missing.",
            )
        self._infinite.append((row, column, text))

    def issues(self) -> list[Issue]:
        """The collected problems as errors with their first place and a fix."""
        found = []
        if self._ragged:
            row, width = self._ragged[0]
            number = count_text(len(self._ragged), "row")
            verb = "has" if len(self._ragged) == 1 else "have"
            found.append(
                Issue(
                    "error",
                    f"{number} {verb} a number of fields other than {self.layout.n_columns}",
                    f"First: row {row} has {width}",
                    row=row,
                    fix=(f"Leave out {'it' if len(self._ragged) == 1 else 'them'}", "ragged", "drop"),
                    changes_numbers=True,
                )
            )
        for column, cells in self._bad.items():
            found.append(self._cell_issue(column, cells))
        if self._infinite:
            row, column, text = self._infinite[0]
            verb = "is" if len(self._infinite) == 1 else "are"
            found.append(
                Issue(
                    "error",
                    f"{count_text(len(self._infinite), 'value')} {verb} infinite",
                    f"First: “{text}”, row {row}, {self.layout.title(column)}",
                    row=row,
                    column=column + 1,
                    fix=("Read infinite values as missing", "infinite", "missing"),
                    changes_numbers=True,
                )
            )
        return found

    def _cell_issue(self, column: int, cells: list[tuple[int, str]]) -> Issue:
        row, text = cells[0]
        verb = "is no number" if len(cells) == 1 else "are no numbers"
        texts = {entry for _, entry in cells}
        fix: tuple[str, str, Any]
        if len(texts) == 1:
            missing = [*self.layout.missing, text]
            fix = (f"Read “{_shortened(text)}” as missing", "missing", missing)
        else:
            fix = ("Use the column as a label", "labels", [*self.layout.labels, column])
        return Issue(
            "error",
            f"{count_text(len(cells), 'cell')} in {self.layout.title(column)} {verb}",
            f"First: “{_shortened(text)}”, row {row}; expected a number with {_mark_name(self.layout.decimal)}",
            row=row,
            column=column + 1,
            fix=fix,
            changes_numbers=True,
        )


def load_table(
    path: Path,
    layout: Layout,
    options: ImportOptions,
    progress: Progress | None = None,
    limit: int = 0,
    collect: bool = False,
) -> Table:
    """Read the rows (``limit`` of them, 0 for all). Strict unless ``collect``; O(cells), memory 2 x the result."""
    problems = Problems(path, layout, options, collect)
    columns = layout.value_columns if layout.decimal else []
    parser = NumberParser(layout.decimal or ".", layout.missing, layout.grouped)
    names: list[str] | None = [] if layout.names >= 0 else None
    titles = distinct_names([layout.titles[index] or f"column {index + 1}" for index in layout.labels])
    labels: dict[str, list[str]] = {title: [] for title in titles}
    chunks: list[np.ndarray] = []
    rows: list[np.ndarray] = []
    width, n_records = layout.n_columns, 0
    contiguous = columns == list(range(columns[0], columns[-1] + 1)) if columns else False
    span = slice(columns[0], columns[-1] + 1) if contiguous else slice(0)
    unsure = "decimal" in layout.detected and not layout.evidence.settled
    in_header = layout.header
    for row, fields in Records(path, layout.encoding, layout.delimiter, progress):
        if row <= layout.skip_rows:
            continue
        if in_header:
            in_header = False
            continue
        if limit and n_records >= limit:
            break
        n_records += 1
        if len(fields) != width:
            if problems.ragged_rule == "drop":
                continue
            if problems.ragged_rule != "pad" or len(fields) > width:
                problems.ragged(row, len(fields))
                continue
            fields = [*fields, *[""] * (width - len(fields))]
        cells = fields[span] if contiguous else [fields[index] for index in columns]
        if unsure:
            unsure = _still_unsure(layout, cells)
        try:
            values = parser.row(cells)
        except BadCell as bad:
            if not collect:
                problems.bad_cell(row, columns[bad.index], bad.text)
            values = _collect_cells(parser, cells, problems, row, columns)
        if columns and np.isinf(values).any():
            if problems.infinite_rule != "missing":
                for index in np.flatnonzero(np.isinf(values)).tolist():
                    problems.infinite(row, columns[index], cells[index].strip())
            values[np.isinf(values)] = np.nan
        rows.append(values)
        if names is not None:
            names.append(fields[layout.names].strip())
        for index, texts in zip(layout.labels, labels.values()):
            texts.append(fields[index].strip())
        if len(rows) == _CHUNK:
            chunks.append(np.vstack(rows))
            rows.clear()
            if n_records * max(len(columns), 1) > MAX_CELLS:
                raise DataError(f"{path.name} holds more than {MAX_CELLS} numbers.", "Import a part of it.")
    if "decimal" in layout.detected and layout.evidence.unclear:
        layout.unclear["decimal"] = layout.evidence.unclear
        if not collect:
            raise unclear_error(path, layout)
    if rows:
        chunks.append(np.vstack(rows))
    if not chunks and not collect:
        raise DataError(
            f"{path.name} holds no rows of numbers.", "Check that the file was written to its end."
        )
    values = np.concatenate(chunks) if chunks else np.empty((0, len(columns)))
    if progress is not None:
        progress(1.0)
    return Table(values, names, labels, [*problems.issues(), *_notices(parser)], n_records=n_records)


def _still_unsure(layout: Layout, cells: Sequence[str]) -> bool:
    """Look on for a number that settles the decimal mark, as long as none was seen."""
    for cell in cells:
        if "." in cell or "," in cell:
            layout.evidence.add(cell)
    return not layout.evidence.settled and not layout.evidence.unclear


def _collect_cells(
    parser: NumberParser, cells: Sequence[str], problems: Problems, row: int, columns: Sequence[int]
) -> np.ndarray:
    values = np.full(len(cells), np.nan)
    for index, text in enumerate(cells):
        try:
            values[index] = parser.cell(text)
        except BadCell as bad:
            problems.bad_cell(row, columns[index], bad.text)
    return values


def _notices(parser: NumberParser) -> list[Issue]:
    found = []
    if parser.group_example:
        value = parser.cell(parser.group_example)
        mark = "comma" if parser.decimal == "." else "point"
        found.append(
            Issue(
                "info", f"Each {mark} is read as a thousands mark", f"“{parser.group_example}” is {value!r}"
            )
        )
    if parser.long_example:
        found.append(
            Issue(
                "warning",
                "Some whole numbers have more digits than can be kept",
                f"“{parser.long_example}” becomes {float(parser.long_example):.0f}. Use such a column as a label.",
            )
        )
    return found


def _mark_name(mark: str) -> str:
    return "a decimal comma" if mark == "," else "a decimal point"


def _shortened(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
