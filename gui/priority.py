"""Who goes first when chains and window want the interpreter at the same time: the window."""

from __future__ import annotations

import threading
from functools import partial

from PySide6.QtCore import QTimer

_AFTER_REPAINT = 4
"""Milliseconds; chains lose about this much of every tick."""


class Priority:
    """Lets the GUI thread go first: chains hold back, between two steps, while the window redraws.

    Kernels release the interpreter lock, but the Python around them does not, and a window that is being drawn
    asks for the lock thousands of times. Without this, four chains of a small problem stretch a redraw of 20 ms to
    over a second. A chain waits ``most`` seconds at the most, so a busy window slows a fit but never stops it.
    """

    def __init__(self, most: float = 0.1) -> None:
        self._free = threading.Event()
        self._free.set()
        self._most = most
        self._holds = 0

    def hold(self) -> None:
        """Hold the chains until what is now waiting to be drawn has been drawn (GUI thread)."""
        self._free.clear()
        self._holds += 1
        # a timer with a delay comes after all posted events, the repaint among them (one without does not)
        QTimer.singleShot(_AFTER_REPAINT, partial(self._release, self._holds))

    def _release(self, number: int) -> None:
        if number == self._holds:
            self._free.set()

    def wait(self) -> None:
        """Called by a chain between two steps."""
        self._free.wait(self._most)


PRIORITY = Priority()
"""The one of this process."""


def courteous(run: object, event: object) -> None:
    """What the window's fits call in the threads of their chains between two steps."""
    PRIORITY.wait()
