"""The three arrays of a compressed sparse matrix in a file, read a part at a time and looked at, made a mapped matrix."""

from __future__ import annotations

import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import h5py
import numpy as np
from h5py import h5d
from numpy.lib import format as npy

from plaidwork.core.data import mapped
from plaidwork.core.data.in_chunks import check_staying
from plaidwork.core.errors import DataError, SessionError
from plaidwork.core.hdf5 import gate
from plaidwork.core.refusals import why

_DAMAGED = (
    ValueError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    RuntimeError,
    KeyError,
    MemoryError,
)
_MAPPED = {np.dtype(np.float64), np.dtype(np.int32), np.dtype(np.int64)}
"""What models read as it is; other numbers are written once more."""
Fail = Callable[[str], DataError]


class Part(Protocol):
    """An array of numbers in a file, with one axis."""

    length: int
    dtype: np.dtype[Any]

    def read(self, lo: int, hi: int) -> np.ndarray:
        """Some of them; who reads begins at 0 and goes on where it ended."""
        ...

    def mapped(self) -> np.ndarray | None:
        """All of them, mapped as they lie in the file, where that can be."""
        ...


def map_in(path: Path, dtype: np.dtype[Any], offset: int, length: int) -> np.ndarray | None:
    """Numbers that lie in one piece from byte ``offset`` on; None for a type or a place that kernels do not read as it is."""
    if dtype not in _MAPPED or offset % dtype.itemsize or not length:
        return None
    with open(path, "rb") as file:
        return mapped.map_of(file, dtype, offset, length)


