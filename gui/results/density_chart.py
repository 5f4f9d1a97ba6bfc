"""Densities of one number by class, labelled at their peaks."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.pictures.densities import Density
from plaidwork.gui.numbers import format_number
from plaidwork.gui.results.chart import Chart, Scale, elided
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.theme import space, theme

_HIGH = 172


class DensityChart(Chart):
    """Filled curves on one axis, each with its name above its peak."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.curves: tuple[Density, ...] = ()
        self.axis = ""
        self.setFixedHeight(_HIGH)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def sizeHint(self) -> QSize:
        return QSize(300, _HIGH)

    def set_curves(self, curves: tuple[Density, ...], axis: str) -> None:
        """Show other curves over an axis of this name."""
        self.curves, self.axis = curves, axis
        text = ", ".join(f"{c.name}: median {format_number(c.median, 3)}" for c in curves)
        self.setAccessibleName(f"Distribution of the {axis} by class. {text}")
        self.update()

    def _area(self) -> QRectF:
        top = RING + self.caption_metrics.height() + space.XS
        return QRectF(RING, top, self.width() - 2 * RING, self.height() - top - self.bottom_room(self.axis))

    def scale(self) -> Scale:
        """The axis."""
        area, x = self._area(), self.curves[0].x
        return Scale(float(x[0]), float(x[-1]), area.left(), area.right())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self.curves:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            area, scale = self._area(), self.scale()
            most = max(float(c.y.max()) for c in self.curves) or 1.0
            for curve in self.curves:
                color = theme().color(curve.thread)
                points = [
                    QPointF(scale.at(x), area.bottom() - y / most * area.height())
                    for x, y in zip(curve.x, curve.y)
                ]
                fill = QColor(color)
                fill.setAlphaF(0.22)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(fill)
                ends = (QPointF(points[0].x(), area.bottom()), QPointF(points[-1].x(), area.bottom()))
                painter.drawPolygon(QPolygonF([ends[0], *points, ends[1]]))
                painter.setPen(QPen(color, 1.6))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawPolyline(QPolygonF(points))
            self.paint_bottom_axis(painter, area, scale, self.axis)
            self._paint_names(painter, area, scale, most)
        painter.end()

    def _paint_names(self, painter: QPainter, area: QRectF, scale: Scale, most: float) -> None:
        font = theme().font("caption")
        font.setWeight(QFont.Weight.DemiBold)
        painter.setFont(font)
        metrics = painter.fontMetrics()
        taken: list[QRectF] = []
        for curve in sorted(self.curves, key=lambda c: -float(c.y.max())):
            peak = int(curve.y.argmax())
            text = elided(self.caption_metrics, curve.name, area.width() / 2)
            wide, high = metrics.horizontalAdvance(text) + 2, metrics.height()
            left = min(max(scale.at(float(curve.x[peak])) - wide / 2, area.left()), area.right() - wide)
            top = area.bottom() - float(curve.y[peak]) / most * area.height() - high - 2
            box = QRectF(left, max(top, 0), wide, high)
            for other in taken:
                if box.intersects(other):
                    right = other.right() + space.S
                    box.moveLeft(right if right + wide <= area.right() else other.left() - space.S - wide)
            taken.append(box)
            painter.setPen(theme().color(curve.thread if curve.thread != "neutral" else "muted"))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if not self.curves:
            return
        value = self.scale().value(event.position().x())
        parts = [f"{c.name}, {c.count} items, median {format_number(c.median, 3)}" for c in self.curves]
        self.hovered.emit(f"{self.axis} {format_number(value, 3)}; {'; '.join(parts)}")
