"""What every reader offers, and what it tells of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from plaidwork.core.data.dataset import Dataset

ImportOptions = Mapping[str, Any]
"""How to read a file. Keys are the reader's own (``delimiter``, ``decimal``, ``array``); absent means detect."""

Progress = Callable[[float], None]
"""Called with the share done, 0 to 1; what it raises stops the reading and reaches the caller."""


@dataclass(frozen=True, slots=True)
class Added:
    """The value of a fix that joins the list in force instead of taking its place."""

    items: tuple[Any, ...]


Fix = tuple[str, str, Any]
"""What mends something: the words for it, the option, and its value (or what is :class:`Added` to it)."""


@dataclass(frozen=True, slots=True)
class Issue:
    """Something found while reading. ``fix`` is an option that would mend it, ``other`` a second way.

    ``row`` and ``column`` count from 1 as the user sees the file (the header is row 1); 0 = not one place.
    ``places`` are lines that say where and how often, for a list that opens on demand. No fix is applied unless the
    user says so.
    """

    severity: Literal["error", "warning", "info"]
    message: str
    detail: str = ""
    row: int = 0
    column: int = 0
    fix: Fix | None = None
    other: Fix | None = None
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preview:
    """The head of a file as it would be read.

    ``cells`` are the texts of the first rows (header excluded); ``roles`` says per column of the file: ``name``,
    ``label`` or ``value``; ``options`` the options in force (detected ones included), ``detected`` which of them
    were detected, ``unclear`` the ones the user has to choose (import is refused until then). ``makes`` lists name, rows
    and columns of the matrices that an import gives, where that is not the one shown.
    """

    path: Path
    header: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    roles: tuple[str, ...]
    options: Mapping[str, Any]
    detected: frozenset[str]
    unclear: Mapping[str, str] = field(default_factory=dict)
    n_rows: int = 0
    n_columns: int = 0
    issues: tuple[Issue, ...] = ()
    choices: Mapping[str, Sequence[tuple[Any, str]]] = field(default_factory=dict)
    makes: tuple[tuple[str, int, int], ...] = ()
    words: tuple[str, str] = ("", "")
    """What a row and a column are called, in the plural, where the format tells."""
    rows: tuple[int, ...] = ()
    """The row of the file, from 1, of each of ``cells``, where the format has rows that a user can see."""
    pictures: np.ndarray | None = field(default=None, compare=False)
    """(k, h, w) the first images, where the rows are images."""


class Reader(Protocol):
    """A file format. ``suffixes`` are lower case with the dot, longest first (``.csv.gz``).

    A reader of files with several matrices may have ``read_all(path, options, progress) -> list[Dataset]``; every
    dataset then has in its ``source.options`` what makes ``read`` give that one.
    """

    id: str
    title: str
    suffixes: tuple[str, ...]

    def preview(self, path: Path, options: ImportOptions) -> Preview:
        """Look at the file; quick (< 300 ms on 200 rows), never raises for bad content: it goes in ``issues``."""
        ...

    def read(self, path: Path, options: ImportOptions, progress: Progress | None = None) -> Dataset:
        """The whole file. Raises ``DataError`` naming file, row, column, what was found and what was expected."""
        ...