class InArchive:
    """An array of an HDF5 file. A chunk is unpacked with a bound before the library does, once."""

    def __init__(self, path: Path, dataset: h5py.Dataset) -> None:
        check_staying(path, dataset)
        self._path, self._dataset = path, dataset
        self.length, self.dtype = int(dataset.shape[0]), dataset.dtype
        self._looked = 0
        """So many chunks are known to be sound."""

    def read(self, lo: int, hi: int) -> np.ndarray:
        if self._dataset.id.get_create_plist().get_layout() == h5d.CHUNKED and hi > lo:
            step = self._dataset.chunks[0]
            for number in range(max(self._looked, lo // step), -(-hi // step)):
                chunk = self._dataset.id.get_chunk_info_by_coord((number * step,))
                if chunk.size:
                    gate.check_chunk(self._dataset, self._dataset.name, chunk)
                self._looked = number + 1
        return np.asarray(self._dataset[lo:hi])

    def mapped(self) -> np.ndarray | None:
        offset = self._dataset.id.get_offset()
        whole = self._dataset.id.get_storage_size() == self.length * self.dtype.itemsize
        if self._dataset.chunks is not None or offset is None or not whole or sys.byteorder != "little":
            return None
        return map_in(self._path, self.dtype, offset, self.length)


class InZip:
    """An array of an npz file, unpacked as it is read."""

    def __init__(self, path: Path, name: str, length: int, dtype: np.dtype[Any]) -> None:
        self._path, self._name, self._at = path, f"{name}.npy", 0
        self._stream: IO[bytes] | None = None
        self.length, self.dtype = length, dtype

    def read(self, lo: int, hi: int) -> np.ndarray:
        if self._stream is None or lo < self._at:
            self._open()
        assert self._stream is not None
        assert lo == self._at
        found = np.empty(hi - lo, self.dtype)
        room, done = found.view(np.uint8).data, 0
        while done < len(room):
            part = self._stream.read(min(len(room) - done, 1 << 22))
            if not part:
                raise EOFError("it ends too early")
            room[done : done + len(part)] = part
            done += len(part)
        self._at = hi
        return found

    def _open(self) -> None:
        self._stream = zipfile.ZipFile(self._path).open(self._name)  # noqa: SIM115
        _past_head(self._stream)
        self._at = 0

    def mapped(self) -> np.ndarray | None:
        with zipfile.ZipFile(self._path) as archive:
            info = archive.getinfo(self._name)
            if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
                return None
            with archive.open(info) as member:
                head = _past_head(member)
        with open(self._path, "rb") as file:
            file.seek(
                info.header_offset + 26
            )  # the lengths of the name and of what else stands before the member
            before = int.from_bytes(file.read(2), "little") + int.from_bytes(file.read(2), "little")
        offset = info.header_offset + 30 + before + head
        if offset + self.length * self.dtype.itemsize > self._path.stat().st_size:
            raise EOFError("it ends too early")
        return map_in(self._path, self.dtype, offset, self.length)


def _past_head(stream: IO[bytes]) -> int:
    """Read the head of an array; how long it is."""
    version = npy.read_magic(stream)
    (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(stream)
    return stream.tell()


@dataclass
class Compressed:
    """A matrix of ``lines`` along which it is compressed (rows of CSR, columns of CSC), each of ``across`` cells.

    ``fail`` makes the error for a fault in words.
    """

    path: Path
    shape: tuple[int, int]
    by_row: bool
    data: Part
    indices: Part
    pointer: np.ndarray
    fail: Fail

    def __post_init__(self) -> None:
        pointer, stored = self.pointer, self.data.length
        wrong = pointer.ndim != 1 or len(pointer) != self.lines + 1 or self.indices.length != stored
        wrong = wrong or self.data.dtype.kind not in "biuf" or self.indices.dtype.kind not in "iu"
        if wrong or pointer[0] != 0 or pointer[-1] != stored or (np.diff(pointer) < 0).any():
            raise self.fail(f"its pointers do not go with {stored} values and {self.shape}")
        self.pointer = pointer.astype(mapped.index_type(stored, self.across))

    @property
    def lines(self) -> int:
        return self.shape[0] if self.by_row else self.shape[1]

    @property
    def across(self) -> int:
        return self.shape[1] if self.by_row else self.shape[0]

    def matrix(self) -> Any:
        """The matrix, each entry once and in order, mapped; all is looked at, a part at a time. Raises ``DataError``."""
        try:
            found = self._in_lines()
        except SessionError as error:
            raise self.fail(error.message.removesuffix(".")) from error
        except _DAMAGED as error:
            raise self.fail(f"it cannot be read ({why(error)})") from error
        return found if self.by_row else mapped.turned(found)

    def _in_lines(self) -> Any:
        kept = self.indices.mapped()
        if kept is not None and kept.dtype == self.pointer.dtype:
            data = self.data.mapped() if self.data.dtype == np.float64 else None
            new = mapped.Growing(np.float64, 8 * self.data.length) if data is None else None
            for block in self._blocks(kept, data):  # what is looked at is what will be read
                if not block.has_canonical_format:
                    break
                if new is not None:
                    new.add(block.data)
            else:
                data = new.mapped() if new is not None else data
                assert data is not None
                return mapped.of_arrays(data, kept, self.pointer, (self.lines, self.across))
        return mapped.spilled(map(_in_order, self._blocks()), self.across, self.data.length)

    def _blocks(
        self, indices_at: np.ndarray | None = None, data_at: np.ndarray | None = None
    ) -> Iterator[Any]:
        """Some lines at a time, of arrays that are mapped already or as they are read."""
        from scipy.sparse import csr_matrix

        for lo, hi in mapped.groups_of(self.pointer):
            first, last = int(self.pointer[lo]), int(self.pointer[hi])
            indices = self.indices.read(first, last) if indices_at is None else indices_at[first:last]
            stored = self.data.read(first, last) if data_at is None else data_at[first:last]
            if indices.size and not 0 <= indices.min() <= indices.max() < self.across:
                raise self.fail(f"an index outside 0 to {self.across - 1}")
            self._check(stored, first, indices)
            block = csr_matrix((hi - lo, self.across))
            block.data, block.indices = stored.astype(np.float64), indices.astype(self.pointer.dtype)
            block.indptr = self.pointer[lo : hi + 1] - self.pointer[lo]
            yield block

    def _check(self, stored: np.ndarray, first: int, indices: np.ndarray) -> None:
        """Finite numbers that a float holds."""
        whole = stored.dtype.kind in "iu" and stored.itemsize == 8
        wrong = (stored > 2**53) | (stored < -(2**53)) if whole else ~np.isfinite(stored)
        if not wrong.any():
            return
        at = int(np.flatnonzero(wrong)[0])
        line = int(np.searchsorted(self.pointer, first + at, side="right"))
        row, column = (line, int(indices[at]) + 1) if self.by_row else (int(indices[at]) + 1, line)
        if whole:
            raise self.fail(f"expected at most 2^53 at row {row}, column {column}, found {stored[at]}")
        raise self.fail(f"expected a finite number at row {row}, column {column}, found {stored[at]}")


def _in_order(block: Any) -> Any:
    block.sum_duplicates()
    return block
