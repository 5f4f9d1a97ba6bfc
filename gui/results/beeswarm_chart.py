"""Points of one number side by side by class, moved apart so that none hides another."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QWidget

from plaidwork.gui.numbers import format_count, format_fixed, format_number
from plaidwork.gui.results.chart import Scale, elided, padded
from plaidwork.gui.results.heat_canvas import RING
from plaidwork.gui.results.scatter_chart import Points, ScatterChart
from plaidwork.gui.theme import space, theme

_MOST_EXACT = 3000
"""Points of one class that are placed one by one; more are strewn evenly."""
_FILLED = 0.84
"""Share of its column that a class may fill."""


@dataclass(frozen=True)
class Swarm(Points):
    """Points whose ``x`` is the number of their class; ``split_by`` names the column of the classes."""

    classes: tuple[str, ...] = ()
    split_by: str = ""
    centre: str = "median"

    def centres(self) -> np.ndarray:
        """Median (or mean) of each class; NaN for one without points."""
        found = np.full(len(self.classes), np.nan)
        for k in range(len(self.classes)):
            values = self.y[(self.x == k) & np.isfinite(self.y)]
            if len(values):
                found[k] = np.median(values) if self.centre == "median" else values.mean()
        return found

    def counts(self) -> np.ndarray:
        """Points of each class."""
        return np.array([int(((self.x == k) & np.isfinite(self.y)).sum()) for k in range(len(self.classes))])

    def text(self, i: int) -> str:
        text = f"{self.names[i]}: {self.y_name} {format_number(float(self.y[i]), 3)}"
        if self.split_by:
            text += f", {self.split_by} {self.classes[int(self.x[i])]}"
        if self.colouring.title and self.colouring.title != self.split_by:
            text += f", {self.colouring.title} {self.colouring.texts[i] or 'unknown'}"
        return text


def spread(y: np.ndarray, width: float, apart: float) -> np.ndarray:
    """Offsets across, in pixels, so that points at the heights ``y`` keep ``apart`` from each other.

    Each point goes to the free place nearest to the middle. When that takes more than ``width`` all offsets shrink, and
    very many points are strewn by a low-discrepancy sequence, wider where they are denser.
    """
    offsets = np.zeros(len(y))
    if len(y) > _MOST_EXACT:
        return _strewn(y, width, apart)
    placed: list[tuple[float, float]] = []
    for i in np.argsort(y, kind="stable"):
        near = placed[bisect_left(placed, (float(y[i]) - apart, -np.inf)) :]
        offsets[i] = _nearest_free(float(y[i]), near, apart)
        insort(placed, (float(y[i]), float(offsets[i])))
    widest = 2 * float(np.abs(offsets).max(initial=0)) + apart
    return offsets * min(1.0, max(width - apart, 1.0) / max(widest - apart, 1e-9))


def _nearest_free(y: float, near: list[tuple[float, float]], apart: float) -> float:
    """The place nearest to the middle that keeps away from the points near by."""
    if not near:
        return 0.0
    height, across = np.array(near).T
    reach = np.sqrt(np.maximum(apart**2 - (height - y) ** 2, 0.0))
    places = np.concatenate([[0.0], across - reach, across + reach])
    free = (np.abs(places[:, None] - across) >= reach - 1e-6).all(axis=1)
    return float(places[free][np.argmin(np.abs(places[free]))])


def _strewn(y: np.ndarray, width: float, apart: float) -> np.ndarray:
    bins = np.round((y - y.min()) / max(apart, 1e-9)).astype(np.intp)
    dense = np.bincount(bins).astype(np.float64)
    reach = np.minimum(width / 2, dense * apart / 2) * (dense / dense.max()) ** 0.5
    order = np.argsort(y, kind="stable")
    sequence = np.empty(len(y))
    sequence[order] = (np.arange(len(y)) * 0.618033988749895) % 1.0
    return (2 * sequence - 1) * reach[bins]


class BeeswarmChart(ScatterChart):
    """A `ScatterChart` of a `Swarm`: zooms up and down only."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._offsets: tuple[tuple[float, float, int, int], np.ndarray] | None = None

    def set_points(self, points: Points) -> None:
        """Show another swarm."""
        self._offsets = None
        super().set_points(points)

    @property
    def swarm(self) -> Swarm:
        assert isinstance(self.points, Swarm)
        return self.points

    def _whole(self) -> tuple[float, float, float, float]:
        return (-0.5, max(len(self.swarm.classes), 1) - 0.5, *padded(self.swarm.y))

    def _bottom(self) -> float:
        lines = 2 + bool(self.swarm.split_by)
        return RING + lines * self.caption_metrics.height() + space.M

    def _column(self) -> float:
        """Width of the column of a class."""
        x, _ = self.scales()
        return x.at(1) - x.at(0)

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        x, y = self.scales()
        heights = y.all_at(self.swarm.y)
        key = (y.low, y.high, self.width(), self.height())
        if self._offsets is None or self._offsets[0] != key:
            offsets = np.zeros(len(heights))
            for k in range(len(self.swarm.classes)):
                mine = (self.swarm.x == k) & np.isfinite(heights)
                offsets[mine] = spread(heights[mine], self._column() * _FILLED, 2 * self.radius + 1)
            self._offsets = (key, offsets)
        return x.all_at(self.swarm.x) + self._offsets[1], heights

    def zoom(self, factor: float, about: QPointF) -> None:
        """Show ``factor`` times as much up and down, all classes across."""
        super().zoom(factor, about)
        if self._view is not None:
            left, right = self._whole()[:2]
            self._view = (left, right, *self._view[2:])
            if self._view == self._whole():
                self._view = None

    # -- painting -------------------------------------------------------------------------------
    def _paint_across(self, painter: QPainter, area: QRectF, x: Scale) -> None:
        """Names of the classes with the number of points."""
        swarm, metrics, colors = self.swarm, self.caption_metrics, theme()
        painter.setFont(colors.font("caption"))
        painter.setPen(QPen(colors.color("axis"), 1))
        y = round(area.bottom()) + 0.5
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        width = self._column()
        centred = Qt.AlignmentFlag.AlignHCenter
        for k, (name, count) in enumerate(zip(swarm.classes, swarm.counts(), strict=True)):
            top = y + space.XS
            left = x.at(k) - width / 2 + 2
            if swarm.split_by:
                painter.setPen(colors.color("text"))
                box = QRectF(left, top, width - 4, metrics.height())
                painter.drawText(box, centred, elided(metrics, name, box.width()))
                top += metrics.height()
            painter.setPen(colors.color("muted"))
            painter.drawText(
                QRectF(left, top, width - 4, metrics.height()), centred, f"n = {format_count(int(count))}"
            )
        if swarm.split_by:
            box = QRectF(area.left(), y + space.S + 2 * metrics.height(), area.width(), metrics.height())
            painter.drawText(box, centred, elided(metrics, swarm.split_by, box.width()))

    def _paint_over(self, painter: QPainter, area: QRectF) -> None:
        """A bar at the median (or mean) of each class, and its value."""
        swarm, colors, metrics = self.swarm, theme(), self.caption_metrics
        x, y = self.scales()
        half = min(self._column() * 0.36, 90.0)
        painter.setFont(colors.font("caption"))
        for k, centre in enumerate(swarm.centres()):
            at = y.at(float(centre)) if np.isfinite(centre) else -1.0
            if not area.top() <= at <= area.bottom():
                continue
            left, right = QPointF(x.at(k) - half, at), QPointF(x.at(k) + half, at)
            for color, width in (("surface", 3.6), ("text", 2.0)):
                painter.setPen(QPen(QColor(colors.color(color)), width))
                painter.drawLine(left, right)
            text = format_fixed(float(centre), 2)
            room = metrics.horizontalAdvance(text) + space.S
            if self._column() / 2 - half < room / 2:
                continue
            tag = QRectF(right.x() + 3, at - metrics.height() / 2, room, metrics.height())
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors.color("surface"))
            painter.drawRoundedRect(tag, 3, 3)
            painter.setPen(colors.color("text"))
            painter.drawText(tag, Qt.AlignmentFlag.AlignCenter, text)
