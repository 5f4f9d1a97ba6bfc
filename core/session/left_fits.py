"""Fits that were left on a cluster: they go on there while nobody is connected, and are found again from here.

The run goes to a worker as a small session, its data as those of any fit. There it goes on as a resumed run does, its chains on the
workers, to its own end; what it has kept comes back the same way, at the end or when somebody asks before. Which fits were left where
is kept beside the settings of this computer, never in a session: a file of a stranger names no cluster.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from plaidwork.core.config import config_folder, read_record, write_record
from plaidwork.core.contract.model import Model
from plaidwork.core.contract.plugin_info import PluginInfo, owner_of, set_owner
from plaidwork.core.errors import SessionError, SettingError
from plaidwork.core.inference.cluster_link import TLS, local_size
from plaidwork.core.inference.execution import FitJob
from plaidwork.core.inference.place import Place
from plaidwork.core.inference.plan import FitPlan, make_plan
from plaidwork.core.inference.run import Run, now
from plaidwork.core.session.actions import FIT_ENDED
from plaidwork.core.session.session import Session

if TYPE_CHECKING:
    from plaidwork.core.inference.cluster import Cluster, SentData

ANSWER_SECONDS = 90.0
"""How long a fit that was left may take to stop and to send what it kept."""
KEEP_SECONDS = 30.0
"""How often a fit that was left gives the scheduler what it has, so that the death of the worker that leads it costs no more."""
MOST_KEPT = 1 << 28
"""Bytes of what is given to the scheduler at most; of a larger run it keeps what was left."""
_LISTEN_SECONDS = 5.0
_FILE = "left_fits.json"


@dataclass(frozen=True)
class LeftFit:
    """A fit that was left: id of its run, its title, where it is, its name there, and since when (UTC)."""

    run: str
    title: str
    cluster: str
    name: str
    time: str
    ca: str = ""
    cert: str = ""
    key: str = ""

    @property
    def place(self) -> Place:
        """Where it runs. Raises ``SettingError`` when the record was damaged."""
        return Place(cluster=self.cluster, tls=TLS(self.ca, self.cert, self.key) if self.ca else None)


@dataclass(frozen=True)
class _LeftJob:
    """A run as plain data; its data are sent beside it."""

    model: type[Model]
    params: Mapping[str, Any]
    session: bytes
    plugin: tuple[str, str, str, str]
    keep_seconds: float


# -- what was left from this computer ---------------------------------------------------------------
def left_fits() -> dict[str, LeftFit]:
    """The fits that were left from this computer and have not been taken back, by id of the run."""
    found = {}
    for run, entry in read_record(config_folder() / _FILE).items():
        try:
            fit = LeftFit(**entry)
        except TypeError:  # written by another version, or damaged
            continue
        if all(isinstance(value, str) for value in asdict(fit).values()) and fit.run == run:
            found[run] = fit
    return found


def forget(run_id: str) -> None:
    """Think no more of a fit that was left; it goes on to its end where it is."""
    _keep({run: fit for run, fit in left_fits().items() if run != run_id})


def _keep(fits: Mapping[str, LeftFit]) -> None:
    write_record(config_folder() / _FILE, {run: asdict(fit) for run, fit in fits.items()})


# -- leaving and taking back ------------------------------------------------------------------------
def leave(run: Run, plan: FitPlan, place: Place, cluster: Cluster) -> LeftFit:
    """Let a run that is stopped, or has not begun, go on at a cluster by itself; ``cluster`` is that of ``place``.

    The session has to be saved with it: what comes back is taken into that run. Raises ``SettingError`` for a cluster that ends with
    this program or has other versions, ``OSError`` when it cannot be reached.
    """
    if local_size(place.cluster):
        raise SettingError(
            f"The cluster {place.cluster} ends with this program, so that no fit can be left on it.",
            "Start a scheduler and workers of their own: docs/scale.md says how.",
        )
    tls, info = place.tls or TLS(), owner_of(plan.model)
    name = f"plaidwork-left-{run.id}-{uuid4().hex}"
    fit = LeftFit(run.id, run.title, place.cluster, name, now(), tls.ca, tls.cert, tls.key)
    line = run.say(f"Left on the cluster {place.cluster}, where it goes on")
    plugin = (info.name, info.module, info.source, info.version)
    try:
        job = _LeftJob(type(plan.model), plan.params, _packed(run), plugin, KEEP_SECONDS)
        cluster.leave(name, go_on_alone, job, plan)
    except BaseException:
        run.log.remove(line)
        raise
    _keep({**left_fits(), run.id: fit})
    return fit


def fetched(fit: LeftFit, run: Run, cluster: Cluster, given_up: Callable[[], bool] = lambda: False) -> Run:
    """What a fit that was left has kept by now, as a run to be given to :func:`adopt`; it does not go on there.

    ``given_up`` is asked about every second whether nobody waits any more. Raises ``SessionError`` when the fit is lost or does not
    belong to ``run``, ``SettingError`` when it does not answer.
    """
    try:
        found = cluster.ask_back(fit.name, ANSWER_SECONDS, given_up)
    except KeyError:
        raise SessionError(
            f"The cluster {fit.cluster} does not know {fit.title} any more.",
            "Its scheduler was started anew, or somebody took the fit back. It can go on from where it was left.",
        ) from None
    except TimeoutError:
        raise SettingError(
            f"{fit.title} has not answered from {fit.cluster}.",
            "It may wait for a free worker there, or be within a long step. Ask again later.",
        ) from None
    except Exception as error:
        raise SessionError(
            f"{fit.title} has failed on {fit.cluster}: {error}", "It can go on from where it was left."
        ) from error
    came = _unpacked(found)
    if (came.id, came.data_hash, came.spec.id) != (run.id, run.data_hash, run.spec.id):
        raise SessionError(f"What came from {fit.cluster} is not {run.title}.")
    return came


def adopt(run: Run, came: Run) -> int:
    """Take what a fit has kept elsewhere into its run; how many sweeps that is more. Quick; the caller makes the results anew.

    Below 0 nothing is taken: the fit had come back before, and went on.
    """
    more = came.sweeps_done - run.sweeps_done
    if more < 0:
        return more
    for name in ("chains", "schedule", "goal", "status", "environment", "foreign"):
        setattr(run, name, getattr(came, name))
    run.log[:] = came.log
    run.results, run.results_draws = {}, 0
    if run.session is not None and not run.resumable:
        run.session.note(FIT_ENDED, run=run.id, title=run.title, status=run.status, draws=run.n_draws)
    return more


# -- on a worker ------------------------------------------------------------------------------------
def go_on_alone(job: _LeftJob, data: SentData, name: str) -> bytes:
    """The task: the run goes on to its end, or until it is asked back; a session with it.

    Where another worker has begun with it and died, it goes on from what that one has given to the scheduler last.
    """
    from plaidwork.core.inference.cluster import Cluster

    set_owner(job.model, PluginInfo(*job.plugin, state="ok"))
    cluster, over = Cluster.around(), threading.Event()
    reached = cluster.kept(name)
    run = _unpacked(reached or job.session)
    if reached:
        run.say(f"Another worker goes on from sweep {run.sweeps_done}, as the one before has died", "warning")
    plan = make_plan(
        job.model(), data.inputs, job.params, schedule=run.schedule, seed=run.seed, holdout=run.holdout, turn=False
    )  # fmt: skip
    fit = FitJob(run, plan, cluster.executor())

    def keep(content: bytes) -> None:
        """Nothing depends on it as long as this worker lives, so that no failure may end the fit, or make it deaf."""
        try:
            if len(content) <= MOST_KEPT:
                cluster.keep(name, content)
        except Exception as error:
            run.say(f"The cluster could not keep what was reached: {error}", "warning")

    def listen() -> None:
        wait = job.keep_seconds
        due = time.monotonic() + wait
        while not over.is_set():
            if cluster.is_called_back(name, min(wait, _LISTEN_SECONDS)):
                fit.stop()
                return
            if time.monotonic() > due and not over.is_set():
                began = time.monotonic()
                try:
                    keep(_packed(run))
                except Exception as error:  # a full disk; it is tried again
                    run.say(f"What was reached could not be packed for the cluster: {error}", "warning")
                due = time.monotonic() + max(wait, 20 * (time.monotonic() - began))

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        for _event in fit:
            pass
    finally:
        over.set()
        listener.join()  # what it gives last is not to come after the end
    content = _packed(run)
    keep(content)
    return content


# -- a run on its way -------------------------------------------------------------------------------
def _packed(run: Run) -> bytes:
    """A session with a run alone: its states, traces and draws."""
    from plaidwork.core.session.store.session_saving import write

    session = Session(name=run.title)
    session.runs[run.id] = replace(run, results={}, results_draws=0, analyses=[], view_settings={})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.plaidwork")
        write(session, path, backup=False)
        return path.read_bytes()


def _unpacked(content: bytes) -> Run:
    """The run, checked as that of any session file. Raises ``SessionError``."""
    from plaidwork.core.session.store.session_file import load

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.plaidwork")
        path.write_bytes(content)
        (run,) = load(path, Session, any_size=True, probed=True).runs.values()  # all of it is read
    return run
