"""Updates of the covariance's parameters given z, with f integrated out, and steps that learn their size in warm-up."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from plaidwork.plugins.gp_auxiliary.gram import Prior

TARGET = 0.44
"""Share of accepted steps that a walk in one coordinate aims at (Gelman, Roberts, Gilks 1996)."""
WHOLE_UP_TO = 200
"""Samples up to which a sweep is one call of ``step``: a few milliseconds."""


def new_steps(count: int, start: float = 0.5) -> dict[str, np.ndarray]:
    """Step sizes (logarithms), how often each was tried and accepted, and the log density where the walk stands (NaN:
    not known)."""
    return {
        "log_size": np.full(count, math.log(start)),
        "tried": np.zeros(count),
        "taken": np.zeros(count),
        "current": np.full(1, math.nan),
    }


def parts_of(size: int, params: Any) -> int:
    """Calls of ``step`` that a sweep over ``size`` samples takes: large ones walk once a call."""
    return 1 + params["walks"] if size > WHOLE_UP_TO and params["parameters"] == "inferred" else 1


def learn(steps: dict[str, np.ndarray], index: int, taken: bool, warming: bool) -> None:
    """Note a try; in the warm-up the step grows when it was taken (Robbins-Monro), later it stays."""
    steps["tried"][index] += 1
    steps["taken"][index] += taken
    if warming:
        gain = 1.0 / math.sqrt(1.0 + steps["tried"][index])
        steps["log_size"][index] += 2.0 * gain * (float(taken) - TARGET)


def step_size(steps: dict[str, np.ndarray], index: int) -> float:
    return math.exp(steps["log_size"][index])


def walk_theta(
    rng: np.random.Generator,
    theta: np.ndarray,
    z: np.ndarray,
    prior: Prior,
    steps: dict[str, np.ndarray],
    warming: bool,
    count: int,
) -> bool:
    """``count`` random-walk steps of single entries of theta (P,), in place, under p(theta | z); whether it moved.

    z (K, N); f is integrated out: given f the parameters would hardly move (page, section 5). Whoever changes z sets
    ``steps["current"]`` to NaN.
    """
    moved = False
    for _ in range(count):
        index = int(rng.integers(len(theta)))
        proposed = theta.copy()
        proposed[index] += step_size(steps, index) * rng.standard_normal()
        if math.isnan(steps["current"][0]):
            steps["current"][0] = prior.log_density(theta, z) + prior.covariance.log_prior(theta)
        value = prior.log_density(proposed, z) + prior.covariance.log_prior(proposed)
        taken = math.log(rng.random()) < value - steps["current"][0]
        learn(steps, index, taken, warming)
        if taken:
            theta[index] = proposed[index]
            steps["current"][0], moved = value, True
    return moved
