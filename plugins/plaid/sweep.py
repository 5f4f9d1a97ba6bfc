"""The parts of a sweep: the tasks of each replica, and the exchange between replicas."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from plaidwork.core.api import POSITION, Clock, Stage, State
from plaidwork.plugins.plaid import large
from plaidwork.plugins.plaid.effects import draw_effects, share_level, without_effects
from plaidwork.plugins.plaid.fields import Effects, Fields, Integers, MoveName, Replica, Settings
from plaidwork.plugins.plaid.kernels.blocks import statistics
from plaidwork.plugins.plaid.kernels.records import Cells, Law
from plaidwork.plugins.plaid.kernels.row_wise import row_wise
from plaidwork.plugins.plaid.kernels.tails import draw_weights
from plaidwork.plugins.plaid.kernels.tasks import run_tasks
from plaidwork.plugins.plaid.priors import Gamma, Priors, draw_mass, draw_shift_prior
from plaidwork.plugins.plaid.profile_sweep import ProfilePriors, log_noise, run_profile_stretch
from plaidwork.plugins.plaid.recombining import round_at
from plaidwork.plugins.plaid.rooms import ROOMS
from plaidwork.plugins.plaid.tails import TailPrior, draw_freedom, log_likelihood_of_tails, weighted

SLICE_CELLS = 20_000_000
"""Cell operations of one slice: about 30 ms. A task (one block's scan, one move) is at most a few passes."""
SLICE_WEIGHTS = 500_000
"""Cells whose weights are drawn in one slice: about 30 ms."""
FEW = 20
"""A matrix of which a slice has no more tasks than these is large: what its tasks take is then counted block by block."""

MOVES: tuple[MoveName, ...] = ("birth_death", "seeded", "split_merge", "exchange", "recut")
"""The moves of ``run_tasks``; a move's code is its place here."""
_NONE: Integers = np.empty(0, np.int64)


@dataclass(frozen=True)
class Setting:
    """What the tasks of a sweep share: data, priors, powers of the likelihood and the moves to make."""

    cells: Cells
    priors: Priors
    harmonics: float
    powers: np.ndarray
    shares: tuple[float, float, float, float]
    max_blocks: int
    moves: tuple[MoveName, ...]
    prior_share: float
    layers: ProfilePriors | None
    """Where blocks have a profile over the columns."""
    together: int = 0
    """Blocks of one shift into which rows and columns are drawn at once; 0 for one after the other alone."""
    recuts: int = 0
    """Pairs of blocks of one shift that are tried in one of its moves."""
    effects: Gamma | None = None
    """Prior of effects beside blocks of one shift; None without them."""
    tails: TailPrior | None = None
    """Prior of the degrees of freedom of the noise; None where it is normal."""

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


def annealing(params: Settings, clock: Clock) -> bool:
    """Whether the chain is in the part of the warm-up in which the data count only in part."""
    return bool(params["anneal"]) and clock.sweep < params["anneal_share"] * clock.warmup


def powers(params: Settings, clock: Clock, start: float, copies: int) -> np.ndarray:
    """Likelihood power of each copy.

    While annealing: that of the sweep, for each of the ``copies``; it rises geometrically from ``start`` to 1, and again
    in each of the rounds of ``recombining.py``.
    Then: the ladder of the replicas; the first is the chain that is kept, with power 1.
    """
    if annealing(params, clock):
        return np.full(copies, round_at(params, clock).power(start))
    return params["warmest"] ** (np.arange(params["replicas"]) / max(params["replicas"] - 1, 1))


def draw_replica(replica: Replica, setting: Setting, power: float, rng: np.random.Generator) -> None:
    """Joint draw of background and shifts, then the hyper-parameters (sections 2.2, 2.6); in place."""
    run_stretch(replica, setting, power, rng, _NONE, _NONE, count=False, draw=True)


def draw_scalars(replica: Replica, setting: Setting, power: float, rng: np.random.Generator) -> None:
    """Draw mass, noise and the prior of the shifts (section 2.6); in place."""
    cells, priors, theta = setting.cells, setting.priors, replica["theta"]
    replica["alpha"] = draw_mass(
        rng, replica["alpha"], theta.size, setting.harmonics, priors.mass, setting.max_blocks
    )
    replica["tau0"] = priors.noise.draw(rng, 0.5 * power * cells.n_observed, 0.5 * power * replica["squares"])
    replica["mu"], replica["tau"] = draw_shift_prior(rng, theta, replica["tau"], priors)


def less_effects(replica: Replica, cells: Cells) -> Cells:
    """The data less the effects, where there are any."""
    return without_effects(cells, replica["effects"]) if "effects" in replica else cells


def seen_by_blocks(replica: Replica, cells: Cells) -> Cells:
    """What blocks of one shift are fitted to: :func:`less_effects`, with the weights of this sweep where there are some."""
    cells = less_effects(replica, cells)
    return weighted(cells, replica["weights"]) if "weights" in replica else cells


def count_cells(replica: Replica, cells: Cells) -> None:
    """Bring the statistics of the blocks up to date; layers have none."""
    if "layers" in replica:
        return
    cells = seen_by_blocks(replica, cells)
    replica["counts"], replica["sums"] = statistics(cells, replica["rows"], replica["columns"])


def run_stretch(
    replica: Replica,
    setting: Setting,
    power: float,
    rng: np.random.Generator,
    order: Integers,
    codes: Integers,
    *,
    count: bool,
    draw: bool,
) -> Integers:
    """The tasks of one slice of a replica, in place; how often each of ``MOVES`` was accepted."""
    if setting.layers is not None:
        accepted = run_profile_stretch(
            replica,
            replica["layers"],
            setting.cells,
            setting.law(replica, power),
            setting.layers,
            power,
            setting.prior_share,
            rng,
            order,
            codes,
            draw,
        )
        if draw:
            draw_scalars(replica, setting, power, rng)
        return accepted
    cells = seen_by_blocks(replica, setting.cells)
    centre = cells.centre
    run = large.run_tasks if large.is_shared(cells) else run_tasks
    found = run(
        rng,
        cells,
        replica["rows"],
        replica["columns"],
        replica["theta"],
        replica["phi"] - centre,
        replica["counts"],
        replica["sums"],
        order,
        codes,
        setting.law(replica, power),
        setting.prior_share,
        count,
        draw,
        setting.together,
        setting.recuts,
    )
    rows, columns, theta, phi, counts, sums, squares, accepted = found
    replica["rows"], replica["columns"], replica["counts"], replica["sums"] = rows, columns, counts, sums
    if draw:
        replica["theta"], replica["phi"], replica["squares"] = theta, phi + centre, squares
        if "effects" in replica and setting.effects is not None:
            _draw_effects(replica, replica["effects"], cells, setting, power, rng)
        draw_scalars(replica, setting, power, rng)
        if replica.pop("weights", None) is not None:
            ROOMS.clear()
    return cast("Integers", accepted)


def _draw_effects(
    replica: Replica,
    effects: Effects,
    seen: Cells,
    setting: Setting,
    power: float,
    rng: np.random.Generator,
) -> None:
    """Effects beside blocks of one shift, in place; ``seen`` is what the blocks were fitted to."""
    fitted = (replica["rows"].T * replica["theta"]) @ replica["columns"].astype(np.float64)
    residual = seen.x - fitted - replica["phi"]
    known, weights = setting.cells.w, replica.get("weights")
    if not setting.cells.full:
        residual[~known] = 0.0
    t = np.full(len(residual), replica["tau0"] * power)
    assert setting.effects is not None
    draw_effects(effects, known, residual, t, setting.effects, rng, weights)
    replica["squares"] = float((residual**2 if weights is None else weights * residual**2).sum())
    mean, precision = setting.priors.background_mean, setting.priors.background_precision
    share_level(replica, effects, mean, precision, rng)
    count_cells(replica, setting.cells)


def _row_wise(replica: Replica, setting: Setting, power: float, rng: np.random.Generator) -> int:
    """The seed's own move for all rows and columns; returns how often it was accepted."""
    cells = seen_by_blocks(replica, setting.cells)
    blocks = (replica["rows"], replica["columns"], replica["theta"], replica["phi"] - cells.centre)
    found = row_wise(rng, cells, *blocks, setting.law(replica, power))
    replica["rows"], replica["columns"], replica["theta"], accepted = found
    count_cells(replica, setting.cells)
    return int(accepted)


def log_likelihood(replica: Replica, cells: Cells) -> float:
    """Log likelihood at the replica's background, shifts and noise."""
    tau0 = replica["tau0"]
    norm = 0.5 * cells.n_observed * math.log(tau0 / (2 * math.pi))
    if "layers" in replica:
        norm = log_noise(replica, replica["layers"], cells)
    return norm - 0.5 * tau0 * replica["squares"]


def swap_replicas(state: Fields, setting: Setting, rng: np.random.Generator) -> None:
    """Exchange neighbours from the warmest down: ``log A = (b_r - b_s)(l_s - l_r)``; keeps the share accepted.

    With heavy tails, whose weights are integrated out, a likelihood at a power is no power: :func:`swap_gain_of_tails`.
    """
    replicas, accepted = state["replicas"], 0
    for r in range(len(replicas) - 1, 0, -1):
        cold, warm = replicas[str(r - 1)], replicas[str(r)]
        if setting.tails is None:
            gain = log_likelihood(warm, setting.cells) - log_likelihood(cold, setting.cells)
            gain *= setting.powers[r - 1] - setting.powers[r]
        else:
            gain = swap_gain_of_tails(cold, warm, setting.cells, setting.powers[r - 1], setting.powers[r])
        if math.log(rng.random()) < gain:
            replicas[str(r - 1)], replicas[str(r)] = warm, cold
            accepted += 1
    state["swapped"] = accepted / (len(replicas) - 1)


def swap_gain_of_tails(cold: Replica, warm: Replica, cells: Cells, high: float, low: float) -> float:
    """``l_high(warm) - l_low(warm) - l_high(cold) + l_low(cold)`` of likelihoods at the powers ``high`` and ``low``."""
    gains = []
    for replica in (warm, cold):
        seen = less_effects(replica, cells)
        at_high, at_low = (log_likelihood_of_tails(replica, seen, float(power)) for power in (high, low))
        gains.append(at_high - at_low)
    return gains[0] - gains[1]


def weight_stage(
    number: int,
    state: Fields,
    setting: Setting,
    rng: np.random.Generator,
    first: Callable[[], None] | None,
) -> Stage:
    """``first``, then the degrees of freedom of a replica and its weights, for one sweep: rows by rows, each slice from a generator of its own."""
    cells = setting.cells

    def begin() -> None:
        if first is not None:
            first()
        replica, power = state["replicas"][str(number)], float(setting.powers[number])
        assert setting.tails is not None
        replica["freedom"] = draw_freedom(replica, less_effects(replica, cells), power, setting.tails, rng)
        replica["weights"] = np.zeros(cells.x.shape)

    def work(lo: int, hi: int, own: np.random.Generator) -> None:
        replica = state["replicas"][str(number)]
        seen = less_effects(replica, cells)
        draw_weights(
            own,
            seen,
            replica["rows"],
            replica["columns"],
            replica["theta"],
            replica["phi"] - seen.centre,
            replica["freedom"],
            replica["tau0"],
            float(setting.powers[number]),
            replica["weights"],
            lo,
            hi,
        )

    rows, columns = cells.x.shape
    return Stage(
        f"noise of replica {number + 1}",
        work,
        size=rows,
        slice=max(1, SLICE_WEIGHTS // columns),
        begin=begin,
        streams=True,
    )


def replica_stage(
    number: int,
    state: Fields,
    setting: Setting,
    rng: np.random.Generator,
    first: Callable[[], None] | None = None,
) -> Stage:
    """The tasks of one replica: ``first``, scans of its blocks in random order, the moves, the joint draw.

    The number of tasks in a slice follows from the size of the matrix and of the blocks. They are units of one stage, and not
    stages, so that a sweep of a small matrix is a single call of the kernel.
    """

    def begin() -> None:
        if first is not None:
            first()
        state["order"] = rng.permutation(len(state["replicas"][str(number)]["rows"]))

    tasks = max(1, SLICE_CELLS // setting.cells.x.size)
    return Stage(
        _name(number),
        lambda lo, hi: _run_tasks(number, state, setting, rng, lo, hi),
        lambda: len(state["order"]) + len(setting.moves) + 1,
        tasks
        if tasks > FEW
        else lambda lo: _last_task(state["replicas"][str(number)], state["order"], setting, lo, tasks),
        begin,
    )


def _last_task(replica: Replica, order: Integers, setting: Setting, lo: int, tasks: int) -> int:
    """Where a slice of tasks on a large matrix ends: scans read it once together, and then what is in their blocks."""
    if lo >= len(order) or setting.layers is not None:
        return lo + tasks
    n_rows, n_columns = setting.cells.x.shape
    inside = replica["rows"].sum(axis=1) * n_columns + replica["columns"].sum(axis=1) * n_rows
    spent = np.cumsum(inside[order[lo:]])
    return lo + max(1, int(np.searchsorted(spent, SLICE_CELLS, "right")))


def _name(number: int) -> str:
    return f"blocks of replica {number + 1}"


def _run_tasks(
    number: int, state: Fields, setting: Setting, rng: np.random.Generator, start: int, stop: int
) -> None:
    """Tasks ``start`` to ``stop`` of a replica; acceptances are counted for the chain that is kept."""
    replica, power = state["replicas"][str(number)], float(setting.powers[number])
    order, n_scans = state["order"], len(state["order"])
    names = setting.moves[max(start - n_scans, 0) : max(stop - n_scans, 0)]
    scans, count, draw = order[start:stop], start <= n_scans < stop, stop > n_scans + len(setting.moves)
    counted: dict[MoveName, int] = state["accepted"] if number == 0 else {}
    if "row_wise" in names:
        run_stretch(replica, setting, power, rng, scans, _NONE, count=count, draw=False)
        for _ in names:
            accepted = _row_wise(replica, setting, power, rng)
            if counted:
                counted["row_wise"] += accepted
        scans, names, count = _NONE, (), False
    codes = np.array([MOVES.index(name) for name in names], np.int64)
    found = run_stretch(replica, setting, power, rng, scans, codes, count=count, draw=draw)
    if counted:
        for name, accepted in zip(MOVES, found, strict=True):
            counted[name] = counted.get(name, 0) + int(accepted)  # a stored sweep may not know every move


def upgraded(old: State) -> Fields:
    """A state of version 1, in which the model itself kept where the sweep stood."""
    number, task = old.pop("replica"), old.pop("task")
    old["swapped"] = 0.0
    if number or task:
        old[POSITION] = {"stage": _name(number), "at": task}
    return cast("Fields", old)
