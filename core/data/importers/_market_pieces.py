"""A Matrix Market file some entries at a time, as a mapped matrix: the text is parsed once and then put in order by rows."""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data import mapped
from plaidwork.core.data.importers._market import without_repeats
from plaidwork.core.data.importers._text import open_binary
from plaidwork.core.data.importers.base import ImportOptions
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

TEXT = 1 << 25
"""Bytes of text that are parsed at a time."""


def entries_of(path: Path, number: str, shape: tuple[int, int]) -> Iterator[Any]:
    """The entries of a general sparse matrix as ``coo_matrix``, some at a time. Raises ``DataError``, and what SciPy's parser raises."""
    from scipy.io import mmread

    head = b"%%MatrixMarket matrix coordinate " + number.encode() + b" general\n"
    for before, text in _pieces(path):
        lines = sum(1 for line in text.splitlines() if line.strip())
        try:
            if lines:
                yield mmread(io.BytesIO(head + " ".join(map(str, (*shape, lines))).encode() + b"\n" + text))
        except ValueError as error:
            raise ValueError(_of_file(str(error), before - 2)) from error


def _of_file(told: str, before: int) -> str:
    """The words of the parser, which counts lines from the head of a piece on, with lines of the file."""
    return re.sub(r"(?<=Line )\d+", lambda found: str(int(found[0]) + before), told)


def _pieces(path: Path) -> Iterator[tuple[int, bytes]]:
    """The text behind the size of the matrix, cut at ends of lines, each piece with the number of lines before it."""
    raw, content = open_binary(path)
    with raw:
        line, before = content.readline(100_000), 1
        while line.startswith(b"%") or (line and not line.strip()):
            line, before = content.readline(100_000), before + 1
        rest = b""
        while chunk := content.read(TEXT):
            end = chunk.rfind(b"\n") + 1
            yield before, rest + chunk[:end]
            before, rest = before + chunk.count(b"\n"), chunk[end:]
            if len(rest) == TEXT:
                raise DataError(
                    f"{path.name} holds a line of over {counted(TEXT, 'byte')}.", "Export it once more."
                )
        yield before, rest


class Entries:
    """All entries in the order of the file, in scratch files; how many each row has, and values that a float may not hold as written."""

    def __init__(self, path: Path, number: str, shape: tuple[int, int], n_entries: int) -> None:
        kind = mapped.index_type(0, max(shape))
        parts = [mapped.Growing(one, one.itemsize * n_entries) for one in (kind, kind, np.dtype(np.float64))]
        self.shape, self.counts = shape, np.zeros(shape[0], np.int64)
        doubtful, found = [np.zeros(0)], 0
        try:
            for piece in entries_of(path, number, shape):
                for part, values in zip(parts, (piece.row, piece.col, piece.data), strict=True):
                    part.add(values)
                self.counts += np.bincount(piece.row, minlength=shape[0])
                found += len(piece.data)
                values = np.asarray(piece.data, dtype=np.float64)
                doubtful.append(values[~(np.isfinite(values) & (np.abs(values) < 2**53) & (values != 0))][:1])
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"{path.name} cannot be read: {error}.", "Copy or download it once more."
            ) from error
        if found != n_entries:
            raise DataError(
                f"{path.name} announces {counted(n_entries, 'entry')} and holds {found}.",
                "Copy or download it once more.",
            )
        self.doubtful = np.concatenate(doubtful)
        self._parts = [part.mapped() for part in parts]

    def matrix(self, path: Path, options: ImportOptions) -> Any:
        """The mapped CSR matrix. Raises ``DataError`` for entries given more than once, unless the options say what they are."""
        from scipy.sparse import coo_matrix, csr_matrix

        def finish(lo: int, found: Any) -> Any:
            inside = (found.data, (found.row + lo, found.col))  # so that messages name rows of the file
            whole = coo_matrix(inside, (lo + found.shape[0], found.shape[1]))
            return csr_matrix(without_repeats(path, whole, options, None), dtype=np.float64)[lo:]

        return mapped.gathered(self._pieces(), self.counts, self.shape[1], finish)

    def _pieces(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        rows, columns, values = self._parts
        for lo in range(0, len(rows), mapped.AT_ONCE):
            here = slice(lo, lo + mapped.AT_ONCE)
            yield rows[here], columns[here], values[here]
