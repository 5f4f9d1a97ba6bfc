"""The precision of z at given parameters, kept in a chain's state in one of two forms, and what is drawn with it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri

from plaidwork.plugins.gp_auxiliary.kernels import covariance as kernels
from plaidwork.plugins.gp_auxiliary.kernels import precision, sites
from plaidwork.plugins.gp_auxiliary.shared.blocks import (
    gathered,
    generators,
    in_blocks,
    is_large,
    projected,
    summed,
)
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
    cross : (N, r) covariances of samples and inducing points where G was made of them block by block; else None.
    """

    loadings: np.ndarray
    variance: np.ndarray
    points: np.ndarray
    root: np.ndarray
    cross: np.ndarray | None = None


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
            return dense_gram(self.covariance.matrix(self.x, theta), self.draws_f)
        found, log_det = precision_of(low)
        return {**found, "log_det": log_det, "root": _NOTHING, "loadings": low.loadings}

    def low_rank(self, theta: np.ndarray) -> LowRank | None:
        """The low-rank form at these parameters; None where the dense one is the smaller."""
        law = self.covariance
        if not self.dense:
            root = inducing_root(law.matrix(self.inducing, theta))
            if is_large(len(self.x)):
                return self._in_blocks(root, theta)
            g = loadings(root, law.cross(self.x, self.inducing, theta))
            return LowRank(g, law.variance(self.x, theta), self.inducing, root)
        plain = type(law) is Covariance and np.isin(law.table[:, 0], _SMOOTH).all()
        if not plain or len(self.x) < LOW_RANK_FROM:
            return None
        g, enough, pivots = law.pivoted(self.x, theta, len(self.x) // 3, LEFT_OUT)
        if not enough:
            return None
        return LowRank(g, law.variance(self.x, theta), self.x[pivots], g[pivots])

    def _in_blocks(self, root: np.ndarray, theta: np.ndarray) -> LowRank:
        """The form at the inducing points for large data, G by products with the inverse of the root: substitution takes three times as long."""
        law, size, turned = self.covariance, len(self.x), inverse_of(root).T
        g, cross, variance = np.empty((size, len(root))), np.empty((size, len(root))), np.empty(size)

        def work(part: slice) -> None:
            cross[part] = law.cross(self.x[part], self.inducing, theta)
            np.matmul(cross[part], turned, out=g[part])
            variance[part] = law.variance(self.x[part], theta)

        in_blocks(work, size)
        return LowRank(g, variance, self.inducing, root, cross)

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
        gram, log_det = precision_of(low)
        square = sum(squared_length(row, gram) for row in z)
        return -0.5 * len(z) * log_det - 0.5 * square


def precision_of(low: LowRank) -> tuple[Precision, float]:
    """(Q of a low-rank form, log det(C + I))."""
    if is_large(len(low.loadings)):
        return precision_in_blocks(low)[:2]
    rows, weight, diagonal, log_det = precision.precision_of_loadings(low.loadings, low.variance)
    return {"rows": rows, "weight": weight, "diagonal": diagonal}, log_det


def precision_in_blocks(low: LowRank) -> tuple[Precision, float, np.ndarray]:
    """As :func:`precision_of`, of large data; and R (r, r), with ``R'R = (I + G'W G)^-1``."""
    g, variance = low.loadings, low.variance
    size, rank = g.shape
    rows, weight, diagonal = np.empty((size, rank)), np.empty(size), np.empty(size)

    def scale(part: slice) -> tuple[np.ndarray, float]:
        log_noise = precision.scale_loadings(g[part], variance[part], weight[part], rows[part])
        return rows[part].T @ rows[part], log_noise

    inner, log_det = summed(scale, size)
    root = np.linalg.cholesky(inner + np.eye(rank))
    inverse = inverse_of(root)

    def turn(part: slice) -> None:
        rows[part] = rows[part] @ inverse.T
        precision.finish_rows(rows[part], weight[part], diagonal[part])

    in_blocks(turn, size)
    log_det += 2.0 * float(np.log(np.diag(root)).sum())
    return {"rows": rows, "weight": weight, "diagonal": diagonal}, log_det, inverse


def dense_gram(c: np.ndarray, draws_f: bool = False) -> Gram:
    """The precision of z for a covariance c (N, N), which is overwritten; with what is drawn with it where f is drawn."""
    rows, log_det = dense_precision(c)
    return {
        "rows": rows,
        "diagonal": np.diag(rows).copy(),
        "weight": _EMPTY,
        "log_det": log_det,
        "root": root_of_f(rows) if draws_f else _NOTHING,
        "loadings": _NOTHING,
    }


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


def inverse_of(root: np.ndarray) -> np.ndarray:
    """(M, M) inverse of a lower triangular matrix, lower triangular too."""
    return np.tril(solve_triangular(root, np.eye(len(root)), lower=True))


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
    work = projected(row, gram["rows"])
    return float((gram["weight"] * row) @ row - work @ work)


def times_q(values: np.ndarray, gram: Precision) -> np.ndarray:
    """``Q values`` for values (N,) or (N, m)."""
    rows = gram["rows"]
    if is_dense(gram):
        return np.asarray(rows @ values)
    weight = gram["weight"] if values.ndim == 1 else gram["weight"][:, None]
    pulled, found = gathered(rows, values), np.empty_like(values)

    def work(part: slice) -> None:
        found[part] = weight[part] * values[part] - rows[part] @ pulled

    in_blocks(work, len(rows))
    return found


def draw_f(rng: np.random.Generator, z: np.ndarray, gram: Gram) -> np.ndarray:
    """f (K, N) given z (K, N): ``N(S z, S)`` with ``S = I - Q`` (page, section 1), for each row.

    Dense: ``f = z - Q z + R e`` with ``R R' = S``, which a singular C does not disturb. Low rank: a draw of f and z from
    the prior, corrected by ``C Q (z - z0)``.
    """
    if is_dense(gram):
        return np.asarray(z - z @ gram["rows"] + rng.standard_normal(z.shape) @ gram["root"].T)
    return np.stack([_draw_low_rank(rng, row, gram) for row in z])


def _draw_low_rank(rng: np.random.Generator, row: np.ndarray, gram: Gram) -> np.ndarray:
    """f (N,) given one row of z (N,)."""
    g, own = gram["loadings"], 1.0 / gram["weight"] - 1.0
    weights, own_rng = rng.standard_normal(g.shape[1]), generators(rng, len(g))
    f, gap = np.empty(len(g)), np.empty(len(g))

    def draw(part: slice) -> None:
        its, size = own_rng(part), part.stop - part.start
        sd = np.sqrt(np.maximum(own[part], 0.0))
        f[part] = g[part] @ weights + sd * its.standard_normal(size)
        gap[part] = row[part] - f[part] - its.standard_normal(size)

    in_blocks(draw, len(g))
    gap = times_q(gap, gram)
    pulled = gathered(g, gap)

    def correct(part: slice) -> None:
        f[part] = f[part] + g[part] @ pulled + own[part] * gap[part]

    in_blocks(correct, len(g))
    return f


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
