"""Runs the chains of a run and concludes: what a fit from the window, the command line and a study have in common."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Result, Table
from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.errors import ModelError, PluginError, SettingError
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.events import Event, Failed, Finished, Started, Swept, Working
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


class FitJob:
    """One fit, from its plan to its results: runs the chains of ``run`` that are not done, and concludes.

    Everybody who fits goes this way: the command line, Python, studies and the window. :meth:`complete` does it all;
    or iterate, then :meth:`summarise`. It starts no thread of its own, its executor may. ``pause``, ``go_on`` and
    ``stop`` may be called from any thread, before the first chain starts too.

    ``progress`` is called in the threads of the chains for every event, sweeps too.
    """

    def __init__(
        self, run: Run, plan: FitPlan, executor: Executor | None = None, progress: Progress | None = None
    ) -> None:
        self.run = run
        self.plan = replace(plan, schedule=run.schedule)  # a run that was extended has another than its plan
        self.failures: list[Failed] = []
        self._executor = executor or ThreadExecutor()
        self._control = self._executor.control
        self._progress = progress
        self._sweeping = run.sweeps_done > 0
        self._news: SimpleQueue[Event] = SimpleQueue()
        self._status, self._summary = threading.Lock(), threading.Lock()
        run.status = "running"
        for problem in plan.warnings:
            run.say(problem.message, "warning")

    # -- running --------------------------------------------------------------------------------
    def complete(self) -> None:
        """Run the chains, wait, and summarise. Raises ``ModelError`` or ``PluginError`` when all chains failed."""
        for _ in self:
            pass
        if self.failures and self.run.n_draws == 0:
            first = self.failures[0]
            if first.fault is not None:
                raise PluginError(
                    first.message, first.hint, first.fault.plugin, first.fault.hook, first.fault
                )
            raise ModelError(first.message, first.hint or first.details)
        self.summarise()

    def __iter__(self) -> Iterator[Event]:
        """The events of the chains but for sweeps, as they happen (an inline executor's when it is done).

        The loop ends when no chain is running; leaving it early stops them, and so does Ctrl+C.
        """
        status = "stopped"  # an inline executor may raise; its chain is then somewhere within a step
        try:
            self.run.begins_in(environment(self.plan.model))
            yield from self._chains([record for record in self.run.chains if not record.done])
            done = all(record.done for record in self.run.chains)
            status = "failed" if self.failures else "done" if done else "stopped"
        finally:
            with self._status:
                self.run.status = status

    def _chains(self, todo: list[ChainRecord]) -> Iterator[Event]:
        """Run chains to the end of their schedule."""
        handle, left = self._executor.start(self.plan, todo, self._notify), len(todo)
        try:
            while left:
                over = handle.wait(0)
                try:  # a wait without end does not see Ctrl+C on every system
                    event = self._news.get(timeout=0 if over else 0.5)
                except Empty:
                    if over:
                        break
                    continue
                except KeyboardInterrupt:
                    self._control.stop()
                    continue
                left -= isinstance(event, (Failed, Finished))
                yield event
        finally:
            if left:
                self._control.stop()
            handle.wait()

    def _notify(self, event: Event) -> None:
        """In the thread of a chain."""
        run = self.run
        if isinstance(event, Started):
            self._sweeping = True
        elif isinstance(event, Failed):
            self.failures.append(event)
            run.say(f"{event.message} {event.hint}".strip(), "error")
        elif isinstance(event, Finished):
            run.say(f"{run.chain_word.capitalize()} {event.chain + 1} {event.reason} at sweep {event.sweep}")
        if self._progress is not None:
            self._progress(run, event)
        if not isinstance(event, (Swept, Working)):
            self._news.put(event)

    # -- asked from outside ---------------------------------------------------------------------
    @property
    def phase(self) -> str:
        """What it does: ``preparing``, ``running``, ``paused`` or ``stopping``; empty when no chain is running."""
        if not self.run.active:
            return ""
        if self._control.stopping:
            return "stopping"
        if self.run.status == "paused":
            return "paused"
        return "running" if self._sweeping else "preparing"

    def pause(self) -> bool:
        """Hold the chains after the step they are in; their states are kept. Whether they were running."""
        return self._turn("running", "paused", self._control.pause, "Paused")

    def go_on(self) -> bool:
        """Let paused chains go on. Whether they were paused."""
        return self._turn("paused", "running", self._control.resume, "Went on")

    def _turn(self, before: str, after: str, ask: Callable[[], None], line: str) -> bool:
        with self._status:
            if self.run.status != before:
                return False
            self.run.status = after
            self.run.say(line)
            ask()
            return True

    def stop(self) -> None:
        """End the chains after the step they are in; everything kept stays."""
        self.run.say("Stop asked for")
        self._control.stop()

    # -- concluding -----------------------------------------------------------------------------
    def summarise(self) -> None:
        """Compute the results from what was kept so far (nothing when nothing was).

        Raises ``ModelError`` or ``PluginError``. Of calls in several threads the later has the later draws.
        """
        run, plan = self.run, self.plan
        with self._summary:
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


def execute(
    run: Run, plan: FitPlan, executor: Executor | None = None, progress: Progress | None = None
) -> None:
    """Complete a :class:`FitJob`. Raises ``ModelError`` or ``PluginError`` when all chains failed."""
    FitJob(run, plan, executor, progress).complete()


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
