"""Chains in processes of their own: for models that hold the interpreter lock."""

from __future__ import annotations

import multiprocessing
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from plaidwork.core.contract.model import Model
from plaidwork.core.contract.plugin_info import PluginInfo, owner_of, plugin_error, set_owner
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.contract.spec import ModelSpec
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.draws.chain import ChainRecord, Checkpoint, copy_state, rng_from_state
from plaidwork.core.errors import PlaidworkError, PluginError
from plaidwork.core.inference.events import Event, Failed, Finished, Swept, Working
from plaidwork.core.inference.executor import (
    NOTHING_KEPT,
    Control,
    Handle,
    Notify,
    ThreadsHandle,
    drive,
)
from plaidwork.core.inference.linear_algebra import one_thread_in_children
from plaidwork.core.inference.lost import lost, method_after
from plaidwork.core.inference.plan import FitPlan, make_plan
from plaidwork.core.inference.team import processors
from plaidwork.core.subprocesses import end_with_parent

SEND_SECONDS = 0.05
READY_SECONDS = 30.0
STOP_SECONDS = 20.0
"""How long a step may go on after a stop was asked for; then its process is ended."""
READY = "ready"
"""What a process says when it waits for a chain."""
FIRST_WORD_SECONDS = 90.0
"""A process that has said nothing by then never began (seen once in hundreds of starts); it is started anew."""


@dataclass(frozen=True)
class ChainJob:
    """One chain as plain data; the other process builds the same plan from it."""

    model: type[Model]
    inputs: Mapping[str, tuple[Dataset, ...]]
    params: Mapping[str, Any]
    schedule: Schedule
    seed: int
    holdout: float
    chain: int
    checkpoint: Checkpoint | None
    trace: np.ndarray
    shapes: dict[str, tuple[int, ...]]
    plugin: tuple[str, str, str, str]
    """Name, module, source and version of the model's plugin, for messages: the other process loads no registry."""
    threads: int = 1
    """How many may work for the chain at most."""
    spec: ModelSpec | None = None
    """The declaration that the run was stored with, where the model has got other variables or traces since; None for the model's."""


@dataclass(frozen=True)
class _News:
    """What happened since the last news: events, new sweeps and draws, and a checkpoint when one was taken."""

    events: list[Event]
    trace: np.ndarray
    draws: dict[str, list[np.ndarray]]
    shapes: dict[str, tuple[int, ...]]
    saved: Checkpoint | None


