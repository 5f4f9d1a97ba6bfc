"""What every reader offers, and the one way to call it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import DataError

ImportOptions = Mapping[str, Any]
"""How to read a file. Keys are the reader's own (``delimiter``, ``decimal``, ``array``); absent means detect."""

Progress = Callable[[float], None]
"""Called with the share done, 0 to 1; may raise ``ImportCancelled`` to stop."""


class ImportCancelled(Exception):
    """The user stopped an import; nothing was imported."""


@dataclass(frozen=True, slots=True)
class Issue:
    """Something found while reading. ``fix`` is an option that would mend it: ``(text, option, value)``.

    ``row`` and ``column`` count from 1 as the user sees the file (the header is row 1); 0 = not one place.
    ``changes_numbers`` fixes are offered, never applied by default.
    """

    severity: Literal["error", "warning", "info"]
    message: str
    detail: str = ""
    row: int = 0
    column: int = 0
    fix: tuple[str, str, Any] | None = None
    changes_numbers: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """The head of a file as it would be read.

    ``cells`` are the texts of the first rows (header excluded); ``roles`` says per column of the file: ``name``,
    ``label`` or ``value``; ``options`` the options in force (detected ones included), ``detected`` which of them
    were detected, ``unclear`` the ones the user has to choose (import is refused until then).
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


class Reader(Protocol):
    """A file format. ``suffixes`` are lower case with the dot, longest first (``.csv.gz``)."""

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
    from plaidwork.core.importers.delimited import DelimitedReader
    from plaidwork.core.importers.matrix_market import MatrixMarketReader
    from plaidwork.core.importers.numpy_files import NumpyReader

    return (DelimitedReader(), NumpyReader(), MatrixMarketReader())


def find_reader(path: Path, extra: Sequence[Reader] = ()) -> Reader:
    """The reader for a file name. Raises ``DataError`` that lists the formats."""
    name = path.name.lower()
    readers = (*extra, *builtin_readers())
    for reader in readers:
        if name.endswith(reader.suffixes):
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
    The option ``annotations`` works with every format: a list of ``{"file": ..., "axis": ..., "options": ...}``, label
    tables that are joined by name; their files are relative to the folder of ``path``, and only ``file`` is needed.
    """
    path = Path(path)
    options = dict(options or {})
    if is_text_import(options):
        from plaidwork.core.text import read_text

        read: Callable[..., Dataset] = read_text
    elif path.is_file():
        read = _reader_of(path).read
    elif path.is_dir():
        raise DataError(
            f"{path} is a folder.", "With the option text_source=folder its .txt files are read as documents."
        )
    else:
        raise DataError(f"{path} does not exist.", "Check the name and the folder.")
    tables = options.pop("annotations", None) or ()
    dataset = read(path, options, progress)
    if tables:
        from plaidwork.core.annotate import annotate_columns

        for table in tables:
            dataset, _ = annotate_columns(
                dataset, path.parent / table["file"], table.get("axis"), table.get("options")
            )
    return dataset
