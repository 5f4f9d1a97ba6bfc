"""The commands that fit: ``fit``, ``run`` and ``example``, and what all that fit have in common."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from plaidwork.core.cli import pairs
from plaidwork.core.cli.leaving import leave_and_save
from plaidwork.core.cli.printing import tell, warn
from plaidwork.core.cli.progress import display, emit
from plaidwork.core.cli.running import Executors, executors
from plaidwork.core.cli.saving import Autosave, held, save
from plaidwork.core.contract.schedule import SCHEDULE_WORDS
from plaidwork.core.data.dataset import AXIS_WORDS, Dataset
from plaidwork.core.data.fit_inputs import Given, left_out, noted
from plaidwork.core.data.importers.several import Joined
from plaidwork.core.data.input_addresses import steps_by_input
from plaidwork.core.data.orienting import Placed
from plaidwork.core.data.shown_by import with_shown
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import ModelError, PluginError, SessionError, SettingError
from plaidwork.core.inference.execution import execute
from plaidwork.core.inference.executor import Control
from plaidwork.core.inference.memory import memory_told
from plaidwork.core.inference.plan import FitPlan, estimate, make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.inference.settling import ending
from plaidwork.core.job import ColumnInput, FileInput, Job, read_job
from plaidwork.core.plugins.registry import registry
from plaidwork.core.session.session import Session
from plaidwork.core.views.printing import drawn_views, headline_of

DONE, MODEL_ERROR, STOPPED = 0, 3, 4


def fit(options: argparse.Namespace) -> int:
    """``plaidwork fit MODEL --input NAME=FILE … --out S.plaidwork``."""
    out = pairs.check_output(options.out, options.force)
    job = job_of(options)
    return _fit_job(job, out, options.json, executors(options, job.executor), options.shown_by)


def job_of(options: argparse.Namespace) -> Job:
    """The job that the options of ``fit`` describe."""
    files, columns = pairs.input_files(options.input)
    pairs.check_inputs(files)
    reading = pairs.import_options(options.import_option, files)
    for name, word in pairs.samples_in(options.samples_in, files).items():
        reading[name]["samples_in"] = word
    steps = steps_by_input(options.transform, files)
    return Job(
        model=options.model,
        inputs={
            name: tuple(FileInput(path, reading[name], tuple(steps[name])) for path in paths)
            for name, paths in files.items()
        }
        | {name: (ColumnInput(column),) for name, column in columns.items()},
        settings=pairs.settings(options.set),
        schedule=_schedule(options),
        seed=options.seed,
        holdout=options.holdout,
        executor=options.executor,
    )


def run(options: argparse.Namespace) -> int:
    """``plaidwork run JOB.toml --out S.plaidwork``."""
    out = pairs.check_output(options.out, options.force)
    job = read_job(options.job)
    pairs.check_inputs(job.files)
    return _fit_job(job, out, options.json, executors(options, job.executor))


def _schedule(options: argparse.Namespace) -> dict[str, Any]:
    given = {name: getattr(options, name) for name in SCHEDULE_WORDS}
    return {name: value for name, value in given.items() if value is not None}


def _fit_job(job: Job, out: Path, as_json: bool, runs: Executors, shown_by: Sequence[str] = ()) -> int:
    model = registry().model(job.model)
    schedule = model.spec.default_schedule.with_(**job.schedule)
    model.spec.check_params(job.settings)  # before a large file is read
    given = job.read(model.spec, lambda name, found: tell_joined(name, found, as_json))
    data = with_shown(given.data, shown_by)
    plan = make_plan(model, data, job.settings, schedule=schedule, seed=job.seed, holdout=job.holdout)
    tell_samples(plan.placed, as_json)
    session = Session(name=job.title or out.stem)
    added = session.add_run(plan, job.title)
    for text in tell_doubts(given, plan, as_json):
        added.say(text, "warning")
    return fit_and_save(session, added, plan, out, runs, as_json)


def tell_samples(found: Sequence[Placed], as_json: bool) -> None:
    """Matrices that were transposed for the fit, and those of which nothing says where their samples are."""
    for one in (one for one in found if one.text):
        if as_json:
            emit("samples", input=one.item.name, data=one.dataset.name, turned=one.turns, text=one.text)
            continue
        other = AXIS_WORDS[1 - one.wanted]
        hint = "" if one.turns else f" If its {other} are: --samples-in {one.item.name}={other}"
        warn(f"plaidwork: {one.line}{hint}")


def tell_joined(name: str, found: Joined, as_json: bool) -> None:
    """The report on the files of one input that were joined: lines on stderr, or an event."""
    if as_json:
        emit("joined", input=name, samples=found.n_samples, in_every_view=found.n_common, report=found.text)
    else:
        warn("\n".join(f"plaidwork: {line}" for line in found.text.splitlines()))


def tell_doubts(given: Given, plan: FitPlan, as_json: bool) -> list[str]:
    """What may not have been meant: columns that are not used, items that joining left out. Lines on stderr."""
    texts = [
        message.text
        for message in (*noted(given.data), *given.messages, *left_out(given.data, plan.inputs))
        if message.warn
    ]
    for text in () if as_json else texts:
        warn(f"plaidwork: {text}")
    return texts


def find_run(session: Session, title: str | None) -> Run:
    """The run of a title or id; the last one without. Raises ``SessionError``."""
    runs = list(session.runs.values())
    if not runs:
        raise SessionError("This session has no run.")
    if title is None:
        return runs[-1]
    for item in runs:
        if title in (item.title, item.id):
            return item
    titles = ", ".join(f"“{item.title}”" for item in runs)
    raise SessionError(f"This session has no run “{title}”.", f"Runs: {titles}.")


def example(options: argparse.Namespace) -> int:
    """``plaidwork example [NAME] [--out S.plaidwork] [--picture PNG]``."""
    samples = {sample.id: sample for sample in registry().samples}
    if options.name is None:
        if options.json:
            emit("examples", examples=[_about(sample) for sample in samples.values()])
        wide = max((len(sample.size) for sample in samples.values()), default=0) + 2
        for sample in () if options.json else samples.values():
            tell(f"{sample.id:<16}{sample.size:<{wide}}{sample.title}")
        return DONE
    if options.name not in samples:
        raise SettingError(f"There is no example “{options.name}”.", f"Known: {', '.join(samples)}.")
    sample = samples[options.name]
    out = pairs.check_output(options.out or Path(f"{sample.id}.plaidwork"), options.force)
    picture = options.picture and pairs.check_output(options.picture, options.force)
    draw = renderer() if picture else None
    model = registry().model(sample.model)
    schedule = model.spec.default_schedule.with_(**{**sample.schedule, **_schedule(options)})
    data: Mapping[str, Dataset | Sequence[Dataset]] = sample.load()
    plan = make_plan(model, data, sample.params, schedule=schedule, seed=sample.seed)
    session = Session(name=sample.title)
    fitted = session.add_run(plan)
    code = fit_and_save(session, fitted, plan, out, executors(options), options.json)
    if draw is not None and fitted.results:
        _write_picture(draw, session, fitted, picture, options.json)
    return code


def _about(sample: Any) -> dict[str, Any]:
    return {name: getattr(sample, name) for name in ("id", "title", "line", "model", "size")}


def renderer() -> Any:
    """The function that draws a view; asked for first, so that its absence costs no fit. Raises ``SettingError``."""
    try:
        from plaidwork.gui.results.render import write_view
    except ImportError as error:
        raise SettingError(
            f"A picture needs Qt, which cannot be loaded: {error}.", "Leave out --picture."
        ) from error
    return write_view


def _write_picture(draw: Any, session: Session, fitted: Run, path: Path, as_json: bool) -> None:
    view = next(iter(drawn_views(session, fitted)), None)
    if view is not None:
        draw(session, fitted, view, path)
        _say(as_json, "picture", f"Picture: {path.absolute()} ({view.title})", path=str(path.absolute()))
        return
    warn(f"plaidwork: {fitted.spec.title} declares no picture.")


def fit_and_save(
    session: Session, fitted: Run, plan: FitPlan, out: Path, runs: Executors, as_json: bool
) -> int:
    """Run, save in any case, say how it ended; the exit code."""
    if runs.leave:
        return leave_and_save(session, fitted, plan, out, runs)
    with held(out), Autosave(session, out) as kept:
        return _fit(session, fitted, plan, kept, out, runs, as_json)


def _fit(
    session: Session, fitted: Run, plan: FitPlan, kept: Autosave, out: Path, runs: Executors, as_json: bool
) -> int:
    control = Control()
    shown = display(as_json)
    for problem in _with_memory(plan).warnings:
        warn(f"plaidwork: {problem.message} {problem.hint}".rstrip())
    failure: ModelError | PluginError | None = None
    with stops(control), runs.makers() as make:
        try:
            execute(fitted, plan, make(control), shown)
        except (ModelError, PluginError) as error:
            failure = error
        shown.end(fitted)
    if failure is not None and not fitted.n_draws and not fitted.sweeps_done:
        raise failure
    saved = save(session, out)
    kept.saved()
    made = (
        f"{counted(fitted.n_draws, 'draw')}"
        if plan.spec.algorithm == "mcmc"
        else f"{counted(fitted.sweeps_done, 'sweep')}"
    )
    text = f"{fitted.title}: {fitted.status}, {made} kept. Session: {saved.absolute()}"
    if fitted.n_draws:
        found, title, advice = judged(fitted)
        values = {"headline": found, "title": title, "advice": advice}
        if fitted.goal is not None and fitted.status == "done":
            ended = ending(fitted.goal, fitted.schedule, fitted.diagnosis())
            _say(as_json, "length", ended, ended=ended)
        _say(as_json, "verdict", " ".join(filter(None, (found, f"{title}.", advice))), **values)
    _say(as_json, "saved", text, path=str(saved.absolute()), status=fitted.status, draws=fitted.n_draws)
    if failure is not None:
        raise failure
    if fitted.status == "failed":
        worst = next((line.text for line in reversed(fitted.log) if line.level == "error"), "A chain failed.")
        raise ModelError(worst)
    return STOPPED if fitted.status == "stopped" else DONE


def _with_memory(plan: FitPlan) -> FitPlan:
    """The plan with a warning when memory is short; a model that cannot say what it takes may still be fitted."""
    try:
        return memory_told(plan, estimate(plan))
    except PluginError:
        return memory_told(plan, None)


def judged(fitted: Run) -> tuple[str, str, str]:
    """The headline of the results as a sentence (or nothing), and whether to trust it: title and text."""
    found, verdict = headline_of(fitted), fitted.diagnosis().verdict
    return f"{found}." if found else "", verdict.title, verdict.text


def _say(as_json: bool, event: str, text: str, **values: Any) -> None:
    if as_json:
        emit(event, **values)
    else:
        tell(text)


@contextmanager
def stops(control: Control) -> Iterator[None]:
    """While inside, Ctrl+C (or a polite end signal) asks the chains to stop; a second one interrupts."""

    def ask(number: int, frame: Any) -> None:
        if control.stopping:
            raise KeyboardInterrupt
        control.stop()
        warn("\nplaidwork: Stopping after this step; what was done is saved.")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
