"""Work off the GUI thread: files, layouts, summaries. Results come back as calls on the GUI thread.

The threads are Python's own and hold nothing of Qt: what a task's callables refer to (pages, widgets) is let go on the GUI thread.
"""

from __future__ import annotations

import threading
import traceback
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

THREADS = 2


class Cancelled(Exception):
    """Raised inside a task by ``Task.check`` when the task was cancelled."""


class Task:
    """One call under way. ``cancel`` makes its outcome be ignored and ``check`` raise inside it."""

    def __init__(
        self,
        call: Callable[[Task], Any],
        done: Callable[[Any], object] | None,
        failed: Callable[[BaseException, str], object] | None,
        progress: Callable[..., object] | None,
    ) -> None:
        self._call: Callable[[Task], Any] | None = call
        self._done, self._failed, self._progress = done, failed, progress
        self._outcome: tuple[str, Any, str] = ("cancelled", None, "")
        self._cancelled = threading.Event()
        self.finished = False

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

    def report(self, *progress: Any) -> None:
        """Inside the task: tell how far it is, as its ``progress`` takes it; raises ``Cancelled`` like ``check``."""
        self.check()
        _tell(lambda: self._show(*progress))

    def run(self) -> None:
        """In a thread of the pool."""
        assert self._call is not None
        try:
            self._outcome = ("done", self._call(self), "")
        except Cancelled:
            self._outcome = ("cancelled", None, "")
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # the last two only a plugin raises here
            self._outcome = ("failed", error, traceback.format_exc())

    def _show(self, *progress: Any) -> None:
        if self._progress is not None and not self.finished:
            self._progress(*progress)

    def deliver(self) -> None:
        """On the GUI thread: hand the outcome over, and let go of everything here and not in the pool's thread."""
        _running.discard(self)
        self.finished = True
        (kind, value, details), done, failed = self._outcome, self._done, self._failed
        self._outcome = ("cancelled", None, "")
        self._call = self._done = self._failed = self._progress = None
        if self.cancelled or kind == "cancelled":
            return
        if kind == "done" and done is not None:
            done(value)
        elif kind == "failed":
            if failed is None:
                raise value
            failed(value, details)


class _Pool:
    """Threads that take tasks in order; they end with the program, whatever they are at."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Task] = SimpleQueue()
        self._state = threading.Condition()
        self._open = 0  # tasks started and not yet ended
        self._threads = 0

    def start(self, task: Task) -> None:
        with self._state:
            self._open += 1
            if self._threads < min(THREADS, self._open):
                self._threads += 1
                threading.Thread(target=self._work, name="plaidwork-task", daemon=True).start()
        self._queue.put(task)

    def _work(self) -> None:
        while True:
            task = self._queue.get()
            task.run()
            _tell(task.deliver)
            del task  # not held while this thread waits for the next one
            with self._state:
                self._open -= 1
                self._state.notify_all()

    def wait(self, seconds: float) -> bool:
        with self._state:
            return self._state.wait_for(lambda: not self._open, seconds)


class _Post(QObject):
    """Carries calls to the GUI thread, where it lives; calls made in one thread arrive in their order."""

    arrived = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.calls: deque[Callable[[], None]] = deque()
        self.arrived.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def _take(self) -> None:
        self.calls.popleft()()


_post: _Post | None = None
_pool, _long_pool, _quick_pool = _Pool(), _Pool(), _Pool()
_running: set[Task] = set()


def _tell(call: Callable[[], None]) -> None:
    assert _post is not None
    _post.calls.append(call)
    try:
        _post.arrived.emit()
    except RuntimeError:  # the program has ended, and Qt with it
        _post.calls.clear()


def run_task(
    call: Callable[[Task], Any],
    done: Callable[[Any], object] | None = None,
    failed: Callable[[BaseException, str], object] | None = None,
    progress: Callable[..., object] | None = None,
    *,
    minutes: bool = False,
    at_once: bool = False,
) -> Task:
    """Run ``call(task)`` in the pool; ``done(value)`` or ``failed(error, traceback)`` follow on this thread.

    ``progress`` gets what the task reports, as a rule the share done (0 to 1).
    ``minutes``: it may take that long, and gets one of two threads apart from files and summaries.
    ``at_once``: it takes no more than a moment, and waits for nothing that takes longer.
    Without ``failed`` an error is raised on the GUI thread, where the program's exception hook shows it.
    """
    global _post
    if _post is None:
        _post = _Post()
    task = Task(call, done, failed, progress)
    _running.add(task)
    (_long_pool if minutes else _quick_pool if at_once else _pool).start(task)
    return task


def wait_for_tasks(milliseconds: int = 5000) -> bool:
    """Wait until the pools are idle (at the end of the program and in tests)."""
    end = monotonic() + milliseconds / 1000
    done = _pool.wait(milliseconds / 1000)
    for pool in (_long_pool, _quick_pool):
        done = pool.wait(max(0.0, end - monotonic())) and done
    return done
