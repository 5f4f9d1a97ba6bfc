"""Groups of fields, columns of them, and the fold."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEasingCurve, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from plaidwork.gui.icons import pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Label
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

FOLD_MILLISECONDS = 120
WIDTHS = (640, 1500)
"""Widths of the form from which it has two, and three, columns, at texts of the usual size."""


class Section(QWidget):
    """A title and what belongs under it, 12 px apart."""

    def __init__(self, title: str, items: Sequence[QWidget] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self._column = vertical(on=self, spacing=space.M)
        if title:
            self._column.addWidget(Label(title, "title"))
        for item in items:
            self._column.addWidget(item)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)

    def add(self, item: QWidget) -> None:
        """Append an item."""
        self._column.addWidget(item)


class Columns(QWidget):
    """Sections in one, two or three columns, as the width allows.

    ``left`` and ``right`` are pinned to the first and last column; each of ``free`` goes to the column that
    is shortest at that moment, so that no section ever moves while values change.
    """

    def __init__(
        self,
        left: Sequence[QWidget] = (),
        right: Sequence[QWidget] = (),
        free: Sequence[QWidget] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._sections = (list(left), list(right), list(free))
        self._sides = [QWidget(self) for _ in range(1 + len(WIDTHS))]
        self._stacks = []
        for side in self._sides:
            column = vertical(STRETCH, on=side, spacing=space.XXL)
            self._stacks.append(column)
        horizontal(*((widget, 1) for widget in self._sides), on=self, spacing=space.HUGE)
        self._count = 0
        self._arrange(2)

    @property
    def count(self) -> int:
        """Columns shown now."""
        return self._count

    def _placed(self, count: int) -> list[list[QWidget]]:
        left, right, free = self._sections
        if count == 1:
            return [[*left, *free, *right]]
        columns: list[list[QWidget]] = [list(left), *([] for _ in range(count - 2)), list(right)]
        heights = [sum(w.sizeHint().height() + space.XXL for w in column) for column in columns]
        for section in free:
            index = heights.index(min(heights))
            columns[index].append(section)
            heights[index] += section.sizeHint().height() + space.XXL
        return [column for column in columns if column]

    def _arrange(self, count: int) -> None:
        if count == self._count:
            return
        self._count = count
        columns = self._placed(count)
        for stack, sections in zip(self._stacks, columns):
            for index, section in enumerate(sections):
                stack.insertWidget(index, section)
        for number, side in enumerate(self._sides):
            side.setVisible(number < len(columns))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many columns as fit."""
        wide = event.size().width() / theme().text_scale
        self._arrange(1 + sum(wide >= width for width in WIDTHS))
        super().resizeEvent(event)

    def minimumSizeHint(self) -> QSize:
        """As narrow as one column."""
        hint = super().minimumSizeHint()
        hint.setWidth(max((w.minimumSizeHint().width() for part in self._sections for w in part), default=0))
        return hint


class _FoldHead(QAbstractButton):
    """The clickable head: chevron, word, and what is inside."""

    def __init__(self, title: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setText(tr(title))
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(size.CONTROL + 2)
        self.note = ""
        theme().changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Chevron, bold title, muted note; ring when focused."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(QPen(theme().color("accent"), size.FOCUS))
            inset = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(inset, size.RADIUS_CARD - 1, size.RADIUS_CARD - 1)
        name = "chevron-down" if self.isChecked() else "chevron-right"
        picture = pixmap(name, size.ICON, "muted", self.devicePixelRatioF())
        painter.drawPixmap(space.M, (self.height() - size.ICON) // 2, picture)
        left = space.M + size.ICON + space.S
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(theme().font("strong"))
        painter.setPen(theme().color("text"))
        painter.drawText(self.rect().adjusted(left, 0, 0, 0), middle, self.text())
        left += painter.fontMetrics().horizontalAdvance(self.text()) + space.M
        painter.setFont(theme().font("caption"))
        painter.setPen(theme().color("muted"))
        room = self.rect().adjusted(left, 0, -space.M, 0)
        note = painter.fontMetrics().elidedText(self.note, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, middle, note)
        painter.end()


class Fold(QWidget):
    """A card whose content opens below its head in 120 ms."""

    opened = Signal(bool)

    def __init__(self, title: str, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._head = _FoldHead(title, self)
        self._clip = QWidget(self)
        vertical(content, on=self._clip, margins=(space.L, space.S, space.L, space.L))
        self._clip.hide()
        vertical(self._head, self._clip, on=self, spacing=0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        self._motion = QVariantAnimation(self)
        self._motion.setDuration(FOLD_MILLISECONDS)
        self._motion.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._motion.valueChanged.connect(lambda value: self._clip.setMaximumHeight(int(value)))
        self._motion.finished.connect(lambda: self._clip.setMaximumHeight(16777215))
        self._head.toggled.connect(self._toggle)
        theme().changed.connect(self.update)

    @property
    def head(self) -> QAbstractButton:
        """The button that opens and closes."""
        return self._head

    @property
    def is_open(self) -> bool:
        """Whether the content shows."""
        return self._head.isChecked()

    @property
    def note(self) -> str:
        """The words beside the title."""
        return self._head.note

    def set_note(self, text: str) -> None:
        """What is inside, in a few words; the whole is the tool tip."""
        self._head.note = tr(text)
        self._head.setToolTip(tr(text))
        self._head.setAccessibleName(f"{self._head.text()}. {tr(text)}")
        self._head.update()

    def set_open(self, on: bool = True) -> None:
        """Open or close."""
        self._head.setChecked(on)

    def _toggle(self, on: bool) -> None:
        self._motion.stop()
        if on and self.isVisible():
            self._clip.setMaximumHeight(0)
            self._clip.show()
            self._motion.setStartValue(0)
            self._motion.setEndValue(max(1, self._clip.sizeHint().height()))
            self._motion.start()
        else:
            self._clip.setMaximumHeight(16777215)
            self._clip.setVisible(on)
        self.opened.emit(on)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Sunken card."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme().color("border"), 1))
        painter.setBrush(theme().color("sunken"))
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(rect, size.RADIUS_CARD, size.RADIUS_CARD)
        painter.end()
