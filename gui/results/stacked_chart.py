"""Shares of one stacked to the whole along an axis: areas that meet, named at the right."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF

from plaidwork.gui.results.chart import Scale
from plaidwork.gui.results.curve_chart import CurveChart
from plaidwork.gui.theme import theme


class StackedChart(CurveChart):
    """The curves of a `CurveChart` as a stack from 0 to 1, the first at the bottom."""

    def scales(self) -> tuple[Scale, Scale]:
        x, y = super().scales()
        return x, Scale(0, 1, y.start, y.end, 50)

    def edges(self) -> np.ndarray:
        """(K + 1, t) heights between the curves."""
        assert self.curves is not None
        return np.vstack([np.zeros(len(self.curves.x)), np.cumsum(self.curves.values, axis=0)])

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.curves is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, y = self.scales()
        area = QRectF(QPointF(x.start, y.end), QPointF(x.end, y.start))
        self.paint_left_axis(painter, area, y, self.curves.y_name)
        self.paint_bottom_axis(painter, area, x, self.curves.x_name)
        along, heights = x.all_at(self.curves.x), y.all_at(self.edges())
        painter.setPen(QPen(theme().color("surface"), 1))
        for k in range(len(self.curves.values)):
            low = [QPointF(a, b) for a, b in zip(along, heights[k])]
            high = [QPointF(a, b) for a, b in zip(along, heights[k + 1])]
            painter.setBrush(self.color(k))
            painter.drawPolygon(QPolygonF([*low, *reversed(high)]))
        self.paint_marks(painter, area, x, "surface", 1.4)  # over the areas
        middle = (heights[:-1, -1] + heights[1:, -1]) / 2
        self.paint_names(painter, area, [(float(at), k) for k, at in enumerate(middle)])
        k, i = self.current
        if k >= 0:
            at = float(along[i])
            painter.setPen(QPen(theme().color("text"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()))
            painter.setPen(QPen(theme().color("text"), 2))
            painter.drawLine(QPointF(at, heights[k, i]), QPointF(at, heights[k + 1, i]))
        self.paint_focus(painter)
        painter.end()

    def position_at(self, at: QPointF) -> tuple[int, int]:
        """(curve, place) under a point; -1, -1 outside of the picture."""
        if self.curves is None or not len(self.curves.x):
            return -1, -1
        x, y = self.scales()
        if not (x.start <= at.x() <= x.end and y.end <= at.y() <= y.start):
            return -1, -1
        i = int(np.argmin(np.abs(x.all_at(self.curves.x) - at.x())))
        k = int(np.searchsorted(self.edges()[1:, i], y.value(at.y())))
        return min(k, len(self.curves.values) - 1), i
