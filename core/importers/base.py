"""What every reader offers, and the one way to call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import DataError
from plaidwork.core.reading_options import checked_options

ImportOptions = Mapping[str, Any]
"""How to read a file. Keys are the reader's own (``delimiter``, ``decimal``, ``array``); absent means detect."""

Progress = Callable[[float], None]
"""Called with the share done, 0 to 1; may raise ``ImportCancelled`` to stop."""


class ImportCancelled(Exception):
    """The user stopped an import; nothing was imported."""


@dataclass(frozen=True, slots=True)
class Added:
    """The value of a fix that joins the list in force instead of taking its place."""

    items: tuple[Any, ...]


Fix = tuple[str, str, Any]
"""What mends something: the words for it, the option, and its value (or what is :class:`Added` to it)."""


@dataclass(frozen=True, slots=True)
class Issue:
    """Something found while reading. ``fix`` is an option that would mend it, ``other`` a second way.

    ``row`` and ``column`` count from 1 as the user sees the file (the header is row 1); 0 = not one place.
    ``places`` are lines that say where and how often, for a list that opens on demand. No fix is applied unless the
    user says so; ``changes_numbers`` marks those after which other numbers enter.
    """

    severity: Literal["error", "warning", "info"]
    message: str
    detail: str = ""
    row: int = 0
    column: int = 0
    fix: Fix | None = None
    changes_numbers: bool = False
    other: Fix | None = None
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """The head of a file as it would be read.

    ``cells`` are the texts of the first rows (header excluded); ``roles`` says per column of the file: ``name``,
    ``label`` or ``value``; ``options`` the options in force (detected ones included), ``detected`` which of them
    were detected, ``unclear`` the ones the user has to choose (import is refused until then). ``makes`` lists name, rows
    and columns of the matrices that an import gives, where that is not the one shown.
    """

    path: Path
    header: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    roles: tuple[str, ...]
    options: Mapping[str, Any]
    detected: frozenset[str]
    unclear: Mapping[str, str] = field(default_factory=dict)
    n_rows: int = 0
    n_columns: int = 0
    issues: tuple[Issue, ...] = ()
    choices: Mapping[str, Sequence[tuple[Any, str]]] = field(default_factory=dict)
    makes: tuple[tuple[str, int, int], ...] = ()
    words: tuple[str, str] = ("", "")
    """What a row and a column are called, in the plural, where the format tells."""
    rows: tuple[int, ...] = ()
    """The row of the file, from 1, of each of ``cells``, where the format has rows that a user can see."""
    pictures: np.ndarray | None = field(default=None, compare=False)
    """(k, h, w) the first images, where the rows are images."""


