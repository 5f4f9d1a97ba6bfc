"""Sortable table over columns, with filter line, copy and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QItemSelection, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QHeaderView,
    QLineEdit,
    QMenu,
    QTableView,
    QWidget,
)

from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr
from plaidwork.gui.numbers import THIN
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets.layouts import horizontal, vertical
from plaidwork.gui.widgets.row_table import row_table
from plaidwork.gui.widgets.table_model import ColumnModel, Formatter, Swatch

MOST_FITTED = 40
"""Columns that get the width of their content; those behind have the usual one, as each takes some 5 ms."""
_WIDEST = 240
"""Pixels of a column at first, at most."""


class DataTable(QWidget):
    """Table; numbers right, text left; Ctrl+C copies, a head click sorts. Only names are edited, where `set_named` allows it.

    Parameters
    ----------
    columns : column name -> values (list or array), all of equal length
    dense : rows of 26 px for docks instead of 28
    filter_line : show a line that keeps the rows containing the typed text
    formats : column name -> function from value to text
    words : whether cells hold words of the program, which are translated, and no names
    swatch : per row a category number or colour token, drawn in the first column
    status : per row "ok", "warn", "error" or "", drawn as icon in the first column

    Signals
    -------
    row_selected : row number of the given data (not of the shown order)
    row_activated : the same, on double click or Enter
    sorted_by : a head was clicked
    renamed : row number of the given data, and the text typed into its first column
    """

    row_selected = Signal(int)
    row_activated = Signal(int)
    sorted_by = Signal()
    renamed = Signal(int, str)

    def __init__(
        self,
        columns: Mapping[str, Any] | None = None,
        *,
        dense: bool = False,
        filter_line: bool = False,
        formats: Mapping[str, Formatter] | None = None,
        swatch: Sequence[Swatch] | None = None,
        status: Sequence[str] | None = None,
        words: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = ColumnModel()
        self._model.words = words
        self._stretched = (0, 0)
        self._filter = QLineEdit()
        self._filter.setPlaceholderText(tr("Filter rows"))
        self._filter.setClearButtonEnabled(True)
        self._filter.addAction(icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self._filter.textChanged.connect(self._model.set_filter)
        self._filter.setVisible(filter_line)
        self._view = QTableView()
        self._set_up_view(dense)
        line = horizontal(self._filter, margins=(space.XS, 5 if filter_line else 0, space.XS, 0))
        vertical(line, self._view, on=self, spacing=space.XS if filter_line else 0, margins=(4, 3, 4, 3))
        copy = QAction(tr("Copy"), self)
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        copy.triggered.connect(self.copy)
        self.addAction(copy)
        self._view.setAccessibleName("Table")  # that of the whole is a key of what is kept with the window
        self._filter.setAccessibleName(tr("Filter rows"))
        theme().changed.connect(self._restyle)
        self.set_columns(columns or {}, formats=formats, swatch=swatch, status=status)

    def setAccessibleName(self, name: str) -> None:
        """Name the table, its cells and its filter for a screen reader."""
        super().setAccessibleName(tr(name))
        self._view.setAccessibleName(tr(name))
        self._filter.setAccessibleName(tr(f"Filter rows: {name}"))

    def _set_up_view(self, dense: bool) -> None:
        view = self._view
        view.setModel(self._model)
        row_table(
            view, size.ROW_DOCK if dense else size.ROW, QAbstractItemView.SelectionMode.ExtendedSelection
        )
        view.selectionModel().selectionChanged.connect(self._selected)
        view.activated.connect(self._activated)
        self._model.edited.connect(self.renamed)
        view.horizontalHeader().sortIndicatorChanged.connect(lambda *_: self.sorted_by.emit())
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        view.customContextMenuRequested.connect(self._menu)

    # -- content --------------------------------------------------------------------------------
    def set_columns(
        self,
        columns: Mapping[str, Any],
        *,
        formats: Mapping[str, Formatter] | None = None,
        swatch: Sequence[Swatch] | None = None,
        status: Sequence[str] | None = None,
    ) -> None:
        """Replace the content; sort order and filter stay if the columns keep their names."""
        same = list(columns) == list(self._model.columns())
        if not same:
            self._view.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self._model.set_columns(columns, formats, swatch, status)
        if not same:
            self._fit_columns()

    def _fit_columns(self) -> None:
        head = self._view.horizontalHeader()
        stretch = next((c for c in range(self._model.columnCount()) if not self._model.is_number(c)), 0)
        head.setResizeContentsPrecision(200)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        cut = []
        for column in sorted({stretch, *range(min(self._model.columnCount(), MOST_FITTED))}):
            self._view.resizeColumnToContents(column)
            if self._view.columnWidth(column) > _WIDEST:
                cut.append(column)
                self._view.setColumnWidth(column, _WIDEST)
        stretch = cut[0] if cut else stretch
        self._stretched = stretch, self._view.columnWidth(stretch)
        self._share_room()

    def _share_room(self) -> None:
        """The column of names, or one whose texts are cut, takes the room that others leave, but is never cut for them:
        then the table scrolls."""
        head, (stretch, wanted) = self._view.horizontalHeader(), self._stretched
        if stretch >= self._model.columnCount():
            return
        others = head.length() - head.sectionSize(stretch)
        if others + wanted <= self._view.viewport().width():
            head.setSectionResizeMode(stretch, QHeaderView.ResizeMode.Stretch)
        elif head.sectionResizeMode(stretch) == QHeaderView.ResizeMode.Stretch:
            head.setSectionResizeMode(stretch, QHeaderView.ResizeMode.Interactive)
            head.resizeSection(stretch, wanted)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def set_named(self, named: bool) -> None:
        """Let the texts of the first column be edited where they stand, by a double click or F2."""
        self._model.named = named
        triggers = QAbstractItemView.EditTrigger
        self._view.setEditTriggers(
            triggers.DoubleClicked | triggers.EditKeyPressed if named else triggers.NoEditTriggers
        )

    def edit_name(self, row: int) -> None:
        """Begin to edit the name in a row of the given data."""
        shown = self._model.shown_row(row)
        if self._model.named and shown >= 0:
            index = self._model.index(shown, 0)
            self._view.setCurrentIndex(index)
            self._view.edit(index)

    @property
    def view(self) -> QTableView:
        """The Qt view, for settings not offered here."""
        return self._view

    @property
    def model(self) -> ColumnModel:
        """The model behind the view."""
        return self._model

    def set_filter(self, text: str) -> None:
        """Show only rows that contain `text`."""
        self._filter.setText(text)

    def focus_filter(self) -> None:
        """The keyboard goes to the filter line."""
        self._filter.setFocus()
        self._filter.selectAll()

    def sorting(self) -> list[Any]:
        """Name of the column that the rows are sorted by (empty: as given), and whether it ascends."""
        head = self._view.horizontalHeader()
        names = list(self._model.columns())
        index = head.sortIndicatorSection()
        ascending = head.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder
        return [names[index] if 0 <= index < len(names) else "", ascending]

    def sort_by(self, name: str, ascending: bool) -> bool:
        """Sort the rows by a column, or give them as they came for an empty name; False when there is no such column."""
        names = list(self._model.columns())
        if not name:
            self._view.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
            return True
        if name not in names:
            return False
        order = Qt.SortOrder.AscendingOrder if ascending else Qt.SortOrder.DescendingOrder
        self._view.sortByColumn(names.index(name), order)
        return True

    # -- selection ------------------------------------------------------------------------------
    def selected_rows(self) -> list[int]:
        """Row numbers of the given data that are selected, in shown order."""
        shown = sorted(i.row() for i in self._view.selectionModel().selectedRows())
        return [self._model.source_row(r) for r in shown]

    def select_row(self, row: int) -> None:
        """Select a row of the given data and scroll to it; emits `row_selected` if it is new."""
        shown = self._model.shown_row(row)
        if shown < 0:
            self._view.clearSelection()
        elif self.selected_rows() != [row]:
            self._view.selectRow(shown)
            self._view.scrollTo(self._model.index(shown, 0))

    def _selected(self, _new: QItemSelection, _old: QItemSelection) -> None:
        rows = self.selected_rows()
        current = self._view.currentIndex()
        if current.isValid() and len(rows) > 1 and self._model.source_row(current.row()) in rows:
            self.row_selected.emit(self._model.source_row(current.row()))
        elif rows:
            self.row_selected.emit(rows[0])

    def _activated(self, index: QModelIndex) -> None:
        self.row_activated.emit(self._model.source_row(index.row()))

    # -- on paper -------------------------------------------------------------------------------
    def put_on_paper(self) -> None:
        """No line that filters and nothing that scrolls."""
        self._filter.hide()
        for set_policy in (self._view.setHorizontalScrollBarPolicy, self._view.setVerticalScrollBarPolicy):
            set_policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def keep_whole(self) -> tuple[int, int]:
        """Show the rows and columns that have room as a whole, one of each at least; how many have none."""
        head, room = self._view.horizontalHeader(), self._view.viewport().size()
        ends = np.cumsum([head.sectionSize(c) for c in range(self._model.columnCount())])
        columns = max(int((ends <= room.width()).sum()), 1)
        for column in range(columns, len(ends)):
            self._view.setColumnHidden(column, True)
        high = self._view.verticalHeader().defaultSectionSize()
        count = self._model.rowCount()
        rows = min(max(room.height() // high, 1), count)
        self.setFixedHeight(self.height() - room.height() + rows * high)
        self._share_room()
        return count - rows, len(ends) - columns

    # -- out ------------------------------------------------------------------------------------
    def copy(self) -> None:
        """Copy the selected rows, or all, as tab separated text with a head row."""
        rows = sorted(i.row() for i in self._view.selectionModel().selectedRows())
        rows = rows or list(range(self._model.rowCount()))
        columns = range(self._model.columnCount())
        lines = ["\t".join(self._model.columns())]
        lines += ["\t".join(self._model.text(r, c) for c in columns) for r in rows]
        plain = "\n".join(lines).replace(THIN, "").replace("\u2212", "-")
        QApplication.clipboard().setText(plain)

    def to_csv(self, path: str | Path) -> int:
        """Write the shown rows, in the shown order, with full precision; how many cells were guarded."""
        return self._model.to_csv(path)

    def _menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction(icon("copy"), "Copy", self.copy)
        menu.addAction(icon("export"), "Export table…", self._ask_csv)
        menu.exec(self._view.viewport().mapToGlobal(at))
        menu.deleteLater()

    def _ask_csv(self) -> None:
        from plaidwork.gui.save_path import ask_save_path, proposed_name, tell_guarded

        name = proposed_name(
            self.window().windowTitle().split("[*]")[0], self.accessibleName(), "table", suffix=".csv"
        )
        path = ask_save_path(self, "Export table", name, "CSV (*.csv)")
        if path is not None:
            tell_guarded(self, self.to_csv(path))

    def _restyle(self) -> None:
        self._model.forget_pixmaps()
        self._view.viewport().update()
