"""How every table of rows behaves: no grid, whole rows, sorting in three steps, rows of one height."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView

from plaidwork.gui.theme import size


def row_table(view: QTableView, row_height: int, mode: QAbstractItemView.SelectionMode) -> None:
    """Set up a view that has its model; the third click on a head gives the model's own order back."""
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(mode)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setTabKeyNavigation(False)
    rows = view.verticalHeader()
    rows.hide()
    rows.setMinimumSectionSize(size.HIT)
    rows.setDefaultSectionSize(row_height)
    rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    head = view.horizontalHeader()
    head.setHighlightSections(False)
    head.setMinimumSectionSize(40)
    head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    head.setSortIndicatorClearable(True)
    view.setSortingEnabled(True)
