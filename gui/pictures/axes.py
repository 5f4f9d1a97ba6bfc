"""What stands around the marks: ticks with faint lines, names of axes, titles, names at the right end, the legend."""

from __future__ import annotations

import math
from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF, QImage, QPainter, QPen, QPolygonF

from plaidwork.core.pictures import End, Key, Ramp, Tick
from plaidwork.gui.pictures.frame import (
    ACROSS,
    GAUGE,
    UP,
    Frame,
    Pixels,
    beside,
)
from plaidwork.gui.pictures.keys import RAMP, LegendPlace
from plaidwork.gui.pictures.marks import paint_point
from plaidwork.gui.pictures.names import beside_rows
from plaidwork.gui.pictures.style import Style
from plaidwork.gui.tokens import size, space

_ENDLESS = 10_000.0
"""Pixels that are more than any text beside a panel is high."""
_LEFT, _RIGHT, _CENTRE = (
    Qt.AlignmentFlag.AlignLeft,
    Qt.AlignmentFlag.AlignRight,
    Qt.AlignmentFlag.AlignHCenter,
)
_MIDDLE = Qt.AlignmentFlag.AlignVCenter
_BEYOND = 8.0
"""Pixels of the tip of a colour map beyond whose end there are values."""
_NAME = 60.0
"""Pixels to which names of categories are cut before some are left out."""


def elided(metrics: QFontMetricsF, text: str, room: float) -> str:
    """The text, cut with an ellipsis to what there is room for."""
    return metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(room, 0))


def paint_ground(painter: QPainter, frame: Frame, style: Style) -> None:
    """Faint lines, tick texts and names of both axes, below the marks."""
    _paint_left(painter, frame, style)
    _paint_bottom(painter, frame, style)
    if frame.panel.title:
        _paint_title(painter, frame, style)


def _paint_title(painter: QPainter, frame: Frame, style: Style) -> None:
    """The title at the left, and at the right the longest of its values that fits beside it."""
    title, caption, room = style.metrics("strong"), style.metrics(), frame.right - frame.left
    above = (caption.height() + space.XS) * (bool(frame.panel.x.title) + frame.panel.x.ticks)
    top = frame.area.top() - title.height() - 1.2 * space.S - (above if frame.panel.x.above else 0)
    left = title.horizontalAdvance(frame.panel.title) + space.M
    fitting = [text for text in frame.panel.values if left + caption.horizontalAdvance(text) <= room]
    value = next(iter(fitting), frame.panel.values[-1] if frame.panel.values else "")
    wide = caption.horizontalAdvance(value) + 2 if value else 0.0
    painter.setFont(style.font())
    painter.setPen(style.color("muted"))
    painter.drawText(QRectF(frame.right - wide, top, wide, title.height()), _RIGHT | _MIDDLE, value)
    painter.setFont(style.font("strong"))
    painter.setPen(style.color("text"))
    box = QRectF(frame.left, top, room - wide - (space.M if value else 0), title.height())
    painter.drawText(box, _LEFT | _MIDDLE, elided(title, frame.panel.title, box.width()))


def _paint_left(painter: QPainter, frame: Frame, style: Style) -> None:
    metrics, area, axis = style.metrics(), frame.area, frame.panel.y
    painter.setFont(style.font())
    high = metrics.height()
    ticks = placed_names(frame.y, high) if axis.scale == "category" else frame.y.ticks(UP)
    for tick in ticks:
        at = round(frame.y.at(tick.value)) + 0.5
        if frame.panel.lines and axis.scale != "category":
            strong = tick.value == 0 and axis.scale == "linear"
            painter.setPen(QPen(style.color("axis" if strong else "grid"), 1))
            painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at))
        if axis.ticks:
            painter.setPen(style.color("text" if frame.panel.reads == "row" else "muted"))
            named = high + space.XS if axis.title else 0.0
            box = QRectF(
                frame.left + named, at - high / 2, area.left() - space.S - frame.left - named, high
            ).normalized()
            painter.drawText(box, _RIGHT | _MIDDLE, elided(metrics, tick.text, box.width() + 1))
    if axis.title:
        painter.save()
        painter.translate(frame.left, area.center().y())
        painter.rotate(-90)
        room = max(area.height(), min(metrics.horizontalAdvance(axis.title) + 2, area.height() + 3 * high))
        painter.setPen(style.color("muted"))
        box = QRectF(-room / 2, 0, room, high)
        painter.drawText(box, _CENTRE, elided(metrics, axis.title, room))
        painter.restore()


