"""Annotated matrices in HDF5: ``.h5ad`` (one matrix with layers) and ``.h5mu`` (several modalities)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._anndata import (
    Frame,
    Matrix,
    dense_rows,
    find_matrix,
    head_of,
    infinite_error,
    infinite_issue,
    read_frame,
    read_matrix,
    sparse_parts,
    staying_matrix,
    unlike,
)
from plaidwork.core.data.importers._hdf5 import Archive, opened
from plaidwork.core.data.importers._matrix import finished
from plaidwork.core.data.importers._reader import HEAD, WIDE, TableReader
from plaidwork.core.data.importers._staying import (
    doubts_of,
    in_force_of,
    source_of,
    sparse_issue,
    sparse_note,
    sparse_source,
)
from plaidwork.core.data.importers._text import file_stem
from plaidwork.core.data.importers.base import ImportOptions, Progress, Put, RawTable
from plaidwork.core.data.in_file import InFile
from plaidwork.core.data.sparse_in_file import SparseInFile
from plaidwork.core.errors import DataError

DENSE_BELOW = 50_000_000
"""Sparse matrices of at most so many cells become dense, as most models want them."""


class AnnotatedReader(TableReader):
    """AnnData and MuData files. Options: ``modality`` (of a ``.h5mu``), ``layer`` (``X``, ``layers/name``, ``raw/X``),
    ``values_in`` (``file``, ``memory``), ``transpose``, ``kind``, ``rename_duplicates``, ``infinite`` (missing),
    and the dropping and log options of delimited files. ``obs`` becomes annotations of the rows, ``var`` of the columns; nothing else is read."""

    id = "annotated"
    title = "AnnData and MuData"
    suffixes: tuple[str, ...] = (".h5ad", ".h5mu")

    def staying(self, path: Path, options: ImportOptions) -> InFile | None:
        """The chosen matrix where it stays in its file; neither names nor cells are read."""
        with opened(Path(path)) as archive:
            modalities = _modalities(archive)
            root = modalities[_modality(archive, modalities, options, "")]
            layer = _layer(archive, root, _layers(archive, root), options)
            return staying_matrix(archive, find_matrix(archive, root, layer), options)

    def hand_on(
        self, path: Path, options: ImportOptions, put: Put, progress: Progress | None = None
    ) -> RawTable | None:
        """A dense matrix a few rows at a time; None for a sparse one, and where infinite values are to be missing."""
        if options.get("infinite"):
            return None
        with opened(path) as archive:
            modalities = _modalities(archive)
            modality = _modality(archive, modalities, options, "")
            root = modalities[modality]
            layer = _layer(archive, root, _layers(archive, root), options)
            matrix, rows, columns = _parts(archive, root, layer)
            if matrix.layout != "dense" or matrix.element.dtype.kind == "b":
                return None
            for part in dense_rows(archive, matrix, partial(_place, rows, columns)):
                put(part)
            return _as_table(archive, modality, np.empty((matrix.shape[0], 0)), rows, columns)

    def raw(
        self, path: Path, options: ImportOptions, progress: Progress | None = None, head: bool = False
    ) -> RawTable:
        """One matrix with its annotations. Raises ``DataError`` naming the object in the file."""
        with opened(path) as archive:
            modalities = _modalities(archive)
            modality = _modality(archive, modalities, options, next(iter(modalities)) if head else "")
            if not head:
                return self._whole(archive, modality, modalities[modality], options, progress)
            raw = self._head(archive, modality, modalities[modality], options)
            if len(modalities) > 1:
                raw.choices = {"modality": [(name, name) for name in modalities], **raw.choices}
            return raw

    def _head(self, archive: Archive, modality: str, root: h5py.Group, options: ImportOptions) -> RawTable:
        layers = _layers(archive, root)
        layer = _layer(archive, root, layers, options)
        matrix, rows, columns = _parts(archive, root, layer)
        cells = staying_matrix(archive, matrix, options)
        sparse = sparse_parts(archive, matrix, options, DENSE_BELOW)
        stays = cells is not None or sparse is not None
        head = head_of(archive, matrix, HEAD, WIDE) if cells is None else cells.corner(HEAD, WIDE)
        told = [] if cells is None else doubts_of(archive.path, cells)
        return RawTable(
            archive.path,
            "",
            head,
            rows.names,
            columns.names,
            in_force=_in_force(options, modality, layer, stays) | {"samples_in": "rows"},
            doubts=infinite_issue(head) + (told if sparse is None else [sparse_issue()]),
            detected=frozenset({"modality", "layer", *(["values_in"] if stays else [])} - set(options)),
            choices={"layer": [(name, layer_title(name)) for name in layers]} if len(layers) > 1 else {},
            n_rows=matrix.shape[0],
            n_columns=matrix.shape[1],
            checked=len(head) if head.shape != matrix.shape else 0,
        )

    def read_all(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> list[Dataset]:
        """Every modality (or the chosen one) as a dataset."""
        path = Path(path)
        with opened(path) as archive:
            found = _modalities(archive)
            if options.get("modality") is not None:
                chosen = _modality(archive, found, options, "")
                found = {chosen: found[chosen]}
            return [
                finished(self._whole(archive, name, root, options, progress), options)
                for name, root in found.items()
            ]

    def _whole(
        self,
        archive: Archive,
        modality: str,
        root: h5py.Group,
        options: ImportOptions,
        progress: Progress | None,
    ) -> RawTable:
        layer = _layer(archive, root, _layers(archive, root), options)
        matrix, rows, columns = _parts(archive, root, layer)
        if modality and "obs" in archive.file:  # what the file says of the samples of all modalities
            shared = read_frame(archive, archive.file, "obs")
            rows = Frame(rows.names, {**rows.columns, **unlike(rows, shared)})
        cells = staying_matrix(archive, matrix, options)
        sparse = sparse_parts(archive, matrix, options, DENSE_BELOW)
        in_force = _in_force(options, modality, layer, cells is not None or sparse is not None)
        source, notes = None, list[str]()
        if cells is not None:
            values: Any = cells
            source = source_of(archive.path, cells, in_force, f"{archive.path.name}, “{matrix.element.name}”")
            notes = [f"The values stay in {archive.path.name}."]
        elif sparse is not None:
            values = SparseInFile(archive.path, sparse.matrix())
            source, notes = sparse_source(archive.path, values, in_force), [sparse_note(archive.path)]
        else:
            values = _read(archive, matrix, rows, columns, options)
        if progress is not None:
            progress(0.9)
        raw = _as_table(archive, modality, values, rows, columns)
        raw.in_force, raw.source, raw.notes = in_force, source, notes
        return raw


def _as_table(archive: Archive, modality: str, values: Any, rows: Frame, columns: Frame) -> RawTable:
    return RawTable(
        archive.path,
        modality or file_stem(archive.path),
        values,
        rows.names,
        columns.names,
        rows.columns,
        columns.columns,
        ("samples", "features"),
        "rows",
    )


def _read(archive: Archive, matrix: Matrix, rows: Frame, columns: Frame, options: ImportOptions) -> Any:
    """The values in memory. Raises ``DataError`` for infinite ones, unless they are to be missing."""
    values = read_matrix(archive, matrix, DENSE_BELOW)
    where = _location(matrix, rows, columns, values)
    if where and options.get("infinite") != "missing":
        raise infinite_error(archive, matrix, where)
    if where:
        stored = values.data if hasattr(values, "tocsr") else values
        stored[np.isinf(stored)] = np.nan
    return values


def _in_force(options: ImportOptions, modality: str, layer: str, stays: bool) -> dict[str, Any]:
    given = in_force_of(options) if stays else options
    return {**given, "layer": layer, **({"modality": modality} if modality else {})}


def layer_title(name: str) -> str:
    """``X`` is the main matrix, ``layers/counts`` the layer “counts”."""
    if name == "X":
        return "Main matrix (X)"
    return "Raw matrix (raw/X)" if name == "raw/X" else f"Layer “{name.removeprefix('layers/')}”"


def _modalities(archive: Archive) -> dict[str, h5py.Group]:
    """Groups that hold one AnnData each, by name; a single one has the name ``""``."""
    file = archive.file
    if "mod" not in file:
        if "obs" not in file or "var" not in file:
            raise archive.fail("", "expected obs, var and X, or mod, as AnnData and MuData have them")
        return {"": file}
    group = archive.group(file, "mod")
    order = archive.attr(group, "mod-order", None)
    names = [str(item) for item in np.atleast_1d(order)] if order is not None else archive.names(group)
    found = {name: archive.group(group, name) for name in names if name in group}
    if not found:
        raise archive.fail("mod", "holds no modality")
    return found


def _modality(
    archive: Archive, found: Mapping[str, h5py.Group], options: ImportOptions, otherwise: str
) -> str:
    wanted = options.get("modality")
    if wanted is None:
        if len(found) == 1:
            return next(iter(found))
        if not otherwise:
            raise DataError(
                f"{archive.path.name} holds {len(found)} modalities: {', '.join(found)}.",
                "Choose one with the option “modality”, or import all as views.",
            )
        return otherwise
    if wanted not in found:
        raise DataError(f"{archive.path.name} has no modality “{wanted}”.", f"It has: {', '.join(found)}.")
    return str(wanted)


def _layers(archive: Archive, root: h5py.Group) -> list[str]:
    """The matrices of an AnnData: ``X``, its layers, and the raw one."""
    found = ["X"] if "X" in root and encoding_known(archive, root) else []
    if "layers" in root:
        found += [f"layers/{name}" for name in archive.names(archive.group(root, "layers"))]
    if "raw" in root and isinstance(root["raw"], h5py.Group) and "X" in archive.group(root, "raw"):
        found.append("raw/X")
    if not found:
        raise archive.fail(root.name, "holds no matrix: neither X nor a layer")
    return found


def encoding_known(archive: Archive, root: h5py.Group) -> bool:
    """Whether ``X`` is there and is not the mark of an empty one."""
    return str(archive.attr(archive.get(root, "X"), "encoding-type")) != "null"


def _layer(archive: Archive, root: h5py.Group, layers: list[str], options: ImportOptions) -> str:
    wanted = options.get("layer")
    if wanted is None:
        return layers[0]
    for name in (str(wanted), f"layers/{wanted}"):
        if name in layers:
            return name
    raise archive.fail(root.name, f"has no layer “{wanted}”", f"It has: {', '.join(layers)}.")


def _parts(archive: Archive, root: h5py.Group, layer: str) -> tuple[Matrix, Frame, Frame]:
    matrix = find_matrix(archive, root, layer)
    owner = archive.group(root, "raw") if layer == "raw/X" else root
    rows = read_frame(archive, root, "obs", matrix.shape[0])
    return matrix, rows, read_frame(archive, owner, "var", matrix.shape[1])


def _location(matrix: Matrix, rows: Frame, columns: Frame, values: Any) -> str:
    """Where the first infinite value is; empty when there is none."""
    stored = values.data if hasattr(values, "tocsr") else values
    if not np.isinf(stored).any():
        return ""
    if hasattr(values, "tocsr"):
        entries = values.tocoo()
        first = int(np.flatnonzero(np.isinf(entries.data))[0])
        row, column = int(entries.row[first]), int(entries.col[first])
    else:
        row, column = (int(item) for item in np.argwhere(np.isinf(values))[0])
    return _place(rows, columns, row, column)


def _place(rows: Frame, columns: Frame, row: int, column: int) -> str:
    return f"sample “{rows.names[row]}”, feature “{columns.names[column]}”"
