"""Cells: as one image or as tiles, their labels, and the outline of those that are meant."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPaintEngine, QPainter, QPen, QPolygonF

from plaidwork.core.pictures import Cells, Image
from plaidwork.gui.pictures.frame import Frame
from plaidwork.gui.pictures.rasters import cells_image, shades, visible
from plaidwork.gui.pictures.style import Style
from plaidwork.gui.theme import ink_on

_DOT, _LEAST_DOTTED, _MOST_POINTED = 2.5, 8.0, 200
"""Radius of a dot, pixels of the smallest cells that have one, and lines that are pointed at, at most."""
_FINE, _OF_LINES = 3.0, (QPaintEngine.Type.Pdf, QPaintEngine.Type.SVG)
_TILE, _MOST_TILES, _ROUND = 12.0, 20_000, 3.0
"""Pixels of the smallest cells that stand apart, how many of them at most, and the radius of their corners."""


def cell_box(mark: Cells, frame: Frame, row: int, column: int) -> QRectF:
    """Where a cell is, on whole pixels."""
    n, m = mark.values.shape
    across = [frame.x.at(mark.x0 + (mark.x1 - mark.x0) * k / m) for k in (column, column + 1)]
    up = [frame.y.at(mark.y0 + (mark.y1 - mark.y0) * k / n) for k in (row, row + 1)]
    left, right, top, bottom = round(min(across)), round(max(across)), round(min(up)), round(max(up))
    return QRectF(left, top, right - left, bottom - top)


def paint_cells(mark: Cells, painter: QPainter, frame: Frame, style: Style) -> None:
    """The visible cells by their colours, then their labels."""
    first = cell_box(mark, frame, 0, 0) if len(mark) else QRectF()
    small = min(first.width(), first.height()) < 2 or first.width() < _TILE
    if not mark.gap or small or len(mark) > _MOST_TILES:
        found = cells_image(mark, frame, style, _ratio(painter))
        if found is not None:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, mark.smooth)
            painter.drawImage(found[1], found[0])
    else:
        _paint_tiles(mark, painter, frame, style)
    if mark.labels:
        _paint_labels(mark, painter, frame, style, first)
    if mark.dots is not None and min(first.width(), first.height()) >= _LEAST_DOTTED:
        painter.setPen(QPen(style.color("surface"), 1))
        painter.setBrush(style.color("text"))
        n, m = mark.values.shape
        rows, columns = visible(frame.y, mark.y0, mark.y1, n), visible(frame.x, mark.x0, mark.x1, m)
        if rows is not None and columns is not None:
            top, left = int(rows[0]), int(columns[0])
            shown = mark.dots[top : int(np.ceil(rows[1])), left : int(np.ceil(columns[1]))]
            for row, column in np.argwhere(shown).tolist():
                at = cell_box(mark, frame, top + row, left + column).center()
                painter.drawEllipse(at, _DOT, _DOT)


def paint_image(mark: Image, painter: QPainter, frame: Frame, style: Style) -> None:
    """All pixels, and a thin line around them."""
    found = cells_image(mark, frame, style, _ratio(painter))
    if found is not None:
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, mark.smooth)
        painter.drawImage(found[1], found[0])
        painter.setPen(QPen(style.color("border"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(image_box(mark, frame).adjusted(-0.5, -0.5, 0.5, 0.5))


def image_box(mark: Image, frame: Frame) -> QRectF:
    """Where an image is."""
    x, y = (
        (scale.at(low), scale.at(high))
        for scale, low, high in ((frame.x, mark.x0, mark.x1), (frame.y, mark.y0, mark.y1))
    )
    return QRectF(QPointF(x[0], y[0]), QPointF(x[1], y[1])).normalized()


def paint_image_spot(mark: Image, painter: QPainter, frame: Frame, style: Style, selected: bool) -> None:
    """A ring around an image that is meant."""
    painter.setPen(QPen(style.color("accent" if selected else "text"), 2 if selected else 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(image_box(mark, frame).adjusted(-3, -3, 3, 3), _ROUND, _ROUND)


def _ratio(painter: QPainter) -> float:
    """Pixels of a unit of the layout: files of lines have finer ones, so that the edges of cells are where they are."""
    ratio = painter.device().devicePixelRatioF()
    return max(ratio, _FINE) if painter.paintEngine().type() in _OF_LINES else ratio


def paint_lines_of(
    mark: Cells, painter: QPainter, frame: Frame, kind: str, items: frozenset[int], style: Style
) -> None:
    """Triangles at the left and the lower edge where rows and columns stand for these items."""
    numbers = np.fromiter(items, dtype=np.intp)
    for axis, held in (("y", mark.rows), ("x", mark.columns)):
        if held is not None and held.kind == kind:
            places = np.flatnonzero(np.isin(held.index, numbers))[:_MOST_POINTED]
            paint_places(painter, frame, axis, mark.places(axis, places), style)


def paint_places(painter: QPainter, frame: Frame, axis: str, places: np.ndarray, style: Style) -> None:
    """Triangles at the left or the lower edge of a panel at these places of "y" or "x"."""
    area = frame.area
    painter.setPen(QPen(style.color("surface"), 1))
    painter.setBrush(style.color("accent"))
    for at in (frame.x if axis == "x" else frame.y).all_at(places).tolist():
        if axis == "x" and area.left() <= at <= area.right():
            corners = ((at, area.bottom() - 9), (at - 6, area.bottom() + 2), (at + 6, area.bottom() + 2))
        elif axis == "y" and area.top() <= at <= area.bottom():
            corners = ((area.left() + 9, at), (area.left() - 2, at - 6), (area.left() - 2, at + 6))
        else:
            continue
        painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))


def _paint_tiles(mark: Cells, painter: QPainter, frame: Frame, style: Style) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    half = mark.gap / 2
    for (row, column), ink in np.ndenumerate(shades(mark, style)):
        box = cell_box(mark, frame, row, column).adjusted(half, half, -half, -half)
        painter.setBrush(QColor(int(ink)))
        painter.drawRoundedRect(box, _ROUND, _ROUND)


def _paint_labels(mark: Cells, painter: QPainter, frame: Frame, style: Style, cell: QRectF) -> None:
    """All labels with as many of their lines as find room in every cell; none where the first line does not."""
    lines = [label.split("\n") for label in mark.labels]
    strong, plain = style.metrics("strong"), style.metrics()
    wide = max(plain.horizontalAdvance(parts[0]) for parts in lines)
    below = max((plain.horizontalAdvance(part) for parts in lines for part in parts[1:2]), default=0.0)
    if wide + 4 > cell.width() or cell.height() < plain.height():
        return
    both = max(below, max(strong.horizontalAdvance(parts[0]) for parts in lines)) + 4 <= cell.width()
    both = both and below > 0 and cell.height() >= 2.6 * plain.height()
    inks = shades(mark, style).ravel()
    known = {int(ink): ink_on(QColor(int(ink))) for ink in set(inks.tolist())}
    for piece, parts in enumerate(lines):
        box = cell_box(mark, frame, *divmod(piece, mark.values.shape[1]))
        painter.setPen(known[int(inks[piece])])
        painter.setFont(style.font("strong" if both else "caption"))
        if not both:
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, parts[0])
            continue
        high = 1.2 * plain.height()
        upper = QRectF(box.left(), box.center().y() - high, box.width(), high)
        painter.drawText(upper, Qt.AlignmentFlag.AlignCenter, parts[0])
        painter.setFont(style.font())
        painter.drawText(upper.translated(0, high), Qt.AlignmentFlag.AlignCenter, "".join(parts[1:2]))


def paint_cell_spots(
    mark: Cells, painter: QPainter, frame: Frame, pieces: Iterable[int], style: Style, selected: bool
) -> None:
    """The outline of some cells together: lines where one of them meets one that is not."""
    n, m = mark.values.shape
    rows, columns = np.divmod(np.fromiter(pieces, dtype=np.intp), m)
    if not len(rows):
        return
    low, left = rows.min(), columns.min()
    meant = np.zeros((int(np.ptp(rows)) + 3, int(np.ptp(columns)) + 3), dtype=np.int8)
    meant[rows - low + 1, columns - left + 1] = 1
    x = frame.x.all_at(mark.x0 + (mark.x1 - mark.x0) * (np.arange(meant.shape[1] - 1) + left) / m)
    y = frame.y.all_at(mark.y0 + (mark.y1 - mark.y0) * (np.arange(meant.shape[0] - 1) + low) / n)
    x, y = np.round(x), np.round(y)
    lines = [
        QLineF(x[c - 1], y[r], x[c], y[r]) for r, c in np.argwhere(np.diff(meant, axis=0) != 0).tolist()
    ] + [QLineF(x[c], y[r - 1], x[c], y[r]) for r, c in np.argwhere(np.diff(meant, axis=1) != 0).tolist()]
    for color, width in (("surface", 4.0), ("accent" if selected else "text", 2.0)):
        pen = QPen(style.color(color), width)
        pen.setCapStyle(Qt.PenCapStyle.SquareCap)
        painter.setPen(pen)
        painter.drawLines(lines)
