"""What stands around the cells of a heat map: strips, names, marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from plaidwork.gui.pictures.rasters import image_of
from plaidwork.gui.results.strips import STRIP, strip_pixels
from plaidwork.gui.theme import space, theme

if TYPE_CHECKING:
    from plaidwork.gui.results.heat_canvas import HeatCanvas

GAP = 5
RING = 3
"""Room for the focus ring around the picture."""
MOST_LABEL = 168
"""Widest label in logical pixels; longer names are cut with an ellipsis."""


def lay_out(canvas: HeatCanvas) -> QRectF:
    """Where the cells are: beside the strips, and the names where they fit."""
    picture, metrics = canvas.picture, canvas.caption_metrics()
    assert picture is not None
    rows, columns = canvas.visible_range
    left, top = RING, RING + (STRIP + GAP) * len(picture.strips)
    width, height = max(canvas.width() - left - RING, 1), max(canvas.height() - top - RING, 1)
    right = bottom = 0.0
    if canvas.show_labels:
        if height / (rows[1] - rows[0]) >= metrics.height() * 0.92:
            right = _label_width(canvas, 0) + space.S
        span = columns[1] - columns[0]
        if columns_fit(canvas, max(width - right, 1)):
            bottom = metrics.height() + space.S
        elif (width - right) / span >= metrics.height() * 0.92:
            bottom = min(_label_width(canvas, 1), 0.3 * canvas.height()) + space.XS
        if (height - bottom) / (rows[1] - rows[0]) < metrics.height() * 0.8:
            right = 0.0  # the names below have taken the room: all row names or none
    ratio = canvas.pixel_ratio()
    wide, high = (
        max(np.floor(max(length, 1) * ratio), 1) / ratio for length in (width - right, height - bottom)
    )
    return QRectF(left, top, wide, high)


def _label_width(canvas: HeatCanvas, axis: int) -> float:
    picture, metrics = canvas.picture, canvas.caption_metrics()
    assert picture is not None
    rows, columns = canvas.visible_range
    names, order, (low, high) = (
        (picture.row_names, picture.row_order, rows),
        (picture.column_names, picture.column_order, columns),
    )[axis]
    shown = [names[i][:60] for i in order[int(low) : int(np.ceil(high))][:400]]
    widest = max((metrics.horizontalAdvance(name) for name in shown), default=0.0)
    return min(widest + 2, MOST_LABEL, 0.34 * (canvas.width() if axis == 0 else 3 * canvas.height()))


def paint_strips(canvas: HeatCanvas, painter: QPainter) -> None:
    """Strips above the cells, one colour a device pixel."""
    picture, plot = canvas.picture, canvas.plot
    if picture is None:
        return
    _, columns = canvas.visible_range
    y = float(RING)
    for strip in picture.strips:
        pixels = strip_pixels(strip, picture.column_order, columns, canvas.device_length(plot.width()))
        painter.drawImage(QRectF(plot.left(), y, plot.width(), STRIP), image_of(pixels[None, :]))
        y += STRIP + GAP


def columns_fit(canvas: HeatCanvas, wide: float) -> bool:
    """Whether all column names in view can be written across, where the cells are so wide."""
    assert canvas.picture is not None
    _, (left, right) = canvas.visible_range
    width, metrics = wide / (right - left) - 4, canvas.caption_metrics()
    if width < 20:
        return False
    names, order = canvas.picture.column_names, canvas.picture.column_order
    return all(metrics.horizontalAdvance(names[i]) <= width for i in order[int(left) : int(np.ceil(right))])


def paint_labels(canvas: HeatCanvas, painter: QPainter) -> None:
    """Row names at the right and column names below, where the layout has left room."""
    if canvas.picture is None:
        return
    painter.setPen(theme().color("muted"))
    _row_labels(canvas, painter)
    _column_labels(canvas, painter)


def _row_labels(canvas: HeatCanvas, painter: QPainter) -> None:
    picture, plot, metrics = canvas.picture, canvas.plot, canvas.caption_metrics()
    assert picture is not None
    room = canvas.width() - RING - plot.right() - space.S
    if room <= 12:
        return
    (low, high), _ = canvas.visible_range
    for position in range(int(low), int(np.ceil(high))):
        top, bottom = max(canvas.y_of(position), plot.top()), min(canvas.y_of(position + 1), plot.bottom())
        if bottom - top < metrics.height() * 0.7:
            continue
        name = picture.row_names[picture.row_order[position]]
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, room)
        _text(canvas, painter, QPointF(plot.right() + space.S, (top + bottom) / 2), shown)


def _column_labels(canvas: HeatCanvas, painter: QPainter) -> None:
    picture, plot, metrics = canvas.picture, canvas.plot, canvas.caption_metrics()
    assert picture is not None
    room = canvas.height() - RING - plot.bottom() - space.XS
    if room <= 12:
        return
    flat = columns_fit(canvas, plot.width())
    _, (low, high) = canvas.visible_range
    for position in range(int(low), int(np.ceil(high))):
        left, right = max(canvas.x_of(position), plot.left()), min(canvas.x_of(position + 1), plot.right())
        if right - left < metrics.height() * 0.6:
            continue
        name = picture.column_names[picture.column_order[position]]
        painter.save()
        if flat:
            x = (left + right - metrics.horizontalAdvance(name)) / 2
            _text(canvas, painter, QPointF(x, plot.bottom() + space.XS + metrics.height() / 2), name)
        else:
            painter.translate((left + right) / 2, plot.bottom() + space.XS)
            painter.rotate(90)
            _text(canvas, painter, QPointF(0, 0), metrics.elidedText(name, Qt.TextElideMode.ElideRight, room))
        painter.restore()


def _text(canvas: HeatCanvas, painter: QPainter, at: QPointF, text: str) -> None:
    """Text that starts at a point and is centred on its height."""
    metrics = canvas.caption_metrics()
    painter.drawText(QPointF(at.x(), at.y() + (metrics.ascent() - metrics.descent()) / 2), text)


def paint_marks(canvas: HeatCanvas, painter: QPainter) -> None:
    """Triangles at the edges where marked rows and columns are."""
    picture, plot = canvas.picture, canvas.plot
    if picture is None or not (canvas.marked_rows or canvas.marked_columns):
        return
    (top, bottom), (left, right) = canvas.visible_range
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme().color("surface"), 1))
    painter.setBrush(theme().color("accent"))
    for row in canvas.marked_rows:
        position = int(np.flatnonzero(picture.row_order == row)[0]) + 0.5
        if top <= position <= bottom:
            x, y = plot.right(), canvas.y_of(position)
            painter.drawPolygon([QPointF(x - 9, y), QPointF(x + 2, y - 6), QPointF(x + 2, y + 6)])
    for column in canvas.marked_columns:
        position = int(np.flatnonzero(picture.column_order == column)[0]) + 0.5
        if left <= position <= right:
            x, y = canvas.x_of(position), plot.bottom()
            painter.drawPolygon([QPointF(x, y - 9), QPointF(x - 6, y + 2), QPointF(x + 6, y + 2)])
    painter.restore()
