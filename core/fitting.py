"""Fit and resume in one call: what the command line, scripts and tests use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from plaidwork.core.errors import DataError, ModelError, PluginError, SettingError
from plaidwork.core.events import Event, Failed
from plaidwork.core.executor import Control, Executor, InlineExecutor, ThreadExecutor
from plaidwork.core.fit_inputs import Told, entries_of, left_out, load_inputs, say_aloud
from plaidwork.core.job import EXECUTORS
from plaidwork.core.linear_algebra import arithmetic, one_thread
from plaidwork.core.model import Model, Result, Table
from plaidwork.core.plan import FitPlan, make_plan
from plaidwork.core.plugins.info import blamed, owner_of
from plaidwork.core.registry import Registry, registry
from plaidwork.core.run import Run
from plaidwork.core.session import Session

Progress = Callable[[Run, Event], None]
"""Called from the chains' threads for every event."""


def fit(
    model: str,
    inputs: Mapping[str, Any],
    hyperparameters: Mapping[str, Any] | None = None,
    *,
    seed: int = 1,
    chains: int | None = None,
    warmup: int | None = None,
    draws: int | None = None,
    thin: int | None = None,
    max_sweeps: int | None = None,
    tolerance: float | None = None,
    holdout: float = 0.0,
    samples_in: str | Mapping[str, str] | None = None,
    import_options: Mapping[str, Any] | None = None,
    transform: str | Sequence[Any] = (),
    executor: Executor | str | None = None,
    progress: Progress | None = None,
    session: Session | None = None,
) -> Run:
    """Fit a model and return the finished run.

    Parameters
    ----------
    model : id of an installed model (``plaidwork models`` lists them).
    inputs : by input name what the command line takes (a file name, ``"X:row:title"`` for a column beside another input), or
        an object: array, list, pandas DataFrame or Series, AnnData, MuData, xarray DataArray, scipy sparse matrix,
        :class:`Dataset`; for an input of many matrices a list of them, or a mapping by name. Names are kept, and data
        are joined by them. For labels also a list of texts or numbers, and the title of a column of another input.
    hyperparameters : settings that differ from their defaults.
    seed, chains, warmup, draws, thin : the schedule; None means the model's default.
    max_sweeps, tolerance : the schedule of a variational model.
    holdout : share of cells kept from the fit and scored, 0 to 0.5.
    samples_in : the axis that holds the samples, ``"rows"`` or ``"columns"``, of all matrices or by input. Matrices that
        have them where the model does not want them are transposed, and the log of the run says so.
    import_options : how to read, such as ``{"delimiter": ";"}``, or ``{"X.delimiter": ";"}`` for one input.
    transform : transformations in order, such as ``["log", "X.centre:axis=columns"]``.
    executor : who runs the chains, or ``"threads"``, ``"processes"``, ``"inline"``; default one thread per chain.
    progress : called for every event.
    session : where the run is added; default a new session (``run.session``).

    Raises
    ------
    DataError, SettingError : before anything runs.
    ModelError, PluginError : when every chain failed (for what the user has to change, or by a bug of the plugin); a
        run in which some did is returned with status ``failed``.
    """
    found = registry().model(model)
    session = session or Session(name=found.spec.title)
    reports: list[Told] = []
    given = load_inputs(
        found.spec,
        entries_of(found.spec, inputs, import_options, transform),
        lambda name, joined: reports.append(Told(f"{name}: {joined.text}")),
        session.datasets,
        samples_in,
    )
    schedule = found.spec.schedule.with_(
        chains=chains, warmup=warmup, draws=draws, thin=thin, max_sweeps=max_sweeps, tolerance=tolerance
    )
    plan = make_plan(
        found,
        given.data,
        hyperparameters,
        schedule=schedule,
        seed=seed,
        holdout=holdout,
        taken=session.datasets,
    )
    told = (*reports, *given.told, *left_out(given.data, plan.inputs))
    say_aloud(told)
    run = session.add_run(plan)
    for one in told:
        run.say(one.text, "warning" if one.aloud else "info")
    execute(run, plan, named_executor(executor) if isinstance(executor, str) else executor, progress)
    return run


def named_executor(name: str, control: Control | None = None) -> Executor:
    """The executor of this name: ``threads``, ``processes`` or ``inline``. Raises ``SettingError``."""
    if name not in EXECUTORS:
        raise SettingError(f"executor must be one of {', '.join(EXECUTORS)}. Found “{name}”.")
    if name == "processes":
        from plaidwork.core.processes import ProcessExecutor

        return ProcessExecutor(control)
    return InlineExecutor(control) if name == "inline" else ThreadExecutor(control)


