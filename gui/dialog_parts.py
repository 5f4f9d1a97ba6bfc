"""Head, foot and progress bar that the import dialogs share."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from plaidwork.gui.data.pane import Pane
from plaidwork.gui.theme import size, space
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


def foot_pane(told: QWidget | Sequence[QWidget], *items: QWidget) -> QWidget:
    """What will happen, in one or more lines at the left, and progress and buttons at the right."""
    foot = Pane("window", "top")
    row = QHBoxLayout(foot)
    row.setContentsMargins(space.DIALOG_EDGE, space.M, space.DIALOG_EDGE, space.M)
    row.setSpacing(space.S)
    lines = QVBoxLayout()
    lines.setSpacing(0)
    for line in [told] if isinstance(told, QWidget) else told:
        lines.addWidget(line)
    row.addLayout(lines, 1)
    for item in items:
        row.addWidget(item)
    return foot


def progress_bar() -> QProgressBar:
    """A slim bar of thousandths, without words, for the foot."""
    bar = QProgressBar()
    bar.setTextVisible(False)
    bar.setFixedSize(160, size.PROGRESS)
    bar.setRange(0, 1000)
    return bar
