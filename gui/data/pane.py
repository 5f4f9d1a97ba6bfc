"""A plain ground in a colour of the theme, with hairlines at chosen sides."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from plaidwork.gui.theme import theme


class Pane(QWidget):
    """`color` is a token; `lines` names sides with a border: any of "top bottom left right"."""

    def __init__(self, color: str = "surface", lines: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._color = color
        self._lines = lines.split()
        theme().changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground and lines."""
        painter = QPainter(self)
        rect = self.rect()
        painter.fillRect(rect, theme().color(self._color))
        painter.setPen(theme().color("border"))
        corners = (rect.topLeft(), rect.topRight(), rect.bottomLeft(), rect.bottomRight())
        ends: dict[str, tuple[QPoint, QPoint]] = {
            "top": (corners[0], corners[1]),
            "bottom": (corners[2], corners[3]),
            "left": (corners[0], corners[2]),
            "right": (corners[1], corners[3]),
        }
        for side in self._lines:
            painter.drawLine(*ends[side])
        painter.end()
