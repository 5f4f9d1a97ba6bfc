"""Data handed to other processes: large matrices once, in a file that every process maps.

Sent through a pipe they would be copied twice with the interpreter lock held (0.1 s for 80 MB, for every chain), and once more in
every process.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.in_file import InFile
from plaidwork.core.data.mapped import of_arrays, scratch_folder
from plaidwork.core.data.sparse_in_file import SparseInFile

_APART = 1 << 20
"""Bytes from which a matrix goes into the file."""
_ALIGNED = 64
_CSR = ("data", "indices", "indptr")

Inputs = Mapping[str, tuple[Dataset, ...]]


@dataclass(frozen=True)
class _Array:
    """An array that lies at ``begin`` (bytes) in the file."""

    begin: int
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class _Part:
    """A dataset without its values, which lie in the file: one array, or the three of a sparse matrix of the type ``kind``.

    Values that stay in a file of their own are read there (``cells``); of sparse ones that stay out of memory ``made_of`` tells what
    :class:`SparseInFile` wants to know beside the matrix.
    """

    others: dict[str, Any]
    shape: tuple[int, ...]
    arrays: tuple[_Array, ...]
    kind: Any = None
    cells: InFile | None = None
    made_of: tuple[Path, bool, tuple[int, int]] | None = None


@dataclass(frozen=True)
class Parcel:
    """Inputs of a fit on their way; made by :func:`pack`.

    Attributes
    ----------
    parts : by input; datasets that are small are there as they are.
    path : the file with the values of the others; empty when there are none.
    """

    parts: Mapping[str, tuple[Dataset | _Part, ...]]
    path: str = ""

    def inputs(self) -> Inputs:
        """The inputs; values in the file are views of it that cannot be written. Raises ``OSError`` when it is gone."""
        mapped = b"" if not self.path else _mapped(self.path)
        return {
            name: tuple(part if isinstance(part, Dataset) else _whole(part, mapped) for part in parts)
            for name, parts in self.parts.items()
        }

    def discard(self) -> None:
        """Remove the file; who has mapped it keeps what is in it (where the system cannot do that, the file stays)."""
        if self.path:
            with suppress(OSError):
                os.unlink(self.path)


def pack(inputs: Inputs) -> Parcel:
    """Inputs for other processes of this computer; :meth:`Parcel.discard` when they have it. Raises ``OSError`` for a full disk."""
    if not any(_apart(dataset) for datasets in inputs.values() for dataset in datasets):
        return Parcel(dict(inputs))
    large = any(data.stays and data.is_sparse for datasets in inputs.values() for data in datasets)
    if large:
        scratch_folder().mkdir(parents=True, exist_ok=True)
    handle, path = tempfile.mkstemp(prefix="plaidwork-data-", dir=scratch_folder() if large else None)
    try:
        with open(handle, "wb") as file:
            parts = {
                name: tuple(_put(dataset, file) if _apart(dataset) else dataset for dataset in datasets)
                for name, datasets in inputs.items()
            }
    except BaseException:
        Parcel({}, path).discard()
        raise
    return Parcel(parts, path)


def _apart(dataset: Dataset) -> bool:
    return dataset.stays or (
        dataset.nbytes >= _APART and (not dataset.is_sparse or dataset.values.format == "csr")
    )


def _put(dataset: Dataset, file: Any) -> _Part:
    others = {field.name: getattr(dataset, field.name) for field in fields(dataset) if field.name != "values"}
    if (cells := dataset.in_file) is not None:
        return _Part(others, cells.shape, (), cells=cells)
    values = dataset.values
    if not dataset.is_sparse:
        return _Part(others, values.shape, (_put_array(values, file),))
    arrays = tuple(_put_array(getattr(values, name), file) for name in _CSR)
    held = dataset.staying
    made_of = (held.path, held.whole, held.stamp) if isinstance(held, SparseInFile) else None
    return _Part(others, values.shape, arrays, type(values), made_of=made_of)


def _put_array(values: np.ndarray, file: Any) -> _Array:
    begin = -(-file.tell() // _ALIGNED) * _ALIGNED
    file.seek(begin)
    file.write(np.ascontiguousarray(values).data)  # without a copy, and without the interpreter lock
    return _Array(begin, values.shape, values.dtype.str)


def _mapped(path: str) -> bytes | mmap.mmap:
    with open(path, "rb") as file:
        if not os.fstat(file.fileno()).st_size:  # all stay in their own files
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _whole(part: _Part, mapped: bytes | mmap.mmap) -> Dataset:
    if part.cells is not None:
        return Dataset(values=part.cells, **part.others)
    arrays = [
        np.frombuffer(mapped, one.dtype, int(np.prod(one.shape)), one.begin).reshape(one.shape)
        for one in part.arrays
    ]
    if part.kind is None:
        return Dataset(values=arrays[0], **part.others)
    if part.made_of is not None:
        path, whole, stamp = part.made_of
        held = SparseInFile(
            path,
            of_arrays(arrays[0], arrays[1], arrays[2], (part.shape[0], part.shape[1])),
            whole=whole,
            stamp=stamp,
        )
        return Dataset(values=held, **part.others)
    values = part.kind(part.shape)
    for name, array in zip(_CSR, arrays, strict=True):
        setattr(values, name, array)
    return Dataset(values=values, **part.others)
