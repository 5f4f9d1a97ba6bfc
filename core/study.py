"""Many fits of one model to the same data that belong together: grids, seeds, starts and folds, ranked."""

from __future__ import annotations

import itertools
import math
import queue
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import PlaidworkError, SettingError
from plaidwork.core.executor import Control, Executor, ThreadExecutor
from plaidwork.core.fitting import InputLike, Progress, as_datasets, execute
from plaidwork.core.job import distinct_names
from plaidwork.core.model import Model, Result, Table
from plaidwork.core.plan import FitPlan, make_plan
from plaidwork.core.run import Run, now
from plaidwork.core.schedule import Schedule
from plaidwork.core.session import Session

Status = Literal["waiting", "running", "done", "stopped", "failed"]
MakeExecutor = Callable[[Control], Executor]
"""Who runs the chains of a job: ``ThreadExecutor``, ``InlineExecutor``, ``ProcessExecutor`` or another."""

MOST_JOBS = 10_000


@dataclass(frozen=True, slots=True)
class Metric:
    """One number per run, by which the jobs of a study are ranked.

    ``source`` is the name of a trace or of a result with a single number, or a function of the run. A trace is
    taken at the kept draws of all chains, their ``mean`` or ``best`` value; of a variational model at the last
    sweep of each restart. ``goal`` defaults to that of the trace, else ``up``.
    """

    source: str | Callable[[Run], float]
    title: str = ""
    goal: Literal["", "up", "down"] = ""
    over: Literal["mean", "best"] = "mean"

    @property
    def name(self) -> str:
        """The title, or the name of the source."""
        if self.title:
            return self.title
        return self.source if isinstance(self.source, str) else getattr(self.source, "__name__", "metric")

    def with_goal_of(self, model: Model) -> Metric:
        """The metric with its goal settled. Raises ``SettingError`` for a name that the model cannot have."""
        goal = self.goal
        if isinstance(self.source, str):
            trace = next((trace for trace in model.spec.traces if trace.name == self.source), None)
            if trace is None and not self.source.isidentifier():
                raise SettingError(f"{self.source!r} is not the name of a trace or result.")
            goal = goal or (trace.goal if trace is not None else "")
        return Metric(self.source, self.title, goal or "up", self.over)

    def of(self, run: Run) -> float:
        """The number of a run that has ended. Raises ``SettingError`` when the run has none of that name."""
        if not isinstance(self.source, str):
            return float(self.source(run))
        if any(trace.name == self.source for trace in run.spec.traces):
            return self._of_trace(run)
        found = run.results.get(self.source)
        if isinstance(found, Result) and found.values.size == 1:
            return float(found.values.reshape(()))
        known = [trace.name for trace in run.spec.traces]
        known += [name for name, r in run.results.items() if isinstance(r, Result) and r.values.size == 1]
        raise SettingError(
            f"{run.spec.title} has no trace and no single number called “{self.source}”.",
            f"Known: {', '.join(known) or 'none'}.",
        )

    def _of_trace(self, run: Run) -> float:
        assert isinstance(self.source, str)
        kept = run.kept()
        if run.spec.algorithm == "mcmc":
            chains = [chain.kept_trace(self.source) for chain in kept.chains]
        else:
            chains = [chain.trace(self.source)[-1:] for chain in kept.chains]
        values = np.concatenate([*chains, np.empty(0)])
        if not len(values):
            return math.nan
        if self.over == "mean":
            return float(values.mean())
        known = values[~np.isnan(values)]
        if not len(known):
            return math.nan
        return float(known.min() if self.goal == "down" else known.max())


@dataclass
class StudyJob:
    """One fit of a study: what differs from the others, and how it went."""

    number: int
    params: Mapping[str, Any]
    seed: int
    status: Status = "waiting"
    metric: float = math.nan
    seconds: float = 0.0
    message: str = ""
    run_id: str = ""
    run: Run | None = field(default=None, repr=False)
    """The run with its draws, unless it was not among those to keep."""

    @property
    def ended(self) -> bool:
        return self.status in ("done", "stopped", "failed")


