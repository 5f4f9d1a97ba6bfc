"""Reading any file: the reader for its name, and what works with every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from plaidwork.core import providers
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._damage import memory_told
from plaidwork.core.data.importers.base import ImportOptions, Progress, Reader
from plaidwork.core.data.reading_options import checked_options
from plaidwork.core.errors import DataError


def builtin_readers() -> tuple[Reader, ...]:
    """The readers that come with Plaidwork."""
    from plaidwork.core.data.importers.annotated import AnnotatedReader
    from plaidwork.core.data.importers.delimited import DelimitedReader
    from plaidwork.core.data.importers.idx import IdxReader
    from plaidwork.core.data.importers.image_folder import ImageFolderReader
    from plaidwork.core.data.importers.matlab import MatlabReader
    from plaidwork.core.data.importers.matrix_market import MatrixMarketReader
    from plaidwork.core.data.importers.numpy_files import NumpyReader
    from plaidwork.core.data.importers.parquet import ParquetReader
    from plaidwork.core.data.importers.plain_hdf5 import PlainHdf5Reader
    from plaidwork.core.data.importers.spreadsheet import SpreadsheetReader

    return (
        DelimitedReader(),
        SpreadsheetReader(),
        ParquetReader(),
        NumpyReader(),
        MatrixMarketReader(),
        AnnotatedReader(),
        PlainHdf5Reader(),
        IdxReader(),
        MatlabReader(),
        ImageFolderReader(),
    )


def find_reader(path: Path, extra: Sequence[Reader] = ()) -> Reader:
    """The reader for a file name, or for a folder of images. Raises ``DataError`` that lists the formats."""
    from plaidwork.core.data.importers.image_folder import ImageFolderReader, holds_images

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


def reader_of(path: Path) -> Reader:
    """A built-in reader, or one that a plugin brings; plugins are loaded only when they are needed."""
    try:
        return find_reader(path)
    except DataError:
        return find_reader(path, providers.plugin_readers())


def read_dataset(
    path: str | Path, options: ImportOptions | None = None, progress: Progress | None = None
) -> Dataset:
    """Read a file into a :class:`Dataset`, with detection for every option not given.

    With the option ``text_column`` or ``text_source`` the file or folder is read as documents (:mod:`plaidwork.core.data.text`).
    The options of each format are those that :mod:`plaidwork.core.data.reading_options` declares; others are refused.
    Two options work with every format. ``annotations``: a list of ``{"file": ..., "axis": ..., "options": ...}``, label
    tables that are joined by name; their files are relative to the folder of ``path``, and only ``file`` is needed.
    ``rename_rows``: other names for some rows, old to new. So does ``samples_in`` (``rows``, ``columns``), for a matrix.
    """
    path, options, tables, names = _taken_apart(path, options)
    with memory_told(path):
        if is_text_import(options):
            from plaidwork.core.data.text import read_text

            return _finished(read_text(path, options, progress), path, tables, names)
        reader = reader_of(path)
        dataset = reader.read(path, checked_options(reader.id, options), progress)
        return _finished(dataset, path, tables, names, options.get("samples_in"))


def read_datasets(
    path: str | Path, options: ImportOptions | None = None, progress: Progress | None = None
) -> list[Dataset]:
    """Read all matrices of a file: every modality, every view of a long table; one where the format has one."""
    path, options, tables, names = _taken_apart(path, options)
    if is_text_import(options):
        from plaidwork.core.data.text import read_text

        return [_finished(read_text(path, options, progress), path, tables, names)]
    reader = reader_of(path)
    found = read_all(reader, path, checked_options(reader.id, options), progress)
    said = options.get("samples_in")
    return [_finished(dataset, path, tables, names, said) for dataset in found]


def read_all(
    reader: Reader, path: Path, options: ImportOptions, progress: Progress | None = None
) -> list[Dataset]:
    """All matrices that a reader finds in a file."""
    several = getattr(reader, "read_all", None)
    with memory_told(path):
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
    from plaidwork.core.data.importers.image_folder import holds_images

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
    from plaidwork.core.data.annotate import annotate_columns, rename_rows

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
