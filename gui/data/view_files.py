"""A line for each file of an import: its name, what it is used for, and the names of its views."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from plaidwork.core.data.importers.several import Part
from plaidwork.core.draws.counting import counted
from plaidwork.gui.data.views_state import USES, FileEntry, part_line
from plaidwork.gui.language import tr
from plaidwork.gui.setup.editors import QuietCombo
from plaidwork.gui.theme import space, theme
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import horizontal, vertical

_NAME = 170
_USE = 210


class FileRow(QWidget):
    """One file; a further line for each of its matrices when there are several.

    Signals
    -------
    use_chosen : the entry, and what it is to be used for
    name_edited : the entry, and the names of its views
    options_wanted : the entry whose reading is to be looked at
    """

    use_chosen = Signal(object, str)
    name_edited = Signal(object, list)
    options_wanted = Signal(object)

    def __init__(self, entry: FileEntry, last: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entry = entry
        self._last = last
        self._single = self._edit(1)
        self.edits: list[QLineEdit] = [self._single]
        self._lines: list[Label] = []
        self.use = QuietCombo()
        self.use.setFixedWidth(_USE)
        self.use.setAccessibleName(tr(f"What {entry.path.name} is"))
        for value, label in USES:
            self.use.addItem(tr(label), value)
        self.use.activated.connect(lambda _: self.use_chosen.emit(entry, str(self.use.currentData())))
        self.options_button = button("How it is read…", lambda: self.options_wanted.emit(entry))
        self.options_button.setAccessibleName(tr(f"How {entry.path.name} is read"))
        for widget in (self.options_button, self._single):  # columns stay in line where one is not needed
            policy = widget.sizePolicy()
            policy.setRetainSizeWhenHidden(True)
            widget.setSizePolicy(policy)
        self.line = Label("Reading", "caption", "muted", elide=True)
        self._parts = vertical(spacing=space.XS)
        self._build()
        theme().changed.connect(self.update)

    def _build(self) -> None:
        title = vertical(Label(self.entry.path.name, "strong", elide=True, given=True), self.line, spacing=0)
        top = horizontal((title, 1), self._single, self.use, self.options_button, spacing=space.S)
        vertical(top, self._parts, on=self, spacing=space.XS, margins=(space.M, space.S, space.M, space.S))

    def _edit(self, number: int) -> QLineEdit:
        edit = QLineEdit()
        edit.setFixedWidth(_NAME)
        edit.setAccessibleName(tr(f"Name of view {number} of {self.entry.path.name}"))
        edit.setToolTip(tr("Name of the view"))
        edit.textEdited.connect(lambda _: self.name_edited.emit(self.entry, [e.text() for e in self.edits]))
        return edit

    def show_parts(self, parts: Sequence[Part], alone: bool) -> None:
        """Show what became of the file; ``alone``: there is no other view."""
        blocker = QSignalBlocker(self.use)
        self.use.setCurrentIndex(max(0, self.use.findData(self.entry.shown_use)))
        blocker.unblock()
        views = [part for part in parts if part.use == "view"]
        self.options_button.setVisible(self.entry.shown_use == "view")
        self._single.setVisible(len(views) == 1)
        if len(views) != len(self._lines):
            self._make_lines(len(views) if len(views) > 1 else 0)
        for part, edit in zip(views, self.edits):
            if not edit.hasFocus():
                edit.setText(part.name)
                edit.setCursorPosition(0)
        for part, line in zip(views, self._lines):
            line.setText(part_line(part, alone))
        if self.entry.shown_use == "" or not parts:
            self.line.setText("Left out")
        else:
            self.line.setText(
                f"{counted(len(views), 'matrix')}" if len(views) > 1 else part_line(parts[0], alone)
            )

    def _make_lines(self, number: int) -> None:
        while self._parts.count():
            row = self._parts.takeAt(0).widget()
            row.hide()
            row.deleteLater()
        self.edits = [self._edit(index + 1) for index in range(number)] or [self._single]
        self._lines = [Label("", "caption", "muted", elide=True) for _ in range(number)]
        for edit, line in zip(self.edits, self._lines):
            holder = QWidget()
            row = horizontal(edit, (line, 1), on=holder, spacing=space.M)
            self._parts.addWidget(holder)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Line below, except for the last."""
        if not self._last:
            painter = QPainter(self)
            painter.fillRect(0, self.height() - 1, self.width(), 1, theme().color("border"))
            painter.end()
