"""A scatter chart over the groups of a mixture and the lines at which a classifier decides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from plaidwork.gui.results.chart import Scale
from plaidwork.gui.results.scatter_chart import ScatterChart
from plaidwork.gui.theme import theme

_CROSS = 5


@dataclass(frozen=True)
class Overlay:
    """Pieces of lines (p, 2), and circles: (c, 3) of x, y and radius, each with a name; vertical and horizontal lines."""

    lines: tuple[np.ndarray, ...] = ()
    circles: np.ndarray | None = None
    names: tuple[str, ...] = ()
    across: np.ndarray | None = None
    """Heights of faint lines from left to right."""


class ScoreChart(ScatterChart):
    """Points with lines and circles beneath and above them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.overlay = Overlay()

    def set_overlay(self, overlay: Overlay) -> None:
        """Show other lines and circles."""
        self.overlay = overlay
        self.update()

    def _paint_under(self, painter: QPainter, area: QRectF, x: Scale, y: Scale) -> None:
        if self.overlay.across is None:
            return
        painter.save()
        painter.setClipRect(area)
        painter.setPen(QPen(theme().color("control"), 1, Qt.PenStyle.DashLine))
        for height in self.overlay.across:
            at = round(y.at(float(height))) + 0.5
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
        painter.restore()

    def _paint_over(self, painter: QPainter, area: QRectF) -> None:
        if self.points is None or not (self.overlay.lines or self.overlay.circles is not None):
            return
        x, y = self.scales()
        painter.save()
        painter.setClipRect(area)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for width, token in ((4.6, "surface"), (2.4, "text")):
            painter.setPen(QPen(theme().color(token), width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            for line in self.overlay.lines:
                places = zip(x.all_at(line[:, 0]).tolist(), y.all_at(line[:, 1]).tolist())
                painter.drawPolyline(QPolygonF([QPointF(a, b) for a, b in places]))
        if self.overlay.circles is not None:
            self._paint_circles(painter, area, x, y)
        painter.restore()

    def _paint_circles(self, painter: QPainter, area: QRectF, x: Scale, y: Scale) -> None:
        assert self.overlay.circles is not None
        metrics = self.caption_metrics
        painter.setFont(theme().font("caption"))
        for (a, b, r), name in zip(self.overlay.circles.tolist(), self.overlay.names):
            middle = QPointF(x.at(a), y.at(b))
            wide, high = abs(x.at(a + r) - middle.x()), abs(y.at(b + r) - middle.y())
            for width, token in ((3.6, "surface"), (1.6, "text")):
                painter.setPen(QPen(theme().color(token), width, Qt.PenStyle.DashLine))
                painter.drawEllipse(middle, wide, high)
                painter.setPen(QPen(theme().color(token), width))
                for dx, dy in ((_CROSS, 0), (0, _CROSS)):
                    painter.drawLine(middle - QPointF(dx, dy), middle + QPointF(dx, dy))
            if not area.contains(middle):
                continue
            room = metrics.horizontalAdvance(name) + 8
            left = min(middle.x() + _CROSS + 2, area.right() - room)
            tag = QRectF(left, middle.y() - metrics.height() - 4, room, metrics.height() + 2)
            ground = theme().color("surface")
            ground.setAlphaF(0.85)
            painter.fillRect(tag, ground)
            painter.setPen(theme().color("text"))
            painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, name)
