"""The base of dialogs that work in the background while they are open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QWidget
from shiboken6 import isValid

from plaidwork.core.errors import PlaidworkError
from plaidwork.core.refusals import told
from plaidwork.gui.language import tr
from plaidwork.gui.tasks import Task, run_task


class TaskDialog(QDialog):
    """A dialog with named tasks: one that is begun anew replaces the one before, whose answer is dropped.

    With the dialog end its tasks and its timers; a subclass that has to end more overrides `leave`.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr(title))
        self._tasks: dict[str, Task] = {}
        self._timers: list[QTimer] = []

    def begin(
        self,
        name: str,
        call: Callable[[Task], Any],
        done: Callable[[Any], object],
        failed: Callable[[BaseException, str], object],
        progress: Callable[..., object] | None = None,
        *,
        minutes: bool = False,
    ) -> None:
        """Run ``call(task)`` in the pool; what follows is called only while this task is the last of its name.

        Parameters
        ----------
        name : of the task
        done : gets what ``call`` returned
        failed : gets the error and its traceback
        progress : gets what the task reports, as a rule the share done (0 to 1)
        minutes : it may take that long
        """

        def ended(act: Callable[..., object]) -> Callable[..., None]:
            def when_wanted(*values: Any) -> None:
                if isValid(self) and self._tasks.get(name) is task:
                    del self._tasks[name]
                    act(*values)

            return when_wanted

        def report(*values: Any) -> None:
            if progress is not None and isValid(self) and self._tasks.get(name) is task:
                progress(*values)

        self.drop(name)
        task = self._tasks[name] = run_task(call, ended(done), ended(failed), report, minutes=minutes)

    def busy(self, *names: str) -> bool:
        """Whether one of these tasks is under way; without names, whether any is."""
        return any(name in self._tasks for name in names or self._tasks)

    def drop(self, *names: str) -> None:
        """Cancel these tasks; without names, all."""
        for name in names or tuple(self._tasks):
            task = self._tasks.pop(name, None)
            if task is not None:
                task.cancel()

    def later(self, milliseconds: int, call: Callable[[], object]) -> QTimer:
        """A timer that calls once, so long after it was last started; it ends with the dialog."""
        timer = QTimer(self, singleShot=True, interval=milliseconds)
        timer.timeout.connect(call)
        self._timers.append(timer)
        return timer

    # -- leaving --------------------------------------------------------------------------------
    def leave(self) -> None:
        """The dialog closes: nothing goes on behind it. May be called twice."""
        for timer in self._timers:
            timer.stop()
        self.drop()

    def done(self, result: int) -> None:
        """Accepted or rejected."""
        self.leave()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closed by its frame, which rejects it when it is visible."""
        super().closeEvent(event)
        if event.isAccepted():
            self.leave()


def error_text(error: BaseException) -> str:
    """The text shown of an error: message and hint of ours, what the system refused, kind and message of any other."""
    if isinstance(error, PlaidworkError):
        return str(error)
    return told(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"


def message_and_hint(error: BaseException) -> tuple[str, str]:
    """The same in two parts; an error that is not ours has no hint."""
    return (error.message, error.hint) if isinstance(error, PlaidworkError) else (error_text(error), "")
