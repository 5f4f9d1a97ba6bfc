"""Elements of the AnnData encoding in HDF5: matrices, tables, columns.

Source: "AnnData on-disk format" (anndata 0.12 documentation, ``fileformat-prose``), encoding versions 0.1.0 and 0.2.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np

from plaidwork.core.data.importers._findings import distinct_names
from plaidwork.core.data.importers._hdf5 import Archive
from plaidwork.core.data.importers._sparse_parts import Compressed, InArchive
from plaidwork.core.data.importers._staying import can_stay, sparse_stays, stays
from plaidwork.core.data.importers._table import MAX_CELLS
from plaidwork.core.data.importers.base import ImportOptions, Issue
from plaidwork.core.data.in_chunks import matrix_at
from plaidwork.core.data.in_file import InFile
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_SPARSE = {"csr_matrix": "csr", "csc_matrix": "csc"}


@dataclass(frozen=True, slots=True)
class Frame:
    """A table: names of its items (n) and columns of n entries, texts (U) or numbers with NaN."""

    names: tuple[str, ...]
    columns: dict[str, np.ndarray]


def encoding(archive: Archive, thing: h5py.Group | h5py.Dataset) -> str:
    """The encoding type of an element, with the marks of anndata before 0.7 understood."""
    stated = str(archive.attr(thing, "encoding-type"))
    if not stated and isinstance(thing, h5py.Group) and "h5sparse_format" in thing.attrs:
        return f"{archive.attr(thing, 'h5sparse_format')}_matrix"
    return stated


# -- tables -----------------------------------------------------------------------------------------
def read_frame(archive: Archive, parent: h5py.Group, name: str, size: int | None = None) -> Frame:
    """``obs`` or ``var``. Columns of kinds that are not known are left out; names occur once or raise later."""
    group = archive.get(parent, name)
    if not isinstance(group, h5py.Group):
        raise archive.fail(
            group.name,
            "is a table as anndata wrote it before version 0.7",
            "Open the file with a current anndata and write it again.",
        )
    index = str(archive.attr(group, "_index", "_index"))
    names = archive.texts(archive.array(group, index))
    if names.ndim != 1 or (size is not None and len(names) != size):
        raise archive.fail(
            f"{group.name}/{index}", f"expected {counted(size or 0, 'name')}, found {names.shape}"
        )
    order = archive.attr(group, "column-order", None)
    listed = [str(item) for item in np.atleast_1d(order)] if order is not None else archive.names(group)
    columns = {}
    for title in listed:
        if title in (index, "__categories") or title not in group:
            continue
        column = read_column(archive, group, title)
        if column is not None and len(column) == len(names):
            columns[title] = column
    return Frame(tuple(str(text) for text in names), columns)


def read_column(archive: Archive, group: h5py.Group, name: str) -> np.ndarray | None:
    """One column as texts or numbers; ``None`` for kinds that cannot be an annotation."""
    thing = archive.get(group, name)
    if isinstance(thing, h5py.Dataset):
        return _plain_column(archive, group, name)
    stated = encoding(archive, thing)
    if stated == "categorical" or {"codes", "categories"} <= set(thing):
        codes = np.asarray(archive.array(thing, "codes")[()])
        return _decoded(archive, codes, archive.array(thing, "categories"))
    if {"values", "mask"} <= set(thing):  # nullable integers, booleans and texts
        values = _as_annotation(archive, archive.array(thing, "values"))
        mask = np.asarray(archive.array(thing, "mask")[()], dtype=bool)
        if values is None or mask.shape != values.shape:
            raise archive.fail(thing.name, f"a mask of {mask.shape} does not go with its values")
        return np.where(mask, "" if values.dtype.kind == "U" else np.nan, values)
    return None


def _plain_column(archive: Archive, group: h5py.Group, name: str) -> np.ndarray | None:
    dataset = archive.array(group, name) if "categories" not in group[name].attrs else group[name]
    if "__categories" in group and name in group["__categories"]:  # anndata 0.7: codes here, texts there
        categories = archive.array(archive.group(group, "__categories"), name)
        return _decoded(archive, np.asarray(archive.checked(dataset)[()]), categories)
    return _as_annotation(archive, archive.checked(dataset))


def _decoded(archive: Archive, codes: np.ndarray, categories: h5py.Dataset) -> np.ndarray:
    levels = _as_annotation(archive, categories)
    if levels is None or codes.dtype.kind not in "iu" or (codes.size and codes.max() >= len(levels)):
        raise archive.fail(
            categories.name, f"codes up to {codes.max()} and categories of shape {categories.shape}"
        )
    gap: Any = "" if levels.dtype.kind == "U" else np.nan
    padded = np.append(levels, np.array([gap], dtype=levels.dtype))
    return padded[np.where(codes < 0, len(levels), codes)]


def _as_annotation(archive: Archive, dataset: h5py.Dataset) -> np.ndarray | None:
    if len(dataset.shape) != 1:
        return None
    if h5py.check_string_dtype(dataset.dtype) is not None:
        return archive.texts(dataset)
    values = np.asarray(dataset[()])
    if values.dtype.kind == "b":
        return np.where(values, "yes", "no")
    return values.astype(np.float64) if values.dtype.kind in "iuf" else None


# -- matrices ---------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix in the file that was looked at but not read: its element, encoding and shape."""

    element: h5py.Group | h5py.Dataset
    layout: str
    shape: tuple[int, int]


