"""Where something opens that belongs to a widget: below it, or above it where the screen ends."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget

_APART = 2


def open_beside(popup: QWidget, owner: QWidget) -> None:
    """Show a popup of its own size with its left edge at the owner's, within the screen."""
    below = owner.mapToGlobal(QPoint(0, owner.height() + _APART))
    screen = owner.screen().availableGeometry()
    if below.y() + popup.height() > screen.bottom():
        above = owner.mapToGlobal(QPoint(0, 0)).y() - popup.height() - _APART
        below.setY(max(screen.top(), above))
    below.setX(max(screen.left(), min(below.x(), screen.right() - popup.width())))
    popup.move(below)
    popup.show()
