"""Parquet files: typed columns of numbers and texts. They need the extra ``parquet``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers._damage import check_growth, damage_told
from plaidwork.core.data.importers._layout import Layout, axis_words, column_index, word_of
from plaidwork.core.data.importers._matrix import checked_samples
from plaidwork.core.data.importers._numbers import inexact
from plaidwork.core.data.importers._problems import inexact_error
from plaidwork.core.data.importers._reader import HEAD, TableReader
from plaidwork.core.data.importers._table import MAX_CELLS
from plaidwork.core.data.importers._text import file_stem
from plaidwork.core.data.importers.base import Grid, ImportOptions, Issue, Progress, Put, RawTable
from plaidwork.core.data.joining import default_names
from plaidwork.core.data.reading_options import declared_choices
from plaidwork.core.data.sample_words import labels_say
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

_CHECKED = 5_000_000
_AT_ONCE = 1_000_000
"""Cells that are handed on at a time."""


class ParquetReader(TableReader):
    """A table whose columns of numbers are the matrix; texts and dates are names and labels.

    Options: those of ``parquet`` in :mod:`plaidwork.core.data.reading_options`. Empty cells are missing. The index that
    pandas stores gives the names of the rows, else the first column of texts that all differ.
    """

    id = "parquet"
    title = "Parquet"
    suffixes: tuple[str, ...] = (".parquet", ".pq")

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """The whole file, for a preview its beginning where it is long. Raises ``DataError`` naming row and column."""
        file = _opened(path)
        with damage_told(path, _damage(), "Copy or download it once more."):
            return self._raw(path, file, options, progress, head)

    def hand_on(
        self, path: Path, options: ImportOptions, put: Put, progress: Progress | None = None
    ) -> RawTable | None:
        """The matrix a few rows at a time."""
        import pyarrow

        file = _opened(path)
        with damage_told(path, _damage(), "Copy or download it once more."):
            layout, done = _layout(file, options), 0
            beside = [index for index in (layout.names, *layout.labels) if index >= 0]
            kept = []
            for batch in file.iter_batches(max(1, _AT_ONCE // layout.n_columns)):
                table = pyarrow.Table.from_batches([batch])
                put(_values(path, table, layout, options, None, done))
                kept.append(table.select(beside))
                done += table.num_rows
                if progress is not None:
                    progress(done / file.metadata.num_rows)
            texts = pyarrow.concat_tables(kept)
            columns = dict(zip(beside, texts.columns, strict=True))
            return _as_table(path, layout, options, np.empty((done, 0)), columns)

    def _raw(
        self, path: Path, file: Any, options: ImportOptions, progress: Progress | None, head: bool
    ) -> RawTable:
        layout = _layout(file, options)
        if not layout.value_columns and not head:
            raise DataError(f"{path.name} has no column of numbers.", "Use the file as a table of classes.")
        whole = not head or file.metadata.num_rows * file.metadata.num_columns <= _CHECKED
        table = file.read() if whole else file.read_row_group(0)
        issues: list[Issue] = []
        values = _values(path, table, layout, options, issues if head else None)
        if progress is not None:
            progress(0.8)
        raw = _as_table(path, layout, options, values, table.columns)
        if not head:
            return raw
        if not layout.value_columns:
            issues.insert(0, Issue("error", "No column holds numbers", "Use it as a table of classes"))
        raw.doubts = [*issues, *_truths(table, layout)]
        raw.checked = 0 if whole else len(values)
        raw.n_rows, raw.n_columns = file.metadata.num_rows, layout.n_columns
        raw.detected = frozenset({"names", "labels", "samples_in"} - set(options))
        columns = [(i, f"Column “{title}”") for i, title in enumerate(layout.titles)][:50]
        raw.choices = {
            "names": [*columns, (-1, "None: number the rows")],
            "samples_in": declared_choices("samples_in"),
        }
        cells = tuple(zip(*(_texts(column.slice(0, HEAD)) for column in table.columns)))
        raw.grid = Grid(layout.titles, cells, layout.roles, tuple(range(1, len(cells) + 1)))
        return raw


def _as_table(
    path: Path, layout: Layout, options: ImportOptions, values: np.ndarray, columns: Any
) -> RawTable:
    """The values with names and labels out of ``columns``, by number."""
    return RawTable(
        path,
        file_stem(path),
        values,
        _texts(columns[layout.names]) if layout.names >= 0 else default_names("row", len(values)),
        tuple(layout.titles[index] for index in layout.value_columns),
        {layout.titles[index]: _labels(columns[index]) for index in layout.labels},
        words=axis_words(layout),
        in_force=_in_force(layout, options),
    )


def _damage() -> tuple[type[Exception], ...]:
    """What pyarrow raises for a damaged file."""
    from pyarrow import ArrowException

    return (ArrowException, OSError, UnicodeError, ValueError, KeyError, IndexError, OverflowError)


def _opened(path: Path) -> Any:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise DataError(
            f"{path.name} is a Parquet file, and the package pyarrow that reads it is not installed.",
            'Install it with: pip install "plaidwork[parquet]"',
        ) from error
    try:
        file = parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError, ValueError) as error:  # UnicodeError is one
        raise DataError(f"{path.name} cannot be read: {error}.", "Copy or download it once more.") from error
    if file.metadata.num_rows * file.metadata.num_columns > MAX_CELLS:
        raise DataError(f"{path.name} holds more than {MAX_CELLS} cells.", "Import a part of it.")
    check_growth(path, 8 * file.metadata.num_rows * file.metadata.num_columns)
    if not file.metadata.num_rows:
        raise DataError(f"{path.name} holds no rows.", "Check that the file was written to its end.")
    return file


def _layout(file: Any, options: ImportOptions) -> Layout:
    """The use of every column, by its type and the index that pandas stored."""
    schema = file.schema_arrow
    layout = Layout(titles=tuple(schema.names))
    texts = [index for index, entry in enumerate(schema) if not _is_number(entry.type)]
    skip = options.get("skip", ())
    layout.skip = tuple(column_index(layout, item, "skip") for item in _listed(skip))
    if options.get("names") is not None:
        layout.names = column_index(layout, options["names"], "names")
    else:
        layout.names = _names(file, layout, texts)
    if options.get("labels") is not None:
        layout.labels = tuple(column_index(layout, item, "labels") for item in _listed(options["labels"]))
    else:
        layout.labels = tuple(i for i in texts if i != layout.names and i not in layout.skip)
    if options.get("samples_in") is not None:
        layout.samples_in = checked_samples(options["samples_in"])
    else:
        layout.detected.add("samples_in")
        word = word_of(layout.titles[layout.names]) if layout.names >= 0 else ""
        layout.samples_in = labels_say(word, "")
    return layout


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, (str, int)) else value


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    )


def _names(file: Any, layout: Layout, texts: list[int]) -> int:
    import json

    stored = (file.schema_arrow.metadata or {}).get(b"pandas")
    for entry in json.loads(stored).get("index_columns", []) if stored else []:
        if isinstance(entry, str) and entry in layout.titles:
            return layout.titles.index(entry)
    twice = len(set(layout.titles)) < len(layout.titles)
    wanted = list(range(layout.n_columns)) if twice else texts
    head = file.read_row_group(0, columns=None if twice else [layout.titles[index] for index in texts])
    for index in texts:
        cells = _texts(head.column(wanted.index(index)))
        if index not in layout.skip and len(set(cells)) == len(cells):
            return index
    return -1


def _texts(column: Any) -> list[str]:
    """Cells as texts; empty where missing."""
    return ["" if cell is None else str(cell) for cell in column.to_pylist()]


def _labels(column: Any) -> np.ndarray:
    if _is_number(column.type):
        return np.array([np.nan if cell is None else float(cell) for cell in column.to_pylist()])
    return np.array(_texts(column), dtype=str)


def _values(
    path: Path,
    table: Any,
    layout: Layout,
    options: ImportOptions,
    issues: list[Issue] | None,
    before: int = 0,
) -> np.ndarray:
    """(n, m) floats of rows that have ``before`` rows before them; what a float cannot hold is reported in ``issues``, or refused without
    them."""
    columns = layout.value_columns
    values = np.empty((table.num_rows, len(columns)))
    for at, index in enumerate(columns):
        column = table.column(index)
        if not _is_number(column.type):
            raise DataError(
                f"{path.name}: {layout.title(index)} holds {column.type}, not numbers.",
                "Use it as a label, or leave it out.",
            )
        values[:, at] = _floats(column)
        _check_exact(path, column, values[:, at], layout.title(index), options, issues, before)
        infinite = np.isinf(values[:, at])
        if infinite.any():
            row = before + int(infinite.argmax()) + 1
            if options.get("infinite") != "missing" and issues is None:
                raise DataError(
                    f"{path.name}, row {row}, {layout.title(index)}: expected a finite number, found infinity.",
                    "Read infinite values as missing with the option “infinite”.",
                )
            if options.get("infinite") != "missing" and issues is not None:
                fix = ("Treat as missing", "infinite", "missing")
                number = counted(int(infinite.sum()), "value")
                detail = f"First: row {row}, {layout.title(index)}"
                issues.append(
                    Issue(
                        "error",
                        f"{number} {agree(infinite.sum(), 'is', 'are')} infinite",
                        detail,
                        row,
                        index + 1,
                        fix,
                    )
                )
            values[infinite, at] = np.nan
    return values


def _floats(column: Any) -> np.ndarray:
    from pyarrow import types

    if types.is_floating(column.type) or types.is_integer(column.type):
        return column.to_numpy().astype(np.float64)  # NaN where empty
    return np.array([np.nan if cell is None else float(cell) for cell in column.to_pylist()])


def _check_exact(
    path: Path,
    column: Any,
    values: np.ndarray,
    title: str,
    options: ImportOptions,
    issues: list[Issue] | None,
    before: int,
) -> None:
    """Whole and decimal numbers with more digits than a float holds."""
    from pyarrow import types

    if types.is_floating(column.type) or options.get("inexact") == "nearest":
        return
    found = [
        (int(row), str(column[int(row)].as_py()))
        for row in np.flatnonzero(np.abs(values) >= 2**53)
        if inexact(str(column[int(row)].as_py()), float(values[row]))
    ]
    if options.get("inexact") == "missing":
        values[[row for row, _ in found]] = np.nan
        return
    if found and issues is None:
        raise inexact_error(f"{path.name}, row {before + found[0][0] + 1}, {title}", found[0][1], "digits")
    if found and issues is not None:
        fixes = ("Take the nearest number", "inexact", "nearest"), ("Treat as missing", "inexact", "missing")
        detail = f"First: “{found[0][1]}”, row {found[0][0] + 1}, {title}"
        message = (
            f"{counted(len(found), 'number')} {agree(len(found), 'has', 'have')} more digits than can be kept"
        )
        issues.append(Issue("error", message, detail, found[0][0] + 1, 0, fixes[0], fixes[1]))


def _truths(table: Any, layout: Layout) -> list[Issue]:
    from pyarrow import types

    titles = [layout.titles[i] for i in layout.value_columns if types.is_boolean(table.column(i).type)]
    message = f"{counted(len(titles), 'column')} of true and false {agree(len(titles), 'is', 'are')} read as 1 and 0"
    return [Issue("info", message, ", ".join(titles[:5]))] if titles else []


def _in_force(layout: Layout, options: ImportOptions) -> dict[str, Any]:
    given = {name: value for name, value in options.items() if value is not None}
    return {**given, "names": layout.names, "labels": list(layout.labels), "samples_in": layout.samples_in}
