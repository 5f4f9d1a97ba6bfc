"""The precision of z at given parameters, kept in a chain's state in one of two forms, and what is drawn with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.plugins.gp_auxiliary.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.kernels import precision, sites

Gram = dict[str, Any]
"""``rows``, ``diagonal``, ``weight`` as in ``kernels/sites.py``, ``log_det``, and what :func:`draw_f` needs:
``root`` (a root of S = I - Q), or ``loadings`` G of the low-rank form."""

GRAM = ("rows", "diagonal", "weight", "log_det", "root", "loadings")

_EMPTY = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Prior:
    """The law of f at the fitted samples.

    Attributes
    ----------
    x : (N, D) standardised inputs.
    inducing : (M, D) inducing points; M = 0 for the dense form.
    draws_f : whether f itself is drawn, which needs a root of its covariance.
    """

    covariance: Covariance
    x: np.ndarray
    inducing: np.ndarray
    draws_f: bool = False

    @property
    def dense(self) -> bool:
        return len(self.inducing) == 0

    def gram(self, theta: np.ndarray) -> Gram:
        """The precision at these parameters."""
        if self.dense:
            rows, log_det = precision.dense_precision(self.covariance.matrix(self.x, theta))
            gram: Gram = {
                "rows": rows,
                "diagonal": np.diag(rows).copy(),
                "weight": _EMPTY,
                "log_det": log_det,
            }
            if self.draws_f:
                gram["root"] = root_of_f(rows)
            return gram
        c_mm = self.covariance.matrix(self.inducing, theta)
        c_nm = self.covariance.cross(self.x, self.inducing, theta)
        variance = self.covariance.variance(self.x, theta)
        rows, weight, diagonal, log_det = precision.low_rank_precision(c_mm.copy(), c_nm, variance)
        gram = {"rows": rows, "diagonal": diagonal, "weight": weight, "log_det": log_det}
        if self.draws_f:
            gram["loadings"] = loadings(c_mm, c_nm)
        return gram

    def log_density(self, theta: np.ndarray, z: np.ndarray) -> float:
        """Log density of z (K, N) with f integrated out, but for a constant."""
        if self.dense:
            return float(precision.dense_log_density(self.covariance.matrix(self.x, theta), z))
        gram = self.gram(theta)
        square = sum(squared_length(row, gram) for row in z)
        return -0.5 * len(z) * gram["log_det"] - 0.5 * square


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


def loadings(c_mm: np.ndarray, c_nm: np.ndarray) -> np.ndarray:
    """G (N, M) with ``G G'`` the part of C that the inducing points explain."""
    size = len(c_mm)
    jitter = precision.JITTER * max(float(c_mm.diagonal().max()), 1.0)
    root = np.linalg.cholesky(c_mm + jitter * np.eye(size))
    return np.ascontiguousarray(np.linalg.solve(root, c_nm.T).T)


def is_dense(gram: Gram) -> bool:
    return len(gram["weight"]) == 0


def work_of(z: np.ndarray, gram: Gram) -> np.ndarray:
    """What the site sweeps carry along with z (K, N): (K, N or r)."""
    return np.stack([sites.start_work(row, gram["rows"], is_dense(gram)) for row in z])


def squared_length(row: np.ndarray, gram: Gram) -> float:
    """``z'Qz`` of one row of z (N,)."""
    work = sites.start_work(row, gram["rows"], is_dense(gram))
    return float(precision.quadratic(row, work, gram["weight"], is_dense(gram)))


def times_q(values: np.ndarray, gram: Gram) -> np.ndarray:
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
