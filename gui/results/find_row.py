"""The line in which something is searched in a view."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_count
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, tool_button
from plaidwork.gui.widgets.layouts import horizontal


class FindRow(QWidget):
    """A field for words, and beside it what they have found; hidden until it is opened.

    Signals
    -------
    asked : the words to search for
    closed : the user wants it closed
    """

    asked = Signal(str)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field = QLineEdit()
        self.field.setClearButtonEnabled(True)
        self.field.addAction(icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.field.setAccessibleName(tr("Find in this view"))
        self.field.returnPressed.connect(lambda: self.asked.emit(self.field.text().strip()))
        self.field.setMaximumWidth(320)
        self.found = Label("", "caption", "muted", elide=True)
        horizontal(
            (self.field, 1),
            (self.found, 1),
            tool_button("close", "Close the search", self.closed.emit),
            on=self,
            spacing=space.S,
            margins=(RING, 0, RING, 0),
        )
        self.hide()

    def open(self) -> None:
        """Show it, ready for words."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()

    def close_empty(self) -> None:
        """Hide it, and forget the words."""
        self.hide()
        self.field.clear()
        self.found.setText("")

    def tell(self, text: str, hits: Sequence[str]) -> None:
        """Say what the words have found; nothing without words."""
        if not text:
            self.found.setText("")
        elif not hits:
            self.found.setText(f"Nothing is called “{text}”")
        else:
            more = f" and {format_count(len(hits) - 1)} more" if len(hits) > 1 else ""
            self.found.setText(f"{hits[0]}{more}")
