"""The layout of one delimited file, and the words for its rows and columns."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plaidwork.core.data.dataset import SamplesIn
from plaidwork.core.data.importers._beside import names_total
from plaidwork.core.data.importers._numbers import DEFAULT_MISSING, DecimalEvidence, NumberParser
from plaidwork.core.data.importers._sheet import Sheet
from plaidwork.core.data.importers._text import Records
from plaidwork.core.data.importers.base import Issue, Progress
from plaidwork.core.data.sample_words import FEATURE_WORDS, SAMPLE_WORDS
from plaidwork.core.draws.counting import plural
from plaidwork.core.errors import DataError

RATER_WORDS = {"rater", "annotator", "assessor", "coder", "grader", "judge", "observer", "reviewer"}
"""Titles of columns that say who rated, even where the raters are numbered."""
NAME_WORDS = FEATURE_WORDS | SAMPLE_WORDS | {"id", "name", "index", "row", "rowname", "rownames", "key", ""}


@dataclass(slots=True)
class Layout:
    """How to read one delimited file. Columns count from 0; ``names`` is -1 when rows have no names."""

    encoding: str = "utf-8"
    delimiter: str = ","
    decimal: str = "."
    missing: tuple[str, ...] = DEFAULT_MISSING
    header: bool = True
    names: int = -1
    labels: tuple[int, ...] = ()
    categories: tuple[int, ...] = ()
    """Those of the labels whose words are measured."""
    alleles: tuple[int, ...] = ()
    """Columns that hold the first allele of a locus; the second is in the next one."""
    skip: tuple[int, ...] = ()
    skip_rows: int = 0
    above: Issue | None = None
    """That the table begins further down, below a heading; where nobody has said what the first row is."""
    units: int = 0
    """The row of the file that holds units instead of numbers; 0 for none."""
    drop_units: bool = False
    labels_above: Sequence[tuple[int, Sequence[str]]] = ()
    """Rows under the titles (row of the file, fields) that hold labels of the columns."""
    label_rows: int = 0
    """How many of them are used so; else they are told."""
    drop_totals: bool = False
    answers: Mapping[str, int] = field(default_factory=dict)
    """Numbers that answers in words become, by their key."""
    dates: str = ""
    """As what dates are read, as the option says; empty for labels."""
    date_orders: Mapping[int, str] = field(default_factory=dict)
    """The order of day, month and year by column of those columns that are read as dates."""
    samples_in: SamplesIn = ""
    titles: tuple[str, ...] = ()
    detected: set[str] = field(default_factory=set)
    unclear: dict[str, str] = field(default_factory=dict)
    thousands: str = ""
    percent: str = ""
    evidence: DecimalEvidence = field(default_factory=DecimalEvidence)
    head: list[tuple[int, list[str]]] = field(default_factory=list)
    sheet: Sheet | None = None
    issues: list[Issue] = field(default_factory=list)

    def parser(self) -> NumberParser:
        """What turns the cells into numbers."""
        return NumberParser(self.decimal or ".", self.missing, self.thousands, self.percent)

    def records(
        self, path: Path, progress: Progress | None = None
    ) -> Generator[tuple[int, list[str]], None, None]:
        """The rows of the file (or of the sheet) as ``(row, fields)``, from 1, without those that are to be left out."""
        if self.sheet is not None:
            found = self.sheet.records(self.decimal, progress)
        else:
            found = iter(Records(path, self.encoding, self.delimiter, progress))
        return self._kept(found) if self.drop_units or self.drop_totals or self.label_rows else found

    def _kept(
        self, records: Generator[tuple[int, list[str]], None, None]
    ) -> Generator[tuple[int, list[str]], None, None]:
        first, above = True, {row for row, _ in self.labels_above} if self.label_rows else set()
        with closing(records):
            for row, fields in records:
                below, first = not first, first and row <= self.skip_rows
                units = (self.drop_units and row == self.units) or row in above
                if not units and not (below and self.drop_totals and names_total(fields)):
                    yield row, fields

    @property
    def n_columns(self) -> int:
        return len(self.titles)

    @property
    def value_columns(self) -> list[int]:
        other = {self.names, *self.labels, *self.skip, *self.allele_columns}
        return [index for index in range(self.n_columns) if index not in other]

    @property
    def allele_columns(self) -> list[int]:
        """Both columns of each locus."""
        return [place for index in self.alleles for place in (index, index + 1)]

    @property
    def measures(self) -> bool:
        """Whether any column becomes a measurement."""
        return bool(self.value_columns or self.categories or self.alleles)

    @property
    def roles(self) -> tuple[str, ...]:
        roles = ["value"] * self.n_columns
        for index in self.skip:
            roles[index] = "skip"
        for index in self.labels:
            roles[index] = "value" if index in self.categories else "label"
        if self.names >= 0:
            roles[self.names] = "name"
        return tuple(roles)

    def title(self, index: int) -> str:
        """A column for messages: its name and number."""
        return f"column {self.place(index)}"

    def place(self, index: int) -> str:
        """Number (letters in a sheet) and name of a column."""
        name = self.titles[index] if index < len(self.titles) else ""
        location = str(index + 1) if self.sheet is None else self.sheet.letters(index)
        return f"{location} “{name}”" if self.header and name else location


def word_of(title: str) -> str:
    return re.sub(r"[ _.-]?(id|ids|name|names|symbol|s)$", "", title.strip().lower()) if title else ""


def unclear_error(path: Path, layout: Layout, location: str = "") -> DataError:
    """The refusal to guess a decimal mark, or one of several sheets."""
    if "sheet" in layout.unclear:
        return DataError(f"{path.name}: {layout.unclear['sheet']}", "Choose one with the option “sheet”.")
    where = f"{path.name}, {location}" if location else path.name
    return DataError(
        f"{where}: the decimal mark cannot be told. {layout.unclear['decimal']}",
        "Choose the decimal mark, “.” or “,”, with the option “decimal”.",
    )


def decimal_issue(layout: Layout) -> Issue:
    """That the decimal mark is not known, with what each choice makes of the numbers; only one where the other mark cannot be meant."""
    evidence = layout.evidence
    text = evidence.comma_unsure or evidence.point_unsure
    read = {mark: text.replace(other, "").replace(",", ".") for mark, other in (".,", ",.")}
    point = (f"It is the point: {text} is {read['.']}" if text else "It is the point", "decimal", ".")
    comma = (f"It is the comma: {text} is {read[',']}" if text else "It is the comma", "decimal", ",")
    fixes = [point, comma]
    if not evidence.both:
        fixes = [
            fix for fix, ruled_out in zip(fixes, (evidence.comma, evidence.point)) if not ruled_out
        ] or fixes
    return Issue(
        "error",
        "The decimal mark cannot be told",
        layout.unclear["decimal"],
        fix=fixes[0],
        other=fixes[1] if len(fixes) > 1 else None,
    )


def column_index(layout: Layout, value: Any, option: str) -> int:
    """A column given by number (from 0) or title. Raises ``DataError`` for one that is not there."""
    if isinstance(value, str):
        if value in layout.titles:
            return layout.titles.index(value)
        known = ", ".join(layout.titles[:10])
        raise DataError(
            f"The option {option} names a column “{value}” that is not in the file.", f"It has: {known}."
        )
    if value is None:
        return -1
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < layout.n_columns:
        raise DataError(
            f"The option {option} needs a column from 0 to {layout.n_columns - 1}. Found “{value}”."
        )
    return value


def axis_words(layout: Layout) -> tuple[str, str]:
    """What a row and a column is called, in the plural."""
    word = word_of(layout.titles[layout.names]) if layout.names >= 0 and layout.header else ""
    if not layout.samples_in:
        return "rows", "columns"
    if layout.samples_in == "columns":
        return (plural(word) if word in FEATURE_WORDS else "features"), "samples"
    return (plural(word) if word in SAMPLE_WORDS else "samples"), "features"


def known_plural(word: str, otherwise: str) -> str:
    """The plural of a word for samples or features that is known, else ``otherwise``."""
    return plural(word) if word and word in FEATURE_WORDS | SAMPLE_WORDS else otherwise
