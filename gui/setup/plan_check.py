"""The check of a set-up: its plan and what it costs, worked out in the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from plaidwork.core.contract.model import Model
from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.plan import FitPlan
from plaidwork.gui.setup.cost import Planned, planned
from plaidwork.gui.tasks import Task, run_task


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """All that a set-up says: model, data and numbers of their rows by input, settings, schedule."""

    model_id: str
    datasets: Mapping[str, Sequence[Dataset]]
    subsets: Mapping[str, int]
    params: Mapping[str, Any]
    schedule: Schedule
    seed: int
    holdout: float

    def same_as(self, other: Asked) -> bool:
        """Whether it says the same, of the very same data."""
        return self._words == other._words

    @property
    def _words(self) -> tuple[Any, ...]:
        data = tuple((key, tuple(id(d) for d in ds)) for key, ds in self.datasets.items())
        how = repr((dict(self.params), self.schedule, self.seed, self.holdout))
        return self.model_id, data, dict(self.subsets), how


class PlanCheck(QObject):
    """Checks data and settings together; only the last check is answered, and its plan is kept.

    Signals
    -------
    found : what was asked (``Asked``), and its plan with what that costs (``Planned``)
    failed : the error, and its details
    """

    found = Signal(object, object)
    failed = Signal(object, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._task: Task | None = None
        self._ready: tuple[Asked, FitPlan] | None = None

    @property
    def ready(self) -> bool:
        """Whether there is a plan."""
        return self._ready is not None

    def plan_for(self, asked: Asked) -> FitPlan | None:
        """The plan of this set-up when it has been checked."""
        return self._ready[1] if self._ready is not None and self._ready[0].same_as(asked) else None

    def forget(self) -> None:
        """Another model, or other data: the plan is no longer right."""
        self._ready = None

    def cancel(self) -> None:
        """Answer the check under way no more."""
        if self._task is not None:
            self._task.cancel()

    def begin(self, model: Model, asked: Asked, taken: Mapping[str, Dataset]) -> None:
        """Check a set-up in the background; ``taken`` are the data of the session."""
        session = dict(taken)

        def work(task: Task) -> Planned:
            return planned(
                task,
                model,
                asked.datasets,
                asked.subsets,
                session,
                params=asked.params,
                schedule=asked.schedule,
                seed=asked.seed,
                holdout=asked.holdout,
            )

        def done(found: Planned) -> None:
            if isValid(self):  # the fit may be started, or the page closed, while this is worked out
                self._ready = (asked, found[0])
                self.found.emit(asked, found)

        def failed(error: BaseException, details: str) -> None:
            if isValid(self):
                self.failed.emit(error, details)

        self._task = run_task(work, done, failed)
