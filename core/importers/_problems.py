"""What is wrong with the rows of a delimited file: raised at the first, or collected with a fix for each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from plaidwork.core.errors import DataError
from plaidwork.core.importers._layout import Layout
from plaidwork.core.importers._text import count_text
from plaidwork.core.importers.base import ImportOptions, Issue


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


def _mark_name(mark: str) -> str:
    return "a decimal comma" if mark == "," else "a decimal point"


def _shortened(text: str, limit: int = 40) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
