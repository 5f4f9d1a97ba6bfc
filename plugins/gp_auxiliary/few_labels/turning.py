"""Hamiltonian moves of f of the copies of a chain with a null category, in place of moves along ellipses."""

from __future__ import annotations

import math

import numpy as np

from plaidwork.core.api_tempering import Swaps
from plaidwork.plugins.gp_auxiliary.classes.replica import Labels
from plaidwork.plugins.gp_auxiliary.kernels import leaders, rounds, sides
from plaidwork.plugins.gp_auxiliary.shared.flow import lower_root
from plaidwork.plugins.gp_auxiliary.shared.gram import dense_precision
from plaidwork.plugins.gp_auxiliary.shared.state import Replica, Turns

BEND = 0.02
"""Curvature of the reference, that of a normal law of sd 7: larger ones hold f back where the classes are sure."""
WHOLE_TURN = 1.8
"""Radians of a trajectory, a little over a quarter of a turn."""
START_ANGLE = 0.4
MOST_STEPS = 12
MOST_MAPPED = 1000
"""Samples of three classes up to which there is a map: it is (N, N) whatever the rank of the covariance."""
TARGET = 0.8
"""Share of accepted trajectories that the angles aim at in the warm-up."""


def leap_seconds(size: int, n_rows: int = 1) -> float:
    """About how long one step of a trajectory of so many samples takes, of one row of f or of three."""
    return 2.5e-10 * n_rows * size**2 + (1.5e-8 if n_rows == 1 else 1.2e-7) * size


def new_turns(size: int) -> Turns:
    """Nothing tried yet at ``size`` widths."""
    return {"log_angle": np.full(size, math.log(START_ANGLE)), "count": np.zeros(size)}


def map_of(root: np.ndarray) -> np.ndarray:
    """(N, N) lower triangular F with ``F F' = (C^-1 + BEND)^-1``, from a root (N, N) of C."""
    inverse, _log_det = dense_precision(BEND * (root @ root.T))
    return np.ascontiguousarray(lower_root(inverse) / math.sqrt(BEND))


def turn(
    rng: np.random.Generator,
    f: np.ndarray,
    copy: Replica,
    rows: np.ndarray,
    labels: Labels,
    width: float,
    turns: Turns,
    m: int,
    count: int,
    warming: bool,
) -> None:
    """``count`` trajectories of f (K, N) of the copy at rung m of this width, z integrated out; in place.

    ``rows`` is :func:`map_of` a root of C at the copy's parameters. ``turns`` learn the angle of every rung in the warm-up.
    """
    angle = math.exp(turns["log_angle"][m])
    share, steps = copy["log_share"], _steps_of(angle)
    if labels.n_rows > 1:
        taken = leaders.turn_f(rng, rows, f, labels.code, width, share, BEND, steps, angle, count)
    else:
        side, minus, plus = sides_of(labels), float(share[0]), float(share[1])
        taken = sides.turn_f(rng, rows, f[0], side, width, minus, plus, BEND, steps, angle, count)
    if warming:
        _learn(turns, m, taken / count)


def sides_of(labels: Labels) -> np.ndarray:
    """(N,) 1 or -1 for the side that a label names, 0 without a label."""
    return np.where(labels.free, 0, np.where(labels.code == 1, 1, -1))


def _steps_of(angle: float) -> int:
    """Rotations of a trajectory."""
    return min(max(round(WHOLE_TURN / angle), 1), MOST_STEPS)


def _learn(turns: Turns, m: int, taken: float) -> None:
    """The angle at rung m from the share of trajectories taken."""
    turns["count"][m] += 1
    learnt = turns["log_angle"][m] + (taken - TARGET) / math.sqrt(turns["count"][m])
    turns["log_angle"][m] = min(max(learnt, math.log(0.02)), math.log(1.2))


def run_rounds(
    rng: np.random.Generator,
    f: np.ndarray,
    rungs: dict[str, Replica],
    rows: np.ndarray,
    which: np.ndarray,
    labels: Labels,
    widths: np.ndarray,
    turns: Turns,
    swaps: Swaps,
    count: int,
    warming: bool,
    units: tuple[int, int],
) -> np.ndarray:
    """Units of rounds of trajectories and swaps, see ``kernels/rounds.py``; the (M,) copies at the rungs thereafter.

    f (M, K, N) of the copies at the rungs is changed in place and stays in their order; ``rows[which[m]]`` is :func:`map_of` the copy at
    rung m, rows (m, N, N). Angles and what is counted of swaps are changed in place, the copies in ``rungs`` are not.
    """
    order, size = np.arange(len(widths)), len(widths)
    log_share = np.stack([rungs[str(m)]["log_share"] for m in range(size)])
    angles = np.exp(turns["log_angle"])
    steps = np.array([_steps_of(angle) for angle in angles])
    moved, turned = np.zeros(size), np.zeros(size)
    ways = (BEND, steps, angles, count, order, moved, turned)
    counts = (swaps["tried"], swaps["taken"], swaps["label"], swaps["stage"], swaps["trips"])
    if labels.n_rows > 1:  # of a fixed covariance: one map for all
        leaders.run_rounds(rng, *units, rows[0], f, labels.code, widths, log_share, *ways, *counts)
    else:
        minus, plus = np.ascontiguousarray(np.exp(log_share[:, :2]).T)
        rounds.run_rounds(
            rng, *units, rows, which, f[:, 0], sides_of(labels), widths, minus, plus, *ways, *counts
        )
    for m in np.flatnonzero(moved) if warming else ():
        _learn(turns, int(m), float(turned[m] / moved[m]))
    return order
