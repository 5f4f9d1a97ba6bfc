"""Matrix Market files (mtx), kept sparse where that saves room, with names from files beside them."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers._damage import NAME_BYTES, check_growth
from plaidwork.core.data.importers._market import entry_error, entry_issue, inexact_entries, without_repeats
from plaidwork.core.data.importers._market_pieces import Entries
from plaidwork.core.data.importers._names_beside import find_names
from plaidwork.core.data.importers._reader import TableReader
from plaidwork.core.data.importers._staying import (
    in_force_of,
    sparse_issue,
    sparse_note,
    sparse_source,
    sparse_stays,
)
from plaidwork.core.data.importers._table import MAX_CELLS
from plaidwork.core.data.importers._text import file_stem, open_binary
from plaidwork.core.data.importers.base import ImportOptions, Issue, Progress, RawTable
from plaidwork.core.data.joining import default_names
from plaidwork.core.data.sparse_in_file import SparseInFile
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

SPARSE_BELOW = 0.25
MAX_LINES = 50_000_000
_OF_CELLS = {0: ("features.tsv", "genes.tsv"), 1: ("barcodes.tsv",)}


@dataclass(frozen=True, slots=True)
class _Header:
    layout: str
    number: str
    shape: tuple[int, int]
    n_entries: int
    symmetry: str

    @property
    def density(self) -> float:
        return self.n_entries / max(self.shape[0] * self.shape[1], 1)


class MatrixMarketReader(TableReader):
    """Sparse or dense matrices; options: those of ``matrix_market`` in :mod:`plaidwork.core.data.reading_options`. Names come
    from ``<stem>_rownames.txt`` and ``<stem>_colnames.txt``, or from ``features.tsv``/``genes.tsv`` and
    ``barcodes.tsv`` in the same folder (also gzipped)."""

    id = "matrix_market"
    title = "Matrix Market"
    suffixes: tuple[str, ...] = (".mtx.gz", ".mtx")

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """The matrix: CSR below a density of 25 %, dense otherwise. For a preview the entries of large files are not read."""
        header = _header(path)
        issues: list[Issue] = []
        rows, columns, row_table, labels = _names(path, header, issues)
        notes = [f"{issue.message}: {issue.detail}" for issue in issues]
        large = path.stat().st_size >= 2_000_000 or header.shape[0] * header.shape[1] >= 50_000_000
        stays = _stays(path, header, options)
        in_force, source = in_force_of(options) if stays else options, None
        if head and (large or stays):
            values: Any = np.empty((0, header.shape[1]))
        elif stays:
            values = SparseInFile(path, _out_of_memory(path, header, options))
            notes, source = [*notes, sparse_note(path)], sparse_source(path, values, in_force)
        else:
            values = _read(path, header, options, issues if head else None)
        if progress is not None:
            progress(0.8)
        return RawTable(
            path,
            file_stem(path),
            values,
            rows,
            columns,
            {} if head else row_table,
            words=labels,
            in_force=in_force,
            source=source,
            notes=notes,
            doubts=[*issues, *([sparse_issue()] if stays else [])],
            detected=frozenset({"values_in"} - options.keys() if stays else ()),
            asks_samples=True,
            n_rows=header.shape[0],
        )


def _stays(path: Path, header: _Header, options: ImportOptions) -> bool:
    """Whether the matrix stays out of memory: large, or so requested. Raises ``DataError`` for one that cannot."""
    fits = header.layout == "coordinate" and header.symmetry == "general"
    wanted = options.get("values_in")
    if wanted == "file" and not fits:
        raise DataError(
            f"{path.name} holds a matrix of kind “{header.layout} {header.symmetry}”, which needs all of its entries in memory.",
            "Export it as “coordinate general”.",
        )
    sparse = header.density < SPARSE_BELOW or options.get("sparse") or wanted == "file"
    return bool(fits and sparse and sparse_stays(header.n_entries, options))


def _out_of_memory(path: Path, header: _Header, options: ImportOptions) -> Any:
    """The matrix, mapped. Raises ``DataError``."""
    _check_bytes(path)
    try:
        entries = Entries(path, header.number, header.shape, header.n_entries)
    except (ValueError, OverflowError, TypeError) as error:
        raise DataError(f"{path.name} is damaged: {error}.", "Copy or download it once more.") from error
    _check_entries(path, header, entries.doubtful, options, None)
    return entries.matrix(path, options)


def _header(path: Path) -> _Header:
    """The head of the file, checked before anything is allocated."""
    try:
        raw, content = open_binary(path)
        with raw:
            banner = content.readline(1000).decode("latin-1").lower().split()
            line = content.readline(100_000)
            while line.startswith(b"%") or (line and not line.strip()):
                line = content.readline(100_000)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path.name} cannot be read: {error}.", "Copy or download it once more.") from error
    if len(banner) < 5 or banner[0] != "%%matrixmarket" or banner[1] != "matrix":
        raise DataError(
            f"{path.name}, row 1: expected “%%MatrixMarket matrix …”, found “{' '.join(banner)[:40]}”.",
            "Export it once more as Matrix Market.",
        )
    layout, number = banner[2], banner[3]
    if layout not in ("coordinate", "array") or number not in ("real", "double", "integer", "pattern"):
        raise DataError(f"{path.name}, row 1: a matrix of kind “{layout} {number}” cannot be read.")
    try:
        sizes = [int(part) for part in line.split()]
        rows, columns = sizes[:2]
        entries = sizes[2] if layout == "coordinate" else rows * columns
    except (ValueError, IndexError):
        text = line.decode("latin-1").strip()[:40]
        raise DataError(
            f"{path.name}: expected the size of the matrix in its head, found “{text}”."
        ) from None
    if min(rows, columns, entries) < 0 or max(rows, columns) > MAX_LINES or entries > MAX_CELLS:
        raise DataError(
            f"{path.name} announces {counted(rows, 'row')} × {counted(columns, 'column')} with {counted(entries, 'entry')}; up to {MAX_LINES} rows or "
            f"columns and {MAX_CELLS} entries can be read.",
            "Export a part of it.",
        )
    # an entry takes two bytes at least; gzip shrinks a thousandfold at most
    room = path.stat().st_size * (1100 if path.name.lower().endswith(".gz") else 1)
    if banner[4] == "general" and entries * (4 if layout == "coordinate" else 2) > room + 8:
        raise DataError(
            f"{path.name} announces {counted(entries, 'entry')}, more than its {counted(path.stat().st_size, 'byte')} can hold.",
            "The file is cut off. Copy or download it once more.",
        )
    check_growth(path, NAME_BYTES * (rows + columns))
    return _Header(layout, number, (rows, columns), entries, banner[4])


_ENTRY_BYTES = b"0123456789+-.eEdDnNaAiIfFtTyY \t\r\n"


def _check_bytes(path: Path) -> None:
    """Look through the entries before SciPy's parser does: other bytes than those of numbers may end the program there."""
    try:
        raw, content = open_binary(path)
        with raw:
            line, number = content.readline(100_000), 1
            while line.startswith(b"%") or (line and not line.strip()):
                line, number = content.readline(100_000), number + 1
            while chunk := content.read(1 << 20):
                other = chunk.translate(None, _ENTRY_BYTES)
                if other:
                    number += chunk[: chunk.index(other[:1])].count(b"\n") + 1
                    raise DataError(
                        f"{path.name}, line {number}: expected numbers, found the byte 0x{other[0]:02X}.",
                        "Export it once more as Matrix Market.",
                    )
                number += chunk.count(b"\n")
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path.name} cannot be read: {error}.", "Copy or download it once more.") from error


