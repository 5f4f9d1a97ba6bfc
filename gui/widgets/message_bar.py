"""Messages above the content: one at a time, newest in front, the others counted and listed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QLayout, QMenu, QSizePolicy, QWidget

from plaidwork.gui.icons import icon, pixmap
from plaidwork.gui.language import tr
from plaidwork.gui.theme import size, space, theme
from plaidwork.gui.widgets.button import button, clear_layout, tool_button
from plaidwork.gui.widgets.label import Label
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical

Action = tuple[str, Callable[[], object]]

#: kind -> (line and icon colour, ground colour, icon)
KINDS = {
    "info": ("link", "tint", "info"),
    "ok": ("ok", "ok_on", "check"),
    "warn": ("warn", "warn_on", "warning"),
    "error": ("error", "error_on", "error"),
}
_LINE = 4
_LEAST = 420
"""Pixels of width below which the words are not broken any further."""
_WORDS, _TITLE_LINES, _ALL_LINES = 110, 2, 99
"""Pixels of height that the words of a message take unless the user asks for all of them, and lines of its title."""


@dataclass
class Message:
    """One message; `key` lets a newer one with the same key take its place.

    A message is about the session and leaves with it, unless it is ``lasting``.
    """

    kind: str
    title: str
    text: str = ""
    actions: Sequence[Action] = ()
    key: str = ""
    on_close: Callable[[], object] | None = None
    lasting: bool = False
    number: int = field(default=0)


class MessageBar(QWidget):
    """Stack of messages of which the newest is shown; hidden while empty.

    It takes its own height in a layout, so it pushes the content down and never covers it.
    """

    emptied = Signal()
    shown = Signal(str)
    fits = Signal(int)
    """The height that the words need at the width of the bar, for a holder that keeps an older one."""

    def __init__(self, parent: QWidget | None = None, *, closable: bool = True) -> None:
        super().__init__(parent)
        self._messages: list[Message] = []
        self._next = 1
        self._icon = Label()
        self._title = Label("", "strong", elide=True, lines=_TITLE_LINES)
        self._text = Label("", elide=True, lines=_TITLE_LINES)
        self.read_all = button("Read all", self._show_all, kind="quiet", parent=self)
        self._whole = False
        self._more = button("", self._list, kind="quiet", parent=self)
        self._more.setToolTip(tr("All messages"))
        self._actions = horizontal(spacing=space.S)
        self._close = tool_button("close", "Close this message", self.close_current)
        self._close.setVisible(closable)
        self._build()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        theme().changed.connect(self._restyle)
        self.hide()

    def _build(self) -> None:
        # room to spare goes above and below the two lines, never between them
        texts = vertical(STRETCH, self._title, self._text, STRETCH, spacing=0)
        layout = horizontal(
            (self._icon, 0, Qt.AlignmentFlag.AlignTop),
            (texts, 1),
            self.read_all,
            self._more,
            self._actions,
            self._close,
            on=self,
            spacing=space.S,
            margins=(_LINE + space.M, 6, space.S, 6),
        )
        layout.setSizeConstraint(QLayout.SizeConstraint.SetDefaultConstraint)

    # -- messages -------------------------------------------------------------------------------
    def post(
        self,
        kind: str,
        title: str,
        text: str = "",
        actions: Sequence[Action] = (),
        *,
        key: str = "",
        seconds: float = 0.0,
        on_close: Callable[[], object] | None = None,
        lasting: bool = False,
    ) -> int:
        """Show a message in front and return its number.

        Parameters
        ----------
        kind : info, ok, warn or error
        title, text : what happened; one more sentence
        actions : (button text, callback) pairs; a click also closes the message
        key : replaces an older message with the same key
        seconds : closes by itself after that time; 0 stays
        on_close : called when the user closes it with the cross
        lasting : is about the program, and stays when another session is opened
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        if key:
            self._messages = [m for m in self._messages if m.key != key]
        message = Message(kind, title, text, tuple(actions), key, on_close, lasting, self._next)
        self._next += 1
        self._messages.append(message)
        if seconds > 0:
            QTimer.singleShot(round(seconds * 1000), self, lambda: self.dismiss(message.number))
        self._show_front()
        self.shown.emit(title)
        return message.number

    def amend(self, key: str, kind: str, title: str) -> None:
        """Change kind and title of the message with this key, in its place; nothing when it was closed."""
        for message in self._messages:
            if message.key == key and (message.kind, message.title) != (kind, title):
                message.kind, message.title = kind, title
                if message is self.current:
                    self._show_front()
                    self.shown.emit(title)

    def dismiss(self, number: int | str) -> None:
        """Remove a message by its number or key; unknown ones are ignored."""
        before = len(self._messages)
        self._messages = [m for m in self._messages if number not in (m.number, m.key or None)]
        if len(self._messages) != before:
            self._show_front()

    def close_current(self) -> None:
        """Close the message in front, as its cross does."""
        message = self.current
        if message is None:
            return
        self.dismiss(message.number)
        if message.on_close is not None:
            message.on_close()

    def leave_session(self) -> None:
        """Remove what is about the session, for another one is opened."""
        self._messages = [message for message in self._messages if message.lasting]
        self._show_front()

    def has(self, key: str) -> bool:
        """Whether a message with this key is there, in front or behind."""
        return any(message.key == key for message in self._messages)

    def bring_forward(self, number: int) -> None:
        """Show the message with this number."""
        found = [message for message in self._messages if message.number == number]
        self._messages = [message for message in self._messages if message.number != number] + found
        self._show_front()

    def _list(self) -> None:
        menu = QMenu(self)
        for message in reversed(self._messages):
            ink, _, name = KINDS[message.kind]
            act = partial(self.bring_forward, message.number)
            menu.addAction(icon(name, ink), tr(message.title.replace("&", "&&")), act)
        menu.addSeparator()
        menu.addAction(tr("Close all"), self.clear)
        menu.exec(self._more.mapToGlobal(self._more.rect().bottomLeft()))
        menu.deleteLater()

    def clear(self) -> None:
        """Remove all messages."""
        self._messages.clear()
        self._show_front()

    @property
    def current(self) -> Message | None:
        """The message in front."""
        return self._messages[-1] if self._messages else None

    @property
    def count(self) -> int:
        """Number of messages, hidden ones included."""
        return len(self._messages)

    # -- look -----------------------------------------------------------------------------------
    def _show_front(self) -> None:
        inside = QApplication.focusWidget()
        if inside is not None and self.isAncestorOf(inside):
            inside.clearFocus()  # else it would go on to a button that the user did not choose
        clear_layout(self._actions)
        message = self.current
        if message is None:
            self.hide()
            self.emptied.emit()
            return
        self._whole = False
        self._title.setText(message.title)
        self._text.setText(message.text)
        self._text.setVisible(bool(message.text))
        others = len(self._messages) - 1
        self._more.setText(tr(f"and {others} more" if others else ""))
        self._more.setVisible(bool(others))
        for text, callback in message.actions:
            made = button(text, partial(self._act, message, callback), parent=self)
            self._actions.addWidget(made)
            made.show()  # at once: what is not shown yet has no part in the height that the words need
        self.setAccessibleName(tr(f"{message.title}. {message.text}"))
        self._restyle()
        self.show()
        self._cut_words()
        self.fits.emit(self._height(self.width()))

    def _show_all(self) -> None:
        """Every word, however high that is, until another message comes."""
        self._whole = True
        self._cut_words()
        self.fits.emit(self._height(self.width()))

    def _cut_words(self) -> None:
        """As many lines as have room: letters of twice the size would take half of a small window."""
        rest = _WORDS // self._text.fontMetrics().lineSpacing() - _TITLE_LINES
        self._title.set_lines(_ALL_LINES if self._whole else _TITLE_LINES)
        self._text.set_lines(_ALL_LINES if self._whole else max(1, rest))
        self.read_all.setVisible(False)
        self.layout().activate()
        width = self._text.width() if self._text.isVisible() else self._title.width()
        self.read_all.setVisible(self._title.cut(width) or self._text.cut(width))
        self.updateGeometry()

    def _act(self, message: Message, callback: Callable[[], object]) -> None:
        self.dismiss(message.number)
        callback()

    def _restyle(self) -> None:
        message = self.current
        if message is not None:
            ink, _, name = KINDS[message.kind]
            self._icon.setPixmap(pixmap(name, size.ICON, ink, self.devicePixelRatioF()))
        self.update()

    def _height(self, width: int) -> int:
        """Height that the words need at a width."""
        return self.layout().totalHeightForWidth(max(width, _LEAST))

    def sizeHint(self) -> QSize:
        """As high as the words are at the width that the bar has."""
        return QSize(super().sizeHint().width(), self._height(self.width()))

    def minimumSizeHint(self) -> QSize:
        """Never wider than what it stands above."""
        return QSize(min(super().minimumSizeHint().width(), _LEAST), self._height(self.width()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may need another height."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._cut_words()
            self.fits.emit(self._height(self.width()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Ground and the line at the left."""
        if self.current is None:
            return
        ink, ground, _ = KINDS[self.current.kind]
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme().color(ground))
        painter.fillRect(QRect(0, 0, _LINE, self.height()), theme().color(ink))
        painter.end()
