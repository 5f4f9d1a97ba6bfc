"""NumPy files: one array (npy) or several (npz). Pickled objects are never loaded."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._column import encode
from plaidwork.core.data.importers._damage import check_growth
from plaidwork.core.data.importers._images import PICTURES
from plaidwork.core.data.importers._names_beside import with_names
from plaidwork.core.data.importers._npz_load import (
    NO_IMAGES,
    Header,
    candidates_of,
    halves_of,
    load,
    location_of,
    staying,
)
from plaidwork.core.data.importers._npz_parts import find_halves
from plaidwork.core.data.importers._npz_sparse import holds_sparse, load_sparse, sparse_shape, staying_parts
from plaidwork.core.data.importers._reader import HEAD, TableReader, several_arrays
from plaidwork.core.data.importers._staying import (
    doubts_of,
    in_force_of,
    source_of,
    sparse_issue,
    sparse_note,
    sparse_source,
)
from plaidwork.core.data.importers._table import MAX_CELLS
from plaidwork.core.data.importers._text import file_stem
from plaidwork.core.data.importers.base import Fix, ImportOptions, Issue, Progress, RawTable
from plaidwork.core.data.in_file import InFile
from plaidwork.core.data.joining import default_names
from plaidwork.core.data.sparse_in_file import SparseInFile
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

LARGE = 2_000_000
"""Bytes of a sparse file from which on a preview does not read its entries."""
_USUAL = ("X", "x", "data", "values", "matrix")


class NumpyReader(TableReader):
    """Arrays of numbers. Options: ``array`` (which one of an npz), ``transpose``, ``rename_duplicates``,
    ``infinite`` (missing), ``values_in`` (of an npy file with two axes, and of a sparse matrix: ``file``, ``memory``), ``kind``, ``row_word`` and ``column_word`` (what nameless lines are called: memberships of
    columns have ``row_word="column"``), ``image_shape`` (``none``: do not take the rows for images), and the dropping and
    log options of delimited files. ``X_train`` and ``X_test`` of an npz become one matrix with a column ``split``
    (``array="X_train + X_test"``); ``y_train``, or ``y`` beside ``X``, becomes the column ``label``. What
    ``scipy.sparse.save_npz`` wrote is one sparse matrix (``sparse``: however full it is). Names of the rows and columns of an npy
    file come from ``<stem>_rownames.txt`` and ``<stem>_colnames.txt``."""

    id = "numpy"
    title = "NumPy array"
    suffixes: tuple[str, ...] = (".npy", ".npz")

    def way_out(self, error: DataError) -> Fix | None:
        """Only that the rows are images is given up, and only when the user says so."""
        images = error.hint == NO_IMAGES
        return ("Read the rows as plain numbers", "image_shape", "none") if images else None

    def read_all(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> list[Dataset]:
        """The one array that is the data, or every matrix where that cannot be told."""
        headers = _headers(Path(path))
        if holds_sparse(headers):
            return [self.read(path, options, progress)]
        _, unclear = _choose(Path(path), headers, options)
        large = [name for name, header in candidates_of(headers).items() if len(header.shape) >= 2]
        if not unclear or not large:
            return [self.read(path, options, progress)]
        return [self.read(path, {**options, "array": name}, progress) for name in large]

    def staying(self, path: Path, options: ImportOptions) -> InFile | None:
        """The matrix where it stays in its file; nothing but the head of the file is read."""
        headers = _headers(path)
        return staying(path, headers[""], options) if "" in headers else None

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """One array as a matrix, vector or labels. Raises ``DataError`` for objects, text matrices, infinities."""
        headers = _headers(path)
        if holds_sparse(headers):
            return _sparse(path, headers, options, head)
        array, unclear = _choose(path, headers, options)
        choices = {"array": _choices(headers)} if array or unclear else {}
        if unclear and head:
            return several_arrays(path, "Several arrays could be the data", unclear, options, choices)
        if unclear:
            raise DataError(f"{path.name}: {unclear}", "Choose one with the option “array”.")
        if not array and (cells := self.staying(path, options)) is not None:
            return with_names(_raw_in_file(path, cells, options, head), cells.shape)
        loaded = load(path, headers, array, options)
        if progress is not None:
            progress(0.8)
        plain = not array or array in _USUAL or halves_of(headers, array) is not None
        raw = RawTable(
            path,
            file_stem(path) if plain else array,
            loaded.values,
            loaded.rows,
            loaded.columns if loaded.values.ndim == 2 else (array or file_stem(path),),
            loaded.table,
            words=loaded.words,
            samples_in="rows" if loaded.image_shape or loaded.table else None,
            image_shape=loaded.image_shape,
            in_force={**options, **({"array": array} if array else {})},
            notes=loaded.notes,
            doubts=[Issue("info", *loaded.message)] if loaded.message else [],
            choices=choices,
            detected=frozenset({"array"} - options.keys() if array else ()),
            asks_samples=loaded.values.ndim == 2,
        )
        if loaded.image_shape:
            raw.pictures = loaded.values[:PICTURES].reshape(-1, *loaded.image_shape)
        if loaded.values.dtype.kind == "U":
            if not head:
                raw.values, raw.categories = encode([str(text) for text in loaded.values], ("",))
            return raw
        _check_finite(raw, options, head)
        return raw if array or raw.values.ndim != 2 or raw.image_shape else with_names(raw, raw.values.shape)


def _sparse(path: Path, headers: Mapping[str, Header], options: ImportOptions, head: bool) -> RawTable:
    """The one sparse matrix of a file; for a preview the entries of large files are not read."""
    shape, note = sparse_shape(path, headers), ""
    parts = staying_parts(path, headers, shape, options)
    in_force, source = options if parts is None else in_force_of(options), None
    if head and (parts is not None or path.stat().st_size >= LARGE):
        values: Any = np.empty((0, shape[1]))
    elif parts is not None:
        values, note = SparseInFile(path, parts.matrix()), sparse_note(path)
        source = sparse_source(path, values, in_force)
    else:
        values, note = load_sparse(path, headers, bool(options.get("sparse")))
    rows, columns = (
        default_names(str(options.get(f"{what}_word", what)), size)
        for what, size in zip(("row", "column"), shape)
    )
    return RawTable(
        path,
        file_stem(path),
        values,
        rows,
        columns,
        in_force=in_force,
        source=source,
        notes=(note,) if note else (),
        doubts=[] if parts is None else [sparse_issue()],
        detected=frozenset({"values_in"} - options.keys() if parts is not None else ()),
        asks_samples=True,
        n_rows=shape[0],
    )


def _raw_in_file(path: Path, cells: InFile, options: ImportOptions, head: bool) -> RawTable:
    """A matrix whose values stay in the file; of a preview the first rows. Raises ``DataError`` for infinities."""
    n, m = cells.shape
    in_force = in_force_of(options)
    values: Any = cells[: min(n, HEAD)] if head else cells
    rows, columns = (str(options.get(f"{what}_word", what)) for what in ("row", "column"))
    return RawTable(
        path,
        file_stem(path),
        values,
        default_names(rows, len(values) if head else n),
        default_names(columns, m),
        in_force=in_force,
        source=None if head else source_of(path, cells, in_force),
        notes=(f"The values stay in {path.name}.",),
        doubts=doubts_of(path, cells),
        detected=frozenset({"values_in"} - options.keys()),
        asks_samples=True,
        n_rows=n,
        checked=len(values) if head else 0,
    )


def _check_finite(raw: RawTable, options: ImportOptions, head: bool) -> None:
    """Infinite values are missing when the user said so, reported in a preview, refused otherwise."""
    infinite = np.isinf(raw.values)
    if not infinite.any():
        return
    if options.get("infinite") == "missing":
        raw.values = np.where(infinite, np.nan, raw.values)
    elif not head:
        raise DataError(
            f"{raw.path.name}, {location_of(infinite)}: expected a finite number, found infinity.",
            "Mend the array, or read infinite values as missing.",
        )
    else:
        count = int(infinite.sum())
        raw.doubts.append(
            Issue(
                "error",
                f"{counted(count, 'value')} {agree(count, 'is', 'are')} infinite",
                f"First: {location_of(infinite)}",
                fix=("Read infinite values as missing", "infinite", "missing"),
            )
        )


def _headers(path: Path) -> dict[str, Header]:
    """Shape and type of every array, read before anything is allocated; checked against the file's size."""
    try:
        if path.name.lower().endswith(".npy"):
            with open(path, "rb") as file:
                return {"": _header(path, file, path.stat().st_size, path.name)}
        with zipfile.ZipFile(path) as archive:
            found = {}
            for info in archive.infolist():
                if info.filename.endswith(".npy"):
                    with archive.open(info) as member:
                        name = info.filename[:-4]
                        found[name] = _header(path, member, info.file_size, f"{path.name}, array {name}")
            return found
    except DataError:
        raise
    except Exception as error:  # a damaged head makes numpy's parser raise almost anything
        raise DataError(
            f"{path.name} is no NumPy file, or is damaged: {error}.",
            "Write it once more with numpy.save or savez.",
        ) from error


