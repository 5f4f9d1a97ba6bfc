"""Whether another picture is shown in the same part, and the part of it that is being drawn around."""

from __future__ import annotations

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPen, QPolygonF

from plaidwork.core.pictures import Picture, Points
from plaidwork.gui.pictures.frame import Layout
from plaidwork.gui.theme import theme


def goes_on(old: Picture, new: Picture) -> bool:
    """Whether another picture is shown in the same part: it has newer numbers, or other marks on the same axes."""
    if len(old.panels) != len(new.panels):
        return False
    pairs = zip(old.panels, new.panels, strict=True)
    return old.choices == new.choices or all(
        (a.x, a.y, a.scaling("x"), a.scaling("y")) == (b.x, b.y, b.scaling("x"), b.scaling("y"))
        for a, b in pairs
    )


def holds_points(layout: Layout, at: QPointF) -> bool:
    """Whether there are points of several items to be selected by a lasso from here."""
    return any(
        isinstance(mark, Points) and mark.of is not None and len(mark) > 1
        for frame in layout.frames
        if frame.area.contains(at) and frame.panel.reads != "row"
        for mark in frame.panel.marks
    )


def paint_lasso(painter: QPainter, path: list[QPointF]) -> None:
    """The area that is being drawn around points."""
    ink = theme().color("accent")
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(ink, 1.4))
    ink.setAlphaF(0.12)
    painter.setBrush(ink)
    painter.drawPolygon(QPolygonF(path))
