"""Processes that stay: chains of many short fits share them, so that starting and importing is paid for once."""

from __future__ import annotations

import os
import threading
import traceback
from dataclasses import replace
from types import TracebackType

from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference.events import Finished
from plaidwork.core.inference.executor import Control, Executor, Handle, Notify, ThreadsHandle
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.processes import (
    cannot_run,
    chain_job,
    end_process,
    follow,
    is_ready,
    serve,
    spawn,
    speaks,
)


class _Worker:
    """One process and our end of its pipe; ``data`` is the hash of the inputs that it holds."""

    def __init__(self) -> None:
        self.pipe, self.process = spawn(serve)
        self.data = ""
        self.fresh = True

    def end(self) -> None:
        """Close the pipe, by which an idle process ends."""
        self.pipe.close()
        end_process(self.process)


class ProcessPool:
    """At most ``size`` processes, each runs chain after chain; use it as a context, or :meth:`close` it.

    ``pool.executor`` makes executors for studies (``study.run(pool.executor, at_once=…)``). The data of a fit are
    sent to a process once and stay there while fits of the same data follow.
    """

    def __init__(self, size: int = 0) -> None:
        self._slots = threading.BoundedSemaphore(max(1, size or os.cpu_count() or 1))
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()
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
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def executor(self, control: Control | None = None) -> Executor:
        """An executor whose chains run in the processes of the pool."""
        return _PoolExecutor(self, control)

    def _take(self, data: str) -> _Worker:
        """An idle process, one that holds the data when there is one; else a new one."""
        with self._lock:
            self._idle.sort(key=lambda worker: worker.data == data)
            if self._idle:
                return self._idle.pop()
            self.started += 1
        return _Worker()

    def run(self, plan: FitPlan, record: ChainRecord, control: Control, notify: Notify) -> None:
        """One chain, once there is room for it; in a thread of its own."""
        with self._slots:
            if control.stopping:
                notify(Finished(record.chain, "stopped", record.sweep))
                return
            for _attempt in range(2):
                worker = None
                try:
                    worker = self._take(plan.data_hash)
                    self._hand_over(worker, plan, record)
                except Exception as error:
                    if worker is not None:
                        worker.end()
                        if not worker.fresh:
                            continue  # it died while it was idle
                    notify(cannot_run(plan, record, str(error), traceback.format_exc()))
                    return
                if not worker.fresh or speaks(worker.pipe, worker.process):
                    worker.fresh = False
                    self._follow(plan, record, control, notify, worker)
                    return
            notify(cannot_run(plan, record, "the process says nothing", ""))

    def _follow(
        self, plan: FitPlan, record: ChainRecord, control: Control, notify: Notify, worker: _Worker
    ) -> None:
        again = follow(plan, record, control, notify, worker.pipe, worker.process)
        if not (again and is_ready(worker.pipe)):
            worker.end()
            return
        with self._lock:
            self._idle.append(worker)

    @staticmethod
    def _hand_over(worker: _Worker, plan: FitPlan, record: ChainRecord) -> None:
        job = chain_job(plan, record)
        if worker.data == plan.data_hash:
            worker.pipe.send(replace(job, inputs={}))
        else:
            worker.pipe.send(job)
            worker.data = plan.data_hash


class _PoolExecutor:
    def __init__(self, pool: ProcessPool, control: Control | None) -> None:
        self._pool, self.control = pool, control or Control()

    def start(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle:
        control = self.control
        threads = [
            threading.Thread(target=self._pool.run, args=(plan, record, control, notify), daemon=True)
            for record in records
        ]
        for thread in threads:
            thread.start()
        return ThreadsHandle(control, threads)

    def close(self) -> None:
        """Nothing: the processes are the pool's."""
