"""Answers to modal dialogs: looked for again and again while a block of a test runs, never a moment longer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QPushButton

_EVERY = 20  # ms
_PATIENCE = 1500  # looks


@contextmanager
def answering(*steps: str | Callable[[QDialog], object]) -> Iterator[None]:
    """Work on the dialogs that open within the block.

    A step is the name of a button to click, or is called with the dialog on top until it returns something true.
    The block fails when a step is left. A dialog that nobody answers for half a minute is rejected, so that the test
    fails instead of waiting for ever; nothing is left behind that could answer a later test's dialog.
    """
    left = list(steps)
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, QDialog):
            return
        if looks > _PATIENCE:
            dialog.reject()
        elif left:
            step = left.pop(0)  # first, for a click may open a further dialog and look again in there
            if not (_press(dialog, step) if isinstance(step, str) else step(dialog)):
                left.insert(0, step)

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(_EVERY)
    try:
        yield
    finally:
        timer.stop()
    assert not left, f"{len(left)} of {len(steps)} questions were not asked"


def _press(dialog: QDialog, name: str) -> bool:
    found = dialog.findChild(QPushButton, name)
    if found is None or not found.isEnabled():
        return False
    QTest.mouseClick(found, Qt.MouseButton.LeftButton)
    return True
