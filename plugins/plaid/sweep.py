"""The order of a sweep, cut into tasks so that a long one can be left and taken up again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.api import Clock, Params, State
from plaidwork.plugins.plaid.kernels.birth_death import birth_death
from plaidwork.plugins.plaid.kernels.blocks import statistics
from plaidwork.plugins.plaid.kernels.joint_draw import draw_levels
from plaidwork.plugins.plaid.kernels.records import Cells, Law
from plaidwork.plugins.plaid.kernels.row_wise import row_wise
from plaidwork.plugins.plaid.kernels.scan import scan_blocks
from plaidwork.plugins.plaid.kernels.seeded import seeded_birth_death
from plaidwork.plugins.plaid.kernels.split_merge import split_merge
from plaidwork.plugins.plaid.priors import Priors, draw_mass, draw_shift_prior

SLICE_CELLS = 20_000_000
"""Cell operations of one slice: about 30 ms. A task (one block's scan, one move) is at most a few passes."""

Replica = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """What the tasks of a sweep share: data, priors, powers of the likelihood and the moves to make."""

    cells: Cells
    priors: Priors
    params: Params
    harmonics: float
    powers: np.ndarray
    shares: tuple[float, float, float, float]
    max_blocks: int
    moves: tuple[str, ...]

    def law(self, replica: Replica, power: float) -> Law:
        """The numbers of a replica's conditionals at a power of the likelihood."""
        return Law(
            replica["alpha"],
            replica["mu"],
            replica["tau"],
            self.priors.background_mean - self.cells.centre,
            self.priors.background_precision,
            replica["tau0"] * power,
            *self.shares,
            self.max_blocks,
        )


def annealing(params: Params, clock: Clock) -> bool:
    """Whether the chain is in the part of the warm-up in which the data count only in part."""
    return bool(params["anneal"]) and clock.sweep < params["anneal_share"] * clock.warmup


def powers(params: Params, clock: Clock, start: float) -> np.ndarray:
    """Likelihood power of each copy.

    While annealing: that of the sweep, for each of the warm starts; it rises geometrically from ``start`` to 1.
    Then: the ladder of the replicas; the first is the chain that is kept, with power 1.
    """
    if annealing(params, clock):
        done = clock.sweep / (params["anneal_share"] * clock.warmup)
        return np.full(params["warm_starts"], start ** (1.0 - done))
    return params["warmest"] ** (np.arange(params["replicas"]) / max(params["replicas"] - 1, 1))


def draw_replica(replica: Replica, setting: Setting, power: float, rng: np.random.Generator) -> None:
    """Joint draw of background and shifts, then the hyper-parameters (sections 2.2, 2.6); in place."""
    cells, priors = setting.cells, setting.priors
    phi, theta, squares = draw_levels(
        rng, cells, replica["counts"], replica["sums"], setting.law(replica, power)
    )
    replica["phi"], replica["theta"], replica["squares"] = phi + cells.centre, theta, squares
    replica["alpha"] = draw_mass(
        rng, replica["alpha"], theta.size, setting.harmonics, priors.mass, setting.max_blocks
    )
    replica["tau0"] = priors.noise.draw(rng, 0.5 * power * cells.n_observed, 0.5 * power * squares)
    replica["mu"], replica["tau"] = draw_shift_prior(rng, theta, replica["tau"], priors)


def count_cells(replica: Replica, cells: Cells) -> None:
    """Bring the statistics of the blocks up to date."""
    replica["counts"], replica["sums"] = statistics(cells, replica["rows"], replica["columns"])


def _scan(
    replica: Replica, setting: Setting, power: float, rng: np.random.Generator, order: np.ndarray
) -> None:
    scan_blocks(
        rng,
        setting.cells,
        replica["rows"],
        replica["columns"],
        replica["theta"],
        replica["phi"] - setting.cells.centre,
        order,
        setting.law(replica, power),
    )


def _move(name: str, replica: Replica, setting: Setting, power: float, rng: np.random.Generator) -> int:
    """Make one move that changes the number of blocks; returns how often it was accepted."""
    cells, law = setting.cells, setting.law(replica, power)
    if name == "row_wise":
        found = row_wise(
            rng,
            cells,
            replica["rows"],
            replica["columns"],
            replica["theta"],
            replica["phi"] - cells.centre,
            law,
        )
        replica["rows"], replica["columns"], replica["theta"], accepted = found
        count_cells(replica, cells)
        return int(accepted)
    blocks = (replica["rows"], replica["columns"], replica["counts"], replica["sums"])
    if name == "birth_death":
        out = birth_death(rng, cells, *blocks, law, setting.params["prior_share"])
    else:
        out = (seeded_birth_death if name == "seeded" else split_merge)(rng, cells, *blocks, law)
    replica["rows"], replica["columns"], replica["counts"], replica["sums"], accepted = out
    return int(accepted)


def log_likelihood(replica: Replica, cells: Cells) -> float:
    """Log likelihood at the replica's background, shifts and noise."""
    tau0 = replica["tau0"]
    return 0.5 * cells.n_observed * math.log(tau0 / (2 * math.pi)) - 0.5 * tau0 * replica["squares"]


def swap_replicas(state: State, setting: Setting, rng: np.random.Generator) -> float:
    """Exchange neighbours from the warmest down: ``log A = (b_r - b_s)(l_s - l_r)``. Share accepted."""
    replicas, accepted = state["replicas"], 0
    for r in range(len(replicas) - 1, 0, -1):
        cold, warm = replicas[str(r - 1)], replicas[str(r)]
        gain = log_likelihood(warm, setting.cells) - log_likelihood(cold, setting.cells)
        if math.log(rng.random()) < (setting.powers[r - 1] - setting.powers[r]) * gain:
            replicas[str(r - 1)], replicas[str(r)] = warm, cold
            accepted += 1
    return accepted / (len(replicas) - 1)


def advance(state: State, setting: Setting, rng: np.random.Generator) -> bool:
    """One slice of the sweep of all replicas; whether the sweep is finished.

    The number of tasks in a slice follows from the size of the matrix, never from time.
    """
    cells = setting.cells
    left = max(1, SLICE_CELLS // cells.x.size)
    while state["replica"] < len(state["replicas"]):
        replica = state["replicas"][str(state["replica"])]
        power = float(setting.powers[state["replica"]])
        if left <= 0:
            return False
        if state["task"] == 0:
            state["order"] = rng.permutation(len(replica["rows"]))
        n_scans = len(state["order"])
        last = n_scans + len(setting.moves)
        while state["task"] <= last:
            if left <= 0:
                return False
            task = state["task"]
            if task < n_scans:
                stop = min(task + left, n_scans)
                _scan(replica, setting, power, rng, state["order"][task:stop])
                state["task"], left = stop, left - (stop - task)
                continue
            if task == n_scans:
                count_cells(replica, cells)
            if task < last:
                name = setting.moves[task - n_scans]
                accepted = _move(name, replica, setting, power, rng)
                if state["replica"] == 0:
                    state["accepted"][name] += accepted
            else:
                draw_replica(replica, setting, power, rng)
            state["task"], left = task + 1, left - 1
        state["replica"], state["task"] = state["replica"] + 1, 0
    state["replica"] = 0
    return True
