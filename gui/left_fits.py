"""Fits that stay on a cluster when a session is closed, and come back when it is opened again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from plaidwork.core.draws.counting import counted
from plaidwork.core.inference.cluster_link import local_size
from plaidwork.core.inference.run import Run
from plaidwork.core.session import left_fits
from plaidwork.core.session.left_fits import LeftFit
from plaidwork.gui.task_dialog import error_text
from plaidwork.gui.tasks import Task, run_task
from plaidwork.gui.widgets import Message
from plaidwork.gui.widgets.message_bar import Action

if TYPE_CHECKING:
    from plaidwork.gui.workbench import Workbench


class LeftFits:
    """Those of the session of a workbench."""

    def __init__(self, workbench: Workbench) -> None:
        self._workbench = workbench
        self._away: dict[str, LeftFit] = {}
        """By id of a run: those that have not come back."""
        self._asked: dict[str, Task] = {}
        self._back: list[LeftFit] = []
        """Those that came back and are not in the file of the session yet."""
        workbench.saved.connect(self._let_go)

    # -- leaving ----------------------------------------------------------------------------------
    def can_stay(self) -> list[Run]:
        """Runs under way on a cluster that does not end with this program."""
        places = self._workbench.places
        where = [(run, places.where(run)) for run in self._workbench.active_runs()]
        return [run for run, address in where if address and not local_size(address)]

    def leave(self, runs: Sequence[Run], done: Callable[[], object]) -> Task:
        """Hand runs that have been stopped, and saved, over to their clusters; a message tells what cannot be."""
        workbench, places = self._workbench, self._workbench.places
        given = [(run, workbench.plan(run), places.place(run)) for run in runs if run.resumable]

        def work(task: Task) -> None:
            for run, plan, place in given:
                if plan is not None and place is not None:
                    with places.clusters.using(place) as cluster:
                        left_fits.leave(run, plan, place, cluster)

        failed = workbench.faults.report(f"{counted(len(given), 'fit')} could not be left on the cluster")
        return run_task(work, lambda _: done(), failed, minutes=True)

    # -- coming back ------------------------------------------------------------------------------
    def holds(self, run: Run) -> bool:
        """Whether a run goes on elsewhere, as far as is known here."""
        return run.id in self._away

    def look(self) -> None:
        """Another session is open: ask for what was left of it."""
        self.stop_asking()
        self._back.clear()
        known = left_fits.left_fits()
        runs = self._workbench.session.runs
        self._away = {run: fit for run, fit in known.items() if run in runs}
        for run in self._away:
            self.ask_back(runs[run])

    def stop_asking(self) -> None:
        """Nobody waits for an answer any more; what was asked for stays where it is."""
        for task in self._asked.values():
            task.cancel()
        self._asked.clear()

    def ask_back(self, run: Run) -> None:
        """Ask in the background for what a fit has kept; it goes on here, on the same cluster, when it has not ended."""
        fit, workbench = self._away[run.id], self._workbench
        if run.id in self._asked:
            return
        self._post(
            "info", run, f"{run.title} was left on the cluster {fit.cluster}", "It is being asked for."
        )

        def work(task: Task) -> Run:
            with workbench.places.clusters.using(fit.place) as cluster:
                return left_fits.fetched(fit, run, cluster, lambda: task.cancelled)

        came, failed = partial(self._came, fit, run), partial(self._failed, fit, run)
        self._asked[run.id] = run_task(work, came, failed, minutes=True)

    def _came(self, fit: LeftFit, run: Run, came: Run) -> None:
        workbench = self._workbench
        self._asked.pop(run.id, None)
        self._away.pop(run.id, None)
        self._back.append(fit)
        more = left_fits.adopt(run, came)
        if more < 0:
            text = "The session has later draws of it than the cluster."
            self._post("info", run, f"{run.title} had come back from the cluster {fit.cluster}", text)
            return
        workbench.touch()
        if run.resumable:
            text = f"It has made {counted(more, 'further sweep')} and goes on there."
        else:
            text = f"It has made {counted(more, 'further sweep')} and ended."
        self._post("ok", run, f"{run.title} is back from the cluster {fit.cluster}", text)
        workbench.run_changed.emit(run.id)
        if run.resumable:
            workbench.resume(run, place=fit.place)
        else:
            workbench.conclude(run)

    def _failed(self, fit: LeftFit, run: Run, error: BaseException, details: str) -> None:
        self._asked.pop(run.id, None)
        actions = [
            ("Ask again", partial(self.ask_back, run)),
            ("Give it up", partial(self._forget, run)),
        ]
        title = f"{run.title} has not come back from the cluster {fit.cluster}"
        self._post("warn", run, title, error_text(error), actions)

    def _forget(self, run: Run) -> None:
        """It can be resumed from where it was left."""
        self._away.pop(run.id, None)
        left_fits.forget(run.id)
        self._workbench.run_changed.emit(run.id)

    def _let_go(self, _path: str) -> None:
        """What came back is in a file now: the cluster need not keep it."""
        back, self._back = self._back, []
        clusters = self._workbench.places.clusters

        def work(task: Task) -> None:
            for fit in back:
                left_fits.forget(fit.run)
                with clusters.using(fit.place) as cluster:
                    cluster.let_go(fit.name)

        if back:
            run_task(
                work, failed=lambda error, details: None, minutes=True
            )  # a cluster that is gone keeps nothing

    def _post(
        self,
        kind: str,
        run: Run,
        title: str,
        text: str,
        actions: Sequence[Action] = (),
    ) -> None:
        self._workbench.message_posted.emit(Message(kind, title, text, list(actions), key="left " + run.id))
