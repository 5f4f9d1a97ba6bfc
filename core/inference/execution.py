"""Runs the chains of a run and concludes: what a fit from the window, the command line and a study have in common."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from queue import Empty, SimpleQueue

import numpy as np

from plaidwork.core.contract.plugin_info import blamed
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.diagnostics import Diagnosis, diagnose
from plaidwork.core.draws.draws import Kept
from plaidwork.core.errors import ModelError, PlaidworkError, PluginError, SessionError, SettingError
from plaidwork.core.inference.environment import environment
from plaidwork.core.inference.events import Event, Failed, Finished, Preparing, Started, Swept, Working
from plaidwork.core.inference.executor import EXECUTORS, Control, Executor, InlineExecutor, ThreadExecutor
from plaidwork.core.inference.fitting_draws import check_draws
from plaidwork.core.inference.linear_algebra import one_thread
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.restarting import more_restarts
from plaidwork.core.inference.result_checks import checked_results
from plaidwork.core.inference.run import Run
from plaidwork.core.inference.settling import (
    cut,
    ending,
    longer,
    on_the_way,
    settled,
    shorter_warmup,
    within,
)
from plaidwork.core.inference.time_taken import TimeTaken

Progress = Callable[[Run, Event], None]
"""Called from the chains' threads for every event."""


def named_executor(name: str, control: Control | None = None) -> Executor:
    """The executor of this name: ``auto``, ``threads``, ``processes`` or ``inline``. Raises ``SettingError``."""
    if name not in EXECUTORS:
        raise SettingError(f"executor must be one of {', '.join(EXECUTORS)}. Found “{name}”.")
    if name == "auto":
        from plaidwork.core.inference.moving import MovingExecutor

        return MovingExecutor(control)
    if name == "processes":
        from plaidwork.core.inference.processes import ProcessExecutor

        return ProcessExecutor(control)
    return InlineExecutor(control) if name == "inline" else ThreadExecutor(control)


