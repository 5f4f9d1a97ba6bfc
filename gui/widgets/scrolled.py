"""A frameless area that scrolls what is in it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


def scrolled(
    inner: QWidget, *, sideways: bool = False, background: QPalette.ColorRole | None = None
) -> QScrollArea:
    """The widget in a frameless area that scrolls up and down, ``sideways`` too; ``background`` is the role of both."""
    area = QScrollArea()
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidgetResizable(True)
    if not sideways:
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inner)
    if background is not None:
        for widget in (inner, area.viewport()):
            widget.setBackgroundRole(background)
    return area
