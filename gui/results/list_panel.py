"""Tables beside a picture, in the right dock: what a row stands for is selected and chosen by it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPalette
from PySide6.QtWidgets import QAbstractItemView, QWidget

from plaidwork.core.pictures import Listing
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Card, DataTable, Label
from plaidwork.gui.widgets.layouts import vertical


class ListPanel(QWidget):
    """A title and a table for each list of a picture.

    Signals
    -------
    chosen : numbers of the list and of its row
    left : Esc was pressed
    """

    chosen = Signal(int, int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setBackgroundRole(QPalette.ColorRole.Window)
        self.setAutoFillBackground(True)
        self.setAccessibleName("Beside the picture")
        self.titles: list[Label] = []
        self.tables: list[DataTable] = []
        self._layout = vertical(
            on=self, spacing=space.S, margins=(space.DOCK_EDGE, space.S, space.DOCK_EDGE, space.M)
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(280, 240)

    def set_lists(self, lists: tuple[Listing, ...]) -> None:
        """Show these lists."""
        while len(self.tables) < len(lists):
            self._add()
        for k, (title, table) in enumerate(zip(self.titles, self.tables, strict=True)):
            title.setVisible(k < len(lists))
            table.parentWidget().setVisible(k < len(lists))
            if k < len(lists):
                title.setText(lists[k].title)
                table.view.setAccessibleName(lists[k].title)
                table.set_columns(lists[k].columns)

    def _add(self) -> None:
        number, title, card = len(self.tables), Label("", "strong", elide=True), Card()
        table = DataTable(dense=True)
        table.view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.row_selected.connect(lambda row: self.chosen.emit(number, row))
        vertical(table, on=card, margins=1)
        self._layout.addWidget(title)
        self._layout.addWidget(card, 1)
        self.titles.append(title)
        self.tables.append(table)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leaves what was chosen."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
