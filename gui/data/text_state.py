"""What the window for texts knows: options given, documents, counts, and whether it may go on. No widgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core.data.importers import Issue
from plaidwork.core.data.text import (
    REASONS,
    Counter,
    Documents,
    SourceLook,
    TermCounts,
    TextOptions,
    find_issues,
)
from plaidwork.core.data.text.build import kept_documents
from plaidwork.core.data.text.counts import KEPT, STOP
from plaidwork.core.data.text.roles import levels
from plaidwork.core.draws.counting import counted
from plaidwork.gui.data.import_state import FixRow
from plaidwork.gui.numbers import format_bytes, format_percent

MOST_TERMS = 20_000
MOST_DOCUMENTS = 1000
SNIPPET = 300
BINS = 40
MOST_LEVELS = 6
MOST_CHOICES, MENU_TERMS = 500, 40
MANY = ("covariate", "skip")
"""Roles that several columns can have."""


@dataclass(frozen=True)
class TextPreview:
    """All that the window shows of one count, worked out off the GUI thread.

    ``terms`` are columns of the table of words (those kept first, each by count), ``hidden`` how many are not in it.
    ``texts`` are columns of the table of documents. ``edges`` and ``bins``: histogram of the words per document.
    """

    counts: TermCounts
    kept: np.ndarray
    issues: Sequence[Issue]
    terms: Mapping[str, np.ndarray]
    hidden: int
    texts: Mapping[str, Any]
    bins: np.ndarray
    edges: np.ndarray

    @property
    def size(self) -> tuple[int, int]:
        """Documents and words that would be imported."""
        return int(self.kept.sum()), self.counts.n_of(KEPT)

    @property
    def lengths(self) -> np.ndarray:
        """Words of each document that is imported."""
        return self.counts.lengths[self.kept]

    def left_out(self) -> dict[str, int]:
        """Number of words left out by reason, most first."""
        found = {word: self.counts.n_of(code) for code, word in enumerate(REASONS) if code != KEPT}
        return {word: n for word, n in sorted(found.items(), key=lambda item: -item[1]) if n}


def make_preview(
    counter: Counter, options: TextOptions, given: Mapping[str, Any], progress: Any = None
) -> TextPreview:
    """Count and put into tables. Runs in a task."""
    documents = counter.documents
    counts = counter.count(options, progress)
    kept = kept_documents(documents, counts, options, given)
    order = np.lexsort((-counts.count, counts.reason != KEPT))
    shown = order[:MOST_TERMS]
    terms = {
        "Word": np.array([counts.terms[i] for i in shown], dtype=object),
        "Count": counts.count[shown],
        "Documents": counts.documents[shown],
        "Share": counts.documents[shown] / max(documents.size, 1),
        "Use": np.array([REASONS[code] for code in counts.reason[shown]], dtype=object),
    }
    lengths = counts.lengths[kept]
    bins, edges = np.zeros(0), np.zeros(0)
    if lengths.size:
        top = int(lengths.max())
        bins, edges = np.histogram(lengths, min(BINS, top + 1), (-0.5, top + 0.5) if top < BINS else (0, top))
    return TextPreview(
        counts,
        kept,
        find_issues(documents, counts, options, given),
        terms,
        len(order) - len(shown),
        _texts(documents, counts),
        bins,
        edges,
    )


def _texts(documents: Documents, counts: TermCounts) -> dict[str, Any]:
    places = range(min(documents.size, MOST_DOCUMENTS))
    found: dict[str, Any] = {
        "Document": [documents.names[i] for i in places],
        "Words": counts.lengths[: len(places)],
    }
    if documents.texts is not None:
        found["Text"] = [" ".join(documents.texts[i][:SNIPPET].split()) for i in places]
    else:
        top = counts.matrix[: len(places)]
        names = [counts.terms[i] for i in counts.kept]
        found["Text"] = [_most(top, i, names) for i in places]
    return found


def _most(matrix: Any, row: int, names: Sequence[str]) -> str:
    inside = slice(matrix.indptr[row], matrix.indptr[row + 1])
    order = np.argsort(-matrix.data[inside], kind="stable")[:12]
    return ", ".join(f"{names[matrix.indices[inside][i]]} ({int(matrix.data[inside][i])})" for i in order)


@dataclass
class TextState:
    """Options by name as the user gave them; ``settings`` are those of the form."""

    path: Path
    given: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    look: SourceLook | None = None
    counter: Counter | None = None
    preview: TextPreview | None = None
    rows: list[FixRow] = field(default_factory=list)

    @property
    def documents(self) -> Documents | None:
        """What was read."""
        return self.counter.documents if self.counter is not None else None

    @property
    def counted(self) -> bool:
        """Whether the words were counted elsewhere."""
        return self.look is not None and self.look.kind not in ("texts", "folder")

    def options(self) -> TextOptions:
        """The choices between texts and counts. Raises ``SettingError``."""
        return TextOptions.of({**self.settings, **self.given}, self.counted)

    # -- stop words -----------------------------------------------------------------------------
    def toggle_word(self, word: str) -> bool:
        """Leave a word out, or keep it again; whether it is left out now."""
        words = set(self.options().stop_list)
        out = word not in words
        self.set_stop_list(words | {word} if out else words - {word})
        return out

    def set_stop_list(self, words: set[str] | Sequence[str]) -> None:
        """Leave out exactly these words."""
        self.given.update(self.options().with_stop_list(sorted(words)))

    # -- roles ----------------------------------------------------------------------------------
    @property
    def roles(self) -> dict[str, str]:
        """Role by column (``TITLE`` or ``TITLE=VALUE``)."""
        return dict(self.given.get("roles") or {})

    def with_role(self, role: str) -> list[str]:
        """The columns that have a role."""
        return [key for key, item in self.roles.items() if item == role]

    def set_role(self, role: str, keys: Sequence[str]) -> None:
        """Give a role to these columns only; another role of theirs goes."""
        roles = {key: item for key, item in self.roles.items() if item != role and key not in keys}
        self.given["roles"] = {**roles, **dict.fromkeys(keys, role)}

    def choices(self, role: str) -> list[str]:
        """The columns that can have a role: an outcome is a number, or a value of a column of texts."""
        if self.documents is None:
            return []
        found: list[str] = []
        for title, column in self.documents.table.items():
            if role != "outcome" or column.dtype.kind in "biuf":
                found.append(title)
                continue
            known = levels(column)
            if 2 <= len(known) <= MOST_LEVELS:
                found += [f"{title}={value}" for value in known]
        documents = self.documents
        if documents.kind == "table" and len(documents.terms) <= (
            MENU_TERMS if role in MANY else MOST_CHOICES
        ):
            found += documents.terms
        return found

    # -- problems -------------------------------------------------------------------------------
    def take(self, preview: TextPreview) -> None:
        """Take a new preview in; ticked fixes stay ticked."""
        self.preview = preview
        self.rows = [FixRow(issue, issue.fix is not None and self._is_on(issue)) for issue in preview.issues]

    def _is_on(self, issue: Issue) -> bool:
        assert issue.fix is not None
        _, name, value = issue.fix
        usual = True if name == "join_duplicates" else None
        return bool(self.given.get(name, usual) == value)

    def tick(self, row: FixRow, on: bool) -> None:
        """Apply or take back a fix."""
        assert row.issue.fix is not None
        _, name, value = row.issue.fix
        if on:
            self.given[name] = value
        elif name == "join_duplicates":
            self.given[name] = False
        else:
            self.given.pop(name, None)

    @property
    def obstacle(self) -> str:
        """Why nothing can be imported, or empty."""
        if self.preview is None:
            return "Nothing was read yet"
        wrong = next((row.issue for row in self.rows if row.issue.severity == "error"), None)
        return f"{wrong.message}. {wrong.detail}" if wrong is not None else ""

    def adds(self) -> str:
        """What an import adds to the session."""
        assert self.preview is not None
        documents, words = self.preview.size
        entries = int(self.preview.counts.matrix.nnz)
        share = entries / max(documents * words, 1)
        memory = format_bytes(12 * entries + 4 * documents)
        return (
            f"Adds {counted(documents, 'document')} × {counted(words, 'word')}, "
            f"{format_percent(share, 1)} of the counts above 0 ({memory})"
        )


def is_stop_word(preview: TextPreview, row: int) -> bool:
    """Whether the word in a row of the table is left out as a stop word."""
    return str(preview.terms["Use"][row]) == REASONS[STOP]
