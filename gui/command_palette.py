"""Every command by name: type, choose, Enter."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QWidget

from plaidwork.gui.language import tr
from plaidwork.gui.theme import space
from plaidwork.gui.widgets.layouts import vertical


class CommandPalette(QDialog):
    """A list of the commands that can be used now, filtered by the words typed."""

    def __init__(self, actions: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Find a command"))
        self.setMinimumSize(460, 380)
        self._actions = [action for action in actions if action.isEnabled()]
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Find a command"))
        self.field.setAccessibleName(tr("Find a command"))
        self.field.installEventFilter(self)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Commands"))
        vertical(self.field, self.list, on=self, spacing=space.S, margins=space.M)
        self.field.textChanged.connect(self._filter)
        self.list.itemActivated.connect(lambda *_: self._run())
        self._filter("")

    def _filter(self, text: str) -> None:
        words = text.lower().split()
        self.list.clear()
        for action in self._actions:
            name = action.text().replace("&", "").rstrip("…")
            if all(word in f"{name} {action.toolTip()}".lower() for word in words):
                shortcut = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
                item = QListWidgetItem(f"{name}    {shortcut}" if shortcut else name)
                item.setData(Qt.ItemDataRole.UserRole, action)
                item.setToolTip(action.toolTip())
                self.list.addItem(item)
        self.list.setCurrentRow(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows and Enter in the field act on the list."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                row = self.list.currentRow() + step
                self.list.setCurrentRow(max(0, min(self.list.count() - 1, row)))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run()
                return True
        return super().eventFilter(watched, event)

    def _run(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.accept()
            item.data(Qt.ItemDataRole.UserRole).trigger()
