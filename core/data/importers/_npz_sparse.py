"""Sparse matrices as ``scipy.sparse.save_npz`` writes them: a few arrays that make one matrix."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers._damage import NAME_BYTES, check_growth
from plaidwork.core.data.importers._npz_load import Header, exact
from plaidwork.core.data.importers._sparse_parts import Compressed, InZip
from plaidwork.core.data.importers._staying import sparse_stays
from plaidwork.core.data.importers.base import ImportOptions
from plaidwork.core.data.importers.matrix_market import MAX_LINES, SPARSE_BELOW
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_PARTS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
"""Arrays beside ``data``, ``shape`` and ``format`` by format."""


def holds_sparse(headers: Mapping[str, Header]) -> bool:
    """Whether the arrays of the file are the parts of one sparse matrix."""
    head = headers.get("format")
    if head is None or head.shape or head.dtype.kind not in "SU" or not {"data", "shape"} <= headers.keys():
        return False
    return any(set(parts) <= headers.keys() for parts in _PARTS.values())


def sparse_shape(path: Path, headers: Mapping[str, Header]) -> tuple[int, int]:
    """Rows and columns, checked before anything is allocated. Raises ``DataError``."""
    if headers["shape"].shape != (2,) or headers["shape"].dtype.kind not in "iu":
        raise _damaged(path, f"its “shape” holds {headers['shape'].described}")
    rows, columns = (int(size) for size in _read(path, "shape"))
    if not (0 <= rows <= MAX_LINES and 0 <= columns <= MAX_LINES):
        raise DataError(
            f"{path.name} announces {counted(rows, 'row')} × {counted(columns, 'column')}; up to {MAX_LINES} of each can be read.",
            "Save a part of it.",
        )
    check_growth(path, NAME_BYTES * (rows + columns))
    return rows, columns


def staying_parts(
    path: Path, headers: Mapping[str, Header], shape: tuple[int, int], options: ImportOptions
) -> Compressed | None:
    """A compressed matrix where it stays out of memory, not yet read; None otherwise. Raises ``DataError``."""
    layout, wanted = str(_read(path, "format").astype(str)), options.get("values_in")
    entries = int(headers["data"].shape[0]) if len(headers["data"].shape) == 1 else -1
    full = entries >= SPARSE_BELOW * max(shape[0] * shape[1], 1) and not options.get("sparse")
    if entries < 0 or (full and wanted != "file") or not sparse_stays(entries, options):
        return None
    if layout not in ("csr", "csc") or not set(_PARTS[layout]) <= headers.keys():
        if wanted != "file":
            return None
        raise DataError(
            f"{path.name} holds a sparse matrix of the format “{layout[:20]}”, which needs all of its entries in memory.",
            "Save it as matrix.tocsr().",
        )
    if len(headers["indices"].shape) != 1:
        raise _damaged(path, "its indices are no list")
    data, indices = (
        InZip(path, name, headers[name].shape[0], headers[name].dtype) for name in ("data", "indices")
    )
    pointer = _read(path, "indptr")
    return Compressed(path, shape, layout == "csr", data, indices, pointer, lambda rule: _damaged(path, rule))


def load_sparse(path: Path, headers: Mapping[str, Header], keep: bool = False) -> tuple[Any, str]:
    """The matrix, CSR of float64, dense from 25 % on unless ``keep``; and a note where numbers were rounded. Raises ``DataError``."""
    from scipy.sparse import coo_matrix, csc_matrix, csr_matrix

    shape, layout = sparse_shape(path, headers), str(_read(path, "format").astype(str))
    wanted = _PARTS.get(layout, ())
    if not wanted or not set(wanted) <= headers.keys():
        raise DataError(
            f"{path.name} holds a sparse matrix of the format “{layout[:20]}”; csr, csc and coo can be read.",
            "Save it as matrix.tocsr().",
        )
    parts = [headers[name] for name in ("data", *wanted)]
    if any(len(part.shape) != 1 for part in parts) or parts[0].dtype.kind not in "biuf":
        raise _damaged(path, f"its “data” holds {parts[0].described}")
    if any(part.dtype.kind not in "iu" for part in parts[1:]):
        raise _damaged(path, "its indices are no whole numbers")
    places = [_read(path, name) for name in wanted]
    data, note = exact(path, _read(path, "data"))
    if layout != "coo" and places[1][-1:].tolist() != [len(data)]:
        raise _damaged(path, f"its pointers do not go with {counted(len(data), 'value')}")
    try:
        if layout == "coo":
            found = coo_matrix((data, (places[0], places[1])), shape)
        else:
            found = (csr_matrix if layout == "csr" else csc_matrix)((data, *places), shape)
            found.check_format(full_check=True)
        del data, places
        matrix = found.tocsr()  # itself, where it is that
        matrix.sum_duplicates()
    except (ValueError, OverflowError, TypeError) as error:
        raise _damaged(path, str(error)) from error
    if not np.isfinite(matrix.data).all():
        raise DataError(
            f"{path.name} holds a value that is not finite.", "Leave such entries out of the file."
        )
    if keep or matrix.nnz < SPARSE_BELOW * max(shape[0] * shape[1], 1):
        return matrix, note
    return matrix.toarray(), note


def _read(path: Path, name: str) -> np.ndarray:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return np.asarray(archive[name])
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error, OSError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, why: str) -> DataError:
    return DataError(f"{path.name} is damaged: {why}.", "Write it once more with scipy.sparse.save_npz.")
