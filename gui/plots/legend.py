"""Legend in the title row: short line or mark, then the name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from plaidwork.gui.language import tr
from plaidwork.gui.theme import theme
from plaidwork.gui.widgets.drawing import Drawing

_MARK = 14
_GAP = 6
_BETWEEN = 14


@dataclass(frozen=True)
class LegendEntry:
    """Name, colour (category number, token or ``#RRGGBB``) and kind: line, dash, dot or box."""

    name: str
    color: int | str
    kind: str = "line"


def resolve(color: int | str | QColor) -> QColor:
    """Turn a category number, a token or ``#RRGGBB`` into the colour of this moment."""
    if isinstance(color, QColor):
        return color
    if isinstance(color, int):
        return theme().category(color)
    return QColor(color) if color.startswith("#") else theme().color(color)


class Legend(Drawing):
    """Entries in one row, in the order of the picture; those without room are left out."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[LegendEntry] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @property
    def entries(self) -> list[LegendEntry]:
        """The entries shown."""
        return list(self._entries)

    def set_entries(self, entries: list[LegendEntry]) -> None:
        """Replace all entries."""
        self._entries = [replace(entry, name=tr(entry.name)) for entry in entries]
        self.setAccessibleName(tr("Legend: " + ", ".join(e.name for e in entries)))
        self.setToolTip(tr("\n".join(e.name for e in entries)))
        self.updateGeometry()
        self.update()

    def _width(self, entry: LegendEntry) -> int:
        return _MARK + _GAP + self.fontMetrics().horizontalAdvance(entry.name)

    def sizeHint(self) -> QSize:
        """Room for all entries."""
        wide = sum(self._width(e) + _BETWEEN for e in self._entries) - (_BETWEEN if self._entries else 0)
        return QSize(max(wide, 0) + 1, self.fontMetrics().height() + 4)

    def minimumSizeHint(self) -> QSize:
        """May shrink, so that it never widens the window."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Marks and names, right-aligned."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shown = list(self._entries)
        while shown and sum(self._width(e) + _BETWEEN for e in shown) - _BETWEEN > self.width():
            shown.pop()
        x = self.width() - sum(self._width(e) + _BETWEEN for e in shown) + _BETWEEN
        for entry in shown:
            self._mark(painter, QRectF(x, 0, _MARK, self.height()), entry)
            painter.setPen(theme().color("muted"))
            rect = QRectF(x + _MARK + _GAP, 0, self._width(entry), self.height())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, entry.name)
            x += self._width(entry) + _BETWEEN
        painter.end()

    @staticmethod
    def _mark(painter: QPainter, rect: QRectF, entry: LegendEntry) -> None:
        color, middle = resolve(entry.color), rect.center()
        if entry.kind in ("line", "dash"):
            style = Qt.PenStyle.DashLine if entry.kind == "dash" else Qt.PenStyle.SolidLine
            painter.setPen(QPen(color, 2, style, Qt.PenCapStyle.FlatCap))
            painter.drawLine(QPointF(rect.left(), middle.y()), QPointF(rect.right(), middle.y()))
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        if entry.kind == "dot":
            painter.drawEllipse(middle, 4, 4)
        else:
            painter.drawRoundedRect(QRectF(middle.x() - 5.5, middle.y() - 5.5, 11, 11), 2, 2)
