"""Posterior densities in small panels side by side, each with its prior, median and interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QWidget

from plaidwork.gui.numbers import format_number, nice_ticks
from plaidwork.gui.results.chart import Chart, elided
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.theme import space, theme

_LEAST_WIDE, _HIGH, _GAP = 250.0, 136.0, space.L


@dataclass(frozen=True)
class Posterior:
    """One quantity: its density, those of the chains, and its prior, all as (x, y) on the axis drawn.

    Attributes
    ----------
    low, median, high : quantiles 5, 50 and 95 % on the axis drawn. prior_low, prior_high : those of the prior, or NaN.
    log : whether the axis drawn is that of the logarithm.
    """

    name: str
    density: tuple[np.ndarray, np.ndarray]
    chains: tuple[tuple[np.ndarray, np.ndarray], ...]
    prior: tuple[np.ndarray, np.ndarray] | None
    low: float
    median: float
    high: float
    prior_low: float
    prior_high: float
    log: bool

    def number(self, value: float) -> str:
        """A place on the axis as the value there."""
        return format_number(math.exp(value) if self.log else value, 3)

    @property
    def text(self) -> str:
        """``0.16 (0.06 to 0.66)``."""
        return f"{self.number(self.median)} ({self.number(self.low)} to {self.number(self.high)})"

    @property
    def description(self) -> str:
        """The quantity in words."""
        text = f"{self.name}: median {self.number(self.median)}, 90 % from {self.number(self.low)} to {self.number(self.high)}"
        if self.prior_low == self.prior_low:
            text += f"; prior {self.number(self.prior_low)} to {self.number(self.prior_high)}"
        return text

    @property
    def limits(self) -> tuple[float, float]:
        """The part of the axis shown: where the posterior is, and most of the prior."""
        x = self.density[0]
        low, high = float(x[0]), float(x[-1])
        if self.prior is not None:
            where = self.prior[0][self.prior[1] > 0.02 * self.prior[1].max()]
            low, high = min(low, float(where[0])), max(high, float(where[-1]))
        return low, high


class PosteriorGrid(Chart):
    """Panels in as many columns as there is room for. Arrows walk over them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.panels: tuple[Posterior, ...] = ()
        self.current = -1

    def set_panels(self, panels: tuple[Posterior, ...]) -> None:
        """Show other quantities."""
        self.panels = panels
        self.current = min(self.current, len(panels) - 1)
        self.setAccessibleName(f"Posterior and prior of {len(panels)} quantities")
        self._fit()
        self.update()

    def across(self) -> int:
        """Panels in a row."""
        room = int((self.width() - 2 * RING + _GAP) / (_LEAST_WIDE + _GAP))
        rows = math.ceil(len(self.panels) / max(room, 1))
        return max(1, math.ceil(len(self.panels) / max(rows, 1)))  # rows of about equal length

    def _fit(self) -> None:
        rows = math.ceil(len(self.panels) / self.across()) if self.panels else 1
        self.setMinimumHeight(int(rows * (_HIGH + _GAP) + 2 * RING))

    def sizeHint(self) -> QSize:
        return QSize(560, self.minimumHeight())

    def minimumSizeHint(self) -> QSize:
        return QSize(200, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)

    def rect_of(self, k: int) -> QRectF:
        """Place of a panel."""
        across = self.across()
        wide = (self.width() - 2 * RING - (across - 1) * _GAP) / across
        rows = math.ceil(len(self.panels) / across)
        high = min((self.height() - 2 * RING - rows * _GAP) / rows, 2 * _HIGH)
        return QRectF(
            RING + (k % across) * (wide + _GAP), RING + (k // across) * (high + _GAP), min(wide, 640), high
        )

    # -- painting -------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for k, panel in enumerate(self.panels):
            rect = self.rect_of(k)
            if rect.intersects(QRectF(event.rect())):
                self._paint_panel(painter, panel, rect, k == self.current)
        self.paint_focus(painter)
        painter.end()

    def _paint_panel(self, painter: QPainter, panel: Posterior, rect: QRectF, current: bool) -> None:
        colors, metrics = theme(), self.caption_metrics
        line = metrics.height()
        value = panel.text
        if metrics.horizontalAdvance(value + panel.name) + space.L > rect.width():
            value = panel.number(panel.median)
        wide = metrics.horizontalAdvance(value) + 2
        painter.setFont(colors.font("caption"))
        painter.setPen(colors.color("muted"))
        painter.drawText(
            QRectF(rect.right() - wide, rect.top(), wide, line), Qt.AlignmentFlag.AlignRight, value
        )
        painter.setPen(colors.color("link" if current else "text"))
        room = rect.width() - wide - space.M
        painter.drawText(
            QRectF(rect.left(), rect.top(), room, line),
            Qt.AlignmentFlag.AlignLeft,
            elided(metrics, panel.name, room),
        )
        area = QRectF(
            rect.left(), rect.top() + line + space.S, rect.width(), rect.height() - 2 * line - 2 * space.S
        )
        low, high = panel.limits
        curves = [panel.density, *panel.chains] + ([panel.prior] if panel.prior is not None else [])
        most = max(float(y.max()) for _, y in curves) or 1.0

        def line_of(curve: tuple[np.ndarray, np.ndarray]) -> list[QPointF]:
            inside = (curve[0] >= low) & (curve[0] <= high)
            return [
                QPointF(
                    area.left() + (a - low) / (high - low) * area.width(),
                    area.bottom() - b / most * area.height(),
                )
                for a, b in zip(curve[0][inside], curve[1][inside], strict=True)
            ]

        ink = colors.category(0)
        fill = QColor(ink)
        fill.setAlphaF(0.22)
        top = line_of(panel.density)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(
            QPolygonF([QPointF(top[0].x(), area.bottom()), *top, QPointF(top[-1].x(), area.bottom())])
        )
        painter.setBrush(Qt.BrushStyle.NoBrush)
        thin = QColor(ink)
        thin.setAlphaF(0.5)
        painter.setPen(QPen(thin, 1))
        for chain in panel.chains:
            painter.drawPolyline(QPolygonF(line_of(chain)))
        painter.setPen(QPen(ink, 1.8))
        painter.drawPolyline(QPolygonF(top))
        if panel.prior is not None:
            painter.setPen(QPen(colors.color("text"), 1.4, Qt.PenStyle.DashLine))
            painter.drawPolyline(QPolygonF(line_of(panel.prior)))
        self._paint_foot(painter, panel, area)

    def _paint_foot(self, painter: QPainter, panel: Posterior, area: QRectF) -> None:
        """Axis with ticks, and on it the median and the interval."""
        colors, metrics = theme(), self.caption_metrics
        low, high = panel.limits

        def at(value: float) -> float:
            return area.left() + (value - low) / (high - low) * area.width()

        y = area.bottom()
        painter.setPen(QPen(colors.color("axis"), 1))
        painter.drawLine(QPointF(area.left(), round(y) + 0.5), QPointF(area.right(), round(y) + 0.5))
        painter.setPen(QPen(colors.category(0), 3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawLine(QPointF(at(panel.low), y), QPointF(at(panel.high), y))
        painter.setPen(QPen(colors.color("surface"), 1))
        painter.setBrush(colors.category(0))
        painter.drawEllipse(QPointF(at(panel.median), y), 4.5, 4.5)
        painter.setPen(colors.color("muted"))
        right = -1e9
        for value in log_ticks(low, high) if panel.log else nice_ticks(low, high, 4):
            text = panel.number(value)
            wide = metrics.horizontalAdvance(text)
            left = min(max(at(value) - wide / 2, area.left()), area.right() - wide)
            if left > right + space.M and area.left() <= at(value) <= area.right():
                painter.drawText(QPointF(left, y + space.S + metrics.ascent()), text)
                right = left + wide

    # -- pointer and keys -----------------------------------------------------------------------
    def panel_at(self, at: QPointF) -> int:
        """Number of the panel under a point; -1 when none."""
        return next((k for k in range(len(self.panels)) if self.rect_of(k).contains(at)), -1)

    def show_panel(self, k: int) -> None:
        """Mark a panel and tell it."""
        if k != self.current:
            self.current = k
            self.hovered.emit(self.panels[k].description if k >= 0 else "")
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.show_panel(self.panel_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.show_panel(-1)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk over the panels."""
        keys = Qt.Key
        step = {
            keys.Key_Right: 1,
            keys.Key_Left: -1,
            keys.Key_Down: self.across(),
            keys.Key_Up: -self.across(),
        }
        by = step.get(keys(event.key()), 0)
        if by and self.panels:
            self.show_panel(min(max(self.current + by, 0), len(self.panels) - 1))
        else:
            super().keyPressEvent(event)


def log_ticks(low: float, high: float) -> list[float]:
    """Natural logarithms of round numbers between two: powers of ten, with twos and fives where there are few."""
    first, last = math.floor(low / math.log(10)), math.ceil(high / math.log(10))
    for steps in ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0), tuple(np.arange(1.0, 10.0, 0.5))):
        found = [math.log(s) + k * math.log(10) for k in range(first, last + 1) for s in steps]
        inside = [value for value in found if low <= value <= high]
        if len(inside) >= 3:
            return inside[:: max(1, math.ceil(len(inside) / 5))]
    return inside or [(low + high) / 2]
