"""Any matrix that can be imported as an npy file, which stays in its file and is read fastest, made a few rows at a time where the format
can be read so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._damage import memory_told
from plaidwork.core.data.importers._matrix import checked_names, wanted_steps
from plaidwork.core.data.importers._names_beside import names_file, write_names
from plaidwork.core.data.importers.base import ImportOptions, Progress, Put, RawTable, Reader
from plaidwork.core.data.importers.reading import read_dataset, reader_of
from plaidwork.core.data.in_file import PIECE, rows_of
from plaidwork.core.data.joining import has_default_names
from plaidwork.core.data.reading_options import checked_options, options_of
from plaidwork.core.errors import DataError
from plaidwork.core.hdf5.atomic import replace_file


@dataclass(frozen=True)
class Written:
    """An npy file that was written: what is in it, the files of names, annotations by axis, and whether it was made in pieces."""

    path: Path
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: tuple[tuple[str, ...], tuple[str, ...]]
    beside: tuple[Path, ...]
    tables: tuple[Mapping[str, np.ndarray], Mapping[str, np.ndarray]]
    in_pieces: bool


def write_npy(
    source: Path, target: Path, options: ImportOptions, dtype: str = "", progress: Progress | None = None
) -> Written:
    """Write the matrix of a file as npy, row by row, with its names in files beside it, and say how.

    Without ``dtype`` (float32 or float64) numbers keep the type of the file, and those of texts and whole numbers are float64.
    Raises ``DataError`` for what cannot be read or is no matrix, ``OSError`` for a full disk; then nothing is written.
    """
    reader = reader_of(source)
    made: list[tuple[_Rows, RawTable | Dataset, bool]] = []

    def write(temporary: Path) -> None:
        with temporary.open("wb") as file, memory_told(source):
            rows = _Rows(source, file, dtype)
            table, in_pieces = _hand_on(reader, source, options, rows.put, progress)
            rows.finish()
            made.append((rows, table, in_pieces))

    replace_file(target, write, backup=False)
    rows, table, in_pieces = made[0]
    names = tuple(table.row_names), tuple(table.column_names)
    if isinstance(table, RawTable):
        names = (
            checked_names(source.name, table.row_names, "row", options),
            checked_names(source.name, table.column_names, "column", options),
        )
    # numbers need no file, unless there is one with other names
    wanted = [a for a in (0, 1) if not has_default_names(names[a]) or names_file(target, a).exists()]
    beside = [write_names(target, axis, names[axis]) for axis in wanted]
    tables = table.row_table, table.column_table
    return Written(target, rows.shape, rows.dtype, names, tuple(beside), tables, in_pieces)


def _hand_on(
    reader: Reader, source: Path, options: ImportOptions, put: Put, progress: Progress | None
) -> tuple[RawTable | Dataset, bool]:
    """Hand all rows on, and say what is known of them, and whether they were read in pieces."""
    known = checked_options(reader.id, options)
    hand_on = getattr(reader, "hand_on", None)
    if hand_on is not None and not (wanted_steps(known) or known.get("transpose")):
        raw: RawTable | None = hand_on(source, known, put, progress)
        if raw is not None:
            return raw, True
    more = {"sparse": True} if any(option.name == "sparse" for option in options_of(reader.id)) else {}
    dataset = read_dataset(source, {**more, **options}, progress)
    if len(dataset.shape) != 2:
        raise DataError(
            f"{source.name} holds {dataset.described}, no matrix.", "Choose one with its options."
        )
    for part in _parts(dataset):
        put(part)
    return dataset, dataset.stays


def _parts(dataset: Dataset) -> Iterator[np.ndarray]:
    """The rows some at a time; zeros of a sparse matrix are there too."""
    if (cells := dataset.in_file) is not None:
        yield from (rows for _, rows in cells.pieces())
        return
    values, step = dataset.values, rows_of(PIECE, 8 * dataset.shape[1])
    for lo in range(0, dataset.shape[0], step):
        part = values[lo : lo + step]
        yield part.toarray() if dataset.is_sparse else part


class _Rows:
    """An npy file that is written row by row."""

    def __init__(self, source: Path, file: IO[bytes], dtype: str) -> None:
        self._source, self._file = source, file
        self.dtype: np.dtype[Any] = np.dtype(dtype or np.float64)
        self.shape = 0, 0
        self._given, self._begin = bool(dtype), 0

    def put(self, rows: np.ndarray) -> None:
        """Write the next rows. Raises ``DataError`` for what is too large for the type."""
        if not self._begin:
            if not self._given and rows.dtype == np.float32:
                self.dtype = np.dtype(np.float32)
            self.shape = 0, rows.shape[1]
            self._head()
            self._begin = self._file.tell()
        done, width = self.shape
        with np.errstate(over="ignore"):
            found = np.ascontiguousarray(rows, self.dtype.newbyteorder("<"))
        if self.dtype.itemsize < rows.dtype.itemsize:
            self._check_size(rows, found)
        self._file.write(found.reshape(-1).view(np.uint8).data)
        self.shape = done + len(rows), width

    def _check_size(self, rows: np.ndarray, found: np.ndarray) -> None:
        over = np.isinf(found) & ~np.isinf(rows)
        if over.any():
            row, column = np.argwhere(over)[0]
            raise DataError(
                f"{self._source.name}, row {self.shape[0] + row + 1}, column {column + 1}: {rows[row, column]:g} is too large for float32.",
                "Write float64.",
            )

    def finish(self) -> None:
        """Write how many rows there are. Raises ``DataError`` for none."""
        if not self.shape[0]:
            raise DataError(
                f"{self._source.name} holds no rows.", "Check that the file was written to its end."
            )
        self._file.seek(0)
        self._head()
        assert self._file.tell() == self._begin  # a head has room for any number of rows

    def _head(self) -> None:
        head = {"descr": self.dtype.newbyteorder("<").str, "fortran_order": False, "shape": self.shape}
        npy.write_array_header_1_0(self._file, head)
