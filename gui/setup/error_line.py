"""A line that says what is wrong."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from plaidwork.gui.icons import pixmap
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import horizontal


class ErrorLine(QWidget):
    """Icon and words of what is wrong (or worth a look); hidden while empty."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kind = "error"
        self._icon = Label()
        self._label = Label("", "caption", "error", wrap=True)
        self._label.setAlignment(Qt.AlignmentFlag.AlignTop)  # beside the icon, however high the line becomes
        horizontal((self._icon, 0, Qt.AlignmentFlag.AlignTop), (self._label, 1), on=self, spacing=space.XS)
        theme().changed.connect(self._restyle)
        self._restyle()
        self.hide()

    @property
    def text(self) -> str:
        """The words shown."""
        return self._label.text()

    def set_text(self, text: str, kind: str = "error") -> None:
        """Show words as "error" or "warning", or nothing."""
        self._kind = kind
        self._label.set_color("error" if kind == "error" else "warn")
        self._restyle()
        self._label.setText(text)
        self.setVisible(bool(text))

    def _restyle(self) -> None:
        self._icon.setFixedWidth(size.ICON)
        self._icon.setPixmap(
            pixmap(
                self._kind,
                size.ICON - 2,
                "error" if self._kind == "error" else "warn",
                self.devicePixelRatioF(),
            )
        )
