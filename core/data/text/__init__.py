"""From raw text to documents by words: reading, cutting into words, filtering, counting."""

from plaidwork.core.data.text.build import (
    KINDS,
    Counter,
    find_issues,
    guess_kind,
    kept_documents,
    load_documents,
    make_dataset,
    read_text,
)
from plaidwork.core.data.text.counts import REASONS, TermCounts
from plaidwork.core.data.text.documents import Documents, text_columns, text_layout
from plaidwork.core.data.text.look import SourceLook, look_at, texts_in
from plaidwork.core.data.text.options import ROLES, TextOptions, text_settings

__all__ = [
    "KINDS",
    "REASONS",
    "ROLES",
    "Counter",
    "Documents",
    "SourceLook",
    "TermCounts",
    "TextOptions",
    "find_issues",
    "guess_kind",
    "kept_documents",
    "load_documents",
    "look_at",
    "make_dataset",
    "read_text",
    "text_columns",
    "text_layout",
    "text_settings",
    "texts_in",
]
