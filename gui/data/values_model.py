"""The values of a dataset as a virtual table: name, annotations, numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from shiboken6 import isValid

from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.levels import first_number, said_of, words_of
from plaidwork.core.data.measured import are_times
from plaidwork.core.findings.naming import shown_names
from plaidwork.gui.numbers import format_fixed, format_number, format_ticks
from plaidwork.gui.tasks import run_task
from plaidwork.gui.theme import theme

Index = QModelIndex | QPersistentModelIndex
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ValuesModel(QAbstractTableModel):
    """Nothing is copied: a cell is formatted when it is shown."""

    def __init__(self) -> None:
        super().__init__()
        self._dataset: Dataset | None = None
        self._titles: list[str] = []
        self._notes: list[np.ndarray] = []
        self._decimals = 0
        self._words: dict[int, tuple[str, ...] | None] = {}

    def set_dataset(self, dataset: Dataset) -> None:
        """Show another dataset."""
        self.beginResetModel()
        self._dataset = dataset
        self._titles = list(dataset.row_table)
        self._notes = [np.asarray(column) for column in dataset.row_table.values()]
        self._names = shown_names(dataset, 0), shown_names(dataset, 1)
        self._decimals = _decimals(dataset)
        self._words = {}
        self.endResetModel()

    @property
    def n_fixed(self) -> int:
        """Columns before the values."""
        return 1 + len(self._titles)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Rows of the matrix."""
        return 0 if parent.isValid() or self._dataset is None else self._dataset.shape[0]

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Name, annotations, values, and an empty column that fills the rest."""
        if parent.isValid() or self._dataset is None:
            return 0
        shape = self._dataset.shape
        return self.n_fixed + (shape[1] if len(shape) == 2 else 1) + 1

    def value(self, row: int, column: int) -> Any:
        """The value behind a cell; None outside."""
        assert self._dataset is not None
        if column == 0:
            return self._names[0][row]
        if column < self.n_fixed:
            return self._notes[column - 1][row]
        if column >= self.columnCount() - 1:
            return None
        index = column - self.n_fixed
        values = self._dataset.values
        found = values[row, index] if len(self._dataset.shape) == 2 else values[row]
        words = self._words_of(index)
        if found == found and words != ():
            return "" if words is None else words[int(found) - first_number(words)]
        if self._dataset.kind == "categorical":
            return self._dataset.categories[int(found)] if found >= 0 else None
        return float(found)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """The filling column cannot be chosen."""
        return Qt.ItemFlag.NoItemFlags if index.column() >= self.columnCount() - 1 else super().flags(index)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text and alignment."""
        if not index.isValid() or self._dataset is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._side(index.column())
        wanted = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ForegroundRole, Qt.ItemDataRole.ToolTipRole)
        if role not in wanted:
            return None
        value = self.value(index.row(), index.column())
        filler = index.column() >= self.columnCount() - 1
        missing = not filler and (value is None or (isinstance(value, float) and np.isnan(value)))
        if role == Qt.ItemDataRole.ForegroundRole:
            return theme().color("faint") if missing else None
        if filler:
            return None
        if missing:
            return "–" if role == Qt.ItemDataRole.DisplayRole else "missing"
        if role == Qt.ItemDataRole.ToolTipRole or not isinstance(value, (float, np.floating)):
            return str(value)
        if index.column() < self.n_fixed:
            return format_number(float(value))
        names = self._names[1]
        unit = self._dataset.unit if self._dataset is not None else ""
        if names and are_times([names[index.column() - self.n_fixed]], unit):  # years have no space
            return format_ticks([float(value)], self._decimals)[0]
        return format_fixed(float(value), self._decimals)

    def _side(self, column: int) -> Qt.AlignmentFlag:
        if 0 < column < self.n_fixed:
            return _RIGHT if self._notes[column - 1].dtype.kind in "iuf" else _LEFT
        if column == 0 or self._dataset is None or self._dataset.categories:
            return _LEFT
        return _RIGHT if self._words_of(column - self.n_fixed) == () else _LEFT

    def _words_of(self, index: int) -> tuple[str, ...] | None:
        """The words of a column of values; None while all its numbers are gone through, in the background, to see whether they still are words."""
        if index not in self._words:
            data = self._dataset
            measured = data is not None and len(data.shape) == 2 and index < data.shape[1]
            if data is None or not measured or not said_of(data, index):
                self._words[index] = ()
            else:
                self._words[index] = None
                run_task(lambda task: words_of(data, index), partial(self._found, data, index), at_once=True)
        return self._words[index]

    def _found(self, dataset: Dataset, index: int, words: tuple[str, ...]) -> None:
        if not isValid(self) or self._dataset is not dataset:  # closed, or other data by now
            return
        self._words[index] = words
        column = self.n_fixed + index
        self.dataChanged.emit(self.index(0, column), self.index(self.rowCount() - 1, column))
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, column, column)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles of columns."""
        if orientation != Qt.Orientation.Horizontal or self._dataset is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._side(section)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if section == 0:
            return self._dataset.row_label
        if section < self.n_fixed:
            return self._titles[section - 1]
        index = section - self.n_fixed
        if len(self._dataset.shape) == 1:
            return "value" if index == 0 else ""
        names = self._names[1]
        return names[index] if index < len(names) else ""


def _decimals(dataset: Dataset) -> int:
    """Decimals that show about four digits of the larger values, or of what they differ by where that is less; none for whole numbers."""
    values = dataset.values.data if dataset.is_sparse else dataset.values
    flat = np.ravel(values)
    some = flat[:: max(1, flat.size // 20_000)].astype(float)
    some = some[np.isfinite(some)]
    known = np.abs(some)
    if not known.size or (known == np.floor(known)).all():
        return 0
    top = float(np.percentile(known, 95)) or float(known.max())
    top = min(top, float(np.ptp(some)) or top)
    return int(min(max(3 - np.floor(np.log10(top)), 0), 8))