class Reader(Protocol):
    """A file format. ``suffixes`` are lower case with the dot, longest first (``.csv.gz``).

    A reader of files with several matrices may have ``read_all(path, options, progress) -> list[Dataset]``; every
    dataset then has in its ``source.options`` what makes ``read`` give that one.
    """

    id: str
    title: str
    suffixes: tuple[str, ...]

    def preview(self, path: Path, options: ImportOptions) -> Preview:
        """Look at the file; quick (< 300 ms on 200 rows), never raises for bad content: it goes in ``issues``."""
        ...

    def read(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> Dataset:
        """The whole file. Raises ``DataError`` naming file, row, column, what was found and what was expected."""
        ...


def builtin_readers() -> tuple[Reader, ...]:
    """The readers that come with Plaidwork."""
    from plaidwork.core.importers.annotated import AnnotatedReader
    from plaidwork.core.importers.delimited import DelimitedReader
    from plaidwork.core.importers.idx import IdxReader
    from plaidwork.core.importers.image_folder import ImageFolderReader
    from plaidwork.core.importers.matlab import MatlabReader
    from plaidwork.core.importers.matrix_market import MatrixMarketReader
    from plaidwork.core.importers.numpy_files import NumpyReader
    from plaidwork.core.importers.parquet import ParquetReader
    from plaidwork.core.importers.spreadsheet import SpreadsheetReader

    return (
        DelimitedReader(),
        SpreadsheetReader(),
        ParquetReader(),
        NumpyReader(),
        MatrixMarketReader(),
        AnnotatedReader(),
        IdxReader(),
        MatlabReader(),
        ImageFolderReader(),
    )


def find_reader(path: Path, extra: Sequence[Reader] = ()) -> Reader:
    """The reader for a file name, or for a folder of images. Raises ``DataError`` that lists the formats."""
    from plaidwork.core.importers.image_folder import ImageFolderReader, holds_images

    if holds_images(path):
        return ImageFolderReader()
    name = path.name.lower()
    readers = (*extra, *builtin_readers())
    for reader in readers:
        if name.endswith(tuple(reader.suffixes)):
            return reader
    known = ", ".join(suffix for reader in readers for suffix in reader.suffixes)
    raise DataError(f"{path.name} is of no format that can be read.", f"Known are: {known}.")


def is_text_import(options: ImportOptions) -> bool:
    """Whether import options ask for documents and words instead of numbers."""
    return options.get("text_column") is not None or options.get("text_source") is not None


def _reader_of(path: Path) -> Reader:
    """A built-in reader, or one that a plugin brings; plugins are loaded only when they are needed."""
    try:
        return find_reader(path)
    except DataError:
        from plaidwork.core.registry import registry

        return find_reader(path, registry().readers)


def read_dataset(
    path: str | Path, options: ImportOptions | None = None, progress: Progress | None = None
) -> Dataset:
    """Read a file into a :class:`Dataset`, with detection for every option not given.

    With the option ``text_column`` or ``text_source`` the file or folder is read as documents (:mod:`plaidwork.core.text`).
    The options of each format are those that :mod:`plaidwork.core.reading_options` declares; others are refused.
    Two options work with every format. ``annotations``: a list of ``{"file": ..., "axis": ..., "options": ...}``, label
    tables that are joined by name; their files are relative to the folder of ``path``, and only ``file`` is needed.
    ``rename_rows``: other names for some rows, old to new. So does ``samples_in`` (``rows``, ``columns``), for a matrix.
    """
    path, options, tables, names = _taken_apart(path, options)
    if is_text_import(options):
        from plaidwork.core.text import read_text

        return _finished(read_text(path, options, progress), path, tables, names)
    reader = _reader_of(path)
    dataset = reader.read(path, checked_options(reader.id, options), progress)
    return _finished(dataset, path, tables, names, options.get("samples_in"))


def read_datasets(
    path: str | Path, options: ImportOptions | None = None, progress: Progress | None = None
) -> list[Dataset]:
    """Read all matrices of a file: every modality, every view of a long table; one where the format has one."""
    path, options, tables, names = _taken_apart(path, options)
    if is_text_import(options):
        from plaidwork.core.text import read_text

        return [_finished(read_text(path, options, progress), path, tables, names)]
    reader = _reader_of(path)
    found = read_all(reader, path, checked_options(reader.id, options), progress)
    said = options.get("samples_in")
    return [_finished(dataset, path, tables, names, said) for dataset in found]


def read_all(
    reader: Reader, path: Path, options: ImportOptions, progress: Progress | None = None
) -> list[Dataset]:
    """All matrices that a reader finds in a file."""
    several = getattr(reader, "read_all", None)
    return list(several(path, options, progress)) if several else [reader.read(path, options, progress)]


def _taken_apart(
    path: str | Path, options: ImportOptions | None
) -> tuple[Path, dict[str, Any], Sequence[Mapping[str, Any]], Mapping[str, str]]:
    path, options = Path(path), dict(options or {})
    tables, names = options.pop("annotations", None) or (), options.pop("rename_rows", None) or {}
    if is_text_import(options):
        options.pop("samples_in", None)  # documents are rows
        return path, options, tables, names
    if path.is_file():
        return path, options, tables, names
    from plaidwork.core.importers.image_folder import holds_images

    if holds_images(path):
        return path, options, tables, names
    if path.is_dir():
        raise DataError(
            f"{path} is a folder without images.",
            "With the option text_source=folder its .txt files are read as documents.",
        )
    raise DataError(f"{path} does not exist.", "Check the name and the folder.")


def _finished(
    dataset: Dataset,
    path: Path,
    tables: Sequence[Mapping[str, Any]],
    names: Mapping[str, str],
    said: Any = None,
) -> Dataset:
    from plaidwork.core.annotate import annotate_columns, rename_rows

    if (
        said and not dataset.samples_in and len(dataset.shape) == 2
    ):  # a plugin's reader may not know the option
        dataset = dataset.with_(samples_in=said)
    if names:
        dataset = rename_rows(dataset, names)
    for table in tables:
        dataset, _ = annotate_columns(
            dataset, path.parent / table["file"], table.get("axis"), table.get("options")
        )
    return dataset
