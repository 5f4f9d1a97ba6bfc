"""The values of a dataset as a table."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QTableView, QWidget

from plaidwork.core.data.dataset import Dataset
from plaidwork.gui.data.facts import size_text
from plaidwork.gui.data.values_model import ValuesModel
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, theme
from plaidwork.gui.widgets import StatePane


def values_table(dataset: Dataset) -> QWidget:
    """The table of the values with their names; a pane that says why there is none."""
    if not dataset.at_hand:
        return StatePane("clock", "Reading the values", f"{size_text(dataset)}.")
    if dataset.is_sparse and dataset.shape[1] > 50_000:
        return StatePane("table", "Too wide to show as a table", "Select rows or columns first.")
    view = QTableView()
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setShowGrid(False)
    view.setWordWrap(False)
    view.setTabKeyNavigation(False)
    view.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
    view.setAccessibleName(tr("Values"))
    rows = view.verticalHeader()
    rows.hide()
    rows.setMinimumSectionSize(size.HIT)
    rows.setDefaultSectionSize(size.ROW)
    model = ValuesModel()
    model.setParent(view)
    model.set_dataset(dataset)
    head = view.horizontalHeader()
    head.setHighlightSections(False)
    head.setMinimumSectionSize(24)
    head.setDefaultSectionSize(92)
    view.setModel(model)
    head.setStretchLastSection(True)
    head.setResizeContentsPrecision(40)
    for column in range(min(model.n_fixed, 12)):
        view.resizeColumnToContents(column)
        view.setColumnWidth(column, min(max(view.columnWidth(column) + 8, 80), 280))
    theme().changed.connect(view.viewport().update)
    return view