Told = Callable[[StudyJob], None]


class Study:
    """Jobs over the same data; made with :meth:`grid`, run once, looked at any time.

    Attributes
    ----------
    jobs : all jobs in the order they were planned.
    metric : how they are ranked.
    varied : names of the settings that differ between jobs.
    control : ``control.stop()`` ends the study as :meth:`stop` does.
    """

    def __init__(
        self,
        model: Model,
        inputs: Mapping[str, Sequence[Dataset]],
        jobs: Sequence[StudyJob],
        *,
        metric: Metric,
        schedule: Schedule,
        holdout: float = 0.0,
        varied: Sequence[str] = (),
        title: str = "",
    ) -> None:
        self.id = uuid.uuid4().hex[:12]
        self.created = now()
        self.model, self.inputs, self.jobs = model, dict(inputs), list(jobs)
        self.metric, self.schedule, self.holdout = metric.with_goal_of(model), schedule, holdout
        self.varied = tuple(varied)
        self.title = title or f"Study of {model.spec.title}"
        self.control = Control()
        self._controls: dict[int, Control] = {}
        self._lock = threading.Lock()
        self._started = False

    @classmethod
    def grid(
        cls,
        model: str | Model,
        inputs: Mapping[str, InputLike | Sequence[InputLike]],
        grid: Mapping[str, Sequence[Any]] | None = None,
        *,
        seeds: Sequence[int] = (1,),
        schedule: Schedule | None = None,
        metric: Metric | str | Callable[[Run], float] | None = None,
        hyperparameters: Mapping[str, Any] | None = None,
        holdout: float = 0.0,
        title: str = "",
    ) -> Study:
        """Every combination of the values in ``grid`` with every seed.

        A seed decides the starts of all chains and, with ``holdout``, which cells are left out: several seeds are
        several starts and folds. ``hyperparameters`` hold for all jobs. ``metric`` defaults to the primary trace.
        Raises ``SettingError`` or ``DataError`` for anything that no job could run with.
        """
        if isinstance(model, str):
            from plaidwork.core.registry import registry

            model = registry().model(model)
        spec = model.spec
        common = dict(hyperparameters or {})
        values = {name: list(options) for name, options in (grid or {}).items()}
        for name, options in values.items():
            parameter = spec.hyperparameter(name)
            if not options:
                raise SettingError(f"The grid has no value for “{parameter.title}” ({name}).")
            if name in common:
                raise SettingError(f"{name} is given twice: fixed, and in the grid.")
            values[name] = [parameter.check(option) for option in options]
        spec.check_params(common)
        if not seeds:
            raise SettingError("A study needs a seed.")
        n_jobs = math.prod(map(len, values.values())) * len(seeds)
        if n_jobs > MOST_JOBS:
            raise SettingError(f"A study may have {MOST_JOBS} jobs. Found {n_jobs}.", "Take fewer values.")
        jobs: list[StudyJob] = []
        for chosen in itertools.product(*values.values()):
            for seed in seeds:
                params = {**common, **dict(zip(values, chosen, strict=True))}
                jobs.append(StudyJob(len(jobs) + 1, params, int(seed)))
        data = distinct_names({name: as_datasets(name, value) for name, value in inputs.items()})
        if metric is None:
            if spec.primary_trace is None:
                raise SettingError(f"{spec.title} has no primary trace.", "Name a metric.")
            metric = spec.primary_trace.name
        study = cls(
            model,
            data,
            jobs,
            metric=metric if isinstance(metric, Metric) else Metric(metric),
            schedule=schedule or spec.schedule,
            holdout=holdout,
            varied=tuple(values),
            title=title,
        )
        study.plan(jobs[0])  # data and settings are checked before anything runs
        return study

    def plan(self, job: StudyJob) -> FitPlan:
        """The fit of one job."""
        return make_plan(
            self.model,
            self.inputs,
            job.params,
            schedule=self.schedule,
            seed=job.seed,
            holdout=self.holdout,
        )

    # -- running --------------------------------------------------------------------------------
    def run(
        self,
        executor: MakeExecutor = ThreadExecutor,
        *,
        at_once: int = 1,
        keep: int | None = None,
        ended: Told | None = None,
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
        progress: Progress | None = None,
    ) -> Iterator[StudyJob]:
        """The jobs as they end, at most ``at_once`` under way; leaving the loop stops the rest.

        ``keep`` is the number of best runs whose draws stay in memory; default all. ``progress`` is called in the
        threads of the chains.
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

        def work() -> None:
            try:
                while not self.control.stopping:
                    try:
                        job = waiting.get_nowait()
                    except queue.Empty:
                        return
                    self._run_job(job, executor, progress)
                    over.put(job)
            finally:
                over.put(None)

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
                self._drop_runs(keep)
                yield ended
        finally:
            if left:
                self.stop()
            for thread in threads:
                thread.join()
            with self._lock:
                self._started = False

    def stop(self) -> None:
        """End the jobs under way after the step they are in, and start no other."""
        self.control.stop()
        self._pass_on_stop()

    def stop_job(self, number: int) -> None:
        """End one job that is under way; the others go on."""
        with self._lock:
            control = self._controls.get(number)
        if control is not None:
            control.stop()

    def _pass_on_stop(self) -> None:
        if self.control.stopping:
            with self._lock:
                controls = list(self._controls.values())
            for control in controls:
                control.stop()

    def _run_job(self, job: StudyJob, executor: MakeExecutor, progress: Progress | None) -> None:
        control = Control()
        with self._lock:
            self._controls[job.number] = control
            job.status = "running"
        self._pass_on_stop()
        started = time.perf_counter()
        run: Run | None = None
        status: Status = "failed"
        try:
            plan = self.plan(job)
            run = Run.from_plan(plan, self.name_of(job))
            execute(run, plan, executor(control), progress)
            status = "done" if run.status == "done" else "stopped" if run.status == "stopped" else "failed"
            if status == "failed":
                job.message = next((line.text for line in run.log if line.level == "error"), "")
            job.metric = self.metric.of(run)
        except PlaidworkError as error:
            status, job.message = "failed", str(error)
        except Exception as error:  # a metric may be anybody's function; the other jobs go on
            status, job.message = "failed", f"{type(error).__name__}: {error}"
        job.seconds = time.perf_counter() - started
        if run is not None:
            job.run, job.run_id = run, run.id
        with self._lock:
            self._controls.pop(job.number, None)
            job.status = status

    def _drop_runs(self, keep: int | None) -> None:
        if keep is not None:
            for job in [job for job in self.ranked() if job.run is not None][max(0, keep) :]:
                job.run, job.run_id = None, ""

    # -- looking --------------------------------------------------------------------------------
    def name_of(self, job: StudyJob) -> str:
        """Title of a job's run: what differs, and the seed."""
        parts = [f"{name} {_shown(job.params[name])}" for name in self.varied]
        return f"{self.title}: {', '.join([*parts, f'seed {job.seed}'])}"

    def ranked(self) -> list[StudyJob]:
        """Jobs that have ended, best first; those without a number last."""
        return sorted((job for job in self.jobs if job.ended), key=self._rank)

    def _rank(self, job: StudyJob) -> tuple[bool, bool, float, int]:
        sign = 1.0 if self.metric.goal == "down" else -1.0
        unknown = math.isnan(job.metric)
        return job.status != "done", unknown, 0.0 if unknown else sign * job.metric, job.number

    @property
    def best(self) -> StudyJob | None:
        """The best job that is done."""
        found = [job for job in self.ranked() if job.status == "done" and not math.isnan(job.metric)]
        return found[0] if found else None

    def table(self) -> Table:
        """One line per job, in the order they were planned."""
        return study_table(self.to_json())

    def by_setting(self) -> Table:
        """Mean and standard deviation of the metric over the seeds, per combination of the grid; best first."""
        groups: dict[tuple[Any, ...], list[float]] = {}
        for job in self.jobs:
            values = groups.setdefault(tuple(job.params[name] for name in self.varied), [])
            if job.status == "done" and not math.isnan(job.metric):
                values.append(job.metric)
        sign = 1.0 if self.metric.goal == "down" else -1.0
        means = {key: float(np.mean(found)) if found else math.nan for key, found in groups.items()}
        keys = sorted(groups, key=lambda key: (math.isnan(means[key]), sign * means[key]))
        columns: dict[str, np.ndarray] = {
            name: _column([key[i] for key in keys]) for i, name in enumerate(self.varied)
        }
        columns[self.metric.name] = np.array([means[key] for key in keys])
        columns["sd"] = np.array(
            [np.std(groups[key], ddof=1) if len(groups[key]) > 1 else math.nan for key in keys]
        )
        columns["Jobs"] = np.array([len(groups[key]) for key in keys])
        return Table(columns, label="By setting", doc="Mean over the seeds; sd between seeds.")

    def to_json(self) -> dict[str, Any]:
        """All but the draws, JSON-ready: what a session keeps in ``session.studies``."""
        return {
            "id": self.id,
            "title": self.title,
            "model": self.model.spec.id,
            "version": self.model.spec.version,
            "created": self.created,
            "inputs": {name: [dataset.name for dataset in given] for name, given in self.inputs.items()},
            "schedule": {name: getattr(self.schedule, name) for name in Schedule.__slots__},
            "holdout": self.holdout,
            "metric": {"name": self.metric.name, "goal": self.metric.goal, "over": self.metric.over},
            "varied": list(self.varied),
            "jobs": [
                {
                    "number": job.number,
                    "params": {
                        name: list(v) if isinstance(v, tuple) else v for name, v in job.params.items()
                    },
                    "seed": job.seed,
                    "status": job.status,
                    "metric": job.metric if math.isfinite(job.metric) else None,
                    "seconds": round(job.seconds, 3),
                    "message": job.message,
                    "run": job.run_id,
                }
                for job in self.jobs
            ],
        }

    def add_to(self, session: Session) -> None:
        """Put the record, the data and the runs that were kept into a session; called again it updates them."""
        for given in self.inputs.values():
            for dataset in given:
                session.datasets.setdefault(dataset.name, dataset)
        for job in self.jobs:
            if job.run is not None and job.run.id not in session.runs:
                job.run.session = session  # type: ignore[attr-defined]
                session.runs[job.run.id] = job.run
        record = self.to_json()
        before = [i for i, old in enumerate(session.studies) if old.get("id") == self.id]
        if before:
            session.studies[before[0]] = record
            return
        session.studies.append(record)
        session.note("study", study=self.id, title=self.title, model=record["model"], jobs=len(self.jobs))


