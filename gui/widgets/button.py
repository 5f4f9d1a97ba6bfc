"""Push and tool buttons in the variants that the style knows."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QPushButton, QToolButton, QWidget

from plaidwork.gui.icons import icon
from plaidwork.gui.language import tr

VARIANTS = ("normal", "primary", "quiet")


def button(
    text: str,
    clicked: Callable[[], object] | None = None,
    *,
    kind: str = "normal",
    icon_name: str = "",
    parent: QWidget | None = None,
) -> QPushButton:
    """Make a push button; `kind` is normal, primary (one per window) or quiet (no outline)."""
    if kind not in VARIANTS:
        raise ValueError(f"kind must be one of {', '.join(VARIANTS)}, got {kind!r}")
    made = QPushButton(tr(text), parent)
    made.setAutoDefault(False)
    if kind != "normal":
        made.setProperty(kind, True)
    if icon_name:
        made.setIcon(icon(icon_name, "on_accent" if kind == "primary" else "text"))
    if clicked is not None:
        made.clicked.connect(lambda *_: clicked())
    return made


def clear_layout(layout: QLayout) -> None:
    """Take all widgets out of a layout and delete them when Qt is ready; those of layouts inside it, too."""
    while (item := layout.takeAt(0)) is not None:
        old, inner = item.widget(), item.layout()
        if inner is not None:
            clear_layout(inner)
        if old is not None:
            old.hide()
            old.deleteLater()


def tool_button(
    icon_name: str,
    tip: str,
    clicked: Callable[[], object] | None = None,
    *,
    checkable: bool = False,
    parent: QWidget | None = None,
) -> QToolButton:
    """Make a flat icon button; `tip` is its tool tip and accessible name."""
    made = QToolButton(parent)
    made.setIcon(icon(icon_name))
    made.setToolTip(tr(tip))
    made.setAccessibleName(tr(tip))
    made.setAutoRaise(True)
    made.setCheckable(checkable)
    made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    if clicked is not None:
        made.clicked.connect(lambda *_: clicked())
    return made
