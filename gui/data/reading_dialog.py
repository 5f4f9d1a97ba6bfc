"""What the dialogs share that read files: what was found, how to go on, and what will be added."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from plaidwork.gui.dialog_parts import foot_pane, head_pane, progress_bar
from plaidwork.gui.task_dialog import TaskDialog
from plaidwork.gui.widgets import Label, button
from plaidwork.gui.widgets.layouts import Part, vertical


class ReadingDialog(TaskDialog):
    """A title with what was found below it, the parts of a subclass, and a foot with progress, Cancel and Import."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self._note = Label("", "body", "muted", elide=True)
        self._foot = Label("", "body", "muted", elide=True)
        self._bar = progress_bar()
        self.cancel_button = button("Cancel", self.reject)
        self.import_button = button("Import", self.start_import, kind="primary")
        self.import_button.setDefault(True)

    def start_import(self) -> None:
        """Take what was read, then accept."""
        raise NotImplementedError

    def lay_out(self, *parts: Part) -> None:
        """Put the parts between head and foot."""
        head = head_pane(self.windowTitle(), self._note)
        foot = foot_pane(self._foot, self._bar, self.cancel_button, self.import_button)
        vertical(head, *parts, foot, on=self, spacing=0)

    def say(self, text: str, color: str = "muted") -> None:
        """What will be added, or why nothing can be."""
        self._foot.setText(text)
        self._foot.set_color(color)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter inside a field takes the text first."""
        inside = isinstance(self.focusWidget(), QLineEdit | QPlainTextEdit)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and inside:
            self.focusNextChild()
            return
        super().keyPressEvent(event)