def find_matrix(archive: Archive, root: h5py.Group, path: str) -> Matrix:
    """The matrix at ``X``, ``layers/name`` or ``raw/X``. Raises ``DataError`` for what is no matrix."""
    *folders, name = path.split("/", 1) if path.startswith(("layers/", "raw/")) else [path]
    group = root
    for folder in folders:
        group = archive.group(group, folder)
    element = archive.get(group, name)
    if isinstance(element, h5py.Dataset):
        shape = tuple(archive.checked(element, piecewise=True).shape)
        if len(shape) != 2 or element.dtype.kind not in "biuf":
            raise archive.fail(
                element.name, f"expected a matrix of numbers, found {shape} of {element.dtype}"
            )
        layout = "dense"
    else:
        stated = encoding(archive, element)
        if stated not in _SPARSE:
            raise archive.fail(element.name, f"has the encoding “{stated}”, which is no matrix")
        announced = element.attrs["shape"] if "shape" in element.attrs else element.attrs["h5sparse_shape"]
        shape, layout = tuple(int(item) for item in announced), _SPARSE[stated]
    cells = int(shape[0]) * int(shape[1]) if len(shape) == 2 else -1
    if min(shape, default=-1) < 0 or not 0 <= cells <= MAX_CELLS * 100:
        raise archive.fail(element.name, f"announces the shape {shape}")
    return Matrix(element, layout, (shape[0], shape[1]))


def read_matrix(archive: Archive, matrix: Matrix, dense_below: int) -> Any:
    """The values as float64: dense up to ``dense_below`` cells, else CSR where the file is sparse."""
    cells = matrix.shape[0] * matrix.shape[1]
    if matrix.layout == "dense":
        if cells > MAX_CELLS:
            raise archive.fail(matrix.element.name, f"has {counted(cells, 'cell')}; {MAX_CELLS} can be read")
        archive.checked(matrix.element)
        return np.asarray(matrix.element[()], dtype=np.float64)
    values = _sparse(archive, matrix)
    return np.asarray(values.toarray()) if cells <= dense_below else values.tocsr()


def staying_matrix(archive: Archive, matrix: Matrix, options: ImportOptions) -> InFile | None:
    """A dense matrix where it stays in its file; None otherwise. Raises ``DataError`` for one that cannot and is asked to."""
    element = matrix.element
    if matrix.layout != "dense":
        return None
    what = f"{' × '.join(map(str, matrix.shape))}, {element.dtype}"
    where = f"{archive.path.name}, “{element.name}”,"
    if not stays(where, matrix.shape, can_stay(element.dtype), what, options):
        return None
    return matrix_at(archive.path, element)


def sparse_parts(
    archive: Archive, matrix: Matrix, options: ImportOptions, dense_below: int
) -> Compressed | None:
    """A sparse matrix where it stays out of memory, not yet read; None otherwise, and for one of few cells unless it is asked to."""
    cells, wanted = matrix.shape[0] * matrix.shape[1], options.get("values_in")
    if matrix.layout == "dense" or (cells <= dense_below and wanted != "file"):
        return None
    group = matrix.element
    assert isinstance(group, h5py.Group)
    found = [archive.get(group, name) for name in ("data", "indices")]
    if any(not isinstance(part, h5py.Dataset) or len(part.shape) != 1 for part in found):
        raise archive.fail(group.name, "expected data and indices, each a list of numbers")
    if not sparse_stays(found[0].shape[0], options):
        return None
    data, indices = (InArchive(archive.path, part) for part in found)
    pointer = np.asarray(archive.array(group, "indptr")[()])
    return Compressed(
        archive.path, matrix.shape, matrix.layout == "csr", data, indices, pointer,
        lambda rule: archive.fail(group.name, rule, "Write it once more."),
    )  # fmt: skip


