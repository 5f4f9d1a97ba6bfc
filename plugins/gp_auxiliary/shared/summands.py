"""Moves of the summands of f, each with its amplitude, with the auxiliary variables integrated out.

Where a covariance is a sum, f is a sum of functions. What one of them has grown by another may have lost: a factor for the whole
(``stretching.py``) changes neither, and given the values z both are held. So the summands are drawn given z, and each is stretched by
itself (Yu & Meng 2011, Journal of Computational and Graphical Statistics 20:531), the intercept of a linear term with its bias.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.gp_auxiliary.kernels import covariance as kernels
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, draw_f, times_q
from plaidwork.plugins.gp_auxiliary.shared.state import Gram
from plaidwork.plugins.gp_auxiliary.shared.stretching import slice_around_zero, stretch

MOST = 800
"""Samples above which f is stretched as a whole: roots of the summands' covariances would hold a chain for too long."""
_JITTER = 1e-8
"""Of the largest variance, so that a root is there: far below the noise's 1."""


@dataclass(frozen=True, slots=True)
class Summand:
    """A part of f: it is there without the parameters ``off``, and its size goes with ``scales`` (an amplitude or a bias)."""

    off: tuple[int, ...]
    scales: int


def summands_of(law: Covariance) -> list[Summand]:
    """One for each amplitude, and the intercepts of linear terms, which stand alone in their groups."""
    found = []
    for group in range(law.n_groups):
        others = tuple(g for g in range(law.n_groups) if g != group)
        terms = law.table[law.table[:, 1] == group]
        found.append(Summand(others, group))
        if len(terms) == 1 and terms[0, 0] == kernels.LINEAR:
            bias = int(terms[0, 2])
            found[-1] = Summand((*others, bias), group)
            found.append(Summand(others, bias))
    return found


def stretch_f(
    rng: np.random.Generator,
    z: np.ndarray,
    gram: Gram,
    theta: np.ndarray,
    prior: Prior,
    log_likelihood: Callable[[np.ndarray], float],
    apart: bool,
) -> np.ndarray:
    """f (K, N) given z (K, N), stretched, with theta (P,) in place; ``log_likelihood`` is of the labels given f.

    ``gram`` is of theta as it comes. With ``apart`` the summands are stretched one by one, where they are few samples'.
    """
    parts = summands_of(prior.covariance)
    if not apart or len(parts) == 1 or not prior.dense or len(prior.x) > MOST:
        return stretch(rng, draw_f(rng, z, gram), theta, prior.covariance, log_likelihood)
    f = draw_summands(rng, z, gram, theta, prior, parts)
    for number, part in enumerate(parts):
        _stretch_one(rng, f, number, part, parts, theta, prior.covariance, log_likelihood)
    return np.asarray(f.sum(axis=0))


def draw_summands(
    rng: np.random.Generator,
    z: np.ndarray,
    gram: Gram,
    theta: np.ndarray,
    prior: Prior,
    parts: list[Summand],
) -> np.ndarray:
    """(parts, K, N) summands of f given z (K, N): draws from the prior, corrected by ``C_s Q (z - z0)`` (Matheron's rule)."""
    each = [_covariance(prior, theta, number, parts) for number in range(len(parts))]
    f = np.array([rng.standard_normal(z.shape) @ _root(c).T for c in each])
    gap = times_q((z - f.sum(axis=0) - rng.standard_normal(z.shape)).T, gram).T
    for part, c in zip(f, each, strict=True):
        part += gap @ c
    return f


def _stretch_one(
    rng: np.random.Generator,
    f: np.ndarray,
    number: int,
    part: Summand,
    parts: list[Summand],
    theta: np.ndarray,
    law: Covariance,
    log_likelihood: Callable[[np.ndarray], float],
) -> None:
    """Stretch a summand of f (parts, K, N) and the square root of its scale by one factor; both in place.

    The amplitude of a linear term is that of its intercept too, so that both are stretched with it.
    """
    together = [
        other
        for other, its in enumerate(parts)
        if other == number
        or (part.scales < law.n_groups and its.scales in part.off and its.scales >= law.n_groups)
    ]
    moving = f[together].sum(axis=0)
    still = f.sum(axis=0) - moving

    def log_density(log_k: float) -> float:
        moved = theta.copy()
        moved[part.scales] += 2.0 * log_k
        return log_likelihood(still + moving * math.exp(log_k)) + law.log_prior(moved)

    log_k = slice_around_zero(rng, log_density)
    theta[part.scales] += 2.0 * log_k
    f[together] *= math.exp(log_k)


def _covariance(prior: Prior, theta: np.ndarray, number: int, parts: list[Summand]) -> np.ndarray:
    """(N, N) covariance of one of the summands."""
    part, law = parts[number], prior.covariance
    only = theta.copy()
    only[list(part.off)] = -np.inf
    c = law.matrix(prior.x, only)
    if part.scales >= law.n_groups:  # an intercept: what its linear term has beyond the slopes
        only[part.scales] = -np.inf
        c -= law.matrix(prior.x, only)
    return c


def _root(c: np.ndarray) -> np.ndarray:
    jittered = c.copy()
    jittered[np.diag_indices_from(c)] += _JITTER * max(float(c.diagonal().max()), 1e-300)
    return np.asarray(np.linalg.cholesky(jittered))
