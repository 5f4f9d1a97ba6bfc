"""Results of runs, computed in the background; provisional ones while a run is under way."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from plaidwork.core.inference.execution import FitJob
from plaidwork.core.inference.run import Run
from plaidwork.gui.tasks import Task, run_task

LIVE_SUMMARY_SECONDS = 4.0
"""Least time between two provisional summaries of a run under way."""


class Summaries:
    """One summary per run at a time; ``done`` and ``failed`` are called with the run."""

    def __init__(
        self, done: Callable[[Run], object], failed: Callable[[Run, BaseException, str], object]
    ) -> None:
        self._done, self._failed = done, failed
        self._tasks: dict[str, Task] = {}
        self._next: dict[str, float] = {}

    @property
    def busy(self) -> bool:
        """Whether results are being computed."""
        return any(not task.finished for task in self._tasks.values())

    def under_way(self, run_id: str) -> bool:
        """Whether results of a run are being computed."""
        return run_id in self._tasks and not self._tasks[run_id].finished

    def clear(self) -> None:
        """Another session: what is under way is of no use."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    def ask(self, job: FitJob, final: bool) -> None:
        """Compute results; provisional ones are made every few seconds at most."""
        run = job.run
        busy = self.under_way(run.id)
        if not final and (busy or time.monotonic() < self._next.get(run.id, 0.0)):
            return
        if busy:
            self._tasks[run.id].cancel()
        started = time.monotonic()

        def done(_: Any) -> None:
            ended = time.monotonic()
            self._next[run.id] = ended + max(LIVE_SUMMARY_SECONDS, 4 * (ended - started))
            self._done(run)

        self._tasks[run.id] = run_task(
            lambda task: job.summarise(),
            done,
            lambda error, details: self._failed(run, error, details),
        )
