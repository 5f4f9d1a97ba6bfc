"""A move of f and the amplitudes together, with the auxiliary variables integrated out.

Given z the amplitude hardly moves where z has many values, and given the amplitude z does not: f times k with all amplitudes^2 times
k^2 leaves the prior of f as it is (Yu & Meng 2011, Journal of Computational and Graphical Statistics 20:531), so only the labels and
the prior of the amplitudes decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance

_WIDTH, _MOST_STEPS = 0.5, 10


def stretch(
    rng: np.random.Generator,
    f: np.ndarray,
    theta: np.ndarray,
    law: Covariance,
    log_likelihood: Callable[[np.ndarray], float],
) -> np.ndarray:
    """f (K, N) stretched by a drawn factor, theta (P,) with it in place; ``log_likelihood`` is of the labels given f."""
    return f * stretch_amplitudes(rng, theta, law, lambda factor: log_likelihood(f * factor))


def stretch_amplitudes(
    rng: np.random.Generator, theta: np.ndarray, law: Covariance, log_rest: Callable[[float], float]
) -> float:
    """A drawn factor k of f, by whose square all amplitudes in theta (P,) grow, in place.

    ``log_rest`` of a factor is the log density of all that depends on it beside the prior of theta, with the volume of whatever else
    it stretches, on a logarithmic scale of the factor.
    """

    def log_density(log_k: float) -> float:
        moved = theta.copy()
        moved[: law.n_groups] += 2.0 * log_k
        return log_rest(math.exp(log_k)) + law.log_prior(moved)

    log_k = slice_around_zero(rng, log_density)
    theta[: law.n_groups] += 2.0 * log_k
    return math.exp(log_k)


def slice_around_zero(rng: np.random.Generator, log_density: Callable[[float], float]) -> float:
    """A slice step from 0 by stepping out and shrinkage (Neal 2003, Annals of Statistics 31:705)."""
    level = log_density(0.0) + math.log(rng.random())
    low = -_WIDTH * rng.random()
    high = low + _WIDTH
    below = int(rng.integers(_MOST_STEPS))
    for _ in range(below):
        if log_density(low) <= level:
            break
        low -= _WIDTH
    for _ in range(_MOST_STEPS - 1 - below):
        if log_density(high) <= level:
            break
        high += _WIDTH
    while True:
        place = low + (high - low) * rng.random()
        if log_density(place) > level:
            return place
        if place < 0.0:
            low = place
        else:
            high = place
