"""Hamiltonian moves of scores, loadings and means of binary components together, the latent values z integrated out.

Given z the scores hold the loadings in place, and given both z moves by the noise's width, so that draws in turn need tens of sweeps for the
loadings of many samples. Along a trajectory (Duane, Kennedy, Pendleton & Roweth 1987) of the density with z integrated out, ``sum log Phi(s_ij (mu_j + w_j'x_i))``
and the priors, all move at once; a step costs a few products of matrices and a normal tail a cell, where a draw of z takes twenty times as long.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from plaidwork.plugins.gp_auxiliary.kernels import binary
from plaidwork.plugins.gp_auxiliary.shared.state import ComponentsFields, Leap, Leaps

TARGET = 0.8
"""Share of accepted trajectories that the step aims at in the warm-up."""
START = 0.1
_INFORMATION = 0.6
"""About what a cell says of its centre, beside a value with a noise of 1: 2 / pi where both sides are equally probable."""
_WIDEST = 3.0
"""Times the spread given all else that the smaller of scores and loadings go at most, in the time that the larger go theirs."""
_FORGETS = 0.1
"""Weight of the present loadings in their mean strength, a sweep of the warm-up."""
_LOST = 1000.0
"""Nats below the start at which a trajectory is given up: its step is far too long."""
MOST_CELLS = 3_000_000
"""Cells up to which there are trajectories: one step is the least that a slice can be."""


class Target(NamedTuple):
    """What scores (n, K), loadings (m, K) and means (m,), one after the other in one array, are moved under."""

    sign: np.ndarray
    """(n * m,) 1 of a one, -1 of a zero, 0 of a cell that is not known."""
    precision: np.ndarray
    """Of the prior of each number."""
    shape: tuple[int, int, int]
    """n, m, K."""


def target_of(
    sign: np.ndarray, precision: np.ndarray, mean_precision: float, shape: tuple[int, int]
) -> Target:
    """The target of so many samples and features, from the precisions (K,) of the components' loadings and that of the means."""
    n, m = shape
    size = len(precision)
    priors = np.ones(n * size), np.tile(precision, m), np.full(m, mean_precision)
    return Target(sign, np.concatenate(priors), (n, m, size))


def parts(at: np.ndarray, shape: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores (n, K), loadings (m, K) and means (m,) that such an array holds, as views."""
    n, m, size = shape
    return at[: n * size].reshape(n, size), at[n * size : -m].reshape(m, size), at[-m:]


def new_leaps(loadings: np.ndarray) -> Leaps:
    """Nothing tried yet, from loadings (m, K)."""
    return {"log_step": math.log(START), "count": 0, "strength": (loadings**2).sum(axis=0)}


def spread_of(leaps: Leaps, target: Target) -> np.ndarray:
    """About how far each number goes given all others: the scales of the momenta.

    The smaller of the two sets of scores and loadings is held back by the other more than by its own spread, and its few steps
    add little to the error of a trajectory: it goes further.
    """
    n, m, size = target.shape
    share = np.count_nonzero(target.sign) / len(target.sign)
    further = min(max((n * size / (m * (size + 1))) ** 0.25, 1 / _WIDEST), _WIDEST)
    spread = target.precision + _INFORMATION * n * share
    of_x = parts(spread, target.shape)[0]
    of_x[:] = 1.0 + _INFORMATION * share * leaps["strength"]
    spread **= -0.5
    spread[n * size :] *= further
    return spread


def begin(rng: np.random.Generator, state: ComponentsFields, mean_steps: int) -> None:
    """Set out from where the chain is; the first unit of work finds the slopes there."""
    at = np.concatenate([state["scores"].ravel(), state["loadings"].ravel(), state["mean"]])
    momentum = rng.standard_normal(len(at))
    steps = int(rng.integers(1, 2 * mean_steps))
    length = math.exp(state["leaps"]["log_step"]) * (0.8 + 0.4 * rng.random())
    energy = 0.5 * float(np.vdot(momentum, momentum))
    state["leap"] = {
        "at": at, "momentum": momentum, "slope": np.zeros(len(at)), "steps": steps, "length": length, "level": 0.0, "before": energy,
    }  # fmt: skip


def advance(state: ComponentsFields, target: Target, lo: int, hi: int) -> None:
    """Units ``lo`` to ``hi`` of a trajectory: the slopes where it begins, then its steps."""
    leap: Leap = state["leap"]
    n, m, _size = target.shape
    if lo == 0:
        leap["level"] = binary.rise(leap["at"], target.precision, target.sign, n, m, leap["slope"])
        leap["before"] = leap["level"] - leap["before"]
    step = leap["length"] * spread_of(state["leaps"], target)
    leap["level"] = binary.leap(
        leap["at"], leap["momentum"], leap["slope"], leap["level"], leap["before"] - _LOST, step, lo <= 1, hi - max(lo, 1),
        target.precision, target.sign, n, m,
    )  # fmt: skip


def end(rng: np.random.Generator, state: ComponentsFields, target: Target, warming: bool) -> None:
    """Go where the trajectory has come, or stay; in the warm-up its step is learnt, and how strong the components are."""
    leap, leaps = state.pop("leap"), state["leaps"]
    momentum = leap["momentum"] + 0.5 * leap["length"] * spread_of(leaps, target) * leap["slope"]
    gain = leap["level"] - 0.5 * float(np.vdot(momentum, momentum)) - leap["before"]
    if math.log(rng.random()) < gain:
        state["scores"][:], state["loadings"][:], state["mean"][:] = parts(leap["at"], target.shape)
    if warming:
        leaps["count"] += 1
        learnt = leaps["log_step"] + (math.exp(min(0.0, gain)) - TARGET) / math.sqrt(leaps["count"])
        leaps["log_step"] = min(max(learnt, math.log(0.01)), math.log(1.2))
        leaps["strength"] += _FORGETS * ((state["loadings"] ** 2).sum(axis=0) - leaps["strength"])
