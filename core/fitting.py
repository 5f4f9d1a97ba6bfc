"""Fit and resume in one call: what the command line, scripts and tests use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from plaidwork.core.dataset import Dataset
from plaidwork.core.errors import DataError, ModelError, PluginError
from plaidwork.core.events import Event, Failed
from plaidwork.core.executor import Executor, ThreadExecutor
from plaidwork.core.job import distinct_names
from plaidwork.core.linear_algebra import arithmetic, one_thread
from plaidwork.core.model import Result, Table
from plaidwork.core.plan import FitPlan, make_plan
from plaidwork.core.plugins.info import blamed
from plaidwork.core.registry import Registry, registry
from plaidwork.core.run import Run
from plaidwork.core.session import Session

InputLike = Dataset | np.ndarray | str | Path

Progress = Callable[[Run, Event], None]
"""Called from the chains' threads for every event."""


def as_dataset(name: str, value: InputLike) -> Dataset:
    """A dataset from a dataset, an array (rows and columns numbered) or a file name."""
    if isinstance(value, Dataset):
        return value
    if isinstance(value, (str, Path)):
        from plaidwork.core.importers import read_dataset

        return read_dataset(value)
    array = np.asarray(value)
    if array.ndim not in (1, 2):
        raise DataError(f"{name} has {array.ndim} axes; a matrix has 2, a vector 1.")
    rows = tuple(f"row {i + 1}" for i in range(array.shape[0]))
    columns = tuple(f"column {i + 1}" for i in range(array.shape[1])) if array.ndim == 2 else ()
    return Dataset(name, array.astype(np.float64), rows, columns)


def as_datasets(name: str, value: InputLike | Sequence[InputLike]) -> list[Dataset]:
    """What belongs to one input, as datasets; a file may hold several."""
    items = value if isinstance(value, (list, tuple)) else [cast(InputLike, value)]
    return [dataset for item in items for dataset in _as_datasets(name, item)]


def _as_datasets(name: str, value: InputLike) -> list[Dataset]:
    if isinstance(value, (str, Path)):
        from plaidwork.core.importers import read_datasets

        return read_datasets(value)
    return [as_dataset(name, value)]


def fit(
    model: str,
    inputs: Mapping[str, InputLike | Sequence[InputLike]],
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
    executor: Executor | None = None,
    progress: Progress | None = None,
    session: Session | None = None,
) -> Run:
    """Fit a model and return the finished run.

    Parameters
    ----------
    model : id of an installed model (``plaidwork models`` lists them).
    inputs : arrays, file names or datasets by input name.
    hyperparameters : settings that differ from their defaults.
    seed, chains, warmup, draws, thin : the schedule; None means the model's default.
    max_sweeps, tolerance : the schedule of a variational model.
    holdout : share of cells kept from the fit and scored, 0 to 0.5.
    executor : who runs the chains; default one thread per chain.
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
    data = distinct_names(
        {name: as_datasets(name, value) for name, value in inputs.items()}, session.datasets
    )
    schedule = found.spec.schedule.with_(
        chains=chains, warmup=warmup, draws=draws, thin=thin, max_sweeps=max_sweeps, tolerance=tolerance
    )
    plan = make_plan(found, data, hyperparameters, schedule=schedule, seed=seed, holdout=holdout)
    run = session.add_run(plan)
    execute(run, plan, executor, progress)
    return run


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
    run.begins_in(environment())
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


def environment() -> dict[str, str]:
    """Versions, machine, processor and BLAS, for the provenance."""
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
    return found | arithmetic()
