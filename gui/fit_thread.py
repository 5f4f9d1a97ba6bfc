"""A fit followed on a QThread: its events become signals."""

from __future__ import annotations

from PySide6.QtCore import QObject, QThread, Signal

from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.execution import FitJob


class FitThread(QThread):
    """Iterates a fit, whose chains run in threads of their own. ``reported`` carries (run id, event); ``ended`` follows when
    no chain is running any more, and ``failed`` (run id, error) comes before it when none could be started. Sweeps are no signals: the window polls the buffers.
    """

    reported = Signal(str, object)
    failed = Signal(str, object)
    ended = Signal(str)

    def __init__(self, job: FitJob, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.job = job
        self.setObjectName(f"fit {job.run.id}")
        self.finished.connect(lambda: self.ended.emit(job.run.id))

    def run(self) -> None:
        run = self.job.run
        try:
            for event in self.job:
                self.reported.emit(run.id, event)
        except PlaidworkError as error:  # a cluster that is not there
            run.say(str(error), "error")
            self.failed.emit(run.id, error)
