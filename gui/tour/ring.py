"""A line around what is pointed at; clicks and keys go to what is below it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QRegion
from PySide6.QtWidgets import QWidget

from plaidwork.gui.theme import size, theme

_LINE = 3


class Ring(QWidget):
    """Lies over the window where its target is."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._over = window
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme().changed.connect(self.update)
        self.hide()

    def point_at(self, target: QWidget | None) -> None:
        """Lie around a widget of the window, as far as it is in view; around nothing when it is not."""
        window = self._over
        seen = _in_view(target, window) if target is not None and target.isVisible() else QRect()
        if seen.isEmpty():
            self.hide()
            return
        around = seen.adjusted(-_LINE, -_LINE, _LINE, _LINE) & window.rect()
        if around != self.geometry():
            self.setGeometry(around)
            # only the line: what is inside is painted without it
            inside = self.rect().adjusted(2 * _LINE, 2 * _LINE, -2 * _LINE, -2 * _LINE)
            self.setMask(QRegion(self.rect()) - QRegion(inside))
        if self.isHidden():
            self.show()
        if window.children()[-1] is not self:
            self.raise_()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The line, in the colour of what has the focus."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme().color("accent"), _LINE))
        inset = _LINE / 2
        rect = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        painter.drawRoundedRect(rect, size.RADIUS, size.RADIUS)
        painter.end()


def _in_view(target: QWidget, window: QWidget) -> QRect:
    """The part of a widget that no scroll area or pane around it cuts off, in the window."""
    seen = QRect(target.mapTo(window, QPoint(0, 0)), target.size())
    around = target.parentWidget()
    while around is not None and around is not window:
        seen &= QRect(around.mapTo(window, QPoint(0, 0)), around.size())
        around = around.parentWidget()
    return seen
