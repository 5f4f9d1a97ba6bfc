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
    """What scores, loadings and means are moved under."""

    sign: np.ndarray
    """(n * m,) 1 of a one, -1 of a zero, 0 of a cell that is not known."""
    precision: np.ndarray
    """(K,) of the loadings' priors."""
    mean_precision: float


def new_leaps(loadings: np.ndarray) -> Leaps:
    """Nothing tried yet, from loadings (m, K)."""
    return {"log_step": math.log(START), "count": 0, "strength": (loadings**2).sum(axis=0)}


def rise(
    target: Target, x: np.ndarray, w: np.ndarray, mu: np.ndarray
) -> tuple[float, tuple[np.ndarray, ...]]:
    """Log density of scores (n, K), loadings (m, K) and means (m,), but for a constant, and its slopes."""
    cells = x @ w.T
    cells += mu
    total = binary.log_cells(cells.reshape(-1), target.sign)
    prior = np.vdot(x, x) + np.vdot(target.precision * w, w) + target.mean_precision * np.vdot(mu, mu)
    slopes = (
        cells @ w - x,
        cells.T @ x - target.precision * w,
        np.ones(len(x)) @ cells
        - target.mean_precision * mu,  # the sum over samples, by the library of products
    )
    return float(total - 0.5 * prior), slopes


def spreads(leaps: Leaps, target: Target, shape: tuple[int, int]) -> tuple[np.ndarray, ...]:
    """About how far scores, loadings and means each go given all else: the scales of their momenta.

    The smaller of the two sets of scores and loadings is held back by the other more than by its own spread, and its few steps
    add little to the error of a trajectory: it goes further.
    """
    n, m = shape
    size, share = len(target.precision), np.count_nonzero(target.sign) / len(target.sign)
    further = min(max((n * size / (m * (size + 1))) ** 0.25, 1 / _WIDEST), _WIDEST)
    own = _INFORMATION * n * share
    return (
        (1.0 + _INFORMATION * share * leaps["strength"]) ** -0.5,
        further * (own + target.precision) ** -0.5,
        np.array(further * (own + target.mean_precision) ** -0.5),
    )


def begin(rng: np.random.Generator, state: ComponentsFields, mean_steps: int) -> None:
    """Set out from where the chain is; the first unit of work finds the slopes there."""
    at = (state["scores"].copy(), state["loadings"].copy(), state["mean"].copy())
    momenta = tuple(rng.standard_normal(part.shape) for part in at)
    steps = int(rng.integers(1, 2 * mean_steps))
    length = math.exp(state["leaps"]["log_step"]) * (0.8 + 0.4 * rng.random())
    energy = 0.5 * sum(float((p**2).sum()) for p in momenta)
    state["leap"] = {
        "at": at, "momenta": momenta, "slopes": at, "steps": steps, "length": length, "level": 0.0, "before": energy,
    }  # fmt: skip


def advance(state: ComponentsFields, target: Target, lo: int, hi: int) -> None:
    """Units ``lo`` to ``hi`` of a trajectory: the slopes where it begins, then its steps."""
    leap: Leap = state["leap"]
    scales = spreads(state["leaps"], target, (len(leap["at"][0]), len(leap["at"][1])))
    for number in range(lo, hi):
        if number and leap["level"] < leap["before"] - _LOST:
            return
        if number:
            kick = leap["length"] * (0.5 if number == 1 else 1.0)
            for at, p, slope, scale in zip(leap["at"], leap["momenta"], leap["slopes"], scales, strict=True):
                p += kick * scale * slope
                at += leap["length"] * scale * p
        leap["level"], leap["slopes"] = rise(target, *leap["at"])
        if number == 0:
            leap["before"] = leap["level"] - leap["before"]


def end(rng: np.random.Generator, state: ComponentsFields, target: Target, warming: bool) -> None:
    """Go where the trajectory has come, or stay; in the warm-up its step is learnt, and how strong the components are."""
    leap, leaps = state.pop("leap"), state["leaps"]
    scales = spreads(leaps, target, (len(leap["at"][0]), len(leap["at"][1])))
    energy = 0.0
    for p, slope, scale in zip(leap["momenta"], leap["slopes"], scales, strict=True):
        energy += 0.5 * float(((p + 0.5 * leap["length"] * scale * slope) ** 2).sum())
    gain = leap["level"] - energy - leap["before"]
    if math.log(rng.random()) < gain:
        state["scores"][:], state["loadings"][:], state["mean"][:] = leap["at"]
    if warming:
        leaps["count"] += 1
        learnt = leaps["log_step"] + (math.exp(min(0.0, gain)) - TARGET) / math.sqrt(leaps["count"])
        leaps["log_step"] = min(max(learnt, math.log(0.01)), math.log(1.2))
        leaps["strength"] += _FORGETS * ((state["loadings"] ** 2).sum(axis=0) - leaps["strength"])
