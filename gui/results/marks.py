"""Colour and shape of points by a class or a number; unknown ones are hollow."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.core.views.colouring import CROSS, UNKNOWN, Colouring
from plaidwork.gui.theme import space, theme

_POLYGONS: dict[int, tuple[tuple[float, float], ...]] = {
    1: ((-1.1, -0.85), (1.1, -0.85), (0, 1.15)),
    2: ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)),
    3: ((0, -1.25), (1.15, 0), (0, 1.25), (-1.15, 0)),
    4: ((-1.1, 0.85), (1.1, 0.85), (0, -1.15)),
    5: (
        (-0.4, -1.1), (0.4, -1.1), (0.4, -0.4), (1.1, -0.4), (1.1, 0.4), (0.4, 0.4),
        (0.4, 1.1), (-0.4, 1.1), (-0.4, 0.4), (-1.1, 0.4), (-1.1, -0.4), (-0.4, -0.4),
    ),
}  # fmt: skip


def colors_of(shown: Colouring) -> list[QColor]:
    """Colour of every class in the current scheme."""
    return [
        theme().color(color) if isinstance(color, str) else theme().category(color)
        for color in shown.categories()
    ]


def color_of(shown: Colouring, i: int) -> QColor | None:
    """Colour of a point; None is unknown."""
    if shown.numbers is not None:
        value = shown.numbers[i]
        if value != value:
            return None
        low, high = shown.limits
        step = int(np.clip((value - low) / (high - low or 1), 0, 1) * 255)
        return QColor(*(int(part) for part in theme().lut("tide")[step][:3]))
    code = int(shown.codes[i])
    return None if code < 0 else colors_of(shown)[code]


def paint_mark(painter: QPainter, at: QPointF, color: QColor | None, shape: int, radius: float = 4.0) -> None:
    """A filled mark with a rim of the surface; hollow without a colour."""
    if shape == CROSS:
        painter.setPen(QPen(theme().color("control"), 1.4))
        arm = radius * 0.8
        for rise in (arm, -arm):
            painter.drawLine(QPointF(at.x() - arm, at.y() - rise), QPointF(at.x() + arm, at.y() + rise))
        return
    if color is None:
        painter.setPen(QPen(theme().color("control"), 1.2))
        painter.setBrush(theme().color("surface"))
        painter.drawEllipse(at, radius, radius)
        return
    painter.setPen(QPen(theme().color("surface"), 1))
    painter.setBrush(color)
    if shape in _POLYGONS:
        grown = radius * 1.08
        painter.drawPolygon(
            QPolygonF([QPointF(at.x() + x * grown, at.y() + y * grown) for x, y in _POLYGONS[shape]])
        )
    else:
        painter.drawEllipse(at, radius, radius)


class MarkLegend(QWidget):
    """Mark and name of every class in one row, with the unknown ones."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries: list[tuple[int, str]] = []
        self._colouring: Colouring | None = None
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme().changed.connect(self._restyle)
        self._restyle()

    def set_colouring(self, shown: Colouring) -> None:
        """Show the classes of a colouring; a scale has none."""
        self._colouring = shown
        named = bool(shown.title) and shown.numbers is None
        self.entries = list(enumerate(shown.classes)) if named else []
        unknown = (
            np.isnan(shown.numbers).any() if shown.numbers is not None else bool((shown.codes < 0).any())
        )
        if unknown:
            self.entries.append((-1 if shown.numbers is None else CROSS, UNKNOWN))
        self.setVisible(bool(self.entries))
        self.setAccessibleName("Legend: " + ", ".join(text for _, text in self.entries))
        self.setToolTip("\n".join(text for _, text in self.entries))
        self.updateGeometry()
        self.update()

    def _restyle(self) -> None:
        self.setFont(theme().font("caption"))
        self.updateGeometry()
        self.update()

    def _width(self, text: str) -> int:
        return 16 + min(self.fontMetrics().horizontalAdvance(text), 140) + space.M

    def sizeHint(self) -> QSize:
        wide = sum(self._width(text) for _, text in self.entries)
        return QSize(wide + 2, self.fontMetrics().height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._colouring is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = colors_of(self._colouring)
        x = 0.0
        for code, text in self.entries:
            middle = QPointF(x + 6, self.height() / 2)
            paint_mark(painter, middle, colors[code] if code >= 0 else None, code, 4.0)
            painter.setPen(theme().color("muted"))
            room = min(140.0, self.width() - x - 16)
            if room < 10:
                break
            box = QRectF(x + 16, 0, room, self.height())
            shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, int(room))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)
            x += self._width(text)
        painter.end()
