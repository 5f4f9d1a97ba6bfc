"""Columns of words that are measured: each word becomes a number, and the columns say which (:mod:`plaidwork.core.data.levels`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from plaidwork.core.data.importers._answers import are_ordered, in_known_order
from plaidwork.core.data.importers._findings import distinct_names
from plaidwork.core.data.importers._layout import Layout, column_index
from plaidwork.core.data.importers._marks import like_number
from plaidwork.core.data.importers._numbers import DEFAULT_MISSING
from plaidwork.core.data.importers._row_numbers import listed
from plaidwork.core.data.importers.base import Added, ImportOptions, Issue, RawTable
from plaidwork.core.data.levels import BETWEEN, LEVELS, first_number, level_text
from plaidwork.core.data.measured import may_be_called_outcome, may_part_items
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

MOST_WORDS = 100
"""Different words of a column that are categories, at most."""
_USUAL, _FEWEST = 12, 10
"""Different words of a column that is offered, at most, and filled cells that it needs."""
_SEVERAL = 2
"""Columns that make a table of their own, where no other holds numbers."""


def categories_of(
    layout: Layout, options: ImportOptions, present: Sequence[Sequence[str]]
) -> tuple[int, ...]:
    """The columns of words that are measured: those that are asked for, and those of a table without numbers.

    ``present`` are the filled cells of each column in the first rows. Raises ``DataError`` for a column that is not there.
    """
    given = options.get("categories")
    if given is not None:
        items = (given,) if isinstance(given, (str, int)) else given
        chosen = (column_index(layout, item, "categories") for item in items)
        return tuple(dict.fromkeys(index for index in chosen if index not in (layout.names, *layout.skip)))
    if layout.value_columns or layout.alleles or options.get("column") is not None:
        return ()
    found = tuple(index for index in layout.labels if _few(present[index], least=1))
    layout.detected.add("categories")
    return found if sum(_few(present[index]) for index in found) >= _SEVERAL else ()


def _few(cells: Sequence[str], least: int = 2) -> bool:
    """Whether words come back as categories do; of a sorted table the first rows may have ``least`` one."""
    words = {_word(cell) for cell in cells}
    return len(cells) >= _FEWEST and least <= len(words) <= min(_USUAL, len(cells) // 2)


def _word(cell: str) -> str:
    return re.sub(r"\s+", " ", cell.strip()).replace(BETWEEN.strip(), "/")


def categories_issue(
    layout: Layout, options: ImportOptions, present: Sequence[Sequence[str]]
) -> Issue | None:
    """That columns of words are measured as there are no others, or can be; None where there are none, or somebody said which."""
    if options.get("categories"):
        return None
    titles = [f"“{layout.titles[index]}”" for index in layout.categories]
    if titles:
        return Issue(
            "warning",
            f"No column holds numbers: {counted(len(titles), 'column')} of words are read as categories",
            f"{listed(titles)}. As labels of other data, choose the file as their table of classes",
            column=layout.categories[0] + 1,
        )
    found = [index for index in layout.labels if _few(present[index])]
    found = [index for index in found if not may_be_called_outcome(layout.titles[index])]
    found = [index for index in found if not all(map(like_number, present[index]))]  # an outcome in numbers
    found = [index for index in found if not may_part_items(layout.titles[index], present[index])]
    found = [
        index for index in found if not are_ordered({_word(cell) for cell in present[index]})
    ]  # told apart
    if not found or not (layout.value_columns or layout.alleles):
        return None
    titles = [f"“{layout.titles[index]}”" for index in found]
    return Issue(
        "info",
        f"{counted(len(found), 'column')} of words {agree(len(found), 'is a label', 'are labels')}, and not measured",
        f"{listed(titles)}. Mixtures of clusters can take them as categories",
        column=found[0] + 1,
        fix=("Measure them as categories" if len(found) > 1 else "Measure it as categories", "categories", Added(tuple(found))),
    )  # fmt: skip


def add_categories(raw: RawTable, layout: Layout, labels: dict[str, list[str]], whole: bool = True) -> None:
    """The columns that are measured so behind the others of a table, with their words; they are taken out of ``labels``.

    Without ``whole`` the rows are the first of a longer file, whose columns may seem to have one word.

    Raises
    ------
    DataError : a column of one word, or of more than are categories, by name.
    """
    titles = distinct_names([layout.titles[index] or f"column {index + 1}" for index in layout.labels])
    chosen = [title for title, index in zip(titles, layout.labels, strict=True) if index in layout.categories]
    detected = "categories" in layout.detected
    missing = {text.lower() for text in (*layout.missing, "")}
    if layout.missing == DEFAULT_MISSING:
        missing -= {"none"}  # a word like others, as of a treatment
    numbers, texts = [], []
    for title in list(chosen):
        codes, words = _coded(labels[title], missing)
        if whole and not 2 <= len(words) <= MOST_WORDS:
            if detected:
                chosen.remove(title)  # stays a label
                continue
            raise DataError(
                f"{raw.path.name}, column “{title}”: categories are 2 to {MOST_WORDS} different words, found {len(words)}.",
                "Use the column as a label (option “categories”).",
            )
        del labels[title]
        numbers.append(codes)
        texts.append(level_text(words))
    add_columns(raw, numbers, chosen, LEVELS, texts)


def add_columns(
    raw: RawTable, columns: Sequence[np.ndarray], names: Sequence[str], title: str, texts: Sequence[str]
) -> None:
    """Measured columns (n,) behind those of a table, with a text for each in an annotation of that title, where the others have none."""
    numbers = len(raw.column_names)
    beside = {
        other: np.concatenate([entry, np.full(len(names), "" if entry.dtype.kind == "U" else np.nan)])
        for other, entry in raw.column_table.items()
    }
    raw.values = np.column_stack([raw.values, *columns])
    raw.column_names = (*raw.column_names, *names)
    raw.column_table = {**beside, title: np.array([""] * numbers + list(texts), dtype=str)}


def _coded(cells: Sequence[str], missing: set[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The number of each cell, NaN where it is missing, and the words: in their order where everybody agrees on one, else in that of texts."""
    found = [_word(cell) for cell in cells]
    words = in_known_order({word for word in found if word.lower() not in missing})
    number: Mapping[str, int] = {word: place + first_number(words) for place, word in enumerate(words)}
    return np.array([number.get(word, np.nan) for word in found], float), words
