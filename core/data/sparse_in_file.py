"""Sparse matrices that stay out of memory: in their file where they can be mapped as they lie there, else in scratch files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data import mapped
from plaidwork.core.data.in_file import stamp_of
from plaidwork.core.deferred import Deferred
from plaidwork.core.errors import DataError
from plaidwork.core.hdf5.limits import free_memory
from plaidwork.core.refusals import why


class SparseInFile(Deferred):
    """A mapped CSR matrix of float64 that was made of the file ``path``; :meth:`get` gives it, without reading anything.

    ``whole`` tells whether it is what the file holds (turned or not), so that a session may name the file in its place.
    Raises ``DataError`` where the file is not there. For any thread.
    """

    stays = True

    def __init__(
        self, path: Path, matrix: Any, *, whole: bool = True, stamp: tuple[int, int] | None = None
    ) -> None:
        size = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
        super().__init__(matrix.shape, np.float64, nbytes=size, sparse=True)
        self.path, self.whole, self._matrix = Path(path), whole, matrix
        self.stamp = stamp or stamp_of(os.stat(path))
        """Size and time of the last change of the file, which must stay so."""
        self.waits = False

    def __reduce__(self) -> Any:
        parts = self._matrix.data, self._matrix.indices, self._matrix.indptr
        return _of_parts, (self.path, *parts, self.shape, self.whole, self.stamp)

    def cells(self) -> SparseInFile:
        """Itself."""
        return self

    def get(self) -> Any:
        """The matrix. Raises ``DataError`` for a file that is not what it was."""
        if self.whole:
            self._check()
        return self._matrix

    def _check(self) -> None:
        try:
            same = stamp_of(os.stat(self.path)) == self.stamp
        except OSError as error:
            raise DataError(f"“{self.path.name}” cannot be read: {why(error)}.", "Put it back.") from error
        if not same:
            raise DataError(f"“{self.path.name}” was changed while it was in use.", "Import it once more.")

    def every(self, step: int) -> Any:
        return self.get()[::step]

    @property
    def T(self) -> SparseInFile:
        """The same with rows and columns exchanged, in scratch files."""
        return SparseInFile(self.path, mapped.turned(self.get()), whole=self.whole, stamp=self.stamp)

    def take(self, axis: int, index: np.ndarray) -> SparseInFile:
        """The rows or columns at ``index``, in that order, in scratch files."""
        matrix = self.get()
        if axis == 0:
            rows = (
                np.flatnonzero(index)
                if index.dtype == bool
                else np.where(index < 0, index + self.shape[0], index)
            )
            made = mapped.taken(matrix, rows)
        else:
            across = len(np.empty(self.shape[1])[index])
            made = mapped.taken(matrix, None, lambda block: block[:, index].sorted_indices(), across)
        return SparseInFile(self.path, made, whole=False, stamp=self.stamp)


def _of_parts(
    path: Path,
    data: np.ndarray,
    indices: np.ndarray,
    pointer: np.ndarray,
    shape: tuple[int, int],
    whole: bool,
    stamp: tuple[int, int],
) -> SparseInFile:
    return SparseInFile(path, mapped.of_arrays(data, indices, pointer, shape), whole=whole, stamp=stamp)


def check_copy(dataset: Any, what: str) -> None:
    """Raises ``DataError`` where a sparse matrix that stays out of memory would have to be copied into it, and there is no room for that."""
    need, free = dataset.nbytes, free_memory()
    if free is not None and need > free:
        raise DataError(
            f"“{dataset.name}” stays out of memory, and {what} needs a copy of it there: {need / 1e9:.1f} GB, and "
            f"{free / 1e9:.1f} GB are free.",
            "Take a part of it (some rows or columns), or close other programs.",
        )
