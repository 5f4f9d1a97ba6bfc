"""A map with contours, boundary, null band and data points; a line across that can be dragged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
    QPolygonF,
)
from PySide6.QtWidgets import QWidget

from plaidwork.core.pictures.marks import area_categories
from plaidwork.core.views.colouring import Colouring
from plaidwork.core.views.contours import label_position
from plaidwork.gui.numbers import format_fixed, format_number, format_probability
from plaidwork.gui.results.chart import Scale
from plaidwork.gui.results.marks import colors_of, paint_mark
from plaidwork.gui.results.scatter_chart import Points, ScatterChart
from plaidwork.gui.results.surface_map import Layer, Surface
from plaidwork.gui.theme import space, theme

_GRAB = 6.0
"""Pixels within which the line is grabbed."""
_HATCH = 18.0
_MOST_AVOIDED = 1000
"""Points that labels keep away from."""
_FREE = 26.0
"""Pixels that labels keep from points and other labels."""


@dataclass(frozen=True)
class MapClasses(Colouring):
    """Classes in colours that tell from the map below: of the map's two ends, or none of the map's blue."""

    def categories(self) -> list[int | str]:
        return list(area_categories(len(self.classes)))


@dataclass(frozen=True)
class Drawn:
    """What is drawn over the map."""

    contours: bool = True
    points: bool = True
    band: bool = True
    cut: bool = False


class SurfaceChart(ScatterChart):
    """A map under the points of a `ScatterChart`.

    Signals
    -------
    cut_moved : height of the line across, in units of the second input; also when another part is shown
    """

    cut_moved = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.surface: Surface | None = None
        self.layer: Layer | None = None
        self.drawn = Drawn()
        self.cut = 0.0
        self.right_room = 0.0
        """Pixels kept free at the right, as for names of the curves below."""
        self._under: QPixmap | None = None
        self._dragging = False

    def minimumSizeHint(self) -> QSize:
        """Low enough for the curves along the line to stand below."""
        return QSize(200, 130)

    def set_surface(self, surface: Surface, layer: Layer, drawn: Drawn) -> None:
        """Show a layer of a map; zoom and cut stay while they are inside."""
        first = self.surface is None
        self.surface, self.layer, self.drawn, self._under = surface, layer, drawn, None
        low, high = float(surface.y[0]), float(surface.y[-1])
        if first or not low <= self.cut <= high:
            self.cut = (low + high) / 2
        texts = tuple(surface.classes[k] if k >= 0 else "" for k in surface.labels)
        shown = MapClasses("class", texts, surface.labels, surface.classes)
        points = surface.points if drawn.points else np.full(surface.points.shape, np.nan)
        self.set_points(
            Points(points[:, 0], points[:, 1], surface.names, surface.x_name, surface.y_name, shown)
        )
        self.setAccessibleName(f"Map of the {layer.title}, {len(surface.points)} data points")

    def _whole(self) -> tuple[float, float, float, float]:
        assert self.surface is not None
        x, y = self.surface.x, self.surface.y
        return float(x[0]), float(x[-1]), float(y[0]), float(y[-1])

    def scales(self) -> tuple[Scale, Scale]:
        x, y = super().scales()
        return Scale(x.low, x.high, x.start, max(x.end - self.right_room, x.start + 40)), y

    def restyle(self) -> None:
        self._under = None
        super().restyle()

    def reset_view(self) -> None:
        self._under = None
        super().reset_view()
        self.cut_moved.emit(self.cut)

    def zoom(self, factor: float, about: QPointF) -> None:
        self._under = None
        super().zoom(factor, about)
        self.cut_moved.emit(self.cut)

    # -- painting -------------------------------------------------------------------------------
    def _paint_under(self, painter: QPainter, area: QRectF, x: Scale, y: Scale) -> None:
        if self._export:
            self._paint_map(painter, area, x, y)
            return
        ratio = self.devicePixelRatioF()
        if self._under is None or self._under.size() != self.size() * ratio:
            self._under = QPixmap(self.size() * ratio)
            self._under.setDevicePixelRatio(ratio)
            self._under.fill(Qt.GlobalColor.transparent)
            inner = QPainter(self._under)
            inner.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_map(inner, area, x, y)
            inner.end()
        painter.drawPixmap(0, 0, self._under)

    def _paint_map(self, painter: QPainter, area: QRectF, x: Scale, y: Scale) -> None:
        surface, layer = self.surface, self.layer
        assert surface is not None
        assert layer is not None
        painter.save()
        painter.setClipRect(area)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        self._paint_image(painter, layer, surface, x, y)
        ink = theme().color("text")
        if self.drawn.band and surface.band:
            self._paint_band(painter, area, surface, x, y)
        if self.drawn.contours:
            thin = QColor(ink)
            thin.setAlphaF(0.45)
            painter.setPen(QPen(thin, 1))
            for contour in layer.contours:
                for line in contour.lines:
                    painter.drawPolyline(_pixels(line, x, y))
        pen = QPen(ink, 2.8)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        for line in layer.boundary:
            painter.drawPolyline(_pixels(line, x, y))
        painter.restore()
        if self.drawn.contours:
            self._paint_labels(painter, area, layer, surface, x, y)

    def _paint_image(self, painter: QPainter, layer: Layer, surface: Surface, x: Scale, y: Scale) -> None:
        low, high = layer.limits
        table = theme().lut("soft_loom" if layer.diverging else "tide")
        share = np.nan_to_num(np.clip((layer.values - low) / (high - low or 1), 0, 1))
        pixels = table[(share * 255).round().astype(np.intp)][::-1].copy()
        missing = theme().color("border")
        pixels[~np.isfinite(layer.values)[::-1]] = (missing.red(), missing.green(), missing.blue(), 255)
        rows, columns = layer.values.shape
        image = QImage(pixels.tobytes(), columns, rows, 4 * columns, QImage.Format.Format_RGBA8888)
        fx, fy = surface.fine_x, surface.fine_y
        half_x, half_y = (fx[1] - fx[0]) / 2, (fy[1] - fy[0]) / 2
        top_left = QPointF(x.at(float(fx[0] - half_x)), y.at(float(fy[-1] + half_y)))
        bottom_right = QPointF(x.at(float(fx[-1] + half_x)), y.at(float(fy[0] - half_y)))
        painter.drawImage(QRectF(top_left, bottom_right), image)

    def _paint_band(self, painter: QPainter, area: QRectF, surface: Surface, x: Scale, y: Scale) -> None:
        path = QPainterPath()
        for outline in surface.band:
            path.addPolygon(_pixels(outline, x, y))
            path.closeSubpath()
        ink = QColor(theme().color("text"))
        ink.setAlphaF(0.4)
        painter.save()
        painter.setClipPath(path, Qt.ClipOperation.IntersectClip)
        painter.setPen(QPen(ink, 1))
        for start in np.arange(area.left() - area.height(), area.right(), _HATCH):
            painter.drawLine(QPointF(start, area.bottom()), QPointF(start + area.height(), area.top()))
        painter.restore()
        painter.setPen(QPen(theme().color("text"), 1.2, Qt.PenStyle.DashLine))
        for line in surface.band_edges:
            painter.drawPolyline(_pixels(line, x, y))

    def _paint_labels(
        self, painter: QPainter, area: QRectF, layer: Layer, surface: Surface, x: Scale, y: Scale
    ) -> None:
        """The level of each line on a tag where it is away from points, edges and other tags."""
        taken = np.stack([x.all_at(surface.points[:, 0]), y.all_at(surface.points[:, 1])], axis=1)
        taken = taken[:: max(1, len(taken) // _MOST_AVOIDED)]
        taken = taken[np.isfinite(taken).all(axis=1)] if self.drawn.points else np.zeros((0, 2))
        inner = area.adjusted(24, 14, -24, -14)
        metrics = self.caption_metrics
        painter.setFont(theme().font("caption"))
        for contour in layer.contours:
            for line in sorted(contour.lines, key=len, reverse=True):
                at = np.stack([x.all_at(line[:, 0]), y.all_at(line[:, 1])], axis=1)
                inside = (at[:, 0] > inner.left()) & (at[:, 0] < inner.right())
                inside &= (at[:, 1] > inner.top()) & (at[:, 1] < inner.bottom())
                position = label_position(at[inside], taken, _FREE)
                if position is None:
                    continue
                text = format_fixed(contour.level, 2).rstrip("0")
                width, height = metrics.horizontalAdvance(text) + space.S, metrics.height() + 2
                tag = QRectF(position[0] - width / 2, position[1] - height / 2, width, height)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme().color("surface"))
                painter.drawRoundedRect(tag, 3, 3)
                painter.setPen(theme().color("text"))
                painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, text)
                taken = np.vstack([taken, position])
                break

    def _paint_marks(self, painter: QPainter) -> None:
        """Labelled points by class, larger where others have no label; hollow without one; test points with an eye."""
        if self.points is None or self.surface is None or not self.drawn.points:
            return
        x, y = self._places()
        labels, test = self.surface.labels, self.surface.test
        colors = colors_of(self.points.colouring)
        few = bool((labels < 0).any()) and (labels >= 0).mean() < 0.25
        chosen = set(self.marked)
        fade = 0.25 if chosen else 1.0
        for i in np.argsort(labels >= 0, kind="stable"):
            code = int(labels[i])
            radius = 3.2 if code < 0 else 6.5 if few else self.radius + 0.5
            painter.setOpacity(1.0 if i in chosen else fade)
            at = QPointF(x[i], y[i])
            paint_mark(painter, at, colors[code] if code >= 0 else None, code, radius)
            if test[i] and code >= 0:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme().color("surface"))
                painter.drawEllipse(at, radius * 0.42, radius * 0.42)
        painter.setOpacity(1.0)

    def _paint_over(self, painter: QPainter, area: QRectF) -> None:
        if self.drawn.cut:
            _, y = self.scales()
            at = round(y.at(self.cut)) + 0.5
            if area.top() <= at <= area.bottom():
                painter.setPen(
                    QPen(theme().color("accent"), 2 if self._dragging else 1.6, Qt.PenStyle.DotLine)
                )
                painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))

    # -- pointer and keys -----------------------------------------------------------------------
    def _on_cut(self, at: QPointF) -> bool:
        if not self.drawn.cut or self.points is None:
            return False
        x, y = self.scales()
        return abs(y.at(self.cut) - at.y()) <= _GRAB and x.start <= at.x() <= x.end

    def move_cut(self, value: float) -> None:
        """Move the line across to a value, inside of the map."""
        assert self.surface is not None
        self.cut = float(np.clip(value, self.surface.y[0], self.surface.y[-1]))
        self.cut_moved.emit(self.cut)
        self.update()

    def value_text(self, at: QPointF) -> str:
        """Probabilities at a place in words; empty outside of the map."""
        surface = self.surface
        if surface is None:
            return ""
        x, y = self.scales()
        if not (x.start <= at.x() <= x.end and y.end <= at.y() <= y.start):
            return ""
        position = x.value(at.x()), y.value(at.y())
        shares, null = surface.at(*position)
        if len(shares) == 1:
            shares = np.array([1 - shares[0], shares[0]])
        where = f"{surface.x_name} {format_number(position[0], 3)}, {surface.y_name} {format_number(position[1], 3)}"
        parts = [
            f"{name} {format_probability(float(p))}" for name, p in zip(surface.classes, shares, strict=True)
        ]
        if null is not None:
            parts.append(f"no class {format_probability(null)}")
        return f"{where}: {', '.join(parts)}"

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The line is grabbed; elsewhere a lasso begins."""
        left = event.button() == Qt.MouseButton.LeftButton
        if left and self._on_cut(event.position()) and self.point_at(event.position()) < 0:
            self._dragging = True
            self.update()
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the line, or tell the point or the values under the pointer."""
        if self._dragging:
            self.move_cut(self.scales()[1].value(event.position().y()))
            return
        super().mouseMoveEvent(event)
        on = self._on_cut(event.position()) and self.current < 0
        self.setCursor(Qt.CursorShape.SizeVerCursor if on else Qt.CursorShape.ArrowCursor)
        if self.current < 0 and self.points is not None:
            self.hovered.emit(self.value_text(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._dragging:
            self._dragging = False
            self.update()
            return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and down move the line across."""
        step = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
        if step and self.drawn.cut and self.surface is not None:
            self.move_cut(self.cut + step * float(self.surface.y[-1] - self.surface.y[0]) / 50)
        else:
            super().keyPressEvent(event)


def _pixels(line: np.ndarray, x: Scale, y: Scale) -> QPolygonF:
    return QPolygonF([QPointF(a, b) for a, b in zip(x.all_at(line[:, 0]), y.all_at(line[:, 1]))])
