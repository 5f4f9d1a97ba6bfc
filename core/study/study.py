"""Many fits of one model to the same data that belong together: grids, seeds, starts and folds, ranked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plaidwork.core.contract.metric import Metric, metrics_of, undeclared_metric
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.data.fit_inputs import entries_of, left_out, load_inputs, warn_user
from plaidwork.core.data.orienting import Placed, orient
from plaidwork.core.errors import PlaidworkError, SessionError, SettingError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control, ThreadExecutor
from plaidwork.core.inference.plan import FitPlan, make_plan, replan
from plaidwork.core.inference.run import Run
from plaidwork.core.study.grid import combinations
from plaidwork.core.study.job import StudyJob
from plaidwork.core.study.record import StudyRecord
from plaidwork.core.study.running import MakeExecutor, RunningStudy

if TYPE_CHECKING:
    from plaidwork.core.plugins.registry import Registry
    from plaidwork.core.session.session import Session

SAME = "Fitted again from its settings and seed; its numbers equal those of the search."
OTHER = "Fitted again from its settings and seed, with other numbers than in the search: the model or the computer differ."


class Study(RunningStudy):
    """Jobs over the same data; made with :meth:`grid` or from a session with :meth:`load`.

    Attributes
    ----------
    jobs : all jobs in the order they were planned.
    metric : how they are ranked.
    varied : names of the settings that differ between jobs.
    control : ``control.stop()`` ends the study as :meth:`stop` does, ``control.pause()`` holds all jobs.
    pinned : numbers of jobs whose runs are kept whatever their rank.
    """

    def __init__(
        self,
        model: Model,
        inputs: Mapping[str, Sequence[Dataset]],
        jobs: list[StudyJob],
        *,
        metric: Metric,
        schedule: Schedule,
        **more: Any,
    ) -> None:
        spec = model.spec
        more.setdefault("titles", {parameter.name: parameter.title for parameter in spec.hyperparameters})
        more.setdefault(
            "labels",
            {
                parameter.name: {
                    str(choice.value): choice.label or str(choice.value) for choice in parameter.choices
                }
                for parameter in spec.hyperparameters
                if parameter.choices
            },
        )
        more["title"] = more.get("title") or f"Study of {spec.title}"
        super().__init__(
            model_id=spec.id,
            version=spec.version,
            model_title=spec.title,
            input_names={name: tuple(dataset.name for dataset in given) for name, given in inputs.items()},
            jobs=jobs,
            metric=metric.with_goal_of(spec),
            schedule=schedule,
            **more,
        )
        self.model, self.inputs = model, dict(inputs)
        self.placed: tuple[Placed, ...] = ()
        """Where the samples of its matrices were found, and which were turned when it was made."""
        self._plan: FitPlan | None = None

    @classmethod
    def grid(
        cls,
        model: str | Model,
        inputs: Mapping[str, Any],
        grid: Mapping[str, Sequence[Any]] | None = None,
        *,
        seeds: Sequence[int] = (1,),
        schedule: Schedule | None = None,
        metric: Metric | str | Callable[[Run], float] | None = None,
        metrics: Sequence[Metric] | None = None,
        hyperparameters: Mapping[str, Any] | None = None,
        holdout: float = 0.0,
        title: str = "",
        samples_in: str | Mapping[str, str] | None = None,
        import_options: Mapping[str, Any] | None = None,
        transform: str | Sequence[Any] = (),
    ) -> Study:
        """Every combination of the values in ``grid`` with every seed.

        A seed decides the starts of all chains and, with ``holdout``, which cells are left out: several seeds are
        several starts and folds. ``schedule`` defaults to the model's own number of draws; with a ``budget`` the chains of every
        fit go on until they have settled. ``hyperparameters`` hold for all jobs. ``metric`` defaults to the first of
        ``metrics``, which default to what model and plugins declare and the objective. ``inputs``, ``samples_in``,
        ``import_options`` and ``transform`` are what ``fit`` takes.
        Raises ``SettingError`` or ``DataError`` for anything that no job could run with.
        """
        if isinstance(model, str):
            from plaidwork.core.plugins.registry import registry

            model = registry().model(model)
        spec = model.spec
        varied, points = combinations(spec, grid or {}, dict(hyperparameters or {}), seeds)
        jobs = [StudyJob(index + 1, params, seed) for index, (params, seed) in enumerate(points)]
        known = metrics_of(
            spec, _contributed() if metrics is None else metrics, model.offers("log_likelihood")
        )
        given = load_inputs(spec, entries_of(spec, inputs, import_options, transform), samples_in=samples_in)
        turned, placed = orient(spec.inputs, given.data)
        study = cls(
            model,
            turned,
            jobs,
            metric=_metric_of(spec, metric, known),
            metrics=known,
            schedule=schedule or spec.schedule,
            holdout=holdout,
            varied=varied,
            title=title,
        )
        study.placed = placed
        plan = study.plan(jobs[0])  # data and settings are checked before anything runs
        warn_user((*given.messages, *(left_out(given.data, plan.inputs) if given.read else ())))
        return study

    @classmethod
    def load(cls, session: Session, record: StudyRecord, plugins: Registry) -> Study:
        """A stored study with its model and data, to go on with or to fit again what was let go.

        Jobs, numbers and choices are those of ``record``. Raises ``SessionError`` when the model is missing, or the
        data are not those of the study.
        """
        model = plugins.model(record.model_id)
        missing = [n for names in record.input_names.values() for n in names if n not in session.datasets]
        if missing:
            raise SessionError(
                f"“{record.title}” needs data that are not in the session: {', '.join(missing)}."
            )
        inputs = {key: [session.datasets[n] for n in names] for key, names in record.input_names.items()}
        named = {
            metric.key: metric
            for metric in metrics_of(model.spec, plugins.metrics, model.offers("log_likelihood"))
        }
        study = cls(
            model,
            inputs,
            record.jobs,
            metric=named.get(record.metric.key, record.metric),
            metrics=list(named.values()),
            schedule=record.schedule,
            **{
                name: getattr(record, name)
                for name in ("varied", "titles", "labels", "title", "holdout", "data_hash")
            },
            id=record.id,
            created=record.created,
            choices=record.choices,
        )
        if record.data_hash and study.base_plan().data_hash != record.data_hash:
            raise SessionError(
                f"The data of “{record.title}” have changed since it was made.",
                "Undo the change, or start a new search with the data as they are now.",
            )
        return study

    def base_plan(self) -> FitPlan:
        """A plan of the first job; the others share its data."""
        if self._plan is None:
            job = self.jobs[0]
            plan = make_plan(
                self.model,
                self.inputs,
                job.params,
                schedule=self.schedule,
                seed=job.seed,
                holdout=self.holdout,
                turn=False,
            )
            self._plan = replace(plan, placed=self.placed)
            self.data_hash = self.data_hash or self._plan.data_hash
        return self._plan

    def plan(self, job: StudyJob) -> FitPlan:
        """The fit of one job; of one that has ended just as long as it was."""
        plan = replan(self.base_plan(), job.params, job.seed)
        return replace(plan, schedule=plan.schedule.with_(**job.reached)) if job.reached else plan

    # -- what was fitted ------------------------------------------------------------------------
    def add_to(self, session: Session) -> None:
        """Put the record, the data and the runs that were kept into a session; called again it updates them."""
        for given in self.inputs.values():
            for dataset in given:
                session.datasets.setdefault(dataset.name, dataset)
        for job in self.jobs:
            if job.run is not None and job.ended:
                adopt(session, job)
        self.put(session)

    def so_far(self, session: Session) -> Session:
        """A copy of a session to be written while fits are under way: with the study as it is, and with their runs, which are
        stored up to the last checkpoint of each chain."""
        running = [job.run for job in self.jobs if job.status == "running" and job.run is not None]
        found = replace(
            session,
            datasets=dict(session.datasets),
            runs={**session.runs, **{run.id: run for run in running}},
            studies=list(session.studies),
            history=list(session.history),
        )
        for given in self.inputs.values():
            for dataset in given:
                found.datasets.setdefault(dataset.name, dataset)
        self.put(found)
        return found

    def take_up(self, session: Session, plugins: Registry) -> None:
        """Go on with the runs of the session that belong to fits which wait, in place of beginning these anew.

        They leave the session; :meth:`add_to` brings back those that are kept. One that cannot go on stays.
        """
        for job in self.jobs:
            run = session.runs.get(job.run_id)
            if job.run is None and run is not None and job.to_do and run.status in ("stopped", "done"):
                try:
                    session.plan_of(run, plugins)
                except PlaidworkError:
                    continue
                job.run, run.session = session.runs.pop(run.id), None

    def open(self, number: int, session: Session, executor: MakeExecutor = ThreadExecutor) -> Run:
        """The run of a fit, added to the session; one that was let go is fitted again, to the same numbers.

        Raises ``SettingError`` for a fit that has not ended well, and what a fit raises.
        """
        job = self.job(number)
        if job.run_id in session.runs:
            return session.runs[job.run_id]
        if job.run is None:
            if job.status != "done":
                raise SettingError(f"Fit {number} is {job.status}.", "Only a fit that is done can be opened.")
            plan = self.plan(job)
            run = Run.from_plan(plan, self.name_of(job))
            execute(run, plan, executor(Control()))
            job.run, job.run_id = run, run.id
            self.compare_again(job, run)
        return adopt(session, job)

    def compare_again(self, job: StudyJob, run: Run) -> bool:
        """Whether a run that was fitted again has the numbers of the search; its log says so."""
        again = StudyJob(job.number, job.params, job.seed)
        self.measure(again, run)
        same = all(_same(value, again.metrics.get(key)) for key, value in job.metrics.items())
        run.say(SAME if same else OTHER, "info" if same else "warning")
        return same


def adopt(session: Session, job: StudyJob) -> Run:
    """Make the kept run of a job one of the session's."""
    run = job.run
    assert run is not None
    if run.id not in session.runs:
        run.session = session
        session.runs[run.id] = run
    return run


def _same(value: float, other: float | None) -> bool:
    return other is not None and (value == other or (value != value and other != other))


def _metric_of(
    spec: ModelSpec, metric: Metric | str | Callable[[Run], float] | None, known: Sequence[Metric]
) -> Metric:
    """The metric that is meant: the first one known, one by its key or title, or a measure of one's own."""
    if metric is None and not known:
        raise SettingError(f"{spec.title} has no primary trace.", "Name a metric.")
    if metric is None:
        return known[0]
    if isinstance(metric, str):
        return next((item for item in known if metric in (item.key, item.title)), undeclared_metric(metric))
    return metric if isinstance(metric, Metric) else Metric(metric)


def _contributed() -> tuple[Metric, ...]:
    """Metrics that plugins bring."""
    from plaidwork.core.plugins.registry import registry

    return registry().metrics
