"""Chains that begin as threads and go on in processes where threads wait for each other.

Between two kernels a chain needs the interpreter lock. Chains of many small steps then share one processor, however many there are;
in processes of their own each has one. A process takes a second or two to begin, so short fits stay threads; and some 150 MB and what
it makes of the data, so those of large data do.
"""

from __future__ import annotations

import ast
import multiprocessing
import sys
import threading
import time
from pathlib import Path

from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.inference.events import Event, Finished, Preparing, Started
from plaidwork.core.inference.executor import Control, Handle, Notify, ThreadExecutor, ThreadsHandle
from plaidwork.core.inference.memory import data_bytes, stays_in_file
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.process_pool import ProcessPool
from plaidwork.core.inference.team import processors

WATCHED = 4.0
"""Seconds over which the processor's time is compared with the clock."""
WAITING = 0.8
"""Share of the processors below which chains wait for each other."""
WORTH = 6.0
"""Seconds of work to come that make up for the start of processes."""
LARGE = 100e6
"""Bytes of data above which chains stay threads, which share what a model makes of them."""
_LOOK = 0.2


class MovingExecutor:
    """Threads, and processes from the moment in which they pay. The numbers are the same.

    It stays with threads where data are large, and where a fresh process could not begin: a model of the main script, or a script
    that would run once more when it is imported (``if __name__ == "__main__"`` is missing).
    """

    def __init__(self, control: Control | None = None) -> None:
        self.control = control or Control()
        self._pool: ProcessPool | None = None
        self._waited = False

    def start(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle:
        if self._waited:
            return self._processes(plan, records, notify)
        thread = threading.Thread(target=self._begin, args=(plan, records, notify), daemon=True)
        thread.start()
        return ThreadsHandle(self.control, [thread])

    def close(self) -> None:
        """End the processes."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _processes(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle:
        if self._pool is None:
            self._pool = ProcessPool(here=_nothing)
        return self._pool.executor(self.control).start(plan, records, notify)

    def _begin(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> None:
        """Chains as threads, and the rest of them in processes."""
        inner, left = _Until(self.control), list[ChainRecord]()
        by_number = {record.chain: record for record in records}

        def tell(event: Event) -> None:
            if isinstance(event, Finished) and event.reason == "stopped" and not self.control.halting:
                left.append(by_number[event.chain])
            else:
                notify(event)

        handle = ThreadExecutor(inner).start(plan, records, tell)
        small = data_bytes(plan) <= LARGE and not stays_in_file(plan)
        may_move = small and min(len(records), processors()) > 1 and can_begin(plan)
        watch = _Watch(plan, records, self.control)
        while not handle.wait(_LOOK):
            if may_move and not inner.over and watch.waiting():
                self._waited = True
                if watch.to_come() > WORTH:
                    inner.end()
        if left:
            self._processes(plan, left, _without_beginnings(notify)).wait()


class _Until(Control):
    """The requests to a run, and the end of its threads that go on elsewhere."""

    def __init__(self, outer: Control) -> None:
        super().__init__()
        self._outer = outer
        self.over = False

    def end(self) -> None:
        self.over = True

    @property
    def halting(self) -> bool:
        return self.over or self._outer.halting

    @property
    def stopping(self) -> bool:
        return self._outer.stopping

    @property
    def paused(self) -> bool:
        return self._outer.paused

    def wait_while_paused(self) -> None:
        self._outer.wait_while_paused()


class _Watch:
    """How much of the processors the chains of a run have had of late."""

    def __init__(self, plan: FitPlan, records: list[ChainRecord], control: Control) -> None:
        self._plan, self._records, self._control = plan, records, control
        self._begin()

    def _begin(self) -> None:
        self._since, self._spent = time.monotonic(), time.process_time()
        self._before = {record.chain: record.sweep for record in self._records if not record.done}
        self._pauses = self._control.paused_seconds

    def waiting(self) -> bool:
        """Whether the chains waited for each other in the last ``WATCHED`` seconds. Not told while kernels are compiled, when
        chains do not sweep."""
        seconds = time.monotonic() - self._since
        if seconds < WATCHED:
            return False
        spent = time.process_time() - self._spent
        running = [record for record in self._records if record.chain in self._before and not record.done]
        swept = [record for record in running if record.sweep > self._before[record.chain] + 1]
        self._rate = sum(record.sweep - self._before[record.chain] for record in running) / seconds
        steady = len(swept) > 1 and len(swept) >= min(len(running), processors())
        steady = steady and self._control.paused_seconds == self._pauses
        share = spent / (seconds * min(len(running), processors())) if running else 1.0
        self._begin()
        return steady and share < WAITING

    def to_come(self) -> float:
        """Seconds that the sweeps to come will take, as threads; of a model that ends when it has converged as many as it may make."""
        algorithm = self._plan.spec.algorithm
        each = self._plan.schedule.sweeps(algorithm)
        return sum(max(0, each - record.sweep) for record in self._records if not record.done) / self._rate


def _without_beginnings(notify: Notify) -> Notify:
    """Chains that go on have begun already."""

    def tell(event: Event) -> None:
        if not isinstance(event, (Preparing, Started)):
            notify(event)

    return tell


def can_begin(plan: FitPlan) -> bool:
    """Whether a process can be started that imports the model, and in which nothing is run a second time."""
    if type(plan.model).__module__ == "__main__" or multiprocessing.current_process().daemon:
        return False
    main = sys.modules.get("__main__")
    spec, path = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if path is None or (spec is not None and spec.name.rpartition(".")[2] == "__main__"):
        return True  # a notebook or a prompt, and ``python -m package``: nothing is imported again
    return _is_guarded(Path(path))


def _is_guarded(path: Path) -> bool:
    """Whether a script asks for ``__name__`` before it does its work."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return False
    return any(
        isinstance(node, ast.Name) and node.id == "__name__"
        for statement in tree.body
        if isinstance(statement, ast.If)
        for node in ast.walk(statement.test)
    )


def _nothing() -> None:
    """Nobody is waited for between two steps."""
