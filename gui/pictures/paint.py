"""A whole picture on a painter: the same for the window, for files and for thumbnails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPen

from plaidwork.core.pictures import Bands, Bars, Cells, Image, Line, Mark, Panel, Picture, Points, Prose
from plaidwork.gui.pictures.axes import (
    elided,
    paint_aside,
    paint_columns,
    paint_ends,
    paint_ground,
    paint_legend,
)
from plaidwork.gui.pictures.cells import paint_cell_spots, paint_image_spot
from plaidwork.gui.pictures.frame import Frame, Layout
from plaidwork.gui.pictures.hits import Spot, mark_of, position
from plaidwork.gui.pictures.marks import bar_boxes, paint_labels, paint_mark, paint_point, paint_points
from plaidwork.gui.pictures.style import Style

_ROOM = 7.0
"""Pixels that marks at the edge may reach beyond a panel that is not zoomed."""


_FADED = 0.25
"""Opacity of points while others are selected."""
_TAG = 240.0
"""Pixels of the name beside a point at most."""
Selected = Mapping[str, frozenset[int]]


def paint_picture(
    painter: QPainter, picture: Picture, layout: Layout, style: Style, selected: Selected | None = None
) -> None:
    """Everything but what is pointed at; points that are not among those ``selected``, by kind, are pale."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_legend(painter, layout.legend, style)
    for frame in layout.frames:
        paint_ground(painter, frame, style)
        painter.save()
        painter.setClipRect(_inside(frame))
        for mark in frame.panel.marks:
            painter.setClipRect(_inside(frame) if mark.held else frame.area)
            chosen = chosen_of(frame.panel, mark, selected or {})
            if chosen is None or not isinstance(mark, Points):
                paint_mark(mark, painter, frame, style)
                continue
            painter.setOpacity(_FADED)
            paint_points(mark, painter, frame, style, ~chosen)
            painter.setOpacity(1.0)
            paint_points(mark, painter, frame, style, chosen, 1.0)
        painter.restore()
        for mark in frame.panel.marks:
            if isinstance(mark, Bars) and mark.labels:
                paint_labels(mark, painter, frame, style)
        paint_ends(painter, frame, style)
        paint_aside(painter, frame, style)
        paint_columns(painter, frame, style)


def chosen_of(panel: Panel, mark: Mark, selected: Selected) -> np.ndarray | None:
    """Which points (n,) of a mark are selected; None when it fades nothing: in rows, or for it has none that are."""
    if panel.reads == "row":
        return None
    if not isinstance(mark, Points) or mark.of is None or len(mark) < 2 or not selected.get(mark.of.kind):
        return None
    chosen = np.zeros(len(mark), dtype=bool)
    chosen[mark.of.pieces(selected[mark.of.kind])] = True
    return chosen if chosen.any() else None


def told_apart(picture: Picture, selected: Selected) -> set[tuple[int, int]]:
    """Panels and marks whose selected points are told by the others being pale."""
    return {
        (p, k)
        for p, panel in enumerate(picture.panels)
        for k, mark in enumerate(panel.marks)
        if chosen_of(panel, mark, selected) is not None
    }


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
        if isinstance(mark, Image):
            paint_image_spot(mark, painter, frame, style, selected)
        elif isinstance(mark, Prose):
            _beside_text(painter, frame, style, selected)
        elif frame.panel.reads == "row":
            _paint_row(painter, frame, at.y(), style, selected)
        elif isinstance(mark, Bars):
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
            if not selected and mark.called is not None:
                _paint_tag(painter, at, mark.called_of(spot.piece), frame, style)
        elif at.x() == at.x() and at.y() == at.y():
            if isinstance(mark, Line) and frame.panel.reads == "across":
                _across(painter, frame, at.x(), style)
            paint_point(painter, at, style.color(mark.color_of(spot.piece)), 0, 5, style)
        painter.restore()
    for (panel, number), pieces in cells.items():
        together = mark_of(picture, Spot(panel, number, 0))
        assert isinstance(together, Cells)
        paint_cell_spots(together, painter, layout.frames[panel], pieces, style, selected)


def _paint_row(painter: QPainter, frame: Frame, y: float, style: Style, selected: bool) -> None:
    """A row with its name, tinted."""
    high = abs(frame.y.at(1.0) - frame.y.at(0.0))
    middle = frame.y.at(round(frame.y.value(y)))
    ink = style.color("accent" if selected else "text")
    ink.setAlphaF(0.14 if selected else 0.07)
    painter.setClipping(False)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ink)
    painter.drawRoundedRect(QRectF(frame.left, middle - high / 2, frame.right - frame.left, high), 4, 4)


def _beside_text(painter: QPainter, frame: Frame, style: Style, selected: bool) -> None:
    """A line at the left of a text with its title."""
    painter.setClipping(False)
    painter.setPen(QPen(style.color("accent" if selected else "control"), 2))
    left, area = frame.left - 5, frame.area
    painter.drawLine(QPointF(left, area.top()), QPointF(left, area.bottom()))


def _paint_tag(painter: QPainter, at: QPointF, name: str, frame: Frame, style: Style) -> None:
    """The name of a point on a card beside it."""
    metrics = style.metrics()
    words = elided(metrics, name, _TAG)
    wide = metrics.horizontalAdvance(words) + 12
    left = at.x() + 12 if at.x() + 12 + wide < frame.right else at.x() - 12 - wide
    card = QRectF(left, at.y() - metrics.height() / 2 - 2, wide, metrics.height() + 4)
    painter.setClipping(False)
    painter.setPen(QPen(style.color("border"), 1))
    painter.setBrush(style.color("surface"))
    painter.drawRoundedRect(card, 4, 4)
    painter.setFont(style.font())
    painter.setPen(style.color("text"))
    painter.drawText(card, Qt.AlignmentFlag.AlignCenter, words)


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
