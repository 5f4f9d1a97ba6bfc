"""Notes in Markdown: written as plain text, shown without anything that a stranger could have put into them."""

from plaidwork.gui.notes.field import NotesField
from plaidwork.gui.notes.view import NoteView

__all__ = ["NoteView", "NotesField"]
