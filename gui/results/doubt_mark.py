"""The mark beside a headline that the run behind it has not settled; it leads to the diagnostics."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from plaidwork.core.inference.run import Run
from plaidwork.core.views.printing import RUNNING
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, theme
from plaidwork.gui.widgets import Chip
from plaidwork.gui.workbench import Workbench


class DoubtMark(Chip):
    """Says so wherever results of a run are shown: still running, or ended without having settled; else hidden."""

    clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("not final", "warn", parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.told = ""
        """The same as a sentence without its stop; empty while nothing is to be said."""
        self.hide()

    def tell(self, workbench: Workbench, run: Run, running: str) -> None:
        """Show how a run stands; ``running`` is the sentence for one under way."""
        # what an analysis made is shown as a run with other results: the verdict is that of the run itself
        verdict = workbench.verdict(workbench.session.runs.get(run.id, run))
        self.told = ""
        if run.active:
            self.told = RUNNING
            self.set("not final", "warn")
            self.setToolTip(tr(running))
        elif verdict is not None and not verdict.settled:
            self.told = verdict.title
            self.set(verdict.word or verdict.title, verdict.kind)
            self.setToolTip(tr(f"{verdict.title}. {verdict.text}\nClick for the diagnostics."))
        self.setAccessibleDescription(self.toolTip())
        self.setVisible(run.active or (verdict is not None and not verdict.settled))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Space click."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.clicked.emit()
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme().color("accent"), 1.5))
            edge = self.rect().adjusted(1, 1, -1, -1)
            radius = min(size.RADIUS_CHIP, self.height() / 2)
            painter.drawRoundedRect(edge, radius, radius)
            painter.end()
