"""The one verdict on each run, worked out beside the GUI thread, for all that the window shows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from plaidwork.core.inference.run import Run
from plaidwork.gui.tasks import run_task

if TYPE_CHECKING:
    from plaidwork.core.draws.diagnostics import Diagnosis

LIVE_JUDGEMENT_SECONDS = 4.0
"""Least time between two judgements of a run under way."""

_State = tuple[int, int, bool, str]
"""What a diagnosis is of: draws, sweeps, whether under way, and the model's own doubt."""


class Judgements(QObject):
    """The latest diagnosis of every run. Of a run that has ended it is that of all its draws, or none yet."""

    judged = Signal(str)
    """Id of a run whose diagnosis is new."""
    failed = Signal(str, object, str)
    """Id of a run that could not be judged, the error, its traceback."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._found: dict[str, tuple[_State, Diagnosis]] = {}
        self._busy: set[str] = set()
        self._again: set[str] = set()
        self._next: dict[str, float] = {}

    def clear(self) -> None:
        """Forget all runs, as when another session is shown."""
        for kept in (self._found, self._busy, self._again, self._next):
            kept.clear()

    def of(self, run: Run) -> Diagnosis | None:
        """What is known of a run by now."""
        state, found = self._found.get(run.id, (None, None))
        return found if run.active or state == _state(run) else None

    def ask(self, run: Run) -> None:
        """Judge what a run has kept, in the background; of a run under way every few seconds at most."""
        state, known = _state(run), self._found.get(run.id)
        if run.n_draws == 0 or (known is not None and known[0] == state):
            return
        if run.id in self._busy:
            if not run.active:  # what is being judged may lack the last draws
                self._again.add(run.id)
            return
        if run.active and time.monotonic() < self._next.get(run.id, 0.0):
            return
        self._busy.add(run.id)
        started = time.monotonic()

        def done(found: Diagnosis) -> None:
            self._found[run.id] = state, found
            ended = time.monotonic()
            self._next[run.id] = ended + max(LIVE_JUDGEMENT_SECONDS, 4 * (ended - started))
            self.judged.emit(run.id)
            self._free(run)

        def failed(error: BaseException, details: str) -> None:
            self._next[run.id] = time.monotonic() + 15 * LIVE_JUDGEMENT_SECONDS
            self.failed.emit(run.id, error, details)
            self._free(run)

        run_task(lambda task: run.diagnosis(), done, failed)

    def _free(self, run: Run) -> None:
        self._busy.discard(run.id)
        if run.id in self._again:
            self._again.discard(run.id)
            self.ask(run)


def _state(run: Run) -> _State:
    return (
        run.n_draws,
        run.sweeps_done,
        run.active,
        str([run.results.get(name, "") for name in ("doubt", "still_holds")]),
    )
