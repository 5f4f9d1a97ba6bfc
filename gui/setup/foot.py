"""The strip below the form: what it costs, what is wrong, presets, start."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from plaidwork.core.draws.counting import agree, counted
from plaidwork.gui.icons import icon, pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.setup.error_line import ErrorLine
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import horizontal, vertical


class Foot(QWidget):
    """Estimate at the left; count of errors, presets and the primary button at the right."""

    jump_requested = Signal()
    start_requested = Signal()
    search_requested = Signal()
    remedy_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._clock = Label()
        self.estimate = Label("", "body", "muted", elide=True)
        self.message = ErrorLine()
        self.remedy = button("", self.remedy_requested.emit)
        self.remedy.hide()
        self.errors = button("", self.jump_requested.emit, kind="quiet")
        self.errors.setIcon(icon("error", "error"))
        self.errors.setToolTip(tr("Go to the first one"))
        self.menu = QMenu(self)
        self.presets = button("Presets", kind="quiet")
        self.presets.setMenu(self.menu)
        self.search = button("Search…", self.search_requested.emit)
        self.search.setToolTip(tr("Fit many settings and compare them"))
        self.start = button("Start fit", self.start_requested.emit, kind="primary", icon_name="play")
        self.start.setToolTip(tr("Start fit (Ctrl+Enter)"))
        row = horizontal(
            self._clock,
            (self.estimate, 1),
            *(
                (item, 0, Qt.AlignmentFlag.AlignVCenter)
                for item in (self.errors, self.presets, self.search, self.start)
            ),
            spacing=space.S,
        )
        vertical(
            horizontal((self.message, 1), (self.remedy, 0, Qt.AlignmentFlag.AlignTop), spacing=space.S),
            row,
            on=self,
            spacing=space.XS,
            margins=(space.VIEW_EDGE, space.S, space.VIEW_EDGE, space.S),
        )
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self._restyle)
        self._restyle()
        self.set_errors(0)

    def set_errors(self, count: int) -> None:
        """Count of fields to change; the start waits for none."""
        self.errors.setText(f"{counted(count, 'setting')} {agree(count, 'needs', 'need')} a change")
        self.errors.setVisible(count > 0)
        self.start.setEnabled(count == 0)
        self.search.setEnabled(count == 0)

    def offer_remedy(self, text: str, tip: str = "") -> None:
        """The button beside the message; without a text it is hidden."""
        self.remedy.setText(tr(text))
        self.remedy.setToolTip(tr(tip))
        self.remedy.setEnabled(True)
        self.remedy.setVisible(bool(text))

    def set_busy(self, busy: bool) -> None:
        """While the plan is checked."""
        self.start.setText(tr("Checking…" if busy else "Start fit"))
        self.start.setEnabled(not busy)
        self.search.setEnabled(not busy)

    def _restyle(self) -> None:
        self._clock.setPixmap(pixmap("clock", size.ICON, "muted", self.devicePixelRatioF()))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Sunken strip with a line above."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color("sunken"))
        painter.fillRect(0, 0, self.width(), 1, theme().color("border"))
        painter.end()
