"""Sheets of Excel and OpenDocument files as rows of texts, and what was found in their cells.

Numbers stay what they are: they become the shortest text that gives the same number, whatever the decimal mark.
"""

from __future__ import annotations

import datetime
import zipfile
import zlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from plaidwork.core.data.importers._damage import check_sheets, damage_told
from plaidwork.core.data.importers._sheet_parts import Span, error_cells, merged_cells
from plaidwork.core.data.importers.base import ImportOptions, Issue, Progress
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_SHOWN = 50
Position = tuple[int, int]
_DAMAGE = (
    OSError,
    ValueError,
    KeyError,
    IndexError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    ElementTree.ParseError,
)
"""What libraries raise for archives and sheets that are damaged, encrypted or of a kind they do not know."""


def is_spreadsheet(path: Path) -> bool:
    """Whether the name is that of an Excel or OpenDocument file."""
    return path.name.lower().endswith(SUFFIXES)


@dataclass(slots=True)
class Sheet:
    """The cells of one sheet: ``rows`` as texts and numbers, from the first row and column that hold something.

    ``start`` is the (row, column) of the first one, from 0; ``names`` are the sheets of the file that hold cells.
    """

    name: str
    names: tuple[str, ...]
    rows: list[list[str | float]]
    start: Position = (0, 0)
    issues: list[Issue] = field(default_factory=list)
    dated: Issue | None = None
    """The one of the issues that says where dates or times were read as text."""
    dated_columns: set[int] = field(default_factory=set)

    @property
    def texts(self) -> Generator[str, None, None]:
        """Cells that are text, headers included."""
        return (cell for row in self.rows for cell in row if isinstance(cell, str) and cell)

    def letters(self, index: int) -> str:
        """What the sheet calls a column of the table."""
        return column_letters(self.start[1] + index)

    def records(
        self, decimal: str, progress: Progress | None = None
    ) -> Generator[tuple[int, list[str]], None, None]:
        """Rows that hold something as ``(row, texts)``, numbers written with the decimal mark in force."""
        mark = decimal or "."
        for number, row in enumerate(self.rows):
            if progress is not None and number % 1024 == 0:
                progress(number / len(self.rows))
            if any(cell != "" for cell in row):
                yield (
                    self.start[0] + number + 1,
                    [cell if isinstance(cell, str) else _number(cell).replace(".", mark) for cell in row],
                )


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e17 else repr(float(value))


def read_sheet(path: Path, options: ImportOptions) -> Sheet:
    """The sheet that the option ``sheet`` names, or the first that holds cells.

    Raises ``DataError`` that says what to install, or why the file cannot be read.
    """
    try:
        import python_calamine
    except ImportError as error:
        raise DataError(
            f"{path.name} is a spreadsheet, and the package python-calamine that reads it is not installed.",
            'Install it with: pip install "plaidwork[excel]"',
        ) from error
    with damage_told(path, (python_calamine.CalamineError, *_DAMAGE), "Save it once more as .xlsx."):
        check_sheets(path)
        try:
            workbook = python_calamine.CalamineWorkbook.from_path(path)
        except python_calamine.PasswordError as error:
            raise DataError(f"{path.name} is protected by a password.", "Save it without one.") from error
        return _read_sheet(path, workbook, options)


def _read_sheet(path: Path, workbook: Any, options: ImportOptions) -> Sheet:
    cells = {name: workbook.get_sheet_by_name(name) for name in _worksheets(workbook)}
    names = tuple(name for name, sheet in cells.items() if sheet.height)
    if not names:
        raise DataError(f"{path.name} holds no cells.", "Check that the file was written to its end.")
    wanted = options.get("sheet")
    if wanted is not None and wanted not in names:
        raise DataError(f"{path.name} has no sheet “{wanted}” with cells.", f"It has: {', '.join(names)}.")
    name = names[0] if wanted is None else str(wanted)
    found = cells[name]
    rows = [list(row) for row in found.to_python(skip_empty_area=True)]
    sheet = Sheet(name, names, rows, tuple(found.start or (0, 0)))
    spans = found.merged_cell_ranges
    errors = error_cells(path, name)
    if errors is not None:
        for (row, column), text in errors.items():
            _put(sheet, row, column, text)
    _tell(sheet, options, errors)
    _merged(sheet, options, merged_cells(path, name) if spans is None else spans)
    return sheet


