"""Head, foot and scrolling column that the import dialogs share."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from plaidwork.gui.data.pane import Pane
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label


def head_pane(title: str, told: QWidget) -> QWidget:
    """The title of a dialog and what is said below it."""
    head = Pane("surface", "bottom")
    column = QVBoxLayout(head)
    column.setContentsMargins(space.DIALOG_EDGE, space.L, space.DIALOG_EDGE, space.L)
    column.setSpacing(space.XS)
    column.addWidget(Label(title, "headline", elide=True))
    column.addWidget(told)
    return head


def foot_pane(told: QWidget, *items: QWidget) -> QWidget:
    """What will happen, at the left, and progress and buttons at the right."""
    foot = Pane("window", "top")
    row = QHBoxLayout(foot)
    row.setContentsMargins(space.DIALOG_EDGE, space.M, space.DIALOG_EDGE, space.M)
    row.setSpacing(space.S)
    row.addWidget(told, 1)
    for item in items:
        row.addWidget(item)
    return foot


def scrolled(inner: QWidget) -> QScrollArea:
    """The widget in a frameless area that scrolls up and down only."""
    scroll = QScrollArea()
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setWidget(inner)
    return scroll
