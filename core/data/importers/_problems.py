"""What is wrong with the rows of a delimited file: raised at the first, or collected with a fix for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from plaidwork.core.data.importers._layout import Layout
from plaidwork.core.data.importers._marks import THOUSANDS_WORDS, marks_of, one_group
from plaidwork.core.data.importers._numbers import BadCell
from plaidwork.core.data.importers.base import Added, Fix, ImportOptions, Issue
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

_TOKENS, _OF_COLUMN, _PLACES = 8, 5, 50
"""Texts that get a row of their own; different ones in a column from which it may be labels; places listed."""
_INEXACT = {
    "digits": ("has more digits than can be kept", "have more digits than can be kept"),
    "small": ("is too close to zero to be represented", "are too close to zero to be represented"),
    "large": ("is too large to be represented", "are too large to be represented"),
}
Cell = tuple[int, int, str]


class Problems:
    """Collects what is wrong, one entry per kind, text or column; or raises at the first, when strict."""

    def __init__(
        self, path: Path, layout: Layout, options: ImportOptions, collect: bool, labels: bool = True
    ) -> None:
        self.path, self.layout, self.collect = path, layout, collect
        self._labels = labels  # whether a column may rather be used as labels
        self.ragged_rule = options.get("ragged", "error")
        self.infinite_rule = options.get("infinite", "error")
        self.inexact_rule = options.get("inexact", "error")
        self._ragged: list[tuple[int, int]] = []
        self._bad: list[Cell] = []
        self._marked: dict[str, list[Cell]] = {}
        self._infinite: list[Cell] = []
        self._inexact: dict[str, list[Cell]] = {}

    def fitted(self, row: int, fields: list[str]) -> list[str] | None:
        """The fields of a row in the number expected, ``None`` for a row that is left out or was reported."""
        width = self.layout.n_columns
        if len(fields) == width:
            return fields
        if self.ragged_rule == "pad" and len(fields) < width:
            return [*fields, *[""] * (width - len(fields))]
        if self.ragged_rule != "drop":
            self.ragged(row, len(fields))
        return None

    def ragged(self, row: int, found: int) -> None:
        if not self.collect:
            raise DataError(
                f"{self.path.name}, row {row}: {counted(found, 'field')} found, "
                f"{self.layout.n_columns} expected.",
                "Mend the row, or leave out rows of other length.",
            )
        self._ragged.append((row, found))

    def bad_cell(self, row: int, column: int, text: str) -> None:
        """A text where a number, or a date, is expected; a number with marks that may be taken away is told apart."""
        dated = column in self.layout.date_orders
        mark, marks = self.layout.decimal, None if dated else marks_of(text)
        offered = "" if dated else offered_mark(text, self.layout)
        if self.collect:
            (self._marked.setdefault(offered, []) if offered else self._bad).append((row, column, text))
            return
        hint = "Mend the cell, add the text to the missing values (option “missing”), or use the column as a label."
        if offered == "%":
            hint = "Read percent signs with the option “percent”: number (12.5 % is 12.5) or share (0.125)."
        elif offered:
            hint = f"Allow the {THOUSANDS_WORDS[offered]} as thousands mark with the option “thousands”."
        elif marks is not None and "decimal" in self.layout.detected:
            hint = f"The decimal mark “{mark}” was detected from other cells; choose it with the option “decimal”."
        raise DataError(
            f"{self.path.name}, row {row}, {self.layout.title(column)}: expected a date, found “{_shortened(text)}”."
            if dated
            else f"{self.path.name}, row {row}, {self.layout.title(column)}: expected a number with "
            f"{_mark_name(mark)}, found “{_shortened(text)}”.",
            hint,
        )

    def inexact(self, row: int, column: int, text: str, what: str) -> None:
        """A number that cannot be held as it is written; ``what`` as in :func:`_numbers.inexact`."""
        if self.collect:
            self._inexact.setdefault(what, []).append((row, column, text))
            return
        raise inexact_error(f"{self.path.name}, row {row}, {self.layout.title(column)}", text, what)

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
            number = counted(len(self._ragged), "row")
            verb = agree(len(self._ragged), "has", "have")
            found.append(
                Issue(
                    "error",
                    f"{number} {verb} a number of fields other than {self.layout.n_columns}",
                    f"First: row {row} has {width}",
                    row=row,
                    fix=(f"Leave {agree(len(self._ragged), 'it', 'them')} out", "ragged", "drop"),
                )
            )
        found += self._text_issues()
        found += [self._marks_issue(mark, cells) for mark, cells in self._marked.items()]
        found += [self._inexact_issue(what, cells) for what, cells in self._inexact.items()]
        if self._infinite:
            row, column, text = self._infinite[0]
            verb = agree(len(self._infinite), "is", "are")
            found.append(
                Issue(
                    "error",
                    f"{counted(len(self._infinite), 'value')} {verb} infinite",
                    f"First: “{text}”, row {row}, {self.layout.title(column)}",
                    row=row,
                    column=column + 1,
                    fix=("Read infinite values as missing", "infinite", "missing"),
                )
            )
        return found

    def _places(self, cells: list[Cell]) -> tuple[str, ...]:
        shown = [
            f"row {row}, {self.layout.title(column)}: “{_shortened(text)}”"
            for row, column, text in cells[:_PLACES]
        ]
        return (*shown, *([f"and {len(cells) - _PLACES} more"] if len(cells) > _PLACES else []))

    def _issue(
        self, cells: list[Cell], message: str, detail: str, fix: Fix, other: Fix | None = None
    ) -> Issue:
        row, column, _ = cells[0]
        return Issue("error", message, detail, row, column + 1, fix, other, self._places(cells))

    def _text_issues(self) -> list[Issue]:
        """A row per column that may rather be labels, then one per text, then one for the rest."""
        by_column: dict[int, set[str]] = {}
        for _, column, text in self._bad:
            by_column.setdefault(column, set()).add(text)
        wordy = [i for i, texts in by_column.items() if len(texts) > _OF_COLUMN and self._labels]
        found = [self._column_issue(column) for column in wordy]
        by_text: dict[str, list[Cell]] = {}
        for cell in self._bad:
            if cell[1] not in wordy:
                by_text.setdefault(cell[2], []).append(cell)
        texts = sorted(by_text, key=lambda text: -len(by_text[text]))
        for text in texts[:_TOKENS]:
            cells = by_text[text]
            verb = self._are_none(cells, len(cells))
            row, column, _ = cells[0]
            detail = f"First: row {row}, {self.layout.title(column)}"
            fix = ("Treat as missing", "missing", Added((text,)))
            message = f"{counted(len(cells), 'cell')} with “{_shortened(text)}” {verb}"
            only = len({column for _, column, _ in cells}) == 1
            other = (
                ("Use the column as a label", "labels", Added((column,))) if only and self._labels else None
            )
            found.append(self._issue(cells, message, detail, fix, other))
        rest = texts[_TOKENS:]
        if rest:
            cells = [cell for cell in self._bad if cell[2] in set(rest) and cell[1] not in wordy]
            verb = self._are_none(cells, len(rest))
            fix = ("Treat all as missing", "missing", Added(tuple(rest)))
            found.append(
                self._issue(cells, f"{counted(len(rest), 'further text')} {verb}", _examples(rest), fix)
            )
        return found

    def _are_none(self, cells: Sequence[Cell], number: int) -> str:
        """That so many of the cells are not what is expected there."""
        if all(column in self.layout.date_orders for _, column, _ in cells):
            return agree(number, "is no date", "are no dates")
        return agree(number, "is no number", "are no numbers")

    def _column_issue(self, column: int) -> Issue:
        cells = [cell for cell in self._bad if cell[1] == column]
        texts = list(dict.fromkeys(text for _, _, text in cells))
        return self._issue(
            cells,
            f"{counted(len(cells), 'cell')} in {self.layout.title(column)} {self._are_none(cells, len(cells))}",
            _examples(texts),
            ("Use the column as a label", "labels", Added((column,))),
            ("Treat as missing", "missing", Added(tuple(texts))),
        )

    def _marks_issue(self, mark: str, cells: list[Cell]) -> Issue:
        row, column, text = cells[0]
        detail = f"First: “{_shortened(text)}”, row {row}, {self.layout.title(column)}"
        number, verb = counted(len(cells), "number"), agree(len(cells), "has", "have")
        if mark != "%":
            word = THOUSANDS_WORDS[mark]
            message = (
                f"{number} {verb} {'an' if word[0] == 'a' else 'a'} {word} between groups of three digits"
            )
            fix = (f"Read the {word} as thousands mark", "thousands", mark)
            return self._issue(cells, message, detail, fix)
        parser = self.layout.parser()
        shown = ["", ""]
        for index, parser.percent in enumerate(("number", "share")):
            with suppress(BadCell):
                shown[index] = f" ({parser.cell(text):g})"
        return self._issue(
            cells,
            f"{number} {verb} a percent sign",
            detail,
            (f"Leave out the sign{shown[0]}", "percent", "number"),
            (f"Read as a share{shown[1]}", "percent", "share"),
        )

    def _inexact_issue(self, what: str, cells: list[Cell]) -> Issue:
        row, column, text = cells[0]
        becomes = "" if what == "large" else f" would become {_nearest(text, what)}"
        detail = f"First: “{_shortened(text)}”{becomes}, row {row}, {self.layout.title(column)}"
        message = f"{counted(len(cells), 'number')} {_INEXACT[what][len(cells) > 1]}"
        if what == "large":
            return self._issue(cells, message, detail, ("Treat as missing", "infinite", "missing"))
        fix = ("Take the nearest number", "inexact", "nearest")
        return self._issue(cells, message, detail, fix, ("Treat as missing", "inexact", "missing"))


def offered_mark(text: str, layout: Layout) -> str:
    """The thousands mark, or ``%``, without which a text would be a number and that was not allowed; empty of any other text."""
    marks = marks_of(text)
    if marks is None:
        return ""
    grouped = marks.thousands or one_group(marks.plain, layout.decimal)
    if grouped and grouped != layout.thousands:
        return grouped
    return "%" if marks.percent and not layout.percent else ""


def inexact_error(location: str, text: str, what: str) -> DataError:
    """The refusal of a number that cannot be held as it is written."""
    hint = "Read it as missing with the option “infinite”, or mend the cell."
    if what != "large":
        hint = "Choose with the option “inexact”: nearest (the nearest number) or missing; or use the column as a label."
    becomes = "" if what == "large" else f"; it would become {_nearest(text, what)}"
    return DataError(f"{location}: “{_shortened(text)}” {_INEXACT[what][0]}{becomes}.", hint)


def _nearest(text: str, what: str) -> str:
    digits = re.sub(r"[^\d+-]", "", text)
    return "0" if what == "small" or not digits.lstrip("+-") else f"{float(digits):.0f}"


def _examples(texts: Sequence[str], limit: int = 4) -> str:
    shown = ", ".join(f"“{_shortened(text, 20)}”" for text in texts[:limit])
    return f"{shown}{', …' if len(texts) > limit else ''}"


def _mark_name(mark: str) -> str:
    return "a decimal comma" if mark == "," else "a decimal point"


def _shortened(text: str, limit: int = 40) -> str:
    """The text as it can be shown: not too long, and what cannot be seen as Python writes it."""
    text = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"
