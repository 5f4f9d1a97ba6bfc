"""Row of options that breaks like words; its last item stands at the right when there is room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLayoutItem, QSizePolicy, QWidget

from plaidwork.gui.language import tr, tr_name
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import FlowLayout, Label
from plaidwork.gui.widgets.drawing import Drawing
from plaidwork.gui.widgets.layouts import horizontal, vertical, with_margins

RING = 3
"""Room for the focus ring around a picture."""


def in_rows(widths: Sequence[int], wide: int, gap: int) -> list[list[int]]:
    """Numbers of items so wide in rows that are broken like words, ``gap`` pixels between them; at least one row."""
    rows: list[list[int]] = [[]]
    x = 0
    for number, hint in enumerate(widths):
        width = min(hint, wide)
        if rows[-1] and x + width > wide:
            rows.append([])
            x = 0
        rows[-1].append(number)
        x += width + gap
    return rows


class _EndLayout(FlowLayout):
    """Items left to right, new row when full; the last one of all is pushed to the right end of its row."""

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        return self._place(QRect(0, 0, width - margins.left() - margins.right(), 0), dry=True)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect.marginsRemoved(self.contentsMargins()), dry=False)

    def minimumSize(self) -> QSize:
        wide = max((item.minimumSize().width() for item in self._items if not item.isEmpty()), default=0)
        high = max((item.sizeHint().height() for item in self._items if not item.isEmpty()), default=0)
        return QSize(wide, high)

    def _rows(self, wide: int, gap: int) -> list[list[QLayoutItem]]:
        shown = [item for item in self._items if not item.isEmpty()]
        rows = in_rows([item.sizeHint().width() for item in shown], wide, gap)
        return [[shown[number] for number in row] for row in rows]

    def _place(self, rect: QRect, dry: bool) -> int:
        """Items stand nearer to each other where that saves a row."""
        shown = [item for item in self._items if not item.isEmpty()]
        gap, rows = space.XL, self._rows(rect.width(), space.XL)
        near = self._rows(rect.width(), space.M)
        if len(near) < len(rows):
            gap, rows = space.M, near
        y = rect.y()
        for row in rows:
            high = max((item.sizeHint().height() for item in row), default=0)
            x = rect.x()
            for item in row:
                hint = item.sizeHint()
                width = min(hint.width(), rect.width())
                if item is shown[-1] and len(row) > 1 and item is self._items[-1]:
                    x = rect.right() + 1 - width
                if not dry:
                    item.setGeometry(QRect(x, y + (high - hint.height()) // 2, width, hint.height()))
                x += width + gap
            y += high + space.S
        return max(y - space.S - rect.y(), 0)


class OptionRow(QWidget):
    """Add options with ``addWidget``; the widget added last is right-aligned."""

    def __init__(self, *widgets: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._widgets = widgets
        layout = _EndLayout(self)
        for widget in widgets:
            layout.addWidget(widget)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def full_width(self) -> int:
        """Width at which everything shown stands in one row."""
        widths = [widget.sizeHint().width() for widget in self._widgets if not widget.isHidden()]
        margins = self.contentsMargins()
        return sum(widths) + space.XL * (len(widths) - 1) + margins.left() + margins.right()


def page_content(options: QWidget | None, picture: QWidget, *foot: QWidget) -> QWidget:
    """Options above, the picture with all the room, and below it a row whose first widget takes what is left.

    Options and foot keep the room of the focus ring, so that they stand on one line with the picture.
    """
    content = QWidget()
    layout = vertical(on=content, spacing=space.M - RING)
    if options is not None:
        layout.addWidget(with_margins(options, (RING, 0, RING, 0)))
    layout.addWidget(picture, 1)
    if foot:
        row = QWidget()
        horizontal(
            *((widget, int(widget is foot[0])) for widget in foot),
            on=row,
            spacing=space.M,
            margins=(RING, 0, RING, 0),
        )
        layout.addWidget(row)
    return content


class Labelled(QWidget):
    """A muted word before a control."""

    def __init__(self, text: str, control: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = Label(text, "body", "muted")
        horizontal(self.label, control, on=self, spacing=space.S)
        control.setAccessibleName(tr(text))


class Legend(Drawing):
    """Squares with words in one row; a colour token, a QColor maker or "missing" (hatched) for each."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, "body")
        self._title = ""
        self._entries: list[tuple[object, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_entries(self, entries: Sequence[tuple[object, str]], title: str = "") -> None:
        """Replace the entries: (colour token or function that gives a colour, text)."""
        self._entries, self._title = [(color, tr_name(text)) for color, text in entries], tr(title)
        self.setVisible(bool(entries))
        self.setAccessibleName(tr("Legend: " + ", ".join(text for _, text in entries)))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        width = metrics.horizontalAdvance(self._title) + space.M if self._title else 0
        for _, text in self._entries:
            width += 12 + 6 + metrics.horizontalAdvance(text) + space.M
        return QSize(max(width - space.M, 0) + 2, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Squares and words; what does not fit is cut with an ellipsis."""
        painter = QPainter(self)
        metrics = self.fontMetrics()
        x, middle = 0, self.height() / 2
        baseline = int(middle + (metrics.ascent() - metrics.descent()) / 2)
        painter.setPen(theme().color("muted"))
        if self._title:
            painter.drawText(x, baseline, self._title)
            x += metrics.horizontalAdvance(self._title) + space.M
        for color, text in self._entries:
            square = QRectF(x, round(middle - 6), 12, 12)
            paint_square(painter, square, color)
            painter.setPen(theme().color("muted"))
            room = self.width() - x - 18
            if room < min(12, metrics.horizontalAdvance(text)):
                break
            painter.drawText(x + 18, baseline, metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))
            x += 18 + metrics.horizontalAdvance(text) + space.M
        painter.end()


def paint_square(painter: QPainter, square: QRectF, color: object) -> None:
    """A legend square: token, colour function, or "missing" hatched like missing cells."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    if color == "missing":
        painter.setBrush(theme().color("border"))
        painter.drawRect(square)
        painter.setPen(theme().color("axis"))
        painter.setClipRect(square)
        for k in range(-12, 13, 6):
            painter.drawLine(
                int(square.x() + k), int(square.bottom()), int(square.x() + k + 12), int(square.top())
            )
    else:
        ink: QColor = theme().color(color) if isinstance(color, str) else color()  # type: ignore[operator]
        painter.setBrush(ink)
        painter.drawRoundedRect(square, 2, 2)
    painter.restore()
