"""Where notes are written: a plain pane, and beside it, or in its place, how they read."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from plaidwork.core.markdown import LONGEST
from plaidwork.gui.language import tr
from plaidwork.gui.notes.view import NoteView
from plaidwork.gui.numbers import format_count
from plaidwork.gui.theme import space
from plaidwork.gui.widgets import Label, SegmentedControl
from plaidwork.gui.widgets.layouts import horizontal, vertical

WRITE, READ = "write", "read"
_BOTH = 720
"""Pixels of width from which both panes stand beside each other."""
_MOST = 5 * LONGEST
"""Letters of a note that another program has written up to which it can be changed here; more would hold the window up."""
_QUIET = 250
"""Milliseconds without a key before the preview follows."""


class NotesField(QWidget):
    """A note and its preview. Where there is room for one of them, the preview is shown of what is there already.

    Signals
    -------
    edited : the note, after each change that was made here
    """

    edited = Signal(str)

    def __init__(self, name: str, placeholder: str, parent: QWidget | None = None) -> None:
        """``name`` says for a screen reader what the notes are on."""
        super().__init__(parent)
        self._text = ""
        self.editor, self.view = QPlainTextEdit(), NoteView()
        self.editor.setAccessibleName(tr(name))
        self.editor.setPlaceholderText(tr(placeholder))
        self.editor.setTabChangesFocus(True)
        self.view.setAccessibleName(tr(f"{name}, as they read"))
        for pane in (self.editor, self.view):
            pane.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
            pane.setMinimumHeight(110)
        self.mode = SegmentedControl([(WRITE, "Write"), (READ, "Preview")])
        self.mode.setAccessibleName(tr("Write the notes, or see how they read"))
        self._said = Label("", "caption", "muted", elide=True)
        self._quiet = QTimer(self, singleShot=True, interval=_QUIET)
        self._quiet.timeout.connect(self._preview)
        self.editor.textChanged.connect(self._changed)
        self.mode.changed.connect(lambda *_: self._arrange())
        panes = horizontal((self.editor, 1), (self.view, 1), spacing=space.L)
        foot = horizontal(self.mode, (self._said, 1), spacing=space.M)
        vertical((panes, 1), foot, on=self, spacing=space.S)
        self._say()
        self._arrange()

    @property
    def text(self) -> str:
        """The note as it stands, also the part of a very long one that is not shown."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show another note; nothing is emitted, and what stands there already stays as it is."""
        if text == self.text:
            return
        first, long = not self._text, len(text) > _MOST
        blocked = self.editor.blockSignals(True)
        self.editor.setPlainText(text[:_MOST])
        self.editor.setReadOnly(long)  # what is cut off must not be lost
        self.editor.blockSignals(blocked)
        self._text = text
        self._say()
        if first and not self.editor.hasFocus():
            self.mode.set_current(READ if text.strip() else WRITE)
        self._preview()

    def write(self) -> None:
        """Go on with writing at the end."""
        self.mode.set_current(WRITE)
        self.editor.moveCursor(self.editor.textCursor().MoveOperation.End)
        self.editor.setFocus()

    def _changed(self) -> None:
        text = self.editor.toPlainText()
        if len(text) > LONGEST and len(text) > len(self._text):
            self._refuse()
            return
        self._text = text
        self._say()
        self._quiet.start()
        self.edited.emit(text)

    def _refuse(self) -> None:
        """Take back what has made the note too long."""
        at = self.editor.textCursor().position()
        blocked = self.editor.blockSignals(True)
        self.editor.undo()
        if self.editor.toPlainText() != self._text:  # the last step was more than what came just now
            self.editor.setPlainText(self._text)
        cursor = self.editor.textCursor()
        cursor.setPosition(min(at, len(self._text)))
        self.editor.setTextCursor(cursor)
        self.editor.blockSignals(blocked)
        self._said.setText(f"A note has at most {format_count(LONGEST)} characters; that would be more.")

    def _say(self) -> None:
        words = "Markdown: # heading, **bold**, *italic*, - list, `code`, | table |"
        if self.editor.isReadOnly():
            words = f"This note is too long to be changed here: its first {format_count(_MOST)} characters are shown."
        self._said.setText(words)

    def _preview(self) -> None:
        self._quiet.stop()
        if not self.view.isHidden():
            self.view.set_text(self.text)

    def _arrange(self) -> None:
        """Both panes where there is room for them, else the chosen one."""
        both = self.width() >= _BOTH
        self.mode.setVisible(not both)
        self.editor.setVisible(both or self.mode.current == WRITE)
        self.view.setVisible(both or self.mode.current == READ)
        self._preview()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
