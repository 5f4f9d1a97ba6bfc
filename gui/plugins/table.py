"""The table of plugins: one row each, state and checks with icon and word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from plaidwork.core.plugins.registry import PluginInfo
from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_duration
from plaidwork.gui.plugins.facts import SOURCES, check_word, matches, state_of, version_text
from plaidwork.gui.theme import size, theme
from plaidwork.gui.widgets.row_table import row_table

Index = QModelIndex | QPersistentModelIndex
Checks = Callable[[PluginInfo], dict[str, Any] | None]

HEADS = ("Plugin", "State", "Version", "From", "API", "Load time", "Licence", "Checks")
NAME, STATE, VERSION, FROM, API, LOAD, LICENCE, CHECKS = range(len(HEADS))
_WIDTHS = {STATE: 148, VERSION: 84, FROM: 84, API: 52, LOAD: 88, LICENCE: 120, CHECKS: 136}
_NAME_WIDTH = 140
_LEAST = (API, LICENCE, LOAD, FROM)
"""Hidden in this order when the window is narrow."""
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
SORT = Qt.ItemDataRole.UserRole


class PluginModel(QAbstractTableModel):
    """Rows of the registry as they were at ``set_plugins``."""

    def __init__(self, checks: Checks) -> None:
        super().__init__()
        self._checks = checks
        self.plugins: list[PluginInfo] = []
        self._kept: list[dict[str, Any] | None] = []

    def set_plugins(self, plugins: Sequence[PluginInfo]) -> None:
        """Replace the rows."""
        self.beginResetModel()
        self.plugins = list(plugins)
        self._kept = [self._checks(info) for info in self.plugins]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.plugins)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(HEADS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(HEADS[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section == LOAD else _LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        info, column = self.plugins[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(index.row(), column)
        if role == SORT:
            return info.load_seconds if column == LOAD else self._text(index.row(), column).casefold()
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column == LOAD else _LEFT
        if role == Qt.ItemDataRole.DecorationRole and column in (STATE, CHECKS):
            name, color, _ = self._status(index.row(), column)
            return icon(name, color) if name else None
        if role == Qt.ItemDataRole.ForegroundRole and column in (STATE, CHECKS):
            color = self._status(index.row(), column)[1]
            return theme().color(color) if color not in ("ok", "muted") else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return info.message if column == STATE and info.message else str(info.path or "") or None
        return None

    def _status(self, row: int, column: int) -> tuple[str, str, str]:
        return state_of(self.plugins[row]) if column == STATE else check_word(self._kept[row])

    def _text(self, row: int, column: int) -> str:
        info = self.plugins[row]
        if column in (STATE, CHECKS):
            return tr(self._status(row, column)[2]) or "–"
        loaded = info.state != "disabled" and info.load_seconds > 0
        return {
            NAME: info.name,
            VERSION: info.version or "–",
            FROM: tr(SOURCES.get(info.source, info.source)),
            API: version_text(info.api) or "–",
            LOAD: load_time(info.load_seconds) if loaded else "–",
            LICENCE: info.licence or "–",
        }[column]


def load_time(seconds: float) -> str:
    """Milliseconds below a second."""
    return f"{max(1, round(1000 * seconds))} ms" if seconds < 0.9995 else format_duration(seconds)


class _Found(QSortFilterProxyModel):
    """Rows with all the words that were typed."""

    def __init__(self, source: PluginModel) -> None:
        super().__init__()
        self._source = source
        self._words: list[str] = []
        self.setSortRole(SORT)
        self.setSourceModel(source)

    def set_words(self, text: str) -> None:
        self._words = text.casefold().split()
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: Index) -> bool:
        return matches(self._source.plugins[row], self._words)


class PluginTable(QTableView):
    """Read-only, one row selected at a time; ``chosen`` gives its plugin's name, empty when none is."""

    chosen = Signal(str)

    def __init__(self, checks: Checks, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plugins = PluginModel(checks)
        self._found = _Found(self._plugins)
        self.setModel(self._found)
        self.setAccessibleName(tr("Plugins"))
        row_table(self, size.ROW_DIALOG, QAbstractItemView.SelectionMode.SingleSelection)
        head = self.horizontalHeader()
        head.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        for column, width in _WIDTHS.items():
            self.setColumnWidth(column, width)
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen.emit(self.chosen_name))
        theme().changed.connect(self.viewport().update)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the columns that matter least go first."""
        super().resizeEvent(event)
        spare = self.viewport().width() - _NAME_WIDTH - sum(_WIDTHS.values())
        for column in _LEAST:
            self.setColumnHidden(column, spare < 0)
            spare += _WIDTHS[column] if spare < 0 else 0

    @property
    def chosen_name(self) -> str:
        """Name of the plugin of the selected row; empty when none is selected."""
        rows = self.selectionModel().selectedRows()
        return self._plugins.plugins[self._found.mapToSource(rows[0]).row()].name if rows else ""

    @property
    def shown_names(self) -> list[str]:
        """Names in the order on screen."""
        return [str(self._found.index(row, NAME).data()) for row in range(self._found.rowCount())]

    def set_plugins(self, plugins: Sequence[PluginInfo]) -> None:
        """New rows; the selected plugin stays selected."""
        name = self.chosen_name
        self._plugins.set_plugins(plugins)
        self.choose(name)

    def choose(self, name: str) -> bool:
        """Select the row of a plugin; False when it is not on screen."""
        for row in range(self._found.rowCount()):
            if name and self._found.index(row, NAME).data() == name:
                index = self._found.index(row, NAME)
                flags = QItemSelectionModel.SelectionFlag
                self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
                self.scrollTo(index)
                return True
        self.clearSelection()
        return False

    def set_words(self, text: str) -> None:
        """Show the plugins that have all these words."""
        name = self.chosen_name
        self._found.set_words(text)
        if name and not self.chosen_name:
            self.choose(name)
