"""Chains on the workers of a dask cluster, on this computer or on many.

A chain is one task made of plain data, the job that processes of this computer get too, and obeys the same words; what it has to say
comes back through a queue of the scheduler while it runs. The data of a fit are sent once and stay with the workers. A chain whose
worker dies goes on elsewhere from its last checkpoint, to the same draws.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any
from uuid import uuid4

from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.cluster_link import TLS, WorkerFacts, compare, connect, survey
from plaidwork.core.inference.events import Event, Finished
from plaidwork.core.inference.executor import Control, Executor, Handle, Notify, ThreadsHandle
from plaidwork.core.inference.parcel import Inputs
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.processes import ChainJob, cannot_run, chain_job, follow, run_job

WAIT_SECONDS = 60.0
"""How long the first worker may take to come."""
SILENT_SECONDS = 90.0
"""A chain that has heard nothing from its client for so long ends: the client is gone, and its session has the checkpoints."""
ALIVE_SECONDS = 15.0
ATTEMPTS = 20
"""Workers that may die under one chain."""
_ALIVE, _END = "alive", "end"


@dataclass(frozen=True)
class _Begun:
    """First word of a task. A second one comes when the scheduler gave the task to another worker after a death."""


@dataclass(frozen=True)
class SentData:
    """Inputs as one object that dask does not look into."""

    inputs: Inputs


class Cluster:
    """A dask cluster; use it as a context, or :meth:`close` it. Its chains follow executors that ``cluster.executor`` makes.

    Parameters
    ----------
    where : address of a scheduler (``tcp://host:8786``), or ``local:N`` for N processes of this computer, reached by nobody else.
    tls : certificates for ``tls://…``; without them dask's own configuration names them.

    Raises
    ------
    SettingError : dask is not installed, nobody answers there, or no worker comes.
    """

    def __init__(self, where: str, tls: TLS | None = None) -> None:
        self._hold(where, *connect(where, tls))
        try:
            self._client.wait_for_workers(1, timeout=WAIT_SECONDS)
        except TimeoutError:
            self.close()
            raise SettingError(
                f"The cluster at {where} has no workers.", "Start some with: dask worker ADDRESS"
            ) from None

    def _hold(self, where: str, own: Any, client: Any) -> None:
        self.where, self._own, self._client = where, own, client
        self._data: dict[str, Any] = {}
        self._checked: set[str] = set()
        self._lock = threading.Lock()

    @classmethod
    def around(cls) -> Cluster:
        """The cluster of the worker that calls this, within a task; the task does not count among the chains that run at a time from
        now on. It is not for the caller to close.
        """
        from distributed import get_client, secede

        made, client = cls.__new__(cls), get_client()
        secede()
        made._hold(client.scheduler_info()["address"], None, client)
        return made

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the cluster; one of this computer ends."""
        self._data.clear()
        with suppress(Exception):  # a scheduler that is gone
            self._client.close()
        if self._own is not None:
            with suppress(Exception):
                self._own.close()

    @property
    def dashboard(self) -> str:
        """Address of the page that shows what runs where."""
        return str(self._client.dashboard_link)

    @property
    def threads(self) -> int:
        """How many chains run at a time."""
        return sum(self._client.nthreads().values())

    @property
    def alive(self) -> bool:
        """Whether its scheduler still answers."""
        return str(self._client.status) == "running"

    def workers(self) -> list[WorkerFacts]:
        """What the workers have installed."""
        return survey(self._client)

    def executor(self, control: Control | None = None) -> Executor:
        """An executor whose chains run on the workers."""
        return _ClusterExecutor(self, control)

    def check(self, plan: FitPlan) -> None:
        """Ask the workers once for a model what they have. Raises ``SettingError`` when versions differ, by which draws may, or when
        the model cannot be loaded there.
        """
        model = type(plan.model)
        name = f"{model.__module__}.{model.__qualname__}"
        with self._lock:
            if name not in self._checked:
                compare(self._client, plan)
                self._checked.add(name)

    # -- one chain ------------------------------------------------------------------------------
    def run(self, plan: FitPlan, record: ChainRecord, control: Control, notify: Notify) -> None:
        """One chain to its end, a stop or a failure; in a thread of its own."""
        reason = "its workers die"
        for attempt in range(ATTEMPTS):
            time.sleep(min(attempt, 5))
            if control.halting:
                notify(Finished(record.chain, "stopped", record.sweep))
                return
            line = None
            try:
                line = self._submit(plan, record)
                follow(plan, record, control, notify, line, line, gone=_nobody)  # type: ignore[arg-type]
            except OSError as error:  # what spoke with the worker, or with the scheduler, broke off
                reason, record.broken = str(error) or type(error).__name__, True
                continue
            except Exception as error:
                reason, record.broken = str(error) or type(error).__name__, True
                break
            finally:
                if line is not None:
                    line.close()
            if not line.lost:
                return
        notify(cannot_run(plan, record, reason, ""))

    def _submit(self, plan: FitPlan, record: ChainRecord) -> _Line:
        """Hand the chain to the scheduler."""
        self.check(plan)
        job, data = replace(chain_job(plan, record), inputs={}), self._sent(plan)
        name = f"plaidwork-{plan.spec.id}-{record.chain + 1}-{uuid4().hex}"
        line = _Line(self._client, name)
        line.task = self._client.submit(run_on_worker, job, data, name, key=name, pure=False, retries=0)
        return line

    def _sent(self, plan: FitPlan) -> Any:
        """The data of a fit as they lie on the workers."""
        with self._lock:
            data = self._data.get(plan.data_hash)
            if data is None or data.status != "finished":  # whoever had them has died
                (data,) = self._client.scatter([SentData(plan.inputs)], hash=False)
                self._data[plan.data_hash] = data
            return data

    # -- tasks that stay while nobody is connected -----------------------------------------------
    def leave(self, name: str, task: Callable[..., Any], job: object, plan: FitPlan) -> None:
        """Let the workers do ``task(job, data, name)`` and keep what it returns, also when this client goes. Raises ``OSError``.

        The scheduler keeps the data with the task: nobody could send them again when the workers that have them die, and copies on
        several workers are taken for superfluous (dask's ReduceReplicas).
        """
        from dask import config

        self.check(plan)
        self.keep(name, b"")
        with config.set(
            {"distributed.admin.large-graph-warning-threshold": "1 PB"}
        ):  # it is meant to be large
            made = self._client.submit(task, job, SentData(plan.inputs), name, key=name, pure=False)
        self._client.publish_dataset(made, name=name)

    def ask_back(self, name: str, seconds: float, given_up: Callable[[], bool]) -> Any:
        """Tell a task that was left to come to an end, and return what it returned; it stays until :meth:`let_go`.

        ``given_up`` is asked about every second. Raises ``KeyError`` when the cluster does not know the task, ``TimeoutError`` when it
        takes longer or was given up, and what the task raised.
        """
        left, end = self._client.get_dataset(name), time.monotonic() + seconds
        self._flag(name).set()
        while not left.done():
            if given_up() or time.monotonic() > end:
                raise TimeoutError
            with suppress(TimeoutError):
                left.result(timeout=1.0)
        return left.result()

    def is_called_back(self, name: str, seconds: float) -> bool:
        """Whether somebody has asked for a task that was left; waits for it up to so long. For the task itself."""
        return bool(self._flag(name).wait(timeout=seconds))

    def keep(self, name: str, content: bytes) -> None:
        """Keep with the scheduler what a task that was left has reached, in place of what is there."""
        self._reached(name).set(content)

    def kept(self, name: str) -> bytes:
        """What :meth:`keep` was given last; empty when nothing was. For a task that begins, maybe again as a worker died."""
        return bytes(self._reached(name).get())

    def let_go(self, name: str) -> None:
        """Forget a task that was left, and what it returned."""
        with suppress(Exception):  # a scheduler that is gone has forgotten it
            self._flag(name).clear()
            self._reached(name).delete()
            self._client.unpublish_dataset(name)

    def _flag(self, name: str) -> Any:
        """What is set once somebody wants a task back that was left."""
        from distributed import Event as Flag

        return Flag(f"{name}-back", client=self._client)

    def _reached(self, name: str) -> Any:
        from distributed import Variable

        return Variable(f"{name}-reached", client=self._client)


def _dumps(news: object) -> bytes:
    """News as one message, as dask itself sends what tasks return; larger than what queues take otherwise."""
    from distributed.protocol.pickle import dumps

    return bytes(dumps(news))


def _loads(message: bytes) -> Any:
    from distributed.protocol.pickle import loads

    return loads(message)


def _nobody(*_told: object) -> Event | None:
    """A worker that is lost is no failure: the chain goes on elsewhere."""
    return None


# -- this side -----------------------------------------------------------------------------------
class _Ear:
    """Listens to a queue of the scheduler in a thread of its own, without asking again and again."""

    def __init__(self, client: Any, name: str) -> None:
        from distributed import Queue

        self._queue = Queue(name, client=client)
        self.heard: SimpleQueue[Any] = SimpleQueue()
        self.since, self.deaf = time.monotonic(), False
        """When it heard something last, and whether it can hear no more."""
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            while (word := self._queue.get()) != _END:
                self.since = time.monotonic()
                if word != _ALIVE:
                    self.heard.put(word)
            self._queue.close()
        except Exception:  # the scheduler is gone
            self.deaf = True

    def close(self) -> None:
        """The thread ends; also where nobody speaks any more."""
        with suppress(Exception):
            self._queue.put(_END)


class _Line:
    """Our end of the line to one task: what :func:`follow` needs of a pipe and of a process."""

    exitcode = None

    def __init__(self, client: Any, name: str) -> None:
        from distributed import Queue

        self._ear, self._words = _Ear(client, f"{name}-news"), Queue(f"{name}-words", client=client)
        self.task: Any = None
        self.lost = False
        self._begun = False
        self._next: Any = None
        self._said = time.monotonic()

    def send(self, word: str) -> None:
        self._words.put(word)
        self._said = time.monotonic()

    def poll(self, seconds: float = 0.0) -> bool:
        """Whether there is news. Raises ``EOFError`` when the task, or its worker, is no more."""
        if time.monotonic() - self._said > ALIVE_SECONDS:
            self.send(_ALIVE)
        if self._next is not None:
            return True
        try:
            found = _loads(self._ear.heard.get(timeout=seconds))
        except Empty:
            if self._ear.deaf or self.task.status in ("error", "lost", "cancelled"):
                self._gone()
            return False
        if isinstance(found, _Begun):
            if self._begun:
                self._gone()
            self._begun = True
            return False
        self._next = found
        return True

    def recv(self) -> Any:
        found, self._next = self._next, None
        return found

    def _gone(self) -> None:
        self.lost = not self._ear.deaf
        raise EOFError

    def kill(self) -> None:
        """Give the task up; a step that does not end goes on for nobody."""
        with suppress(Exception):
            self.task.cancel(force=True)

    def join(self, timeout: float = 0.0) -> None:
        """There is no process here to wait for."""

    def close(self) -> None:
        """A task that has ended is forgotten, one that was begun anew elsewhere is given up."""
        if self.lost and self.task is not None:
            self.kill()
        self._ear.close()
        with suppress(Exception):
            self._words.put(_END)
            self._words.close()


class _ClusterExecutor:
    def __init__(self, cluster: Cluster, control: Control | None) -> None:
        self._cluster, self.control = cluster, control or Control()

    def start(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle:
        control = self.control
        self._cluster.check(plan)
        threads = [
            threading.Thread(target=self._cluster.run, args=(plan, record, control, notify), daemon=True)
            for record in records
        ]
        for thread in threads:
            thread.start()
        return ThreadsHandle(control, threads)

    def close(self) -> None:
        """Nothing: the workers are the cluster's."""


# -- the worker's side ---------------------------------------------------------------------------
def run_on_worker(job: ChainJob, data: SentData, name: str) -> None:
    """The task: one chain."""
    line = _WorkersLine(name)
    line.send(_Begun())
    run_job(line, replace(job, inputs=data.inputs))  # type: ignore[arg-type]


class _WorkersLine:
    """The worker's end. Raises ``OSError``, by which the chain ends, when nobody has been heard of for a long time."""

    def __init__(self, name: str) -> None:
        from distributed import Queue, get_client

        client = get_client()
        self._ear, self._news = _Ear(client, f"{name}-words"), Queue(f"{name}-news", client=client)
        self._next = ""

    def send(self, news: object) -> None:
        self._check()
        self._news.put(_dumps(news))

    def poll(self, seconds: float = 0.0) -> bool:
        self._check()
        if not self._next:
            with suppress(Empty):
                heard = self._ear.heard
                self._next = heard.get(timeout=seconds) if seconds else heard.get_nowait()
        return bool(self._next)

    def recv(self) -> str:
        word, self._next = self._next, ""
        return word

    def _check(self) -> None:
        if self._ear.deaf or time.monotonic() - self._ear.since > SILENT_SECONDS:
            raise OSError("the client is gone")
