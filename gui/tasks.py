"""Work off the GUI thread: files, layouts, summaries. Results come back as calls on the GUI thread."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QRunnable, QThreadPool, Signal

THREADS = 2


class Cancelled(Exception):
    """Raised inside a task by ``Task.check`` when the task was cancelled."""


class _Signals(QObject):
    progress = Signal(float)
    ended = Signal(object)


class Task(QRunnable):
    """One call under way. ``cancel`` makes its outcome be ignored and ``check`` raise inside it."""

    def __init__(
        self,
        call: Callable[[Task], Any],
        done: Callable[[Any], object] | None,
        failed: Callable[[BaseException, str], object] | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        super().__init__()
        self._call, self._done, self._failed = call, done, failed
        self._cancelled = threading.Event()
        self._signals = _Signals()
        self._signals.ended.connect(self._deliver)
        if progress is not None:
            self._signals.progress.connect(progress)
        self.finished = False
        self.setAutoDelete(False)

    def cancel(self) -> None:
        """Ignore the outcome; a task that calls ``check`` stops soon."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def check(self) -> None:
        """Inside the task: raise ``Cancelled`` when it was cancelled."""
        if self._cancelled.is_set():
            raise Cancelled

    def report(self, share: float) -> None:
        """Inside the task: tell the share done (0 to 1); raises ``Cancelled`` like ``check``."""
        self.check()
        self._signals.progress.emit(share)

    def run(self) -> None:
        outcome: tuple[str, Any, str]
        try:
            outcome = ("done", self._call(self), "")
        except Cancelled:
            outcome = ("cancelled", None, "")
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # the last two only a plugin raises here
            outcome = ("failed", error, traceback.format_exc())
        self._signals.ended.emit(outcome)

    def _deliver(self, outcome: tuple[str, Any, str]) -> None:
        _running.discard(self)
        self.finished = True
        kind, value, details = outcome
        if self.cancelled or kind == "cancelled":
            return
        if kind == "done" and self._done is not None:
            self._done(value)
        elif kind == "failed":
            if self._failed is None:
                raise value
            self._failed(value, details)


_pool: QThreadPool | None = None
_long_pool: QThreadPool | None = None
_running: set[Task] = set()


def pool() -> QThreadPool:
    """The I/O pool of two threads."""
    global _pool
    if _pool is None:
        _pool = QThreadPool()
        _pool.setMaxThreadCount(THREADS)
    return _pool


def long_pool() -> QThreadPool:
    """Two more threads, for what takes minutes and must not hold up files and summaries."""
    global _long_pool
    if _long_pool is None:
        _long_pool = QThreadPool()
        _long_pool.setMaxThreadCount(THREADS)
    return _long_pool


def run_task(
    call: Callable[[Task], Any],
    done: Callable[[Any], object] | None = None,
    failed: Callable[[BaseException, str], object] | None = None,
    progress: Callable[[float], None] | None = None,
    *,
    minutes: bool = False,
) -> Task:
    """Run ``call(task)`` in the pool; ``done(value)`` or ``failed(error, traceback)`` follow on this thread.

    ``minutes``: it may take that long, and gets a thread apart from files and summaries.
    Without ``failed`` an error is raised on the GUI thread, where the program's exception hook shows it.
    """
    task = Task(call, done, failed, progress)
    _running.add(task)
    (long_pool() if minutes else pool()).start(task)
    return task


def wait_for_tasks(milliseconds: int = 5000) -> bool:
    """Wait until the pools are idle (at the end of the program and in tests)."""
    done = pool().waitForDone(milliseconds)
    return long_pool().waitForDone(milliseconds) and done
