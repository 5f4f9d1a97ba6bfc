"""The time that the chains of a run have taken, and how far the budget of a goal goes."""

from __future__ import annotations

import time

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.inference.executor import Control
from plaidwork.core.inference.run import Run
from plaidwork.core.inference.settling import LONGEST


class TimeTaken:
    """How long the chains of a run have been under way in one job, pauses left out. Times are in seconds."""

    def __init__(self, run: Run, control: Control) -> None:
        self._run, self._control = run, control
        self._begun: float | None = None
        self._given_up = 0.0
        self._sweeps_before = run.sweeps_done

    def begin(self) -> None:
        """A chain begins to sweep: from the first on time counts."""
        if self._begun is None:
            self._begun = time.monotonic()

    def begin_again(self) -> None:
        """All sweeps were given up. The time they took is gone, and says nothing of those to come."""
        self._given_up, self._sweeps_before = self.spent, 0

    @property
    def spent(self) -> float:
        """All of it."""
        return 0.0 if self._begun is None else time.monotonic() - self._begun - self._control.paused_seconds

    @property
    def sweeps(self) -> int:
        """Sweeps of all chains, those given up left out."""
        return self._run.sweeps_done - self._sweeps_before

    def room_for(self, schedule: Schedule, goal: Schedule) -> float:
        """How many times the sweeps of a schedule the goal's budget has time for."""
        to_do = schedule.sweeps(self._run.spec.algorithm) * len(self._run.chains) - self._run.sweeps_done
        seconds = (self.spent - self._given_up) * (1 + to_do / max(1, self.sweeps))
        return (goal.budget - self._given_up) / seconds if seconds else LONGEST
