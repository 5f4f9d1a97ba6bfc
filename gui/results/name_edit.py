"""A name that is edited where it stands."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from plaidwork.gui.language import tr
from plaidwork.gui.theme import space

_LEAST, _MOST = 140, 320
"""Pixels that it is wide, at least and at most."""


class NameEdit(QLineEdit):
    """A line over a name on the screen; Enter and whatever takes the focus keep what was typed, Esc does not."""

    def __init__(
        self, over: QWidget, place: QRect, name: str, usual: str, done: Callable[[str], None]
    ) -> None:
        """Edit ``name`` at a ``place`` of a widget; ``done`` gets what was typed, ``usual`` is what an empty text brings back."""
        super().__init__(name, over.window())
        self._done, self._open = done, True
        self.setPlaceholderText(tr(usual))
        self.setAccessibleName(tr(f"New name of {name}"))
        self.setToolTip(tr(f"The name is shown in all views of the run. Leave it empty for “{usual}”."))
        wide = min(max(place.width(), _LEAST), _MOST)
        at = over.mapTo(over.window(), place.topLeft())
        at.setX(max(min(at.x(), over.window().width() - wide - space.S), 0))
        high = self.sizeHint().height()
        self.setGeometry(at.x(), at.y() + (place.height() - high) // 2, wide, high)
        self.selectAll()
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def _close(self, keep: bool) -> None:
        if not self._open:
            return
        self._open = False
        text = self.text()
        self.hide()
        self.deleteLater()
        if keep:
            self._done(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter keeps the name, Esc the one before."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape):
            self._close(event.key() != Qt.Key.Key_Escape)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Keep what was typed, but for a menu of its own that opens."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._close(True)
