"""Fit and resume in one call: what the command line, scripts and tests use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from plaidwork.core.data.borrowed_names import Message
from plaidwork.core.data.fit_inputs import entries_of, left_out, load_inputs, warn_user
from plaidwork.core.data.shown_by import with_shown
from plaidwork.core.errors import DataError
from plaidwork.core.inference.execution import Progress, execute
from plaidwork.core.inference.executor import Control, Executor
from plaidwork.core.inference.place import Place
from plaidwork.core.inference.plan import FitPlan, make_plan
from plaidwork.core.inference.run import Run
from plaidwork.core.plugins.registry import Registry, registry
from plaidwork.core.session.session import Session


def fit(
    model: str,
    inputs: Mapping[str, Any],
    hyperparameters: Mapping[str, Any] | None = None,
    *,
    seed: int = 1,
    chains: int | None = None,
    most_chains: int | None = None,
    warmup: int | None = None,
    draws: int | None = None,
    thin: int | None = None,
    burn_in: int | None = None,
    budget: float | None = None,
    max_sweeps: int | None = None,
    tolerance: float | None = None,
    window: int | None = None,
    relaxation: float | None = None,
    holdout: float = 0.0,
    samples_in: str | Mapping[str, str] | None = None,
    import_options: Mapping[str, Any] | None = None,
    transform: str | Sequence[Any] = (),
    shown_by: str | Sequence[str] = (),
    executor: Executor | str | None = None,
    cluster: str = "",
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
    seed, chains, warmup, draws, thin, burn_in : the schedule; None means the model's default. With ``draws`` just so many
        are made; without, the chains of a sampler go on until they have settled.
    budget : seconds after which they go on no more, 0 for the model's own number of draws; with ``draws`` these are the fewest.
    max_sweeps, tolerance, window, relaxation : the schedule of a variational model. most_chains : its restarts at most, 16 where
        they are quick and more while only one has reached the best objective; with ``chains`` just so many are made.
    holdout : share of cells kept from the fit and scored, 0 to 0.5.
    samples_in : axis of the samples, ``"rows"`` or ``"columns"``, of all matrices or by input; if need be they are transposed.
    import_options : how to read, such as ``{"delimiter": ";"}``, or ``{"X.delimiter": ";"}`` for one input.
    transform : transformations in order, such as ``["log", "X.centre:axis=columns"]``.
    shown_by : annotations that are shown in place of row or column names, such as ``"X:column:symbol"``.
    executor : who runs the chains, or ``"threads"``, ``"processes"``, ``"inline"``; default ``"auto"``, threads that go on as processes
        where they wait for each other (not within a script that lacks ``if __name__ == "__main__"``).
    cluster : dask cluster whose workers run the chains instead, an address or ``"local:N"`` for N processes of this computer.
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
    reports: list[Message] = []
    given = load_inputs(
        found.spec,
        entries_of(found.spec, inputs, import_options, transform),
        lambda name, joined: reports.append(Message(f"{name}: {joined.text}")),
        session.datasets,
        samples_in,
    )
    schedule = found.spec.default_schedule.with_(
        chains=chains,
        most_chains=most_chains,
        warmup=warmup,
        draws=draws,
        thin=thin,
        burn_in=burn_in,
        budget=budget,
        max_sweeps=max_sweeps,
        tolerance=tolerance,
        window=window,
        relaxation=relaxation,
    )
    plan = make_plan(
        found,
        with_shown(given.data, shown_by),
        hyperparameters,
        schedule=schedule,
        seed=seed,
        holdout=holdout,
        taken=session.datasets,
    )
    messages = (*reports, *given.messages, *left_out(given.data, plan.inputs))
    warn_user(messages)
    run = session.add_run(plan)
    for one in messages:
        run.say(one.text, "warning" if one.warn else "info")
    _run(run, plan, executor, cluster, progress)
    return run


def resume(
    session: Session,
    run: Run | None = None,
    *,
    draws: int = 0,
    budget: float = 0.0,
    executor: Executor | str | None = None,
    cluster: str = "",
    progress: Progress | None = None,
    plugins: Registry | None = None,
) -> Run:
    """Go on with a stored run, with ``draws`` more draws per chain than planned, or until it has settled, for about
    ``budget`` seconds at most.
    """
    run = run or next(reversed(session.runs.values()), None)
    if run is None:
        raise DataError("This session has no run to resume.")
    if draws:
        run.extend(draws)
    if budget:
        run.go_on(budget)
    plan = session.plan_of(run, plugins or registry())
    _run(run, plan, executor, cluster, progress)
    return run


def _run(
    run: Run, plan: FitPlan, executor: Executor | str | None, cluster: str, progress: Progress | None
) -> None:
    """Let the chains run where they were asked to."""
    with Place(executor, cluster).executors() as make:
        execute(run, plan, make(Control()), progress)
