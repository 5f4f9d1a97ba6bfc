"""Updates of the covariance's parameters given z, with f integrated out, and steps that learn their size in warm-up."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from plaidwork.core.api import POSITION, Stage, State
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, is_dense
from plaidwork.plugins.gp_auxiliary.shared.hmc import POOR, UNITS, leap
from plaidwork.plugins.gp_auxiliary.shared.metric import new_metric
from plaidwork.plugins.gp_auxiliary.shared.state import Precision, Steps
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import LawSettings

TARGET = 0.44
"""Share of accepted steps that a walk in one coordinate aims at (Gelman, Roberts, Gilks 1996)."""
SLICE = 0.03
"""Seconds of one slice of a sweep."""


LONGEST = 0.8
"""Estimated seconds of a gradient of the dense form above which parameters walk: some 2,100 samples with few inputs, 1,400 with 800."""


def new_steps(count: int, start: float = 0.5) -> Steps:
    """Nothing tried yet."""
    return {
        "log_size": np.full(count, math.log(start)),
        "tried": np.zeros(count),
        "taken": np.zeros(count),
        "current": np.full(1, math.nan),
    }


def steps_of(prior: Prior, params: LawSettings) -> Steps:
    """How the parameters of the covariance are moved, nothing tried yet."""
    steps = new_steps(len(prior.covariance.parameters))
    if params["moves"] == "hamiltonian" and not _too_long(prior):
        steps["metric"] = new_metric(prior, params["metric"] == "draws")
    return steps


def _too_long(prior: Prior) -> bool:
    """Whether one gradient would hold a chain for so long that a stop is not obeyed in time; values are cheaper."""
    if prior.gradient_seconds() < LONGEST:
        return False
    return prior.low_rank(prior.covariance.prior_mean) is None


def moves_of(params: LawSettings) -> int:
    """Units of work on the covariance in a sweep: those of one trajectory, or steps of a walk."""
    if params["parameters"] == "fixed":
        return 0
    return UNITS if params["moves"] == "hamiltonian" else params["walks"]


def a_slice(seconds: float) -> int:
    """Units of one slice of a sweep, where a unit takes so long."""
    return max(1, int(SLICE / seconds))


def walk_seconds(gram: Precision) -> float:
    """About how long a step of the covariance takes, which makes a precision of such a form anew."""
    size, rank = gram["rows"].shape
    return 2e-10 * size**3 if is_dense(gram) else 2e-9 * size * rank**2


def pass_seconds(gram: Precision) -> float:
    """About how long it takes to draw z of every sample once, or to multiply by the precision."""
    return 5e-10 * gram["rows"].size + 3e-7 * len(gram["rows"])


def move_seconds(gram: Precision, params: LawSettings) -> float:
    """About how long a unit of such work takes: a gradient costs some four values."""
    return walk_seconds(gram) * (4.0 if params["moves"] == "hamiltonian" else 1.0)


def covariance_stage(gram: Precision, params: LawSettings, move: Callable[[int, int], None]) -> list[Stage]:
    """The moves of the covariance, ``move(lo, hi)`` some of them; no stage where it is fixed."""
    count = moves_of(params)
    return [Stage("covariance", move, count, a_slice(move_seconds(gram, params)))] if count else []


def upgraded(state: State) -> State:
    """A state of version 1, which counted the calls of a sweep: first z, then one for each step of the covariance."""
    call = state.pop("call")
    if call:
        state[POSITION] = {"stage": "covariance", "at": call - 1}
    return state


def learn(steps: Steps, index: int, taken: bool, warming: bool) -> None:
    """Note a try; in the warm-up the step grows when it was taken (Robbins-Monro), later it stays."""
    steps["tried"][index] += 1
    steps["taken"][index] += taken
    if warming:
        gain = 1.0 / math.sqrt(1.0 + steps["tried"][index])
        steps["log_size"][index] += 2.0 * gain * (float(taken) - TARGET)


def step_size(steps: Steps, index: int) -> float:
    return math.exp(steps["log_size"][index])


def move_theta(
    rng: np.random.Generator,
    theta: np.ndarray,
    z: np.ndarray,
    prior: Prior,
    steps: Steps,
    warming: bool,
    lo: int,
    hi: int,
) -> bool:
    """Units ``lo..hi-1`` of the work on theta (P,), in place, under p(theta | z); whether it moved. z (K, N).

    Trajectories that end badly in the warm-up give way to walks.
    """
    if "metric" not in steps or steps["metric"]["recent"] < POOR:
        return walk_theta(rng, theta, z, prior, steps, warming, hi - lo)
    moved = False
    for number in range(lo, hi):
        taken = leap(rng, theta, z, prior, steps["metric"], warming, number)
        if taken is not None:
            steps["tried"] += 1
            steps["taken"] += taken
            moved |= taken
    return moved


def walk_theta(
    rng: np.random.Generator,
    theta: np.ndarray,
    z: np.ndarray,
    prior: Prior,
    steps: Steps,
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
