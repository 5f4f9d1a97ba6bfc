"""The head of a file as a table: names and labels left, numbers right, problem cells marked."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

from plaidwork.core.data.importers import Preview
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import tidy
from plaidwork.gui.theme import size, theme

Index = QModelIndex | QPersistentModelIndex
#: role of a column -> (word, category colour)
ROLES = {
    "name": ("row name", 0),
    "label": ("label", 2),
    "value": ("measurements", 4),
    "skip": ("left out", 99),
}
_WIDEST, _WIDEST_TEXT = 360, 200
"""Widest columns at first, in pixels: long names must not push the numbers out of sight."""
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class PreviewModel(QAbstractTableModel):
    """Cells as texts, exactly as in the file."""

    def __init__(self) -> None:
        super().__init__()
        self._preview: Preview | None = None
        self._bad: set[tuple[int, int]] = set()

    def show(self, preview: Preview, bad: set[tuple[int, int]]) -> None:
        """Show another preview; `bad` holds the (row, column) of problem cells."""
        self.beginResetModel()
        self._preview, self._bad = preview, bad
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Rows shown."""
        return 0 if parent.isValid() or self._preview is None else len(self._preview.cells)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Columns of the file, and an empty one that fills the rest."""
        return 0 if parent.isValid() or self._preview is None else len(self._preview.header) + 1

    def flags(self, index: Index) -> Qt.ItemFlag:
        """The filling column cannot be chosen."""
        filler = self._preview is None or index.column() >= len(self._preview.header)
        return Qt.ItemFlag.NoItemFlags if filler else super().flags(index)

    def role_of(self, column: int) -> str:
        """How a column is used."""
        roles = self._preview.roles if self._preview else ()
        return roles[column] if column < len(roles) else "value"

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, alignment and marks of a cell."""
        if not index.isValid() or self._preview is None:
            return None
        row, column = index.row(), index.column()
        cells = self._preview.cells[row]
        if role == Qt.ItemDataRole.DisplayRole:
            return cells[column] if column < len(cells) else ""
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.role_of(column) == "value" else _LEFT
        if role == Qt.ItemDataRole.BackgroundRole and (row, column) in self._bad:
            return theme().color("error_on")
        if role == Qt.ItemDataRole.ForegroundRole:
            if (row, column) in self._bad:
                return theme().color("error")
            return theme().color("faint") if self.role_of(column) == "skip" else None
        if role == Qt.ItemDataRole.ToolTipRole and column < len(cells) and len(cells[column]) > 24:
            return cells[column]
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles of columns; numbers of rows."""
        if orientation != Qt.Orientation.Horizontal or self._preview is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole and section < len(self._preview.header):
            return self._preview.header[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.role_of(section) == "value" else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole and section < len(self._preview.header):
            word = ROLES.get(self.role_of(section), ("", 0))[0]
            return f"{tidy(str(section + 1))}. column, {word}. Right-click to change."
        return None


class PreviewTable(QTableView):
    """Read-only; a right click on a head asks for another role of that column."""

    role_menu_requested = Signal(int, QPoint)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = PreviewModel()
        self._titles: tuple[str, ...] = ()
        self._empty = tr("No rows to show")
        self.setModel(self._model)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setAccessibleName(tr("Preview of the file"))
        rows = self.verticalHeader()
        rows.hide()
        rows.setMinimumSectionSize(size.HIT)
        rows.setDefaultSectionSize(size.ROW)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        head = self.horizontalHeader()
        head.setHighlightSections(False)
        head.setMinimumSectionSize(24)
        head.setStretchLastSection(True)
        head.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        head.customContextMenuRequested.connect(self._head_menu)
        theme().changed.connect(self.viewport().update)

    def show_preview(self, preview: Preview, bad: set[tuple[int, int]]) -> None:
        """Show a preview; the place stays when the columns are the same."""
        across, down = self.horizontalScrollBar().value(), self.verticalScrollBar().value()
        self._model.show(preview, bad)
        if preview.header != self._titles:
            self._titles = preview.header
            self.horizontalHeader().setResizeContentsPrecision(40)
            for column in range(min(len(preview.header), 60)):
                self.resizeColumnToContents(column)
                most = _WIDEST if self._model.role_of(column) == "value" else _WIDEST_TEXT
                self.setColumnWidth(column, min(self.columnWidth(column) + 8, most))
        else:
            self.horizontalScrollBar().setValue(across)
            self.verticalScrollBar().setValue(down)

    def show_cell(self, row: int, column: int) -> None:
        """Scroll to a cell and make it the current one."""
        index = self._model.index(row, max(column, 0))
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _head_menu(self, at: QPoint) -> None:
        column = self.horizontalHeader().logicalIndexAt(at)
        if 0 <= column < len(self._titles):
            self.role_menu_requested.emit(column, self.horizontalHeader().mapToGlobal(at))

    def say(self, text: str) -> None:
        """What stands there while there is nothing to show."""
        self._empty = tr(text)
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Say so while there is nothing to show."""
        super().paintEvent(event)
        if self._model.rowCount() == 0:
            painter = QPainter(self.viewport())
            painter.setPen(theme().color("muted"))
            painter.drawText(self.viewport().rect(), Qt.AlignmentFlag.AlignCenter, self._empty)
            painter.end()
