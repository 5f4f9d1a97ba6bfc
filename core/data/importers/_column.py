"""One column of a table as a vector or as labels, and small tables of annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers._layout import Layout, axis_words, column_index, unclear_error
from plaidwork.core.data.importers._matrix import checked_names
from plaidwork.core.data.importers._numbers import BadCell, as_annotation, find_inexact
from plaidwork.core.data.importers._problems import inexact_error
from plaidwork.core.data.importers._sniff import sniff
from plaidwork.core.data.importers._table import load_table
from plaidwork.core.data.importers.base import ImportOptions, Progress, RawTable
from plaidwork.core.data.joining import default_names
from plaidwork.core.errors import DataError


def read_column(
    path: Path, layout: Layout, options: ImportOptions, in_force: Mapping[str, Any], progress: Progress | None
) -> RawTable:
    """One column, (n,): real, count or binary where all entries are numbers, else categorical."""
    if "sheet" in layout.unclear:
        raise unclear_error(path, layout)
    index = column_index(layout, options["column"], "column")
    names = layout.names if layout.names != index else -1
    skip = tuple(i for i in range(layout.n_columns) if i not in (index, names))
    table = load_table(path, replace(layout, names=names, labels=(index,), skip=skip), options, progress)
    texts = next(iter(table.labels.values()))
    rows = table.names if table.names is not None else default_names("row", len(texts))
    title = layout.titles[index] if layout.header else f"column {index + 1}"
    words = (axis_words(layout)[0], "")
    wanted = options.get("kind")
    numbers = None if wanted == "categorical" else _numbers(path, layout, texts, index, options)
    if numbers is not None:
        return RawTable(path, title, numbers, rows, words=words, in_force=in_force)
    codes, categories = encode(texts, layout.missing)
    return RawTable(path, title, codes, rows, words=words, categories=categories, in_force=in_force)


def _numbers(
    path: Path, layout: Layout, texts: Sequence[str], index: int, options: ImportOptions
) -> np.ndarray | None:
    if layout.unclear and index in layout.value_columns:
        raise unclear_error(path, layout)
    parser = layout.parser()
    try:
        values = np.array([parser.cell(text, row) for row, text in enumerate(texts)])
    except BadCell as bad:
        if options.get("kind") is not None:
            raise DataError(
                f"{path.name}, {layout.title(index)}: expected numbers, found “{bad.text}” in entry {bad.index + 1}.",
                "Import the column as labels.",
            ) from None
        return None
    for row, what in find_inexact(texts, values):
        rule = options.get("infinite" if what == "large" else "inexact")
        if rule == "missing":
            values[row] = np.nan
        elif what == "large" or rule != "nearest":
            raise inexact_error(f"{path.name}, {layout.title(index)}, entry {row + 1}", texts[row], what)
    if options.get("infinite") == "missing":
        values[np.isinf(values)] = np.nan
    if np.isinf(values).any():
        first = int(np.flatnonzero(np.isinf(values))[0])
        raise DataError(
            f"{path.name}, {layout.title(index)}: expected finite numbers, found “{texts[first]}” in entry {first + 1}."
        )
    return values


def encode(texts: Sequence[str], missing: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Codes (-1 missing) and the sorted texts they stand for."""
    known = {token.lower() for token in missing}
    categories = tuple(sorted({text for text in texts if text.lower() not in known}))
    code_of = {text: code for code, text in enumerate(categories)}
    return np.array([code_of.get(text, -1) for text in texts], dtype=np.int64), categories


@dataclass(frozen=True, slots=True)
class Annotations:
    """A table of labels: a name per row and one array per further column (text, or numbers with NaN)."""

    names: tuple[str, ...]
    columns: Mapping[str, np.ndarray]


def read_annotations(path: Path, options: ImportOptions | None = None) -> Annotations:
    """A table whose first column (or the option ``names``) holds names, and whose others are labels."""
    options = options or {}
    layout = sniff(path, {"names": 0, **options})
    if layout.n_columns < 2:
        raise DataError(
            f"{path.name} needs a column of names and at least one column of labels. Found one column.",
            "Check the separator.",
        )
    if layout.names < 0:
        raise DataError(f"{path.name} needs a column of names.", "Choose which column holds them.")
    if layout.unclear:
        raise unclear_error(path, layout)
    other = tuple(i for i in range(layout.n_columns) if i != layout.names and i not in layout.skip)
    table = load_table(path, replace(layout, labels=other), options)
    parser = layout.parser()
    columns = {title: as_annotation(texts, parser) for title, texts in table.labels.items()}
    return Annotations(checked_names(path.name, table.names or (), "row", options), columns)
