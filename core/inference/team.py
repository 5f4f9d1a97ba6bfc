"""Threads of this process that the chains share: one fit uses the machine also where it has fewer chains than there are processors.

A stage that is declared ``parallel`` has the same slices whoever works them, so draws and bounds are the same bit for bit for any number
of threads. Of many chains each has one thread, its own.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

from plaidwork.core.contract.stages import shared_with
from plaidwork.core.inference.kept_memory import keep_freed_memory
from plaidwork.core.inference.linear_algebra import one_thread_here


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ChainTeam:
    """The threads as one chain sees them."""

    def __init__(self, team: ProcessTeam, most: int) -> None:
        self._team, self._most = team, most
        self._lock = threading.Lock()
        self._seconds = 0.0

    def size(self) -> int:
        """Its share of the processors, now."""
        return min(self._most, self._team.share())

    def take_seconds(self) -> float:
        """Processor seconds that the other threads spent for this chain since this was last asked."""
        with self._lock:
            found, self._seconds = self._seconds, 0.0
        return found

    def run(self, calls: Sequence[Callable[[], object]]) -> None:
        """The first call in this thread, the others beside it; returns when all have ended."""
        others = [self._team.submit(self._timed, call) for call in calls[1:]]
        failed: list[BaseException] = []
        try:
            calls[0]()
        except BaseException as error:
            failed.append(error)
        for other in others:
            error_there = other.exception()
            if error_there is not None:
                failed.append(error_there)
        if failed:
            raise failed[0]

    def _timed(self, call: Callable[[], object]) -> None:
        started = time.thread_time()
        try:
            call()
        finally:
            with self._lock:
                self._seconds += time.thread_time() - started


class ProcessTeam:
    """All threads beside those of the chains, made when first needed; ``threads`` bounds what all chains together take."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or processors()
        self._lock = threading.Lock()
        self._chains = 0
        self._pool: ThreadPoolExecutor | None = None

    def share(self) -> int:
        """Threads of one chain, its own among them."""
        return max(1, self.threads // max(1, self._chains))

    def submit(
        self, work: Callable[[Callable[[], object]], None], call: Callable[[], object]
    ) -> Future[None]:
        """Have ``work(call)`` done by a thread of the pool."""
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(
                    max(1, self.threads - 1), "stage", initializer=one_thread_here
                )
            return self._pool.submit(work, call)

    @contextmanager
    def chain(self, threads: int | None = None) -> Iterator[ChainTeam]:
        """A chain that runs in this thread inside, with ``threads`` at most."""
        keep_freed_memory()
        with self._lock:
            self._chains += 1
        mine = ChainTeam(self, threads or self.threads)
        try:
            with shared_with(mine):
                yield mine
        finally:
            with self._lock:
                self._chains -= 1


TEAM = ProcessTeam()
"""That of this process."""