def resume(
    session: Session,
    run: Run | None = None,
    *,
    draws: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
    plugins: Registry | None = None,
) -> Run:
    """Go on with a stored run, with ``draws`` more draws per chain than planned."""
    run = run or next(reversed(session.runs.values()), None)
    if run is None:
        raise DataError("This session has no run to resume.")
    if draws:
        run.extend(draws)
    plan = session.plan_of(run, plugins or registry())
    execute(run, plan, executor, progress)
    return run


def execute(
    run: Run, plan: FitPlan, executor: Executor | None = None, progress: Progress | None = None
) -> None:
    """Run the chains that are not done, wait, and summarise.

    Raises ``ModelError`` or ``PluginError`` when all chains failed.
    """
    failures: list[Failed] = []

    def notify(event: Event) -> None:
        if isinstance(event, Failed):
            failures.append(event)
        if progress is not None:
            progress(run, event)

    todo = [record for record in run.chains if not record.done]
    run.status = "running"
    run.begins_in(environment(plan.model))
    for problem in plan.warnings:
        run.say(problem.message, "warning")
    try:
        handle = (executor or ThreadExecutor()).start(plan, todo, notify)
    except BaseException:  # an inline executor runs in here; its chain is now somewhere within a step
        run.status = "stopped"
        raise
    try:
        while not handle.wait(0.5):  # a wait without end does not see Ctrl+C on every system
            pass
    except KeyboardInterrupt:
        handle.control.stop()
        handle.wait()
    run.status = ended_status(run, bool(failures))
    for failure in failures:
        run.say(f"{failure.message} {failure.hint}".strip(), "error")
    if failures and run.n_draws == 0:
        first = failures[0]
        if first.fault is not None:
            raise PluginError(first.message, first.hint, first.fault.plugin, first.fault.hook, first.fault)
        raise ModelError(first.message, first.hint or first.details)
    summarise(run, plan)


def ended_status(run: Run, failed: bool) -> str:
    """``done``, ``stopped`` or ``failed``, once no chain is running."""
    if failed:
        return "failed"
    return "done" if all(record.done for record in run.chains) else "stopped"


def summarise(run: Run, plan: FitPlan) -> None:
    """Compute the results from what was kept (nothing when nothing was). Raises ``ModelError`` or ``PluginError``."""
    kept = run.kept()
    if kept.n_draws == 0:
        return
    try:
        with (
            one_thread(),
            blamed(plan.model, "summarise", "This is an error in the plugin. The draws are kept."),
        ):
            found = checked_results(plan.model.summarise(kept, plan.data, plan.params))
    except PluginError as error:
        run.say(error.message, "error")
        raise
    run.results = found
    run.results_draws = kept.n_draws


def checked_results(found: Any) -> dict[str, Any]:
    """Results as a model or an analysis returned them. Raises ``PluginError`` for what no view could take."""
    if not isinstance(found, Mapping):
        raise PluginError(f"it returned {type(found).__name__}, not results by name")
    for name, result in found.items():
        if not isinstance(name, str) or not isinstance(result, (Result, Table, str)):
            raise PluginError(
                f"the result “{name}” is a {type(result).__name__}, not a Result, Table or text"
            )
        if isinstance(result, Result) and result.dims and len(result.dims) != result.values.ndim:
            raise PluginError(
                f"the result “{name}” has {result.values.ndim} axes and the dims {', '.join(result.dims)}"
            )
        if isinstance(result, Result) and not _plain(result.values):
            raise PluginError(f"the result “{name}” is an array of objects, not of numbers or texts")
    return dict(found)


def _plain(values: np.ndarray) -> bool:
    """Whether an array holds numbers, flags or texts."""
    if values.dtype.kind != "O":
        return values.dtype.kind in "biufUS"
    return all(isinstance(value, str) for value in values.flat)


def environment(model: Model | None = None) -> dict[str, str]:
    """Versions, machine, processor and BLAS, for the provenance; with a model also the plugin that it comes from."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "machine": platform.machine(),
    }
    for package in ("plaidwork", "numpy", "scipy", "numba", "h5py"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    if model is not None:
        found["plugin"] = owner_of(model).title
    return found | arithmetic()
