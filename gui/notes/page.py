"""The notes on the whole session."""

from __future__ import annotations

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QWidget

from plaidwork.gui.notes.field import NotesField
from plaidwork.gui.page import Page
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import vertical
from plaidwork.gui.workbench import Workbench


class NotesPage(Page):
    """Written and read here; a report begins with them."""

    def __init__(self, workbench: Workbench, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workbench = workbench
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        line = "Kept in the session file. A report begins with them; notes on a run stand in its Settings tab, those on a block, factor or topic beside its name."
        self.notes = NotesField(
            "Notes on the session", "What the data are, what you want to know, and what you found"
        )
        self.notes.edited.connect(workbench.editing.note_session)
        workbench.editing.changed.connect(self._follow)
        vertical(
            Label("Notes on the session", "title"),
            Label(line, color="muted", wrap=True),
            (self.notes, 1),
            on=self,
            spacing=space.M,
            margins=(space.VIEW_EDGE, space.L, space.VIEW_EDGE, space.M),
        )
        self._follow()

    def _follow(self) -> None:
        """What is written may have been taken back, or brought again."""
        self.notes.set_text(self._workbench.session.notes)
