"""What every reader offers, and what it tells of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from plaidwork.core.data.dataset import Dataset, SamplesIn, Source

ImportOptions = Mapping[str, Any]
"""How to read a file. Keys are the reader's own (``delimiter``, ``decimal``, ``array``); absent means detect."""

Progress = Callable[[float], None]
"""Called with the share done, 0 to 1; what it raises stops the reading and reaches the caller."""

Put = Callable[[np.ndarray], None]
"""Takes some rows of a matrix, those that follow on the rows before."""


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
    dropped: tuple[int, int] = (0, 0)
    """Rows and columns of the matrix that the options in force leave out, as far as they are known before it is read."""
    words: tuple[str, str] = ("", "")
    """What a row and a column are called, in the plural, where the format tells."""
    rows: tuple[int, ...] = ()
    """The row of the file, from 1, of each of ``cells``, where the format has rows that a user can see."""
    pictures: np.ndarray | None = field(default=None, compare=False)
    """(k, h, w) the first images, where the rows are images."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The first rows of a file as it shows them, where that is not the matrix with its names; as in :class:`Preview`."""

    header: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    roles: tuple[str, ...]
    rows: tuple[int, ...] = ()


@dataclass(slots=True)
class RawTable:
    """What a format gives of a file: names, cells and doubts. Dataset and preview are made of it in one place.

    ``values`` are (n, m) or (n,) floats, sparse ones too, or with ``categories`` (n,) codes; for a preview the first rows
    and columns are enough, and ``n_rows`` and ``n_columns`` then say how many the file has. ``row_places`` and
    ``column_places`` are where in the file the names stand. Empty names are filled, repeated ones found, kinds, axes,
    transformations and what the numbers look like judged when the table is finished.
    """

    path: Path
    name: str
    values: Any
    row_names: Sequence[str]
    column_names: Sequence[str] = ()
    row_table: Mapping[str, np.ndarray] = field(default_factory=dict)
    column_table: Mapping[str, np.ndarray] = field(default_factory=dict)
    words: tuple[str, str] = ("", "")
    """What a row and a column are called, in the plural, where the format tells."""
    unit: str = ""
    """That of the values, where they have one and it is known."""
    samples_in: SamplesIn | None = None
    """The axis of the samples in the file, where the format knows it (empty: it cannot be told); with None names tell."""
    image_shape: tuple[int, ...] = ()
    categories: tuple[str, ...] | None = None
    in_force: Mapping[str, Any] = field(default_factory=dict)
    """The options given and those detected, as they are stored with the data."""
    source: Source | None = None
    """Where the data come from, if that is not one file."""
    file: str = ""
    """What messages call it, if that is not the name of the file."""
    notes: Sequence[str] = ()
    # of a preview
    doubts: list[Issue] = field(default_factory=list)
    detected: frozenset[str] = frozenset()
    unclear: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Sequence[tuple[Any, str]]] = field(default_factory=dict)
    asks_samples: bool = False
    """Whether the user can say on which axis the samples are, and the format has not asked."""
    n_rows: int | None = None
    n_columns: int | None = None
    checked: int = 0
    """Rows that were looked at, where those were not all."""
    row_places: Sequence[int] = ()
    column_places: Sequence[int] = ()
    grid: Grid | None = None
    makes: tuple[tuple[str, int, int], ...] = ()
    pictures: np.ndarray | None = None


class Reader(Protocol):
    """A file format. ``suffixes`` are lower case with the dot, longest first (``.csv.gz``).

    A reader of files with several matrices may have ``read_all(path, options, progress) -> list[Dataset]``; every
    dataset then has in its ``source.options`` what makes ``read`` give that one. One whose matrices may stay in their file has
    ``staying(path, options) -> InFile | None``, which reads nothing but the head of the file. One that reads a matrix a few rows at a time
    has ``hand_on(path, options, put, progress) -> RawTable | None``: ``put`` gets all rows, and what comes back has all but these (its
    values are (n, 0)); None, before anything was handed on, for a file that is read as a whole.
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
