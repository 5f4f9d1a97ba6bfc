"""Layout that fills rows and breaks them like words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from plaidwork.gui.theme import space
from plaidwork.gui.widgets.layouts import with_margins


class FlowLayout(QLayout):
    """Items left to right, new row when the width is used up."""

    def __init__(self, parent: QWidget | None = None, gap: int = space.S, row_gap: int = space.S) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap, self._row_gap = gap, row_gap
        with_margins(self, 0)

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item (called by addWidget)."""
        self._items.append(item)

    def count(self) -> int:
        """Number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Item at `index` or None."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """It never asks for more room."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """The height depends on the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of all rows at a width."""
        return self._place(QRect(0, 0, width, 0), dry=True)

    def setGeometry(self, rect: QRect) -> None:
        """Place all items."""
        super().setGeometry(rect)
        self._place(rect, dry=False)

    def sizeHint(self) -> QSize:
        """As narrow as the widest item."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        """Room for the largest item."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _place(self, rect: QRect, dry: bool) -> int:
        inner = rect.marginsRemoved(self.contentsMargins())
        x, y, high = inner.x(), inner.y(), 0
        row: list[tuple[QLayoutItem, QRect]] = []
        for item in self._items:
            widget = item.widget()
            if widget is not None and widget.isHidden():
                continue
            hint = item.sizeHint()
            if row and x + hint.width() > inner.right() + 1:
                if not dry:
                    _centre(row, high)
                x, y, high, row = inner.x(), y + high + self._row_gap, 0, []
            row.append((item, QRect(QPoint(x, y), hint)))
            x += hint.width() + self._gap
            high = max(high, hint.height())
        if not dry:
            _centre(row, high)
        return y + high - rect.y() + self.contentsMargins().bottom()


def _centre(row: Sequence[tuple[QLayoutItem, QRect]], high: int) -> None:
    """Place the items of a row of that height, each in its middle."""
    for item, place in row:
        item.setGeometry(place.translated(0, (high - place.height()) // 2))
