"""Scores of samples that were not fitted under q: a fixed point with A, thresholds and classifiers as they are."""

from __future__ import annotations

import numpy as np

from plaidwork.plugins.rank_factor.kernels import levels as level_kernels
from plaidwork.plugins.rank_factor.kernels.labels import mean_scores
from plaidwork.plugins.rank_factor.kernels.random import LEAST_U
from plaidwork.plugins.rank_factor.kernels.solve import diagonal, doubled, outer_packed, packed_size
from plaidwork.plugins.rank_factor.mixture import log_densities
from plaidwork.plugins.rank_factor.setup import NewCells, Setup
from plaidwork.plugins.rank_factor.state import Factors, Floats
from plaidwork.plugins.rank_factor.vb_rows import unpacked

CLOSE, MOST_ROUNDS, PART_CELLS = 1e-4, 200, 200_000


def settle(
    q: Factors, setup: Setup, cells: NewCells, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q(z) and q(t) of new samples: mean (M, K), covariance (M, packed), shares of the groups (M, T)."""
    size, k = cells.size, q["a"].shape[1]
    z, covariance, log_det = np.zeros((size, k)), np.zeros((size, packed_size(k))), np.empty(size)
    covariance[:, diagonal(k)] = 1.0
    share = np.full((size, len(q["psi"])), 1.0 / len(q["psi"]))
    for _ in range(MOST_ROUNDS):
        precision, linear = np.zeros(covariance.shape), np.zeros((size, k))
        step = max(1, PART_CELLS // size)
        for lo in range(0, len(q["a"]), step):
            p, h = _terms(q, setup, cells, eps, z, covariance, lo, min(len(q["a"]), lo + step))
            precision += p
            linear += h
        if share.shape[1] > 1:
            trace = covariance[:, diagonal(k)].sum(axis=1)[:, None]
            log_p = log_densities(q["log_weight"], q["mu"], q["psi"], z)
            log_p -= 0.5 * q["psi"] * (trace + k * q["mu_var"])
            share = np.exp(log_p - log_p.max(axis=1, keepdims=True))
            share /= share.sum(axis=1, keepdims=True)
        precision[:, diagonal(k)] += (share @ q["psi"])[:, None]
        linear += share @ (q["psi"][:, None] * q["mu"])
        before = z.copy()
        mean_scores(0, size, precision, linear, z, covariance, log_det)
        if np.abs(z - before).max() < CLOSE:
            break
    return z, covariance, share


def _terms(
    q: Factors, setup: Setup, cells: NewCells, eps: float, z: Floats, covariance: Floats, lo: int, hi: int
) -> tuple[np.ndarray, np.ndarray]:
    """What rows lo to hi say to the scores: (M, packed) and (M, K)."""
    a, second = q["a"][lo:hi], outer_packed(q["a"][lo:hi]) + q["a_cov"][lo:hi]
    if cells.placed is None:
        gamma = q["gamma"][lo:hi, None]
        return (gamma * cells.known[lo:hi]).T @ second, (gamma * cells.x[lo:hi]).T @ a
    k = z.shape[1]
    w = a @ z.T
    square = doubled(second, k) @ (outer_packed(z) + covariance).T
    if setup.pairs is not None:
        return _pair_terms(q, cells, eps, z, w, square, second, lo, hi)
    p, h = level_kernels.buffers(w.shape, 2)
    variance = np.maximum(square - w**2, 0.0)
    lower, upper = cells.placed.lower[lo:hi], cells.placed.upper[lo:hi]
    level_kernels.mean_placed(w, variance, lower, upper, q["c"][lo:hi], q["c_var"][lo:hi], eps, p, h)
    return p.T @ second, h.T @ a


def _pair_terms(
    q: Factors, cells: NewCells, eps: float, z: Floats, w: Floats, square: Floats, second: Floats, lo: int, hi: int
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Comparisons with fitted samples, which share the loadings: row by row."""
    assert cells.placed is not None
    size, k = z.shape
    fitted = q["z"]
    theirs = doubled(second, k) @ (outer_packed(fitted) + q["z_cov"]).T
    whole, spread = unpacked(second, k), unpacked(q["a_cov"][lo:hi], k)
    p, linear = np.zeros(w.shape), np.zeros((size, k))
    for i in range(hi - lo):
        turned, a = z @ whole[i], q["a"][lo + i]
        for position, sign in ((cells.placed.lower[lo + i], 1.0), (cells.placed.upper[lo + i], -1.0)):
            there = np.flatnonzero(position >= 0)
            other = fitted[position[there]]
            value = other @ a
            apart = sign * (value - w[i, there])
            gap = square[i, there] + theirs[i, position[there]] - 2.0 * (turned[there] * other).sum(axis=1)
            u2 = np.maximum(gap, apart**2) + 2.0 * eps * apart + eps**2
            kappa = 1.0 / np.maximum(np.sqrt(np.maximum(u2, 0.0)), LEAST_U)
            p[i, there] += kappa
            linear[there] += (kappa * (value + sign * eps) + sign)[:, None] * a
            linear[there] += (kappa[:, None] * other) @ spread[i]
    return p.T @ second, linear
