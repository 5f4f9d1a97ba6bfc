"""Where the chains of the window's fits run: in threads or processes of this computer, or on a cluster that was chosen."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from plaidwork.core.contract.model import Model
from plaidwork.core.errors import SettingError
from plaidwork.core.inference.cluster_link import TLS, installed, local_size
from plaidwork.core.inference.execution import Progress
from plaidwork.core.inference.executor import Executor, InlineExecutor, ThreadExecutor
from plaidwork.core.inference.place import Clusters, Place
from plaidwork.core.inference.process_pool import ProcessPool
from plaidwork.core.inference.run import Run
from plaidwork.core.study.running import MakeExecutor
from plaidwork.gui.priority import PRIORITY, courteous

if TYPE_CHECKING:
    from plaidwork.gui.settings import Settings

PROCESSES = max(4, os.cpu_count() or 1)
"""Processes for chains that stay in the window's pool."""
_NICE = 5
_USED, _FIELDS = "cluster/used", ("address", "ca", "cert", "key")


def chain_pool() -> ProcessPool:
    """Processes for the chains of the window's fits: the window keeps its interpreter lock, and goes first.

    Several fits at a time have room, as they have as threads.
    """
    return ProcessPool(3 * PROCESSES, nice=_NICE, keep=PROCESSES, here=PRIORITY.wait)


class RunPlaces(QObject):
    """The place of the next fit, kept in the settings, and the places of those that were started.

    Parameters
    ----------
    settings : where the choice is kept; without them it is forgotten with the program
    pool : where chains of this computer run; in threads without one

    Signals
    -------
    changed : fits will run somewhere else
    """

    changed = Signal()

    def __init__(self, settings: Settings | None = None, pool: ProcessPool | None = None) -> None:
        super().__init__()
        self._settings, self._pool = settings, pool
        self.available = installed()
        """Whether there can be clusters at all."""
        self.clusters = Clusters()
        self._runs: dict[str, Place] = {}
        self.cluster: Place | None = None
        """The cluster that was described last, used or not."""
        self._used = False
        if settings is not None:
            self._read(settings)

    def _read(self, settings: Settings) -> None:
        address, ca, cert, key = (settings.text(f"cluster/{name}") for name in _FIELDS)
        if address:
            try:
                self.cluster = Place(cluster=address, tls=TLS(ca, cert, key) if ca or cert or key else None)
            except SettingError:
                return  # edited by hand, or damaged: as if none had been described
            self._used = settings.flag(_USED)
            self.clusters.keep(self.chosen)

    # -- the choice -----------------------------------------------------------------------------
    @property
    def chosen(self) -> Place | None:
        """The cluster on which the next fit runs; None: it runs on this computer."""
        return self.cluster if self._used and self.available else None

    def describe(self, cluster: Place) -> None:
        """Another cluster is the one to run on, from now on."""
        self.cluster = cluster
        self.use_cluster(True)

    def use_cluster(self, used: bool) -> None:
        """Run on the cluster that was described, or on this computer."""
        self._used = used and self.cluster is not None
        self.clusters.keep(self.chosen)
        if self._settings is not None:
            place = self.cluster or Place()
            tls = place.tls or TLS()
            for name, value in zip(_FIELDS, (place.cluster, tls.ca, tls.cert, tls.key), strict=True):
                self._settings.set(f"cluster/{name}", value)
            self._settings.set(_USED, self._used)
        self.changed.emit()

    # -- fits -----------------------------------------------------------------------------------
    def executor(self, run: Run, place: Place | None = None) -> tuple[Executor, Progress | None]:
        """Who runs the chains of a fit that begins now, at a place or where fits are to run, and what they call between two steps."""
        place = place or self.chosen
        self._runs.pop(run.id, None)
        if place is not None:
            self._runs[run.id] = place
            run.say(f"Runs on the cluster {place.cluster}")
            return self.clusters.executor(place), None
        if self._pool is None:
            return ThreadExecutor(), courteous
        return self._pool.executor(), None  # processes need not wait for the window

    def for_search(self) -> tuple[Place | None, MakeExecutor, Progress | None]:
        """The cluster on which the fits of a search that begins now run (None: this computer), who runs each, and what is called
        between two steps."""
        place = self.chosen
        if place is None:
            return None, InlineExecutor, courteous  # a fit is one thread of the search
        return place, partial(self.clusters.executor, place), None

    def fits_at_once(self) -> int:
        """How many fits of a search run at a time unless somebody says otherwise: twice as many as a local cluster has workers, so
        that none waits for the next fit to be sent; as many as there are processors elsewhere."""
        here, place = os.cpu_count() or 1, self.chosen
        return here if place is None else max(here, 2 * (local_size(place.cluster) or here))

    def where(self, run: Run) -> str:
        """Address of the cluster on which a run was last started here; empty for this computer."""
        place = self.place(run)
        return "" if place is None else place.cluster

    def place(self, run: Run) -> Place | None:
        """The cluster itself; None for this computer."""
        return self._runs.get(run.id)

    def expect(self, model: Model, chains: int) -> None:
        """A fit may be started soon: start its processes and load the kernels, in the background."""
        if self._pool is not None and self.chosen is None:
            given = (type(model), min(chains, PROCESSES))
            threading.Thread(target=self._pool.warm, args=given, daemon=True).start()

    def close(self) -> None:
        """At the end of the program."""
        self.clusters.close()
        if self._pool is not None:
            self._pool.close()
