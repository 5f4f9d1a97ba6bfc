"""All weights as stems with their intervals, in the order of the tiles."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.gui.numbers import format_interval, format_number
from plaidwork.gui.results.chart import Chart, Scale, padded
from plaidwork.gui.results.images import Images
from plaidwork.gui.results.option_row import RING
from plaidwork.gui.results.tile_paint import weight_token
from plaidwork.gui.theme import space, theme

_HIGH = 208
_DOT = 4.0


class WeightChart(Chart):
    """A stem for each image; a click chooses it.

    Signals
    -------
    chosen : number of the image that was clicked
    """

    chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.images: Images | None = None
        self.order = np.zeros(0, dtype=np.intp)
        self.group = self.current = 0
        self.setFixedHeight(_HIGH)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def sizeHint(self) -> QSize:
        return QSize(300, _HIGH)

    def set_shown(self, images: Images, order: np.ndarray, group: int, current: int) -> None:
        """Show the weights of a classifier in an order."""
        self.images, self.order, self.group, self.current = images, order, group, current
        self.setAccessibleName(f"All {len(order)} weights")
        self.update()

    def _name(self) -> str:
        assert self.images is not None
        assert self.images.weights is not None
        label = self.images.weights.label.lower()
        return f"{label}, interval" if self.images.weights.intervals is not None else label

    def _places(self) -> tuple[QRectF, Scale, float]:
        assert self.images is not None
        assert self.images.weights is not None
        weights = self.images.weights
        known = weights.values[self.group] if weights.intervals is None else weights.intervals[self.group]
        low, high = padded(known.ravel(), zero=True)
        bottom = self.height() - self.bottom_room(self.images.word)
        scale = Scale(low, high, bottom, RING + space.S, 50)
        left = self.left_room(scale, self._name())
        area = QRectF(left, RING + space.S, self.width() - left - RING, bottom - RING - space.S)
        return area, scale, area.width() / max(len(self.order), 1)

    def image_at(self, x: float) -> int:
        """Number of the image whose stem is next to a pixel."""
        area, _, pitch = self._places()
        return int(self.order[min(max(int((x - area.left()) / pitch), 0), len(self.order) - 1)])

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        images = self.images
        if images is not None and images.weights is not None and len(self.order):
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            area, scale, pitch = self._places()
            self.paint_left_axis(painter, area, scale, self._name())
            zero = round(scale.at(0.0)) + 0.5
            painter.setPen(QPen(theme().color("axis"), 1))
            painter.drawLine(QPointF(area.left(), zero), QPointF(area.right(), zero))
            for position, k in enumerate(self.order):
                self._paint_stem(
                    painter, images, int(k), area.left() + (position + 0.5) * pitch, scale, pitch
                )
            self._paint_names(painter, images, area, pitch)
        painter.end()

    def _paint_stem(
        self, painter: QPainter, images: Images, k: int, x: float, scale: Scale, pitch: float
    ) -> None:
        weights, g = images.weights, self.group
        assert weights is not None
        value = float(weights.values[g, k])
        if not np.isfinite(value):
            return
        color, y = theme().color(weight_token(images, g, k)), scale.at(value)
        painter.setPen(QPen(color, 1))
        painter.drawLine(QPointF(x, scale.at(0.0)), QPointF(x, y))
        if weights.intervals is not None:
            low, high = (scale.at(float(end)) for end in weights.intervals[g, k])
            painter.setPen(QPen(color, 2))
            painter.drawLine(QPointF(x, low), QPointF(x, high))
        mine = k == self.current
        rim = QPen(theme().color("text" if mine else "surface"), 2 if mine else 1)
        painter.setPen(rim if mine or pitch >= 2 * _DOT else QPen(Qt.PenStyle.NoPen))
        painter.setBrush(color)
        radius = min(_DOT, max(pitch / 2 - 0.5, 1.5)) + (2 if mine else 0)
        painter.drawEllipse(QPointF(x, y), radius, radius)

    def _paint_names(self, painter: QPainter, images: Images, area: QRectF, pitch: float) -> None:
        metrics = self.caption_metrics
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("muted"))
        texts = [name[1:] if name[1:].isdigit() else name for name in images.short_names]
        widest = max(metrics.horizontalAdvance(text) for text in texts) + space.XS
        every = max(1, int(np.ceil(widest / pitch)))
        for position in range(0, len(self.order), every):
            x = area.left() + (position + 0.5) * pitch
            if x + widest / 2 > self.width():
                break
            box = QRectF(x - widest, area.bottom() + space.XS, 2 * widest, metrics.height())
            painter.drawText(box, Qt.AlignmentFlag.AlignHCenter, texts[int(self.order[position])])
        below = QRectF(
            area.left(), area.bottom() + metrics.height() + space.S, area.width(), metrics.height()
        )
        painter.drawText(below, Qt.AlignmentFlag.AlignHCenter, images.word)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.images is not None and self.images.weights is not None and len(self.order):
            self.hovered.emit(weight_text(self.images, self.group, self.image_at(event.position().x())))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.images is not None and len(self.order):
            self.chosen.emit(self.image_at(event.position().x()))


def weight_text(images: Images, g: int, k: int) -> str:
    """Name, weight and interval in words."""
    weights = images.weights
    assert weights is not None
    text = f"{images.names[k]}: {weights.label.lower()} {format_number(float(weights.values[g, k]), 3)}"
    if weights.intervals is not None:
        low, high = (float(end) for end in weights.intervals[g, k])
        text += f", interval {format_interval(low, high)}"
    return text
