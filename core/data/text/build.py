"""From a file with texts to a sparse dataset: one call, or step by step for a preview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.importers._findings import distinct_names
from plaidwork.core.data.importers.base import ImportOptions, Issue, Progress
from plaidwork.core.data.text.counts import (
    BEYOND,
    FREQUENT,
    KEPT,
    RARE,
    Stems,
    TermCounts,
    count_terms,
    count_words,
)
from plaidwork.core.data.text.documents import Documents, read_folder, read_texts, text_columns, text_layout
from plaidwork.core.data.text.matrices import read_counts, triplet_columns
from plaidwork.core.data.text.options import TextOptions
from plaidwork.core.data.text.roles import checked_roles, is_absent, role_issues, split_level
from plaidwork.core.data.text.tokens import Tokens, token_key, tokenise
from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.errors import DataError

KINDS = {
    "texts": "Table with a column of texts",
    "folder": "Folder of .txt files",
    "triplets": "Counts as document, word, count",
    "table": "Table of counts, a column per word",
    "matrix": "Counts as Matrix Market",
}
SAME_TEXT = "same text"


def guess_kind(path: Path, options: ImportOptions) -> str:
    """How documents are laid out in a file or folder: a key of ``KINDS``. Raises ``DataError``."""
    if options.get("text_source"):
        if options["text_source"] not in KINDS:
            raise DataError(
                f"There is no text_source “{options['text_source']}”.", f"Known: {', '.join(KINDS)}."
            )
        return str(options["text_source"])
    if path.is_dir():
        return "folder"
    if path.name.lower().endswith((".mtx", ".mtx.gz")):
        return "matrix"
    if options.get("text_column") is not None:
        return "texts"
    layout = text_layout(path, options)
    if options.get("triplet_columns") or (layout.n_columns <= 4 and triplet_columns(layout) is not None):
        return "triplets"
    return "texts" if text_columns(layout) or layout.n_columns < 4 else "table"


def load_documents(path: str | Path, options: ImportOptions, progress: Progress | None = None) -> Documents:
    """Read what is to be counted; nothing is left out yet. Raises ``DataError``."""
    path = Path(path)
    if not path.exists():
        raise DataError(f"{path} does not exist.", "Check the name and the folder.")
    kind = guess_kind(path, options)
    if kind == "folder" and not path.is_dir():
        raise DataError(f"{path.name} is no folder.", "Choose the folder that holds the .txt files.")
    if kind == "folder":
        return read_folder(path, options, progress)
    if kind == "texts":
        return read_texts(path, options, progress)
    return read_counts(path, kind, options, progress)


@dataclass(slots=True)
class Counter:
    """Counts documents again and again with other options; what did not change is kept."""

    documents: Documents
    stems: Stems = field(default_factory=Stems)
    _key: tuple[object, ...] = ()
    _tokens: Tokens | None = None
    _lock: Lock = field(default_factory=Lock)

    def count(self, options: TextOptions, progress: Progress | None = None) -> TermCounts:
        """The counts; one call at a time. ``progress`` may raise to stop."""
        with self._lock:
            return self._count(options, progress)

    def _count(self, options: TextOptions, progress: Progress | None) -> TermCounts:
        documents = self.documents
        if documents.texts is None:
            return count_terms(documents.counts, documents.terms, options, progress)
        if self._tokens is None or self._key != token_key(options):
            texts = [
                "" if absent else text for text, absent in zip(documents.texts, documents.absent, strict=True)
            ]
            self._tokens = tokenise(texts, options, part_of(progress, 0.0, 0.7))
            self._key = token_key(options)
        return count_words(self._tokens, options, self.stems, part_of(progress, 0.7, 1.0))


def part_of(progress: Progress | None, low: float, high: float) -> Progress | None:
    """The progress of a part of the work, from the share ``low`` to ``high``."""
    return None if progress is None else lambda share: progress(low + (high - low) * share)


def given_roles(documents: Documents, given: ImportOptions) -> dict[str, str]:
    """The roles by column, without that of the clusters of repeated texts, which are made anew."""
    roles: dict[str, str] = dict(given.get("roles") or {})
    if SAME_TEXT not in documents.table and roles.get(SAME_TEXT) == "cluster":
        del roles[SAME_TEXT]
    return roles


def kept_documents(
    documents: Documents, counts: TermCounts, options: TextOptions, given: ImportOptions
) -> np.ndarray:
    """(N,) bool, documents that are imported."""
    kept = np.ones(documents.size, dtype=bool)
    if options.empty == "drop":
        kept &= counts.lengths > 0
    if given.get("missing_outcome") == "drop":
        for key, role in given_roles(documents, given).items():
            title, level = split_level(key, documents.table)
            if role == "outcome" and level is None and title in documents.table:
                kept &= ~is_absent(documents.table[title])
    return kept


def find_issues(
    documents: Documents, counts: TermCounts, options: TextOptions, given: ImportOptions
) -> list[Issue]:
    """Everything worth knowing before an import, errors first."""
    kept = kept_documents(documents, counts, options, given)
    found = [*documents.issues, *_empty_issues(documents, counts, options)]
    if not (counts.reason == KEPT).any():
        found.insert(0, no_words(documents, counts))
    elif kept.any():
        found += role_issues(documents, given_roles(documents, given), kept)
    found += _duplicate_issues(documents, kept, given)
    rank = {"error": 0, "warning": 1, "info": 2}
    return sorted(found, key=lambda issue: rank[issue.severity])


def _empty_issues(documents: Documents, counts: TermCounts, options: TextOptions) -> list[Issue]:
    lengths, found = counts.lengths, []
    blank = np.zeros(documents.size, dtype=bool)
    if documents.texts is not None:
        blank = np.array([not text.strip() for text in documents.texts]) & ~documents.absent
    cells = documents.kind == "texts"
    groups = (
        (documents.absent, "has no text" if cells else "is empty", "have no text" if cells else "are empty"),
        (blank, "is empty", "are empty"),
        ((lengths == 0) & ~documents.absent & ~blank, "has no word left", "have no word left"),
    )
    fate = "Left out" if options.empty == "drop" else "Kept without words"
    for mask, one, many in groups:
        places = np.flatnonzero(mask)
        if len(places):
            number = len(places)
            found.append(
                Issue(
                    "warning",
                    f"{counted(number, 'document')} {agree(number, one, many)}",
                    f"{fate}. First: {documents.location(int(places[0]))}",
                    row=int(documents.rows[places[0]]) if len(documents.rows) else 0,
                    fix=("Keep without words", "empty", "keep"),
                )
            )
    return found


def no_words(documents: Documents, counts: TermCounts) -> Issue:
    """The issue that no word is left, with what took most of them."""
    if not len(counts.terms):
        return Issue("error", "No document has a word", "Check the column of the texts and the encoding")
    taken = np.bincount(counts.reason, minlength=BEYOND + 1)
    bounds = taken * np.isin(np.arange(len(taken)), (RARE, FREQUENT))  # easier to change than the rest
    reason = int(bounds.argmax())
    low, high = counts.bounds
    why = {
        RARE: f"{taken[reason]} are in fewer than {counted(low, 'document')}; lower the bound",
        FREQUENT: f"{taken[reason]} are in more than {counted(high, 'document')}; raise the bound",
    }
    detail = why.get(
        reason, f"All {len(counts.terms)} are stop words, numbers or too short; keep more of them"
    )
    return Issue("error", "The filters leave no word", detail)


def same_text(documents: Documents, kept: np.ndarray) -> np.ndarray | None:
    """(N,) int64, equal for documents with the same text (blanks and case aside); None when all differ."""
    if documents.texts is None:
        return None
    first: dict[str, int] = {}
    codes = np.array(
        [first.setdefault(" ".join(text.lower().split()), len(first)) for text in documents.texts], np.int64
    )
    return codes if len(np.unique(codes[kept])) < int(kept.sum()) else None


def _duplicate_issues(documents: Documents, kept: np.ndarray, given: ImportOptions) -> list[Issue]:
    codes = same_text(documents, kept)
    if codes is None:
        return []
    seen: dict[int, int] = {}
    first, number = (0, 0), 0
    for index in np.flatnonzero(kept).tolist():
        if codes[index] in seen:
            number += 1
            first = first if number > 1 else (seen[int(codes[index])], index)
        seen.setdefault(int(codes[index]), index)
    has_cluster = "cluster" in given_roles(documents, given).values()
    fix = None if has_cluster else ("Keep them together as clusters", "join_duplicates", True)
    return [
        Issue(
            "warning",
            f"{counted(number, 'document')} {agree(number, 'repeats', 'repeat')} the text of another",
            f"First: {documents.location(first[0])} and {documents.location(first[1])}",
            row=int(documents.rows[first[1]]) if len(documents.rows) else 0,
            fix=fix,
        )
    ]


def make_dataset(
    documents: Documents, counts: TermCounts, options: TextOptions, given: ImportOptions
) -> Dataset:
    """The sparse dataset: documents by words, counts. Raises ``DataError`` when nothing is left or a role is wrong.

    Rows are annotated with the columns of the file, the number of words kept (``words``) and the text itself; columns
    with the number of documents (``documents``) and of occurrences (``count``). ``source.options`` has every option
    and the ``roles`` by title; the text has the role ``text``.
    """
    kept = kept_documents(documents, counts, options, given)
    if not (counts.reason == KEPT).any() or not kept.any():
        issue = no_words(documents, counts)
        raise DataError(f"{documents.source.file}: {issue.message}.", f"{issue.detail}.")
    roles = given_roles(documents, given)
    notes = [*documents.issues, *_empty_issues(documents, counts, options)]
    notes += checked_roles(documents, roles, kept)
    skipped = {title for title, role in roles.items() if role == "skip"}
    table = {title: column[kept] for title, column in documents.table.items() if title not in skipped}
    codes = same_text(documents, kept)
    if codes is not None and given.get("join_duplicates", True) and "cluster" not in roles.values():
        title = distinct_names([*table, SAME_TEXT])[-1]
        table[title] = np.unique(codes[kept], return_inverse=True)[1].astype(np.float64)
        roles[title] = "cluster"
    places = np.flatnonzero(kept)
    table[distinct_names([*table, "words"])[-1]] = counts.lengths[kept].astype(np.float64)
    if documents.texts is not None:
        title = distinct_names([*table, documents.text_column or "text"])[-1]
        table[title] = np.array([documents.texts[i] for i in places], dtype=object)
        roles[title] = "text"
    terms = counts.kept
    source = documents.source
    record = {**source.options, **options.record(), **_kept_options(given), "roles": roles}
    return Dataset(
        name=documents.name,
        values=counts.matrix[places] if len(places) < documents.size else counts.matrix,
        row_names=tuple(documents.names[i] for i in places),
        column_names=tuple(counts.terms[i] for i in terms),
        kind="count",
        row_table=table,
        column_table={"documents": counts.documents[terms], "count": counts.count[terms]},
        row_label="documents",
        column_label="words",
        source=type(source)(source.file, source.sha256, record),
        notes="\n".join(f"{issue.message}: {issue.detail}" for issue in notes if issue.severity != "info"),
        samples_in="rows",
    )


def _kept_options(given: Mapping[str, Any]) -> dict[str, Any]:
    names = ("missing_outcome", "join_duplicates", "ragged", "triplet_columns")
    return {name: given[name] for name in names if given.get(name) is not None}


def read_text(path: str | Path, options: ImportOptions, progress: Progress | None = None) -> Dataset:
    """Texts, or counts of words, as a sparse dataset; see the options of :class:`TextOptions` and ``KINDS``."""
    documents = load_documents(path, options, part_of(progress, 0.0, 0.5))
    chosen = TextOptions.of(options, counted=documents.texts is None)
    counts = Counter(documents).count(chosen, part_of(progress, 0.5, 1.0))
    return make_dataset(documents, counts, chosen, options)
