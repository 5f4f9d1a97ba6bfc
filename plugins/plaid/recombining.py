"""Warm starts that learn from each other: rounds in which each takes some of its blocks from another.

A chain of constant blocks on real data ends in one of many sums of blocks that fit nearly alike, tens to hundreds of nats
apart, and single moves do not lead from one to another. Blocks that one copy has found are worth having in others: in each
round every copy gets about half of its blocks from a neighbour, is warmed to a part and cooled again, and the better of
it and what it came from goes on ("deterministic crowding": Mahfoud 1995, Niching methods for genetic algorithms). All of
it is warm-up: the draws that are kept follow from exact moves alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from plaidwork.core.api import Clock
from plaidwork.plugins.plaid.fields import Fields, Floats, Replica, Settings

FIRST = 3
"""Length of the first annealing, in rounds."""
REHEAT = 0.5
"""Power of the likelihood at the beginning of a round."""
COOLING = 0.85
"""Share of a round over which the power rises to 1."""


CELLS_OF_COPIES = 480_000
"""Cells of all copies together, where their number is chosen from the size of the matrix."""


class Round(NamedTuple):
    """Where the warm-up stands: number of the round, 0 in the first annealing, and how much of it is over (0 to 1)."""

    number: int
    done: float

    def power(self, start: float) -> float:
        """Power of the likelihood; the first annealing begins at ``start``. It rises geometrically."""
        if self.number == 0:
            return float(start ** (1.0 - self.done))
        return float(REHEAT ** max(0.0, 1.0 - self.done / COOLING))


def copies_of(params: Settings, n_cells: int, least: int, most: int) -> int:
    """Warm starts side by side; of large matrices fewer, down to ``least``, where nobody says how many."""
    return params["warm_starts"] or min(most, max(least, CELLS_OF_COPIES // max(n_cells, 1)))


def round_at(params: Settings, clock: Clock) -> Round:
    """The round of a sweep of the annealing."""
    done = clock.sweep / (params["anneal_share"] * clock.warmup)
    if not params["recombine"]:
        return Round(0, done)
    place = done * (params["recombine"] + FIRST) - FIRST
    return Round(0, place / FIRST + 1.0) if place < 0 else Round(math.floor(place) + 1, place % 1.0)


def round_begins(params: Settings, clock: Clock) -> bool:
    """Whether copies are recombined before this sweep of the annealing."""
    if not params["recombine"] or clock.sweep == 0:
        return False
    before = round_at(params, Clock(clock.sweep - 1, clock.warmup))
    return round_at(params, clock).number > before.number


def similar(one: Replica, other: Replica) -> Floats:
    """(K, J) cells that two blocks share over the geometric mean of their sizes, 0 for empty ones."""
    shared = one["rows"].astype(float) @ other["rows"].T.astype(float)
    shared *= one["columns"].astype(float) @ other["columns"].T.astype(float)
    sizes = [r["rows"].sum(axis=1) * r["columns"].sum(axis=1) for r in (one, other)]
    found: Floats = shared / np.sqrt(np.maximum(np.outer(*sizes), 1.0))
    return found


def offspring(one: Replica, other: Replica, rng: np.random.Generator) -> Replica:
    """``one`` with about half of its blocks in exchange for those of ``other`` that are most like them.

    Blocks are paired greedily; of a pair either is taken, and of those without a partner each or none, by coins. Noise,
    background and hyper-parameters are those of ``one``. Statistics of the blocks are left to the caller.
    """
    left = similar(one, other)
    alone = [set(range(size)) for size in left.shape]
    picked: list[tuple[Replica, int]] = []
    for _ in range(min(left.shape)):
        i, j = (int(place) for place in np.unravel_index(int(left.argmax()), left.shape))
        left[i, :], left[:, j] = -1.0, -1.0
        alone[0].remove(i)
        alone[1].remove(j)
        picked.append((one, i) if rng.random() < 0.5 else (other, j))
    for parent, surplus in zip((one, other), alone, strict=True):
        picked += [(parent, k) for k in sorted(surplus) if rng.random() < 0.5]
    return _of_blocks(one, picked)


def _of_blocks(parent: Replica, picked: list[tuple[Replica, int]]) -> Replica:
    """``parent`` with these blocks in place of its own."""
    made = deepcopy(parent)
    size = len(picked)
    made["rows"], made["columns"] = made["rows"][:0], made["columns"][:0]
    if picked:
        made["rows"] = np.stack([source["rows"][k] for source, k in picked])
        made["columns"] = np.stack([source["columns"][k] for source, k in picked])
    made["theta"] = np.array([source["theta"][k] for source, k in picked], float)
    if "layers" in made:
        profiles = [source["layers"]["profiles"][k] for source, k in picked]
        made["layers"]["profiles"] = np.array(profiles, float).reshape(size, made["columns"].shape[1])
    return made


def keep_better(state: Fields, log_joint: Callable[[Replica], float]) -> None:
    """Each copy, or what it came from where that has the higher log joint; in place."""
    for name, parent in state.pop("parents", {}).items():
        if log_joint(parent) > log_joint(state["replicas"][name]):
            state["replicas"][name] = parent


def recombine(
    state: Fields,
    log_joint: Callable[[Replica], float],
    count: Callable[[Replica], None],
    rng: np.random.Generator,
) -> None:
    """Begin a round: the better of copies and parents become parents, arranged in a ring at random, and each copy an
    offspring of a parent and its neighbour. ``count`` brings the statistics of a copy up to date."""
    keep_better(state, log_joint)
    state["parents"] = parents = state["replicas"]
    ring = rng.permutation(len(parents)).tolist()
    made = {}
    for place, number in enumerate(ring):
        neighbour = ring[(place + 1) % len(ring)]
        made[str(number)] = offspring(parents[str(number)], parents[str(neighbour)], rng)
        count(made[str(number)])
    state["replicas"] = {str(number): made[str(number)] for number in range(len(made))}