def dense_rows(archive: Archive, matrix: Matrix, where: Callable[[int, int], str]) -> Iterator[np.ndarray]:
    """The rows of a dense matrix some at a time. Raises ``DataError`` for infinite ones; ``where`` tells a place in words."""
    for begin, part in matrix_at(archive.path, matrix.element).pieces():
        if np.isinf(part).any():
            row, column = np.argwhere(np.isinf(part))[0]
            raise infinite_error(archive, matrix, where(begin + row, column))
        yield part


def infinite_error(archive: Archive, matrix: Matrix, where: str) -> DataError:
    return archive.fail(
        matrix.element.name,
        f"expected finite numbers, found infinity at {where}",
        "Mend the matrix, or read infinite values as missing.",
    )


def infinite_issue(head: np.ndarray) -> list[Issue]:
    """What is to be decided before the import when the first rows hold infinite values."""
    if not np.isinf(head).any():
        return []
    return [
        Issue(
            "error",
            "Some values are infinite",
            f"Among the first {counted(len(head), 'row')}",
            fix=("Read infinite values as missing", "infinite", "missing"),
        )
    ]


def head_of(archive: Archive, matrix: Matrix, rows: int, columns: int) -> np.ndarray:
    """The first rows and columns, dense; of a matrix by columns only when it is small."""
    n, m = min(rows, matrix.shape[0]), min(columns, matrix.shape[1])
    if matrix.layout == "dense":
        return np.asarray(matrix.element[:n, :m], dtype=np.float64)
    part = _sparse(archive, matrix, n if matrix.layout == "csr" else m)
    return np.asarray(part.toarray())[:n, :m]


def _sparse(archive: Archive, matrix: Matrix, lines: int | None = None) -> Any:
    """A scipy matrix of all lines, or of the first ones along the compressed axis."""
    from scipy import sparse

    group = matrix.element
    assert isinstance(group, h5py.Group)
    by_row = matrix.layout == "csr"
    long, across = matrix.shape if by_row else matrix.shape[::-1]
    part = lines is not None  # of a matrix that is too large to be read as a whole its beginning can be
    data, indices = (archive.array(group, name, piecewise=part) for name in ("data", "indices"))
    pointer = np.asarray(archive.array(group, "indptr")[()]).astype(np.int64)
    stored = data.shape[0] if len(data.shape) == 1 else -1
    wrong = len(pointer) != long + 1 or indices.shape != data.shape or data.dtype.kind not in "biuf"
    if wrong or pointer[0] != 0 or pointer[-1] != stored or (np.diff(pointer) < 0).any():
        raise archive.fail(group.name, f"its pointers do not go with {stored} values and {matrix.shape}")
    lines = long if lines is None else min(lines, long)
    pointer = pointer[: lines + 1]
    stop = int(pointer[-1])
    found = np.asarray(indices[:stop]).astype(np.int64)
    if found.size and not 0 <= found.min() <= found.max() < across:
        raise archive.fail(group.name, f"an index outside 0 to {across - 1}")
    parts = (np.asarray(data[:stop], dtype=np.float64), found, pointer)
    made = (
        sparse.csr_matrix(parts, shape=(lines, across))
        if by_row
        else sparse.csc_matrix(parts, shape=(across, lines))
    )
    made.sum_duplicates()
    return made


def unlike(frame: Frame, other: Frame) -> dict[str, np.ndarray]:
    """Columns of ``other`` brought to the items of ``frame`` by name, those it has already left out."""
    index_of = {name: index for index, name in enumerate(distinct_names(other.names))}
    index = np.array([index_of.get(name, -1) for name in frame.names], dtype=np.int64)
    if not len(index) or (index < 0).all():
        return {}
    found = {}
    for title, column in other.columns.items():
        if title not in frame.columns:
            spread = column[np.maximum(index, 0)]
            spread[index < 0] = "" if spread.dtype.kind == "U" else np.nan
            found[title] = spread
    return found
