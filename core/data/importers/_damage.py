"""Files that are damaged, or were made to do harm: told as such, and refused before they take the memory."""

from __future__ import annotations

import gzip
import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, BinaryIO
from xml.etree import ElementTree

from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError
from plaidwork.core.hdf5.limits import machine_limits
from plaidwork.core.refusals import why

NAME_BYTES = 100
"""About what a row or column takes by its name alone."""
_CELL = 32
"""About what a cell of a sheet takes in memory, empty ones between others too."""
_CHUNK = 1 << 20
_REFERENCE = re.compile(rb"\br\s{0,9}=\s{0,9}[\"']\s{0,9}([A-Za-z]{0,30})([0-9]{0,30})")
_LONGEST = 100
_OLD_EXCEL = (b"\xd0\xcf\x11\xe0", b"\x09\x08", b"\x09\x04", b"\x09\x02", b"\x09\x00")
"""How files of Excel before 2007 begin."""
_ROWS, _COLUMNS = 1 << 20, 1 << 14
"""Rows and columns that a sheet of Excel can have; with more the reader ends the program."""
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_VALUE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}value-type"


def check_growth(path: Path, size: int, stored: int = 0) -> None:
    """Raise ``DataError`` when ``stored`` bytes (default: of the file) become so many more that they were made to do harm.

    The bounds are those of arrays in session files (:class:`plaidwork.core.hdf5.limits.Limits`).
    """
    limits, stored = machine_limits(), stored or path.stat().st_size
    if size > limits.ratio_from and size > limits.ratio * stored:
        raise DataError(
            f"{path.name} would grow from {stored} to {counted(size, 'byte')} when it is read.",
            "Save it once more without compression, if it is what you expect.",
        )


@contextmanager
def damage_told(path: Path, kinds: tuple[type[Exception], ...], hint: str) -> Iterator[None]:
    """What a library raises for a damaged file, as a ``DataError`` that names the file."""
    try:
        yield
    except kinds as error:
        raise DataError(f"{path.name} cannot be read: {why(error)}.", hint) from error
    except BaseException as error:
        if (
            type(error).__name__ != "PanicException"
        ):  # what libraries in Rust raise where they did not think of something
            raise
        raise DataError(f"{path.name} cannot be read: {error}.", hint) from error


@contextmanager
def memory_told(path: Path) -> Iterator[None]:
    """The end of memory as a ``DataError``."""
    try:
        yield
    except MemoryError as error:
        raise DataError(
            f"{path.name} needs more memory than is free.", "Close other programs, or import a part of it."
        ) from error


def beyond(folder: Path, file: Path) -> bool:
    """Whether a file of a folder is a link to a place outside of it."""
    return not os.path.realpath(file).startswith(os.path.join(os.path.realpath(folder), ""))


class _Counted(io.RawIOBase):
    """Bytes as they are unpacked, counted."""

    def __init__(self, path: Path, content: gzip.GzipFile) -> None:
        self._path, self._content, self._size, self._most = path, content, 0, machine_limits().ratio_from

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._content.read1(len(buffer))
        buffer[: len(found)] = found
        self._size += len(found)
        if self._size > self._most:
            check_growth(self._path, self._size)
        return len(found)


def unpacked(path: Path, raw: BinaryIO) -> BinaryIO:
    """The content of a gzip file. Raises ``DataError`` when it grows without bound: of a small one at once, else when read."""
    found, limits = os.fstat(raw.fileno()), machine_limits()
    if found.st_size * limits.ratio < limits.ratio_from:
        _look_through(path, found.st_size, found.st_mtime_ns)
    return io.BufferedReader(_Counted(path, gzip.GzipFile(fileobj=raw)), _CHUNK)


@lru_cache(64)
def _look_through(path: Path, size: int, time: int) -> None:
    """Unpack a small file once, before its rows are taken apart, which is slow."""
    with path.open("rb") as raw, suppress(OSError, EOFError, zlib.error):  # told by whoever reads it
        content = _Counted(path, gzip.GzipFile(fileobj=raw))
        buffer = bytearray(_CHUNK)
        while content.readinto(buffer):
            pass


