"""The table behind a picture, in a window of its own, with CSV export."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QFrame,
    QTableView,
    QWidget,
)

from plaidwork.core.draws.counting import counted
from plaidwork.core.quoting import CsvWriter
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import format_number
from plaidwork.gui.save_path import ask_save_path, proposed_name, tell_guarded
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import DataTable, Label, button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class MatrixData:
    """A matrix with names, in the order shown."""

    values: np.ndarray
    row_names: Sequence[str]
    column_names: Sequence[str]
    corner: str = ""

    def to_csv(self, path: str | Path) -> int:
        """Full precision, "." as decimal mark, empty where missing; how many cells were guarded."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = CsvWriter(file)
            writer.row([self.corner, *self.column_names])
            for name, row in zip(self.row_names, self.values):
                writer.row([name, *("" if value != value else repr(float(value)) for value in row)])
        return writer.guarded


class MatrixModel(QAbstractTableModel):
    """Virtual model over a matrix."""

    def __init__(self, data: MatrixData) -> None:
        super().__init__()
        self._data = data

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._data.row_names)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._data.column_names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return format_number(float(self._data.values[index.row(), index.column()]))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        names = self._data.column_names if orientation == Qt.Orientation.Horizontal else self._data.row_names
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole) and section < len(names):
            return names[section]
        return None


Content = MatrixData | Mapping[str, Any]


class DataDialog(QDialog):
    """Shows columns or a matrix; Ctrl+C copies, the button writes CSV."""

    def __init__(
        self,
        title: str,
        content: Content,
        formats: Mapping[str, Callable[[Any], str]] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr(f"Data behind {title}"))
        self._content, self._name = content, title
        if isinstance(content, MatrixData):
            self.table: QWidget = _matrix_view(content)
            shape = (
                f"{counted(len(content.row_names), 'row')} × {counted(len(content.column_names), 'column')}"
            )
        else:
            self.table = DataTable(content, filter_line=True, formats=formats)
            shape = f"{counted(max((len(column) for column in content.values()), default=0), 'row')}"
        row = horizontal(
            STRETCH,
            button("Close", self.close),
            button("Export table…", self._ask, kind="primary", icon_name="export"),
            spacing=space.S,
        )
        vertical(
            Label(title, "headline", elide=True),
            Label(f"{shape}, in the order shown", "caption", "muted"),
            (self.table, 1),
            row,
            on=self,
            spacing=space.M,
            margins=space.DIALOG_EDGE,
        )
        self.resize(860, 560)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def to_csv(self, path: str | Path) -> int:
        """Write what is shown; how many cells were guarded."""
        if isinstance(self._content, MatrixData):
            return self._content.to_csv(path)
        assert isinstance(self.table, DataTable)
        return self.table.to_csv(path)

    def _ask(self) -> None:
        name = proposed_name(self._name, suffix=".csv")
        path = ask_save_path(self, "Export table", name, "CSV (*.csv)")
        if path is not None:
            tell_guarded(self, self.to_csv(path))


def _matrix_view(content: MatrixData) -> QTableView:
    view = QTableView()
    view.setModel(MatrixModel(content))
    view.model().setParent(view)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.verticalHeader().setMinimumSectionSize(size.HIT)
    view.verticalHeader().setDefaultSectionSize(size.ROW)
    view.verticalHeader().setMaximumWidth(240)
    view.horizontalHeader().setDefaultSectionSize(96)
    view.horizontalHeader().setHighlightSections(False)
    view.setAccessibleName(tr("Values"))
    return view


def copy_text(text: str) -> None:
    """Put text on the clipboard."""
    QApplication.clipboard().setText(text)
