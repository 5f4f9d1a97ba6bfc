"""Counts that were made elsewhere: a table, Matrix Market, or triplets of document, term and count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers._findings import distinct_names
from plaidwork.core.data.importers._layout import Layout, column_index
from plaidwork.core.data.importers._matrix import default_source
from plaidwork.core.data.importers._numbers import as_annotation
from plaidwork.core.data.importers._sniff import sniff
from plaidwork.core.data.importers._text import file_stem
from plaidwork.core.data.importers.base import ImportOptions, Issue, Progress
from plaidwork.core.data.joining import default_names
from plaidwork.core.data.text.documents import Documents, text_layout
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import DataError

_DOCUMENT = ("doc", "document", "docs", "doc_id", "document_id", "docid", "row", "i")
_TERM = ("word", "term", "feature", "token", "words", "terms", "word_id", "term_id", "column", "j")
_COUNT = ("count", "n", "freq", "frequency", "counts", "value", "x")
SIBLINGS = {
    "terms_file": ("_vocab", "_vocabulary", "_words", "_terms", "_features", "_colnames", "_columns"),
    "documents_file": ("_docs", "_documents", "_meta", "_metadata", "_rownames", "_rows"),
}
"""Ends of the names of files beside the counts, by the option that names them."""


def triplet_columns(layout: Layout) -> tuple[int, int, int] | None:
    """Columns of document, term and count when the titles say so."""
    titles = [title.lower() for title in layout.titles]
    found = []
    for words in (_DOCUMENT, _TERM, _COUNT):
        column = next((i for i, title in enumerate(titles) if title in words), None)
        if column is None:
            return None
        found.append(column)
    return found[0], found[1], found[2]


def find_siblings(path: Path) -> dict[str, Path]:
    """Files with terms and documents beside a file of counts: ``a_counts.csv`` has ``a_vocab.csv``."""
    found = {}
    name = path.name.lower()
    stem = file_stem(path)
    for tail in ("_counts", "_dtm", "_triplets", "_matrix", "_x"):
        if stem.lower().endswith(tail):
            stem = stem[: -len(tail)]
            break
    for option, tails in SIBLINGS.items():
        for tail in tails:
            for suffix in (".csv.gz", ".csv", ".tsv.gz", ".tsv", ".txt", ".txt.gz"):
                beside = path.with_name(f"{stem}{tail}{suffix}")
                if option not in found and beside.name.lower() != name and beside.is_file():
                    found[option] = beside
    return found


def read_counts(path: Path, kind: str, options: ImportOptions, progress: Progress | None = None) -> Documents:
    """Counts as ``kind`` (triplets, table, matrix). Options: ``terms_file`` and ``documents_file`` (beside ``path`` or
    absolute; found by name when absent, empty for none), ``turned`` (rows are terms), and for triplets
    ``triplet_columns`` (titles of document, term, count). Raises ``DataError``."""
    reader = {"triplets": _read_triplets, "table": _read_table, "matrix": _read_matrix}[kind]
    siblings: dict[str, Path] = {} if kind == "table" else find_siblings(path)
    for option in SIBLINGS:
        given = options.get(option)
        if given is not None:
            siblings.pop(option, None)
            if given:
                siblings[option] = path.parent / str(given)
    found = reader(path, options, siblings, progress)
    _check_counts(path, found)
    note: dict[str, Any] = {
        option: siblings[option].name if option in siblings else "" for option in SIBLINGS
    }
    note |= {"text_source": kind, "turned": bool(options.get("turned"))}
    source = default_source(path, {**found.source.options, **({} if kind == "table" else note)})
    if kind == "table":
        source = replace(source, options={**source.options, "text_source": kind, "turned": note["turned"]})
    return replace(found, source=source)


def _check_counts(path: Path, found: Documents) -> None:
    matrix = found.counts.tocsr()
    matrix.sum_duplicates()
    bad = (matrix.data < 0) | (matrix.data != np.floor(matrix.data)) | ~np.isfinite(matrix.data)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(matrix.indptr, at, side="right") - 1)
        raise DataError(
            f"{path.name}, document “{found.names[row]}”, word “{found.terms[matrix.indices[at]]}”: counts are whole "
            f"numbers from 0. Found “{matrix.data[at]:g}”.",
            "Choose what the column is, or import the file as a matrix of numbers.",
        )


def _documents(
    path: Path, kind: str, matrix: Any, names: Sequence[str], terms: Sequence[str],
    table: Mapping[str, np.ndarray], issues: Sequence[Issue] = (), options: Mapping[str, Any] | None = None,
) -> Documents:  # fmt: skip
    from plaidwork.core.data.dataset import Source

    size = len(names)
    return Documents(
        file_stem(path), tuple(names), kind, Source(options=dict(options or {})), None, matrix,
        tuple(term if term else "(empty)" for term in terms), dict(table),
        np.zeros(size, dtype=bool), np.zeros(size, dtype=np.int64), tuple(issues),
    )  # fmt: skip


def _read_triplets(
    path: Path, options: ImportOptions, siblings: Mapping[str, Path], progress: Progress | None
) -> Documents:
    from scipy.sparse import coo_matrix

    layout = text_layout(path, options)
    chosen = options.get("triplet_columns")
    columns = triplet_columns(layout) if not chosen else tuple(
        column_index(layout, item, "triplet_columns") for item in chosen
    )  # fmt: skip
    if columns is None or len(columns) != 3:
        raise DataError(
            f"{path.name} has no columns for document, word and count. Its columns: {', '.join(layout.titles[:6])}.",
            "Choose the three columns.",
        )
    cells, numbers = _triplet_cells(path, layout, columns, progress)
    terms, term_of = _numbered(cells[1], siblings.get("terms_file"), path, "word")
    names, document_of = _numbered(cells[0], siblings.get("documents_file"), path, "document")
    table = _document_table(siblings.get("documents_file"))
    matrix = coo_matrix((numbers, (document_of, term_of)), shape=(len(names), len(terms))).tocsr()
    return _documents(path, "triplets", matrix, names, terms, table, (), {"encoding": layout.encoding})


def _triplet_cells(
    path: Path, layout: Layout, columns: Sequence[int], progress: Progress | None
) -> tuple[tuple[list[str], list[str]], np.ndarray]:
    documents: list[str] = []
    words: list[str] = []
    counts: list[float] = []
    skip = layout.skip_rows + layout.header
    first, second, third = columns
    for row, fields in layout.records(path, progress):
        if row <= skip:
            continue
        try:
            count = float(fields[third])
            documents.append(fields[first].strip())
            words.append(fields[second].strip())
        except (IndexError, ValueError):
            found = fields[third] if len(fields) > third else f"{len(fields)} fields"
            raise DataError(
                f"{path.name}, row {row}, {layout.title(third)}: expected a count, found “{found}”.",
                "Mend the row, or choose other columns.",
            ) from None
        counts.append(count)
    return (documents, words), np.array(counts)


def _numbered(
    keys: list[str], file: Path | None, path: Path, what: str
) -> tuple[tuple[str, ...], np.ndarray]:
    """Names along one axis, and the place of every key among them.

    With a file of names the keys are its own keys, or numbers of its lines from 0, or from 1 when 0 never occurs.
    """
    if file is None:
        index_of: dict[str, int] = {}
        index = np.fromiter((index_of.setdefault(key, len(index_of)) for key in keys), np.int64, len(keys))
        return tuple(index_of), index
    known, names = name_list(file, what == "word")
    index_of = {key: i for i, key in enumerate(known)} if known else {}
    if not index_of or any(key not in index_of for key in keys[:1000]):
        base = 0 if "0" in set(keys) else 1
        index_of = {str(i + base): i for i in range(len(names))}
    try:
        index = np.fromiter((index_of[key] for key in keys), np.int64, len(keys))
    except KeyError as error:
        raise DataError(
            f"{path.name}: the {what} “{error.args[0]}” is not in {file.name}, which has {counted(len(names), 'line')}.",
            "Choose the file that belongs to these counts.",
        ) from None
    return names, index


def name_list(file: Path, terms: bool = True) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keys (empty when there are none) and names in a file: one name per line, or a table that begins with keys.

    ``terms``: a table of two columns has numbers and terms; else the keys are the names.
    """
    if not file.is_file():
        raise DataError(f"{file} does not exist.", "Check the name and the folder.")
    layout = sniff(file, {"names": -1, "missing": []})
    rows = [fields for _, fields in layout.records(file)]
    if layout.n_columns == 1 or min(len(fields) for fields in rows) < 2:
        lines = [fields[0].strip() for fields in rows]
        single = (
            lines[1:] if lines and lines[0].lower() in (*_TERM, *_DOCUMENT, "name", "vocabulary") else lines
        )
        return (), distinct_names(single)
    body = rows[1:] if layout.header else rows
    keys = tuple(fields[0].strip() for fields in body)
    whole = all(key.isdigit() for key in keys)
    names = tuple(fields[1].strip() for fields in body) if terms and whole and layout.n_columns == 2 else keys
    return keys, distinct_names(names)


