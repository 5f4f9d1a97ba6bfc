"""A line that is dragged to choose a number."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, Qt

from plaidwork.core.pictures import Rule
from plaidwork.gui.pictures.frame import Layout

_GRIP = 6.0
"""Pixels from which a line is grabbed."""


@dataclass(frozen=True)
class Held:
    """A line, and the panel that it crosses."""

    panel: int
    rule: Rule

    def moved(self, layout: Layout, to: QPointF) -> Held:
        """The line at another place within the panel."""
        frame = layout.frames[self.panel]
        scale, at = (frame.x, to.x()) if self.rule.axis == "x" else (frame.y, to.y())
        value = scale.value(min(max(at, min(scale.start, scale.end)), max(scale.start, scale.end)))
        return Held(self.panel, replace(self.rule, at=[value], width=2.0))


def held_at(layout: Layout, at: QPointF) -> Held | None:
    """The line that can be dragged from here."""
    for p, frame in enumerate(layout.frames):
        for mark in frame.panel.marks if frame.area.contains(at) else ():
            if isinstance(mark, Rule) and mark.drags and len(mark):
                value = float(mark.at[0])
                away = frame.x.at(value) - at.x() if mark.axis == "x" else frame.y.at(value) - at.y()
                if abs(away) <= _GRIP:
                    return Held(p, mark)
    return None


def grip_at(layout: Layout, at: QPointF) -> Qt.CursorShape:
    """The pointer's shape: an arrow, or what says that a line can be dragged."""
    found = held_at(layout, at)
    if found is None:
        return Qt.CursorShape.ArrowCursor
    return Qt.CursorShape.SizeHorCursor if found.rule.axis == "x" else Qt.CursorShape.SizeVerCursor
