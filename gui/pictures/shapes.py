"""Shapes of points."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPen, QPolygonF

from plaidwork.core.pictures import Color
from plaidwork.gui.pictures.style import Style

_SHAPES: dict[int, tuple[tuple[float, float], ...]] = {
    1: ((-1.1, -0.85), (1.1, -0.85), (0, 1.15)),
    2: ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    3: ((0, -1.25), (1.15, 0), (0, 1.25), (-1.15, 0)),
    4: ((-1.1, 0.85), (1.1, 0.85), (0, -1.15)),
}
"""Polygons of the shapes of points, within a radius of 1; all others are round."""


def paint_point(
    painter: QPainter, at: QPointF, color: Color, shape: int, radius: float, style: Style
) -> None:
    """A filled mark with a rim of the surface; hollow for the shape -1."""
    painter.setPen(QPen(style.color("control" if shape < 0 else "surface"), 1.2 if shape < 0 else 1))
    painter.setBrush(style.color("surface") if shape < 0 else style.color(color))
    if shape in _SHAPES:
        painter.drawPolygon(
            QPolygonF([QPointF(at.x() + radius * a, at.y() + radius * b) for a, b in _SHAPES[shape]])
        )
    else:
        painter.drawEllipse(at, radius, radius)
