"""Documents as they are in a file or folder, before anything is counted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Source
from plaidwork.core.data.importers._damage import beyond
from plaidwork.core.data.importers._findings import distinct_names
from plaidwork.core.data.importers._layout import Layout, column_index
from plaidwork.core.data.importers._marks import like_number
from plaidwork.core.data.importers._matrix import default_source
from plaidwork.core.data.importers._numbers import as_annotation
from plaidwork.core.data.importers._sniff import sniff
from plaidwork.core.data.importers._text import encoding_error, file_stem
from plaidwork.core.data.importers.base import ImportOptions, Issue, Progress
from plaidwork.core.data.joining import default_names
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError
from plaidwork.core.hdf5.limits import machine_limits

MISSING_TEXT = frozenset({"", "na", "nan", "null", "n/a", "#n/a"})
_NAME = re.compile(
    r"(doc|document|id|name|file|key|speech|review)?[ _.-]?(id|no|nr|name|number|key)?s?\Z", re.I
)
_FILES = 1_000_000


@dataclass(frozen=True, slots=True)
class Documents:
    """Texts (or counts made elsewhere) with what else is known of each document.

    Attributes
    ----------
    texts : the texts in order; None for counts.
    counts, terms : (N, V) CSR of whole numbers and the names of its columns; None and empty for texts.
    table : other columns by title, N entries each: numbers (NaN missing) or texts.
    absent : (N,) bool, documents whose text cell is missing.
    rows : (N,) int64, row of the file for messages (the header is row 1); 0 where there is none.
    kind : ``texts``, ``folder``, ``triplets``, ``table`` or ``matrix``.
    titles, text_column : columns of a table of texts, and which of them holds the text.
    """

    name: str
    names: tuple[str, ...]
    kind: str
    source: Source
    texts: tuple[str, ...] | None = None
    counts: Any = None
    terms: tuple[str, ...] = ()
    table: Mapping[str, np.ndarray] = field(default_factory=dict)
    absent: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    issues: tuple[Issue, ...] = ()
    titles: tuple[str, ...] = ()
    text_column: str = ""

    @property
    def size(self) -> int:
        """Number of documents."""
        return len(self.names)

    def location(self, index: int) -> str:
        """A document for messages: its row where it has one, else its name."""
        return f"row {self.rows[index]}" if len(self.rows) and self.rows[index] else f"“{self.names[index]}”"


def text_layout(path: Path, options: ImportOptions) -> Layout:
    """The layout of a table with texts; its first row is the header unless the options say otherwise."""
    known = ("encoding", "delimiter", "sheet", "skip_rows", "missing", "decimal")
    given = {name: options[name] for name in known if options.get(name) is not None}
    return sniff(path, {"header": True, "names": -1, **given, **_header(options)})


def _header(options: ImportOptions) -> dict[str, Any]:
    return {"header": options["header"]} if options.get("header") is not None else {}


def text_columns(layout: Layout) -> list[int]:
    """Columns that look like running text, the longest texts first: several words in most cells, mostly different."""
    found = []
    for index in range(layout.n_columns):
        cells = [fields[index].strip() for _, fields in layout.head if len(fields) == layout.n_columns]
        cells = [cell for cell in cells if cell.lower() not in MISSING_TEXT]
        if not cells or sum(map(like_number, cells)) > 0.2 * len(cells):
            continue
        words = float(np.mean([len(cell.split()) for cell in cells]))
        if words >= 4 and len(set(cells)) > 0.5 * len(cells):
            found.append((-float(np.mean([len(cell) for cell in cells])), index))
    return [index for _, index in sorted(found)]


def read_texts(path: Path, options: ImportOptions, progress: Progress | None = None) -> Documents:
    """A table with a column of texts. Options: ``text_column``, ``names`` (column), ``roles``, ``ragged`` and those of
    :func:`text_layout`. Raises ``DataError`` naming the row."""
    layout = text_layout(path, options)
    column = _text_column(path, layout, options)
    titles = distinct_names([title or f"column {i + 1}" for i, title in enumerate(layout.titles)])
    rows, cells, ragged = _cells(path, layout, options, progress)
    if not rows:
        raise DataError(f"{path.name} holds no documents.", "Check that the file was written to its end.")
    parser = layout.parser()
    table = {
        title: as_annotation([text.strip() for text in cells[index]], parser)
        for index, title in enumerate(titles)
        if index != column
    }
    texts = tuple(cells[column])
    absent = np.array([text.strip().lower() in MISSING_TEXT for text in texts])
    names, named = _names(path, titles, table, options, len(rows))
    source = default_source(
        path,
        {"text_source": "texts", "text_column": titles[column], "names": named, "encoding": layout.encoding,
         "delimiter": layout.delimiter, "header": layout.header},
    )  # fmt: skip
    return Documents(
        file_stem(path), names, "texts", source, texts,
        table={title: column for title, column in table.items() if title != named},
        absent=absent, rows=np.array(rows), issues=tuple(ragged), titles=titles, text_column=titles[column],
    )  # fmt: skip


def _text_column(path: Path, layout: Layout, options: ImportOptions) -> int:
    wanted = options.get("text_column")
    if wanted not in (None, ""):
        return column_index(layout, wanted, "text_column")
    found = text_columns(layout)
    if not found:
        raise DataError(
            f"{path.name} has no column that looks like text. Its columns: {', '.join(layout.titles[:10])}.",
            "Choose the column that holds the texts.",
        )
    return found[0]


def _cells(
    path: Path, layout: Layout, options: ImportOptions, progress: Progress | None
) -> tuple[list[int], list[list[str]], list[Issue]]:
    """Row numbers, the cells by column, and rows of another length."""
    width, rule = layout.n_columns, options.get("ragged", "error")
    rows: list[int] = []
    cells: list[list[str]] = [[] for _ in range(width)]
    ragged: list[tuple[int, int]] = []
    in_header = layout.header
    with closing(layout.records(path, progress)) as records:
        for row, fields in records:
            if row <= layout.skip_rows:
                continue
            if in_header:
                in_header = False
                continue
            if len(fields) != width:
                ragged.append((row, len(fields)))
                if rule != "pad" or len(fields) > width:
                    continue
                fields = [*fields, *[""] * (width - len(fields))]
            rows.append(row)
            for part, cell in zip(cells, fields):
                part.append(cell)
    if ragged and rule not in ("drop", "pad"):
        row, found = ragged[0]
        raise DataError(
            f"{path.name}, row {row}: {counted(found, 'field')} found, {width} expected.",
            f"Put texts in quotation marks, or leave out such rows ({len(ragged)} in the file).",
        )
    issues = []
    if ragged:
        what = "left out" if rule == "drop" else "filled up"
        issues.append(Issue("warning", f"{counted(len(ragged), 'row')} of another length {what}",
                            f"First: row {ragged[0][0]} has {ragged[0][1]} fields", row=ragged[0][0]))  # fmt: skip
    return rows, cells, issues


def _names(
    path: Path, titles: Sequence[str], table: Mapping[str, np.ndarray], options: ImportOptions, size: int
) -> tuple[tuple[str, ...], Any]:
    """Names of the documents and the column they are from (None: numbered)."""
    wanted: str | None = options.get("names")
    if isinstance(wanted, int):
        wanted = titles[wanted] if 0 <= wanted < len(titles) else ""
    if wanted is not None:
        if wanted and wanted not in table:
            raise DataError(f"{path.name} has no column “{wanted}” for the names.",
                            f"It has: {', '.join(titles[:10])}.")  # fmt: skip
        if not wanted:
            return default_names("document", size), None
        names = _as_names(table[wanted])
        if len(set(names)) < size or not all(names):
            raise DataError(
                f"{path.name}, column “{wanted}”: names must be there and differ in all rows.",
                "Choose another column, or number the documents.",
            )
        return names, wanted
    for title, column in table.items():
        if _NAME.match(title) and (names := _as_names(column)) and len(set(names)) == size and all(names):
            return names, title
    return default_names("document", size), None


def _as_names(column: np.ndarray) -> tuple[str, ...]:
    if column.dtype.kind == "f":
        whole = np.isfinite(column).all() and bool((column == np.floor(column)).all())
        return tuple(f"{value:.0f}" for value in column) if whole else ()
    return tuple(str(value) for value in column)


def read_folder(path: Path, options: ImportOptions, progress: Progress | None = None) -> Documents:
    """Every ``.txt`` file of a folder and its sub-folders is a document; the sub-folder becomes a column.

    Hidden files and links to places outside of the folder are left out, which is said. Options: ``encoding``. Raises ``DataError`` for a file that is not in that encoding, with row and byte.
    """
    files = sorted(p for p in path.rglob("*") if p.suffix.lower() == ".txt" and p.is_file())
    files = [file for file in files if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    links = [file.relative_to(path).as_posix() for file in files if beyond(path, file)]
    files = [file for file in files if not beyond(path, file)]
    if not files:
        raise DataError(f"The folder {path.name} holds no .txt files.", "Choose another folder.")
    if len(files) > _FILES:
        raise DataError(f"The folder {path.name} holds {counted(len(files), 'file')}; {_FILES} can be read.")
    size, most = sum(file.stat().st_size for file in files), machine_limits().dataset
    if size > most:
        raise DataError(f"The folder {path.name} holds texts of {counted(size, 'byte')}; {most} can be read.")
    encoding = str(options.get("encoding") or "utf-8")
    codec = "utf-8-sig" if encoding == "utf-8" else encoding
    texts, digest = [], hashlib.sha256()
    for number, file in enumerate(files):
        if progress is not None and number % 16 == 0:
            progress(number / len(files))
        try:
            content = file.read_bytes()
            texts.append(content.decode(codec))
        except UnicodeError:
            raise encoding_error(file, encoding) from None
        except OSError as error:
            raise DataError(f"{file.name} cannot be read: {error.strerror or error}.") from error
        digest.update(f"{file.relative_to(path).as_posix()}\0{len(content)}\0".encode() + content)
    relative = [file.relative_to(path).with_suffix("").as_posix() for file in files]
    folders = [file.relative_to(path).parent.as_posix() for file in files]
    table = {"folder": np.array(folders, dtype=str)} if len(set(folders)) > 1 else {}
    return Documents(
        path.name,
        distinct_names(relative),
        "folder",
        Source(path.name, digest.hexdigest(), {"text_source": "folder", "encoding": encoding}),
        tuple(texts),
        table=table,
        absent=np.array([not text.strip() for text in texts]),
        rows=np.zeros(len(files), dtype=np.int64),
        issues=(_left_out(links),) if links else (),
    )


def _left_out(links: Sequence[str]) -> Issue:
    verb = (
        "is a link to a place outside of the folder, and is"
        if len(links) == 1
        else "are links to places outside of the folder, and are"
    )
    return Issue(
        "warning",
        f"{counted(len(links), 'file')} {verb} left out",
        f"First: {links[0]}",
        places=tuple(links[:50]),
    )
