"""Chains that go on until they have settled: when to look, what to leave out, and how far it is.

A run with a goal makes the draws of its schedule, or as many as the budget has time for (``first``, ``within``), and looks: has it settled, by the verdict that all that is shown of it
repeats (``Run.diagnosis``)? When not, it makes a third more draws, and so on, the last of them as many as the budget has time for (``cut``). While some R-hat is above its mark, and the largest
is lower without them, the first half of all draws counts as warm-up and is let go (Gelman and Rubin 1992, Statistical Science
7, 457-472): a chain that began far away comes to rest so, however long that takes. Chains that are only slow keep all: half
of their draws agree less than all do. Few effective draws alone let nothing go. When more draws would be kept than have
room, every second one is let go. Where the warm-up alone would outlast the budget all chains begin again, once and early, with
one that takes half of it (``shorter_warmup``).

All of it depends on the draws alone, so that it is the same on every executor and whenever the run was stopped in between;
but for the budget of time, which a run says when it has ended by it. What was decided is a fixed schedule that gives the
same draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.draws.counting import counted
from plaidwork.core.draws.diagnostics import ESS_MARKS, RHAT_MARKS, Diagnosis
from plaidwork.core.draws.numbers import format_count

LONGEST = 50
"""Times the sweeps asked for, after the warm-up, at which a run ends that has not settled."""
FEWEST_DRAWS = 50
"""Draws per chain from which on it is estimated how long it will take."""
_FIRST = 8
"""The part of the draws asked for, as 1 / this, after which it is known how long a sweep takes."""
_ROOM = 4000
"""Draws of all chains that are kept in any case: ten times as many as the effective ones wanted."""


def settled(found: Diagnosis) -> bool:
    """Whether a run has come to its goal: its verdict; of one chain, which no verdict trusts, the effective draws."""
    return found.verdict.settled or (found.n_chains == 1 and bool(found.judged) and not found.unsettled)


_SEEN = 1 / 8
"""The part of the budget after which it is seen how long the warm-up takes; half of what it is estimated to take counts then, all of it after twice as
long: first sweeps take longer than later ones."""
_FEWEST_SWEEPS = 10
"""Sweeps that a warm-up has left in any case, and as many draws come after it."""


def shorter_warmup(now: Schedule, goal: Schedule, spent: float, done: int, left: int) -> Schedule | None:
    """The schedule with which the chains begin again, where their warm-up would outlast the budget; None where they go on.

    ``spent`` seconds went by for ``done`` sweeps of all chains, and ``left`` are left to do of their warm-ups.
    """
    if not (done and _SEEN * goal.budget <= spent <= goal.budget / 2):
        return None
    to_come = left * spent / done
    if to_come * min(1.0, spent / (2 * _SEEN * goal.budget)) <= goal.budget:
        return None
    half = int((goal.budget - spent) / 2 * done / spent / goal.chains)
    warmup = max(_FEWEST_SWEEPS, half)
    if warmup >= now.warmup:
        return None
    draws = min(first(goal).draws, max(_FEWEST_SWEEPS, half // goal.thin))
    return replace(goal, budget=0.0, warmup=warmup, draws=draws)


def first(goal: Schedule) -> Schedule:
    """The schedule up to where it is seen whether the budget has time for all draws asked for."""
    return replace(goal, budget=0.0, draws=min(goal.draws, max(FEWEST_DRAWS, -(-goal.draws // _FIRST))))


def within(now: Schedule, goal: Schedule, share: float) -> Schedule | None:
    """On the way to the draws asked for: the schedule that the budget has time for, None where the way ends.

    ``share`` is how many times the sweeps of ``now`` the budget has time for.
    """
    sweeps = int(share * now.sweeps("mcmc"))
    draws = min(goal.draws, (sweeps - now.warmup - now.burn_in) // now.thin)
    return replace(now, draws=draws) if draws > now.draws * 1.1 else None


def on_the_way(now: Schedule, goal: Schedule) -> bool:
    """Whether the draws asked for have not been made yet."""
    return _made(now) < _made(goal)


def longer(
    now: Schedule, goal: Schedule, found: Diagnosis, later: Callable[[int], Diagnosis]
) -> Schedule | None:
    """The schedule up to the next look, when a look at all draws of ``now`` was not enough; None at the last.

    ``later`` judges the draws of each chain from one of that number on.
    """
    if _at_last(now, goal, found):
        return None
    made, burn_in, thin = _made(now), now.burn_in, now.thin
    early = max(0, made // 2 - burn_in) // thin
    if early and _apart(found) and not _worst(later(early)) >= _worst(found):
        burn_in += early * thin
    kept = made + max(thin, made // 3) - burn_in
    while kept // thin > _room(goal):
        thin *= 2
    return replace(now, burn_in=burn_in, thin=thin, draws=-(-kept // thin))


def cut(now: Schedule, then: Schedule, share: float) -> Schedule | None:
    """The schedule ``then`` up to the next look, with as many draws as the budget has time for; None where they would hardly be more than those of ``now``.

    ``share`` is how many times the sweeps of ``now`` the budget has time for.
    """
    made = int(share * now.sweeps("mcmc")) - now.warmup
    if made >= _made(then):
        return then
    return replace(then, draws=(made - then.burn_in) // then.thin) if made > 1.1 * _made(now) else None


def _at_last(now: Schedule, goal: Schedule, found: Diagnosis) -> bool:
    """Whether more draws than those of ``now`` would hardly help."""
    nothing_varies = found.n_draws >= 4 and not found.judged
    return nothing_varies or _made(now) >= LONGEST * _made(goal)


def _worst(found: Diagnosis) -> float:
    """The largest R-hat; not a number when there is none."""
    return max((q.rhat for q in found.judged), default=math.nan)


def _made(schedule: Schedule) -> int:
    """Sweeps of a chain after its warm-up."""
    return schedule.burn_in + schedule.draws * schedule.thin


def _apart(found: Diagnosis) -> bool:
    return found.verdict.kind == "error" or any(q.rhat > RHAT_MARKS[0] for q in found.judged)


def _room(goal: Schedule) -> int:
    """Draws per chain that are kept."""
    return max(2 * goal.draws, -(-_ROOM // goal.chains))


def sweeps_needed(now: Schedule, goal: Schedule, found: Diagnosis) -> int | None:
    """Sweeps of a chain until the look at which it will have settled, should it go on as it did; None when that cannot be
    estimated from the draws so far, or is beyond the last look.

    Effective draws grow as the draws do, and what R-hat has above 1 falls so.
    """
    if found.n_draws < FEWEST_DRAWS or not found.judged or found.verdict.kind == "error":
        return None
    sweeps = found.n_draws * now.thin
    for_ess = sweeps * max(ESS_MARKS[0] / max(1.0, min(q.ess_bulk, q.ess_tail)) for q in found.judged)
    for_rhat = sweeps * max((q.rhat - 1) / (RHAT_MARKS[0] - 1) if q.rhat > 1 else 0.0 for q in found.judged)
    made, burn_in = _made(now), now.burn_in
    while made <= 4 / 3 * LONGEST * _made(goal):
        if made - burn_in >= max(for_ess, for_rhat):
            return now.warmup + made
        if made - burn_in < for_rhat:
            burn_in = max(burn_in, made // 2)
        made += max(1, made // 3)
    return None


def ending(goal: Schedule, now: Schedule, found: Diagnosis) -> str:
    """How a run with a goal has ended, as a sentence."""
    left_out = format_count(now.left_out)
    made = f"{counted(now.sweeps('mcmc'), 'sweep')} per chain, of which {left_out} are left out as warm-up"
    if now.warmup < goal.warmup:
        made += f"; a warm-up of {format_count(goal.warmup)} would have outlasted the budget"
    if settled(found):
        return f"Settled after {made}."
    if not on_the_way(now, goal) and _at_last(now, goal, found):
        return f"Ended without having settled after {made}: more of them would hardly help."
    return f"Ended by its time budget of {goal.budget:g} s, without having settled, after {made}."
