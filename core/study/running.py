"""The jobs of a study under way: so many at a time, held, stopped, measured, and let go of."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from plaidwork.core.errors import PlaidworkError, SettingError
from plaidwork.core.findings.predictive import densities_of
from plaidwork.core.findings.solutions import reported, score_of
from plaidwork.core.inference.execution import Progress, execute
from plaidwork.core.inference.executor import Control, Executor, ThreadExecutor
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run
from plaidwork.core.study.job import Status, StudyJob
from plaidwork.core.study.record import StudyRecord

MakeExecutor = Callable[[Control], Executor]
"""Who runs the chains of a job: ``ThreadExecutor``, ``InlineExecutor``, ``ProcessExecutor`` or another."""

Listener = Callable[[StudyJob], None]


class RunningStudy(StudyRecord):
    """A study that can run its jobs; ``plan`` says how each is fitted."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        self.control = Control()
        self.pinned: set[int] = set()
        self._controls: dict[int, Control] = {}
        self._lock = threading.Lock()
        self._started = False

    def plan(self, job: StudyJob) -> FitPlan:
        """The fit of one job."""
        raise NotImplementedError

    def run(
        self,
        executor: MakeExecutor = ThreadExecutor,
        *,
        at_once: int = 1,
        keep: int | None = None,
        ended: Listener | None = None,
        progress: Progress | None = None,
    ) -> list[StudyJob]:
        """Run all jobs that are waiting and return them, best first. ``ended`` is called after each."""
        for job in self.iterate(executor, at_once=at_once, keep=keep, progress=progress):
            if ended is not None:
                ended(job)
        return self.ranked()

    def iterate(
        self,
        executor: MakeExecutor = ThreadExecutor,
        *,
        at_once: int = 1,
        keep: int | None = None,
        memory: float | None = None,
        progress: Progress | None = None,
    ) -> Iterator[StudyJob]:
        """The jobs as they end, at most ``at_once`` under way; leaving the loop stops the rest.

        ``keep`` is the number of best runs whose draws stay in memory, ``memory`` the bytes that they may take;
        default all. ``progress`` is called in the threads of the chains.
        """
        if at_once < 1:
            raise SettingError(f"At least one job must run at a time. Found “{at_once}”.")
        with self._lock:
            if self._started:
                raise SettingError(f"{self.title} runs already.")
            self._started = True
        waiting: queue.SimpleQueue[StudyJob] = queue.SimpleQueue()
        for job in self.jobs:
            if job.status == "waiting":
                waiting.put(job)
        over: queue.SimpleQueue[StudyJob | None] = queue.SimpleQueue()
        work = partial(self._work, waiting, over, executor, progress)
        threads = [threading.Thread(target=work, name=f"study {i + 1}", daemon=True) for i in range(at_once)]
        for thread in threads:
            thread.start()
        left = len(threads)
        try:
            while left:
                try:
                    ended = over.get(timeout=0.1)  # short, so that Ctrl+C and stop() are seen
                except queue.Empty:
                    self._pass_on_stop()
                    continue
                if ended is None:
                    left -= 1
                    continue
                self._drop_runs(keep, memory)
                yield ended
        finally:
            if left:
                self.stop()
            for thread in threads:
                thread.join()
            with self._lock:
                self._started = False

    def _work(
        self,
        waiting: queue.SimpleQueue[StudyJob],
        over: queue.SimpleQueue[StudyJob | None],
        executor: MakeExecutor,
        progress: Progress | None,
    ) -> None:
        """What each thread does: one waiting job after the other, told as over; None when there is no more for it."""
        try:
            while True:
                self.control.wait_while_paused()
                if self.control.stopping:
                    return
                try:
                    job = waiting.get_nowait()
                except queue.Empty:
                    return
                self._run_job(job, executor, progress)
                over.put(job)
        finally:
            over.put(None)

    def start_again(self, failed: bool = False) -> None:
        """Let jobs that were stopped (and those that ``failed``) wait for another run, and take back the stop."""
        for job in self.jobs:
            if job.status == "stopped" or (failed and job.status == "failed"):
                job.clear()
        self.control = Control()

    def stop(self) -> None:
        """End the jobs under way after the step they are in, and start no other."""
        self.control.stop()
        self._pass_on_stop()

    def pause(self) -> None:
        """Hold the jobs under way after the step they are in, and start no other until :meth:`go_on`."""
        self.control.pause()
        for control in self._under_way():
            control.pause()

    def go_on(self) -> None:
        """After :meth:`pause`."""
        self.control.resume()
        for control in self._under_way():
            control.resume()

    def stop_job(self, number: int) -> None:
        """End one job that is under way; the others go on."""
        with self._lock:
            control = self._controls.get(number)
        if control is not None:
            control.stop()

    def _under_way(self) -> list[Control]:
        with self._lock:
            return list(self._controls.values())

    def _pass_on_stop(self) -> None:
        if self.control.stopping:
            for control in self._under_way():
                control.stop()

    def _run_job(self, job: StudyJob, executor: MakeExecutor, progress: Progress | None) -> None:
        control = Control()
        with self._lock:
            self._controls[job.number] = control
            job.status = "running"
        self._pass_on_stop()
        if self.control.paused:
            control.pause()
        started = time.perf_counter() - job.seconds
        status: Status = "failed"
        try:
            plan = self.plan(job)
            if job.run is None or job.run.session is not None:  # one of a session is the user's to go on with
                job.run = Run.from_plan(plan, self.name_of(job))
            run = job.run
            job.run_id = run.id
            execute(run, plan, executor(control), progress)
            status = "done" if run.status == "done" else "stopped" if run.status == "stopped" else "failed"
            if status == "failed":
                job.message = next((line.text for line in run.log if line.level == "error"), "")
            try:
                self.measure(job, run)
            except SettingError:
                if status != "stopped":  # else it was too early for its numbers
                    raise
        except PlaidworkError as error:
            status, job.message = "failed", str(error)
        except Exception as error:  # a metric may be anybody's function; the other jobs go on
            status, job.message = "failed", f"{type(error).__name__}: {error}"
        job.seconds = time.perf_counter() - started
        with self._lock:
            self._controls.pop(job.number, None)
            job.status = status

    def measure(self, job: StudyJob, run: Run) -> None:
        """The verdict on a run and all its numbers; the one it is ranked by must be there."""
        job.sweeps = run.sweeps_done
        if run.goal is not None:
            job.reached = {name: getattr(run.schedule, name) for name in ("burn_in", "draws", "thin")}
        if run.n_draws:
            verdict = run.diagnosis().verdict
            job.verdict, job.settled = verdict.word or verdict.title, verdict.settled
        job.metrics = run.single_numbers | self._predictive(job, run)
        for metric in self.metrics:
            try:
                job.metrics[metric.key] = metric.of(run)
            except Exception:  # a metric that is not ranked by may not apply to every setting
                continue
        metric = self.metric
        job.metric = job.metrics[metric.key] if metric.key in job.metrics else metric.of(run)
        job.metrics[metric.key] = job.metric

    def _predictive(self, job: StudyJob, run: Run) -> dict[str, float]:
        """How well a run predicts single observations; empty where its model does not tell."""
        plan = self.plan(job)
        found = densities_of(plan.model, plan.data, plan.params, reported(run.kept()))
        solutions = run.solutions() if run.spec.algorithm == "mcmc" else ()
        job.score = None if found is None else score_of(found, solutions)
        return {} if job.score is None else job.score.numbers()

    def _drop_runs(self, keep: int | None, memory: float | None) -> None:
        if keep is None and memory is None:
            return
        room = memory
        loose = [job for job in self.ranked() if job.run is not None and job.number not in self.pinned]
        if self.control.stopping:  # what was under way goes on from there
            loose = [job for job in loose if job.status != "stopped"]
        for held, job in enumerate(loose, start=1):
            size = job.nbytes if room is not None else 0
            if (keep is not None and held > keep) or (room is not None and size > room):
                job.run, job.run_id = None, ""
            elif room is not None:
                room -= size
