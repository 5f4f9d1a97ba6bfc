"""Chooses one of very many names, in sections, by typing parts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QFrame, QLineEdit, QListView, QWidget

from plaidwork.core.findings.naming import findable
from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets.layouts import vertical
from plaidwork.gui.widgets.popover import open_beside

Index = QModelIndex | QPersistentModelIndex


class _Names(QAbstractListModel):
    """Names below the heads of their sections; heads cannot be chosen."""

    def __init__(self) -> None:
        super().__init__()
        self._sections: dict[str, list[tuple[str, str]]] = {}
        self.rows: list[tuple[str, bool]] = []

    def set_sections(self, sections: Mapping[str, Sequence[str]]) -> None:
        self._sections = {
            head: [(name, findable(name)) for name in names] for head, names in sections.items()
        }
        self.keep("")

    def keep(self, text: str) -> None:
        """Names that hold all words of a text."""
        words = text.casefold().split()
        self.beginResetModel()
        self.rows = []
        for head, names in self._sections.items():
            found = [name for name, folded in names if all(word in folded for word in words)]
            if found and head:
                self.rows.append((head, False))
            self.rows += [(name, True) for name in found]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        name, chooses = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.ToolTipRole and chooses:
            return name
        if role == Qt.ItemDataRole.ForegroundRole and not chooses:
            return theme().color("muted")
        if role == Qt.ItemDataRole.FontRole:
            return theme().font("body" if chooses else "caption")
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and self.rows[index.row()][1]:
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return Qt.ItemFlag.NoItemFlags


class _Popup(QFrame):
    """A line to type in above the list."""

    chosen = Signal(str)

    def __init__(self, names: _Names, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.names = names
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Type a part of the name"))
        self.field.setAccessibleName(tr("Find a name"))
        self.field.addAction(icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self._filter)
        self.list = QListView()
        self.list.setModel(names)
        self.list.setUniformItemSizes(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(tr("Names"))
        self.list.clicked.connect(lambda index: self._choose(index.row()))
        vertical(self.field, self.list, on=self, spacing=space.S, margins=space.S)

    def _filter(self, text: str) -> None:
        self.names.keep(text)
        self.move_to(-1, 1)

    def move_to(self, row: int, step: int) -> None:
        """The next name that can be chosen, from a row on."""
        row += step
        while 0 <= row < len(self.names.rows) and not self.names.rows[row][1]:
            row += step
        if 0 <= row < len(self.names.rows):
            self.list.setCurrentIndex(self.names.index(row))

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self.names.rows) and self.names.rows[row][1]:
            name = self.names.rows[row][0]
            self.close()
            self.chosen.emit(name)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows, page keys and Enter act on the list while the line has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            at, page = self.list.currentIndex().row(), 10
            steps = {
                Qt.Key.Key_Down: (at, 1),
                Qt.Key.Key_Up: (at, -1),
                Qt.Key.Key_PageDown: (min(at + page, len(self.names.rows)) - 1, 1),
                Qt.Key.Key_PageUp: (max(at - page, 0), 1),
            }
            if event.key() in steps:
                self.move_to(*steps[Qt.Key(event.key())])
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(at)
                return True
        return super().eventFilter(watched, event)


class SearchPicker(QComboBox):
    """Looks like a list of choices; opens a list with a search line. Space, Down or typing opens it.

    Signals
    -------
    chosen : the name chosen by the user
    """

    chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names = _Names()
        self._sections: dict[str, list[str]] = {}
        self._popup: _Popup | None = None
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setMinimumContentsLength(8)
        self.setMaximumWidth(240)

    def set_sections(self, sections: Mapping[str, Sequence[str]], current: str) -> None:
        """Replace the names; silent."""
        self._sections = {head: list(names) for head, names in sections.items()}
        self.names.set_sections(self._sections)
        self.set_current(current)

    def set_current(self, name: str) -> None:
        """Show a name as chosen; silent."""
        blocked = self.blockSignals(True)
        self.clear()
        self.addItem(name)
        self.setToolTip(name)
        self.blockSignals(blocked)

    @property
    def popup(self) -> _Popup:
        """The list, made when it is first needed."""
        if self._popup is None:
            self._popup = _Popup(self.names, self)
            self._popup.chosen.connect(self.take)
        return self._popup

    def take(self, name: str) -> bool:
        """Choose a name as by hand; False when it is not offered."""
        if not any(name in names for names in self._sections.values()):
            return False
        self.set_current(name)
        self.chosen.emit(name)
        return True

    def showPopup(self) -> None:
        """The list below (or above) the field, at the current name."""
        popup = self.popup
        popup.field.clear()
        self.names.keep("")
        popup.resize(max(self.width(), 300), 360)
        open_beside(popup, self)
        popup.field.setFocus()
        rows = [name for name, chooses in self.names.rows if chooses]
        if self.currentText() in rows:
            at = self.names.rows.index((self.currentText(), True))
            popup.list.setCurrentIndex(self.names.index(at))
        else:
            popup.move_to(-1, 1)

    def hidePopup(self) -> None:
        if self._popup is not None:
            self._popup.close()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down, Space and Enter open the list; so do letters, which are then searched for."""
        text = event.text()
        opens = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if event.key() in opens:
            self.showPopup()
        elif (
            text.isprintable()
            and text.strip()
            and not event.modifiers() & Qt.KeyboardModifier.ControlModifier
        ):
            self.showPopup()
            self.popup.field.setText(text)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
