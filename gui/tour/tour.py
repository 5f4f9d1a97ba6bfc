"""The strip at the foot of the window that leads through the first fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QApplication, QPushButton, QToolBar

from plaidwork.gui.data.pane import Pane
from plaidwork.gui.language import tr
from plaidwork.gui.theme import space, theme
from plaidwork.gui.tour.ring import Ring
from plaidwork.gui.tour.steps import STEPS, WORDS, place
from plaidwork.gui.widgets import Label, button, tool_button
from plaidwork.gui.widgets.layouts import STRETCH, horizontal, vertical
from plaidwork.gui.window_bars import fixed_bar

if TYPE_CHECKING:
    from plaidwork.gui.main_window import MainWindow

SHOWN = "tour/shown"
"""Setting: whether the tour has been shown, or left, on this computer."""
_LOOK = 150
"""Milliseconds between two looks at where the user is."""


class Tour(Pane):
    """One step at a time. It goes on by itself when the user does what it speaks of, and never takes the focus for that.

    Esc leaves, Alt with left or right goes back or on from anywhere in the window, Enter presses the button that has the focus, or goes on.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__("sunken", "top")
        self._window, self._at, self._place = window, 0, place(window)
        self.title, self.count = Label("", "strong"), Label("", "caption", "muted")
        self.text = Label("", wrap=True)
        self.deed = button(max(WORDS, key=len), self._do)
        self.deed.setMinimumWidth(self.deed.sizeHint().width())
        room = self.deed.sizePolicy()
        room.setRetainSizeWhenHidden(True)  # else the words would be broken anew from step to step
        self.deed.setSizePolicy(room)
        self.back = button("Back", lambda: self.go(self._at - 1), kind="quiet")
        self.next = button("Next", self._on)
        self.close_button = tool_button("close", "Leave the tour (Esc)", self.leave)
        for one, keys in ((self.back, "Alt+Left"), (self.next, "Alt+Right")):
            shortcut = QShortcut(QKeySequence(keys), self)  # that of a button goes with its text
            shortcut.activated.connect(one.click)
            shown = shortcut.key().toString(QKeySequence.SequenceFormat.NativeText)
            one.setToolTip(f"{one.text()} ({shown})")
        self.ring = Ring(window)
        head = horizontal(self.title, self.count, STRETCH, spacing=space.M)
        texts = vertical(head, self.text, STRETCH, spacing=space.XS)
        middle = Qt.AlignmentFlag.AlignVCenter
        horizontal(
            (texts, 1),
            *((one, 0, middle) for one in (self.deed, self.back, self.next, self.close_button)),
            on=self,
            spacing=space.S,
            margins=(space.L, space.S, space.M, space.S),
        )
        self._timer = QTimer(self, interval=_LOOK)
        self._timer.timeout.connect(self.look)
        theme().changed.connect(self._fit)
        window.installEventFilter(self)
        self.bar: QToolBar = fixed_bar(window, "Tour", self, Qt.ToolBarArea.BottomToolBarArea)
        self.bar.hide()

    @property
    def step(self) -> int:
        """Number of the step that is shown, from 0."""
        return self._at

    def begin(self) -> None:
        """Show the first step; the keys go to it."""
        self._window.settings.set(SHOWN, True)
        self.bar.show()
        self._timer.start()
        self.go(0)
        self.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def leave(self) -> None:
        """End it, at any step; nothing else changes."""
        inside = QApplication.focusWidget()
        self._timer.stop()
        self.ring.hide()
        self.bar.hide()
        if inside is not None and self.isAncestorOf(inside):
            self._window.centre.currentWidget().setFocus(Qt.FocusReason.OtherFocusReason)

    def go(self, number: int) -> None:
        """Show a step, wherever the user is."""
        self._place = place(self._window)
        self._at = min(max(number, 0), len(STEPS) - 1)
        self.title.setText(STEPS[self._at].title)
        self.count.setText(f"Step {self._at + 1} of {len(STEPS)}")
        self.back.setEnabled(self._at > 0)
        self.next.setText(tr("Done" if self._at == len(STEPS) - 1 else "Next"))
        self.setAccessibleName(f"{tr(f'Tour, step {self._at + 1} of {len(STEPS)}')}: {self.title.text()}")
        self.look()

    def look(self) -> None:
        """Follow the user: to the step of what has come to the front, and to where that is."""
        now = place(self._window)
        moved, self._place = now != self._place, now
        if moved and now is not None and now > self._at:
            self.go(now)
            return
        step = STEPS[self._at]
        target, deed = step.target(self._window), step.deed(self._window)
        text = step.text if target is not None else f"{step.text} {step.away}".strip()
        if text != self.text.text():
            self.text.setText(text)
            self.setAccessibleDescription(tr(text))
        if deed is not None:
            self.deed.setText(tr(deed[0]))
        elif self.deed.hasFocus():
            self.next.setFocus(Qt.FocusReason.OtherFocusReason)
        self.deed.setVisible(deed is not None)
        self.ring.point_at(target)

    def _do(self) -> None:
        deed = STEPS[self._at].deed(self._window)
        if deed is not None:
            deed[1]()
            self.look()

    def _on(self) -> None:
        if self._at == len(STEPS) - 1:
            self.leave()
        else:
            self.go(self._at + 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Esc that nothing else in the window has a use for leaves the tour."""
        pressed = watched is self._window and event.type() == QEvent.Type.KeyPress and not self.bar.isHidden()
        if pressed and isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape:
            self.leave()
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc and Enter."""
        key, inside = event.key(), QApplication.focusWidget()
        if key == Qt.Key.Key_Escape:
            self.leave()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            (inside if isinstance(inside, QPushButton) and self.isAncestorOf(inside) else self.next).click()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(self._window.width(), super().sizeHint().height())

    def _fit(self) -> None:
        """As high as the longest step needs at this width, so that nothing jumps from step to step."""
        self.layout().activate()
        around = max(self.text.width(), 1)
        metrics = self.text.fontMetrics()
        lines = max(
            metrics.boundingRect(
                0, 0, around, 10_000, Qt.TextFlag.TextWordWrap.value, f"{step.text} {step.away}"
            ).height()
            for step in STEPS
        )
        head = self.title.sizeHint().height()
        self.setFixedHeight(head + space.XS + lines + 2 * space.S)


def take_tour(window: MainWindow) -> Tour:
    """Begin the tour of a window from its first step; there is one."""
    tour = window.findChild(Tour) or Tour(window)
    tour.begin()
    return tour


def first_tour(window: MainWindow) -> None:
    """Begin the tour where it was never shown and nobody has worked yet."""
    if not window.settings.flag(SHOWN) and not window.settings.recent():
        take_tour(window)
