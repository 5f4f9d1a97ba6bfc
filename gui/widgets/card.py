"""Rounded surface with a border, optionally a button."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, Qt, Signal
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QWidget

from plaidwork.gui.theme import size, theme


class Card(QFrame):
    """Rounded rectangle that holds a layout set by the caller.

    Parameters
    ----------
    color : colour token of the ground, "surface" or "sunken"
    clickable : take focus and emit `clicked` on click, Enter and Space
    """

    clicked = Signal()

    def __init__(
        self, parent: QWidget | None = None, *, color: str = "surface", clickable: bool = False
    ) -> None:
        super().__init__(parent)
        self._color = color
        self._clickable = clickable
        self._hovered = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        if clickable:
            self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme().changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground, border, focus ring."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focus = self._clickable and self.hasFocus()
        width = size.FOCUS if focus else 1
        line = "accent" if focus else "control" if self._hovered else "border"
        painter.setPen(QPen(theme().color(line), width))
        painter.setBrush(theme().color(self._color))
        inset = width / 2
        rect = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        painter.drawRoundedRect(rect, size.RADIUS_CARD, size.RADIUS_CARD)
        painter.end()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show that it can be clicked."""
        self._hovered = self._clickable
        self.update()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Back to the quiet border."""
        self._hovered = False
        self.update()
        super().leaveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Click when released inside."""
        inside = self.rect().contains(event.position().toPoint())
        if self._clickable and event.button() == Qt.MouseButton.LeftButton and inside:
            self.clicked.emit()
            event.accept()
            return
        super().mouseReleaseEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Accept, so that the release arrives here."""
        if not self._clickable:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Space act like a click."""
        if self._clickable and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit()
            return
        super().keyPressEvent(event)
