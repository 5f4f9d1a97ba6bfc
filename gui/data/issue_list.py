"""What was found while reading, with a check box for each fix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QSizePolicy, QWidget

from plaidwork.core.data.importers import Issue
from plaidwork.core.data.importers.base import Fix
from plaidwork.gui.data.import_state import FixRow
from plaidwork.gui.icons import pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets import Card, Label, tool_button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical, with_margins

_ICONS = {
    "error": ("error", "error"),
    "warning": ("warning", "warn"),
    "info": ("info", "link"),
    "ok": ("check", "ok"),
}


LEAST = 36
"""Pixels of a row of one line."""
_LONGEST = 120
_DETAIL_LINES = 3
"""Lines that a detail takes beside its message before it is cut."""


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


class IssueRow(QWidget):
    """Icon, message, detail, and a check box for each of the ways to mend it. A click goes to the place in the file.

    Where there are several places, a button opens their list below.
    """

    clicked = Signal()
    ticked = Signal(bool)
    other_ticked = Signal(bool)
    resized = Signal()

    def __init__(self, kind: str, item: FixRow, last: bool = False) -> None:
        super().__init__()
        issue = item.issue
        self._kind, self._last, self._high = kind, last, 0
        self._icon = Label()
        self._icon.setFixedWidth(size.ICON + 2)
        top = horizontal(
            self._icon,
            Label(issue.message, elide=True),
            (Label(issue.detail, "caption", "muted", elide=True, lines=_DETAIL_LINES), 1),
            spacing=space.S,
        )
        column = vertical(top, on=self, spacing=space.XS, margins=(space.M, space.XS, space.M, space.XS))
        self.list_button: QAbstractButton | None = None
        self.places = Label("\n".join(map(_cut, issue.places)), "caption", "muted")
        self.places.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        with_margins(self.places, (size.ICON + 2 + space.S, 0, 0, space.XS))
        self.places.hide()
        if len(issue.places) > 1:
            self.list_button = tool_button("chevron-down", "List all places", self._open_list)
            top.addWidget(self.list_button)
        self.box = self._made_box(issue.fix, item.applied and not item.second, self.ticked)
        self.other_box = self._made_box(issue.other, item.applied and item.second, self.other_ticked)
        boxes = [box for box in (self.box, self.other_box) if box is not None]
        if len(boxes) == 1 and not issue.places:
            top.addWidget(boxes[0])
        elif boxes:  # the words have the first line for themselves
            below = horizontal(
                *boxes, STRETCH, spacing=space.L, margins=(size.ICON + 2 + space.S, 0, 0, space.XS)
            )
            column.addLayout(below)
        column.addWidget(self.places)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr(f"{issue.message}. {issue.detail}"))
        theme().changed.connect(self._restyle)
        self._restyle()

    def sizeHint(self) -> QSize:
        """As high as its lines are at its width, and at least one row."""
        return super().sizeHint().expandedTo(QSize(0, max(LEAST, self._high)))

    def fit(self, width: int) -> None:
        """Be as high as its words need at a width; the list does not ask for that by itself."""
        high = self.layout().totalHeightForWidth(width)
        if high != self._high:
            self._high = high
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        """Never lower than that."""
        return QSize(super().minimumSizeHint().width(), self.sizeHint().height())

    def _made_box(self, fix: Fix | None, on: bool, signal: Any) -> QCheckBox | None:
        if fix is None:
            return None
        box = QCheckBox(tr(fix[0]))
        box.setChecked(on)
        box.toggled.connect(signal)
        return box

    def _open_list(self) -> None:
        assert self.list_button is not None
        on = self.places.isHidden()
        self.places.setVisible(on)
        self.list_button.setToolTip(tr("Hide the list" if on else "List all places"))
        self.updateGeometry()
        self.resized.emit()

    def _restyle(self) -> None:
        name, color = _ICONS[self._kind]
        self._icon.setPixmap(pixmap(name, size.ICON, color, self.devicePixelRatioF()))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Line below, except for the last."""
        if not self._last:
            painter = QPainter(self)
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme().color("border"))
            painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to the place."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.clicked.emit()


class IssueList(Card):
    """All rows; `ticked` (`other_ticked` for the second way) carries the row and the state of its box,
    `place_requested` the row; `resized` says that a list was opened or closed."""

    ticked = Signal(object, bool)
    other_ticked = Signal(object, bool)
    resized = Signal()
    row_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = vertical(on=self, spacing=0, margins=1)
        self.rows: list[IssueRow] = []

    def show_rows(self, found: Sequence[FixRow], checked: str) -> None:
        """Show what was found; `checked` says what was looked at when there is nothing."""
        focus = next((k for k, row in enumerate(self.rows) if row.box and row.box.hasFocus()), -1)
        for row in self.rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = []
        for number, item in enumerate(found):
            issue = item.issue
            kind = "ok" if item.applied and issue.severity != "info" else issue.severity
            made = IssueRow(kind, item, number == len(found) - 1)
            made.ticked.connect(lambda on, item=item: self.ticked.emit(item, on))
            made.other_ticked.connect(lambda on, item=item: self.other_ticked.emit(item, on))
            made.resized.connect(self.resized)
            made.clicked.connect(lambda item=item: self.row_requested.emit(item))
            if issue.row:
                made.setCursor(Qt.CursorShape.PointingHandCursor)
            self._add(made)
        if not found:
            well = FixRow(Issue("info", f"No problem found in {checked}"))
            self._add(IssueRow("ok", well, last=True))
        if 0 <= focus < len(self.rows) and self.rows[focus].box is not None:
            self.rows[focus].box.setFocus()

    def _add(self, row: IssueRow) -> None:
        self.rows.append(row)
        self._column.addWidget(row)
