"""Dense matrices that stay in their file and are read some rows at a time, by whoever goes through them.

The file is read, not mapped: what is cut off while it is read is told, and pages of it are no memory of the program. Cells that are packed
in pieces are those of :mod:`plaidwork.core.data.in_chunks`.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from plaidwork.core.contract.hyperparameter import ValueKind
from plaidwork.core.data.value_kinds import infer_kind
from plaidwork.core.deferred import Deferred
from plaidwork.core.errors import DataError
from plaidwork.core.hdf5.limits import free_memory
from plaidwork.core.refusals import why

SHARE = 3
"""Matrices that take more than one part in so many of the free memory stay in their file, unless somebody says otherwise."""
PIECE = 1 << 26
"""Bytes that are read at a time by whoever goes through all of it."""
TYPES = ("f4", "f8")


@dataclass(frozen=True, slots=True)
class Facts:
    """What one look at all cells tells: gaps, the extremes of the others, what kind they are, and a hash of all."""

    missing: int
    least: float
    most: float
    kind: ValueKind
    sums: Any
    """A SHA-256 that has taken in type, shape and cells as float64, row by row."""
    file: str
    """SHA-256 of the whole file."""


class InFile(Deferred):
    """Cells of a file from byte ``offset`` on, float32 or float64, row by row (``turned``: column by column).

    ``get`` reads all of them as float64, and :meth:`rows` some in their own type. Raises ``DataError`` for a file that is
    not what it was when this was made. For any thread.
    """

    stays = True

    def __init__(
        self, path: Path, offset: int, shape: Sequence[int], dtype: Any, *, turned: bool = False
    ) -> None:
        rows, columns = (int(length) for length in shape)
        super().__init__((rows, columns), dtype)
        self.path, self.offset, self.turned = Path(path), int(offset), turned
        self.stamp = stamp_of(os.stat(path))
        """Size and time of the last change of the file, which must stay so."""
        self._opened: IO[bytes] | None = None
        self._facts: Facts | None = None
        self._all: weakref.ref[np.ndarray] | None = None
        self._one = threading.RLock()

    def __reduce__(self) -> Any:
        return _same_file, (self.path, self.offset, self.shape, self.dtype.str, self.turned, self.stamp)

    @property
    def T(self) -> InFile:
        """The same with rows and columns exchanged; nothing is read."""
        n, m = self.shape
        return _same_file(self.path, self.offset, (m, n), self.dtype.str, not self.turned, self.stamp)

    def cells(self) -> InFile:
        """Itself."""
        return self

    # -- reading -------------------------------------------------------------------------------
    def rows(self, lo: int, hi: int) -> np.ndarray:
        """(hi - lo, m) rows as the file has them, in memory of their own; fast where a row lies in one piece."""
        with self._one:
            self._check()
            return self._rows(lo, min(hi, self.shape[0]))

    def _rows(self, lo: int, hi: int) -> np.ndarray:
        (n, m), item = self.shape, self.dtype.itemsize
        if not self.turned:
            found = np.empty((hi - lo, m), self.dtype)
            self._fill(found, self.offset + lo * m * item)
            return found
        across = np.empty((m, hi - lo), self.dtype)
        for column, piece in enumerate(across):
            self._fill(piece, self.offset + (column * n + lo) * item)
        return across.T

    @property
    def times_read(self) -> int:
        """How often each cell is read, or unpacked, when somebody goes through all rows a few at a time."""
        return 1

    def corner(self, n: int, m: int) -> np.ndarray:
        """The first rows and columns as float64."""
        return self[: min(n, self.shape[0])][:, :m]

    def pieces(self, least: int = 1) -> Iterator[tuple[int, np.ndarray]]:
        """All rows a few at a time, with the number of the first; their number is a multiple of ``least``."""
        step = rows_of(PIECE, self.shape[1] * self.dtype.itemsize, least)
        for lo in range(0, self.shape[0], step):
            yield lo, self.rows(lo, lo + step)

    def columns(self, index: np.ndarray) -> np.ndarray:
        """(n, len(index)) columns as float64, by going through the file."""
        found = np.empty((self.shape[0], len(index)))
        for lo, rows in self.pieces():
            found[lo : lo + len(rows)] = rows[:, index]
        return found

    def __getitem__(self, at: Any) -> np.ndarray:
        """Some rows, or of all rows some columns, as float64."""
        if isinstance(at, slice):
            lo, hi, step = at.indices(self.shape[0])
            return np.asarray(self.rows(lo, hi)[::step], dtype=np.float64)
        rows, columns = at
        assert rows == slice(None)
        return self.columns(np.asarray(columns))

    def every(self, step: int) -> np.ndarray:
        return np.concatenate([self[row : row + 1] for row in range(0, self.shape[0], step)])

    def get(self) -> np.ndarray:
        """All as float64, read anew unless somebody still has it. Raises ``DataError`` where there is no room for it."""
        with self._one:
            found = self._all() if self._all is not None else None
            if found is None:
                self._check_room()
                found = np.empty(self.shape)
                for lo, rows in self.pieces():
                    found[lo : lo + len(rows)] = rows
                self._all = weakref.ref(found)
            return found

    def _check_room(self) -> None:
        need, free = 8 * self.size, free_memory()
        if free is not None and need > free:
            raise DataError(
                f"“{self.path.name}” stays in its file, and what was asked for needs all of it in memory: "
                f"{need / 1e9:.1f} GB, and {free / 1e9:.1f} GB are free.",
                "Take a part of it (some rows or columns), or close other programs.",
            )

    def _check(self) -> None:
        try:
            if self._opened is None:
                self._opened = open(self.path, "rb", buffering=0)  # noqa: SIM115
                weakref.finalize(self, self._opened.close)
            same = stamp_of(os.fstat(self._opened.fileno())) == self.stamp
        except OSError as error:
            raise DataError(f"“{self.path.name}” cannot be read: {why(error)}.", "Put it back.") from error
        if not same:
            raise self._changed()

    def _changed(self) -> DataError:
        return DataError(f"“{self.path.name}” was changed while it was in use.", "Import it once more.")

    def _fill(self, target: np.ndarray, start: int) -> None:
        assert self._opened is not None
        room, done = target.reshape(-1).view(np.uint8).data, 0
        try:
            self._opened.seek(start)
            while done < len(room):
                step = self._opened.readinto(room[done:])  # type: ignore[attr-defined]
                if not step:
                    raise OSError("it ends too early")
                done += step
        except OSError as error:
            raise DataError(
                f"“{self.path.name}” cannot be read: {why(error)}.", "Copy it once more."
            ) from error

    @property
    def _plain(self) -> bool:
        """Whether the rows are bytes of the file, one after the other."""
        return not self.turned

    # -- what is known of all ------------------------------------------------------------------
    def facts(self) -> Facts:
        """What one look at all cells tells, found once."""
        with self._one:
            if self._facts is None:
                self._facts = self._look()
            return self._facts

    def _look(self) -> Facts:
        sums = hashlib.sha256(f"{np.dtype('<f8').str}{self.shape}".encode())
        missing, least, most, kind, done = 0, math.inf, -math.inf, "", 0
        whole = hashlib.sha256()
        if self._plain:
            whole.update(self._bytes(0, self.offset))
            done = self.offset + self.nbytes
        for _, rows in self.pieces():
            if self._plain:
                whole.update(rows.reshape(-1).view(np.uint8).data)
            low, high = np.fmin.reduce(rows, axis=None), np.fmax.reduce(rows, axis=None)
            least, most = float(np.fmin(least, low)), float(np.fmax(most, high))
            missing += int(np.count_nonzero(np.isnan(rows)))
            kind = _kind(rows, kind)
            sums.update(np.ascontiguousarray(rows, dtype="<f8").reshape(-1).view(np.uint8).data)
        for lo in range(done, self.stamp[0], PIECE):
            whole.update(self._bytes(lo, min(self.stamp[0], lo + PIECE)))
        return Facts(missing, least, most, kind or "real", sums, whole.hexdigest())  # type: ignore[arg-type]

    def _bytes(self, lo: int, hi: int) -> bytes:
        found = np.empty(hi - lo, np.uint8)
        with self._one:
            self._check()
            self._fill(found, lo)
        return found.tobytes()


def _kind(rows: np.ndarray, before: str) -> str:
    known = before != "real" and not np.isnan(rows).all()
    found = infer_kind(rows) if known else before
    return "count" if {found, before} == {"binary", "count"} else found


def rows_of(size: int, row: int, least: int = 1) -> int:
    """How many rows of so many bytes are ``size`` bytes, a multiple of ``least``."""
    return max(1, size // max(1, row * least)) * least


def stays_in_file(cells: int) -> bool:
    """Whether a matrix of so many cells is too large for the memory that is free."""
    free = free_memory()
    return free is not None and 8 * cells * SHARE > free


def stamp_of(found: os.stat_result) -> tuple[int, int]:
    return found.st_size, found.st_mtime_ns


def _same_file(
    path: Path, offset: int, shape: tuple[int, int], dtype: str, turned: bool, stamp: tuple[int, int]
) -> InFile:
    try:
        made = InFile(path, offset, shape, dtype, turned=turned)
    except OSError as error:
        raise DataError(f"“{path.name}” cannot be read: {why(error)}.", "Put it back.") from error
    made.stamp = stamp
    return made
