"""Many samples by inducing points: the collapsed variational bound (Titsias 2009, AISTATS), its gradient, and predictions.

With ``G = L_Z^-1 C_ZX``, ``L_Z L_Z' = C_ZZ`` and ``A = s2 I + G G'``:
``F = log N(y | 0, G'G + s2 I) - (tr C - |G|_F^2) / (2 s2)``. F never exceeds the evidence and rises with every point that is added, at the same
parameters. Gradient: with ``P = C_ZZ^-1 C_ZX`` and ``B = (a a' - K^-1 + I / s2) / 2``,
``dF = 2 sum (P B) o dC_ZX - sum (P B P') o dC_ZZ - sum dC_nn / (2 s2)``; and ``P B = L_Z^-T ((I / s2 - A^-1) G + w a') / 2`` with ``w = G a``,
the weights ``A^-1 G y``.

All is done for blocks of samples that stay in the processor's memory: of matrices of all samples there is G alone, and what costs O(N M^2) are
products of matrices. ``L_Z^-1`` is formed for them: substitution takes three times as long as a product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsyrk

from plaidwork.plugins.gp_auxiliary.regression.law import inputs_of, law_of
from plaidwork.plugins.gp_auxiliary.shared.blocks import blocks_of as all_blocks
from plaidwork.plugins.gp_auxiliary.shared.blocks import is_large, of_each, summed
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, inducing_root, inverse_of

_BLOCK = 1024
"""Samples in a block."""
_PARTS = 5
"""Groups of rows in which a lower triangular matrix is multiplied, so that three fifths of it are, not all."""


@dataclass(frozen=True, slots=True)
class Sparse:
    """At one theta.

    Attributes
    ----------
    noise : s2.
    lower : (M, M) ``L_Z^-1``.
    loadings : G and below it a by blocks of samples (M + 1, B), together (M + 1, N).
    shared : (M, M) ``G G'``. inner : (M, M) root of A.
    weights : (M,) ``w = A^-1 G y``.
    left : (N,) variances of f that the points leave.
    """

    noise: float
    lower: np.ndarray
    loadings: tuple[np.ndarray, ...]
    shared: np.ndarray
    inner: np.ndarray
    weights: np.ndarray
    left: np.ndarray

    @property
    def a(self) -> np.ndarray:
        """(N,) ``K^-1 y`` with ``K = G'G + s2 I``."""
        return np.concatenate([g[-1] for g in self.loadings])

    def bound(self, y: np.ndarray) -> float:
        """F of values y (N,), in nats."""
        size, rank = len(y), len(self.lower)
        log_det = (size - rank) * math.log(self.noise) + 2.0 * float(np.log(np.diag(self.inner)).sum())
        value = -0.5 * (size * math.log(2.0 * math.pi) + log_det + float(y @ self.a))
        return value - 0.5 * float(self.left.sum()) / self.noise

    def left_out(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean (N,), variance (N,)) of each value y (N,) given all others, noise included."""
        inverse = inverse_of(self.inner)
        share = np.concatenate([_squared_columns(times_lower(inverse, g[:-1])) for g in self.loadings])
        own = self.noise / np.maximum(1.0 - share, 1e-12)
        return y - self.a * own, own + self.left

    def moments_at(self, prior: Prior, theta: np.ndarray, x_new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(mean (m,), variance (m,)) of f at inputs x_new (m, D)."""
        law, inverse = law_of(prior).latent(), inverse_of(self.inner)
        mean, variance = np.empty(len(x_new)), law.variance(x_new, theta)
        for part in blocks_of(len(x_new)):
            new = times_lower(self.lower, law.cross(prior.inducing, x_new[part], theta))
            mean[part] = self.weights @ new
            rest = np.maximum(variance[part] - _squared_columns(new), 0.0)
            variance[part] = rest + self.noise * _squared_columns(times_lower(inverse, new))
        return mean, variance


def blocks_of(size: int, start: int = 0) -> Iterator[slice]:
    """The blocks of samples from ``start`` up to so many."""
    for lo in range(start, size, _BLOCK):
        yield slice(lo, min(lo + _BLOCK, size))


