"""Small pictures for docks, drawn with QPainter: matrix, histogram, bars of classes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QImage, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.gui.language import tr, tr_name
from plaidwork.gui.numbers import format_count, format_number, format_ticks, nice_ticks, step_decimals
from plaidwork.gui.theme import theme
from plaidwork.gui.widgets.drawing import Drawing


class MatrixThumb(QWidget):
    """A matrix that fills its place; missing cells are hatched."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = np.zeros((0, 0))
        self._limits = (-1.0, 1.0)
        self._map = "loom"
        self._missing = False
        self._image: QImage | None = None
        self._scheme = ""
        self.setMinimumSize(80, 60)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme().changed.connect(self.update)

    def set_matrix(self, values: np.ndarray, limits: tuple[float, float], map_name: str) -> None:
        """Show values within limits."""
        self._values, self._limits, self._map = values, limits, map_name
        self._missing = bool(values.size) and not np.isfinite(values).all()
        self._image = None
        self.update()

    def clear(self) -> None:
        """Show nothing."""
        self._values, self._image = np.zeros((0, 0)), None
        self.update()

    def sizeHint(self) -> QSize:
        """About as high as in the picture of the set-up page."""
        return QSize(280, 300)

    def _render(self) -> QImage:
        from plaidwork.gui.plots.image import to_rgba

        table = theme().lut(self._map)
        picture = np.ascontiguousarray(to_rgba(self._values, table, *self._limits))
        rows, columns = picture.shape[:2]
        image = QImage(picture.data, columns, rows, 4 * columns, QImage.Format.Format_RGBA8888)
        self._scheme = theme().scheme
        return image.copy()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Hatch below, picture above."""
        if not self._values.size:
            return
        if self._image is None or self._scheme != theme().scheme:
            self._image = self._render()
        painter = QPainter(self)
        if self._missing:
            painter.fillRect(self.rect(), theme().color("border"))
            painter.fillRect(self.rect(), QBrush(theme().color("neutral"), Qt.BrushStyle.BDiagPattern))
        ratio = self.devicePixelRatioF()
        smaller = (
            self._values.shape[0] > self.height() * ratio or self._values.shape[1] > self.width() * ratio
        )
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smaller)
        painter.drawImage(QRectF(self.rect()), self._image)
        painter.end()


class HistogramThumb(Drawing):
    """Outline of a histogram over a bottom axis."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._counts = np.zeros(0)
        self._edges = np.zeros(0)
        self._word = "value"
        self.setMinimumHeight(110)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_counts(self, counts: np.ndarray, edges: np.ndarray, word: str = "value") -> None:
        """Show counts between edges; `word` names the axis."""
        self._counts, self._edges, self._word = counts, edges, word
        self.update()

    def sizeHint(self) -> QSize:
        """Wide and low."""
        return QSize(280, 96 + 2 * self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Area, outline, axis, ticks."""
        if not len(self._counts):
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        metrics = self.fontMetrics()
        bottom = self.height() - 2 * metrics.height() - 8
        left, right = 4.0, self.width() - 4.0
        low, high = float(self._edges[0]), float(self._edges[-1])
        scale = (right - left) / (high - low or 1)
        top = float(self._counts.max()) or 1.0
        points = [QPointF(left, bottom)]
        for count, start, end in zip(self._counts, self._edges[:-1], self._edges[1:]):
            y = bottom - (bottom - 6) * count / top
            points += [QPointF(left + (start - low) * scale, y), QPointF(left + (end - low) * scale, y)]
        points.append(QPointF(right, bottom))
        fill = theme().category(0)
        fill.setAlphaF(0.5)
        painter.setBrush(fill)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawPolygon(QPolygonF(points))
        painter.setPen(QPen(theme().category(0), 1.2))
        painter.drawPolyline(QPolygonF(points[1:-1]))
        painter.setPen(QPen(theme().color("axis"), 1))
        painter.drawLine(QPointF(0, bottom + 0.5), QPointF(self.width(), bottom + 0.5))
        self._ticks(painter, left, scale, bottom)
        painter.end()

    def _ticks(self, painter: QPainter, left: float, scale: float, bottom: float) -> None:
        low, high = float(self._edges[0]), float(self._edges[-1])
        metrics = self.fontMetrics()
        painter.setPen(theme().color("muted"))
        ticks = nice_ticks(low, high, max(3, min(7, self.width() // 70)))
        if len(self._edges) > 1 and np.all(self._edges % 1 == 0.5):  # bars of whole numbers
            ticks = [tick for tick in nice_ticks(low, high, 7) if tick % 1 == 0]
        decimals = step_decimals(ticks[1] - ticks[0]) if len(ticks) > 1 else 2
        huge = max(map(abs, ticks), default=0.0) >= 1e6
        texts = [format_number(tick, 3) for tick in ticks] if huge else format_ticks(ticks, decimals)
        for tick, text in zip(ticks, texts, strict=True):
            wide = metrics.horizontalAdvance(text)
            x = min(max(left + (tick - low) * scale - wide / 2, 0), self.width() - wide)
            painter.drawText(QPointF(x, bottom + 4 + metrics.ascent()), text)
        rect = QRectF(0, self.height() - metrics.height() - 1, self.width(), metrics.height() + 1)
        word = metrics.elidedText(tr_name(self._word), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, word)


class ClassBars(Drawing):
    """One bar per class: name, bar, count. Grey, because blocks own the palette."""

    ROW = 24

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._classes: dict[str, int] = {}
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_classes(self, classes: Mapping[str, int]) -> None:
        """Show counts by class."""
        self._classes = dict(classes)
        self.setAccessibleName(tr(", ".join(f"{name} {count}" for name, count in classes.items())))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A row per class."""
        return QSize(280, self.ROW * max(1, len(self._classes)))

    def minimumSizeHint(self) -> QSize:
        """Narrow."""
        return QSize(120, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Rows."""
        if not self._classes:
            return
        painter = QPainter(self)
        metrics = self.fontMetrics()
        names = min(max(metrics.horizontalAdvance(n) for n in self._classes) + 2, self.width() // 3)
        top = max(self._classes.values())
        numbers = max(metrics.horizontalAdvance(format_count(c)) for c in self._classes.values())
        room = self.width() - names - numbers - 16
        middle = Qt.AlignmentFlag.AlignVCenter
        for row, (name, count) in enumerate(self._classes.items()):
            y = row * self.ROW
            painter.setPen(theme().color("text"))
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, names)
            painter.drawText(QRectF(0, y, names, self.ROW), middle, shown)
            wide = max(2.0, room * count / top)
            painter.fillRect(QRectF(names + 8, y + 5, wide, self.ROW - 10), theme().color("neutral"))
            painter.setPen(theme().color("muted"))
            painter.drawText(QRectF(names + wide + 16, y, numbers + 2, self.ROW), middle, format_count(count))
        painter.end()