def _worksheets(workbook: Any) -> list[str]:
    """Sheets of cells; those of charts and macros are left out."""
    return [item.name for item in workbook.sheets_metadata if "WorkSheet" in str(item.typ)]


def _put(sheet: Sheet, row: int, column: int, text: Any) -> None:
    i, j = row - sheet.start[0], column - sheet.start[1]
    if 0 <= i < len(sheet.rows) and 0 <= j < len(sheet.rows[i]):
        sheet.rows[i][j] = text


def cell_name(row: int, column: int) -> str:
    """``C7`` for a row and column from 0."""
    return f"{column_letters(column)}{row + 1}"


def column_letters(column: int) -> str:
    """``AB`` for a column from 0."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _tell(sheet: Sheet, options: ImportOptions, errors: Mapping[Position, str] | None) -> None:
    """Turn dates and truth values into texts (or 1 and 0, when asked for), and say where there are any."""
    as_numbers = options.get("truth") == "numbers"
    dates: list[str] = []
    truths: list[str] = []
    for i, row in enumerate(sheet.rows):
        for j, cell in enumerate(row):
            if isinstance(cell, (str, float)):
                continue
            position = cell_name(sheet.start[0] + i, sheet.start[1] + j)
            if isinstance(cell, bool):
                row[j] = float(cell) if as_numbers else ("TRUE" if cell else "FALSE")
                truths.append(position)
            elif isinstance(cell, (datetime.date, datetime.time, datetime.timedelta)):
                row[j] = cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
                dates.append(f"{position}  {row[j]}")
                sheet.dated_columns.add(j)
            else:
                row[j] = float(cell)  # whole numbers
    if errors:
        places = [f"{cell_name(*position)}  {text}" for position, text in errors.items()]
        message = f"{counted(len(errors), 'cell')} {_holds(len(errors))} an error of the spreadsheet"
        sheet.issues.append(_found(message, places, "warning"))
    elif errors is None:
        sheet.issues.append(
            Issue(
                "info",
                "Errors such as #N/A cannot be told from empty cells in this format",
                "Save as .xlsx to see them",
            )
        )
    if dates:
        message = f"{counted(len(dates), 'cell')} {_holds(len(dates))} a date or time"
        sheet.dated = _found(f"{message}, read as text", dates, "info")
        sheet.issues.append(sheet.dated)
    if truths and not as_numbers:
        message = f"{counted(len(truths), 'cell')} {_holds(len(truths))} TRUE or FALSE, read as text"
        sheet.issues.append(_found(message, truths, "info", ("Read as 1 and 0", "truth", "numbers")))
    first, left = sheet.start
    if first or left:
        empty = [
            counted(number, f"empty {what}") for number, what in ((first, "row"), (left, "column")) if number
        ]
        sheet.issues.append(
            Issue(
                "info",
                f"{' and '.join(empty)} before the table {agree(first + left, 'is', 'are')} left out",
            )
        )


def _holds(number: int) -> str:
    return agree(number, "holds", "hold")


def _found(
    message: str, places: Sequence[str], severity: Any, fix: tuple[str, str, Any] | None = None
) -> Issue:
    return Issue(
        severity,
        message,
        f"First: {places[0]}",
        fix=fix,
        places=tuple(places[:_SHOWN]),
    )


def _merged(sheet: Sheet, options: ImportOptions, spans: Sequence[Span]) -> None:
    """Cells that were merged hold their value in the first of them only; it is repeated when asked for."""
    if not spans:
        return
    if options.get("merged") == "fill":
        for (top, left), (bottom, right) in spans:
            i, j = top - sheet.start[0], left - sheet.start[1]
            if 0 <= i < len(sheet.rows) and 0 <= j < len(sheet.rows[i]):
                for row in range(top, bottom + 1):
                    for column in range(left, right + 1):
                        _put(sheet, row, column, sheet.rows[i][j])
        return
    places = [f"{cell_name(*first)}:{cell_name(*last)}" for first, last in spans]
    message = f"{counted(len(spans), 'group')} of cells {agree(len(spans), 'is', 'are')} merged"
    issue = _found(message, places, "warning", ("Repeat the value in each", "merged", "fill"))
    sheet.issues.append(issue)
