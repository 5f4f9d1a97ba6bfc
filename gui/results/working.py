"""What a page computes in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from plaidwork.gui.page import Page
from plaidwork.gui.tasks import Task, run_task


class Working(Page):
    """The part of a result page that starts tasks of its own and knows whether they have ended."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._own_tasks: set[Task] = set()

    def show_failure(self, text: str, details: str = "", plugin: str = "") -> None:
        """What could not be computed, and why."""
        raise NotImplementedError

    def start(
        self,
        call: Callable[[Task], Any],
        done: Callable[[Any], None],
        failed: Callable[[BaseException, str], None] | None = None,
    ) -> Task:
        """Run in the pool; the outcome is dropped when the page is gone by then."""

        def guarded(act: Callable[..., None]) -> Callable[..., None]:
            def when_alive(*values: Any) -> None:
                if isValid(self):
                    self._own_tasks.discard(task)
                    act(*values)

            return when_alive

        def shout(error: BaseException, details: str) -> None:
            self.show_failure(str(error), details)

        task = run_task(call, guarded(done), guarded(failed or shout))
        self._own_tasks.add(task)
        return task

    @property
    def busy(self) -> bool:
        """Whether something is being computed for this page."""
        return any(not task.finished and not task.cancelled for task in self._own_tasks)

    def wait(self, milliseconds: int = 10_000) -> bool:
        """Handle events until nothing is being computed (for pictures without a window); False on time-out."""
        loop, limit, poll = QEventLoop(), QTimer(singleShot=True), QTimer(interval=5)
        limit.timeout.connect(loop.quit)
        poll.timeout.connect(lambda: None if self.busy else loop.quit())
        limit.start(milliseconds)
        poll.start()
        if self.busy:
            loop.exec()
        return not self.busy