def _paint_bottom(painter: QPainter, frame: Frame, style: Style) -> None:
    metrics, area, axis = style.metrics(), frame.area, frame.panel.x
    painter.setFont(style.font())
    painter.setPen(QPen(style.color("axis"), 1))
    y = round(area.bottom()) + 0.5
    if axis.line and not (axis.above or frame.panel.strip):
        painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
    painter.setPen(style.color("muted"))
    high = metrics.height()
    first = area.top() - high - space.XS if axis.above else y + space.XS
    below = high + (high if axis.below else 0)
    if axis.ticks and frame.upright:
        _paint_upright(painter, frame, style, first)
        below = frame.upright + space.XS
    elif axis.ticks and axis.scale == "category":
        _paint_categories(painter, frame, style, first)
    elif axis.ticks:
        _paint_values(painter, frame, style, first)
    if axis.title:
        away = -(high + space.XS) if axis.above else below + space.XS
        top = first + (away if axis.ticks else 0)
        room = min(max(area.width(), metrics.horizontalAdvance(axis.title) + 2), frame.right - frame.left)
        left = min(max(area.center().x() - room / 2, frame.left), frame.right - room)
        painter.drawText(QRectF(left, top, room, high), _CENTRE, elided(metrics, axis.title, room))


def _paint_values(painter: QPainter, frame: Frame, style: Style, top: float) -> None:
    metrics = style.metrics()
    for tick, left, wide in apart(frame, style):
        if frame.panel.reads == "row" and frame.panel.lines:
            at = round(frame.x.at(tick.value)) + 0.5
            painter.setPen(QPen(style.color("grid"), 1))
            painter.drawLine(QPointF(at, frame.area.top()), QPointF(at, frame.area.bottom()))
            painter.setPen(style.color("muted"))
        painter.drawText(QRectF(left - 4, top, wide + 8, metrics.height()), _CENTRE, tick.text)


def apart(frame: Frame, style: Style) -> list[tuple[Tick, float, float]]:
    """Ticks whose texts keep apart, with the left end and the width of each: every second, third, ... where they would
    meet, 0 among them."""
    metrics, ticks = style.metrics(), frame.x.ticks(ACROSS)
    zero = next((k for k, tick in enumerate(ticks) if tick.value == 0), 0)
    found: list[tuple[Tick, float, float]] = []
    for every in range(1, len(ticks) + 1):
        found = []
        for tick in ticks[zero % every :: every]:
            wide = metrics.horizontalAdvance(tick.text)
            left = min(max(frame.x.at(tick.value) - wide / 2, frame.left), frame.right - wide)
            found.append((tick, left, wide))
        if all(left + wide + space.XS <= after for (_, left, wide), (_, after, _) in pairwise(found)):
            break
    return found


