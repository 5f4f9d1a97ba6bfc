"""Who goes first when chains and window want the interpreter at the same time: the window."""

from __future__ import annotations

import math
import threading
from functools import partial
from time import monotonic

from PySide6.QtCore import QTimer

_AFTER_REPAINT = 4
"""Milliseconds; chains lose about this much of every tick."""


class _Waiting(threading.local):
    """How many seconds a thread may still wait, and since when it has worked."""

    credit = math.inf
    since = math.inf


class Priority:
    """Lets the GUI thread go first: chains hold back, between two steps, while the window redraws.

    Kernels release the interpreter lock, but the Python around them does not, and a window that is being drawn
    asks for the lock thousands of times. Without this, four chains of a small problem stretch a redraw of 20 ms to
    over a second. A chain waits ``most`` seconds at a time and never longer, all in all, than it has worked, so that a
    window that draws without a pause (on a slow screen, beside other programs) at most halves the speed of a fit.
    """

    def __init__(self, most: float = 0.1) -> None:
        self._free = threading.Event()
        self._free.set()
        self._most = most
        self._holds = 0
        self._begun = 0.0
        self._redraw = 0.0
        self._own = _Waiting()

    @property
    def redraw(self) -> float:
        """Seconds that the last redraw took, from the first hold until nothing was left to draw."""
        return self._redraw

    def hold(self) -> None:
        """Hold the chains until what is now waiting to be drawn has been drawn (GUI thread)."""
        if self._free.is_set():
            self._begun = monotonic()
        self._free.clear()
        self._holds += 1
        # a timer with a delay comes after all posted events, the repaint among them (one without does not)
        QTimer.singleShot(_AFTER_REPAINT, partial(self._release, self._holds))

    def _release(self, number: int) -> None:
        if number == self._holds:
            self._redraw = monotonic() - self._begun
            self._free.set()

    def wait(self) -> None:
        """Called by a chain between two steps."""
        own, now = self._own, monotonic()
        credit = min(self._most, own.credit + max(0.0, now - own.since))
        self._free.wait(credit)
        own.since = monotonic()
        own.credit = max(0.0, credit - (own.since - now))


PRIORITY = Priority()
"""The one of this process."""


def courteous(run: object, event: object) -> None:
    """What the window's fits call in the threads of their chains between two steps."""
    PRIORITY.wait()
