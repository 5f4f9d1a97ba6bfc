"""Who iterates the engine: this thread, several threads, or other processes. Same numbers everywhere."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from plaidwork.core.contract.plugin_info import is_users_stop, passes, plugin_error
from plaidwork.core.contract.storable import check_state
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.errors import PlaidworkError, SessionError
from plaidwork.core.inference.engine import run_chain
from plaidwork.core.inference.events import Checkpointed, Event, Failed, Finished, Started
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.team import TEAM, ChainTeam, processors

Notify = Callable[[Event], None]
"""Called in the thread that runs the chain, for every event; must be quick and must not raise."""

EXECUTORS = ("auto", "threads", "processes", "inline")
CHECKPOINT_SECONDS = 20.0
PLUGIN_HINT = "This is an error in the plugin, not in your data. What was kept before it is still there."
NO_MEMORY = "It needs more memory than is free. What was kept before is still there. Close other programs, run fewer chains at once, or use smaller data."
NOTHING_KEPT = "This is an error in the plugin, not in your data."


class Control:
    """Stop, pause and checkpoint requests to the chains of one run; obeyed between two steps."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._halt = threading.Event()
        self._go = threading.Event()
        self._go.set()
        self._paused_at, self._paused_for = 0.0, 0.0

    def stop(self) -> None:
        """Ask all chains to end after the step they are in."""
        self._stop.set()
        self._go.set()

    def halt(self) -> None:
        """Let all chains end as at a stop, as others are to take their place: nobody asked for an end."""
        self._halt.set()

    def begin_again(self) -> None:
        """After :meth:`halt`: chains may run again."""
        self._halt.clear()

    def pause(self) -> None:
        if self._go.is_set():
            self._paused_at = time.monotonic()
        self._go.clear()

    def resume(self) -> None:
        if self.paused:
            self._paused_for += time.monotonic() - self._paused_at
        self._go.set()

    @property
    def paused_seconds(self) -> float:
        """How long the chains have been held in all."""
        return self._paused_for + (time.monotonic() - self._paused_at if self.paused else 0.0)

    @property
    def stopping(self) -> bool:
        """Whether the user asked for an end."""
        return self._stop.is_set()

    @property
    def halting(self) -> bool:
        """Whether chains are to end after the step they are in."""
        return self._stop.is_set() or self._halt.is_set()

    @property
    def paused(self) -> bool:
        return not self._go.is_set()

    def wait_while_paused(self) -> None:
        """Block until resumed or stopped."""
        self._go.wait()


def drive(
    plan: FitPlan, record: ChainRecord, control: Control, notify: Notify, threads: int | None = None
) -> None:
    """Run one chain to its end, a stop or a failure; never raises. Takes the checkpoints. ``threads`` is how many may work for it at most.

    Every executor runs this function, so that they cannot differ.
    """
    try:
        with TEAM.chain(threads) as team:
            _drive(plan, record, control, notify, team)
    except BaseException as error:  # also SystemExit and its kin: a plugin ends its chain, never the program
        if is_users_stop(error) or isinstance(error, GeneratorExit):
            raise
        record.broken = True
        if passes(error) and isinstance(error, PlaidworkError):
            notify(Failed(record.chain, error.message, error.hint, refused=isinstance(error, SessionError)))
            return
        hint = PLUGIN_HINT if record.sweep else NOTHING_KEPT
        if isinstance(error, MemoryError):
            hint = NO_MEMORY
        wrapped = plugin_error(plan.model, "", error, hint, when=f"Chain {record.chain + 1}")
        notify(Failed(record.chain, wrapped.message, wrapped.hint, wrapped.fault.traceback, wrapped.fault))


def _drive(plan: FitPlan, record: ChainRecord, control: Control, notify: Notify, team: ChainTeam) -> None:
    for event in run_chain(plan, record):
        record.cpu_seconds += team.take_seconds()
        if isinstance(event, Finished):
            record.take_checkpoint()
            record.rest()
            notify(event)
            return
        notify(event)
        if isinstance(event, Started):
            check_state(record.state)
        if control.paused:
            if record.state is not None:
                record.take_checkpoint()
                notify(Checkpointed(record.chain, record.sweep))
            control.wait_while_paused()
        if control.halting:
            if record.state is not None:
                record.take_checkpoint()
            notify(Finished(record.chain, "stopped", record.sweep))
            return
        if record.state is not None and time.monotonic() - record.saved_at > CHECKPOINT_SECONDS:
            record.take_checkpoint()
            notify(Checkpointed(record.chain, record.sweep))


class Handle(Protocol):
    """A run under way."""

    control: Control

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for all chains; True when they have ended."""
        ...


class Executor(Protocol):
    """Starts the chains of a run that are not done; ``control`` is what they obey."""

    control: Control

    def start(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle: ...

    def close(self) -> None:
        """No chain is started any more: let go of what was kept for the next start."""


class _EndedHandle:
    def __init__(self, control: Control) -> None:
        self.control = control

    def wait(self, timeout: float | None = None) -> bool:
        return True


class InlineExecutor:
    """Runs the chains one after the other in the calling thread; ``start`` returns when they have ended."""

    def __init__(self, control: Control | None = None) -> None:
        self.control = control or Control()

    def start(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle:
        for record in records:
            if not self.control.halting:
                drive(plan, record, self.control, notify)
        return _EndedHandle(self.control)

    def close(self) -> None:
        """Nothing is kept."""


class ThreadsHandle:
    """A run whose chains are each followed by a thread of this process."""

    def __init__(self, control: Control, threads: list[threading.Thread]) -> None:
        self.control = control
        self._threads = threads

    def wait(self, timeout: float | None = None) -> bool:
        end = None if timeout is None else time.monotonic() + timeout
        for thread in self._threads:
            thread.join(None if end is None else max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in self._threads)


class ThreadExecutor:
    """One thread per chain; kernels release the interpreter lock, so chains share the processor's cores.

    Of more than four chains at most as many run at a time as there are processors.
    """

    def __init__(self, control: Control | None = None) -> None:
        self.control = control or Control()

    def start(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle:
        slots = threading.BoundedSemaphore(max(4, processors()))

        def run(record: ChainRecord) -> None:
            with slots:
                if self.control.halting:
                    notify(Finished(record.chain, "stopped", record.sweep))
                else:
                    drive(plan, record, self.control, notify)

        threads = [
            threading.Thread(target=run, args=(record,), name=f"chain {record.chain + 1}", daemon=True)
            for record in records
        ]
        for thread in threads:
            thread.start()
        return ThreadsHandle(self.control, threads)

    def close(self) -> None:
        """Nothing is kept: threads end with their chain."""
