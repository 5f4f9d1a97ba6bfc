"""The precision of z at given parameters, kept in a chain's state in one of two forms, and what is drawn with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from plaidwork.plugins.gp_auxiliary.kernels import covariance as kernels
from plaidwork.plugins.gp_auxiliary.kernels import precision, sites
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.shared.state import Gram, Precision

LEFT_OUT = 1e-4
"""Sum of the variances of f that a low-rank form may leave to independent terms, beside the noise of 1 of every sample: the
law of z is then within 5e-5 of the exact one in total variation (Pinsker: KL <= |C - G G'|_F^2 / 4)."""
LOW_RANK_FROM = 150
"""Samples from which a low rank is looked for: the dense form of fewer is as fast."""
_NOTHING = np.zeros((0, 0))
_EMPTY = np.zeros(0)
_SMOOTH = (kernels.RBF, kernels.RATIONAL, kernels.LINEAR, kernels.POLYNOMIAL, kernels.CONSTANT)
"""Terms whose eigenvalues may fall fast enough for a low rank."""


@dataclass(frozen=True, slots=True)
class LowRank:
    """``C ~ G G' + diag(variance - diag(G G'))`` at r points.

    Attributes
    ----------
    loadings : G (N, r).
    variance : (N,) prior variances of f.
    points : (r, D) pivots or inducing points.
    root : (r, r) lower triangular root of their covariance.
    """

    loadings: np.ndarray
    variance: np.ndarray
    points: np.ndarray
    root: np.ndarray


@dataclass(frozen=True, slots=True)
class Prior:
    """The law of f at the fitted samples.

    Attributes
    ----------
    x : (N, D) standardised inputs.
    inducing : (M, D) inducing points; M = 0 for the exact law, which is kept as a dense matrix or, where its rank is low,
        as loadings.
    draws_f : whether f itself is drawn, which needs a root of its covariance in the dense form.
    """

    covariance: Covariance
    x: np.ndarray
    inducing: np.ndarray
    draws_f: bool = False

    @property
    def dense(self) -> bool:
        """Whether the law is exact, without inducing points."""
        return len(self.inducing) == 0

    def gram(self, theta: np.ndarray) -> Gram:
        """The precision at these parameters."""
        low = self.low_rank(theta)
        if low is None:
            rows, log_det = dense_precision(self.covariance.matrix(self.x, theta))
            root = root_of_f(rows) if self.draws_f else _NOTHING
            return {
                "rows": rows,
                "diagonal": np.diag(rows).copy(),
                "weight": _EMPTY,
                "log_det": log_det,
                "root": root,
                "loadings": _NOTHING,
            }
        rows, weight, diagonal, log_det = precision.precision_of_loadings(low.loadings, low.variance)
        return {
            "rows": rows,
            "diagonal": diagonal,
            "weight": weight,
            "log_det": log_det,
            "root": _NOTHING,
            "loadings": low.loadings,
        }

    def low_rank(self, theta: np.ndarray) -> LowRank | None:
        """The low-rank form at these parameters; None where the dense one is the smaller."""
        law = self.covariance
        if not self.dense:
            c_mm = law.matrix(self.inducing, theta)
            root = inducing_root(c_mm)
            g = loadings(root, law.cross(self.x, self.inducing, theta))
            return LowRank(g, law.variance(self.x, theta), self.inducing, root)
        plain = type(law) is Covariance and np.isin(law.table[:, 0], _SMOOTH).all()
        if not plain or len(self.x) < LOW_RANK_FROM:
            return None
        g, enough, pivots = law.pivoted(self.x, theta, len(self.x) // 3, LEFT_OUT)
        if not enough:
            return None
        return LowRank(g, law.variance(self.x, theta), self.x[pivots], g[pivots])

    def own_evidence(self, theta: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray] | None:
        """What ``evidence.evidence`` says of y (K, N), value and gradient (P,), where the law has a shorter way to it."""
        return None

    def gradient_seconds(self) -> float:
        """About how long a gradient by the dense matrix takes."""
        samples, inputs = self.x.shape
        return 6e-11 * samples**3 + (4e-8 + 3.5e-10 * inputs) * samples**2

    def log_density(self, theta: np.ndarray, z: np.ndarray) -> float:
        """Log density of z (K, N) with f integrated out, but for a constant."""
        low = self.low_rank(theta)
        if low is None:
            return float(precision.dense_log_density(self.covariance.matrix(self.x, theta), z))
        rows, weight, diagonal, log_det = precision.precision_of_loadings(low.loadings, low.variance)
        gram: Precision = {"rows": rows, "weight": weight, "diagonal": diagonal}
        square = sum(squared_length(row, gram) for row in z)
        return -0.5 * len(z) * log_det - 0.5 * square


def dense_precision(c: np.ndarray) -> tuple[np.ndarray, float]:
    """(Q, log det(C + I)) of the covariance c (N, N), which is overwritten. C itself need not be invertible."""
    size = len(c)
    c.flat[:: size + 1] += 1.0
    root, failed = dpotrf(c.T, lower=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("The covariance is not positive definite.")
    log_det = 2.0 * float(np.log(np.diag(root)).sum())
    inverse, _failed = dpotri(root, lower=0, overwrite_c=1)
    half = np.tril(inverse.T, -1)  # symmetric to the last bit, whichever half a kernel reads
    whole = half + half.T
    whole.flat[:: size + 1] = np.diag(inverse)
    return whole, log_det


def root_of_f(rows: np.ndarray) -> np.ndarray:
    """(N, N) root of ``S = I - Q``, the covariance of f given z.

    S has eigenvalues lam / (1 + lam), which may be 0: 1e-9 is added, far below the noise's 1. It costs a tenth of an
    eigendecomposition, which is left for a matrix that rounding made indefinite all the same.
    """
    try:
        return np.asarray(precision.root_of_rest(rows, 1e-9))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(np.eye(len(rows)) - rows)
        return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def inducing_root(c_mm: np.ndarray) -> np.ndarray:
    """(M, M) lower triangular root of the inducing points' covariance, with a little on its diagonal."""
    jitter = precision.JITTER * max(float(c_mm.diagonal().max()), 1.0)
    return np.asarray(np.linalg.cholesky(c_mm + jitter * np.eye(len(c_mm))))


def loadings(root: np.ndarray, c_nm: np.ndarray) -> np.ndarray:
    """G (N, M) with ``G G'`` the part of C that the inducing points explain; ``root`` as from :func:`inducing_root`."""
    return np.ascontiguousarray(np.linalg.solve(root, c_nm.T).T)


def is_dense(gram: Precision) -> bool:
    return len(gram["weight"]) == 0


def work_of(z: np.ndarray, gram: Precision) -> np.ndarray:
    """What the site sweeps carry along with z (K, N): (K, N or r)."""
    return np.stack([sites.start_work(row, gram["rows"], is_dense(gram)) for row in z])


def squared_length(row: np.ndarray, gram: Precision) -> float:
    """``z'Qz`` of one row of z (N,)."""
    if is_dense(gram):
        return float(row @ (gram["rows"] @ row))
    work = row @ gram["rows"]
    return float((gram["weight"] * row) @ row - work @ work)


def times_q(values: np.ndarray, gram: Precision) -> np.ndarray:
    """``Q values`` for values (N,) or (N, m)."""
    rows = gram["rows"]
    if is_dense(gram):
        return np.asarray(rows @ values)
    weight = gram["weight"] if values.ndim == 1 else gram["weight"][:, None]
    return np.asarray(weight * values - rows @ (rows.T @ values))


def draw_f(rng: np.random.Generator, z: np.ndarray, gram: Gram) -> np.ndarray:
    """f (K, N) given z (K, N): ``N(S z, S)`` with ``S = I - Q`` (page, section 1), for each row.

    Dense: ``f = z - Q z + R e`` with ``R R' = S``, which a singular C does not disturb. Low rank: a draw of f and z from
    the prior, corrected by ``C Q (z - z0)``.
    """
    if is_dense(gram):
        return np.asarray(z - z @ gram["rows"] + rng.standard_normal(z.shape) @ gram["root"].T)
    g, own = gram["loadings"], 1.0 / gram["weight"] - 1.0
    out = np.empty_like(z)
    for k in range(len(z)):
        f = g @ rng.standard_normal(g.shape[1]) + np.sqrt(np.maximum(own, 0.0)) * rng.standard_normal(len(g))
        gap = times_q(z[k] - f - rng.standard_normal(len(f)), gram)
        out[k] = f + g @ (g.T @ gap) + own * gap
    return out


def choose_inducing(x: np.ndarray, count: int) -> np.ndarray:
    """(<= count, D) inducing points: centres of k-means, begun by k-means++ with a seed of its own.

    They depend on the samples only, so that chains, predictions and a resumed fit agree on them.
    """
    from scipy.cluster.vq import kmeans2

    rng = np.random.default_rng(20140510)
    distinct = np.unique(x, axis=0)
    if len(distinct) <= count:
        return np.ascontiguousarray(distinct)
    part = distinct if len(distinct) <= 5000 else distinct[rng.choice(len(distinct), 5000, replace=False)]
    centres, _label = kmeans2(part, count, iter=20, minit="++", seed=rng)
    return np.ascontiguousarray(np.unique(centres, axis=0))
