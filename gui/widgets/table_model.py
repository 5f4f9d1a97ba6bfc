"""Virtual table model over columns of equal length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from plaidwork.core.draws.numbers import column_format
from plaidwork.core.findings.naming import findable
from plaidwork.core.quoting import CsvWriter
from plaidwork.gui.icons import icon, screen_ratio
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, theme

Index = QModelIndex | QPersistentModelIndex
Formatter = Callable[[Any], str]
#: What a swatch column holds per row: category number, token name or None.
Swatch = int | str | None

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
#: status word -> (icon, colour token)
STATUS_ICONS = {"ok": ("check", "ok"), "warn": ("warning", "warn"), "error": ("error", "error")}


_MOST = 2000
"""Characters of a cell that are shown: to lay out many thousand in each takes seconds. What is copied or written has all."""


def _seen(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"


class ColumnModel(QAbstractTableModel):
    """Rows are numbers into an order array, so sorting and filtering move no data.

    Signals
    -------
    edited : row of the given data and the text typed into its first column, where ``named`` is set
    """

    edited = Signal(int, str)

    def __init__(self) -> None:
        super().__init__()
        self.named = False
        self.words: bool | frozenset[str] = False
        self._names: list[str] = []
        self._columns: list[np.ndarray] = []
        self._given: dict[str, Formatter] = {}
        self._formats: dict[int, Formatter] = {}
        self._swatch: Sequence[Swatch] | None = None
        self._status: Sequence[str] | None = None
        self._order = np.zeros(0, dtype=np.intp)
        self._filter = ""
        self._sorted: tuple[int, Qt.SortOrder] | None = None
        self._pixmaps: dict[object, QPixmap] = {}

    def set_columns(
        self,
        columns: Mapping[str, Any],
        formats: Mapping[str, Formatter] | None = None,
        swatch: Sequence[Swatch] | None = None,
        status: Sequence[str] | None = None,
    ) -> None:
        """Replace the content; numbers without a format get up to four digits."""
        arrays = [_as_column(values) for values in columns.values()]
        lengths = {len(a) for a in arrays}
        if len(lengths) > 1:
            sizes = ", ".join(f"{n}: {len(a)}" for n, a in zip(columns, arrays))
            raise ValueError(f"columns must have equal length, got {sizes}")
        self.beginResetModel()
        same = list(columns) == self._names
        self._names, self._columns = list(columns), arrays
        self._given, self._formats = dict(formats or {}), {}
        self._swatch, self._status = swatch, status
        if not same:
            self._sorted = None
        self._reorder()
        self.endResetModel()

    def set_formats(self, formats: Mapping[str, Formatter]) -> None:
        """Write the same columns by other formats."""
        self._given, self._formats = dict(formats), {}
        if self.rowCount() and self.columnCount():
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    # -- Qt -------------------------------------------------------------------------------------
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Rows that pass the filter."""
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Number of columns."""
        return 0 if parent.isValid() else len(self._names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, alignment, swatch or status icon of a cell."""
        if not index.isValid():
            return None
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return _seen(self.text(index.row(), column))
        if role == Qt.ItemDataRole.EditRole:
            return self.text(index.row(), column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_number(column) else _LEFT
        if role == Qt.ItemDataRole.DecorationRole and column == 0:
            return self._decoration(int(self._order[index.row()]))
        if role == Qt.ItemDataRole.ToolTipRole:
            text = _seen(self.text(index.row(), column))
            return text if len(text) > 24 else None
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Texts of the first column can be edited where they are names."""
        found = super().flags(index)
        names = self.named and index.isValid() and index.column() == 0
        return found | Qt.ItemFlag.ItemIsEditable if names else found

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Pass on what was typed; whoever gave the columns gives them anew."""
        if role != Qt.ItemDataRole.EditRole or not self.flags(index) & Qt.ItemFlag.ItemIsEditable:
            return False
        if str(value) != self.text(index.row(), index.column()):
            self.edited.emit(self.source_row(index.row()), str(value))
        return True

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Column names, aligned like their cells."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._names):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(self._names[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if self.is_number(section) else _LEFT
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._names[section] if len(self._names[section]) > 16 else None
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column, missing values last; column -1 restores the given order."""
        self._sorted = (column, order) if 0 <= column < len(self._names) else None
        self._rebuild()

    # -- own ------------------------------------------------------------------------------------
    def set_filter(self, text: str) -> None:
        """Keep rows of which a text column contains `text`, in any case."""
        self._filter = text.strip().casefold()
        self._rebuild()

    def text(self, row: int, column: int) -> str:
        """Shown text of a cell."""
        value = self._columns[column][self._order[row]]
        if value is None or (isinstance(value, float | np.floating) and np.isnan(value)):
            return "–"
        if column not in self._formats:  # made when a column is first shown: there may be very many
            given = self._given.get(self._names[column])
            self._formats[column] = given or column_format(self._columns[column])
        text = self._formats[column](value)
        told = self._names[column] in self.words if isinstance(self.words, frozenset) else self.words
        return tr(text) if told and not self.is_number(column) else text

    def is_number(self, column: int) -> bool:
        """True for columns of numbers."""
        return self._columns[column].dtype.kind in "iuf"

    def source_row(self, row: int) -> int:
        """Row of the given data that is shown at `row`."""
        return int(self._order[row])

    def shown_row(self, source: int) -> int:
        """Where a row of the given data is shown, -1 when filtered out."""
        hits = np.flatnonzero(self._order == source)
        return int(hits[0]) if len(hits) else -1

    def columns(self) -> dict[str, np.ndarray]:
        """The columns as given."""
        return dict(zip(self._names, self._columns))

    def to_csv(self, path: str | Path) -> int:
        """Write the shown rows with full precision, "." as decimal mark; how many cells were guarded."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = CsvWriter(file)
            writer.row(self._names)
            for row in self._order:
                writer.row([_exact(column[row]) for column in self._columns])
        return writer.guarded

    def forget_pixmaps(self) -> None:
        """Drop swatches drawn in the colours of another scheme."""
        self._pixmaps.clear()

    def _rebuild(self) -> None:
        self.layoutAboutToBeChanged.emit()
        before = [(i, self.source_row(i.row())) for i in self.persistentIndexList()]
        self._reorder()
        for old, source in before:
            row = self.shown_row(source)
            new = self.index(row, old.column()) if row >= 0 else QModelIndex()
            self.changePersistentIndex(old, new)
        self.layoutChanged.emit()

    def _reorder(self) -> None:
        length = len(self._columns[0]) if self._columns else 0
        order = np.arange(length)
        if self._sorted is not None:
            column, direction = self._sorted
            order = _argsort(self._columns[column], direction == Qt.SortOrder.DescendingOrder)
        if self._filter:
            texts = [c for c in self._columns if c.dtype.kind not in "iuf"] or self._columns
            keep = np.zeros(length, dtype=bool)
            for values in texts:
                keep |= np.fromiter((self._filter in findable(v) for v in values), bool, length)
            order = order[keep[order]]
        self._order = order

    def _decoration(self, row: int) -> object:
        if self._status is not None and self._status[row] in STATUS_ICONS:
            return icon(*STATUS_ICONS[self._status[row]])
        if self._status is not None and self._swatch is None and any(s in STATUS_ICONS for s in self._status):
            return _no_icon()
        key = self._swatch[row] if self._swatch is not None else None
        if key is None:
            return None
        if key not in self._pixmaps:
            self._pixmaps[key] = _swatch_pixmap(key)
        return self._pixmaps[key]


def _no_icon() -> QIcon:
    """An empty icon, so that words of rows without one stand below those of rows with one."""
    picture = QPixmap(size.ICON, size.ICON)
    picture.fill(Qt.GlobalColor.transparent)
    return QIcon(picture)


def _swatch_pixmap(key: int | str) -> QPixmap:
    colour: QColor = theme().category(key) if isinstance(key, int) else theme().color(key)
    ratio = screen_ratio()
    picture = QPixmap(round(12 * ratio), round(12 * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(colour)
    painter.drawRoundedRect(0, 0, 12, 12, 2, 2)
    painter.end()
    return picture


def _as_column(values: Any) -> np.ndarray:
    """Numbers (None counts as missing) become a numeric array, all else objects."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return values
    values = list(values)
    present = [v for v in values if v is not None]
    if present and all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in present):
        missing = len(present) < len(values)
        return np.array([np.nan if v is None else v for v in values] if missing else values)
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _argsort(values: np.ndarray, descending: bool) -> np.ndarray:
    if values.dtype.kind in "iuf":
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        key = np.where(missing, 0, values).astype(float)
        return np.lexsort((np.arange(len(values)), -key if descending else key, missing))
    texts = ["" if v is None else str(v).casefold() for v in values]
    order = sorted(range(len(texts)), key=texts.__getitem__, reverse=descending)
    return np.array(order, dtype=np.intp)


def _exact(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    missing = value is None or (isinstance(value, float) and np.isnan(value))
    return "" if missing else value
