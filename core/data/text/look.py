"""A first look at a source of texts: what it is, its columns, and what lies beside it; nothing is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plaidwork.core.data.importers.base import ImportOptions, Preview
from plaidwork.core.data.running_text import mean_length
from plaidwork.core.data.text.build import guess_kind
from plaidwork.core.data.text.documents import text_columns, text_layout
from plaidwork.core.data.text.matrices import find_siblings, triplet_columns


@dataclass(frozen=True, slots=True)
class SourceLook:
    """``kind`` and the ``kinds`` that are possible, titles of the columns, those that look like ``texts`` (longest
    first), the ``triplets`` (titles of document, word, count), and files of terms and documents by option."""

    kind: str
    kinds: tuple[str, ...]
    titles: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    triplets: tuple[str, ...] = ()
    siblings: Mapping[str, Path] = field(default_factory=dict)


def look_at(path: Path, options: ImportOptions) -> SourceLook:
    """Look at the head of a file, or at a folder. Raises ``DataError``, for instance when it is not UTF-8."""
    kind = guess_kind(path, options)
    if kind == "folder":
        return SourceLook(kind, ("folder",))
    if kind == "matrix":
        return SourceLook(kind, ("matrix",), siblings=find_siblings(path))
    layout = text_layout(path, options)
    columns = triplet_columns(layout)
    return SourceLook(
        kind,
        ("texts", "triplets", "table"),
        layout.titles,
        tuple(layout.titles[i] for i in text_columns(layout)),
        tuple(layout.titles[i] for i in columns or ()),
        find_siblings(path),
    )


def texts_in(preview: Preview) -> str:
    """The column of a table that looks like running text, from the preview of an import; empty when there is none."""
    best, longest = "", 0.0
    for index, title in enumerate(preview.header):
        cells = [row[index].strip() for row in preview.cells if index < len(row)]
        length = mean_length([cell for cell in cells if cell])
        if length > longest:
            best, longest = title, length
    return best
