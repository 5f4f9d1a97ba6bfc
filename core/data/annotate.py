"""Labels from a second table (sample classes, gene descriptions), joined to an axis by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._column import Annotations, read_annotations
from plaidwork.core.data.importers._text import file_sha256
from plaidwork.core.errors import DataError


@dataclass(frozen=True, slots=True)
class AnnotationReport:
    """What matched: the axis, the titles added, and how many of the names."""

    axis: Literal["rows", "columns"]
    titles: tuple[str, ...]
    n_names: int
    n_matched: int

    @property
    def text(self) -> str:
        """``83 of 83 names match``."""
        return f"{self.n_matched} of {self.n_names} names match"


class NoNamesError(DataError):
    """No name of the table is among those of the data."""


def annotate_columns(
    dataset: Dataset,
    path: str | Path,
    axis: Literal["rows", "columns"] | None = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Dataset, AnnotationReport]:
    """Add the columns of a table to ``row_table`` or ``column_table``, by the names in its first column.

    Without ``axis`` the axis with more matching names is taken. Items without partner get empty text or NaN.
    The numbers stay as they are; file and checksum are noted in the source. Raises ``DataError`` when no name matches.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path} does not exist.", "Check the name and the folder.")
    table = read_annotations(path, options)
    if axis is None:
        axis = (
            "columns"
            if _matches(table, dataset.column_names) > _matches(table, dataset.row_names)
            else "rows"
        )
    names = dataset.column_names if axis == "columns" else dataset.row_names
    known = set(table.names)
    matched = np.array([name in known for name in names], dtype=bool)
    if not matched.any():
        first, other = (names[0] if names else ""), (table.names[0] if table.names else "")
        raise NoNamesError(
            f"{path.name}: no name occurs among the {axis} of “{dataset.name}”. First names: “{other}” and “{first}”.",
            "Check that the first column of the table holds the names.",
        )
    report = AnnotationReport(axis, tuple(table.columns), len(names), int(matched.sum()))
    return attach(dataset, table, axis, path), report


def rename_rows(dataset: Dataset, names: Mapping[str, str]) -> Dataset:
    """The dataset with other names for some rows (old to new), noted in the source.

    Raises ``DataError`` when a name would occur twice.
    """
    renamed = tuple(names.get(name, name) for name in dataset.row_names)
    if len(set(renamed)) < len(renamed):
        twice = next(name for name in renamed if renamed.count(name) > 1)
        raise DataError(
            f"{dataset.name}: two rows would be called “{twice}”.", "Rename one of them in the file."
        )
    known = dict(dataset.source.options.get("rename_rows", {}))
    used = {old: new for old, new in names.items() if old in set(dataset.row_names) and old != new}
    options = {**dataset.source.options, "rename_rows": {**known, **used}}
    return dataset.with_(row_names=renamed, source=replace(dataset.source, options=options))


def attach(dataset: Dataset, table: Annotations, axis: Literal["rows", "columns"], path: Path) -> Dataset:
    """The columns of a table that was read, added by name; at least one name must match. See ``annotate_columns``."""
    names = dataset.column_names if axis == "columns" else dataset.row_names
    index_of = {name: index for index, name in enumerate(table.names)}
    index = np.array([index_of.get(name, -1) for name in names], dtype=np.int64)
    added = {title: _spread(column, index) for title, column in table.columns.items()}
    note = {"file": path.name, "sha256": file_sha256(path), "axis": axis}
    seen = dataset.source.options
    source = replace(dataset.source, options={**seen, "annotations": [*seen.get("annotations", ()), note]})
    if axis == "columns":
        return dataset.with_(column_table={**dataset.column_table, **added}, source=source)
    return dataset.with_(row_table={**dataset.row_table, **added}, source=source)


def annotate_all(
    datasets: Mapping[str, Dataset], path: str | Path, options: Mapping[str, Any] | None = None
) -> tuple[dict[str, Dataset], str]:
    """Add the columns of a table to all datasets that have names in common with it; those, and what matched in words.

    Raises ``DataError`` when no dataset has.
    """
    found: dict[str, Dataset] = {}
    messages: list[str] = []
    problem: NoNamesError | None = None
    for name, dataset in datasets.items():
        try:
            found[name], report = annotate_columns(dataset, path, options=options)
        except NoNamesError as error:
            problem = problem or error
        else:
            messages.append(f"{name}: {report.text}")
    if problem is not None and not found:
        raise problem
    return found, "; ".join(messages)


def _matches(table: Annotations, names: tuple[str, ...]) -> int:
    return len(set(table.names).intersection(names))


def _spread(column: np.ndarray, index: np.ndarray) -> np.ndarray:
    out = column[np.maximum(index, 0)]
    out[index < 0] = "" if out.dtype.kind == "U" else np.nan
    return out
