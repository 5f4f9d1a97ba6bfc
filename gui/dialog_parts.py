"""Head, foot and progress bar that the import dialogs share."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QProgressBar, QWidget

from plaidwork.gui.data.pane import Pane
from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import horizontal, vertical


def head_pane(title: str, note: QWidget) -> QWidget:
    """The title of a dialog and what is said below it."""
    head = Pane("surface", "bottom")
    vertical(
        Label(title, "headline", elide=True),
        note,
        on=head,
        spacing=space.XS,
        margins=(space.DIALOG_EDGE, space.L, space.DIALOG_EDGE, space.L),
    )
    return head


def foot_pane(note: QWidget | Sequence[QWidget], *items: QWidget) -> QWidget:
    """What will happen, in one or more lines at the left, and progress and buttons at the right."""
    foot = Pane("window", "top")
    lines = vertical(*[note] if isinstance(note, QWidget) else note, spacing=0)
    horizontal(
        (lines, 1),
        *items,
        on=foot,
        spacing=space.S,
        margins=(space.DIALOG_EDGE, space.M, space.DIALOG_EDGE, space.M),
    )
    return foot


def progress_bar() -> QProgressBar:
    """A slim bar of thousandths, without words, for the foot."""
    bar = QProgressBar()
    bar.setTextVisible(False)
    bar.setFixedSize(160, size.PROGRESS)
    bar.setRange(0, 1000)
    return bar
