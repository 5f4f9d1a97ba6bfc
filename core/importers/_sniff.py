"""How a delimited file is laid out: what is given, what is detected, what only the user can tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from plaidwork.core.errors import DataError
from plaidwork.core.importers._numbers import DEFAULT_MISSING, DecimalEvidence, is_number
from plaidwork.core.importers._text import ENCODINGS, Records, parse_tokens, sniff_encoding
from plaidwork.core.importers.base import ImportOptions

HEAD_ROWS = 200
DELIMITERS = {",": "Comma  ,", "\t": "Tab", ";": "Semicolon  ;", " ": "Space", "|": "Bar  |"}
_FEATURE_WORDS = {
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
_SAMPLE_WORDS = {
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
}
_NAME_WORDS = (
    _FEATURE_WORDS | _SAMPLE_WORDS | {"id", "name", "index", "row", "rowname", "rownames", "key", ""}
)


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
    skip: tuple[int, ...] = ()
    skip_rows: int = 0
    samples_in: str = ""
    titles: tuple[str, ...] = ()
    detected: set[str] = field(default_factory=set)
    unclear: dict[str, str] = field(default_factory=dict)
    grouped: bool = False
    evidence: DecimalEvidence = field(default_factory=DecimalEvidence)
    head: list[tuple[int, list[str]]] = field(default_factory=list)

    @property
    def n_columns(self) -> int:
        return len(self.titles)

    @property
    def value_columns(self) -> list[int]:
        other = {self.names, *self.labels, *self.skip}
        return [index for index in range(self.n_columns) if index not in other]

    @property
    def roles(self) -> tuple[str, ...]:
        roles = ["value"] * self.n_columns
        for index in self.skip:
            roles[index] = "skip"
        for index in self.labels:
            roles[index] = "label"
        if self.names >= 0:
            roles[self.names] = "name"
        return tuple(roles)

    def title(self, index: int) -> str:
        """A column for messages: its name and number."""
        name = self.titles[index] if index < len(self.titles) else ""
        return f"column {index + 1} “{name}”" if self.header and name else f"column {index + 1}"


def sniff(path: Path, options: ImportOptions, lenient: bool = False) -> Layout:
    """The layout of a file. ``lenient`` reads undecodable bytes as question marks, for a preview."""
    layout = Layout()
    layout.encoding = _given(layout, options, "encoding", lambda: sniff_encoding(path), ENCODINGS)
    layout.skip_rows = int(options.get("skip_rows", 0))
    layout.missing = parse_tokens(options.get("missing", DEFAULT_MISSING))
    if "missing" not in options:
        layout.detected.add("missing")
    layout.delimiter = _given(
        layout, options, "delimiter", lambda: _delimiter(path, layout, lenient), DELIMITERS
    )
    head = _head(path, layout, layout.delimiter, lenient)
    if not head:
        raise DataError(f"{path.name} holds no rows.", "Check that the file was written to its end.")
    body = head[1:] or head
    width = _width(body)
    layout.header = bool(
        _given(layout, options, "header", lambda: _has_header(head, width, layout), (True, False))
    )
    first = head[0][1]
    if layout.header:
        head = head[1:]
        if len(first) == width - 1:
            # a separator at the end of every row, or as R writes it: no title above the row names
            trailing = all(not fields[-1].strip() for _, fields in head if len(fields) == width)
            first = [*first, ""] if trailing else ["", *first]
        layout.titles = tuple(title.strip() for title in first)
    else:
        layout.titles = tuple(f"column {index + 1}" for index in range(width))
    layout.head = head
    rows = [fields for _, fields in head if len(fields) == layout.n_columns]
    _find_roles(layout, options, rows)
    _find_decimal(layout, options, rows)
    _find_orientation(layout, options)
    return layout


def _given(layout: Layout, options: ImportOptions, name: str, detect: Any, allowed: Any) -> Any:
    value = options.get(name)
    if value is None:
        layout.detected.add(name)
        return detect()
    if value not in allowed:
        known = ", ".join(f"“{item}”" for item in allowed)
        raise DataError(f"The option {name} must be one of {known}. Found “{value}”.")
    return value


def _head(path: Path, layout: Layout, delimiter: str, lenient: bool) -> list[tuple[int, list[str]]]:
    records = Records(path, layout.encoding, delimiter, lenient=lenient)
    return [item for item in islice(records, HEAD_ROWS + layout.skip_rows) if item[0] > layout.skip_rows]


def _width(rows: Sequence[tuple[int, list[str]]]) -> int:
    return Counter(len(fields) for _, fields in rows).most_common(1)[0][0]


def _delimiter(path: Path, layout: Layout, lenient: bool) -> str:
    """The separator that cuts the head into the most regular rows, judged by numbers where two tie."""
    best, best_score = ",", (0.0, 0.0, 0.0)
    for rank, delimiter in enumerate(("\t", ";", ",", "|", " ")):
        try:
            rows = _head(path, layout, delimiter, lenient)[:50]
        except DataError as error:
            if "not UTF" in error.message:
                raise
            continue
        if not rows:
            continue
        width = _width(rows[1:] or rows)
        if width < 2:
            continue
        regular = sum(len(fields) == width for _, fields in rows[1:] or rows) / max(len(rows) - 1, 1)
        cells = [cell for _, fields in rows[1:] or rows for cell in fields[:200]]
        known = {token.lower() for token in layout.missing}
        numeric = sum(is_number(cell) or cell.strip().lower() in known for cell in cells) / len(cells)
        score = (round(regular, 1), round(numeric, 1), -rank)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _has_header(head: Sequence[tuple[int, list[str]]], width: int, layout: Layout) -> bool:
    if len(head) < 2:
        return not any(is_number(cell) for cell in head[0][1])
    first, body = head[0][1], [fields for _, fields in head[1:] if len(fields) == width]
    if len(first) == width - 1:
        return True
    known = {token.lower() for token in layout.missing}
    for index, cell in enumerate(first[:width]):
        below = [fields[index].strip() for fields in body]
        below = [text for text in below if text.lower() not in known]
        if cell.strip().lower() in known or is_number(cell):
            continue
        if below and sum(map(is_number, below)) >= 0.5 * len(below):
            return True
    bare = [cell.strip() for cell in first]
    numbered = bare if is_number(bare[0]) else bare[1:]
    if numbered in ([str(i) for i in range(len(numbered))], [str(i + 1) for i in range(len(numbered))]):
        # 0, 1, 2, … above the columns, as pandas writes it; a short row of that kind may well be data
        titled = numbered is not bare and _word(bare[0]) in _NAME_WORDS
        return len(numbered) >= (2 if titled else 5)
    # a table of labels only: a first row whose texts never come back below is a header
    return not any(is_number(cell) for cell in bare) and all(
        cell and all(fields[index].strip() != cell for fields in body)
        for index, cell in enumerate(bare[:width])
    )


def _find_roles(layout: Layout, options: ImportOptions, rows: Sequence[Sequence[str]]) -> None:
    """Which columns are names, labels and numbers."""
    known = {token.lower() for token in layout.missing}
    layout.skip = tuple(column_index(layout, item, "skip") for item in options.get("skip", ()))
    texts: list[int] = []
    present = []
    for index in range(layout.n_columns):
        cells = [row[index].strip() for row in rows]
        cells = [cell for cell in cells if cell.lower() not in known]
        present.append(cells)
        if cells and sum(map(is_number, cells)) < 0.5 * len(cells):
            texts.append(index)
    if "names" in options:
        layout.names = column_index(layout, options["names"], "names")
    else:
        layout.detected.add("names")
        layout.names = _find_names(layout, texts, present)
    if "labels" in options:
        layout.labels = tuple(column_index(layout, item, "labels") for item in options["labels"])
    else:
        layout.detected.add("labels")
        layout.labels = tuple(i for i in texts if i != layout.names and i not in layout.skip)
    layout.labels = tuple(index for index in layout.labels if index != layout.names)


def _find_names(layout: Layout, texts: Sequence[int], present: Sequence[Sequence[str]]) -> int:
    if layout.n_columns < 2:
        return -1
    title = layout.titles[0].lower() if layout.header else None
    cells = present[0]
    if cells and 0 not in texts and title is not None and _word(title) in _NAME_WORDS:
        whole = all(re.fullmatch(r"\d+", cell) for cell in cells)
        return 0 if whole and len(set(cells)) == len(cells) else -1
    for index in texts:
        if index in layout.skip:
            continue
        share = len(set(present[index])) / len(present[index])
        if share == 1 or (index == 0 and share >= 0.5):
            return index
    return -1


def _word(title: str) -> str:
    return re.sub(r"[ _.-]?(id|ids|name|names|symbol|s)$", "", title.strip().lower()) if title else ""


def _find_decimal(layout: Layout, options: ImportOptions, rows: Sequence[Sequence[str]]) -> None:
    given = options.get("decimal")
    if given is not None:
        if given not in (".", ","):
            raise DataError(f"The option decimal must be “.” or “,”. Found “{given}”.")
        layout.decimal, layout.grouped = given, True
        return
    evidence = layout.evidence
    for row in rows:
        for index in layout.value_columns:
            if "." in row[index] or "," in row[index]:
                evidence.add(row[index])
    if evidence.unclear:
        layout.unclear["decimal"] = evidence.unclear
        layout.decimal = ""
    else:
        layout.decimal = evidence.mark
        layout.detected.add("decimal")


def _find_orientation(layout: Layout, options: ImportOptions) -> None:
    given = options.get("samples_in")
    if given is not None:
        if given not in ("rows", "columns"):
            raise DataError(f"The option samples_in must be “rows” or “columns”. Found “{given}”.")
        layout.samples_in = given
        return
    layout.detected.add("samples_in")
    word = _word(layout.titles[layout.names]) if layout.names >= 0 and layout.header else ""
    layout.samples_in = "columns" if word in _FEATURE_WORDS else "rows"


def unclear_error(path: Path, layout: Layout) -> DataError:
    """The refusal to guess a decimal mark."""
    return DataError(
        f"{path.name}: the decimal mark cannot be told. {layout.unclear['decimal']}",
        "Choose the decimal mark, “.” or “,”.",
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
    word = _word(layout.titles[layout.names]) if layout.names >= 0 and layout.header else ""
    known = word in _FEATURE_WORDS | _SAMPLE_WORDS and bool(word)
    if not known and "samples_in" in layout.detected:
        return "rows", "columns"
    if layout.samples_in == "columns":
        return (_plural(word) if word in _FEATURE_WORDS else "features"), "samples"
    return (_plural(word) if word in _SAMPLE_WORDS else "samples"), "features"


def _plural(word: str) -> str:
    return {"mouse": "mice", "person": "people", "cpg": "CpGs", "snp": "SNPs"}.get(word, word + "s")
