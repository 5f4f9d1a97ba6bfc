"""HDF5 files of no further rule: one of their matrices of numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5o

from plaidwork.core.data.importers._anndata import (
    Matrix,
    dense_rows,
    head_of,
    infinite_error,
    infinite_issue,
    read_matrix,
    staying_matrix,
)
from plaidwork.core.data.importers._hdf5 import Archive, opened
from plaidwork.core.data.importers._names_beside import with_names
from plaidwork.core.data.importers._npz_load import location_of
from plaidwork.core.data.importers._reader import HEAD, WIDE, TableReader, several_arrays
from plaidwork.core.data.importers._staying import doubts_of, in_force_of, source_of
from plaidwork.core.data.importers._table import MAX_CELLS
from plaidwork.core.data.importers._text import file_stem
from plaidwork.core.data.importers.base import ImportOptions, Progress, Put, RawTable
from plaidwork.core.data.in_file import InFile
from plaidwork.core.data.joining import default_names
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_USUAL = ("/X", "/x", "/data", "/values", "/matrix")
_MOST, _DEEPEST = 10_000, 32
"""Objects that are looked at, and groups within each other."""


class PlainHdf5Reader(TableReader):
    """One array of numbers with two axes. Options: those of ``hdf5`` in :mod:`plaidwork.core.data.reading_options`; ``array`` is the path of
    the array in the file. Names come from ``<stem>_rownames.txt`` and ``<stem>_colnames.txt``; nothing else in the file is read."""

    id = "hdf5"
    title = "HDF5"
    suffixes: tuple[str, ...] = (".hdf5", ".h5")

    def staying(self, path: Path, options: ImportOptions) -> InFile | None:
        """The chosen array where it stays in its file; nothing of it is read."""
        with opened(Path(path)) as archive:
            return staying_matrix(archive, _chosen(archive, options), options)

    def hand_on(
        self, path: Path, options: ImportOptions, put: Put, progress: Progress | None = None
    ) -> RawTable | None:
        """The chosen array a few rows at a time; None where infinite values are to be missing."""
        if options.get("infinite"):
            return None
        with opened(path) as archive:
            matrix = _chosen(archive, options)
            for rows in dense_rows(
                archive, matrix, lambda row, column: f"row {row + 1}, column {column + 1}"
            ):
                put(rows)
            return _table(archive, matrix, np.empty((matrix.shape[0], 0)), options)

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """The chosen array. Raises ``DataError`` for infinities, and where it cannot be told which array is meant."""
        with opened(path) as archive:
            found = _matrices(archive)
            name, choices = _choose(archive, found, options), {"array": _choices(found)}
            if not name and head:
                return several_arrays(
                    path, "Several arrays could be the data", _unclear(found), options, choices
                )
            matrix = _chosen(archive, options)
            cells = staying_matrix(archive, matrix, options)
            if not head:
                return _whole(archive, matrix, cells, options)
            shown = head_of(archive, matrix, HEAD, WIDE) if cells is None else cells.corner(HEAD, WIDE)
            raw = _table(archive, matrix, shown, options)
            raw.in_force = (in_force_of(options) if cells is not None else dict(options)) | {"array": name}
            raw.doubts += doubts_of(path, cells) if cells is not None else []
            raw.doubts += infinite_issue(shown)
            kept = {"array", "values_in"} if cells is not None else {"array"}
            raw.detected, raw.choices = frozenset(kept - options.keys()), choices
            raw.n_rows, raw.n_columns = matrix.shape
            raw.checked = len(shown) if shown.shape != matrix.shape else 0
            return raw


def _whole(archive: Archive, matrix: Matrix, cells: InFile | None, options: ImportOptions) -> RawTable:
    in_force = {**(options if cells is None else in_force_of(options)), "array": matrix.element.name}
    where = f"{archive.path.name}, “{matrix.element.name}”"
    if cells is not None:
        raw = _table(archive, matrix, cells, options)
        raw.source = source_of(archive.path, cells, in_force, where)
        raw.notes = (f"The values stay in {archive.path.name}.",)
    else:
        values = read_matrix(archive, matrix, 0)
        infinite = np.isinf(values)
        if infinite.any() and options.get("infinite") != "missing":
            raise infinite_error(archive, matrix, location_of(infinite))
        values[infinite] = np.nan
        raw = _table(archive, matrix, values, options)
    raw.in_force = in_force
    return raw


def _table(archive: Archive, matrix: Matrix, values: Any, options: ImportOptions) -> RawTable:
    rows, columns = (
        default_names(str(options.get(f"{what}_word", what)), size)
        for what, size in zip(("row", "column"), matrix.shape, strict=True)
    )
    name = str(matrix.element.name)
    plain = name in _USUAL
    title = file_stem(archive.path) if plain else name.rsplit("/", 1)[1]
    raw = RawTable(archive.path, title, values, rows, columns, asks_samples=True)
    return with_names(raw, matrix.shape)


# -- which array -------------------------------------------------------------------------------------
def _matrices(archive: Archive) -> dict[str, tuple[int, int]]:
    """The arrays of numbers with two axes and their shapes, by path; links to other places are passed over."""
    found: dict[str, tuple[int, int]] = {}
    seen: set[int] = set()
    groups: list[tuple[h5py.Group, int]] = [(archive.file, 0)]
    while groups:
        group, depth = groups.pop(0)
        for name in archive.names(group):
            if len(seen) >= _MOST or depth >= _DEEPEST:
                raise archive.fail(
                    group.name, f"holds more than {_MOST} objects, or {_DEEPEST} groups within each other"
                )
            try:
                thing = archive.get(group, name)
            except DataError:  # a link
                continue
            address = h5o.get_info(thing.id).addr
            if address in seen:
                continue
            seen.add(address)
            if isinstance(thing, h5py.Group):
                groups.append((thing, depth + 1))
            elif (
                isinstance(thing, h5py.Dataset) and len(thing.shape or ()) == 2 and thing.dtype.kind in "iuf"
            ):
                found[thing.name] = thing.shape
    return found


def _choose(archive: Archive, found: dict[str, tuple[int, int]], options: ImportOptions) -> str:
    """The path of the array that is meant; empty where that cannot be told."""
    wanted = options.get("array")
    if wanted:
        path = f"/{str(wanted).strip('/')}"
        if path not in found:
            listed = ", ".join(list(found)[:20])
            raise archive.fail(
                "", f"has no matrix of numbers “{path}”", f"It has: {listed}." if found else ""
            )
        return path
    if not found:
        raise archive.fail("", "holds no array of numbers with two axes")
    usual = [name for name in _USUAL if name in found]
    return usual[0] if usual else next(iter(found)) if len(found) == 1 else ""


def _chosen(archive: Archive, options: ImportOptions) -> Matrix:
    found = _matrices(archive)
    name = _choose(archive, found, options)
    if not name:
        raise DataError(f"{archive.path.name}: {_unclear(found)}", "Choose one with the option “array”.")
    element = archive.checked(archive.file[name], piecewise=True)
    n, m = element.shape
    if n * m > MAX_CELLS:
        raise archive.fail(name, f"has {counted(n * m, 'cell')}; {MAX_CELLS} can be read")
    return Matrix(element, "dense", (n, m))


def _unclear(found: dict[str, tuple[int, int]]) -> str:
    listed = ", ".join(f"{name} ({' × '.join(map(str, shape))})" for name, shape in list(found.items())[:20])
    return f"Which array holds the data cannot be told: {listed}."


def _choices(found: dict[str, tuple[int, int]]) -> list[tuple[str, str]]:
    return [(name, f"{name}  {' × '.join(map(str, shape))}") for name, shape in found.items()]
