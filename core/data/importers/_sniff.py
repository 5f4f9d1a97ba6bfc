"""How a delimited file is laid out: what is given, what is detected, what only the user can tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from plaidwork.core.data.importers._answers import parse_answers
from plaidwork.core.data.importers._beside import (
    above_issue,
    are_remarks,
    holds_units,
    names_total,
    remarks_issue,
    rows_above,
    units_issue,
)
from plaidwork.core.data.importers._courses import amounts
from plaidwork.core.data.importers._label_rows import labels_issue, rows_of_labels
from plaidwork.core.data.importers._layout import NAME_WORDS, Layout, word_of
from plaidwork.core.data.importers._marks import THOUSANDS_WORDS, like_number
from plaidwork.core.data.importers._matrix import checked_samples
from plaidwork.core.data.importers._numbers import DEFAULT_MISSING
from plaidwork.core.data.importers._roles import find_roles
from plaidwork.core.data.importers._sheet import is_spreadsheet, read_sheet
from plaidwork.core.data.importers._text import ENCODINGS, parse_tokens, sniff_encoding
from plaidwork.core.data.importers.base import ImportOptions, Issue
from plaidwork.core.data.reading_options import declared_choices
from plaidwork.core.data.sample_words import TWO_MEANINGS, labels_say, names_say, titles_say
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

HEAD_ROWS = 200
_SAMPLE_CELLS = 40_000
DELIMITERS = dict(declared_choices("delimiter"))


def sniff(path: Path, options: ImportOptions) -> Layout:
    """The layout of a file: options given are checked, all others detected from its first rows."""
    layout = Layout()
    layout.skip_rows = _whole(options, "skip_rows")
    layout.missing = parse_tokens(options.get("missing", DEFAULT_MISSING))
    if "missing" not in options:
        layout.detected.add("missing")
    layout.thousands, layout.percent = _marks_given(options)
    layout.drop_totals = bool(options.get("drop_totals"))
    layout.answers = parse_answers(options.get("answers"))
    layout.dates = _given(layout, options, "dates", str, ("", *dict(declared_choices("dates"))))
    if is_spreadsheet(path):
        layout.sheet = read_sheet(path, options)
        layout.issues += layout.sheet.issues
        names = layout.sheet.names
        if len(names) > 1 and options.get("sheet") is None:
            layout.unclear["sheet"] = f"The file holds {counted(len(names), 'sheet')}: {', '.join(names)}."
        _find_sheet_decimal(layout, options)
    else:
        layout.encoding = _given(layout, options, "encoding", lambda: sniff_encoding(path), ENCODINGS)
        layout.delimiter = _given(layout, options, "delimiter", lambda: _delimiter(path, layout), DELIMITERS)
    head = _head(path, layout)
    if not head:
        raise DataError(f"{path.name} holds no rows.", "Check that the file was written to its end.")
    body = head[1:] or head
    width = _width(body)
    above = 0 if {"skip_rows", "header"} & options.keys() else rows_above(head, width)
    if above and are_remarks(head[:above]):
        layout.skip_rows, layout.detected = head[above][0] - 1, layout.detected | {"skip_rows"}
        layout.issues.append(remarks_issue(head[:above]))
        head, above = head[above:], 0
    layout.above = above_issue(head, above) if above else None
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
    if layout.header:
        head = _without_labels(layout, options, _without_units(layout, options, head))
    layout.head = head
    rows = [fields for _, fields in head if len(fields) == layout.n_columns and not names_total(fields)]
    find_roles(layout, options, rows[: max(_SAMPLE_CELLS // max(layout.n_columns, 1), 20)])
    if layout.sheet is None:
        _find_decimal(layout, options, rows)
    elif layout.sheet.dated_columns <= layout.date_orders.keys():  # they become numbers after all
        layout.issues = [issue for issue in layout.issues if issue is not layout.sheet.dated]
    _find_orientation(layout, options)
    return layout


def _without_units(
    layout: Layout, options: ImportOptions, head: list[tuple[int, list[str]]]
) -> list[tuple[int, list[str]]]:
    """The rows below the titles; a row of units among them is left out when asked for, and told otherwise."""
    below = [fields for _, fields in head[1 : HEAD_ROWS // 2]]
    if not below or not holds_units(head[0][1], below, layout.missing):
        return head
    layout.units, fields = head[0]
    layout.drop_units = bool(options.get("drop_units"))
    if layout.drop_units:
        return head[1:]
    # a single column may hold labels, among which a unit is one more
    layout.issues.append(
        units_issue(layout.units, fields, "error" if options.get("column") is None else "warning")
    )
    return head


def _without_labels(
    layout: Layout, options: ImportOptions, head: list[tuple[int, list[str]]]
) -> list[tuple[int, list[str]]]:
    """The rows below labels of the columns, which are kept where they are asked for, and told otherwise."""
    number = _whole(options, "label_rows")
    if number >= len(head) > 0:
        raise DataError(
            f"The option label_rows must leave rows of numbers: {counted(len(head), 'row')} {agree(len(head), 'stands', 'stand')} "
            f"below the titles. Found “{number}”."
        )
    if number:
        layout.labels_above, layout.label_rows = tuple(head[:number]), number
        return head[number:]
    layout.labels_above = tuple(head[: rows_of_labels(head, layout.missing)]) if not layout.units else ()
    if layout.labels_above and options.get("column") is None:
        layout.issues.append(labels_issue(layout.labels_above))
    return head


def _given(layout: Layout, options: ImportOptions, name: str, detect: Any, allowed: Any) -> Any:
    value = options.get(name)
    if value is None:
        layout.detected.add(name)
        return detect()
    if value not in allowed:
        known = ", ".join(f"“{item}”" for item in allowed)
        raise DataError(f"The option {name} must be one of {known}. Found “{value}”.")
    return value


def _whole(options: ImportOptions, name: str) -> int:
    value = options.get(name) or 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(f"The option {name} must be a whole number from 0. Found “{value}”.")
    return value


def _marks_given(options: ImportOptions) -> tuple[str, str]:
    """The thousands mark and the meaning of percent signs, where given."""
    thousands, percent = options.get("thousands"), options.get("percent")
    if thousands not in (None, "none", *THOUSANDS_WORDS):
        known = ", ".join(f"“{mark}” ({word})" for mark, word in THOUSANDS_WORDS.items())
        raise DataError(f"The option thousands must be one of {known} or none. Found “{thousands}”.")
    if percent not in (None, "number", "share"):
        raise DataError(f"The option percent must be “number” or “share”. Found “{percent}”.")
    return "" if thousands in (None, "none") else thousands, percent or ""


def _head(path: Path, layout: Layout) -> list[tuple[int, list[str]]]:
    with closing(layout.records(path)) as records:
        first = islice(records, HEAD_ROWS + layout.skip_rows)
        return [item for item in first if item[0] > layout.skip_rows]


def _width(rows: Sequence[tuple[int, list[str]]]) -> int:
    return Counter(len(fields) for _, fields in rows).most_common(1)[0][0]


def _delimiter(path: Path, layout: Layout) -> str:
    """The separator that cuts the head into the most regular rows, judged by numbers where two tie.

    A file that is called so is read at tabs as soon as it has one.
    """
    named = re.search(r"\.(tsv|tab)(\.gz)?$", path.name.lower())
    if named and any(len(fields) > 1 for _, fields in _head(path, replace(layout, delimiter="\t"))):
        return "\t"
    best, best_score = ",", (0.0, 0.0, 0.0)
    for rank, delimiter in enumerate(("\t", ";", ",", "|", " ")):
        try:
            rows = _head(path, replace(layout, delimiter=delimiter))[:50]
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
        if len(rows[0][1]) == 1:
            regular /= 2  # titles that it does not cut stand above the cells of another separator
        cells = [cell for _, fields in rows[1:] or rows for cell in fields[:200]]
        known = {token.lower() for token in layout.missing}
        numeric = sum(like_number(cell) or cell.strip().lower() in known for cell in cells) / len(cells)
        score = (round(regular, 1), round(numeric, 1), -rank)
        if score > best_score:
            best, best_score = delimiter, score
    if named and best_score[0]:
        found = DELIMITERS[best].split()[0].lower()
        layout.issues.append(
            Issue(
                "warning",
                f"The file is called {named[0]} but holds no tab",
                f"Its cells are separated by {found}s. Choose another separator if that is wrong.",
            )
        )
    return best


def _counts_rows(cells: Iterable[str]) -> bool:
    """Whether the first column numbers the rows: whole numbers that grow."""
    found = [cell.strip() for cell in cells]
    whole = len(found) > 1 and all(map(str.isdecimal, found))
    return whole and all(int(one) < int(other) for one, other in pairwise(found))


def _has_header(head: Sequence[tuple[int, list[str]]], width: int, layout: Layout) -> bool:
    if len(head) < 2:
        return not any(like_number(cell) for cell in head[0][1])
    first, body = head[0][1], [fields for _, fields in head[1:] if len(fields) == width]
    if len(first) == width - 1:
        return True
    known = {token.lower() for token in layout.missing}
    for index, cell in enumerate(first[:width]):
        below = [fields[index].strip() for fields in body]
        below = [text for text in below if text.lower() not in known]
        if cell.strip().lower() in known or like_number(cell):
            continue
        if below and sum(map(like_number, below)) >= 0.5 * len(below):
            return True
    bare = [cell.strip() for cell in first]
    numbered = bare if like_number(bare[0]) else bare[1:]
    if numbered in ([str(i) for i in range(len(numbered))], [str(i + 1) for i in range(len(numbered))]):
        # 0, 1, 2, … above the columns, as pandas writes it; a short row of that kind may well be data
        titled = numbered is not bare and word_of(bare[0]) in NAME_WORDS
        return len(numbered) >= (2 if titled else 5)
    if not bare[0] and all(bare[1:]) and len(bare) > 1 and _counts_rows(fields[0] for fields in body):
        return True  # as R writes it: numbers of the rows below no title
    # a table of labels only: a first row whose texts never come back below is a header
    return not any(like_number(cell) for cell in bare) and all(
        cell and all(fields[index].strip() != cell for fields in body)
        for index, cell in enumerate(bare[:width])
    )


def _find_decimal(layout: Layout, options: ImportOptions, rows: Sequence[Sequence[str]]) -> None:
    if _decimal_given(layout, options):
        return
    evidence = layout.evidence
    columns = [index for index in layout.value_columns if index not in layout.date_orders]
    beside = amounts(layout)
    for row in rows:
        for index in (*columns, *beside):
            cell = row[index]
            if index in beside and not like_number(cell):  # 1.4.2020 in a label leaves nothing open
                continue
            if ("." in cell and not evidence.point) or "," in cell:
                evidence.add(cell)
    _take_evidence(layout)
    if not evidence.unclear:
        layout.detected.add("decimal")


def _decimal_given(layout: Layout, options: ImportOptions) -> bool:
    """Whether decimal mark is settled by an option: its own, or a thousands mark that leaves only the other."""
    given = options.get("decimal")
    if given is None and layout.thousands in (",", "."):
        layout.decimal = "." if layout.thousands == "," else ","
        return True
    if given is None:
        return False
    if given not in (".", ","):
        raise DataError(f"The option decimal must be “.” or “,”. Found “{given}”.")
    if layout.thousands == given:
        raise DataError(f"“{given}” cannot be both the decimal mark and the thousands mark.")
    layout.decimal = given
    if options.get("thousands") is None:  # who chose between the two marks has said what the other one is
        layout.thousands = "," if given == "." else "."
    return True


def _take_evidence(layout: Layout) -> None:
    layout.decimal = layout.evidence.mark
    if layout.evidence.unclear:
        layout.unclear["decimal"] = layout.evidence.unclear


def _find_sheet_decimal(layout: Layout, options: ImportOptions) -> None:
    """Numbers of a sheet are numbers; only those kept as text leave the mark open."""
    assert layout.sheet is not None
    if _decimal_given(layout, options):
        return
    for text in layout.sheet.texts:
        if like_number(text):
            layout.evidence.add(text)
    _take_evidence(layout)


def _find_orientation(layout: Layout, options: ImportOptions) -> None:
    given = options.get("samples_in")
    if given is not None:
        layout.samples_in = checked_samples(given)
        return
    layout.detected.add("samples_in")
    named = layout.names >= 0
    word = word_of(layout.titles[layout.names]) if named and layout.header else ""
    rows = [fields[layout.names] for _, fields in layout.head if len(fields) > layout.names] if named else []
    columns = [layout.titles[index] for index in layout.value_columns]
    said = "" if word in TWO_MEANINGS else labels_say(word, "")
    said = said or names_say(rows, columns) or ("columns" if layout.label_rows else "")
    if not said and layout.header:
        said = "rows" if layout.categories or layout.alleles else titles_say(rows, columns)
    layout.samples_in = said
