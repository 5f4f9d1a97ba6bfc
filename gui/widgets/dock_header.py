"""Title row of a dock: bold word left, small buttons right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.gui.theme import size, space
from plaidwork.gui.widgets.label import Label
from plaidwork.gui.widgets.layouts import horizontal


class DockHeader(QWidget):
    """For ``QDockWidget.setTitleBarWidget``; 42 px high, left edge on the dock's 16 px."""

    def __init__(self, title: str, buttons: Sequence[QWidget] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._label = Label(title, "strong", elide=True)
        margins = (space.DOCK_EDGE, 0, space.S, 0)
        self._layout = horizontal((self._label, 1), *buttons, on=self, spacing=space.XS, margins=margins)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(size.DOCK_HEADER)

    @property
    def title(self) -> str:
        """The title shown."""
        return self._label.text()

    def set_title(self, title: str) -> None:
        """Change the title."""
        self._label.setText(title)

    def add_button(self, item: QWidget) -> None:
        """Append a button at the right."""
        self._layout.addWidget(item)

    def sizeHint(self) -> QSize:
        """Width of the content, fixed height."""
        return QSize(super().sizeHint().width(), size.DOCK_HEADER)
