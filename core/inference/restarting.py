"""More restarts of a variational model while only one has reached the best objective.

A single best restart says that a better solution may exist. Restarts of small data take a second, so more of them are made, some at a time,
until two have reached the best, the schedule's ``most_chains`` are there, or the time is over. Which restarts there are depends on
what they reached, but for the time; restart by restart the numbers are those of a fit that was asked for so many.
"""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.diagnostics import Diagnosis

SECONDS = 30.0
"""By the clock, after which no restart is added."""
_AT_ONCE = 2


def more_restarts(now: Schedule, found: Diagnosis, spent: float) -> Schedule | None:
    """The schedule with some more restarts than ``now``; None where no more are wanted.

    ``spent`` are the seconds that the restarts so far took by the clock.
    """
    alone = now.chains > 1 and "more_chains" in found.verdict.actions
    more = min(now.chains + _AT_ONCE, now.most_chains)
    if not alone or more <= now.chains or spent * more / now.chains > SECONDS:
        return None
    return replace(now, chains=more)


def told(now: Schedule, later: Schedule) -> str:
    """Why there are more restarts, as a sentence."""
    return f"1 of {counted(now.chains, 'restart')} has reached the best objective so far, so {later.chains - now.chains} more are made."