def _document_table(file: Path | None) -> dict[str, np.ndarray]:
    """The columns of a file of documents behind its first one."""
    if file is None:
        return {}
    layout = sniff(file, {"names": -1})
    if layout.n_columns < 2:
        return {}
    rows = [fields for _, fields in layout.records(file)]
    body = rows[1:] if layout.header else rows
    parser = layout.parser()
    titles = distinct_names([title or f"column {i + 1}" for i, title in enumerate(layout.titles)])
    return {
        title: as_annotation([row[i].strip() if i < len(row) else "" for row in body], parser)
        for i, title in enumerate(titles)
        if i
    }


def _read_table(
    path: Path, options: ImportOptions, siblings: Mapping[str, Path], progress: Progress | None
) -> Documents:
    from scipy.sparse import csr_matrix

    from plaidwork.core.data.importers.delimited import DelimitedReader

    known = (
        "encoding",
        "delimiter",
        "decimal",
        "missing",
        "header",
        "skip_rows",
        "names",
        "labels",
        "ragged",
    )
    given = {name: options[name] for name in known if options.get(name) is not None}
    given["rename_duplicates"] = True
    data = DelimitedReader().read(path, given, progress)
    values, names, terms, table = data.values, data.row_names, data.column_names, dict(data.row_table)
    if options.get("turned"):
        values, names, terms, table = values.T, terms, names, {}
    roles: Mapping[str, str] = options.get("roles") or {}
    apart = [i for i, term in enumerate(terms) if roles.get(term) is not None]
    for i in apart:
        table[terms[i]] = np.array(values[:, i])
    words = [i for i in range(len(terms)) if i not in set(apart)]
    matrix = values[:, words]
    if np.isnan(matrix).any():
        row, column = np.argwhere(np.isnan(matrix))[0]
        raise DataError(
            f"{path.name}: the count of “{terms[words[column]]}” is missing in “{names[row]}”.",
            "Write 0 for words that do not occur, or choose what the column is.",
        )
    if tuple(names) == default_names("row", len(names)):
        names = default_names("document", len(names))
    return _documents(
        path, "table", csr_matrix(matrix), names, [terms[i] for i in words], table, (),
        {key: value for key, value in data.source.options.items() if key != "rename_duplicates"},
    )  # fmt: skip


