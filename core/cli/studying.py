"""The command ``study``: a grid of settings and seeds, ranked; gone on with; picked from."""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace
from pathlib import Path

from plaidwork.core.cli import pairs
from plaidwork.core.cli.fitting import job_of, stops, tell_doubts, tell_samples
from plaidwork.core.cli.printing import tell, warn
from plaidwork.core.cli.progress import duration, emit
from plaidwork.core.cli.running import Executors, executors
from plaidwork.core.cli.saving import Autosave, held, save, session_or_unsaved
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.shown_by import with_shown
from plaidwork.core.errors import ModelError, SessionError, SettingError
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.core.study import (
    Metric,
    Study,
    StudyJob,
    StudyRecord,
    metrics_of,
    split_values,
    study_records,
)
from plaidwork.core.study.by_view import BEST
from plaidwork.core.study.cost import study_memory_problem
from plaidwork.core.study.file import StudyFile, read_study
from plaidwork.core.study.tables import shown

DONE, STOPPED = 0, 4


def study(options: argparse.Namespace) -> int:
    """``plaidwork study MODEL|SEARCH.toml|S.plaidwork …``."""
    if options.keep < 0:
        raise SettingError(f"--keep must be at least 0. Found “{options.keep}”.")
    if options.what.lower().endswith(".plaidwork"):
        return _stored(options)
    if options.pick is not None or options.study is not None:
        raise SettingError("--pick and --study need a session.", "plaidwork study S.plaidwork --pick N")
    if options.out is None:
        raise SettingError("--out is missing.", "It says which session to write.")
    out = pairs.check_output(options.out, options.force)
    request = _request(options)
    model = registry().model(request.job.model)
    given = request.job.read(model.spec)
    planned = Study.grid(
        model,
        with_shown(given.data, options.shown_by),
        request.grid,
        seeds=request.seeds or (request.job.seed,),
        schedule=model.spec.schedule.with_(**request.job.schedule),
        metric=_metric(model.spec, request),
        hyperparameters=request.job.settings,
        holdout=request.job.holdout,
        title=request.job.title,
    )
    tell_samples(planned.placed, options.json)
    tell_doubts(given, planned.base_plan(), options.json)
    session = Session(name=request.job.title or out.stem)
    return _go(planned, session, out, options, executors(options, request.job.executor))


def _request(options: argparse.Namespace) -> StudyFile:
    """What the file says, or the options; options go first."""
    if options.what.lower().endswith(".toml"):
        if options.input or options.set or options.transform or options.import_option or options.samples_in:
            raise SettingError("A study file brings its inputs and settings.", "Write them into the file.")
        request = read_study(Path(options.what))
        pairs.check_inputs(request.job.files)
    else:
        if not options.input:
            raise SettingError("--input is missing.", "For example --input X=matrix.csv")
        options.model = options.what
        options.executor = options.executor or "auto"
        request = StudyFile(job_of(options))
    spec = registry().model(request.job.model).spec
    return replace(
        request,
        grid={**request.grid, **_grid(spec, options.grid)},
        seeds=tuple(_seeds(options.seeds)) or request.seeds,
        metric=options.metric or request.metric,
        goal=options.goal or request.goal,
    )


def _metric(spec: ModelSpec, request: StudyFile) -> Metric | str | None:
    if request.goal:
        primary = spec.primary_trace
        source = request.metric or (primary.name if primary is not None else "")
        if not source:
            raise SettingError(f"{spec.title} has no primary trace.", "Add --metric NAME.")
        predicts = registry().model(spec.id).offers("log_likelihood")
        declared = {metric.key: metric for metric in metrics_of(spec, registry().metrics, predicts)}
        return replace(declared.get(source, Metric(source)), goal=request.goal)  # type: ignore[arg-type]
    return request.metric or None


def _stored(options: argparse.Namespace) -> int:
    """Go on with a study of a session, rank it by another metric, or pick one of its fits."""
    path = Path(options.what)
    out = pairs.check_output(options.out or path, options.force or options.out is None)
    session = session_or_unsaved(path, options.any_size)
    if session.read_only and options.out is None:
        raise SessionError(f"{path} can only be read: {session.read_only}", "Add --out to write another.")
    records = study_records(session.studies)
    if not records:
        raise SessionError(f"{path} holds no study.")
    wanted = options.study
    record = next((r for r in reversed(records) if wanted in (None, r.title, r.id)), None)
    if record is None:
        raise SessionError(
            f"{path} has no study “{wanted}”.", f"Studies: {', '.join(f'“{r.title}”' for r in records)}."
        )
    if options.pick is None:
        return go_on(session, record, out, options, executors(options))
    planned = Study.load(session, record, registry())
    if options.metric:
        planned.rank_by(options.metric)
    choice = planned.choose(options.pick, session)
    with executors(options).makers() as make:
        planned.open(choice.number, session, make)
    planned.put(session)
    saved = save(session, out)
    text = "exploratory: another fit was picked before" if choice.exploratory else "the first pick"
    if options.json:
        emit("picked", fit=choice.number, exploratory=choice.exploratory, time=choice.time, path=str(saved))
    else:
        tell(f"Picked fit {choice.number} ({planned.settings_text(planned.job(choice.number))}), {text}.")
        tell(f"Session: {saved.absolute()}")
    return DONE


