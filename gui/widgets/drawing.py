"""What draws its own words: they have the size of the look, and follow when that changes."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from plaidwork.gui.theme import theme


class Drawing(QWidget):
    """A widget that paints itself, with words of one role of the look."""

    def __init__(self, parent: QWidget | None = None, role: str = "caption") -> None:
        super().__init__(parent)
        self._font_role = role
        self.setFont(theme().font(role))
        theme().changed.connect(self._restyle)

    def _restyle(self) -> None:
        self.setFont(theme().font(self._font_role))
        self.updateGeometry()
        self.update()
