"""A chart whose positions are walked over by the pointer and by keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent

from plaidwork.gui.results.chart import Chart


class PositionChart(Chart):
    """One of its positions (0, 1, …) is marked: ``current``, -1 for none. A subclass says where, how many and in what words."""

    current = -1

    def position_count(self) -> int:
        """How many positions there are."""
        raise NotImplementedError

    def position_at(self, at: QPointF) -> int:
        """The position under or near a point; -1 when there is none."""
        raise NotImplementedError

    def position_text(self, position: int) -> str:
        """The text of a position."""
        raise NotImplementedError

    def show_position(self, position: int) -> None:
        """Mark a position and show its text."""
        if position != self.current and self.position_count():
            self.current = position
            self.hovered.emit(self.position_text(position) if position >= 0 else "")
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.show_position(self.position_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self.show_position(-1)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right walk over the positions."""
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()), 0)
        if step and self.position_count():
            self.show_position(min(max(self.current + step, 0), self.position_count() - 1))
        else:
            super().keyPressEvent(event)
