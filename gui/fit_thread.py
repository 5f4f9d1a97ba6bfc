"""A fit followed on a QThread: its events become signals."""

from __future__ import annotations

from PySide6.QtCore import QObject, QThread, Signal

from plaidwork.core.inference.execution import FitJob


class FitThread(QThread):
    """Iterates a fit, whose chains run in threads of their own. ``reported`` carries (run id, event); ``ended`` follows when
    no chain is running any more. Sweeps are no signals: the window polls the buffers.
    """

    reported = Signal(str, object)
    ended = Signal(str)

    def __init__(self, job: FitJob, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.job = job
        self.setObjectName(f"fit {job.run.id}")
        self.finished.connect(lambda: self.ended.emit(job.run.id))

    def run(self) -> None:
        for event in self.job:
            self.reported.emit(self.job.run.id, event)