def study_table(record: Mapping[str, Any]) -> Table:
    """One line per job of a study as stored: what varies, seed, status, metric, rank, seconds."""
    jobs = record["jobs"]
    metric = record["metric"]
    sign = 1.0 if metric["goal"] == "down" else -1.0
    counted = [j for j in jobs if j["status"] == "done" and j["metric"] is not None]
    order = sorted(counted, key=lambda job: (sign * job["metric"], job["number"]))
    rank = {job["number"]: place + 1 for place, job in enumerate(order)}
    columns = {"Job": np.array([job["number"] for job in jobs])}
    for name in record["varied"]:
        columns[name] = _column([job["params"][name] for job in jobs])
    columns["Seed"] = np.array([job["seed"] for job in jobs])
    columns["Status"] = np.array([job["status"] for job in jobs], dtype=object)
    columns[metric["name"]] = np.array(
        [math.nan if job["metric"] is None else float(job["metric"]) for job in jobs]
    )
    columns["Rank"] = np.array([float(rank.get(job["number"], math.nan)) for job in jobs])
    columns["Seconds"] = np.array([job["seconds"] for job in jobs])
    if any(job["message"] for job in jobs):
        columns["Message"] = np.array([job["message"] for job in jobs], dtype=object)
    return Table(columns, units={"Seconds": "s"}, label=record["title"])


def _column(values: list[Any]) -> np.ndarray:
    """Numbers as numbers, anything else as text."""
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return np.array(values)
    return np.array([_shown(value) for value in values], dtype=object)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(f"{item:g}" for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
