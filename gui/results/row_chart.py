"""Base of charts of named rows that scroll: places, bar, pointer and keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from plaidwork.gui.results.chart import Chart
from plaidwork.gui.theme import theme

_TALLEST = 36


class RowChart(Chart):
    """Rows of one height, as many as fit; the others are reached by wheel, bar and keys.

    Signals
    -------
    picked : index (into all items) of the row that was clicked, or -1
    """

    picked = Signal(int)
    least_row = 24
    """Pixels of a row at least."""
    tallest_row = _TALLEST

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.current = -1
        self.marked: frozenset[int] = frozenset()
        self.bar = QScrollBar(Qt.Orientation.Vertical, self)
        self.bar.valueChanged.connect(self.update)
        self.bar.hide()

    # -- for subclasses -------------------------------------------------------------------------
    def row_count(self) -> int:
        """Rows in all; 0 while nothing is shown."""
        raise NotImplementedError

    def item_of(self, row: int) -> int:
        """Index into all items of a row."""
        raise NotImplementedError

    def row_text(self, row: int) -> str:
        """A row in words."""
        raise NotImplementedError

    def head_height(self) -> float:
        """Pixels above the rows."""
        raise NotImplementedError

    def axis_name(self) -> str:
        """Name of the axis below the rows."""
        raise NotImplementedError

    # -- places ---------------------------------------------------------------------------------
    def body(self) -> QRectF:
        """Where the rows are."""
        head = self.head_height()
        room = max(self.height() - head - self.bottom_room(self.axis_name()), self.least_row)
        return QRectF(0, head, self.width(), room)

    def row_height(self) -> float:
        """Rows share what there is, within limits."""
        share = self.body().height() / max(self.row_count(), 1)
        return min(max(share, self.least_row), max(self.tallest_row, self.least_row))

    def rows_in_view(self) -> int:
        """Rows that fit."""
        return max(1, int(self.body().height() / self.row_height() + 1e-6))

    def shown_rows(self) -> range:
        """Rows in view."""
        first = self.bar.value()
        return range(first, min(first + self.rows_in_view(), self.row_count()))

    def fit_bar(self) -> None:
        """Give the scroll bar its range and place."""
        total, rows = self.row_count(), self.rows_in_view()
        self.bar.setRange(0, max(0, total - rows))
        self.bar.setPageStep(rows)
        self.bar.setVisible(total > rows)
        body, width = self.body(), self.bar.sizeHint().width()
        self.bar.setGeometry(self.width() - width, int(body.top()), width, int(body.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_bar()

    def restyle(self) -> None:
        self.fit_bar()
        self.update()

    def row_at(self, at: QPointF) -> int:
        """Number of the row under a point, -1 when none."""
        body = self.body()
        if not self.row_count() or not body.contains(at):
            return -1
        row = int((at.y() - body.top()) / self.row_height()) + self.bar.value()
        return row if row in self.shown_rows() else -1

    def set_marked(self, items: tuple[int, ...]) -> None:
        """Mark these items (selected, or found by a search) and scroll to the first."""
        self.marked = frozenset(items)
        first = next((row for row in range(self.row_count()) if self.item_of(row) in self.marked), -1)
        if first >= 0:
            self.scroll_to(first)
        self.update()

    def scroll_to(self, row: int) -> None:
        """Bring a row into view."""
        first = self.bar.value()
        self.bar.setValue(min(max(first, row - self.rows_in_view() + 1), row))

    def show_row(self, row: int) -> None:
        """Mark a row and tell it."""
        if row != self.current and self.row_count():
            self.current = row
            self.hovered.emit(self.row_text(row) if row >= 0 else "")
            self.update()

    # -- pointer and keys -----------------------------------------------------------------------
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.show_row(self.row_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.show_row(-1)
        super().leaveEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A row chooses its item; chosen again, or elsewhere, none."""
        if event.button() == Qt.MouseButton.LeftButton and self.row_count():
            row = self.row_at(event.position())
            item = self.item_of(row) if row >= 0 else -1
            self.picked.emit(-1 if item in self.marked else item)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll three rows per notch."""
        if self.bar.isVisible():
            self.bar.setValue(self.bar.value() - round(event.angleDelta().y() / 40))
            event.accept()
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down walk over the rows, Enter chooses."""
        rows = self.rows_in_view()
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -rows, Qt.Key.Key_PageDown: rows}
        step = steps.get(Qt.Key(event.key()), 0)
        if step and self.row_count():
            row = min(max(self.current + step, 0), self.row_count() - 1)
            self.scroll_to(row)
            self.show_row(row)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current >= 0:
            self.picked.emit(self.item_of(self.current))
        else:
            super().keyPressEvent(event)


def strong_height() -> int:
    """Height of a strong line."""
    return QFontMetrics(theme().font("strong")).height()
