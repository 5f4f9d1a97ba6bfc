"""Every kind of mark, painted in its frame."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF

from plaidwork.core.pictures import (
    Bands,
    Bars,
    Cells,
    Hatch,
    Image,
    Intervals,
    Line,
    Links,
    Mark,
    Outlines,
    Points,
    Prose,
    Regions,
    Rug,
    Rule,
    Texts,
)
from plaidwork.gui.pictures.cells import paint_cells, paint_image
from plaidwork.gui.pictures.frame import Frame
from plaidwork.gui.pictures.joints import paint_links
from plaidwork.gui.pictures.lines import polygon, runs, thinned
from plaidwork.gui.pictures.prose import paint_prose
from plaidwork.gui.pictures.rasters import MANY_POINTS, inks_of, points_image
from plaidwork.gui.pictures.regions import paint_regions
from plaidwork.gui.pictures.style import Style
from plaidwork.gui.pictures.swarm import pixels_of
from plaidwork.gui.pictures.texts import paint_texts

_RUG, _MOST_RUG, _HATCH = 7.0, 3000, 18.0
_SHAPES: dict[int, tuple[tuple[float, float], ...]] = {
    1: ((-1.1, -0.85), (1.1, -0.85), (0, 1.15)),
    2: ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    3: ((0, -1.25), (1.15, 0), (0, 1.25), (-1.15, 0)),
    4: ((-1.1, 0.85), (1.1, 0.85), (0, -1.15)),
    5: (
        (-0.4, -1.1), (0.4, -1.1), (0.4, -0.4), (1.1, -0.4), (1.1, 0.4), (0.4, 0.4),
        (0.4, 1.1), (-0.4, 1.1), (-0.4, 0.4), (-1.1, 0.4), (-1.1, -0.4), (-0.4, -0.4),
    ),
}  # fmt: skip
"""Polygons of the shapes of points, within a radius of 1; all others are round."""


def bar_boxes(mark: Bars, frame: Frame, pieces: np.ndarray) -> list[QRectF]:
    """Where bars are, on whole pixels."""
    at = frame.x.all_at(mark.x[pieces])
    units = np.abs(frame.x.all_at(mark.x[pieces] + mark.width) - at)
    wide = np.maximum(np.minimum(units, mark.widest), 1.0)
    left = np.round(at - wide / 2)
    right = np.maximum(np.where((wide > 2) | (mark.width >= 1), np.round(at + wide / 2), left + 1), left + 1)
    ends = np.round([frame.y.all_at(mark.low[pieces]), frame.y.all_at(mark.high[pieces])])
    top, high = ends.min(axis=0), np.maximum(np.abs(ends[0] - ends[1]), 1)
    places = zip(left.tolist(), top.tolist(), (right - left).tolist(), high.tolist(), strict=True)
    return [QRectF(*place) for place in places]


@singledispatch
def paint_mark(mark: Mark, painter: QPainter, frame: Frame, style: Style) -> None:
    """Draw one mark in a frame."""
    raise TypeError(f"nothing draws {type(mark).__name__}")


@paint_mark.register
def _line(mark: Line, painter: QPainter, frame: Frame, style: Style) -> None:
    x, y = frame.x.all_at(mark.x), frame.y.all_at(mark.y)
    ink = style.color(mark.color_of(0) if len(mark) else "text")
    ink.setAlphaF(mark.opacity)
    pen = QPen(ink, mark.width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    if mark.dashed:
        pen.setStyle(Qt.PenStyle.DashLine)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for part in runs(np.isfinite(x) & np.isfinite(y)):
        kept = thinned(x[part], y[part])
        along, up = x[part][kept], y[part][kept]
        if mark.steps:
            along, up = np.repeat(along, 2)[1:], np.repeat(up, 2)[:-1]
        if len(along) == 1:
            painter.drawEllipse(QPointF(along[0], up[0]), 2, 2)
        else:
            painter.drawPolyline(polygon(along, up))


@paint_mark.register
def _bands(mark: Bands, painter: QPainter, frame: Frame, style: Style) -> None:
    x, low, high = frame.x.all_at(mark.x), frame.y.all_at(mark.low), frame.y.all_at(mark.high)
    fill = style.color(mark.color_of(0) if len(mark) else "text")
    fill.setAlphaF(mark.opacity)
    painter.setPen(QPen(style.color("surface"), 1) if mark.opacity == 1 else Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    for part in runs(np.isfinite(x) & np.isfinite(low) & np.isfinite(high)):
        kept = thinned(x[part], low[part], high[part])
        along = np.concatenate([x[part][kept], x[part][kept][::-1]])
        painter.drawPolygon(polygon(along, np.concatenate([high[part][kept], low[part][kept][::-1]])))


@paint_mark.register
def _intervals(mark: Intervals, painter: QPainter, frame: Frame, style: Style) -> None:
    x, low, high = frame.x.all_at(mark.x), frame.y.all_at(mark.low), frame.y.all_at(mark.high)
    for i in np.flatnonzero(np.isfinite(x) & np.isfinite(low) & np.isfinite(high)):
        inks = [(style.color("surface"), mark.width + 2.4)] if mark.halo else []
        for color, width in (*inks, (style.color(mark.color_of(int(i))), mark.width)):
            pen = QPen(color, width)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            painter.drawLine(QPointF(x[i], low[i]), QPointF(x[i], high[i]))


@paint_mark.register
def _points(mark: Points, painter: QPainter, frame: Frame, style: Style) -> None:
    paint_points(mark, painter, frame, style)


def paint_points(
    mark: Points,
    painter: QPainter,
    frame: Frame,
    style: Style,
    shown: np.ndarray | None = None,
    larger: float = 0.0,
) -> None:
    """All points, or those ``shown`` (n,), with a radius so much larger."""
    if len(mark) >= MANY_POINTS and mark.sizes is None:
        image, target = points_image(mark, frame, style, painter.device().devicePixelRatioF(), shown)
        painter.drawImage(target, image)
        return
    x, y = pixels_of(mark, frame)
    inks = inks_of(mark, style)
    known = None if mark.levels is None else np.isfinite(mark.levels)
    for i in np.flatnonzero(np.isfinite(x) & np.isfinite(y) & (True if shown is None else shown)):
        shape = int(mark.shapes[int(i)]) if len(mark.shapes) else 0
        if known is not None:
            shape = shape if known[i] else -2
        ink = QColor.fromRgb(int(inks[i]))
        paint_point(
            painter,
            QPointF(x[i], y[i]),
            ink,
            shape,
            mark.size_of(int(i)) / 2 + 0.5 + larger,
            style,
            known is not None,
        )


def paint_point(
    painter: QPainter,
    at: QPointF,
    color: QColor,
    shape: int,
    radius: float,
    style: Style,
    outlined: bool = False,
) -> None:
    """A filled mark with a rim of the surface, or an outline, as pale ones need it; hollow or crossed below 0."""
    if shape == -2:
        painter.setPen(QPen(style.color("control"), 1.4))
        arm = radius * 0.8
        for rise in (arm, -arm):
            painter.drawLine(QPointF(at.x() - arm, at.y() - rise), QPointF(at.x() + arm, at.y() + rise))
        return
    rims = {-1: (style.color("control"), 1.2), -3: (color, 1.6)}
    rim = (style.color("control"), 0.8) if outlined else (style.color("surface"), 1.0)
    painter.setPen(QPen(*rims.get(shape, rim)))
    painter.setBrush(style.color("surface") if shape < 0 else color)
    if shape in _SHAPES:
        painter.drawPolygon(
            QPolygonF([QPointF(at.x() + radius * a, at.y() + radius * b) for a, b in _SHAPES[shape]])
        )
    else:
        painter.drawEllipse(at, radius, radius)


@paint_mark.register
def _bars(mark: Bars, painter: QPainter, frame: Frame, style: Style) -> None:
    shown = np.flatnonzero(np.isfinite(mark.x) & np.isfinite(mark.low) & np.isfinite(mark.high))
    x = frame.x.all_at(mark.x[shown])
    inside = (x >= frame.area.left() - mark.widest) & (x <= frame.area.right() + mark.widest)
    shown, x = shown[inside], x[inside]
    if len(shown) > 2 * frame.area.width():  # one bar a pixel
        _, first = np.unique(np.floor(x), return_index=True)
        shown = shown[first]
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    colors = {color: style.color(color) for color in {mark.color_of(int(i)) for i in shown}}
    for i, box in zip(shown, bar_boxes(mark, frame, shown), strict=True):
        painter.fillRect(box, colors[mark.color_of(int(i))])
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def paint_labels(mark: Bars, painter: QPainter, frame: Frame, style: Style) -> None:
    """Values above bars, that of the strongest in any case, the others where they meet none."""
    known = np.isfinite(mark.x) & np.isfinite(mark.low) & np.isfinite(mark.high)
    shown = sorted(np.flatnonzero(known).tolist(), key=lambda i: i != mark.strongest)
    tops = [frame.y.all_at(other.high) for other in _whiskers(frame, mark)]
    taken: list[QRectF] = []
    painter.setPen(style.color("text"))
    for i, box in zip(shown, bar_boxes(mark, frame, np.array(shown, dtype=np.intp)), strict=True):
        role = "strong" if i == mark.strongest else "caption"
        metrics = style.metrics(role)
        wide, high = metrics.horizontalAdvance(mark.labels[i]) + 4, metrics.height()
        top = min([box.top(), *(float(heights[i]) for heights in tops if np.isfinite(heights[i]))])
        place = QRectF(box.center().x() - wide / 2, top - high - 3, wide, high)
        place.moveLeft(min(max(place.left(), frame.left), frame.right - wide))
        outside = not frame.area.left() - 1 <= box.center().x() <= frame.area.right() + 1
        if outside or any(place.intersects(other) for other in taken):
            continue
        taken.append(place)
        painter.setFont(style.font(role))
        painter.drawText(place, Qt.AlignmentFlag.AlignHCenter, mark.labels[i])


def _whiskers(frame: Frame, bars: Bars) -> list[Intervals]:
    """Intervals of the same bars, above which the labels stand."""
    return [mark for mark in frame.panel.marks if isinstance(mark, Intervals) and len(mark) == len(bars)]


@paint_mark.register
def _regions(mark: Regions, painter: QPainter, frame: Frame, style: Style) -> None:
    paint_regions(mark, painter, frame, style)


@paint_mark.register
def _cells(mark: Cells, painter: QPainter, frame: Frame, style: Style) -> None:
    paint_cells(mark, painter, frame, style)


@paint_mark.register
def _image(mark: Image, painter: QPainter, frame: Frame, style: Style) -> None:
    paint_image(mark, painter, frame, style)


@paint_mark.register
def _prose(mark: Prose, painter: QPainter, frame: Frame, style: Style) -> None:
    paint_prose(mark, painter, frame.area, style)


@paint_mark.register
def _outlines(mark: Outlines, painter: QPainter, frame: Frame, style: Style) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    left, right = frame.x.all_at(mark.x0), frame.x.all_at(mark.x1)
    top, bottom = frame.y.all_at(mark.y1), frame.y.all_at(mark.y0)
    for i in range(len(mark)):
        box = QRectF(QPointF(left[i], top[i]), QPointF(right[i], bottom[i])).normalized()
        for color, width in (("surface", 2 * mark.width), (mark.color_of(i), mark.width)):
            painter.setPen(QPen(style.color(color), width))
            painter.drawRect(box)


@paint_mark.register
def _hatch(mark: Hatch, painter: QPainter, frame: Frame, style: Style) -> None:
    x, y = frame.x.all_at(mark.x), frame.y.all_at(mark.y)
    outlines, area = QPainterPath(), frame.area
    for part in runs(np.isfinite(x) & np.isfinite(y)):
        outlines.addPolygon(polygon(x[part], y[part]))
        outlines.closeSubpath()
    ink = style.color(mark.color_of(0) if len(mark) else "text")
    ink.setAlphaF(0.4)
    painter.save()
    painter.setClipPath(outlines, Qt.ClipOperation.IntersectClip)
    painter.setPen(QPen(ink, 1))
    for start in np.arange(area.left() - area.height(), area.right(), _HATCH):
        painter.drawLine(QPointF(start, area.bottom()), QPointF(start + area.height(), area.top()))
    painter.restore()


@paint_mark.register
def _links(mark: Links, painter: QPainter, frame: Frame, style: Style) -> None:
    paint_links(mark, painter, frame, style)


@paint_mark.register
def _texts(mark: Texts, painter: QPainter, frame: Frame, style: Style) -> None:
    paint_texts(mark, painter, frame, style)


@paint_mark.register
def _rule(mark: Rule, painter: QPainter, frame: Frame, style: Style) -> None:
    area, dash = frame.area, Qt.PenStyle.DashLine if mark.dashed else Qt.PenStyle.SolidLine
    for i, value in enumerate(mark.at):
        painter.setPen(QPen(style.color(mark.color_of(i)), mark.width, dash))
        if mark.axis == "x":
            at = frame.x.at(float(value))
            painter.drawLine(QPointF(at, area.top()), QPointF(at, area.bottom()))
        else:
            at = frame.y.at(float(value))
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))


@paint_mark.register
def _rug(mark: Rug, painter: QPainter, frame: Frame, style: Style) -> None:
    painter.setPen(QPen(style.color(mark.color_of(0) if len(mark) else "control"), 1))
    bottom = frame.area.bottom()
    shown = frame.x.all_at(mark.x[:: max(1, len(mark) // _MOST_RUG)])
    for at in shown[np.isfinite(shown)]:
        painter.drawLine(QPointF(at, bottom - _RUG), QPointF(at, bottom))
