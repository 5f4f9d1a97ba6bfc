"""Scores of samples that were not fitted: A, thresholds, classifiers and groups stay as they are in the draw."""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.rank_factor.kernels import levels as level_kernels
from plaidwork.plugins.rank_factor.kernels.labels import mean_scores
from plaidwork.plugins.rank_factor.kernels.lanes import draw_systems
from plaidwork.plugins.rank_factor.kernels.solve import diagonal, outer_packed
from plaidwork.plugins.rank_factor.mixture import choose, decisions, log_densities
from plaidwork.plugins.rank_factor.setup import NewCells, Setup
from plaidwork.plugins.rank_factor.state import Draw, Rows


def new_terms(
    draw: Rows,
    setup: Setup,
    cells: NewCells,
    z: np.ndarray,
    eps: float,
    lo: int,
    hi: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """What rows lo to hi say to the scores ``z`` (M, K): precision (M, packed) and linear term (M, K)."""
    a = draw["a"][lo:hi]
    if cells.placed is None:
        p = draw["gamma"][lo:hi, None] * cells.known[lo:hi]
        h = draw["gamma"][lo:hi, None] * cells.x[lo:hi]
    else:
        w = a @ z.T
        values = draw["c"][lo:hi] if setup.pairs is None else a @ draw["z"].T
        p, h = level_kernels.buffers(w.shape, 2)
        lower, upper = cells.placed.lower[lo:hi], cells.placed.upper[lo:hi]
        level_kernels.draw_placed(rng, w, lower, upper, values, eps, p, h)
    return p.T @ outer_packed(a), h.T @ a


def draw_new(
    draw: Draw,
    setup: Setup,
    z: np.ndarray,
    precision: np.ndarray,
    linear: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw ``z`` (M, K) in place, the labels unknown; returns the values f (M, G) of the classifiers.

    f is the mean over the groups a sample may be of. With Gaussian data and one plane z is its mean, not a draw.
    """
    k = z.shape[1]
    groups = len(draw["psi"])
    t = (
        choose(log_densities(draw["log_weight"], draw["mu"], draw["psi"], z), rng)
        if groups > 1
        else np.zeros(len(z), np.int64)
    )
    precision[:, diagonal(k)] += draw["psi"][t][:, None]
    linear += draw["psi"][t][:, None] * draw["mu"][t]
    if setup.likelihood == "gaussian" and groups == 1:
        mean_scores(0, len(z), precision, linear, z, np.empty_like(precision), np.empty(len(z)))
    else:
        draw_systems(rng, precision, linear, z)
    return mean_decisions(draw, z)


def mean_decisions(draw: Draw, z: np.ndarray) -> np.ndarray:
    """(M, G) sum over the groups of p(t | z) beta_t' z; of a Gaussian process its values."""
    if "boundary" in draw:
        return draw["boundary"].values(z)
    f = decisions(z, draw["beta"])
    if f.shape[1] == 1:
        return f[:, 0]
    log_p = log_densities(draw["log_weight"], draw["mu"], draw["psi"], z)
    p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    return (p[:, :, None] * f).sum(axis=1) / p.sum(axis=1, keepdims=True)
