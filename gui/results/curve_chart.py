"""Chart of one curve or a few, with bands, along an axis."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from plaidwork.gui.monitor.decimate import decimate
from plaidwork.gui.numbers import format_interval, format_number
from plaidwork.gui.results.chart import Chart, Scale, elided, padded
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.marks import area_colors
from plaidwork.gui.theme import space, theme

_POINTS = 2000
_RUG, _MOST_TICKS = 7.0, 3000


@dataclass(frozen=True)
class Curves:
    """(K, t) values along ``x`` with bands (K, t, 2) or None; ``x`` rises.

    Attributes
    ----------
    marks : places with a line across. rug : places of the data, as ticks on the axis.
    by_class : whether each curve is of a class.
    columns : names of the columns of the input that may be chosen, ``column`` the one along which the curves run.
    """

    x: np.ndarray
    values: np.ndarray
    intervals: np.ndarray | None
    names: tuple[str, ...]
    x_name: str
    y_name: str
    doc: str
    marks: np.ndarray = field(default_factory=lambda: np.zeros(0))
    rug: np.ndarray = field(default_factory=lambda: np.zeros(0))
    columns: tuple[str, ...] = ()
    column: int = 0
    by_class: bool = False

    @property
    def shares(self) -> bool:
        """Whether the curves are probabilities that sum to one everywhere."""
        v = self.values
        return len(v) > 1 and bool(
            np.isfinite(v).all() and v.min() >= 0 and abs(v.sum(axis=0) - 1).max() < 1e-6
        )

    def text(self, k: int, i: int) -> str:
        """One place of a curve in words."""
        text = f"{self.names[k]}, {self.x_name} {format_number(float(self.x[i]), 5)}: "
        text += format_number(float(self.values[k, i]), 4)
        if self.intervals is not None:
            low, high = (float(v) for v in self.intervals[k, i])
            text += f", interval {format_interval(low, high, 2 if max(abs(low), abs(high)) >= 0.1 else 4)}"
        return text


class CurveChart(Chart):
    """Curves with bands; names stand at the right end, hover reads the nearest place."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.curves: Curves | None = None
        self.shown: tuple[int, ...] = ()
        self.current = (-1, -1)

    def set_curves(self, curves: Curves, shown: tuple[int, ...]) -> None:
        """Show some of these curves."""
        self.curves, self.shown, self.current = curves, shown, (-1, -1)
        self.setAccessibleName(f"{len(shown)} curves of {curves.y_name} along {curves.x_name}")
        self.update()

    def scales(self) -> tuple[Scale, Scale]:
        """Of x and y, in pixels of this widget."""
        assert self.curves is not None
        curves, at = self.curves, list(self.shown)
        heights = curves.values[at].ravel()
        if curves.intervals is not None:
            heights = np.append(heights, curves.intervals[at].ravel())
        low, high = (0.0, 1.0) if curves.shares else padded(heights)
        if low < 0 <= float(np.nanmin(heights, initial=np.inf)):
            low = 0.0
        y = Scale(low, high, self.height() - self.bottom_room(curves.x_name), RING + space.S, 50)
        right = float(self.width() - RING - space.M)
        if len(at) > 1:
            metrics = self.caption_metrics
            right -= min(max(metrics.horizontalAdvance(curves.names[k]) for k in at), 140) + space.S
        x_low, x_high = padded(curves.x, share=0.0)
        return Scale(x_low, x_high, self.left_room(y, curves.y_name), right), y

    def color(self, k: int) -> QColor:
        """Colour of a curve: of its class, or by its place among those shown."""
        if self.curves is not None and self.curves.by_class:
            return area_colors(len(self.curves.values))[k]
        return theme().category(self.shown.index(k) if len(self.shown) > 1 else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.curves is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, y = self.scales()
        area = QRectF(QPointF(x.start, y.end), QPointF(x.end, y.start))
        self.paint_left_axis(painter, area, y, self.curves.y_name)
        if y.low < 0 < y.high:
            painter.setPen(QPen(theme().color("axis"), 1))
            at = round(y.at(0)) + 0.5
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
        self.paint_marks(painter, area, x)
        self.paint_bottom_axis(painter, area, x, self.curves.x_name)
        for k in self.shown:
            self._paint_band(painter, k, x, y)
        for k in self.shown:
            self._paint_line(painter, k, x, y)
        if len(self.shown) > 1:
            self.paint_names(painter, area, self._ends(y))
        k, i = self.current
        if k >= 0:
            at_point = QPointF(x.at(float(self.curves.x[i])), y.at(float(self.curves.values[k, i])))
            painter.setPen(QPen(theme().color("axis"), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(at_point.x(), area.top()), QPointF(at_point.x(), area.bottom()))
            painter.setPen(QPen(theme().color("surface"), 1))
            painter.setBrush(self.color(k))
            painter.drawEllipse(at_point, 5, 5)
        self.paint_focus(painter)
        painter.end()

    def paint_marks(
        self, painter: QPainter, area: QRectF, x: Scale, color: str = "control", width: float = 1.0
    ) -> None:
        """Lines across at the marks, ``width`` wide, and ticks where the data are."""
        assert self.curves is not None
        painter.setPen(QPen(theme().color(color), width, Qt.PenStyle.DashLine))
        for at in x.all_at(self.curves.marks):
            painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()))
        painter.setPen(QPen(theme().color(color), 1))
        rug = self.curves.rug[(self.curves.rug >= x.low) & (self.curves.rug <= x.high)]
        for at in x.all_at(rug[:: max(1, len(rug) // _MOST_TICKS)]):
            painter.drawLine(QPointF(at, area.bottom() - _RUG), QPointF(at, area.bottom()))

    def _paint_band(self, painter: QPainter, k: int, x: Scale, y: Scale) -> None:
        assert self.curves is not None
        if self.curves.intervals is None:
            return
        every = max(1, len(self.curves.x) // _POINTS)
        low, high = self.curves.intervals[k, ::every].T
        along = x.all_at(self.curves.x[::every])
        known = np.isfinite(low) & np.isfinite(high)
        fill = self.color(k)
        fill.setAlphaF(0.18 if len(self.shown) == 1 else 0.12)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        for part in _runs(known):
            top = [QPointF(a, b) for a, b in zip(along[part], y.all_at(high[part]))]
            below = [QPointF(a, b) for a, b in zip(along[part], y.all_at(low[part]))]
            painter.drawPolygon(QPolygonF([*top, *reversed(below)]))

    def _paint_line(self, painter: QPainter, k: int, x: Scale, y: Scale) -> None:
        assert self.curves is not None
        index, values = decimate(self.curves.values[k], _POINTS)
        along = x.all_at(self.curves.x[index.astype(np.intp) - 1])
        heights = y.all_at(values)
        path = QPainterPath()
        for part in _runs(np.isfinite(heights)):
            points = [QPointF(a, b) for a, b in zip(along[part], heights[part])]
            path.moveTo(points[0])
            for point in points[1:]:
                path.lineTo(point)
            if len(points) == 1:
                path.addEllipse(points[0], 2, 2)
        pen = QPen(self.color(k), 2)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    def _ends(self, y: Scale) -> list[tuple[float, int]]:
        """Height of the right end of every curve shown, with its number."""
        assert self.curves is not None
        ends = []
        for k in self.shown:
            known = np.nonzero(np.isfinite(self.curves.values[k]))[0]
            if len(known):
                ends.append((y.at(float(self.curves.values[k, known[-1]])), k))
        return ends

    def paint_names(self, painter: QPainter, area: QRectF, ends: list[tuple[float, int]]) -> None:
        """Names at the right at these heights, or below one another where they would meet."""
        assert self.curves is not None
        metrics = self.caption_metrics
        painter.setFont(theme().font("caption"))
        last = area.top() - metrics.height()
        for at, k in sorted(ends):
            last = max(at - metrics.height() / 2, last + metrics.height())
            painter.setPen(self.color(k))
            box = QRectF(
                area.right() + space.S, last, self.width() - area.right() - space.S - 2, metrics.height()
            )
            painter.drawText(
                box, Qt.AlignmentFlag.AlignLeft, elided(metrics, self.curves.names[k], box.width())
            )

    # -- pointer and keys -----------------------------------------------------------------------
    def position_at(self, at: QPointF) -> tuple[int, int]:
        """(curve, place) nearest to a point; -1, -1 outside of the picture."""
        if self.curves is None or not len(self.curves.x):
            return -1, -1
        x, y = self.scales()
        if not (x.start - 8 <= at.x() <= x.end + 8 and y.end - 8 <= at.y() <= y.start + 8):
            return -1, -1
        i = int(np.argmin(np.abs(x.all_at(self.curves.x) - at.x())))
        away = [abs(y.at(float(self.curves.values[k, i])) - at.y()) for k in self.shown]
        if not np.isfinite(away).any():
            return -1, -1
        return self.shown[int(np.nanargmin(away))], i

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.show_position(*self.position_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.show_position(-1, -1)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk along the curve, up and down change the curve."""
        key = Qt.Key(event.key())
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(key, 0)
        jump = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(key, 0)
        if not (step or jump) or self.curves is None or not self.shown:
            super().keyPressEvent(event)
            return
        k, i = self.current if self.current[0] >= 0 else (self.shown[0], -step if step > 0 else 0)
        index = (self.shown.index(k) + jump) % len(self.shown)
        self.show_position(self.shown[index], min(max(i + step, 0), len(self.curves.x) - 1))

    def show_position(self, k: int, i: int) -> None:
        """Mark a place of a curve and tell it."""
        if (k, i) != self.current and self.curves is not None:
            self.current = (k, i)
            self.hovered.emit(self.curves.text(k, i) if k >= 0 else "")
            self.update()


def _runs(known: np.ndarray) -> list[slice]:
    """Stretches of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2])]