def _read_matrix(
    path: Path, options: ImportOptions, siblings: Mapping[str, Path], progress: Progress | None
) -> Documents:
    from scipy.sparse import csr_matrix

    from plaidwork.core.data.importers.matrix_market import MatrixMarketReader

    given = {"rename_duplicates": True, "sparse": True, "repeated": options.get("repeated")}
    data = MatrixMarketReader().read(path, given, progress)
    matrix, names, terms = csr_matrix(data.values), data.row_names, data.column_names
    if options.get("turned"):
        matrix, names, terms = csr_matrix(matrix.T), terms, names
    if "documents_file" in siblings:
        names = _fitting(siblings["documents_file"], matrix.shape[0], path, "documents")
    elif tuple(names) in (default_names("row", len(names)), default_names("column", len(names))):
        names = default_names("document", len(names))
    if "terms_file" in siblings:
        terms = _fitting(siblings["terms_file"], matrix.shape[1], path, "words")
    table = _document_table(siblings.get("documents_file"))
    return _documents(path, "matrix", matrix, names, terms, table)


def _fitting(file: Path, size: int, path: Path, what: str) -> tuple[str, ...]:
    _, names = name_list(file, what == "words")
    if len(names) != size:
        raise DataError(
            f"{file.name} has {len(names)} names for {size} {what} of {path.name}.",
            "Choose another file, or turn the matrix if its rows are words.",
        )
    return names
