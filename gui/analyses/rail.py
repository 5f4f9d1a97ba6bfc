"""The list at the left of the page: analyses to make, and those that were made."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from plaidwork.core.findings.analysis import AnalysisRecord, AnalysisSpec
from plaidwork.gui.analyses.record_view import inputs_text, made_text
from plaidwork.gui.icons import pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets.row_ground import paint_row_ground

NEW, MADE = "new", "made"
_KIND, _KEY, _DETAIL, _ICON = (Qt.ItemDataRole.UserRole + i for i in range(4))


def broken(text: str, metrics: QFontMetrics, width: int, most: int) -> list[str]:
    """A text in at most ``most`` lines of ``width`` pixels, broken between words; the last one elided."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < most - 1:
        line = words.pop(0)
        while words and metrics.horizontalAdvance(f"{line} {words[0]}") <= width:
            line = f"{line} {words.pop(0)}"
        lines.append(line)
    rest = metrics.elidedText(" ".join(words), Qt.TextElideMode.ElideRight, width)
    return [*lines, rest] if rest else lines


class _Delegate(QStyledItemDelegate):
    """Icon, name and a muted line; heads are muted words."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        high = 34 if index.data(_KIND) is None else 46 if index.data(_KIND) == MADE else 62
        return QSize(120, round(high * theme().text_scale))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours, rect = theme(), QRect(option.rect)
        painter.save()
        name = str(index.data(Qt.ItemDataRole.DisplayRole))
        if index.data(_KIND) is None:
            painter.setFont(colours.font("body"))
            painter.setPen(colours.color("muted"))
            low = Qt.AlignmentFlag.AlignBottom
            painter.drawText(rect.adjusted(space.DOCK_EDGE, 0, -space.S, -space.XS), low, name)
            painter.restore()
            return
        paint_row_ground(painter, option, rect)
        left = space.DOCK_EDGE
        picture = pixmap(str(index.data(_ICON)), size.ICON, "muted", painter.device().devicePixelRatioF())
        painter.drawPixmap(QPoint(rect.left() + left, rect.top() + 6), picture)
        area = rect.adjusted(left + size.ICON + space.S, 4, -space.S, 0)
        lines = 2 if index.data(_KIND) == NEW else 1  # what an analysis answers takes two
        for text, font, ink, room in (
            (name, "body", "text", 1),
            (str(index.data(_DETAIL)), "caption", "muted", lines),
        ):
            painter.setFont(colours.font(font))
            painter.setPen(colours.color(ink))
            for line in broken(text, painter.fontMetrics(), area.width(), room):
                painter.drawText(area, Qt.AlignmentFlag.AlignTop, line)
                area.translate(0, painter.fontMetrics().height() + 1)
        painter.restore()


class Rail(QListWidget):
    """``chosen`` carries (kind, key): ``new`` and the id of an analysis, or ``made`` and the id of a record;
    ``delete_requested`` the id of a record."""

    chosen = Signal(str, str)
    delete_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setItemDelegate(_Delegate(self))
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Analyses of this run"))
        self.setBackgroundRole(self.backgroundRole().Window)
        self.viewport().setBackgroundRole(self.backgroundRole().Window)
        self.currentItemChanged.connect(self._changed)
        theme().changed.connect(self.doItemsLayout)

    def fill(self, specs: Sequence[AnalysisSpec], records: Sequence[AnalysisRecord]) -> None:
        """Show these; the choice stays when it is still there."""
        before = self.current()
        self.blockSignals(True)
        self.clear()
        self._head("Analyses", bool(specs))
        for spec in specs:
            self._add(NEW, spec.id, spec.title, spec.summary, "search")
        self._head("Made so far", bool(records))
        for record in reversed(records):
            detail = " · ".join(part for part in (inputs_text(record), made_text(record)) if part)
            self._add(MADE, record.id, record.title, detail, "table")
        self.select(*before)
        self.blockSignals(False)

    def _head(self, title: str, shown: bool) -> None:
        if shown:
            item = QListWidgetItem(tr(title), self)
            item.setFlags(Qt.ItemFlag.NoItemFlags)

    def _add(self, kind: str, key: str, name: str, detail: str, icon_name: str) -> None:
        name, detail = tr(name), tr(detail)
        item = QListWidgetItem(name, self)
        for role, value in ((_KIND, kind), (_KEY, key), (_DETAIL, detail), (_ICON, icon_name)):
            item.setData(role, value)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{name}, {detail}")
        item.setToolTip(f"{name}\n{detail}")

    def current(self) -> tuple[str, str]:
        """(kind, key) of the choice; empty texts without one."""
        item = self.currentItem()
        if item is None or item.data(_KIND) is None:
            return "", ""
        return str(item.data(_KIND)), str(item.data(_KEY))

    def keys(self, kind: str) -> list[str]:
        """Keys of one kind, from top to bottom."""
        items = [self.item(row) for row in range(self.count())]
        return [str(item.data(_KEY)) for item in items if item.data(_KIND) == kind]

    def select(self, kind: str, key: str) -> bool:
        """Choose an item; False when it is not there."""
        for row in range(self.count()):
            if kind and (self.item(row).data(_KIND), self.item(row).data(_KEY)) == (kind, key):
                self.setCurrentRow(row)
                return True
        return False

    def _changed(self, item: QListWidgetItem | None, _before: QListWidgetItem | None) -> None:
        if item is not None and item.data(_KIND) is not None:
            self.chosen.emit(*self.current())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete removes the chosen record."""
        kind, key = self.current()
        if event.key() == Qt.Key.Key_Delete and kind == MADE:
            self.delete_requested.emit(key)
            return
        super().keyPressEvent(event)
