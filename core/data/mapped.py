"""Sparse matrices whose arrays lie in files and are mapped, so that the system keeps of them in memory what there is room for.

Whatever is made of one goes into scratch files, some rows at a time, and is mapped as well. Scratch files have no name any
more once they are open (where the system cannot do that they go with whoever has mapped them), so none is left behind.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from platformdirs import user_cache_path

from plaidwork.core.errors import DataError
from plaidwork.core.refusals import why

AT_ONCE = 1 << 22
"""Entries in memory at a time, some 50 MB; of a row that has more, all."""
ENTRY = 12
"""Bytes of an entry: its value and the number of its column."""
SPARE = 1 << 28
"""Bytes of the disk that are left free."""
_MOST = np.iinfo(np.int32).max


def scratch_folder() -> Path:
    """Where scratch files lie: on a disk, as a folder of temporary files may be memory."""
    return Path(
        os.environ.get("PLAIDWORK_SCRATCH") or user_cache_path("plaidwork", appauthor=False) / "scratch"
    )


def scratch_file(need: int = 0) -> IO[bytes]:
    """An open file without a name. Raises ``DataError`` where there is no room for ``need`` bytes, with how much is needed and free."""
    folder = scratch_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
        if need + SPARE > free:
            raise _no_room(need, max(0, free - SPARE))
        return tempfile.TemporaryFile(dir=folder, prefix="plaidwork-")
    except OSError as error:
        raise DataError(
            f"No scratch file can be made in {folder}: {why(error)}.",
            "Name another folder: PLAIDWORK_SCRATCH.",
        ) from error


def _no_room(need: int, free: int) -> DataError:
    return DataError(
        f"A sparse matrix is unpacked into a scratch file in {scratch_folder()}, which needs {need / 1e9:.1f} GB of disk; "
        f"{free / 1e9:.1f} GB are free.",
        "Make room there, or name a folder on another disk: PLAIDWORK_SCRATCH.",
    )


class Growing:
    """An array that is written from its beginning to its end, and mapped when it is whole."""

    def __init__(self, dtype: Any, need: int = 0) -> None:
        self.dtype = np.dtype(dtype)
        self._file = scratch_file(need)

    def add(self, part: np.ndarray) -> None:
        """Write what follows. Raises ``DataError`` for a full disk."""
        written(self._file, np.ascontiguousarray(part, self.dtype))

    def mapped(self) -> np.ndarray:
        """All of it, which cannot be written to."""
        self._file.flush()
        found = map_of(self._file, self.dtype)
        self._file.close()
        return found


def written(file: IO[bytes], part: np.ndarray) -> None:
    """Write an array where the file stands. Raises ``DataError`` for a full disk."""
    try:
        file.write(part.reshape(-1).view(np.uint8).data)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise _no_room(part.nbytes, 0) from error
        raise DataError(
            f"A scratch file in {scratch_folder()} cannot be written: {why(error)}.",
            "Name another folder: PLAIDWORK_SCRATCH.",
        ) from error


def map_of(file: IO[bytes], dtype: Any, offset: int = 0, length: int = -1) -> np.ndarray:
    """Numbers of an open file from byte ``offset`` on, mapped; they cannot be written to, and outlive the file."""
    if not os.fstat(file.fileno()).st_size:  # nothing cannot be mapped
        return np.zeros(0, dtype)
    return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype, length, offset)


def scratch_array(length: int, dtype: Any) -> np.ndarray:
    """(length,) zeros in a scratch file, to be written to. Raises ``DataError`` where the disk has no room."""
    size = length * np.dtype(dtype).itemsize
    if not size:
        return np.zeros(length, dtype)
    with scratch_file(size) as file:
        try:
            if hasattr(os, "posix_fallocate"):  # a page that has no place on the disk would end the program
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
        except OSError as error:
            raise _no_room(size, 0) from error
        return np.frombuffer(mmap.mmap(file.fileno(), size), dtype)


# -- matrices ---------------------------------------------------------------------------------------
def of_arrays(data: np.ndarray, indices: np.ndarray, pointer: np.ndarray, shape: tuple[int, int]) -> Any:
    """The CSR matrix of three arrays that are known to be sound, with entries in order, each once; nothing is copied or looked at."""
    from scipy.sparse import csr_matrix

    made = csr_matrix(shape)
    made.data, made.indices = data, indices
    made.indptr = pointer.astype(indices.dtype, copy=False)  # of two types SciPy would make both arrays anew
    made.has_canonical_format = True
    return made


def index_type(entries: int, across: int) -> np.dtype[Any]:
    """Of the numbers of columns of a matrix of so many entries and columns."""
    return np.dtype(np.int32 if max(entries, across) <= _MOST else np.int64)


def spilled(blocks: Iterable[Any], across: int, entries: int) -> Any:
    """The matrix of CSR matrices one above the other, at most so many ``entries``, in scratch files.

    Raises ``DataError`` where the disk has no room.
    """
    kind = index_type(entries, across)
    data, indices = Growing(np.float64, (8 + kind.itemsize) * entries), Growing(kind)
    lengths = [np.zeros(1, np.int64)]
    for block in blocks:
        data.add(block.data)
        indices.add(block.indices)
        lengths.append(np.diff(block.indptr).astype(np.int64))
    pointer = np.cumsum(np.concatenate(lengths))
    return of_arrays(data.mapped(), indices.mapped(), pointer, (len(pointer) - 1, across))


def groups_of(pointer: np.ndarray) -> Iterator[tuple[int, int]]:
    """First line and the one after the last, so that together they have as many entries as are in memory at a time, or are one line."""
    lo, n = 0, len(pointer) - 1
    while lo < n:
        most = min(int(pointer[lo]) + AT_ONCE, int(pointer[-1]))
        hi = int(np.searchsorted(pointer, pointer.dtype.type(most), side="right")) - 1
        hi = min(n, max(lo + 1, hi))
        yield lo, hi
        lo = hi


def row_blocks(matrix: Any, rows: np.ndarray | None = None) -> Iterator[Any]:
    """The rows of a CSR matrix (or those at ``rows``, in that order) some at a time, as CSR matrices."""
    if rows is not None:
        lengths = np.diff(matrix.indptr)[rows]
        for lo, hi in groups_of(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])):
            yield matrix[rows[lo:hi]]
        return
    for lo, hi in groups_of(matrix.indptr):
        first, last = matrix.indptr[lo], matrix.indptr[hi]
        pointer = matrix.indptr[lo : hi + 1] - first
        yield of_arrays(
            matrix.data[first:last], matrix.indices[first:last], pointer, (hi - lo, matrix.shape[1])
        )


def taken(
    matrix: Any, rows: np.ndarray | None = None, change: Callable[[Any], Any] | None = None, across: int = -1
) -> Any:
    """Some rows of a mapped CSR matrix, or all, each block of them changed, as a mapped matrix of ``across`` columns.

    ``change`` takes a CSR matrix and gives one of as many rows with no more entries. Raises ``DataError`` where the disk has no room.
    """
    entries = matrix.nnz if rows is None else int(np.diff(matrix.indptr)[rows].sum(dtype=np.int64))
    blocks = row_blocks(matrix, rows)
    made = blocks if change is None else map(change, blocks)
    return spilled(made, matrix.shape[1] if across < 0 else across, entries)


def new_values(matrix: Any, change: Callable[[Any], np.ndarray]) -> Any:
    """The same entries with other values, as a mapped matrix; ``change`` gives those of a block of rows, a CSR matrix.

    Raises ``DataError`` where the disk has no room.
    """
    data = Growing(np.float64, 8 * matrix.nnz)
    for block in row_blocks(matrix):
        data.add(change(block))
    return of_arrays(data.mapped(), matrix.indices, matrix.indptr, matrix.shape)


def turned(matrix: Any) -> Any:
    """A mapped CSR matrix with rows and columns exchanged, as a mapped matrix. Raises ``DataError`` where the disk has no room."""

    def entries() -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        first = 0
        for block in row_blocks(matrix):
            number = np.repeat(np.arange(first, first + block.shape[0]), np.diff(block.indptr))
            yield block.indices, number, block.data
            first += block.shape[0]

    counts = np.zeros(matrix.shape[1], np.int64)
    for block in row_blocks(matrix):
        counts += np.bincount(block.indices, minlength=len(counts))
    return gathered(entries(), counts, matrix.shape[0], lambda lo, found: found.tocsr())


def gathered(
    entries: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]],
    counts: np.ndarray,
    across: int,
    finish: Callable[[int, Any], Any],
) -> Any:
    """The mapped CSR matrix of entries in any order: rows, columns and values, some at a time; ``counts`` is how many each row has.

    They are put into stripes of rows, and ``finish(lo, found)`` makes a CSR matrix of a stripe that begins at row ``lo``, a
    ``coo_matrix`` with its entries in the order in which they came. Two passes over as many bytes. Raises ``DataError``.
    """
    from scipy.sparse import coo_matrix

    pointer = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    stripes = list(groups_of(pointer))
    kind = np.dtype([("row", "<i8"), ("column", "<i8"), ("value", "<f8")])
    total = int(pointer[-1])
    with scratch_file((kind.itemsize + ENTRY) * total) as file:
        _sort_in(file, kind, entries, pointer, np.array([lo for lo, _ in stripes], np.int64))

        def blocks() -> Iterator[Any]:
            for lo, hi in stripes:
                file.seek(int(pointer[lo]) * kind.itemsize)
                size = int(pointer[hi] - pointer[lo])
                found = np.frombuffer(bytearray(file.read(size * kind.itemsize)), kind)
                yield finish(
                    lo, coo_matrix((found["value"], (found["row"] - lo, found["column"])), (hi - lo, across))
                )

        return spilled(blocks(), across, total)


def _sort_in(
    file: IO[bytes],
    kind: np.dtype[Any],
    entries: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]],
    pointer: np.ndarray,
    begin: np.ndarray,
) -> None:
    """Write every entry behind those of its stripe; stripes begin at the rows ``begin``."""
    place = pointer[begin]
    for rows, columns, values in entries:
        stripe = np.searchsorted(begin, rows, side="right") - 1
        order = np.argsort(stripe, kind="stable")
        records = np.empty(len(order), kind)
        records["row"], records["column"], records["value"] = rows[order], columns[order], values[order]
        sizes = np.bincount(stripe, minlength=len(begin))
        done = 0
        for number in np.flatnonzero(sizes):
            file.seek(int(place[number]) * kind.itemsize)
            written(file, records[done : done + sizes[number]])
            place[number] += sizes[number]
            done += sizes[number]
    file.flush()