def check_sheets(path: Path) -> None:
    """Look through a file of sheets that is a zip archive: what its parts unpack to, and how far its sheets reach.

    Raises ``DataError``, and what ``zipfile`` and the parser of XML raise for damage.
    """
    if not zipfile.is_zipfile(path):
        _check_old_sheets(path)
        return
    with zipfile.ZipFile(path) as archive:
        check_growth(path, sum(info.file_size for info in archive.infolist()))
        for info in archive.infolist():
            with archive.open(info) as part:  # never further than it says it goes
                check_growth(path, _CELL * _reach(info.filename, part))


def _check_old_sheets(path: Path) -> None:
    """What is no zip archive is a file of an old Excel, or no spreadsheet at all: a table of text that is called so, say."""
    with path.open("rb") as stream:
        head = stream.read(1024)
    if head.startswith(_OLD_EXCEL):
        return
    if head.startswith(b"PK"):
        raise DataError(
            f"{path.name} cannot be read: it is damaged or cut off.", "Copy or download it once more."
        )
    if b"\0" in head:
        raise DataError(
            f"{path.name} is no spreadsheet, whatever it is called.", "Export the table as .xlsx or .csv."
        )
    raise DataError(
        f"{path.name} is no spreadsheet: it holds plain text.",
        "Let its name end in .csv, and import that file.",
    )


def _reach(name: str, part: IO[bytes]) -> int:
    """Cells of the smallest rectangle from the first cell that holds all of a sheet; 0 for parts that are no sheets."""
    if name == "content.xml":
        return _reach_of_open_document(part)
    if name.startswith("xl/worksheets/") and name.endswith(".bin"):
        return _reach_of_binary(part.read())
    rows = columns = 0
    tail = b""
    while chunk := part.read(_CHUNK):
        if name.startswith("xl/worksheets/") and name.endswith(".xml"):
            for letters, row in _REFERENCE.findall(tail + chunk):
                rows, columns = max(rows, int(row or 1)), max(columns, _column(letters.upper()))
            if rows > _ROWS or columns > _COLUMNS:
                raise ValueError(f"a cell in row {rows}, column {columns}")
            tail = chunk[-_LONGEST:]
    return rows * columns


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _reach_of_open_document(part: IO[bytes]) -> int:
    """The largest of its sheets; cells and rows that are repeated are counted where they, or later ones, hold something."""
    most = rows = columns = row = 0
    for event, item in ElementTree.iterparse(part, events=("start", "end")):
        if item.tag == f"{_TABLE}table" and event == "start":
            rows = columns = row = 0
        elif item.tag == f"{_TABLE}table-row" and event == "end":
            row += _times(item, "rows")
            width, at = 0, 0
            for cell in item:
                at += _times(cell, "columns")
                width = at if len(cell) or cell.get(_VALUE) else width
            rows, columns = row if width else rows, max(columns, width)
            most = max(most, rows * columns)
            item.clear()
    return most


def _times(item: ElementTree.Element, what: str) -> int:
    return max(1, int(item.get(f"{_TABLE}number-{what}-repeated", 1)))


def _reach_of_binary(data: bytes) -> int:
    rows = columns = 0
    for kind, start in _records(data):
        if kind == 0:
            rows = max(rows, int.from_bytes(data[start : start + 4], "little") + 1)
        elif kind <= 11:
            columns = max(columns, int.from_bytes(data[start : start + 4], "little") + 1)
    return rows * columns


def _records(data: bytes) -> Iterator[tuple[int, int]]:
    """Kind and place of the records of a sheet of .xlsb (MS-XLSB 2.1.4: both numbers are in groups of 7 bits)."""
    at = 0
    while at < len(data):
        kind, at = _number(data, at, 2)
        size, at = _number(data, at, 4)
        yield kind, at
        at += size


def _number(data: bytes, at: int, most: int) -> tuple[int, int]:
    found = 0
    for place in range(most):
        byte = data[at + place] if at + place < len(data) else 0
        found |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return found, at + place + 1
    return found, at + most
