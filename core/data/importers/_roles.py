"""Which columns of a table are names, labels, categories and numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from plaidwork.core.data.importers._alleles import (
    alleles_issue,
    alleles_of,
    beside_issue,
    beside_loci,
)
from plaidwork.core.data.importers._answers import answers_issue, as_key
from plaidwork.core.data.importers._categories import categories_issue, categories_of
from plaidwork.core.data.importers._courses import (
    dated_course,
    dated_issue,
    over_time,
    over_time_issue,
    years_of,
)
from plaidwork.core.data.importers._dates import date_columns, dates_issues
from plaidwork.core.data.importers._layout import NAME_WORDS, RATER_WORDS, Layout, column_index, word_of
from plaidwork.core.data.importers._marks import like_number
from plaidwork.core.data.importers._row_numbers import (
    described_issue,
    identifier_issue,
    identifiers,
    labelled_issue,
    numbering_issues,
    outcome_issue,
    outcomes,
    tells_labelled,
    time_issue,
    times,
    titled_number,
)
from plaidwork.core.data.importers.base import ImportOptions, Issue
from plaidwork.core.data.running_text import mean_length
from plaidwork.core.draws.counting import agree, counted

_PADDED = re.compile(r"0\d+\Z", re.ASCII)


def find_roles(layout: Layout, options: ImportOptions, rows: Sequence[Sequence[str]]) -> None:
    """Which columns are names, labels and numbers."""
    known = {token.lower() for token in layout.missing}
    layout.skip = tuple(column_index(layout, item, "skip") for item in _listed(options.get("skip", ())))
    texts: list[int] = []
    mixed: dict[int, tuple[int, int]] = {}
    present = []
    for index in range(layout.n_columns):
        cells = [row[index].strip() for row in rows]
        present.append([cell for cell in cells if cell.lower() not in known])
    course = dated_course(layout, options, present)
    if course >= 0:
        layout.dates = years_of(present[course])
        layout.issues.append(dated_issue(layout, course, present[course]))
    layout.date_orders = date_columns(present, "" if layout.dates == "labels" else layout.dates)
    for index, cells in enumerate(present):
        if index in layout.date_orders:
            continue
        n_numbers = sum(like_number(cell) or as_key(cell) in layout.answers for cell in cells)
        if cells and n_numbers < 0.5 * len(cells):
            texts.append(index)
            if n_numbers >= 0.2 * len(cells):
                mixed[index] = (n_numbers, len(cells))
    codes = {} if "labels" in options else _codes(present, {*texts, *layout.skip})
    layout.names = _names_of(layout, options, sorted({*texts, *codes}), present)
    if codes and not set(range(layout.n_columns)) - {layout.names, *texts, *codes, *layout.skip}:
        codes = {}  # the only numbers there are
        layout.names = _names_of(layout, options, texts, present)
    given = [column_index(layout, item, "labels") for item in _listed(options.get("labels", ()))]
    layout.alleles = alleles_of(layout, options, present, given)
    loci = layout.allele_columns
    texts = sorted({*texts, *codes}.difference(loci))
    if "labels" in options:
        layout.labels = tuple(index for index in given if index not in loci)
    else:
        _detect_labels(layout, present, texts, mixed, codes)
    layout.labels = tuple(index for index in layout.labels if index != layout.names)
    layout.categories = categories_of(layout, options, present)
    layout.labels = tuple(sorted({*layout.labels, *layout.categories}))
    layout.issues += numbering_issues(layout, present)
    if "labels" not in options:
        layout.issues += dates_issues(layout, present)
        told = (answers_issue(layout, present), described_issue(layout, present))
        layout.issues += [issue for issue in told if issue is not None]
    told = (categories_issue(layout, options, present), alleles_issue(layout, options, present))
    layout.issues += [issue for issue in told if issue is not None]


def _detect_labels(
    layout: Layout,
    present: Sequence[Sequence[str]],
    texts: Sequence[int],
    mixed: Mapping[int, tuple[int, int]],
    codes: Mapping[int, str],
) -> None:
    """Columns of texts, of codes, and of numbers that measure nothing; and what is said of them."""
    layout.detected.add("labels")
    raters = [i for i, title in enumerate(layout.titles) if word_of(title) in RATER_WORDS and layout.header]
    values = sorted(
        set(range(layout.n_columns)) - {layout.names, *texts, *raters, *layout.allele_columns, *layout.skip}
    )
    numbers = identifiers(layout, present, values)
    marks = tells_labelled(layout, values, present)
    explained = outcomes(layout, [index for index in values if index not in (*numbers, *marks)], present)
    measured = [index for index in values if index not in (*numbers, *marks, *explained)]
    when = times(layout, measured, present)
    course = over_time(layout, measured, present)
    beside = beside_loci(layout, [index for index in measured if index not in when])
    found = sorted({*texts, *raters, *numbers, *marks, *explained, *when, *course, *beside})
    layout.labels = tuple(i for i in found if i != layout.names and i not in layout.skip)
    layout.issues += [_mixed_issue(layout, index, *mixed[index]) for index in layout.labels if index in mixed]
    layout.issues += [_code_issue(layout, index, codes[index]) for index in layout.labels if index in codes]
    layout.issues += [identifier_issue(layout, index) for index in layout.labels if index in numbers]
    layout.issues += [labelled_issue(layout, index) for index in layout.labels if index in marks]
    layout.issues += [outcome_issue(layout, index) for index in layout.labels if index in explained]
    layout.issues += [time_issue(layout, index) for index in layout.labels if index in when]
    layout.issues += [over_time_issue(layout, index) for index in layout.labels if index in course]
    layout.issues += [beside_issue(layout, beside)] if beside else []


def _names_of(
    layout: Layout, options: ImportOptions, texts: Sequence[int], present: Sequence[Sequence[str]]
) -> int:
    if "names" in options:
        return column_index(layout, options["names"], "names")
    layout.detected.add("names")
    return _find_names(layout, texts, present)


def _find_names(layout: Layout, texts: Sequence[int], present: Sequence[Sequence[str]]) -> int:
    if layout.n_columns < 2:
        return -1
    title = layout.titles[0] if layout.header else None
    cells = present[0]
    named = title is not None and (word_of(title) in NAME_WORDS or titled_number(title))
    if cells and 0 not in texts and named:
        whole = all(re.fullmatch(r"\d+", cell) for cell in cells)
        return 0 if whole and len(set(cells)) == len(cells) else -1
    for index in texts:
        if index in layout.skip:
            continue
        if mean_length(present[index]) and not (index == 0 and named):  # sentences are no names
            continue
        share = len(set(present[index])) / len(present[index])
        if share == 1 or (index == 0 and share >= 0.5):
            return index
    return -1


def _codes(present: Sequence[Sequence[str]], other: set[int]) -> dict[int, str]:
    """Columns of whole numbers some of which begin with 0, as codes do, with the first such."""
    return {
        index: next(cell for cell in cells if _PADDED.match(cell))
        for index, cells in enumerate(present)
        if index not in other and any(map(_PADDED.match, cells)) and all(map(str.isdecimal, cells))
    }


def _code_issue(layout: Layout, index: int, example: str) -> Issue:
    return Issue(
        "warning",
        f"Column {layout.place(index)} is read as labels",
        f"Numbers in it begin with 0, as codes do: “{example}”",
        column=index + 1,
        fix=("Read as numbers", "labels", [item for item in layout.labels if item != index]),
    )


def _mixed_issue(layout: Layout, index: int, n_numbers: int, n_cells: int) -> Issue:
    others = [item for item in layout.labels if item != index]
    return Issue(
        "warning",
        f"Column {layout.place(index)} is read as labels",
        f"{n_numbers} of its first {counted(n_cells, 'cell')} {agree(n_numbers, 'is a number', 'are numbers')}",
        column=index + 1,
        fix=("Read as numbers", "labels", others),
    )


def _listed(value: Any) -> Sequence[Any]:
    """One column named by itself is a list of one."""
    return (value,) if isinstance(value, (str, int)) else value
