"""A chart whose places are walked over by the pointer and by keys."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QMouseEvent

from plaidwork.gui.results.chart import Chart


class PositionChart(Chart):
    """One of its places (0, 1, …) is marked: ``current``, -1 for none. A subclass says where, how many and in what words."""

    current = -1

    def position_count(self) -> int:
        """How many places there are."""
        raise NotImplementedError

    def position_at(self, at: QPointF) -> int:
        """The place under or near a point; -1 when there is none."""
        raise NotImplementedError

    def position_text(self, position: int) -> str:
        """A place in words."""
        raise NotImplementedError

    def show_position(self, position: int) -> None:
        """Mark a place and tell it."""
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
        """Left and right walk over the places."""
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()), 0)
        if step and self.position_count():
            self.show_position(min(max(self.current + step, 0), self.position_count() - 1))
        else:
            super().keyPressEvent(event)