def times_lower(lower: np.ndarray, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The product of a lower triangular matrix (M, M) and another one (M, B), put into ``out`` if given."""
    out = np.empty(values.shape) if out is None else out
    edges = [len(lower) * k // _PARTS for k in range(_PARTS + 1)]
    for start, stop in pairwise(edges):
        np.matmul(lower[start:stop, :stop], values[:stop], out=out[start:stop])
    return out


def _squared_columns(values: np.ndarray) -> np.ndarray:
    """(B,) squared lengths of the columns of a matrix (M, B)."""
    return np.asarray(np.einsum("mb,mb->b", values, values))


def solve_sparse(prior: Prior, theta: np.ndarray, y: np.ndarray) -> Sparse:
    """At theta (P,) for values y (N,), by the prior's inducing points (M, D); one noise variance. Raises ``LinAlgError``."""
    law, x, z = law_of(prior), inputs_of(prior.x), prior.inducing
    noise, latent, rank = float(law.noises(theta)[0]), law.latent(), len(z)
    lower = inverse_of(inducing_root(latent.matrix(z, theta)))
    left = np.empty(len(x))

    def work(several: slice) -> tuple[np.ndarray, list[np.ndarray]]:
        products, found = np.zeros((rank + 1, rank + 1), order="F"), []  # of G and y: its upper half
        for part in blocks_of(several.stop, several.start):
            g = np.empty((rank + 1, part.stop - part.start))
            times_lower(lower, latent.cross(z, x[part], theta), g[:rank])
            left[part] = np.maximum(latent.variance(x[part], theta) - _squared_columns(g[:rank]), 0.0)
            g[rank] = y[part]
            if is_large(len(x)):
                products += g @ g.T  # as the other one, which keeps the interpreter's lock
            else:
                products = dsyrk(1.0, g.T, beta=1.0, c=products, trans=1, overwrite_c=1)
            found.append(g)
        return products, found

    products, loadings = summed(work, len(x))
    shared, pulled = products[:rank, :rank], products[:rank, rank]
    shared = np.triu(shared) + np.triu(shared, 1).T
    inner = np.linalg.cholesky(shared + noise * np.eye(rank))
    weights = solve_triangular(inner, solve_triangular(inner, pulled, lower=True), lower=True, trans=1)

    def solve(g: np.ndarray) -> None:
        g[rank] -= weights @ g[:rank]
        g[rank] /= noise

    of_each(solve, loadings)
    return Sparse(noise, lower, tuple(loadings), shared, inner, weights, left)


def bound_and_slope(prior: Prior, theta: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """F and its gradient (P,); -inf where rounding leaves a matrix indefinite."""
    try:
        found = solve_sparse(prior, theta, y)
    except np.linalg.LinAlgError:
        return -math.inf, np.zeros(len(theta))
    law, noise, a, lower = law_of(prior).latent(), found.noise, found.a, found.lower
    rank = len(lower)
    inverse = inverse_of(found.inner)
    inverse = inverse.T @ inverse  # A^-1
    turned = lower.T @ (np.eye(rank) / noise - inverse)
    pull = lower.T @ found.weights
    both = np.column_stack([turned, pull])
    x, z = inputs_of(prior.x), prior.inducing

    def slope_of_variances(several: slice) -> tuple[np.ndarray]:
        weights = np.full(several.stop - several.start, -0.5 / noise)
        return (law.variance_slopes(x[several], theta, weights),)

    def slope_of(block: tuple[slice, np.ndarray]) -> np.ndarray:
        part, g = block
        known = law.cross(z, x[part], theta)
        return law.slopes_of_known(z, x[part], theta, both @ g, known)  # of 2 P B

    (slope,) = summed(slope_of_variances, len(x))
    parts = [part for several in all_blocks(len(x)) for part in blocks_of(several.stop, several.start)]
    slope = sum(of_each(slope_of, list(zip(parts, found.loadings, strict=True))), slope)
    p_b_p = 0.5 * (turned @ found.shared @ lower + np.outer(pull, pull))
    slope -= law.slopes(z, theta, 0.5 * (p_b_p + p_b_p.T))
    trace = (len(y) - rank) / noise + float(np.trace(inverse))
    by_noise = 0.5 * (float(a @ a) - trace) + 0.5 * float(found.left.sum()) / noise**2
    slope[-1] += math.exp(theta[-1]) * by_noise
    return found.bound(y), slope
