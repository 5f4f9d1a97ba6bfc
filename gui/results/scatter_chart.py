"""Points by two numbers: marks, zoom, lasso, hover."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from plaidwork.core.views.colouring import Colouring
from plaidwork.gui.numbers import format_number
from plaidwork.gui.results.chart import Chart, Scale, padded
from plaidwork.gui.results.marks import color_of, colors_of, paint_mark
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.theme import space, theme

_NEAR = 12.0
"""Pixels within which the pointer finds a point."""
_CLICK = 4.0


@dataclass(frozen=True)
class Points:
    """Two numbers for each item and what it is called and coloured by."""

    x: np.ndarray
    y: np.ndarray
    names: tuple[str, ...]
    x_name: str
    y_name: str
    colouring: Colouring

    def text(self, i: int) -> str:
        """Name, numbers and class in words."""
        text = f"{self.names[i]}: {self.x_name} {format_number(float(self.x[i]), 3)}"
        text += f", {self.y_name} {format_number(float(self.y[i]), 3)}"
        if self.colouring.title:
            text += f", {self.colouring.title} {self.colouring.texts[i] or 'unknown'}"
        return text


class ScatterChart(Chart):
    """Points; click or lasso selects, the wheel zooms, a double click shows all again.

    Signals
    -------
    selected : indices of the points chosen by the user
    """

    selected = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.points: Points | None = None
        self.current = -1
        self.marked: tuple[int, ...] = ()
        self._view: tuple[float, float, float, float] | None = None
        self._lasso: list[QPointF] = []
        self._cache: QPixmap | None = None
        self._export = 0.0

    def set_points(self, points: Points) -> None:
        """Show other points; the zoom stays when the axes are the same."""
        old = self.points
        if old is None or (old.x_name, old.y_name) != (points.x_name, points.y_name):
            self._view = None
        self.points, self.current, self._cache = points, -1, None
        by = f", coloured by {points.colouring.title}" if points.colouring.title else ""
        self.setAccessibleName(f"{len(points.x)} points by {points.x_name} and {points.y_name}{by}")
        self.update()

    def set_marked(self, items: tuple[int, ...]) -> None:
        """Mark these points; the others fade."""
        self.marked, self._cache = items, None
        self.update()

    def set_export_ratio(self, ratio: float) -> None:
        """Draw the marks themselves while a file is written."""
        self._export = ratio

    def restyle(self) -> None:
        self._cache = None
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._cache = None
        super().resizeEvent(event)

    # -- places ---------------------------------------------------------------------------------
    @property
    def zoomed(self) -> bool:
        """Whether only a part is shown."""
        return self._view is not None

    @property
    def limits(self) -> tuple[float, float, float, float]:
        """Limits that show all points: left, right, low, high."""
        return self._whole()

    def reset_view(self) -> None:
        """Show all points."""
        self._view, self._cache = None, None
        self.update()

    def scales(self) -> tuple[Scale, Scale]:
        """Of x and y, in pixels of this widget."""
        assert self.points is not None
        left, right, low, high = self._view or self._whole()
        bottom = self.height() - self._bottom()
        top = RING + space.S
        y = Scale(low, high, bottom, top, 50)
        start = self.left_room(y, self.points.y_name)
        return Scale(left, right, start, self.width() - RING - space.M), y

    def _whole(self) -> tuple[float, float, float, float]:
        """Limits that show all points: left, right, low, high."""
        assert self.points is not None
        return (*padded(self.points.x), *padded(self.points.y))

    def _bottom(self) -> float:
        """Pixels below the points."""
        assert self.points is not None
        return self.bottom_room(self.points.x_name)

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        assert self.points is not None
        x, y = self.scales()
        return x.all_at(self.points.x), y.all_at(self.points.y)

    def point_at(self, at: QPointF) -> int:
        """Number of the nearest point within reach, -1 when none."""
        if self.points is None or not len(self.points.x):
            return -1
        x, y = self._places()
        away = np.hypot(x - at.x(), y - at.y())
        away[~np.isfinite(away)] = np.inf
        near = int(np.argmin(away))
        return near if away[near] <= _NEAR else -1

    @property
    def radius(self) -> float:
        """Of a point, in pixels."""
        return 4.0 if self.points is None or len(self.points.x) <= 2000 else 3.0

    # -- painting -------------------------------------------------------------------------------
    def paintEvent(self, event: QPaintEvent) -> None:
        if self.points is None:
            return
        colors, painter = theme(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x, y = self.scales()
        area = QRectF(QPointF(x.start, y.end), QPointF(x.end, y.start))
        self.paint_left_axis(painter, area, y, self.points.y_name)
        self._paint_across(painter, area, x)
        painter.setPen(QPen(colors.color("axis"), 1))
        if y.low < 0 < y.high:
            at = round(y.at(0)) + 0.5
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
        self._paint_under(painter, area, x, y)
        clip = area.adjusted(-6, -6, 6, 6)
        if self._export:
            painter.save()
            painter.setClipRect(clip)
            self._paint_marks(painter)
            painter.restore()
        else:
            painter.drawPixmap(0, 0, self._marks(clip))
        self._paint_over(painter, area)
        if self.current >= 0:
            self._paint_current(painter, area)
        if len(self._lasso) > 1:
            fill = colors.color("accent")
            painter.setPen(QPen(fill, 1.4))
            fill = QColor(fill)
            fill.setAlphaF(0.12)
            painter.setBrush(fill)
            painter.drawPolygon(QPolygonF(self._lasso))
        self.paint_focus(painter)
        painter.end()

    def _paint_across(self, painter: QPainter, area: QRectF, x: Scale) -> None:
        """The bottom axis, and a line at zero."""
        assert self.points is not None
        self.paint_bottom_axis(painter, area, x, self.points.x_name)
        if x.low < 0 < x.high:
            painter.setPen(QPen(theme().color("axis"), 1))
            at = round(x.at(0)) + 0.5
            painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()))

    def _paint_under(self, painter: QPainter, area: QRectF, x: Scale, y: Scale) -> None:
        """For subclasses: what lies under the points."""

    def _paint_over(self, painter: QPainter, area: QRectF) -> None:
        """For subclasses: what lies over the points."""

    def _marks(self, clip: QRectF) -> QPixmap:
        ratio = self.devicePixelRatioF()
        if self._cache is None or self._cache.devicePixelRatio() != ratio:
            self._cache = QPixmap(self.size() * ratio)
            self._cache.setDevicePixelRatio(ratio)
            self._cache.fill(Qt.GlobalColor.transparent)
            painter = QPainter(self._cache)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setClipRect(clip)
            self._paint_marks(painter)
            painter.end()
        return self._cache

    def _paint_marks(self, painter: QPainter) -> None:
        assert self.points is not None
        shown = self.points.colouring
        x, y = self._places()
        classes = colors_of(shown) if shown.numbers is None else []
        marked = np.zeros(len(x), dtype=bool)
        marked[[i for i in self.marked if i < len(x)]] = True
        known = shown.codes >= 0 if shown.numbers is None else np.isfinite(shown.numbers)
        order = np.lexsort((known, marked))  # the selected last, the unknown first
        fade = 0.25 if marked.any() else 1.0
        radius = self.radius
        for i in order[np.isfinite(x[order]) & np.isfinite(y[order])]:
            code = int(shown.codes[i])
            color = color_of(shown, i) if shown.numbers is not None else classes[code] if code >= 0 else None
            painter.setOpacity(1.0 if marked[i] else fade)
            if shown.numbers is not None and color is not None:  # pale ends of the scale need an outline
                painter.setPen(QPen(theme().color("control"), 0.8))
                painter.setBrush(color)
                painter.drawEllipse(QPointF(x[i], y[i]), radius, radius)
            else:
                paint_mark(painter, QPointF(x[i], y[i]), color, shown.shape(i), radius + marked[i])
        painter.setOpacity(1.0)

    def _paint_current(self, painter: QPainter, area: QRectF) -> None:
        assert self.points is not None
        x, y = self._places()
        at = QPointF(x[self.current], y[self.current])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme().color("text"), 1.6))
        painter.drawEllipse(at, 8, 8)
        painter.setFont(theme().font("caption"))
        metrics = self.caption_metrics
        name = metrics.elidedText(self.points.names[self.current], Qt.TextElideMode.ElideRight, 240)
        width = metrics.horizontalAdvance(name) + space.M
        left = at.x() + 12 if at.x() + 12 + width < area.right() else at.x() - 12 - width
        tag = QRectF(left, at.y() - metrics.height() / 2 - 2, width, metrics.height() + 4)
        painter.setPen(QPen(theme().color("border"), 1))
        painter.setBrush(theme().color("surface"))
        painter.drawRoundedRect(tag, 4, 4)
        painter.setPen(theme().color("text"))
        painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, name)

    # -- pointer and keys -----------------------------------------------------------------------
    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.points is not None:
            self._lasso = [event.position()]

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Hover, or draw the lasso while the button is down."""
        if self._lasso:
            self._lasso.append(event.position())
            self.update()
        else:
            self.show_point(self.point_at(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A lasso selects what is inside, a click one point (Ctrl or Shift: besides those selected)."""
        if event.button() != Qt.MouseButton.LeftButton or not self._lasso or self.points is None:
            return
        path, self._lasso = [*self._lasso, event.position()], []
        more = bool(
            event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        )
        if max((p - path[0]).manhattanLength() for p in path) <= _CLICK:
            found = [i] if (i := self.point_at(event.position())) >= 0 else []
        else:
            polygon = QPolygonF(path)
            x, y = self._places()
            inside = (polygon.containsPoint(QPointF(a, b), Qt.FillRule.OddEvenFill) for a, b in zip(x, y))
            found = [i for i, yes in enumerate(inside) if yes]
        if more:
            found = sorted(
                set(self.marked) ^ set(found) if len(found) == 1 else set(self.marked) | set(found)
            )
        self.selected.emit(tuple(found))
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all again."""
        self.reset_view()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom about the pointer."""
        if self.points is not None and event.angleDelta().y():
            self.zoom(0.8 if event.angleDelta().y() > 0 else 1.25, event.position())
            event.accept()

    def zoom(self, factor: float, about: QPointF) -> None:
        """Show ``factor`` times as much around a place; never more than all."""
        assert self.points is not None
        whole = self._whole()
        parts: list[float] = []
        for scale, pixel, full in zip(self.scales(), (about.x(), about.y()), (whole[:2], whole[2:])):
            at = scale.value(pixel)
            low, high = at - (at - scale.low) * factor, at + (scale.high - at) * factor
            parts += [max(low, full[0]), min(high, full[1])]
        if parts[1] - parts[0] < 1e-4 * (whole[1] - whole[0]):
            return
        self._view = None if tuple(parts) == whole else (parts[0], parts[1], parts[2], parts[3])
        self._cache = None
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self.show_point(-1)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk over the points from left to right, Enter selects."""
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()), 0)
        if step and self.points is not None and len(self.points.x):
            order = np.argsort(self.points.x, kind="stable")
            at = int(np.nonzero(order == self.current)[0][0]) + step if self.current >= 0 else 0
            self.show_point(int(order[min(max(at, 0), len(order) - 1)]))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.current >= 0:
            self.selected.emit((self.current,))
        else:
            super().keyPressEvent(event)

    def show_point(self, i: int) -> None:
        """Name a point and tell it."""
        if i != self.current and self.points is not None:
            self.current = i
            self.hovered.emit(self.points.text(i) if i >= 0 else "")
            self.update()
