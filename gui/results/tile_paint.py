"""Small images side by side: where they are, and how they are painted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QPainter, QPen

from plaidwork.gui.results.chart import elided
from plaidwork.gui.results.images import LEFT_OUT, Images
from plaidwork.gui.theme import space, theme

LEAST, MOST, GAP = 88, 260, 12
"""Narrowest and widest tile, and the room between two, in logical pixels."""
MOST_GAP = 56
"""Widest room between columns, where the height limits the tiles."""
_BAR, _FOOT = 8, 6


@dataclass(frozen=True)
class Layout:
    """Places of tiles in a field; ``foot`` is the height of the line below each, ``gap`` the room between columns."""

    columns: int
    rows: int
    width: float
    height: float
    foot: float
    gap: float = GAP

    @property
    def whole(self) -> float:
        """Height of all rows."""
        return self.rows * (self.height + self.foot) + (self.rows - 1) * GAP

    def rect(self, position: int, left: float, top: float) -> QRectF:
        """The image at a place, counted along the rows."""
        row, column = divmod(position, self.columns)
        x, y = column * (self.width + self.gap), row * (self.height + self.foot + GAP)
        return QRectF(round(left + x), round(top + y), round(self.width), round(self.height))


def lay_out(count: int, aspect: float, width: float, height: float, foot: float) -> Layout:
    """The largest tiles that all fit, their columns spread over the width; else as many a row as are wide enough, and
    the field scrolls. ``aspect`` is height by width of a tile.
    """
    most = int(max(1, min(count, (width + GAP) // (LEAST + GAP))))
    best: Layout | None = None
    for columns in range(1, most + 1):
        rows = -(-count // columns)
        high = (height - GAP * (rows - 1)) / rows - foot
        wide = min((width - GAP * (columns - 1)) / columns, high / aspect, MOST)
        if wide >= LEAST and (best is None or wide > best.width):
            gap = min((width - wide * columns) / max(columns - 1, 1), MOST_GAP)
            best = Layout(columns, rows, wide, wide * aspect, foot, gap)
    if best is not None:
        return best
    wide = min((width - GAP * (most - 1)) / most, MOST)
    return Layout(most, -(-count // most), wide, wide * aspect, foot)


def foot_height() -> float:
    """Height of the line with name and bar."""
    return QFontMetricsF(theme().font("caption")).height() + _FOOT


def tile_image(steps: np.ndarray, map_name: str, wide: int, high: int) -> QImage:
    """An image (H, W) of steps in the colours of a map, each pixel a block of ``wide`` × ``high`` device pixels."""
    table = theme().lut(map_name)[np.linspace(0, 255, LEFT_OUT).round().astype(int)]
    missing = theme().color("border")
    colors = np.vstack([table, [[missing.red(), missing.green(), missing.blue(), 255]]]).astype(np.uint8)
    rows = np.minimum(np.arange(high) * steps.shape[0] // max(high, 1), steps.shape[0] - 1)
    columns = np.minimum(np.arange(wide) * steps.shape[1] // max(wide, 1), steps.shape[1] - 1)
    pixels = np.ascontiguousarray(colors[steps[np.ix_(rows, columns)]])
    return QImage(pixels.data, wide, high, 4 * wide, QImage.Format.Format_RGBA8888).copy()


def fitted(rect: QRectF, aspect: float) -> QRectF:
    """The largest part of a rectangle with this height by width, in its middle."""
    width = min(rect.width(), rect.height() / aspect)
    height = width * aspect
    left, top = rect.center().x() - width / 2, rect.center().y() - height / 2
    return QRectF(round(left), round(top), round(width), round(height))


def paint_frame(painter: QPainter, rect: QRectF, chosen: bool, doubt: bool = False) -> None:
    """A thin line around an image; the ring of the chosen one."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme().color("border"), 1))
    painter.drawRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5))
    if chosen:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme().color("accent"), 2))
        painter.drawRoundedRect(rect.adjusted(-3, -3, 3, 3), 4, 4)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def weight_token(images: Images, g: int, k: int) -> str:
    """Colour of a weight: by its sign, neutral when its interval holds zero."""
    assert images.weights is not None
    if images.weights.doubtful(g, k):
        return "neutral"
    return "teal" if images.weights.values[g, k] > 0 else "plum"


def _bar_share(images: Images) -> float:
    """Share of the width below a tile that the bar of its weight takes."""
    return 0.58 if images.weights is not None else 0.0


def tile_names(images: Images, width: float) -> tuple[str, ...]:
    """Names below tiles of a width: the short ones where not all of the others fit."""
    font = theme().font("caption")
    font.setWeight(QFont.Weight.DemiBold)
    metrics, room = QFontMetricsF(font), width * (1 - _bar_share(images)) - space.XS
    fit = all(metrics.horizontalAdvance(name) <= room for name in images.names)
    return images.names if fit else images.short_names


def paint_foot(
    painter: QPainter, images: Images, names: tuple[str, ...], k: int, g: int, rect: QRectF, chosen: bool
) -> None:
    """Name at the left, bar of the weight with its interval at the right, below an image."""
    font = theme().font("caption")
    font.setWeight(QFont.Weight.DemiBold if chosen else QFont.Weight.Normal)
    metrics = QFontMetricsF(font)
    line = QRectF(rect.left(), rect.bottom() + _FOOT, rect.width(), metrics.height())
    weights = images.weights
    share = _bar_share(images)
    room = line.width() * (1 - share)
    text = names[k]
    painter.setFont(font)
    painter.setPen(theme().color("text"))
    painter.drawText(line, Qt.AlignmentFlag.AlignVCenter, elided(metrics, text, room - space.XS))
    if weights is None or not np.isfinite(weights.values[g, k]):
        return
    ends = weights.values[g] if weights.intervals is None else weights.intervals[g]
    most = float(np.nanmax(np.abs(ends), initial=0.0)) or 1.0
    half = line.width() * share / 2 - 1
    zero, middle = round(line.right() - half) - 0.5, line.center().y()
    value = float(weights.values[g, k])
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme().color(weight_token(images, g, k)))
    length = value / most * half
    painter.drawRect(QRectF(zero, middle - _BAR / 2, length, _BAR).normalized())
    painter.setPen(QPen(theme().color("axis"), 1))
    painter.drawLine(QPointF(zero, middle - _BAR), QPointF(zero, middle + _BAR))
    if weights.intervals is not None:
        low, high = (zero + float(end) / most * half for end in weights.intervals[g, k])
        painter.setPen(QPen(theme().color("control" if weights.doubtful(g, k) else "text"), 1))
        painter.drawLine(QPointF(low, round(middle) + 0.5), QPointF(high, round(middle) + 0.5))