def go_on(
    session: Session, record: StudyRecord, out: Path, options: argparse.Namespace, runs: Executors
) -> int:
    """Go on with a stored study; fits that were under way from where they were."""
    planned = Study.load(session, record, registry())
    if options.metric:
        planned.rank_by(options.metric)
    planned.take_up(session, registry())
    planned.start_again()
    return _go(planned, session, out, options, runs)


def _go(planned: Study, session: Session, out: Path, options: argparse.Namespace, runs: Executors) -> int:
    """Run what waits, save also what was stopped, and say what was found."""
    clock = _Clock(planned)
    if problem := study_memory_problem(planned, options.jobs):
        warn(f"plaidwork: {problem.message} {problem.hint}")

    def so_far() -> Session:
        found = planned.so_far(session)
        planned.add_to(found)
        return found

    with held(out), Autosave(session, out, so_far) as kept:
        with stops(planned.control), runs.makers(options.jobs) as make:
            for ended in planned.iterate(make, at_once=options.jobs, keep=options.keep):
                _tell(planned, ended, options.json, clock)
        planned.add_to(session)
        saved = save(session, out)
        kept.saved()
    best = planned.best
    if options.json:
        number = None if best is None else best.number
        emit("saved", path=str(saved.absolute()), best=number, study=planned.to_json())
    else:
        _print_ranked(planned)
        tell(f"Session: {saved.absolute()}")
    if best is None and not planned.control.stopping:
        reason = next((item.message for item in planned.jobs if item.message), "")
        raise ModelError("No job of the study ended with a number to rank it by.", reason)
    return STOPPED if planned.control.stopping else DONE


def _grid(spec: ModelSpec, texts: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        name, value = pairs.pair(text, "--grid")
        if name in found:
            raise SettingError(f"--grid {name} is given twice.")
        found[name] = split_values(spec.hyperparameter(name), value)
    return found


def _seeds(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise SettingError(f"--seeds needs whole numbers with commas between. Found “{text}”.") from None


class _Clock:
    """Time left, from the jobs that have ended since the start."""

    def __init__(self, planned: Study) -> None:
        self._jobs = planned.jobs
        self._begun, self._before = time.monotonic(), sum(job.ended for job in planned.jobs)

    def left(self) -> float | None:
        ended = sum(job.ended for job in self._jobs)
        new = ended - self._before
        return (time.monotonic() - self._begun) / new * (len(self._jobs) - ended) if new else None


def _tell(planned: Study, job: StudyJob, as_json: bool, clock: _Clock) -> None:
    ended, left = sum(other.ended for other in planned.jobs), clock.left()
    if as_json:
        emit(
            "job",
            number=job.number,
            of=len(planned.jobs),
            ended=ended,
            settings={name: job.params[name] for name in planned.varied},
            seed=job.seed,
            status=job.status,
            metric=None if math.isnan(job.metric) else job.metric,
            seconds=round(job.seconds, 3),
            seconds_left=None if left is None else round(left, 1),
            message=job.message,
        )
    else:
        tail = f"  {duration(left)} left" if ended < len(planned.jobs) else ""
        warn(f"{ended}/{len(planned.jobs)}  {_line(planned, job)}{tail}")


def _line(planned: Study, job: StudyJob) -> str:
    value = "no number" if math.isnan(job.metric) else f"{planned.metric.name} {job.metric:.6g}"
    doubt = f"  {job.verdict.lower()}" if not job.settled else ""
    line = f"{planned.settings_text(job)}  {job.status}{doubt}  {value}  {job.seconds:.1f} s  {job.message}"
    return f"fit {job.number}: {line}".rstrip()


def _print_by_view(planned: Study) -> None:
    """Which setting predicts which view best, where there are several views and settings."""
    table = planned.by_view()
    if table is None or not planned.varied:
        return
    tell("Log density of what the fits have not seen, by view, in nats:")
    columns = table.columns
    for i, view in enumerate(columns["View"]):
        setting = ", ".join(f"{name} {shown(columns[name][i])}" for name in planned.varied)
        level, error, below, apart = (
            float(columns[head][i])
            for head in ("Log density", "SE", "Below the best", "SE of the difference")
        )
        note = columns["Note"][i]
        if note != BEST:
            note = f"{below:.1f} ± {apart:.1f} below the best" + (f", {note}" if note else "")
        tell(f"  {view}  {setting}  {level:.1f} ± {error:.1f}  {note}")


def _print_ranked(planned: Study) -> None:
    ranked = planned.ranked()
    for rank, job in enumerate(ranked, start=1):
        apart = job.behind(ranked[0]) if rank > 1 and planned.metric.key == "elpd" else None
        behind = "" if apart is None else f"  {apart[0]:.1f} ± {apart[1]:.1f} below the first"
        tell(f"{rank:>4}  {_line(planned, job)}{behind}")
    _print_by_view(planned)
    waiting = planned.count("waiting")
    if waiting:
        tell(f"{waiting} not started; plaidwork study SESSION goes on.")
    if doubt := planned.doubt():
        tell(doubt)
