"""The head of the Plugins window: how many there are, and the search."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget

from plaidwork.gui.data.pane import Pane
from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import horizontal, vertical


class Head(Pane):
    """Title, counts, and a field for words that plugins are found by."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("surface", "bottom", parent)
        self.counted = Label("", "body", "muted", elide=True)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Find a plugin"))
        self.search.setAccessibleName(tr("Find a plugin"))
        self.search.setClearButtonEnabled(True)
        self.search.addAction(icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.search.setFixedWidth(250)
        texts = vertical(Label("Plugins", "headline"), self.counted, spacing=space.XS)
        horizontal(
            (texts, 1),
            self.search,
            on=self,
            spacing=space.L,
            margins=(space.DIALOG_EDGE, space.L, space.DIALOG_EDGE, space.L),
        )
