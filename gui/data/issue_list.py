"""What was found while reading, with a check box for each fix."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from plaidwork.gui.data.import_state import FixRow
from plaidwork.gui.icons import pixmap
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import Card, Label

_ICONS = {
    "error": ("error", "error"),
    "warning": ("warning", "warn"),
    "info": ("info", "link"),
    "ok": ("check", "ok"),
}


class IssueRow(QWidget):
    """Icon, message, detail, fix. A click goes to the place in the file."""

    clicked = Signal()
    ticked = Signal(bool)

    def __init__(
        self, kind: str, message: str, detail: str = "", fix: str = "", on: bool = False, last: bool = False
    ) -> None:
        super().__init__()
        self._kind, self._last = kind, last
        self._icon = Label()
        self._icon.setFixedWidth(18)
        row = QHBoxLayout(self)
        row.setContentsMargins(space.M, space.XS, space.M, space.XS)
        row.setSpacing(space.S)
        row.addWidget(self._icon)
        row.addWidget(Label(message, elide=True))
        row.addWidget(Label(detail, "caption", "muted", elide=True), 1)
        self.box: QCheckBox | None = None
        if fix:
            self.box = QCheckBox(fix)
            self.box.setChecked(on)
            self.box.toggled.connect(self.ticked)
            row.addWidget(self.box)
        self.setMinimumHeight(36)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{message}. {detail}")
        theme().changed.connect(self._restyle)
        self._restyle()

    def _restyle(self) -> None:
        name, color = _ICONS[self._kind]
        self._icon.setPixmap(pixmap(name, 16, color, self.devicePixelRatioF()))
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
    """All rows; `ticked` carries the row and the state of its box, `place_requested` the row."""

    ticked = Signal(object, bool)
    place_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(1, 1, 1, 1)
        self._column.setSpacing(0)
        self.rows: list[IssueRow] = []
        self._all_well = False

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
            fix = issue.fix[0] if issue.fix else ""
            made = IssueRow(kind, issue.message, issue.detail, fix, item.applied, number == len(found) - 1)
            made.ticked.connect(lambda on, item=item: self.ticked.emit(item, on))
            made.clicked.connect(lambda item=item: self.place_requested.emit(item))
            if issue.row:
                made.setCursor(Qt.CursorShape.PointingHandCursor)
            self._add(made)
        if not found:
            self._add(IssueRow("ok", f"No problem found in {checked}", last=True))
        if 0 <= focus < len(self.rows) and self.rows[focus].box is not None:
            self.rows[focus].box.setFocus()

    def _add(self, row: IssueRow) -> None:
        self.rows.append(row)
        self._column.addWidget(row)
