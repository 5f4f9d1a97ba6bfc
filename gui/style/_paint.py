"""Shapes shared by all controls."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QStyle, QWidget

from plaidwork.gui.theme import size, theme

State = QStyle.StateFlag
#: PySide hands over the subclass that fits the element, which no type can tell.
Option = Any

#: direction -> points of a chevron in a unit square around 0
_CHEVRONS = {
    "down": ((-0.5, -0.25), (0, 0.25), (0.5, -0.25)),
    "up": ((-0.5, 0.25), (0, -0.25), (0.5, 0.25)),
    "right": ((-0.25, -0.5), (0.25, 0), (-0.25, 0.5)),
    "left": ((0.25, -0.5), (-0.25, 0), (0.25, 0.5)),
}


def rounded(
    painter: QPainter,
    rect: QRect | QRectF,
    fill: QColor | None,
    line: QColor | None = None,
    width: float = 1.0,
    radius: float = size.RADIUS,
) -> None:
    """Rounded rectangle whose line lies inside `rect`."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush if fill is None else fill)
    box = QRectF(rect)
    if line is None:
        painter.setPen(Qt.PenStyle.NoPen)
    else:
        painter.setPen(QPen(line, width))
        box.adjust(width / 2, width / 2, -width / 2, -width / 2)
    painter.drawRoundedRect(box, radius, radius)
    painter.restore()


def ring(painter: QPainter, rect: QRect | QRectF, token: str = "accent", radius: float = size.RADIUS) -> None:
    """Focus ring inside `rect`."""
    rounded(painter, rect, None, theme().color(token), size.FOCUS, radius)


def chevron(painter: QPainter, centre: QPointF, direction: str, color: QColor, edge: float = 8.0) -> None:
    """Open arrow head."""
    points = [QPointF(centre.x() + x * edge, centre.y() + y * edge) for x, y in _CHEVRONS[direction]]
    stroke(painter, points, color)


def check_mark(painter: QPainter, rect: QRectF, color: QColor) -> None:
    """Tick that fills a check box."""
    at = [(0.24, 0.52), (0.43, 0.71), (0.78, 0.31)]
    points = [QPointF(rect.x() + x * rect.width(), rect.y() + y * rect.height()) for x, y in at]
    stroke(painter, points, color, 1.8)


def stroke(painter: QPainter, points: list[QPointF], color: QColor, width: float = 1.4) -> None:
    """Open line with round caps."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    cap, join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
    painter.setPen(QPen(color, width, Qt.PenStyle.SolidLine, cap, join))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(points))
    painter.restore()


def faded(token: str, alpha: float) -> QColor:
    """Token with an opacity."""
    color = theme().color(token)
    color.setAlphaF(alpha)
    return color


def has(option: Option, flag: QStyle.StateFlag) -> bool:
    """True when a state flag is set."""
    return bool(option.state & flag)


def flag_of(widget: QWidget | None, name: str) -> bool:
    """True when the dynamic property `name` of a widget is set."""
    return widget is not None and bool(widget.property(name))


def text_color(option: Option) -> QColor:
    """Text or, when disabled, its faded form."""
    return theme().color("text") if has(option, State.State_Enabled) else faded("faint", 0.75)


def field(option: Option, painter: QPainter, widget: QWidget | None, focus: bool) -> None:
    """Ground and outline of line edits, spin boxes and combo boxes."""
    colors = theme()
    enabled = has(option, State.State_Enabled)
    fill = colors.color("surface" if enabled else "sunken")
    if flag_of(widget, "invalid"):
        rounded(painter, option.rect, fill, colors.color("error"), size.FOCUS)
    elif focus:
        rounded(painter, option.rect, fill, colors.color("accent"), size.FOCUS)
    else:
        rounded(painter, option.rect, fill, colors.color("control" if enabled else "border"))
