"""Priors of partitions: what a new cluster weighs, the density of a partition, and the concentration given it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from plaidwork.plugins.dirichlet_processes.kernels.finite import log_new_clusters
from plaidwork.plugins.dirichlet_processes.settings import Settings

LOG_ALPHA = (-20.0, 12.0)
"""Where the concentration of a Pitman-Yor process is looked for; its prior has nothing beyond that could be seen."""
DISCOUNT = (1e-9, 1.0 - 1e-9)
LEAST = 1e-12
Floats = NDArray[np.float64]


@lru_cache(maxsize=8)
def finite_table(n: int) -> Floats:
    """``log_new_clusters``, which depends on n alone: not to be changed."""
    found: Floats = log_new_clusters(n)
    return found


def log_new(params: Settings, n: int, alpha: float, discount: float) -> Floats:
    """(n + 1,) log weight of a new cluster beside K others, K from 0 on."""
    if params["prior"] == "finite":
        return finite_table(n).copy()  # one that is read-only would have all kernels compiled once more
    if params["prior"] == "pitman_yor":
        return np.asarray(np.log(alpha + discount * np.arange(n + 1)))
    return np.full(n + 1, math.log(alpha))


def shift_of(params: Settings, discount: float) -> float:
    """What is added to the size of a cluster that is joined."""
    return {"dirichlet": 0.0, "pitman_yor": -discount, "finite": 1.0}[params["prior"]]


def log_partition(
    params: Settings, sizes: NDArray[np.int64], alpha: float, discount: float, table: Floats
) -> float:
    """Log probability of a partition with clusters of these sizes (K,); ``table`` is ``log_new`` at alpha and discount."""
    shift, n = shift_of(params, discount), int(sizes.sum())
    out = float(table[: len(sizes)].sum() + (gammaln(sizes + shift) - gammaln(1.0 + shift)).sum())
    return out if params["prior"] == "finite" else out + math.lgamma(alpha) - math.lgamma(alpha + n)


def log_hyper(params: Settings, alpha: float, discount: float) -> float:
    """Log density of the concentration and the discount under their priors, as far as they are learned."""
    total = 0.0
    if params["prior"] != "finite" and params["learn_alpha"]:
        a, b = params["alpha_shape"], params["alpha_rate"]
        total += a * math.log(b) - math.lgamma(a) + (a - 1.0) * math.log(alpha) - b * alpha
    if params["prior"] == "pitman_yor" and params["learn_discount"]:
        total += math.log(3.0) + 2.0 * math.log1p(-discount)  # Beta(1, 3)
    return total


def draw_alpha(rng: np.random.Generator, alpha: float, n: int, k: int, shape: float, rate: float) -> float:
    """Concentration of a Dirichlet process given k clusters of n rows (Escobar and West 1995, eqs. 13-14).

    ``eta | alpha ~ Beta(alpha + 1, n)``; alpha is from a mixture of two gamma laws of rate ``rate - log eta`` with shapes
    ``shape + k`` and ``shape + k - 1`` and odds ``(shape + k - 1) / (n (rate - log eta))``.
    """
    ratio = rng.gamma(n) / max(rng.gamma(alpha + 1.0), 1e-300)  # (1 - eta) / eta
    tilted = rate + math.log1p(ratio)
    odds = (shape + k - 1.0) / (n * tilted)
    more = rng.random() * (1.0 + odds) < odds
    return max(float(rng.gamma(shape + k - (0.0 if more else 1.0))) / tilted, LEAST)


def draw_shared_alpha(
    rng: np.random.Generator, alpha: float, sizes: NDArray[np.int64], seats: int, shape: float, rate: float
) -> float:
    """Concentration of several groups with these sizes (D,) given the tables of all (Teh et al. 2006, appendix A)."""
    sizes = sizes[sizes > 0]
    left = np.log(np.maximum(rng.beta(alpha + 1.0, sizes), 1e-300)).sum()
    ended = (rng.random(len(sizes)) * (sizes + alpha) < sizes).sum()
    return max(float(rng.gamma(shape + seats - ended) / (rate - left)), LEAST)


def slice_draw(
    rng: np.random.Generator, x: float, density: Callable[[float], float], low: float, high: float
) -> float:
    """One slice-sampling step between two ends that the law does not leave, by shrinkage (Neal 2003, figure 5)."""
    level = density(x) + math.log(max(rng.random(), 1e-300))
    while True:
        found = low + (high - low) * rng.random()
        if density(found) >= level:
            return found
        if found < x:
            low = found
        else:
            high = found


def draw_hyper(
    rng: np.random.Generator, params: Settings, sizes: NDArray[np.int64], alpha: float, discount: float
) -> tuple[float, float]:
    """Concentration and discount given the sizes (K,) of the clusters."""
    n, k = int(sizes.sum()), len(sizes)
    if params["prior"] == "dirichlet" and params["learn_alpha"]:
        return draw_alpha(rng, alpha, n, k, params["alpha_shape"], params["alpha_rate"]), discount
    if params["prior"] != "pitman_yor":
        return alpha, discount

    def density(a: float, d: float) -> float:
        table = np.log(a + d * np.arange(k))
        return log_partition(params, sizes, a, d, table) + log_hyper(params, a, d)

    if params["learn_alpha"]:
        log_alpha = slice_draw(rng, math.log(alpha), lambda u: density(math.exp(u), discount) + u, *LOG_ALPHA)
        alpha = math.exp(log_alpha)
    if params["learn_discount"]:
        discount = slice_draw(rng, discount, lambda d: density(alpha, d), *DISCOUNT)
    return alpha, discount
