"""Better topics than those that the ascent alone ends at: tried beside the fit, kept when the bound is higher.

Topics are grown one after the other, each the best of several candidates, with a background topic and without one; from
the better of the two, other topics are proposed (``proposals.py``) and swept for a while, until so many in a row have not
raised the bound. Proposals may lead downhill for a while (threshold accepting, Dueck and Scheuer 1990, Journal of
Computational Physics 90, 161-175), but the fit itself is replaced by one of a higher bound alone. A sweep of the fit
includes one of these moves. All of it is in the entry ``moves`` of the state.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from plaidwork.core.api import Stage
from plaidwork.plugins.supervised_ibp.bound import bound_of
from plaidwork.plugins.supervised_ibp.corpus import Corpus
from plaidwork.plugins.supervised_ibp.effort import multiplications, n_candidates
from plaidwork.plugins.supervised_ibp.moments import n_fixed, searching
from plaidwork.plugins.supervised_ibp.proposals import new_topic, proposal
from plaidwork.plugins.supervised_ibp.start import new_state
from plaidwork.plugins.supervised_ibp.state import Fields, Floats, Moves, Settings
from plaidwork.plugins.supervised_ibp.sweep import SLICE, whole_sweeps

GAIN = 0.1
"""Nats by which a move has to raise the bound."""
GROWN = 15
"""Sweeps of a candidate for a new topic."""
EMPTY = 3
"""Sweeps of a state without topics, so that it has a bound."""
BLOCK, MOST, AHEAD, STILL = 5, 61, 2.0, 0.05
"""A proposal is swept once, then five times between looks, 61 times at most: as long as ``AHEAD`` times the gain since the
last look closes the gap to the fit, or, where there is no gap, as long as it gains more than ``STILL`` nats."""
DOWN, BACK = 5.0, 100
"""Proposals follow each other down to so many nats below the fit or the one before, and begin anew from the fit after so many."""
EARLY = 50
"""Moves in vain before the background is put in or out: the topics have to have found their places with it, or without."""
OVERHEAD = 400_000
"""What a sweep of few words costs beside its multiplications."""


def stages(state: Fields, corpus: Corpus, params: Settings, rng: np.random.Generator) -> list[Stage]:
    """The move of a sweep, as long as there are any."""
    if not searching(state):
        return []
    return [Stage("moves", lambda lo, hi: _slice(state, corpus, params, rng), None)]


def _slice(state: Fields, corpus: Corpus, params: Settings, rng: np.random.Generator) -> bool:
    """Some 20 ms of a move; whether it has been judged."""
    plain = cast("Settings", {**params, "family": "factorised"})
    if state["moves"]["topic"] < params["n_topics"]:
        return _grow(state, corpus, plain, rng)
    return _try(state, corpus, plain, rng)


def _sweep_trial(moves: Moves, corpus: Corpus, params: Settings, until: int) -> bool:
    """Sweeps of the trial in one slice; whether it has had as many as wanted."""
    trial = moves["trial"]
    room = max(1, int(SLICE / (multiplications(corpus, trial["nu"].shape[1]) + OVERHEAD)))
    times = min(room, until - moves["swept"])
    whole_sweeps(trial, corpus, params, times)
    moves["swept"] += times
    return moves["swept"] >= until


def _begin_trial(moves: Moves, corpus: Corpus, params: Settings, nu: Floats) -> None:
    moves["trial"], moves["swept"], moves["last"] = state_of(corpus, params, nu), 0, -np.inf


def state_of(corpus: Corpus, params: Settings, nu: Floats) -> Fields:
    """A state with these topics (N, K), a background first where there may be one."""
    fixed = int(params["background"])
    state = new_state(corpus, nu[:, fixed:], params)
    state["nu"][:, :fixed] = nu[:, :fixed]
    return state


def _adopt(state: Fields, trial: Fields) -> None:
    """The trial in place of the fit, which keeps where its sweep and its search stand."""
    cast("dict[str, object]", state).update(trial)


# -- growing -------------------------------------------------------------------------------------
def _grow(state: Fields, corpus: Corpus, params: Settings, rng: np.random.Generator) -> bool:
    """A candidate for the next topic of the line that grows; whether it was the last, and the best has been taken."""
    moves = state["moves"]
    line = moves.get("other", state)
    if "trial" not in moves:
        k = n_fixed(line) + moves["topic"]
        nu = line["nu"].copy()
        nu[:, k] = new_topic(line, corpus, k, rng)
        _begin_trial(moves, corpus, params, nu)
    if not _sweep_trial(moves, corpus, params, GROWN):
        return False
    trial = moves.pop("trial")
    if "leader" not in moves or bound_of(trial, corpus, params) > bound_of(moves["leader"], corpus, params):
        moves["leader"] = trial
    moves["candidate"] += 1
    if moves["candidate"] < n_candidates(corpus, params):
        return False
    leader = moves.pop("leader")
    raised = bound_of(leader, corpus, params) > bound_of(line, corpus, params) + GAIN
    if raised:
        _adopt(line, leader)
    moves["candidate"] = 0
    moves["topic"] = moves["topic"] + 1 if raised else params["n_topics"]
    if moves["topic"] == params["n_topics"]:
        _next_line(state, corpus, params)
    return True


def _next_line(state: Fields, corpus: Corpus, params: Settings) -> None:
    """After the topics beside a background those without one; after those the better of the two."""
    moves = state["moves"]
    if "other" in moves:
        other = moves.pop("other")
        if bound_of(other, corpus, params) > bound_of(state, corpus, params):
            _adopt(state, other)
    elif params["background"] and params["background_if_better"]:
        moves["other"] = state_of(corpus, params, np.zeros_like(state["nu"]))
        whole_sweeps(moves["other"], corpus, params, EMPTY)
        moves["topic"] = 0


# -- moves ---------------------------------------------------------------------------------------
def _next_look(swept: int) -> int:
    """Sweeps of a trial at its next look: 1, then every five."""
    return 1 + BLOCK * (-(-swept // BLOCK))


def _try(state: Fields, corpus: Corpus, params: Settings, rng: np.random.Generator) -> bool:
    """A proposal, swept while it may still rise near enough to where it is made from; whether it has been judged."""
    moves = state["moves"]
    place = moves.get("walk", state)
    if "trial" not in moves:
        late = moves["vain"] >= min(EARLY, moves["most"] // 2)
        nu = proposal(place, corpus, params, rng, late)
        _begin_trial(moves, corpus, params, nu)
    if not _sweep_trial(moves, corpus, params, _next_look(moves["swept"])):
        return False
    now = bound_of(moves["trial"], corpus, params)
    here = bound_of(place, corpus, params)
    gap, gain = here - DOWN - now, now - moves["last"]
    moves["last"] = now
    hopeless = gap > 0 and AHEAD * gain < gap
    if moves["swept"] < MOST and not hopeless and not (gap <= GAIN and gain < STILL):
        return False
    trial = moves.pop("trial")
    better = now > bound_of(state, corpus, params) + GAIN
    moves["tried"] += 1
    moves["vain"] = 0 if better else moves["vain"] + 1
    if better:
        _adopt(state, trial)
    elif gap < 0 and abs(now - here) > GAIN:
        moves["walk"] = trial
    if better or moves["vain"] % BACK == 0:
        moves.pop("walk", None)
    return True
