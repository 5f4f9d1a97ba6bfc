"""Names of rows and columns in files of texts beside a file of numbers."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from plaidwork.core.data.importers._text import file_stem
from plaidwork.core.data.importers.base import Issue, RawTable
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

BESIDE = {
    0: ("{stem}_rownames.txt", "{stem}_row_names.txt", "{stem}_rows.txt"),
    1: ("{stem}_colnames.txt", "{stem}_column_names.txt", "{stem}_columns.txt"),
}
"""By axis, what such a file is called; the first is the one that is written."""


@dataclass(frozen=True, slots=True)
class Found:
    """Names of an axis, what stands behind each of them (or nothing), and the file without the ending .gz."""

    names: tuple[str, ...]
    second: tuple[str, ...]
    file: Path


def find_names(
    path: Path, axis: int, size: int, issues: list[Issue], more: Sequence[str] = ()
) -> Found | None:
    """The names of an axis of so many items, from the first file that fits; ``issues`` gets what is told of it, and of others.

    ``more`` are further names of such a file. Raises ``DataError`` for one that cannot be read.
    """
    what = ("row", "column")[axis]
    for pattern in (*BESIDE[axis], *more):
        beside = path.parent / pattern.format(stem=file_stem(path))
        for file in (beside, beside.with_name(beside.name + ".gz")):
            if not file.is_file():
                continue
            names, second = name_file(file)
            if len(names) == size:
                told = f"Names of {what}s come from {file.name}"
                issues.append(Issue("info", told, f"{counted(size, 'name')}"))
                return Found(names, second, beside)
            detail = f"It has {len(names)} names for {counted(size, what)}."
            issues.append(Issue("warning", f"{file.name} does not fit and is not used", detail))
    return None


def with_names(raw: RawTable, shape: Sequence[int]) -> RawTable:
    """The table of a file without names with those that files beside it have, where these are as many."""
    rows, columns = (find_names(raw.path, axis, shape[axis], raw.doubts) for axis in (0, 1))
    if rows is not None:
        raw.row_names = rows.names[: len(raw.row_names)]
    if columns is not None:
        raw.column_names = columns.names
    return raw


def names_file(path: Path, axis: int) -> Path:
    """Where :func:`write_names` writes."""
    return path.with_name(BESIDE[axis][0].format(stem=path.stem))


def write_names(path: Path, axis: int, names: Sequence[str]) -> Path:
    """Write the names of an axis beside a file, where they are found again. Raises ``OSError``."""
    file = names_file(path, axis)
    file.write_text("".join(f"{' '.join(name.split())}\n" for name in names), encoding="utf-8")
    return file


def name_file(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The first column, and the second where every line has one."""
    try:
        content = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()  # noqa: SIM115
        lines = content.decode("utf-8-sig").splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise DataError(
            f"{path.name} cannot be read: {error}.", "Mend it, or move it to another folder."
        ) from error
    parts = [line.split("\t") for line in lines]
    second = tuple(part[1] for part in parts if len(part) > 1)
    return tuple(part[0].strip() for part in parts), second if len(second) == len(parts) else ()
