"""Fits that a command leaves on a cluster, and that ``resume`` brings back."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plaidwork.core.cli.printing import tell
from plaidwork.core.cli.progress import emit
from plaidwork.core.cli.running import Executors, executors
from plaidwork.core.cli.saving import held, save
from plaidwork.core.draws.counting import counted
from plaidwork.core.errors import SessionError
from plaidwork.core.inference.plan import FitPlan
from plaidwork.core.inference.run import Run
from plaidwork.core.session.left_fits import LeftFit, adopt, fetched, forget, leave, left_fits
from plaidwork.core.session.session import Session

if TYPE_CHECKING:
    from plaidwork.core.inference.cluster import Cluster


def leave_and_save(session: Session, run: Run, plan: FitPlan, out: Path, runs: Executors) -> int:
    """Hand a run over to the cluster that was asked for, and write its session; the exit code."""
    with held(out), runs.place.connected() as cluster:
        save(session, out)  # nothing is left that no file knows
        fit = leave(run, plan, runs.place, cluster)
        saved = save(session, out)
    text = f"{run.title} goes on at {fit.cluster}. Bring it back with: plaidwork resume {saved}"
    if runs.quiet:
        emit("left", path=str(saved.absolute()), cluster=fit.cluster)
    else:
        tell(text)
    return 0


@contextmanager
def back(session: Session, run: Run, options: argparse.Namespace) -> Iterator[Executors]:
    """Who goes on with a run. One that was left on a cluster is fetched first, and goes on there unless somebody asks for another place;
    the cluster keeps it until the session has been written. Raises ``SettingError``, ``SessionError``.
    """
    asked = executors(options)
    if options.abandon:
        forget(run.id)
    fit = left_fits().get(run.id)
    if fit is None:
        yield asked
        return
    elsewhere = options.cluster or options.executor not in (None, "auto", "threads")
    with fit.place.connected() as cluster:
        more = max(0, adopt(run, _fetched(fit, run, cluster)))
        if asked.quiet:
            emit("back", cluster=fit.cluster, sweeps=more)
        else:
            tell(f"Back from {fit.cluster}, with {counted(more, 'further sweep')}")
        yield asked if elsewhere else Executors(fit.place, asked.quiet)
        if not asked.leave:
            forget(run.id)
        cluster.let_go(fit.name)


def _fetched(fit: LeftFit, run: Run, cluster: Cluster) -> Run:
    try:
        return fetched(fit, run, cluster)
    except SessionError as error:  # it will never answer
        raise SessionError(error.message, f"{error.hint} To do so, add --abandon.") from error
