"""The searches that are under way: their threads, where they run, how they are held, and how long they will take."""

from __future__ import annotations

import threading
import time

from PySide6.QtCore import QObject, Signal

from plaidwork.core.errors import SettingError
from plaidwork.core.inference.execution import Progress
from plaidwork.core.inference.place import Place
from plaidwork.core.study import Study
from plaidwork.core.study.running import MakeExecutor
from plaidwork.gui.run_places import RunPlaces

KEPT_BYTES = 256e6
"""What the runs of a search may hold in memory; the rest is fitted again when it is opened."""


class UnderWay(QObject):
    """Follows each search in a thread of its own.

    Signals
    -------
    job_ended : a search, and the number of a fit of it that has ended
    over : a search that has come to its end, or was stopped
    unreachable : a search whose cluster is not there, and why
    """

    job_ended = Signal(object, int)
    over = Signal(object)
    unreachable = Signal(object, str)

    def __init__(self, places: RunPlaces, parent: QObject) -> None:
        super().__init__(parent)
        self._places = places
        self._threads: dict[str, threading.Thread] = {}
        self._begun: dict[str, tuple[float, float]] = {}
        self._held: dict[str, float] = {}
        self._where: dict[str, str] = {}
        self.over.connect(self._forget)

    def __contains__(self, study_id: object) -> bool:
        return study_id in self._threads

    def begin(self, study: Study, cores: int) -> threading.Thread:
        """Have a search among those under way, on so many cores; whoever is ready starts the thread."""
        self._begun[study.id] = (time.monotonic(), _done(study))
        place, executor, progress = self._places.for_search()
        self._where[study.id] = "" if place is None else place.cluster
        self._threads[study.id] = threading.Thread(
            target=self._work,
            args=(study, cores, place, executor, progress),
            name=f"search {study.id}",
            daemon=True,
        )
        return self._threads[study.id]

    def _work(
        self,
        study: Study,
        cores: int,
        place: Place | None,
        executor: MakeExecutor,
        progress: Progress | None,
    ) -> None:
        """In a thread of its own: follow the fits; their threads or the workers of a cluster do the work.

        A cluster that is not there is told once, and the fits go on waiting, as they do when a stop comes while it is being reached.
        """
        try:
            if place is not None:
                reached = self._places.clusters.reached(place, lambda: study.control.stopping)
                if reached is None:
                    return
            for job in study.iterate(executor, at_once=cores, memory=KEPT_BYTES, progress=progress):
                self.job_ended.emit(study, job.number)
        except SettingError as error:
            self.unreachable.emit(study, str(error))
        finally:
            self.over.emit(study)

    def _forget(self, study: Study) -> None:
        thread = self._threads.pop(study.id, None)
        if thread is not None:
            thread.join()

    # -- looking --------------------------------------------------------------------------------
    def phase(self, study: Study) -> str:
        """``running``, ``paused`` or ``stopping`` while it is under way; else empty."""
        if study.id not in self:
            return ""
        if study.control.stopping:
            return "stopping"
        return "paused" if study.control.paused else "running"

    def where(self, study_id: str) -> str:
        """Address of the cluster on which a search is under way; empty for this computer."""
        return self._where.get(study_id, "") if study_id in self else ""

    def seconds_left(self, study: Study) -> float | None:
        """From what was done since the start; None until something was."""
        begun = self._begun.get(study.id)
        if begun is None or self.phase(study) != "running":
            return None
        started, before = begun
        done, spent = _done(study), time.monotonic() - started
        if spent < 1.0 or done - before <= 0.02:
            return None
        return spent / (done - before) * (len(study.jobs) - done)

    # -- holding and ending ---------------------------------------------------------------------
    def pause(self, study: Study) -> bool:
        """Hold all fits after the sweep they are in; whether they were going on."""
        if self.phase(study) != "running":
            return False
        study.pause()
        self._held[study.id] = time.monotonic()
        return True

    def go_on(self, study: Study) -> bool:
        """After a pause; whether there was one."""
        if self.phase(study) != "paused":
            return False
        started, before = self._begun[study.id]
        held = time.monotonic() - self._held.pop(study.id, time.monotonic())
        self._begun[study.id] = (started + held, before)
        study.go_on()
        return True

    def wait(self, milliseconds: int) -> bool:
        """Wait for all (after they were stopped); True when none is running."""
        for thread in list(self._threads.values()):
            thread.join(milliseconds / 1000)
        return not any(thread.is_alive() for thread in self._threads.values())


def _done(study: Study) -> float:
    """How many fits are done, those under way by their share."""
    return sum(job.share for job in study.jobs)
