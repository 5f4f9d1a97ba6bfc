"""More restarts of a variational model: a dozen and more where they are quick, and while only one has reached the best objective.

That two restarts end at one bound says little: a basin that every sixth restart finds is missed by two restarts in two
of three fits. So the restarts of small data, which take a second, are doubled until there are ``ENOUGH``. A single best restart then says
that a better solution may exist: some more are made at a time, until two have reached the best, the
schedule's ``most_chains`` are there, or the time is over. Which restarts there are depends on
what they reached, but for the time; restart by restart the numbers are those of a fit that was asked for so many.
"""

from __future__ import annotations

from dataclasses import replace

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.diagnostics import Diagnosis

SECONDS, ALONE_SECONDS = 30.0, 60.0
"""By the clock, in which all restarts end that are made because they are quick, and those that are made while one alone is best."""
ENOUGH = 16
"""Restarts of which at least one finds what every sixth finds, in 19 of 20 fits."""
_AT_ONCE = 2


def more_restarts(now: Schedule, found: Diagnosis, spent: float) -> tuple[Schedule, str] | None:
    """The schedule with some more restarts than ``now``, and why there are more, as a sentence; None where no more are wanted.

    ``spent`` are the seconds that the restarts so far took by the clock.
    """
    alone = "more_chains" in found.verdict.actions
    if now.chains < 2 or not (alone or found.verdict.settled):
        return None
    wanted = min(2 * now.chains, ENOUGH) if now.chains < ENOUGH else now.chains + _AT_ONCE * alone
    wanted = min(wanted, now.most_chains)
    more, room = wanted - now.chains, ALONE_SECONDS if alone else SECONDS
    if more <= 0 or spent * wanted / now.chains > room:
        return None
    why = (
        f"1 of {counted(now.chains, 'restart')} has reached the best objective so far, so {more} more are made."
        if alone
        else f"Restarts of this model are quick, so {more} more look for a better solution."
    )
    return replace(now, chains=wanted), why