def _header(path: Path, file: IO[bytes], size: int, where: str) -> Header:
    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, by_columns, dtype = read(file)
    cells = 1
    for length in shape:
        cells *= int(length)
    if cells > MAX_CELLS:
        raise DataError(
            f"{where} announces {counted(cells, 'cell')}; {MAX_CELLS} can be read.", "Save a part of it."
        )
    if not dtype.hasobject and cells * dtype.itemsize > size:
        raise DataError(
            f"{where} announces {counted(cells * dtype.itemsize, 'byte')} of numbers, but holds {size}.",
            "The file is cut off. Write or copy it once more.",
        )
    # an axis of length 0 hides how long the others are, and each of their items gets a name
    check_growth(path, math.prod(max(int(length), 1) for length in shape) * dtype.itemsize)
    return Header(tuple(int(length) for length in shape), dtype, file.tell(), by_columns)


def _choose(path: Path, headers: Mapping[str, Header], options: ImportOptions) -> tuple[str, str]:
    """The array to read, and why it cannot be told."""
    candidates = candidates_of(headers)
    wanted = options.get("array")
    halves = find_halves({name: header.shape for name, header in candidates.items()})
    if wanted and "" not in headers:
        if halves is not None and wanted == halves.array:
            return halves.array, ""
        if wanted not in headers:
            raise DataError(f"{path.name} has no array “{wanted}”.", f"It has: {', '.join(headers)}.")
        if wanted not in candidates:
            raise _unfit(path, wanted, headers[wanted])
        return str(wanted), ""
    if not candidates:
        if not headers:
            raise DataError(f"{path.name} holds no arrays.", "Write it with numpy.savez.")
        name, header = next(iter(headers.items()))
        raise _unfit(path, name, header)
    for usual in _USUAL:
        if usual in candidates:
            return usual, ""
    if halves is not None:
        return halves.array, ""
    large = [name for name, header in candidates.items() if len(header.shape) >= 2]
    if len(large) == 1:
        return large[0], ""
    if len(candidates) == 1:
        return next(iter(candidates)), ""
    listed = ", ".join(f"{name} ({header.described})" for name, header in candidates.items())
    return "", f"Which array holds the data cannot be told: {listed}."


def _choices(headers: Mapping[str, Header]) -> list[tuple[str, str]]:
    """Arrays that can be chosen, both halves together first."""
    candidates = candidates_of(headers)
    choices = [(name, f"{name}  {header.described}") for name, header in candidates.items()]
    halves = find_halves({name: header.shape for name, header in candidates.items()})
    return [*([(halves.array, f"{halves.array}, with the split")] if halves else []), *choices]


def _unfit(path: Path, name: str, header: Header) -> DataError:
    what = f"{path.name}, array {name}," if name else path.name
    if header.dtype.hasobject:
        return DataError(
            f"{what} holds Python objects, which can run programs when they are read.",
            "Save plain numbers: array.astype(float).",
        )
    kinds = "numbers with 1 to 3 axes"
    return DataError(f"{what} holds {header.described}; expected {kinds}.", "Save the numbers as a matrix.")
