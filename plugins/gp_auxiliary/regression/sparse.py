"""Many samples by inducing points: the collapsed variational bound (Titsias 2009, AISTATS), its gradient, and predictions.

With ``G = L_Z^-1 C_ZX``, ``L_Z L_Z' = C_ZZ`` and ``A = s2 I + G G'``:
``F = log N(y | 0, G'G + s2 I) - (tr C - |G|^2) / (2 s2)``. F never exceeds the evidence and rises with every point that is added, at the same
parameters. Gradient: with ``P = C_ZZ^-1 C_ZX`` and ``B = (a a' - K^-1 + I / s2) / 2``,
``dF = 2 sum (B P') o dC_XZ - sum (P B P') o dC_ZZ - sum dC_nn / (2 s2)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from plaidwork.plugins.gp_auxiliary.regression.law import inputs_of, law_of
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, inducing_root


@dataclass(frozen=True, slots=True)
class Sparse:
    """At one theta.

    Attributes
    ----------
    noise : s2.
    root : (M, M) L_Z. loadings : (M, N) G. inner : (M, M) root of A.
    a : (N,) ``K^-1 y`` with ``K = G'G + s2 I``.
    weights : (M,) ``A^-1 G y``.
    left : (N,) variances of f that the points leave.
    """

    noise: float
    root: np.ndarray
    loadings: np.ndarray
    inner: np.ndarray
    a: np.ndarray
    weights: np.ndarray
    left: np.ndarray

    def bound(self, y: np.ndarray) -> float:
        """F of values y (N,), in nats."""
        size, rank = len(y), len(self.root)
        log_det = (size - rank) * math.log(self.noise) + 2.0 * float(np.log(np.diag(self.inner)).sum())
        value = -0.5 * (size * math.log(2.0 * math.pi) + log_det + float(y @ self.a))
        return value - 0.5 * float(self.left.sum()) / self.noise

    def left_out(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean (N,), variance (N,)) of each value y (N,) given all others, noise included."""
        half = solve_triangular(self.inner, self.loadings, lower=True)
        own = self.noise / np.maximum(1.0 - (half * half).sum(axis=0), 1e-12)
        return y - self.a * own, own + self.left

    def moments_at(self, prior: Prior, theta: np.ndarray, x_new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean (m,), variance (m,)) of f at inputs x_new (m, D)."""
        law = law_of(prior).latent()
        new = solve_triangular(self.root, law.cross(x_new, prior.inducing, theta).T, lower=True)
        half = solve_triangular(self.inner, new, lower=True)
        variance = law.variance(x_new, theta) - (new * new).sum(axis=0)
        return new.T @ self.weights, np.maximum(variance, 0.0) + self.noise * (half * half).sum(axis=0)


def solve_sparse(prior: Prior, theta: np.ndarray, y: np.ndarray) -> Sparse:
    """At theta (P,) for values y (N,), by the prior's inducing points (M, D); one noise variance. Raises ``LinAlgError``."""
    law, x, z = law_of(prior), inputs_of(prior.x), prior.inducing
    noise, latent = float(law.noises(theta)[0]), law.latent()
    root = inducing_root(latent.matrix(z, theta))
    g = solve_triangular(root, latent.cross(x, z, theta).T, lower=True)
    inner = g @ g.T
    inner.flat[:: len(inner) + 1] += noise
    inner = np.linalg.cholesky(inner)
    weights = solve_triangular(inner, solve_triangular(inner, g @ y, lower=True), lower=True, trans=1)
    left = np.maximum(latent.variance(x, theta) - (g * g).sum(axis=0), 0.0)
    return Sparse(noise, root, g, inner, (y - g.T @ weights) / noise, weights, left)


def bound_and_slope(prior: Prior, theta: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """F and its gradient (P,); -inf where rounding leaves a matrix indefinite."""
    try:
        found = solve_sparse(prior, theta, y)
    except np.linalg.LinAlgError:
        return -math.inf, np.zeros(len(theta))
    law, noise, g, a = law_of(prior).latent(), found.noise, found.loadings, found.a
    rank = len(g)
    inverse = solve_triangular(found.inner, np.eye(rank), lower=True)
    inverse = inverse.T @ inverse  # A^-1
    middle = np.eye(rank) / noise - inverse
    b_p = (middle @ g + np.outer(g @ a, a)).T  # 2 B G', but for L_Z
    b_p = 0.5 * solve_triangular(found.root, b_p.T, lower=True, trans=1).T
    p_b_p = solve_triangular(found.root, g @ b_p, lower=True, trans=1)
    x, z = inputs_of(prior.x), prior.inducing
    slope = law.cross_slopes(x, z, theta, np.ascontiguousarray(2.0 * b_p))
    slope -= law.slopes(z, theta, 0.5 * (p_b_p + p_b_p.T))
    slope += law.variance_slopes(x, theta, np.full(len(y), -0.5 / noise))
    trace = (len(y) - rank) / noise + float(np.trace(inverse))
    by_noise = 0.5 * (float(a @ a) - trace) + 0.5 * float(found.left.sum()) / noise**2
    slope[-1] += math.exp(theta[-1]) * by_noise
    return found.bound(y), slope
