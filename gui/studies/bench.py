"""The searches of the open session: started, held, stopped, kept up to date in the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import PlaidworkError
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.session import Session, renamed_inputs
from plaidwork.core.study import Study, StudyJob, StudyRecord, adopt, study_records
from plaidwork.gui.studies.under_way import UnderWay
from plaidwork.gui.tasks import Task, run_task

if TYPE_CHECKING:
    from plaidwork.gui.workbench import Workbench

WRITE_EVERY = 1000
"""Milliseconds between two updates of the session's record of a search under way."""


class StudyBench(QObject):
    """What may be done with searches; ``workbench.studies``.

    Signals
    -------
    listed : a search was added or removed, or the session is another one
    changed : id of a search of which something has changed
    ended : id of a search that has come to its end, or was stopped
    """

    listed = Signal()
    changed = Signal(str)
    ended = Signal(str)

    def __init__(self, workbench: Workbench) -> None:
        super().__init__(workbench)
        self._workbench = workbench
        self._records: dict[str, StudyRecord] = {}
        self._under_way = UnderWay(workbench.places, self)
        self._opened: dict[str, tuple[Study, int]] = {}
        self._dirty: set[str] = set()
        self._gone: dict[str, StudyRecord] = {}
        """Searches that were removed, by id, and"""
        self._gone_jobs: dict[tuple[str, int], StudyJob] = {}
        """fits that were, with what they hold in memory, for when that is taken back."""
        self._writing = QTimer(self, singleShot=True, interval=WRITE_EVERY)
        self._writing.timeout.connect(self.write)
        self._under_way.job_ended.connect(self._on_job)
        self._under_way.over.connect(self._on_over)
        self._under_way.unreachable.connect(self._on_unreachable)
        workbench.session_replaced.connect(self._reload)
        workbench.results_changed.connect(self._on_results)

    def _reload(self) -> None:
        self._dirty.clear()
        for kept in (self._opened, self._gone, self._gone_jobs):
            kept.clear()
        self._records = {record.id: record for record in study_records(self._workbench.session.studies)}
        self.listed.emit()

    # -- looking --------------------------------------------------------------------------------
    def records(self) -> list[StudyRecord]:
        """All searches of the session, oldest first."""
        return list(self._records.values())

    def get(self, study_id: str) -> StudyRecord | None:
        """A search by its id."""
        return self._records.get(study_id)

    def phase(self, study_id: str) -> str:
        """``running``, ``paused`` or ``stopping`` while a search is under way; else empty."""
        study = self._records.get(study_id)
        return self._under_way.phase(study) if isinstance(study, Study) else ""

    def active(self) -> list[StudyRecord]:
        """Searches under way."""
        return [record for record in list(self._records.values()) if record.id in self._under_way]

    def seconds_left(self, study_id: str) -> float | None:
        """From what was done since the start; None until something was."""
        study = self._records.get(study_id)
        return self._under_way.seconds_left(study) if isinstance(study, Study) else None

    def where(self, study_id: str) -> str:
        """Address of the cluster on which a search is under way; empty for this computer."""
        return self._under_way.where(study_id)

    def rename_data(self, old: str, name: str) -> None:
        """A dataset of the session has another name."""
        for record in self._records.values():
            record.input_names = renamed_inputs(record.input_names, old, name)

    # -- running --------------------------------------------------------------------------------
    def start(self, study: Study, at_once: int = 0) -> None:
        """Add a search to the session and run what waits, on so many cores (default all)."""
        if study.id in self._under_way:
            return
        session = self._workbench.session
        for given in study.inputs.values():
            for dataset in given:
                if dataset.name not in session.datasets:
                    session.datasets[dataset.name] = dataset
                    self._workbench.data_changed.emit(dataset.name)
        new = study.id not in self._records
        self._records[study.id] = study
        study.put(session)
        thread = self._under_way.begin(study, at_once or os.cpu_count() or 1)
        self._workbench.touch()
        if new:
            self.listed.emit()
        self.changed.emit(study.id)
        thread.start()

    def _on_job(self, study: Study, number: int) -> None:
        if self._records.get(study.id) is study:
            self._touched(study.id)

    def _on_unreachable(self, study: Study, text: str) -> None:
        self._workbench.notified.emit("error", f"“{study.title}” did not start", text, "")

    def _on_over(self, study: Study) -> None:
        if self._records.get(study.id) is not study:
            return
        self._touched(study.id)
        self.write()
        self.ended.emit(study.id)

    def _touched(self, study_id: str) -> None:
        self._dirty.add(study_id)
        self._workbench.touch()
        if not self._writing.isActive():
            self._writing.start()
        self.changed.emit(study_id)

    def write(self) -> None:
        """Bring the session's records up to date."""
        for study_id in self._dirty & set(self._records):
            self._records[study_id].put(self._workbench.session)
        self._dirty.clear()

    def so_far(self, session: Session) -> Session:
        """The session with the fits of searches under way as runs, to be kept against a crash; any thread may ask."""
        for record in self.active():
            if isinstance(record, Study):
                session = record.so_far(session)
        return session

    def pause(self, study_id: str) -> None:
        """Hold all fits of a search after the sweep they are in."""
        study = self._records.get(study_id)
        if isinstance(study, Study) and self._under_way.pause(study):
            self.changed.emit(study_id)

    def go_on(self, study_id: str) -> None:
        """After a pause."""
        study = self._records.get(study_id)
        if isinstance(study, Study) and self._under_way.go_on(study):
            self.changed.emit(study_id)

    def stop(self, study_id: str) -> None:
        """End the fits under way and start no other."""
        study = self._records.get(study_id)
        if study_id in self._under_way and isinstance(study, Study):
            study.stop()
            self.changed.emit(study_id)

    def stop_all(self) -> None:
        """Before the session is left."""
        for record in self.active():
            self.stop(record.id)

    def wait(self, milliseconds: int) -> bool:
        """Wait for all searches (after ``stop_all``); True when none is running."""
        return self._under_way.wait(milliseconds)

    def stop_job(self, study_id: str, number: int) -> None:
        """End one fit; the others go on."""
        study = self._records.get(study_id)
        if isinstance(study, Study):
            study.stop_job(number)

    def resume(self, study_id: str, at_once: int = 0, failed: bool = False) -> None:
        """Go on with a search that was stopped; ``failed``: try those that failed once more."""

        def ready(study: Study) -> None:
            study.start_again(failed)
            self.start(study, at_once)

        if study_id not in self._under_way:
            self._with_model(study_id, ready, "Could not go on with")

    def _with_model(self, study_id: str, then: Callable[[Study], object], trouble: str) -> Task | None:
        """Call ``then`` with the search, its model and its data; loaded in the background when need be."""
        record, session, plugins = self._records[study_id], self._workbench.session, self._workbench.registry
        if isinstance(record, Study):
            then(record)
            return None

        def loaded(study: Study) -> None:
            if self._records.get(study_id) is record:
                self._records[study_id] = study
                then(study)

        return run_task(
            lambda task: Study.load(session, record, plugins),
            loaded,
            self._workbench.faults.report(f"{trouble} {record.title}"),
        )

    # -- choosing -------------------------------------------------------------------------------
    def rank_by(self, study_id: str, key: str) -> None:
        """Rank by another metric."""
        record = self._records[study_id]
        if record.metric.key != key:
            record.rank_by(key)
            self._touched(study_id)

    def pick(self, study_id: str, number: int) -> None:
        """Pick a fit and keep its run in the session; fitted again when it was let go."""
        record = self._records[study_id]
        try:
            record.choose(number, self._workbench.session)
        except PlaidworkError as error:
            self._workbench.notified.emit("warn", f"Fit {number} cannot be picked", str(error), "")
            return
        self._touched(study_id)
        self.open(study_id, number)

    def remove_jobs(self, study_id: str, numbers: list[int]) -> None:
        """Take fits out of a search; runs of them that were opened stay among the runs."""
        record, session, editing = self._records[study_id], self._workbench.session, self._workbench.editing
        gone = [job for job in record.jobs if job.number in numbers]
        what = f"fit {numbers[0]}" if len(numbers) == 1 else f"{counted(len(numbers), 'fit')}"
        try:
            with editing.step(f"Remove {what} of “{record.title}”"):
                record.remove(numbers, session)
                record.put(session)
        except PlaidworkError as error:
            self._workbench.notified.emit("warn", "Could not remove the fits", str(error), "")
            return
        self._gone_jobs.update({(study_id, job.number): job for job in gone})
        self.changed.emit(study_id)
        editing.offer_undo(
            f"{what} of “{record.title}”", "Runs of fits that were opened stay among the runs."
        )

    def rename(self, study_id: str, title: str) -> None:
        """Give a search another title."""
        record, title = self._records[study_id], title.strip()
        if title and title != record.title:
            with self._workbench.editing.step(f"Rename “{record.title}” to “{title}”"):
                record.title = title
                record.put(self._workbench.session)
            self.changed.emit(study_id)
            self.listed.emit()

    def follow(self, study_ids: Iterable[str]) -> None:
        """Searches were edited in the session: their records here are what stands there."""
        session = self._workbench.session
        entries = {entry.get("id"): entry for entry in session.studies}
        for study_id in study_ids:
            if study_id not in entries:
                if study_id in self._records:
                    self._gone[study_id] = self._records.pop(study_id)
                continue
            entry = entries[study_id]
            record = self._records.get(study_id) or self._gone.pop(study_id, None)
            self._records[study_id] = record or StudyRecord.from_json(entry)
            self._take_fits(self._records[study_id], StudyRecord.from_json(entry))
            self.changed.emit(study_id)
        self._records = {key: self._records[key] for key in entries if key in self._records}
        self.listed.emit()

    def _take_fits(self, record: StudyRecord, edited: StudyRecord) -> None:
        """Give a record the title and the fits of another, with what was kept of these."""
        known = {job.number: job for job in record.jobs}
        jobs = []
        for job in edited.jobs:
            kept = known.pop(job.number, None) or self._gone_jobs.pop((record.id, job.number), None)
            jobs.append(kept or job)
        self._gone_jobs.update({(record.id, number): job for number, job in known.items()})
        record.title, record.jobs[:] = edited.title, jobs

    def open(self, study_id: str, number: int, shown: Callable[[Run], object] | None = None) -> None:
        """Make the run of a fit one of the session's and call ``shown`` with it.

        A run that was let go is fitted again, in sight; ``shown`` is called at its start then.
        """
        record, session = self._records[study_id], self._workbench.session
        job = record.job(number)
        if job.run_id in session.runs:
            if shown is not None:
                shown(session.runs[job.run_id])
        elif job.run is not None:
            run = adopt(session, job)
            self._workbench.adopted(run)
            self._touched(study_id)
            if shown is not None:
                shown(run)
        elif job.status != "done":
            text = job.message or "Only a fit that is done can be opened."
            self._workbench.notified.emit("warn", f"Fit {number} has no results", text, "")
        else:
            self._with_model(
                study_id, partial(self._fit_again, job=job, shown=shown), "Could not open a fit of"
            )

    def _fit_again(self, study: Study, job: StudyJob, shown: Callable[[Run], object] | None) -> None:
        def planned(plan: FitPlan) -> None:
            run = self._workbench.start(plan, study.name_of(job))
            job.run_id = run.id
            self._opened[run.id] = (study, job.number)
            self._touched(study.id)
            if shown is not None:
                shown(run)

        run_task(
            lambda task: study.plan(job), planned, self._workbench.faults.report("Could not open the fit")
        )

    def _on_results(self, run_id: str) -> None:
        """A run that was fitted again must have the numbers of the search."""
        run = self._workbench.session.runs.get(run_id)
        if run is None or run.active or run_id not in self._opened:
            return
        study, number = self._opened.pop(run_id)
        if run.status == "done" and not study.compare_again(study.job(number), run):
            text = "The model or the computer are not those of the search. The search keeps its numbers."
            self._workbench.notified.emit(
                "warn", f"{run.title} has other numbers than in the search", text, ""
            )