def placed_names(pixels: Pixels, room: float) -> list[Tick]:
    """Names of an axis of categories: every so many that each has ``room`` pixels."""
    scaling = pixels.scaling
    every = max(1, math.ceil(0.9 * room / max(abs(pixels.at(1) - pixels.at(0)), 1e-6)))
    first, last = max(0, math.ceil(scaling.low)), min(len(scaling.names) - 1, math.floor(scaling.high))
    places = range(-(-first // every) * every, last + 1, every)
    return [Tick(float(k), scaling.names[k]) for k in places]


def _paint_upright(painter: QPainter, frame: Frame, style: Style, top: float) -> None:
    """Names below their places, read from above to below."""
    metrics = style.metrics()
    for tick in placed_names(frame.x, metrics.height()):
        painter.save()
        painter.translate(frame.x.at(tick.value), top)
        painter.rotate(90)
        shown = elided(metrics, tick.text, frame.upright + 1)
        painter.drawText(QPointF(0, (metrics.ascent() - metrics.descent()) / 2), shown)
        painter.restore()


def _paint_categories(painter: QPainter, frame: Frame, style: Style, top: float) -> None:
    """Names below their places: every so many that none meets the next."""
    ticks, metrics = frame.x.ticks(1), style.metrics()
    if not ticks:
        return
    step, short = abs(frame.x.at(1) - frame.x.at(0)), frame.panel.x.short
    widest = max(metrics.horizontalAdvance(tick.text) for tick in ticks)
    if short and step < min(widest + space.S, _NAME):
        ticks = tuple(Tick(tick.value, short[round(tick.value)]) for tick in ticks)
        widest = max(metrics.horizontalAdvance(tick.text) for tick in ticks)
    every = max(1, math.ceil((min(widest, _NAME) + space.S) / step))
    for tick in ticks:
        if round(tick.value) % every == 0:
            at, room = frame.x.at(tick.value), max(step * every - space.S, 20)
            room = min(room, 2 * (frame.right - at), 2 * (at - frame.left))
            box = QRectF(at - room / 2, top, room, metrics.height())
            painter.setPen(style.color("text" if frame.panel.x.below else "muted"))
            painter.drawText(box, _CENTRE, elided(metrics, tick.text, room))
            if frame.panel.x.below:
                words = elided(metrics, frame.panel.x.below[round(tick.value)], room)
                painter.setPen(style.color("muted"))
                painter.drawText(box.translated(0, metrics.height()), _CENTRE, words)
    painter.setPen(style.color("muted"))


def placed(heights: list[float], size: float, low: float, high: float) -> list[float]:
    """Tops of lines of one size near these heights, in their order, none over another, all between the two ends."""
    order = sorted(range(len(heights)), key=heights.__getitem__)
    tops = [0.0] * len(heights)
    last = low - size
    for i in order:
        tops[i] = last = max(heights[i] - size / 2, last + size)
    limit = high
    for i in reversed(order):
        tops[i] = limit = min(tops[i], limit - size)
    return tops


def fitting(ends: tuple[End, ...], y: Pixels, room: float, size: float) -> list[End]:
    """The names there is room for: those that are furthest from their neighbours first."""
    kept = sorted(ends, key=lambda end: end.at)
    most = max(1, int(room / size))
    while len(kept) > most:
        at = [y.at(end.at) for end in kept]
        gaps = [abs(at[i + 1] - at[i - 1]) for i in range(1, len(kept) - 1)]
        kept.pop(1 + gaps.index(min(gaps)) if gaps else 0)
    return kept


def paint_ends(painter: QPainter, frame: Frame, style: Style) -> None:
    """Names at the right, at their heights or below one another where they would meet, then tied to their place."""
    metrics, area = style.metrics(), frame.area
    high = metrics.height()
    painter.setFont(style.font())
    ends = fitting(frame.panel.ends, frame.y, area.height() + 2 * high, high)
    below = 0.5 if len(ends) * high <= area.height() + high else 1.5  # beside the tick texts only if need be
    if frame.panel.ends_title:
        painter.setPen(style.color("muted"))
        wide = frame.right - area.right() - space.S
        box = QRectF(area.right() + space.S, area.top() - high - space.XS, wide, high)
        painter.drawText(box, _LEFT, elided(metrics, frame.panel.ends_title, wide))
    heights = [min(max(frame.y.at(end.at), area.top()), area.bottom()) for end in ends]
    for end, at, top in zip(
        ends,
        heights,
        placed(heights, high, area.top() - high / 2, area.bottom() + below * high),
        strict=True,
    ):
        color = style.color(end.color)
        if abs(top + high / 2 - at) > high / 2:
            painter.setPen(QPen(color, 1))
            painter.drawLine(
                QPointF(area.right() + 1, at), QPointF(area.right() + space.S - 2, top + high / 2)
            )
        box = QRectF(area.right() + space.S, top, frame.right - area.right() - space.S, high)
        painter.setPen(style.ink(end.color))
        if end.share is not None:
            gauge = QRectF(box.left(), round(box.center().y()) - 5, GAUGE, 10)
            painter.fillRect(gauge, style.color("hover"))
            gauge.setWidth(GAUGE * min(max(end.share, 0.0), 1.0))
            painter.fillRect(gauge, color)
            painter.setPen(style.color("text"))
            box.setLeft(box.left() + GAUGE + space.S)
        painter.drawText(box, _LEFT | _MIDDLE, elided(metrics, end.text, box.width()))


def paint_columns(painter: QPainter, frame: Frame, style: Style) -> None:
    """Columns of numbers at the right of rows, under their titles."""
    metrics, area = style.metrics(), frame.area
    high, right = metrics.height(), area.right()
    for column, wide in beside_rows(frame.panel, style, frame.right - frame.left):
        painter.setFont(style.font())
        painter.setPen(style.color("muted"))
        painter.drawText(QRectF(right, area.top() - high - space.XS, wide, high), _RIGHT, column.title)
        for k, (at, text) in enumerate(zip(column.at, column.texts, strict=True)):
            color = column.color[k] if isinstance(column.color, tuple) else column.color
            painter.setPen(style.ink(color))
            painter.drawText(QRectF(right, frame.y.at(at) - high / 2, wide, high), _RIGHT | _MIDDLE, text)
        right += wide


def paint_aside(painter: QPainter, frame: Frame, style: Style) -> None:
    """The lines beside a panel, the first one strong; those that have no room as a whole are left out."""
    room = beside(frame, style)
    if not frame.panel.aside or room is None:
        return
    y = room.top()
    for k, line in enumerate(frame.panel.aside):
        painter.setFont(style.font("strong" if k == 0 else "caption"))
        painter.setPen(style.color("text" if k == 0 else "muted"))
        box = QRectF(room.left(), y, room.width(), room.height())
        flags = _LEFT | Qt.TextFlag.TextWordWrap
        used = painter.boundingRect(QRectF(box.topLeft(), QSizeF(box.width(), _ENDLESS)), flags, line)
        if used.bottom() > room.bottom() + 1:
            break
        painter.drawText(box, flags, line)
        y += used.height() + space.XS


def paint_legend(painter: QPainter, legend: tuple[LegendPlace, ...], style: Style) -> None:
    """Sign and words of every entry."""
    metrics = style.metrics()
    painter.setFont(style.font())
    for place in legend:
        if isinstance(place.key, Ramp):
            _paint_ramp(painter, place.key, place.box, style)
            continue
        middle = place.box.center().y()
        paint_sign(painter, place.key, QRectF(place.box.left(), middle - 6, 12, 12), style)
        painter.setPen(style.color("muted"))
        words = place.box.adjusted(18, 0, 0, 0)
        painter.drawText(words, _LEFT | _MIDDLE, elided(metrics, place.key.text, words.width() + 1))


def _paint_ramp(painter: QPainter, ramp: Ramp, box: QRectF, style: Style) -> None:
    """Words at the left, then the colours with three numbers below."""
    metrics, table = style.metrics(), style.lut(ramp.map)
    whole = QRectF(box.right() - RAMP, box.top(), RAMP, size.COLOR_BAR)
    bar = whole.adjusted(_BEYOND * ramp.clipped[0], 0, -_BEYOND * ramp.clipped[1], 0)
    colors = QImage(table.tobytes(), len(table), 1, 4 * len(table), QImage.Format.Format_RGBA8888)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.drawImage(bar, colors)
    painter.setPen(Qt.PenStyle.NoPen)
    middle = whole.center().y()
    for on, edge, tip, pixel in zip(
        ramp.clipped, (bar.left() - 1, bar.right() + 1), (whole.left(), whole.right()), (0, 255), strict=True
    ):
        if on:
            painter.setBrush(colors.pixelColor(pixel, 0))
            corners = [QPointF(edge, bar.top()), QPointF(edge, bar.bottom()), QPointF(tip, middle)]
            painter.drawPolygon(QPolygonF(corners))
    painter.setPen(style.color("muted"))
    words = QRectF(box.left(), box.top(), bar.left() - space.M - box.left(), metrics.height())
    painter.drawText(words, _RIGHT, elided(metrics, ramp.text, words.width() + 1))
    below = QRectF(whole.left(), bar.bottom() + 2, whole.width(), metrics.height())
    for text, side in zip(ramp.ends, (_LEFT, _CENTRE, _RIGHT), strict=True):
        painter.drawText(below, side, text)


def paint_sign(painter: QPainter, key: Key, box: QRectF, style: Style) -> None:
    """The sign of an entry: a square, a line, a point, or hatched as missing cells are."""
    color, middle = style.color(key.color), box.center()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    if key.sign in ("line", "dashed"):
        dash = Qt.PenStyle.DashLine if key.sign == "dashed" else Qt.PenStyle.SolidLine
        painter.setPen(QPen(color, 1.4 if key.sign == "dashed" else 2, dash))
        painter.drawLine(QPointF(box.left(), middle.y()), QPointF(box.right(), middle.y()))
    elif key.sign == "point":
        paint_point(painter, middle, color, key.shape, 4, style)
    elif key.sign == "missing":
        painter.setBrush(style.color("border"))
        painter.drawRect(box)
        painter.setPen(style.color("axis"))
        painter.drawLine(box.bottomLeft(), box.topRight())
    else:
        painter.drawRoundedRect(box, 2, 2)
