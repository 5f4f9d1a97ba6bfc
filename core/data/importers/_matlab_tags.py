"""The tags of a MATLAB 5 file, looked through before SciPy reads it: its reader ends the program on types that there are not.

After "MAT-File Format" (The MathWorks), chapter 1: elements with a tag of type and size, matrices made of elements.
"""

from __future__ import annotations

import mmap
import os
import zlib
from pathlib import Path
from typing import BinaryIO, Protocol

from plaidwork.core.data.importers._damage import check_growth
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_HEAD = 128
_MATRIX, _COMPRESSED = 14, 15
_WITHIN = frozenset({1, 2, 3, 4, 5, 6, 7, 9, 12, 13, _MATRIX, 16, 17, 18})
_DEEPEST = 64
_CHUNK = 1 << 20


class _Bytes(Protocol):
    def read(self, size: int) -> bytes: ...

    def skip(self, size: int) -> bool: ...


class _Stored:
    """A part of the file."""

    def __init__(self, data: mmap.mmap, start: int, end: int) -> None:
        self._data, self._at, self._end = data, start, min(end, len(data))

    def read(self, size: int) -> bytes:
        found = self._data[self._at : min(self._at + size, self._end)]
        self._at += len(found)
        return found

    def skip(self, size: int) -> bool:
        """Whether there was so much."""
        self._at += size
        return self._at <= self._end


class _Unpacked:
    """A compressed part of the file, unpacked piece by piece."""

    def __init__(self, path: Path, stored: _Stored) -> None:
        self._path, self._stored, self._zip = path, stored, zlib.decompressobj()
        self._size = 0

    def read(self, size: int) -> bytes:
        found = bytearray()
        while len(found) < size:
            packed = self._zip.unconsumed_tail or self._stored.read(_CHUNK)
            part = self._zip.decompress(packed, size - len(found)) if packed or not self._zip.eof else b""
            if not part and not packed:
                break
            found += part
        self._size += len(found)
        return bytes(found)

    def skip(self, size: int) -> bool:
        """Whether there was so much."""
        while size:
            found = len(self.read(min(size, _CHUNK)))
            check_growth(self._path, self._size)
            if not found:
                return False
            size -= found
        return True


def check_tags(path: Path) -> None:
    """Raise ``DataError`` for types, sizes and nesting that no MATLAB has written; files of MATLAB 4 have no tags."""
    with path.open("rb") as file:
        if not _is_five(file):
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            order = "little" if data[126:128] == b"IM" else "big"
            at = _HEAD
            while at + 8 <= len(data):
                walk = _Walk(path, order)
                kind, size, _ = walk.tag(_Stored(data, at, at + 8))
                if kind == _COMPRESSED:
                    inner = _Unpacked(path, _Stored(data, at + 8, at + 8 + size))
                    walk.element(inner, {_MATRIX}, 0)
                elif kind == _MATRIX:
                    walk.element(_Stored(data, at, len(data)), {_MATRIX}, 0)
                else:
                    raise walk.damaged(f"a variable of type {kind}")
                at += 8 + size


def _is_five(file: BinaryIO) -> bool:
    head = file.read(_HEAD)
    return os.fstat(file.fileno()).st_size > _HEAD and head[126:128] in (b"IM", b"MI") and 0 not in head[:4]


class _Walk:
    def __init__(self, path: Path, order: str) -> None:
        self._path, self._order = path, order

    def damaged(self, what: str) -> DataError:
        """The error that says so."""
        return DataError(f"{self._path.name} is damaged: it has {what}.", "Copy or save it once more.")

    def _number(self, data: bytes) -> int:
        return int.from_bytes(data, self._order)  # type: ignore[arg-type]

    def tag(self, stream: _Bytes) -> tuple[int, int, int]:
        """Type, size, and bytes up to the next tag; a small element has its numbers in the second half of the tag."""
        head = stream.read(8)
        if len(head) < 8:
            raise self.damaged("a tag that is cut off")
        kind, size = self._number(head[:4]), self._number(head[4:])
        if not kind >> 16:
            return kind, size, size if kind == _COMPRESSED else -(-size // 8) * 8
        if kind >> 16 > 4:
            raise self.damaged(f"a small element of {counted(kind >> 16, 'byte')}")
        return kind & 0xFFFF, kind >> 16, 0

    def element(self, stream: _Bytes, allowed: set[int] | frozenset[int], depth: int) -> int:
        """Walk over one element; how many bytes it takes."""
        kind, size, follows = self.tag(stream)
        if kind not in allowed:
            raise self.damaged(f"an element of type {kind}")
        if kind != _MATRIX:
            if not stream.skip(follows):
                raise self.damaged("an element that is cut off")
            return 8 + follows
        if depth > _DEEPEST:
            raise self.damaged(f"more than {_DEEPEST} matrices within each other")
        left = size
        while left > 0:
            left -= self.element(stream, _WITHIN, depth + 1)
        if left < 0:
            raise self.damaged("an element beyond the end of its matrix")
        return 8 + size