class FitJob:
    """One fit, from its plan to its results: runs the chains of ``run`` that are not done, and concludes.

    Everybody who fits goes this way: the command line, Python, studies and the window. :meth:`complete` does it all;
    or iterate, then :meth:`summarise`. It starts no thread of its own, its executor may. ``pause``, ``go_on`` and
    ``stop`` may be called from any thread, before the first chain starts too. The chains of a run with a goal go on,
    from look to look, until it has settled or its budget is spent (``settling``).

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
        self._time = TimeTaken(run, self._control)
        self._sweeps_before, self._looks = run.sweeps_done, 0
        self._shorter: Schedule | None = None
        self._cut = self._summarising = False
        self._found: Diagnosis | None = None
        self._withheld: list[Event] = []
        self._concluded: tuple[object, ...] = ()
        self._news: SimpleQueue[Event] = SimpleQueue()
        self._status, self._summary = threading.Lock(), threading.Lock()
        self._begins = True

    def begin(self) -> None:
        """From now on the run is under way; called before the job is handed to another thread, or by the loop itself."""
        if self._begins:
            self._begins = False
            self.run.status = "running"
            for problem in self.plan.warnings:
                self.run.say(problem.message, "warning")

    # -- running --------------------------------------------------------------------------------
    def complete(self) -> None:
        """Run the chains, wait, and summarise. Raises ``ModelError`` or ``PluginError`` when all chains failed, ``SessionError`` when no
        stored state fits."""
        for _ in self:
            pass
        if self.failures and (self.run.n_draws == 0 or self._all_refused()):
            first = self.failures[0]
            if self._all_refused():
                raise SessionError(f"{self.run.title} does not go on. {first.message}", first.hint)
            if first.fault is not None:
                raise PluginError(
                    first.message, first.hint, first.fault.plugin, first.fault.hook, first.fault
                )
            raise ModelError(first.message, first.hint or first.details)
        self.summarise()

    def _all_refused(self) -> bool:
        """Whether no chain went on, as the states that were stored do not fit."""
        return bool(self.failures) and all(one.refused for one in self.failures) and (
            self.run.sweeps_done <= self._sweeps_before
        )  # fmt: skip

    def __iter__(self) -> Iterator[Event]:
        """The events of the chains but for sweeps, as they happen (an inline executor's when it is done).

        The loop ends when no chain is running; leaving it early stops them, and so does Ctrl+C.
        """
        self.begin()
        status = "stopped"  # an inline executor may raise; its chain is then somewhere within a step
        try:
            self.run.begins_in(environment(self.plan.model))
            going = True
            while going:
                yield from self._chains([record for record in self.run.chains if not record.done])
                going = self._begins_again() or self._goes_on() or self._restarts()
            for event in self._withheld:
                self._tell(event)
                yield event
            done = all(record.done for record in self.run.chains) and not self._cut
            status = "failed" if self.failures else "done" if done else "stopped"
        finally:
            self._executor.close()
            with self._status:
                self.run.status = status
            self._record(status)
        if self.run.goal is not None and self._found is not None and status == "done":
            self.run.say(ending(self.run.goal, self.run.schedule, self._found))

    def _record(self, status: str) -> None:
        """Put the end of the fit into the record of actions of the session."""
        run = self.run
        if run.session is not None:
            run.session.note("fit ended", run=run.id, title=run.title, status=status, draws=run.n_draws)

    def _chains(self, todo: list[ChainRecord]) -> Iterator[Event]:
        """Run chains to the end of their schedule."""
        handle, left, over = self._executor.start(self.plan, todo, self._notify), len(todo), False
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
                if self._is_block(event):
                    self._withheld.append(event)
                else:
                    yield event
        finally:
            if left and not over:
                self._control.stop()
            handle.wait()

    def _notify(self, event: Event) -> None:
        """In the thread of a chain."""
        if isinstance(event, Started):
            self._sweeping = True
            self._time.begin()
        if isinstance(event, Swept):
            self._watch_warmup()
        if not self._is_block(event):
            self._tell(event)
        elif not isinstance(event, Finished):
            return
        if not isinstance(event, (Swept, Working)):
            self._news.put(event)

    def _is_block(self, event: Event) -> bool:
        """Whether an event begins or ends a part of a run with a goal, and maybe not the run."""
        if self.run.goal is None:
            return False
        if isinstance(event, Finished):
            return event.reason == "done" or (event.reason == "stopped" and self._shorter is not None)
        return self._looks > 0 and isinstance(event, (Preparing, Started))

    def _tell(self, event: Event) -> None:
        run = self.run
        if isinstance(event, Failed):
            self.failures.append(event)
            run.say(f"{event.message} {event.hint}".strip(), "error")
        elif isinstance(event, Finished):
            line = f"{run.chain_word.capitalize()} {event.chain + 1} {event.reason} at sweep {event.sweep}"
            if event.forced:
                line += ", within a step that did not end. Its draws are kept, and it goes on from its last checkpoint."
            run.say(line, "warning" if event.forced else "info")
        if self._progress is not None:
            self._progress(run, event)

    def _watch_warmup(self) -> None:
        """In the thread of a chain: let all chains end where their warm-up would outlast the budget."""
        run, goal = self.run, self.run.goal
        if goal is None or self._looks or self._shorter is not None or run.n_draws:
            return
        left = run.schedule.warmup * len(run.chains) - run.sweeps_done
        shorter = shorter_warmup(run.schedule, goal, self._time.spent, self._time.sweeps, left)
        if shorter is not None:  # else what another chain has found stays
            self._shorter = shorter
            self._control.halt()

    def _begins_again(self) -> bool:
        """Whether all chains begin again, with a warm-up that the budget has time for."""
        run, goal, schedule = self.run, self.run.goal, self._shorter
        self._shorter = None
        self._control.begin_again()
        if schedule is None or goal is None or self.failures or self._control.stopping:
            return False
        run.say(
            f"The warm-up of {counted(run.schedule.warmup, 'sweep')} would take longer than the time budget of {goal.budget:g} s. "
            f"All chains begin again, with a warm-up of {counted(schedule.warmup, 'sweep')}."
        )
        run.begin_again(schedule)
        self._time.begin_again()
        self._withheld.clear()
        self._looks += 1
        return True

    def _goes_on(self) -> bool:
        """Look at the draws of a run with a goal: whether its chains have more to do now."""
        run, goal = self.run, self.run.goal
        if goal is None or self.failures or not all(record.done for record in run.chains):
            return False
        if self._control.stopping:
            self._cut = True
            return False
        if on_the_way(run.schedule, goal):
            schedule = within(run.schedule, goal, self._time.room_for(run.schedule, goal))
            if schedule is not None:
                self._next(schedule)
                return True
        found = run.diagnosis()
        try:
            if not found.unsettled:  # what the model itself holds against its draws is part of the verdict
                self._summarising = True
                self._conclude(under_way=False)
                found = run.diagnosis()
        except PlaidworkError:  # reported when the run is summarised at its end
            return False
        finally:
            self._summarising = False
        self._found = found
        over = settled(found) or on_the_way(run.schedule, goal)
        schedule = None if over else longer(run.schedule, goal, found, self._later)
        if schedule is not None:
            schedule = cut(run.schedule, schedule, self._time.room_for(run.schedule, goal))
        if schedule is None:
            return False
        self._next(schedule)
        return True

    def _restarts(self) -> bool:
        """Whether there are more restarts now, as they are quick or only one has reached the best objective."""
        run = self.run
        ended = all(record.done for record in run.chains) and not self.failures
        if not run.schedule.most_chains or not ended or self._control.stopping:
            return False
        more = more_restarts(run.schedule, run.diagnosis(), self._time.spent)
        if more is None:
            return False
        schedule, why = more
        run.say(why)
        run.restart(schedule)
        self.plan = replace(self.plan, schedule=schedule)
        return True

    def _later(self, first: int) -> Diagnosis:
        """The diagnosis of the draws of each chain from number ``first`` on."""
        chains = [
            chain.taking(np.arange(min(first, chain.n_draws), chain.n_draws))
            for chain in self.run.kept().chains
        ]
        return diagnose(Kept(self.run.spec, chains))

    def _next(self, schedule: Schedule) -> None:
        self.run.lengthen(schedule)
        self._withheld.clear()
        self._looks += 1

    # -- requests from outside ------------------------------------------------------------------
    @property
    def budget_left(self) -> float | None:
        """Seconds that the chains may still go on; None for a run without a goal."""
        return None if self.run.goal is None else self.run.goal.budget - self._time.spent

    @property
    def phase(self) -> str:
        """What it does: ``preparing``, ``running``, ``summarising`` (all draws, for the verdict), ``paused`` or ``stopping``;
        empty when it has ended."""
        if not self.run.active:
            return ""
        if self._control.stopping:
            return "stopping"
        if self.run.status == "paused":
            return "paused"
        if self._summarising:
            return "summarising"
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
        self._conclude(self.run.active)

    def _conclude(self, under_way: bool) -> None:
        run, plan = self.run, self.plan
        with self._summary:
            kept = Kept(run.spec, run.kept().chains, under_way)
            made = (kept.n_draws, run.schedule)
            if kept.n_draws == 0 or self._concluded == made:
                return
            check_draws(run, plan.model, plan.data)
            try:
                with (
                    one_thread(),
                    blamed(plan.model, "summarise", "This is an error in the plugin. The draws are kept."),
                ):
                    found = checked_results(plan.model.summarise(kept, plan.data, plan.params))
            except PluginError as error:
                run.say(error.message, "error")
                raise
            run.results, run.results_draws = found, kept.n_draws
            if not under_way:
                self._concluded = made


def execute(
    run: Run, plan: FitPlan, executor: Executor | None = None, progress: Progress | None = None
) -> None:
    """Complete a :class:`FitJob`, and raise what that raises."""
    FitJob(run, plan, executor, progress).complete()