def _read(path: Path, header: _Header, options: ImportOptions, issues: list[Issue] | None = None) -> Any:
    """The matrix, sparse where that saves room. What is doubtful goes into ``issues``, or is refused without them."""
    from scipy.io import mmread
    from scipy.sparse import csr_matrix, issparse

    _check_bytes(path)
    try:
        found = mmread(path)
    except (ValueError, OverflowError, OSError, EOFError, TypeError) as error:
        inexact = next(inexact_entries(path, header.shape, header.layout == "array"), None)
        if inexact is not None:
            raise entry_error(path, inexact) from error
        raise DataError(f"{path.name} is damaged: {error}.", "Copy or download it once more.") from error
    _check_entries(path, header, found.data if issparse(found) else found, options, issues)
    if not issparse(found):
        return np.ascontiguousarray(found, dtype=np.float64)
    matrix = csr_matrix(without_repeats(path, found.tocoo(), options, issues), dtype=np.float64)
    if options.get("sparse") or matrix.nnz < SPARSE_BELOW * max(matrix.shape[0] * matrix.shape[1], 1):
        return matrix
    return matrix.toarray()


def _check_entries(
    path: Path, header: _Header, data: np.ndarray, options: ImportOptions, issues: list[Issue] | None
) -> None:
    values = np.asarray(data, dtype=np.float64)
    if (
        header.number != "pattern"
        and (~np.isfinite(values) | (np.abs(values) >= 2**53) | (values == 0)).any()
    ):
        inexact = list(islice(inexact_entries(path, header.shape, header.layout == "array"), 1000))
        refused = [entry for entry in inexact if entry.what == "large" or options.get("inexact") != "nearest"]
        if refused and (issues is None or refused[0].what == "large"):
            raise entry_error(path, refused[0])
        if refused and issues is not None:
            issues.append(entry_issue(refused))
    if not np.isfinite(values).all():
        raise DataError(
            f"{path.name} holds a value that is not finite.", "Leave such entries out of the file."
        )


def _names(
    path: Path, header: _Header, issues: list[Issue]
) -> tuple[tuple[str, ...], tuple[str, ...], Mapping[str, np.ndarray], tuple[str, str]]:
    """Names of both axes, annotation of the rows, and what rows and columns are called."""
    found: list[tuple[str, ...]] = []
    table: dict[str, np.ndarray] = {}
    labels = ["", ""]
    for axis, what in ((0, "row"), (1, "column")):
        size = header.shape[axis]
        beside = find_names(path, axis, size, issues, _OF_CELLS[axis])
        if beside is not None and beside.file.suffix == ".tsv":
            labels[axis] = ("genes", "cells")[axis]
        if beside is not None and axis == 0 and beside.second:
            table["symbol"] = np.array(beside.second, dtype=str)
        found.append(beside.names if beside is not None else default_names(what, size))
    return found[0], found[1], table, (labels[0], labels[1])
