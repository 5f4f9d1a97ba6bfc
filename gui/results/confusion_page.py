"""True against predicted classes: counts with their shares of the row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from plaidwork.core.draws.assessment import confusion, score, wilson
from plaidwork.gui.numbers import format_count, format_percent
from plaidwork.gui.results.assessed_page import AssessedPage
from plaidwork.gui.results.chart import Chart, elided
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.option_row import OptionRow, page_content
from plaidwork.gui.results.show_data import Content, MatrixData
from plaidwork.gui.theme import ink_on, space, theme
from plaidwork.gui.widgets import ColorBar

_WIDEST, _TALLEST = 150.0, 96.0


class ConfusionChart(Chart):
    """Cells coloured by the share of their row, with the count and the share."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.counts = np.zeros((0, 0), dtype=np.int64)
        self.names: tuple[str, ...] = ()
        self.current: tuple[int, int] = (-1, -1)

    def set_counts(self, counts: np.ndarray, names: tuple[str, ...]) -> None:
        """Show (C, C) counts: true class down, predicted across."""
        self.counts, self.names, self.current = counts, names, (-1, -1)
        right = int(np.trace(counts))
        self.setAccessibleName(f"Confusion of {len(names)} classes: {right} of {int(counts.sum())} right")
        self.update()

    @property
    def shares(self) -> np.ndarray:
        """(C, C) shares of the rows, NaN in a row without items."""
        total = self.counts.sum(axis=1, keepdims=True)
        return np.where(total > 0, self.counts / np.maximum(total, 1), np.nan)

    def cells(self) -> QRectF:
        """Where the cells are."""
        metrics, size = self.caption_metrics, max(len(self.names), 1)
        widest = max((metrics.horizontalAdvance(name) for name in self.names), default=0)
        left = RING + metrics.height() + space.S + min(widest, self.width() * 0.25) + space.M
        top = RING + 2 * metrics.height() + space.M
        total = metrics.horizontalAdvance("of 100 000") + space.L
        width = min((self.width() - left - RING - total) / size, _WIDEST)
        height = min((self.height() - top - RING) / size, _TALLEST)
        return QRectF(left, top, max(width, 8) * size, max(height, 8) * size)

    def cell_rect(self, row: int, column: int) -> QRectF:
        """Place of a cell."""
        whole, size = self.cells(), len(self.names)
        wide, high = whole.width() / size, whole.height() / size
        return QRectF(whole.left() + column * wide, whole.top() + row * high, wide, high)

    def text(self, row: int, column: int) -> str:
        """A cell in words."""
        count, total = int(self.counts[row, column]), int(self.counts[row].sum())
        share, low, high = wilson(count, total)
        text = f"{self.names[row]} taken for {self.names[column]}: {format_count(count)} of {format_count(total)}"
        if row == column:
            text = f"{self.names[row]} found: {format_count(count)} of {format_count(total)}"
        if total:
            text += f", {format_percent(share, 1)} ({format_percent(low, 1)} to {format_percent(high, 1)})"
        return text

    def paintEvent(self, event: QPaintEvent) -> None:
        if not len(self.names):
            return
        painter, colors, metrics = QPainter(self), theme(), self.caption_metrics
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole, shares = self.cells(), self.shares
        painter.setFont(colors.font("caption"))
        painter.setPen(colors.color("muted"))
        head = QRectF(whole.left(), RING, whole.width(), metrics.height())
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft, "predicted class")
        painter.save()
        painter.translate(RING, whole.top())
        painter.rotate(-90)
        side = QRectF(-whole.height(), 0, whole.height(), metrics.height())
        painter.drawText(side, Qt.AlignmentFlag.AlignRight, "true class")
        painter.restore()
        for k, name in enumerate(self.names):
            self._paint_names(painter, k, name, whole)
        for row in range(len(self.names)):
            for column in range(len(self.names)):
                self._paint_cell(painter, row, column, float(shares[row, column]))
        self.paint_focus(painter)
        painter.end()

    def _paint_names(self, painter: QPainter, k: int, name: str, whole: QRectF) -> None:
        metrics = self.caption_metrics
        across, down = self.cell_rect(0, k), self.cell_rect(k, 0)
        painter.setPen(theme().color("text"))
        box = QRectF(
            across.left(), whole.top() - metrics.height() - space.XS, across.width(), metrics.height()
        )
        painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, elided(metrics, name, across.width() - 4))
        left = RING + metrics.height() + space.S
        box = QRectF(left, down.top(), whole.left() - left - space.S, down.height())
        flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, flags, elided(metrics, name, box.width()))
        painter.setPen(theme().color("muted"))
        box = QRectF(whole.right() + space.S, down.top(), self.width() - whole.right(), down.height())
        total = format_count(float(self.counts[k].sum()))
        painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, f"of {total}")

    def _paint_cell(self, painter: QPainter, row: int, column: int, share: float) -> None:
        box = self.cell_rect(row, column).adjusted(1, 1, -1, -1)
        known = share == share
        step = theme().lut("tide")[int(np.clip(share if known else 0, 0, 1) * 255)]
        ground = QColor(*(int(part) for part in step[:3])) if known else theme().color("border")
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawRoundedRect(box, 3, 3)
        if (row, column) == self.current:
            painter.setPen(QPen(theme().color("text"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 3, 3)
        painter.setPen(ink_on(ground))
        caption, high = self.caption_metrics, box.height()
        count = format_count(float(self.counts[row, column]))
        percent = format_percent(share) if known else ""
        if caption.horizontalAdvance(count) + 4 > box.width() or high < caption.height():
            return
        if high < 2.6 * caption.height() or caption.horizontalAdvance(percent) + 4 > box.width():
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, count)
            return
        middle = box.center().y()
        painter.setFont(theme().font("strong"))
        above = QRectF(box.left(), middle - caption.height() * 1.2, box.width(), caption.height() * 1.2)
        painter.drawText(above, Qt.AlignmentFlag.AlignCenter, count)
        painter.setFont(theme().font("caption"))
        below = QRectF(box.left(), middle, box.width(), caption.height() * 1.2)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, percent)

    # -- pointer and keys -----------------------------------------------------------------------
    def cell_at(self, at: QPointF) -> tuple[int, int]:
        """Cell under a point; (-1, -1) beside them."""
        whole, size = self.cells(), len(self.names)
        if not size or not whole.contains(at):
            return -1, -1
        row = int((at.y() - whole.top()) / whole.height() * size)
        column = int((at.x() - whole.left()) / whole.width() * size)
        return min(row, size - 1), min(column, size - 1)

    def show_cell(self, row: int, column: int) -> None:
        """Mark a cell and tell it."""
        if (row, column) != self.current:
            self.current = (row, column)
            self.hovered.emit(self.text(row, column) if row >= 0 else "")
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.show_cell(*self.cell_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.show_cell(-1, -1)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk over the cells."""
        steps = {
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
        }
        step = steps.get(Qt.Key(event.key()))
        if step is None or not len(self.names):
            super().keyPressEvent(event)
            return
        last = len(self.names) - 1
        row, column = (0, 0) if self.current[0] < 0 else (self.current[k] + step[k] for k in (0, 1))
        self.show_cell(min(max(row, 0), last), min(max(column, 0), last))


class ConfusionPage(AssessedPage):
    """Roles of an `AssessedPage`; the most probable class is the predicted one."""

    icon_name = "confusion"
    each_class = False

    def build(self) -> QWidget:
        self._build_common()
        self.chart = ConfusionChart()
        self.chart.hovered.connect(self.hovered)
        self.bar = ColorBar("tide")
        self.bar.set_label("share of the true class")
        self.bar.set_limits("0", "50 %", "100 %")
        options = OptionRow(self._class_field, self._part_field)
        return page_content(options, self.chart, self._foot, self.bar)

    def _draw(self) -> None:
        data = self.judged
        self.chart.set_counts(confusion(data.codes, data.probability), data.classes)
        self._foot.setText(self._items())

    def default_headline(self) -> str:
        if not self.loaded or not len(self.loaded.codes):
            return self.view.title
        data = self.judged
        return score(data.codes, data.probability).told(self.what)

    def figure_parts(self) -> Sequence[Sequence[QWidget]]:
        return [[self.chart], [self._foot, self.bar]]

    def data_content(self) -> tuple[Content, Mapping[str, Callable[[Any], str]]]:
        names = self.loaded.classes
        return MatrixData(self.chart.counts, names, names, "true class \\ predicted class"), {}