class ProcessExecutor:
    """One process per chain (``spawn``), as many at a time as there are processors; those that are there are used again until
    :meth:`close`. Draws and traces come back as they are made.

    The model class must be importable by name; the numbers equal those of the other executors.
    """

    def __init__(self, control: Control | None = None) -> None:
        self.control = control or Control()
        self._idle: list[tuple[str, Connection, Any]] = []
        """Hash of the data that it holds, our end of the pipe, and the process."""

    def start(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle:
        slots = threading.BoundedSemaphore(processors())
        threads = [
            threading.Thread(target=self._run, args=(plan, record, notify, slots, len(records)), daemon=True)
            for record in records
        ]
        for thread in threads:
            thread.start()
        return ThreadsHandle(self.control, threads)

    def close(self) -> None:
        """End the processes."""
        while self._idle:
            _data, pipe, process = self._idle.pop()
            pipe.close()  # by which an idle process ends
            end_process(process)

    def _run(
        self,
        plan: FitPlan,
        record: ChainRecord,
        notify: Notify,
        slots: threading.BoundedSemaphore,
        chains: int,
    ) -> None:
        """One chain, once there is room for it; in a thread, because handing over large data takes time."""
        with slots:
            if self.control.halting:
                notify(Finished(record.chain, "stopped", record.sweep))
                return
            job = chain_job(plan, record, chains)
            for _attempt in range(2):
                try:
                    kept = self._hand_over(job, plan.data_hash)
                    pipe, process = kept or _start(job)
                except Exception as error:
                    notify(cannot_run(plan, record, str(error), traceback.format_exc()))
                    return
                if kept is not None or speaks(pipe, process):
                    self._follow(plan, record, notify, pipe, process)
                    return
            notify(cannot_run(plan, record, "the process says nothing", ""))

    def _hand_over(self, job: ChainJob, data: str) -> tuple[Connection, Any] | None:
        """An idle process that now has the job; None when there is none. Those that have died or hold other data are let go."""
        while self._idle:
            held, pipe, process = self._idle.pop()
            try:
                if held == data:
                    pipe.send(replace(job, inputs={}))
                    return pipe, process
            except OSError:
                pass
            pipe.close()
            end_process(process)
        return None

    def _follow(
        self, plan: FitPlan, record: ChainRecord, notify: Notify, pipe: Connection, process: Any
    ) -> None:
        if follow(plan, record, self.control, notify, pipe, process) and is_ready(pipe):
            self._idle.append((plan.data_hash, pipe, process))
            return
        pipe.close()
        end_process(process)


def is_ready(pipe: Connection, seconds: float = READY_SECONDS) -> bool:
    """Whether a process is done with its chain and waits for the next; a late word to the chain would meet the next one."""
    try:
        return bool(pipe.poll(seconds)) and pipe.recv() == READY
    except (EOFError, OSError):  # it has ended after its chain
        return False


def speaks(pipe: Connection, process: Any) -> bool:
    """Wait for the first word of a process; one that stays silent is ended. A dead one counts as speaking."""
    try:
        if pipe.poll(FIRST_WORD_SECONDS):
            return True
    except (EOFError, OSError):
        return True  # it is for the follower to tell how it ended
    process.kill()
    process.join(5)
    pipe.close()
    return False


def cannot_run(plan: FitPlan, record: ChainRecord, reason: str, details: str) -> Failed:
    """The event for a chain that no process could be had for."""
    return Failed(
        record.chain,
        f"Chain {record.chain + 1} of {plan.spec.title} cannot run in a process of its own: {reason}.",
        "Run the chains as threads.",
        details,
    )


def chain_job(plan: FitPlan, record: ChainRecord, beside: int = 0) -> ChainJob:
    """What another process needs to run a chain; ``beside``: of so many chains, which share the processors here, 0 for one thread."""
    if record.broken:
        record.rewind()
    now = None if record.state is None else record.take_checkpoint()
    info = owner_of(plan.model)
    return ChainJob(
        type(plan.model), plan.inputs, plan.params, record.schedule, plan.seed, plan.holdout, record.chain,
        now, np.array(record.trace.rows()), _shapes(record), (info.name, info.module, info.source, info.version),
        max(1, processors() // beside) if beside else 1, None if record.spec is plan.spec else record.spec,
    )  # fmt: skip


def _shapes(record: ChainRecord) -> dict[str, tuple[int, ...]]:
    return {variable.name: record.draws.fixed_shape(variable.name) for variable in record.spec.variables}


def _start(job: ChainJob) -> tuple[Connection, Any]:
    return spawn(serve, job)


def spawn(target: Callable[..., None], *arguments: Any) -> tuple[Connection, Any]:
    """A fresh process that runs ``target(pipe, *arguments)``: our end of the pipe, and the process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_begin, args=(target, theirs, *arguments), daemon=True)
    try:
        with one_thread_in_children():
            process.start()
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return ours, process


def _begin(target: Callable[..., None], *arguments: Any) -> None:
    end_with_parent()
    target(*arguments)


def end_process(process: Any) -> None:
    """Wait for a process that is about to end; not for ever."""
    process.join(5)
    if process.is_alive():
        process.kill()


def _lost(plan: FitPlan, record: ChainRecord, process: Any, at: str) -> Event | None:
    return lost(plan, record, process.exitcode, at)


def follow(
    plan: FitPlan,
    record: ChainRecord,
    control: Control,
    notify: Notify,
    pipe: Connection,
    process: Any,
    gone: Callable[[FitPlan, ChainRecord, Any, str], Event | None] = _lost,
) -> bool:
    """Our side of one chain: hand requests over, take the news in. The only writer of ``record``.

    Returns whether the process is still there. ``gone`` makes the event for one that ended within its chain, or None.
    """
    requested, ended, at = "go", False, ""
    since = time.monotonic()
    try:
        while not ended:
            request = "stop" if control.halting else "pause" if control.paused else "go"
            if request != requested:
                pipe.send(request)
                requested, since = request, time.monotonic()
            if requested == "stop" and time.monotonic() - since > STOP_SECONDS:
                process.kill()
                process.join(5)
                record.broken = True  # what it kept stays; it goes on from its last checkpoint
                notify(Finished(record.chain, "stopped", record.sweep, forced=True))
                return False
            if pipe.poll(0.05):
                news: _News = pipe.recv()
                _take(record, news)
                for event in news.events:
                    at = method_after(event) or at
                    record.broken = record.broken or isinstance(event, Failed)
                    if isinstance(event, Failed) and event.fault is not None:
                        owner_of(plan.model).faults.append(event.fault)
                    ended = ended or isinstance(event, (Finished, Failed))
                    notify(event)
    except (EOFError, OSError):
        if not ended:
            process.join(5)
            record.broken = True
            told = gone(plan, record, process, at)
            if told is not None:
                notify(told)
        return False
    return True


def _take(record: ChainRecord, news: _News) -> None:
    record.trace.extend(news.trace)
    if any(news.draws.values()):
        record.draws.extend_packed(news.draws, news.shapes)
    if news.saved is not None:
        saved = replace(news.saved, n_draws=record.draws.count)
        record.rng = rng_from_state(saved.rng)
        record.cpu_seconds, record.converged = saved.cpu_seconds, saved.converged
        record.foreign = saved.foreign
        record.saved, record.saved_at = saved, time.monotonic()
        record.rest()
    record.sweep = record.trace.count


class _RemoteControl(Control):
    """Obeys the words that come through the pipe."""

    def __init__(self, pipe: Connection) -> None:
        super().__init__()
        self._pipe = pipe

    def listen(self, seconds: float = 0.0) -> None:
        """Take what has come; wait for it up to ``seconds``."""
        while self._pipe.poll(seconds):
            {"stop": self.stop, "pause": self.pause, "go": self.resume}[self._pipe.recv()]()
            seconds = 0.0

    def wait_while_paused(self) -> None:
        while self.paused:
            self.listen(1.0)


class _Reporter:
    """Collects events and sends them with what is new in the record, a few times a second."""

    def __init__(self, pipe: Connection, record: ChainRecord, control: _RemoteControl) -> None:
        self._pipe, self._record, self._control = pipe, record, control
        self._events: list[Event] = []
        self._sweeps, self._draws = record.trace.count, record.draws.count
        self._saved, self._sent = record.saved, time.monotonic()

    def __call__(self, event: Event) -> None:
        self._events.append(event)
        at_once = not isinstance(event, (Swept, Working)) or self._record.saved is not self._saved
        if at_once or time.monotonic() - self._sent > SEND_SECONDS:
            self._send()
        self._control.listen()

    def _send(self) -> None:
        record = self._record
        variables = [variable.name for variable in record.spec.variables]
        draws = {name: record.draws.packed(name, self._draws) for name in variables}
        shapes = _shapes(record)
        saved = record.saved if record.saved is not self._saved else None
        if saved is not None and saved.sweep != record.sweep:
            saved = None
        self._pipe.send(_News(self._events, np.array(record.trace.rows(self._sweeps)), draws, shapes, saved))
        self._events, self._sent = [], time.monotonic()
        self._sweeps, self._draws, self._saved = record.trace.count, record.draws.count, record.saved


def serve(pipe: Connection, job: ChainJob | None = None) -> None:
    """The other side: chain after chain, until the pipe is closed. A job without inputs has those of the one before."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches every process of the terminal; ours asks
    held: Mapping[str, tuple[Dataset, ...]] = {}
    while True:
        if job is not None:
            held = job.inputs or held
            run_job(pipe, replace(job, inputs=held))
            pipe.send(READY)
        try:
            message: Any = pipe.recv()
        except (EOFError, OSError):
            return
        job = (
            message if isinstance(message, ChainJob) else None
        )  # a late word to the chain before is for no one


def run_job(pipe: Connection, job: ChainJob) -> None:
    """One chain: the same plan, the same engine."""
    set_owner(job.model, PluginInfo(*job.plugin, state="ok"))
    try:
        plan = make_plan(
            job.model(),
            job.inputs,
            job.params,
            schedule=job.schedule,
            seed=job.seed,
            holdout=job.holdout,
            turn=False,
        )
        record = ChainRecord(job.spec or plan.spec, job.schedule, job.seed, job.chain)
        if job.checkpoint is not None:
            _restore(record, job)
    except (Exception, SystemExit) as error:
        pipe.send(_News([_could_not_start(job, error)], np.empty((0, 0)), {}, {}, None))
        return
    control = _RemoteControl(pipe)
    drive(plan, record, control, _Reporter(pipe, record, control), job.threads)


def _could_not_start(job: ChainJob, error: BaseException) -> Failed:
    if isinstance(error, PlaidworkError) and not isinstance(error, PluginError):
        return Failed(job.chain, error.message, error.hint)
    wrapped = plugin_error(job.model, "", error, NOTHING_KEPT, when=f"Chain {job.chain + 1}")
    return Failed(job.chain, wrapped.message, wrapped.hint, wrapped.fault.traceback, wrapped.fault)


def _restore(record: ChainRecord, job: ChainJob) -> None:
    """State, generator and traces of the checkpoint; its draws stay with the parent."""
    saved = job.checkpoint
    assert saved is not None
    record.trace.extend(job.trace)
    if saved.n_draws:
        record.draws.extend_packed({name: [] for name in job.shapes}, job.shapes)
    record.state, record.rng = copy_state(saved.state), rng_from_state(saved.rng)
    record.sweep, record.cpu_seconds, record.converged = saved.sweep, saved.cpu_seconds, saved.converged
    record.foreign = saved.foreign
