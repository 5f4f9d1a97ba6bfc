"""Text files as records: compression, encodings, quoting, and where in the file we are."""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import Any, BinaryIO

from plaidwork.core.data.importers._damage import unpacked
from plaidwork.core.data.importers.base import Progress
from plaidwork.core.data.reading_options import declared_choices
from plaidwork.core.errors import DataError

ENCODINGS = dict(declared_choices("encoding"))
MAX_FIELD = 10_000_000
_BLANKS = re.compile(r'((?:"(?:[^"]|"")*"|[^\s"]+)+)')


def open_binary(path: Path) -> tuple[BinaryIO, BinaryIO]:
    """The file as stored (its position tells the progress) and its content, uncompressed."""
    raw = open(path, "rb", buffering=1 << 20)  # noqa: SIM115 - handed over to the caller
    if path.name.lower().endswith(".gz"):
        return raw, unpacked(path, raw)
    return raw, raw


def count_lines(path: Path, most: int = 300_000_000) -> int:
    """Lines of a plain file (quick); 0 for gzipped and very long ones, where counting takes too long."""
    if path.name.lower().endswith(".gz") or path.stat().st_size > most:
        return 0
    number, last = 0, b"\n"
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            number += chunk.count(b"\n")
            last = chunk[-1:]
    return number + (last != b"\n")


def last_records(
    path: Path, encoding: str, delimiter: str, most: int = 1 << 16
) -> list[tuple[int, list[str]]]:
    """The records at the end of a plain file, in about its last ``most`` bytes, as ``(row, fields)``; none of gzipped and very long ones.

    Rows are counted by lines: one too far for every line break within quotes.
    """
    number, size = count_lines(path), path.stat().st_size
    if not number or encoding.startswith("utf-16") or size <= most:
        return []
    with open(path, "rb") as file:
        file.seek(size - most)
        lines = file.read().decode(encoding, "replace").splitlines()[1:]  # the first one may be cut
    lines = [_as_tabs(line) for line in lines] if delimiter == " " else lines
    first = number - len(lines) + 1
    return [
        (first + place, fields)
        for place, fields in enumerate(csv.reader(lines, delimiter="\t" if delimiter == " " else delimiter))
        if any(map(str.strip, fields))
    ]


def compression_error(path: Path, error: Exception) -> DataError:
    return DataError(
        f"{path.name} cannot be uncompressed: {error}.",
        "The file may be cut off. Copy or download it once more.",
    )


def sniff_encoding(path: Path) -> str:
    """The encoding that the first bytes allow: ``utf-8``, or ``utf-16`` when a byte order mark says so."""
    raw, content = open_binary(path)
    with raw:
        try:
            head = content.read(4096)
        except (OSError, EOFError, zlib.error) as error:
            raise compression_error(path, error) from error
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in head:
        raise DataError(
            f"{path.name} is not a text file: it holds a zero byte at position {head.index(0) + 1}.",
            "Export the table as CSV and import that file.",
        )
    return "utf-8"


def file_sha256(path: Path) -> str:
    """SHA-256 of the bytes of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def encoding_error(path: Path, encoding: str) -> DataError:
    """The error for a file that is not in ``encoding``, with the place of the first wrong byte."""
    decoder = codecs.getincrementaldecoder(encoding)()
    raw, content = open_binary(path)
    offset, row, hint = 0, 1, "Choose the encoding Windows-1252 or Latin-1, or save the file as UTF-8."
    with raw:
        while chunk := content.read(1 << 16):
            pending = len(decoder.getstate()[0])
            try:
                row += decoder.decode(chunk).count("\n")
            except UnicodeDecodeError as error:
                row += error.object[: error.start].count(b"\n")
                byte_position = offset - pending + error.start + 1
                byte = error.object[error.start]
                return DataError(
                    f"{path.name} is not {ENCODINGS[encoding]}: byte 0x{byte:02X} at position {byte_position}, row {row}.",
                    hint,
                )
            offset += len(chunk)
    return DataError(f"{path.name} is not {ENCODINGS[encoding]}: it ends within a character.", hint)


_END_OF_FILE = "\x1a"
"""Ctrl+Z, with which programs for DOS and some of today end a text."""


class Records:
    """The records of a delimited file as ``(row, fields)``; rows count from 1 and blank lines are left out.

    A row is a record as a spreadsheet numbers it. ``delimiter=" "`` stands for runs of blanks.
    """

    def __init__(
        self,
        path: Path,
        encoding: str,
        delimiter: str,
        progress: Progress | None = None,
    ) -> None:
        self.path, self.encoding, self.delimiter = path, encoding, delimiter
        self._progress = progress
        self._size = max(path.stat().st_size, 1)

    def __iter__(self) -> Generator[tuple[int, list[str]], None, None]:
        raw, content = open_binary(self.path)
        codec = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        with (
            raw,
            io.TextIOWrapper(content, codec, newline="") as text,
        ):
            csv.field_size_limit(MAX_FIELD)
            whole = (line.removesuffix(_END_OF_FILE) for line in text)
            lines = map(_as_tabs, whole) if self.delimiter == " " else whole
            reader = csv.reader(lines, delimiter="\t" if self.delimiter == " " else self.delimiter)
            row = 0
            try:
                for row, fields in enumerate(reader, start=1):
                    if self._progress is not None and row % 64 == 0:
                        self._progress(min(raw.tell() / self._size, 1.0))
                    if fields and not (len(fields) == 1 and not fields[0].strip()):
                        yield row, fields
            except UnicodeError:
                raise encoding_error(self.path, self.encoding) from None
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise compression_error(self.path, error) from error
            except csv.Error as error:
                raise DataError(
                    f"{self.path.name}, row {row + 1}: {error}.",
                    "A quotation mark that was opened may not be closed.",
                ) from error


def _as_tabs(line: str) -> str:
    if '"' not in line:
        return "\t".join(line.split()) + "\n"
    return "\t".join(_BLANKS.findall(line)) + "\n"


def file_stem(path: Path) -> str:
    """The file name without ``.gz`` and without its last suffix."""
    name = path.name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    return name.rsplit(".", 1)[0] if "." in name[1:] else name


def parse_tokens(value: Any) -> tuple[str, ...]:
    """Missing tokens from a list, or from text such as ``NA, empty, "<0,05"``.

    In a text, ``empty`` stands for nothing, ``usual`` for the ones that are missing by default, and quotation marks
    keep a comma within a token.
    """
    from plaidwork.core.data.importers._numbers import DEFAULT_MISSING

    if isinstance(value, str):
        parts = next(csv.reader([value], skipinitialspace=True), [])
        value = []
        for part in filter(None, map(str.strip, parts)):
            value += DEFAULT_MISSING if part.lower() == "usual" else ["" if part.lower() == "empty" else part]
    return tuple(dict.fromkeys(str(token).strip() for token in value))


def format_tokens(tokens: tuple[str, ...]) -> str:
    """The text that :func:`parse_tokens` reads back."""
    quoted = [
        f'"{token.replace(chr(34), chr(34) * 2)}"' if {",", '"'} & set(token) else token for token in tokens
    ]
    return ", ".join(token or "empty" for token in quoted)
