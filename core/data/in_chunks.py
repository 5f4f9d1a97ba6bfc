"""Dense matrices that stay in an HDF5 file, in pieces (chunks) that are packed each for itself or lie in one piece after all.

Whoever wants a row unpacks all chunks that it passes through. So all chunks beside each other (a band) are unpacked together, and the band
that was read last is kept: who goes through the rows unpacks each chunk once. Where a band is too large for that, each chunk is unpacked
for every few rows (:attr:`InChunks.times_read`).

A chunk is unpacked with a bound before the library does, once. The file is open only while it is read.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5t, h5z

from plaidwork.core.data import in_file
from plaidwork.core.data.in_file import InFile, rows_of, stamp_of
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError, SessionError
from plaidwork.core.hdf5 import gate
from plaidwork.core.hdf5.limits import machine_limits
from plaidwork.core.refusals import why

KEPT = 1 << 28
"""Bytes of a band that is kept at most."""
LEAST = 1 << 22
"""Bytes that are read at a time at least, where rows are asked for one after the other."""
MOST_CHUNKS = 10_000_000
FILTERS = gate.FILTERS | {h5z.FILTER_LZF}
_DAMAGED = (OSError, RuntimeError, ValueError, KeyError, TypeError, MemoryError)
_PLAIN = {4: h5t.IEEE_F32LE, 8: h5t.IEEE_F64LE}


def matrix_at(path: Path, dataset: h5py.Dataset) -> InFile:
    """The cells of an array of numbers with two axes; other numbers than float32 are read as float64. Raises ``DataError``.

    What lies in one piece is read as such.
    """
    single = dataset.dtype.kind == "f" and dataset.dtype.itemsize == 4
    kind = np.dtype(np.float32 if single else np.float64)
    check_staying(path, dataset)
    offset = dataset.id.get_offset()
    plain = dataset.chunks is None and dataset.id.get_storage_size() == dataset.size * kind.itemsize
    plain = plain and sys.byteorder == "little" and dataset.id.get_type().equal(_PLAIN[kind.itemsize])
    if plain and offset is not None:
        return InFile(path, offset, dataset.shape, kind)
    return InChunks(path, dataset.name, dataset.shape, kind, dataset.chunks or (1, dataset.shape[1]))


def check_staying(path: Path, dataset: h5py.Dataset) -> None:
    """Look at an array of which never much is in memory at a time. Raises ``DataError`` naming the rule that it breaks."""
    limits = machine_limits()
    try:
        gate.check_array(dataset, dataset.name, limits.piecewise(), FILTERS)
    except SessionError as error:
        raise DataError(f"{path.name}: {error.message}", "Write it once more.") from error
    stored, size = dataset.id.get_storage_size(), path.stat().st_size
    if stored > size:
        raise DataError(
            f"{path.name}, “{dataset.name}”: it is said to take {counted(stored, 'byte')} of a file of {size}.",
            "Copy or write it once more.",
        )
    if dataset.chunks and math.prod(_grid(dataset.shape, dataset.chunks)) > MOST_CHUNKS:
        raise DataError(
            f"{path.name}, “{dataset.name}”: it lies in more than {MOST_CHUNKS} chunks.",
            "Write it once more, in chunks of about a MiB.",
        )


def _grid(shape: Sequence[int], chunks: Sequence[int]) -> tuple[int, ...]:
    return tuple(-(-length // step) for length, step in zip(shape, chunks, strict=True))


class InChunks(InFile):
    """Cells of the array ``place`` of an HDF5 file, float32 or float64; ``shape`` is that of the array, or with ``turned`` of what it is
    when rows and columns are exchanged; ``chunks`` is that of the array as it lies in the file."""

    def __init__(
        self, path: Path, place: str, shape: Sequence[int], dtype: Any, chunks: Sequence[int], *, turned: bool = False
    ) -> None:  # fmt: skip
        super().__init__(path, 0, shape, dtype, turned=turned)
        self.place, self.chunks = place, tuple(int(length) for length in chunks)
        self._known = False
        """Whether the head of the array was looked at."""
        self._band: tuple[int, np.ndarray] | None = None
        self._sound = np.zeros(_grid(self._stored, self.chunks), bool)
        """Of which chunks it is known that they unpack to what they should be."""

    def __reduce__(self) -> Any:
        return _same_chunks, (*self._made_of, self.turned, self.stamp, bool(self._sound.all()))

    @property
    def _made_of(self) -> tuple[Path, str, tuple[int, ...], str, tuple[int, ...]]:
        return self.path, self.place, self.shape, self.dtype.str, self.chunks

    @property
    def T(self) -> InChunks:
        """The same with rows and columns exchanged; nothing is read."""
        path, place, shape, dtype, chunks = self._made_of
        made = _same_chunks(path, place, shape[::-1], dtype, chunks, not self.turned, self.stamp, False)
        made._sound = self._sound
        return made

    @property
    def _stored(self) -> tuple[int, ...]:
        return self.shape[::-1] if self.turned else self.shape

    @property
    def _plain(self) -> bool:
        return False

    @property
    def _height(self) -> int:
        """Rows of a band: those of a chunk, or of some, where they are small."""
        rows = self.chunks[int(self.turned)]
        return rows_of(LEAST, self.shape[1] * self.dtype.itemsize, rows)

    @property
    def row_cost(self) -> int:
        """Bytes that are unpacked for one row."""
        return int(self.chunks[int(self.turned)] * self.shape[1] * self.dtype.itemsize)

    @property
    def times_read(self) -> int:
        if self.row_cost <= KEPT:
            return 1
        return -(-self.row_cost // in_file.PIECE)

    # -- reading -------------------------------------------------------------------------------
    def _rows(self, lo: int, hi: int) -> np.ndarray:
        columns = slice(0, self.shape[1])
        if self.row_cost > KEPT:
            return self._block(slice(lo, hi), columns)
        found, step = np.empty((max(0, hi - lo), self.shape[1]), self.dtype), self._height
        for band in range(lo // step, -(-hi // step)):
            begin, end = max(lo, band * step), min(hi, (band + 1) * step)
            rows = self._kept(band, step)
            found[begin - lo : end - lo] = rows[begin - band * step : end - band * step]
        return found

    def _kept(self, band: int, step: int) -> np.ndarray:
        if self._band is None or self._band[0] != band:
            self._band = None  # never two of them
            rows = self._block(
                slice(band * step, min(self.shape[0], (band + 1) * step)), slice(0, self.shape[1])
            )
            self._band = band, rows
        return self._band[1]

    def _block(self, rows: slice, columns: slice) -> np.ndarray:
        """Some rows of some columns, in their own type."""
        at = (columns, rows) if self.turned else (rows, columns)
        found = np.empty([max(0, part.stop - part.start) for part in at], self.dtype)
        with self._one:
            self._check()
            if found.size:
                self._unpack(at, found)
        return found.T if self.turned else found

    def columns(self, index: np.ndarray) -> np.ndarray:
        """(n, len(index)) columns as float64; of the chunks only those are unpacked that have one of them."""
        (n, m), index = self.shape, np.asarray(index, dtype=np.intp)
        index = np.where(index < 0, index + m, index)
        found, width = np.empty((n, len(index))), self.chunks[1 - int(self.turned)]
        for first in np.unique(index // width) * width:
            mine, end = np.flatnonzero(index // width == first // width), min(m, int(first) + width)
            step = rows_of(in_file.PIECE, width * self.dtype.itemsize, self.chunks[int(self.turned)])
            for lo in range(0, n, step):
                rows = slice(lo, min(n, lo + step))
                found[rows, mine] = self._block(rows, slice(int(first), end))[:, index[mine] - first]
        return found

    def corner(self, n: int, m: int) -> np.ndarray:
        """The first rows and columns as float64; no more is unpacked."""
        part = self._block(slice(0, min(n, self.shape[0])), slice(0, min(m, self.shape[1])))
        return np.asarray(part, dtype=np.float64)

    # -- the file ------------------------------------------------------------------------------
    def _unpack(self, at: tuple[slice, slice], found: np.ndarray) -> None:
        try:
            with h5py.File(
                self.path, "r"
            ) as file:  # not for longer: others may want to write it, and would be refused
                dataset = self._looked_at(file)
                self._check_chunks(dataset, at)
                dataset.read_direct(found, at)
        except SessionError as error:
            raise DataError(
                f"“{self.path.name}” is damaged: {error.message}", "Write it once more."
            ) from error
        except _DAMAGED as error:
            raise DataError(
                f"“{self.path.name}” cannot be read: {why(error)}.", "Copy or write it once more."
            ) from error

    def _looked_at(self, file: h5py.File) -> h5py.Dataset:
        if stamp_of(os.fstat(file.id.get_vfd_handle())) != self.stamp:
            raise self._changed()
        dataset = file[self.place]
        if not self._known:
            check_staying(self.path, dataset)
            if dataset.shape != self._stored or (dataset.chunks or self.chunks) != self.chunks:
                raise self._changed()
            self._known = True
        return dataset

    def _check_chunks(self, dataset: h5py.Dataset, at: tuple[slice, slice]) -> None:
        """Look at the chunks that a block is in, each once."""
        if dataset.id.get_create_plist().get_layout() != h5d.CHUNKED:
            return
        inside = tuple(
            slice(part.start // step, -(-part.stop // step))
            for part, step in zip(at, self.chunks, strict=True)
        )
        for place in _where_not(self._sound[inside]):
            where = tuple(p + part.start for p, part in zip(place, inside, strict=True))
            offset = tuple(p * step for p, step in zip(where, self.chunks, strict=True))
            chunk = dataset.id.get_chunk_info_by_coord(offset)
            if chunk.size:
                gate.check_chunk(dataset, self.place, chunk)
            self._sound[where] = True


def _where_not(flags: np.ndarray) -> Iterator[tuple[int, ...]]:
    for place in np.argwhere(~flags):
        yield tuple(int(p) for p in place)


def _same_chunks(
    path: Path,
    place: str,
    shape: tuple[int, ...],
    dtype: str,
    chunks: tuple[int, ...],
    turned: bool,
    stamp: tuple[int, int],
    sound: bool,
) -> InChunks:
    try:
        made = InChunks(path, place, shape, dtype, chunks, turned=turned)
    except OSError as error:
        raise DataError(f"“{path.name}” cannot be read: {why(error)}.", "Put it back.") from error
    made.stamp = stamp
    made._sound |= sound
    return made
