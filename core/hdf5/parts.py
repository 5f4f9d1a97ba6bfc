"""The parts of a file, each with its digest, so that any of them can be compared when it is read, without the others.

A part is 256 KiB, the last one what is left.
"""

from __future__ import annotations

import gc
import hashlib
import io
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py

from plaidwork.core.errors import SessionError

PART = 1 << 18
DIGEST = 32
READS_PARTS = hasattr(os, "preadv")
"""Whether files may stay open while they are read part by part: Windows would not let an open one be replaced."""
_TASK = 256 * PART
_KEPT = 64
"""Parts that are kept while HDF5 looks around: what describes arrays lies close together and is read in small pieces."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What the first ``length`` bytes of a file are: a SHA-256 of each part, laid end to end."""

    length: int
    table: bytes

    @staticmethod
    def of(path: Path, length: int, known: Mapping[int, bytes] | None = None) -> Parts:
        """Read the file once, but for parts whose digests are ``known``, by as many threads as there are processors.

        Raises ``OSError``.
        """
        found = _shared(lambda start, end: _digests(path, start, end, known or {}), length)
        return Parts(length, b"".join(found))

    @property
    def digest(self) -> bytes:
        """SHA-256 of length and table: one number for all the bytes."""
        return hashlib.sha256(self.length.to_bytes(8, "little") + self.table).digest()

    def fits(self, number: int, content: Any) -> bool:
        """Whether these are the bytes of that part."""
        return hashlib.sha256(content).digest() == self.table[number * DIGEST : (number + 1) * DIGEST]


def _shared(work: Callable[[int, int], Any], length: int) -> list[Any]:
    """``work(start, end)`` for pieces of so many bytes, by several threads when there are several pieces."""
    starts = range(0, length, _TASK)
    ends = [min(start + _TASK, length) for start in starts]
    if len(ends) < 2:
        return [work(start, end) for start, end in zip(starts, ends, strict=True)]
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        return list(pool.map(work, starts, ends))


def _digests(path: Path, start: int, end: int, known: Mapping[int, bytes]) -> bytes:
    found = []
    with path.open("rb", buffering=0) as file:
        for position in range(start, end, PART):
            digest = known.get(position // PART)
            if digest is None:
                file.seek(position)
                digest = hashlib.sha256(file.read(min(PART, end - position))).digest()
            found.append(digest)
    return b"".join(found)


def digests_within(content: memoryview, start: int) -> dict[int, bytes]:
    """Digests of the parts that lie wholly in bytes that stand from position ``start`` of a file on, by number."""
    first, end = -(-start // PART), (start + len(content)) // PART
    return {
        number: hashlib.sha256(content[number * PART - start : (number + 1) * PART - start]).digest()
        for number in range(first, end)
    }


class PartsFile:
    """A file of this installation that stays open. Of its bytes nothing is handed out that is not what its parts say.

    What was put in its place meanwhile, or that it was removed, does not matter; what was written into it is told.
    """

    def __init__(self, path: Path, parts: Parts) -> None:
        self.name, self.parts = path.name, parts
        self._handle = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._handle)

    @contextmanager
    def opened(self) -> Iterator[h5py.File]:
        """The file as HDF5, for reading. Raises ``ChangedPartError`` when it is found that it was changed."""
        stream = _Stream(self)
        try:
            with h5py.File(stream, "r") as file:
                yield file
        except Exception as error:
            if stream.wrong and not isinstance(error, ChangedPartError):  # told by HDF5 in its own words
                raise self._changed() from error
            raise
        if stream.wrong:
            raise self._changed()

    def fill(self, target: memoryview, start: int, part_of: Callable[[int], bytearray] | None = None) -> None:
        """Fill ``target`` with the bytes from ``start`` on; any thread may ask. Raises ``ChangedPartError``.

        ``part_of`` has parts of which only a piece is wanted, by number; it is given by HDF5's own reading, which holds a lock
        that any thread may want as it throws away what it no longer needs, so no other thread helps then.
        """
        at, end = start, start + len(target)
        if not 0 <= start <= end <= self.parts.length:
            raise ChangedPartError(f"“{self.name}” has no bytes {start} to {end}.")
        while at < end:
            number, inside = divmod(at, PART)
            whole = end if end == self.parts.length else end - end % PART
            if not inside and whole > at:
                self._whole(target[at - start : whole - start], at, part_of is None)
                at = whole
            else:
                part = (part_of or self.part)(number)
                step = min(len(part) - inside, end - at)
                target[at - start : at - start + step] = memoryview(part)[inside : inside + step]
                at += step

    def part(self, number: int) -> bytearray:
        """A whole part. Raises ``ChangedPartError``."""
        start = number * PART
        found = bytearray(min(PART, self.parts.length - start))
        self._whole(memoryview(found), start, False)
        return found

    def _whole(self, target: memoryview, position: int, threads: bool) -> None:
        """Fill ``target`` with whole parts from ``position`` on."""

        def piece(start: int, end: int) -> bool:
            return all(
                self._fits(target[at : min(at + PART, end)], position + at) for at in range(start, end, PART)
            )

        try:
            fits = all(_shared(piece, len(target))) if threads else piece(0, len(target))
        except OSError as error:
            raise ChangedPartError(f"“{self.name}” cannot be read any more: {error}.") from error
        if not fits:
            raise self._changed()

    def _fits(self, part: memoryview, position: int) -> bool:
        """Whether the part is there and as it was."""
        done = 0
        while done < len(part):
            found = os.preadv(self._handle, [part[done:]], position + done)
            if not found:
                return False
            done += found
        return self.parts.fits(position // PART, part)

    def _changed(self) -> ChangedPartError:
        return ChangedPartError(
            f"“{self.name}” was changed or damaged since it was opened.",
            "Put it back as it was when it was opened, or open it again.",
        )


class ChangedPartError(SessionError):
    """A part of a file is not what it was when it was written."""


class _Stream(io.RawIOBase):
    """The bytes before the parts, as HDF5 asks for them. Small pieces come of parts that are kept for a while."""

    def __init__(self, file: PartsFile) -> None:
        super().__init__()
        self._file, self._length = file, file.parts.length
        self._position, self.wrong = 0, False
        self._kept: OrderedDict[int, bytearray] = OrderedDict()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._position = (
            offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._length}[whence]
        )
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        target = memoryview(buffer).cast("B")
        collects = gc.isenabled()
        gc.disable()  # what it throws away may be of HDF5, which is in the middle of a call; its lock lets in one thread at a time
        try:
            self._file.fill(target, self._position, self._part)
        except BaseException:
            self.wrong = True  # HDF5 may go on all the same
            raise
        finally:
            if collects:
                gc.enable()
        self._position += len(target)
        return len(target)

    def _part(self, number: int) -> bytearray:
        found = self._kept.pop(number, None)
        self._kept[number] = found = self._file.part(number) if found is None else found
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found
