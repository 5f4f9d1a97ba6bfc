"""Where the chains of a fit run: on this computer or on a cluster. The command line, Python and the window ask here."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from plaidwork.core.draws.chain import ChainRecord
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.cluster_link import TLS, local_size
from plaidwork.core.inference.events import Finished
from plaidwork.core.inference.execution import named_executor
from plaidwork.core.inference.executor import Control, Executor, Handle, Notify, ThreadsHandle
from plaidwork.core.inference.plan import FitPlan

if TYPE_CHECKING:
    from plaidwork.core.inference.cluster import Cluster

_LOOK_SECONDS = 0.1


@dataclass(frozen=True)
class Place:
    """An executor of this computer, or a cluster.

    Parameters
    ----------
    executor : name of an executor (``auto``, ``threads``, ``processes``, ``inline``) or one that was made; None means ``auto``.
    cluster : ``local:N`` or the address of a dask scheduler; empty means none.
    tls : certificates of a cluster at ``tls://…``.

    Raises
    ------
    SettingError : both are asked for. Threads are no choice, as job files of earlier versions name them where nobody chose.
    """

    executor: Executor | str | None = None
    cluster: str = ""
    tls: TLS | None = None

    def __post_init__(self) -> None:
        if not self.cluster:
            return
        if self.executor not in (None, "auto", "threads"):
            name = f" {self.executor}" if isinstance(self.executor, str) else ""
            raise SettingError(
                f"A cluster and the executor{name} exclude each other.", "Leave one of them out."
            )
        local_size(self.cluster)

    def connected(self) -> Cluster:
        """Its cluster, to be closed by the caller. Raises ``SettingError``."""
        from plaidwork.core.inference.cluster import Cluster

        return Cluster(self.cluster, self.tls)

    @contextmanager
    def executors(
        self, jobs: int = 0, told: Callable[[Cluster], object] | None = None
    ) -> Iterator[Callable[[Control], Executor]]:
        """What makes an executor for a fit; for a study of ``jobs`` at a time processes stay from fit to fit, and who does not choose gets
        threads: its fits fill the processors.

        ``told`` is called with a cluster once it is there. Raises ``SettingError`` for one that is not.
        """
        if self.cluster:
            with self.connected() as cluster:
                if told is not None:
                    told(cluster)
                yield cluster.executor
        elif self.executor == "processes" and jobs:
            from plaidwork.core.inference.process_pool import ProcessPool

            with ProcessPool(max(jobs, os.cpu_count() or 1)) as pool:
                yield pool.executor
        elif self.executor is None or isinstance(self.executor, str):
            name = self.executor or "auto"
            yield partial(named_executor, "threads" if jobs and name == "auto" else name)
        else:
            made = self.executor  # it has a control of its own, which its maker holds
            yield lambda control: made


class Clusters:
    """Clusters that stay open from fit to fit, for a program that must not wait; a fit opens one in its own thread.

    One that is no longer kept ends with the last fit on it.
    """

    def __init__(self) -> None:
        self._lock, self._opening = threading.Lock(), threading.Lock()
        self._open: dict[Place, Cluster] = {}
        self._users: dict[Place, int] = {}
        self._kept: Place | None = None

    def executor(self, place: Place, control: Control | None = None) -> Executor:
        """An executor that opens the cluster when its first chain starts; connecting ends at a stop."""
        return _OpeningExecutor(self, place, control or Control())

    def keep(self, place: Place | None) -> None:
        """The one that stays open while no fit uses it; None: none does. Others close, in the background."""
        self._kept = place
        threading.Thread(target=self._tidy, daemon=True).start()

    def close(self) -> None:
        """At the end of the program: all are closed, used or not."""
        with self._lock:
            gone, self._open, self._kept = list(self._open.values()), {}, None
        for cluster in gone:
            cluster.close()

    def take(self, place: Place) -> Cluster:
        """The cluster of a place, opened when it is not open or has gone. Raises ``SettingError``."""
        with self._opening:
            with self._lock:
                found = self._open.get(place)
            if found is None or not found.alive:
                if found is not None:
                    found.close()
                found = place.connected()
                with self._lock:
                    self._open[place] = found
            return found

    @contextmanager
    def using(self, place: Place) -> Iterator[Cluster]:
        """The cluster of a place, which stays open within. Raises ``SettingError``."""
        self.count(place, 1)
        try:
            yield self.take(place)
        finally:
            self.count(place, -1)

    def reached(self, place: Place, stopping: Callable[[], bool]) -> Cluster | None:
        """The cluster of a place; None when a stop was asked for first: connecting then ends in the background.

        Raises ``SettingError`` when it is not there.
        """
        found: list[Cluster] = []
        wrong: list[BaseException] = []

        def take() -> None:
            try:
                found.append(self.take(place))
            except Exception as error:
                wrong.append(error)

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        while thread.is_alive() and not stopping():
            thread.join(_LOOK_SECONDS)
        if stopping():
            return None
        if wrong:
            raise wrong[0]
        return found[0]

    def count(self, place: Place, more: int) -> None:
        """A fit begins to use a place (1), or has ended (-1)."""
        with self._lock:
            self._users[place] = self._users.get(place, 0) + more
        if more < 0:
            threading.Thread(target=self._tidy, daemon=True).start()

    def _tidy(self) -> None:
        with self._opening, self._lock:
            idle = [p for p in self._open if p != self._kept and not self._users.get(p)]
            gone = [self._open.pop(place) for place in idle]
        for cluster in gone:
            cluster.close()


class _OpeningExecutor:
    def __init__(self, clusters: Clusters, place: Place, control: Control) -> None:
        self._clusters, self._place = clusters, place
        self.control = control
        self._uses = False

    def start(self, plan: FitPlan, records: list[ChainRecord], notify: Notify) -> Handle:
        """Raises ``SettingError`` when the cluster is not there, or has other versions."""
        if not self._uses:
            self._uses = True
            self._clusters.count(self._place, 1)
        cluster = self._clusters.reached(self._place, lambda: self.control.stopping)
        if cluster is None:
            for record in records:
                notify(Finished(record.chain, "stopped", record.sweep))
            return ThreadsHandle(self.control, [])
        return cluster.executor(self.control).start(plan, records, notify)

    def close(self) -> None:
        if self._uses:
            self._uses = False
            self._clusters.count(self._place, -1)
