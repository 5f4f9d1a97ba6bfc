"""A whole picture on a painter: the same for the window, for files and for thumbnails."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from plaidwork.core.pictures import Bands, Bars, Cells, Line, Picture, Points
from plaidwork.gui.pictures.axes import paint_aside, paint_ends, paint_ground, paint_legend
from plaidwork.gui.pictures.cells import paint_cell_spots
from plaidwork.gui.pictures.frame import Frame, Layout
from plaidwork.gui.pictures.hits import Spot, mark_of, position
from plaidwork.gui.pictures.marks import bar_boxes, paint_labels, paint_mark
from plaidwork.gui.pictures.shapes import paint_point
from plaidwork.gui.pictures.style import Style

_ROOM = 7.0
"""Pixels that marks at the edge may reach beyond a panel that is not zoomed."""


def paint_picture(painter: QPainter, layout: Layout, style: Style) -> None:
    """Everything but what is pointed at or selected."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_legend(painter, layout.legend, style)
    for frame in layout.frames:
        paint_ground(painter, frame, style)
        painter.save()
        painter.setClipRect(_inside(frame))
        for mark in frame.panel.marks:
            paint_mark(mark, painter, frame, style)
        painter.restore()
        for mark in frame.panel.marks:
            if isinstance(mark, Bars) and mark.labels:
                paint_labels(mark, painter, frame, style)
        paint_ends(painter, frame, style)
        paint_aside(painter, frame, style)


def _inside(frame: Frame) -> QRectF:
    room = 0.0 if frame.zoomed else _ROOM
    return frame.area.adjusted(-room, -room, room, room)


def paint_spots(
    painter: QPainter, picture: Picture, layout: Layout, spots: Iterable[Spot], style: Style, selected: bool
) -> None:
    """Mark the pieces that are pointed at, or those that are selected."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    cells: dict[tuple[int, int], list[int]] = {}
    for spot in spots:
        if isinstance(mark_of(picture, spot), Cells):
            cells.setdefault((spot.panel, spot.mark), []).append(spot.piece)
            continue
        frame, mark = layout.frames[spot.panel], mark_of(picture, spot)
        painter.save()
        painter.setClipRect(_inside(frame).adjusted(-2, -2, 2, 2))
        at = position(mark, frame, spot.piece)
        color = "accent" if selected else "text"
        if isinstance(mark, Bars):
            _spot_of_bar(painter, mark, frame, spot.piece, style, color)
        elif isinstance(mark, Bands):
            _across(painter, frame, at.x(), style)
            painter.setPen(QPen(style.color(color), 2))
            low, high = (frame.y.at(float(edge[spot.piece])) for edge in (mark.low, mark.high))
            painter.drawLine(QPointF(at.x(), low), QPointF(at.x(), high))
        elif isinstance(mark, Points):
            painter.setPen(QPen(style.color(color), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            radius = mark.size_of(spot.piece) / 2 + 3
            painter.drawEllipse(at, radius, radius)
        elif at.x() == at.x() and at.y() == at.y():
            if isinstance(mark, Line) and frame.panel.reads == "across":
                _across(painter, frame, at.x(), style)
            paint_point(painter, at, mark.color_of(spot.piece), 0, 5, style)
        painter.restore()
    for (panel, number), pieces in cells.items():
        together = mark_of(picture, Spot(panel, number, 0))
        assert isinstance(together, Cells)
        paint_cell_spots(together, painter, layout.frames[panel], pieces, style, selected)


def _across(painter: QPainter, frame: Frame, x: float, style: Style) -> None:
    painter.setPen(QPen(style.color("axis"), 1, Qt.PenStyle.DashLine))
    painter.drawLine(QPointF(x, frame.area.top()), QPointF(x, frame.area.bottom()))


def _spot_of_bar(painter: QPainter, mark: Bars, frame: Frame, piece: int, style: Style, color: str) -> None:
    (box,) = bar_boxes(mark, frame, np.array([piece]))
    painter.setPen(QPen(style.color(color), 2 if box.width() > 4 else 1.4))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if box.width() > 4:
        painter.drawRect(box)
    else:
        painter.drawLine(
            box.center() + QPointF(0, -box.height() / 2), box.center() + QPointF(0, box.height() / 2)
        )
