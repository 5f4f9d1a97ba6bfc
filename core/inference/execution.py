"""Runs the chains of a run and concludes: what a fit from the window, the command line and a study have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.errors import ModelError, PluginError, SettingError
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.events import Event, Failed
from plaidwork.core.inference.executor import EXECUTORS, Control, Executor, InlineExecutor, ThreadExecutor
from plaidwork.core.inference.linear_algebra import one_thread
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run

Progress = Callable[[Run, Event], None]
"""Called from the chains' threads for every event."""


def named_executor(name: str, control: Control | None = None) -> Executor:
    """The executor of this name: ``threads``, ``processes`` or ``inline``. Raises ``SettingError``."""
    if name not in EXECUTORS:
        raise SettingError(f"executor must be one of {', '.join(EXECUTORS)}. Found “{name}”.")
    if name == "processes":
        from plaidwork.core.inference.processes import ProcessExecutor

        return ProcessExecutor(control)
    return InlineExecutor(control) if name == "inline" else ThreadExecutor(control)


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
