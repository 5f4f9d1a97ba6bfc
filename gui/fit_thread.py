"""Chains on QThreads: the engine's loop with the window's stop and pause."""

from __future__ import annotations

import os

from PySide6.QtCore import QObject, QThread, Signal

from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference.events import Checkpointed, Event, Failed, Finished, Preparing, Started
from plaidwork.core.inference.executor import Control, drive
from plaidwork.core.inference.plan import FitPlan
from plaidwork.gui.priority import PRIORITY

_TOLD = (Preparing, Started, Checkpointed, Finished, Failed)
"""Events that become signals; sweeps do not, the window polls the buffers."""


class ChainThread(QThread):
    """One chain. ``told`` carries (run id, event) and is queued to the GUI thread."""

    told = Signal(str, object)

    def __init__(
        self, run_id: str, plan: FitPlan, record: ChainRecord, control: Control, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._run_id, self._plan, self._record, self._control = run_id, plan, record, control
        self.setObjectName(f"chain {record.chain + 1}")

    def run(self) -> None:
        drive(self._plan, self._record, self._control, self._notify)

    def _notify(self, event: Event) -> None:
        if isinstance(event, _TOLD):
            self.told.emit(self._run_id, event)
        PRIORITY.wait()


class FitThreads(QObject):
    """All chains of one run. ``ended`` follows when the last chain has stopped.

    At most as many chains as there are cores run at a time when there are more than four chains.
    """

    told = Signal(str, object)
    ended = Signal(str)

    def __init__(self, run_id: str, plan: FitPlan, records: list[ChainRecord], parent: QObject | None = None):
        super().__init__(parent)
        self.run_id = run_id
        self.plan = plan
        self.control = Control()
        self._threads = [ChainThread(run_id, plan, record, self.control, self) for record in records]
        self._waiting = list(self._threads)
        self._left = len(self._threads)
        for thread in self._threads:
            thread.told.connect(self.told)
            thread.finished.connect(self._one_ended)

    def start(self) -> None:
        """Start the chains (the first ones, when there are many)."""
        for _ in range(max(4, os.cpu_count() or 1)):
            self._start_next()
        if not self._threads:
            self.ended.emit(self.run_id)

    def _start_next(self) -> None:
        if self._waiting:
            # lower than the GUI thread, so that drawing goes first when all cores are busy
            self._waiting.pop(0).start(QThread.Priority.LowPriority)

    def _one_ended(self) -> None:
        self._left -= 1
        if self.control.stopping:
            self._left -= len(self._waiting)
            self._waiting.clear()
        self._start_next()
        if self._left == 0:
            self.ended.emit(self.run_id)

    def wait(self, milliseconds: int) -> bool:
        """Wait for the chains that were started; True when none is running any more."""
        return all(thread.wait(milliseconds) for thread in self._threads if thread.isRunning())
