"""Processes that stay: chains of many fits share them, so that starting and importing is paid for once."""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

from plaidwork.core.contract.model import Model
from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference.events import Event, Finished, Preparing, Started
from plaidwork.core.inference.executor import Control, Executor, Handle, Notify, ThreadsHandle, drive
from plaidwork.core.inference.parcel import Inputs, Parcel, pack
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.processes import (
    FIRST_WORD_SECONDS,
    READY,
    ChainJob,
    cannot_run,
    chain_job,
    end_process,
    follow,
    is_ready,
    run_job,
    spawn,
)
from plaidwork.core.inference.team import processors

_TAKEN = "taken"


@dataclass(frozen=True)
class _Handed:
    """A chain for a process; ``parcel`` holds its inputs unless those of the chain before are meant."""

    job: ChainJob
    parcel: Parcel | None


@dataclass(frozen=True)
class _Ahead:
    """A model that is imported before there is a chain of it; ``compiles``: its kernels are compiled or loaded too."""

    model: type[Model]
    compiles: bool


def _serve(pipe: Connection, nice: int) -> None:
    """The other side: one message after the other, until the pipe is closed."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches every process of the terminal; ours asks
    if nice and hasattr(os, "nice"):
        os.nice(nice)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # who asked is gone
        pipe.send(READY)
        held: Inputs = {}
        while True:
            held = _answer(pipe, held)


def _answer(pipe: Connection, held: Inputs) -> Inputs:
    """Take one message; a job that cannot be read is refused in words. Returns the inputs that are here now."""
    try:
        message: Any = pipe.recv()
        if isinstance(message, _Ahead) and message.compiles:
            with suppress(Exception):  # it is told when a chain meets it
                message.model().prepare()
        if not isinstance(message, _Handed):
            return held  # a late word to the chain before is for no one
        held = held if message.parcel is None else message.parcel.inputs()
    except (EOFError, ConnectionResetError):
        raise
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        return held
    pipe.send(_TAKEN)
    run_job(pipe, replace(message.job, inputs=held))
    pipe.send(READY)
    return held


class _Died(OSError):
    """A process that was there and ended when it was given a chain."""


class _Worker:
    """One process and our end of its pipe; ``data`` is the hash of the inputs that it holds."""

    def __init__(self, nice: int) -> None:
        self.pipe, self.process = spawn(_serve, nice)
        self.data = ""
        self.ahead: type[Model] | None = None
        """The model that it was told of last."""
        self.fresh = True

    def there(self) -> bool:
        """Whether it can be talked to; waits for the first word of a fresh one."""
        if self.fresh and not is_ready(self.pipe, FIRST_WORD_SECONDS):
            self.process.kill()
            return False
        self.fresh = False
        return True

    def give(self, job: ChainJob, parcel: Parcel | None) -> None:
        """Hand a chain over. Raises ``OSError`` for a process that is lost or cannot read it."""
        self.pipe.send(_Handed(replace(job, inputs={}), parcel))
        try:
            word = self.pipe.recv()
        except EOFError:
            raise _Died("the process ended when it loaded the model") from None
        if word != _TAKEN:
            raise OSError(word)

    def end(self) -> None:
        """Close the pipe, by which an idle process ends."""
        self.pipe.close()
        end_process(self.process)


class _Gate:
    """One chain of a model goes first: it compiles what is not compiled yet, and the others load that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.passed = False

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Alone inside, until somebody has passed: then nobody waits any more."""
        with nullcontext() if self.passed else self._lock:
            yield


class ProcessPool:
    """At most ``size`` processes, each runs chain after chain; use it as a context, or :meth:`close` it.

    ``pool.executor`` makes executors for studies (``study.run(pool.executor, at_once=…)``). The data of a fit are
    sent to a process once and stay there while fits of the same data follow.

    Parameters
    ----------
    size : 0 for as many as there are processors.
    nice : by how much they step aside for other processes, where the system knows that.
    keep : how many stay when they have nothing to do; 0 for all.
    here : chains that no process can be had for run in a thread of this one, which calls it between two steps; without it
        they fail.
    """

    def __init__(
        self, size: int = 0, *, nice: int = 0, keep: int = 0, here: Callable[[], object] | None = None
    ) -> None:
        self._slots = threading.BoundedSemaphore(size or processors())
        self._nice, self._keep, self._here = nice, keep, here
        self._idle: list[_Worker] = []
        self._gates: dict[type[Model], _Gate] = {}
        self._parcels: dict[str, tuple[Parcel, int]] = {}
        self._lock, self._packing = threading.Lock(), threading.Lock()
        self._closed, self._chains = False, 0
        self.started = 0
        """Processes that were started so far."""

    def __enter__(self) -> ProcessPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; those that still run a chain end with it."""
        with self._lock:
            idle, self._idle, self._closed = self._idle, [], True
        for worker in idle:
            worker.pipe.close()
        for worker in idle:
            end_process(worker.process)

    def executor(self, control: Control | None = None) -> Executor:
        """An executor whose chains run in the processes of the pool."""
        return _PoolExecutor(self, control)

    def warm(self, model: type[Model], count: int) -> None:
        """Start processes until ``count`` are idle, import a model in all and load its kernels in one (which compiles them when nobody
        has). Nothing is awaited, but a start takes some milliseconds each.
        """
        with self._lock:
            missing = 0 if self._closed else count - len(self._idle)
        for _ in range(missing):
            self._put_back(self._new())
        with self._lock:
            compiled = model in self._gates and self._gates[model].passed
            for worker in reversed(self._idle):  # the last is taken first
                if worker.ahead is not model:
                    worker.ahead = model
                    with suppress(Exception):  # a model that cannot be sent, a process that is gone
                        worker.pipe.send(_Ahead(model, compiled or worker is self._idle[-1]))

    # -- one chain ------------------------------------------------------------------------------
    def expect(self, chains: int) -> None:
        """So many more chains will be run, each once, and share the processors with those under way."""
        with self._lock:
            self._chains += chains

    def run(self, plan: FitPlan, record: ChainRecord, control: Control, notify: Notify) -> None:
        """One chain that was expected, once there is room for it; in a thread of its own."""
        try:
            self._run(plan, record, control, notify)
        finally:
            self.expect(-1)

    def _run(self, plan: FitPlan, record: ChainRecord, control: Control, notify: Notify) -> None:
        with self._slots:
            if control.halting:
                notify(Finished(record.chain, "stopped", record.sweep))
                return
            with self._lock:
                gate = self._gates.setdefault(type(plan.model), _Gate())
            with ExitStack() as first:
                try:
                    worker = self._with_job(plan, record, lambda: first.enter_context(gate.turn()))
                except Exception as error:
                    first.close()
                    self._without(plan, record, control, notify, error)
                    return

                def heard(event: Event) -> None:
                    gate.passed = gate.passed or isinstance(event, Started)
                    if not isinstance(event, Preparing):
                        first.close()
                    notify(event)

                again = follow(plan, record, control, heard, worker.pipe, worker.process)
            if again and is_ready(worker.pipe):
                self._put_back(worker)
            else:
                worker.end()

    def _without(
        self, plan: FitPlan, record: ChainRecord, control: Control, notify: Notify, error: Exception
    ) -> None:
        """A chain that no process could be had for; called while that error is handled."""
        between = self._here
        if between is None or isinstance(error, _Died):  # which would end this process too
            notify(cannot_run(plan, record, str(error), traceback.format_exc()))
            return

        def tell(event: Event) -> None:
            notify(event)
            between()

        drive(plan, record, control, tell, threads=1)

    def _with_job(self, plan: FitPlan, record: ChainRecord, wait: Callable[[], object]) -> _Worker:
        """A process that has this chain now; it is there when ``wait`` is called. Raises ``OSError`` when none can be had, and
        what cannot be pickled raises.
        """
        for _attempt in range(3):
            worker = self._take(plan.data_hash)
            used = not worker.fresh
            try:
                if worker.there():
                    wait()
                    wait = _nothing
                    self._hand_over(worker, plan, record)
                    return worker
            except BaseException as error:
                if not (used and isinstance(error, OSError)):  # such a one died while it was idle
                    worker.end()
                    raise
            worker.end()
        raise OSError("the process says nothing")

    def _hand_over(self, worker: _Worker, plan: FitPlan, record: ChainRecord) -> None:
        job = chain_job(plan, record, max(1, self._chains))
        if worker.data == plan.data_hash:
            worker.give(job, None)
            return
        with self._packed(plan) as parcel:
            worker.give(job, parcel)
        worker.data = plan.data_hash

    @contextmanager
    def _packed(self, plan: FitPlan) -> Iterator[Parcel]:
        """The inputs of a plan, packed once for all chains that are handed over at the time."""
        key = plan.data_hash
        with self._packing:
            parcel, users = self._parcels.get(key) or (pack(plan.inputs), 0)
            self._parcels[key] = parcel, users + 1
        try:
            yield parcel
        finally:
            with self._packing:
                parcel, users = self._parcels.pop(key)
                if users > 1:
                    self._parcels[key] = parcel, users - 1
                else:
                    parcel.discard()

    # -- processes ------------------------------------------------------------------------------
    def _take(self, data: str) -> _Worker:
        """An idle process, one that holds the data when there is one; else a new one."""
        with self._lock:
            self._idle.sort(key=lambda worker: worker.data == data)
            if self._idle:
                return self._idle.pop()
        return self._new()

    def _new(self) -> _Worker:
        with self._lock:
            self.started += 1
        return _Worker(self._nice)

    def _put_back(self, worker: _Worker) -> None:
        with self._lock:
            if not self._closed and (not self._keep or len(self._idle) < self._keep):
                self._idle.append(worker)
                return
        worker.end()


def _nothing() -> None:
    """Waits for nobody."""


class _PoolExecutor:
    def __init__(self, pool: ProcessPool, control: Control | None) -> None:
        self._pool, self.control = pool, control or Control()

    def start(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle:
        control = self.control
        self._pool.expect(len(records))
        threads = [
            threading.Thread(target=self._pool.run, args=(plan, record, control, notify), daemon=True)
            for record in records
        ]
        for thread in threads:
            thread.start()
        return ThreadsHandle(control, threads)

    def close(self) -> None:
        """Nothing: the processes are the pool's."""
