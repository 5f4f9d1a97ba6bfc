"""The evidence of values with unit noise around f, f integrated out, and its gradient by the covariance's parameters.

    log N(y | 0, C_theta + I),    d/dt = tr((a a' - (C + I)^-1) dC/dt) / 2,    a = (C + I)^-1 y

(Rasmussen & Williams 2006, equation 5.9), summed over the rows of y. Auxiliary variables are such values, what all ratings of an
object say is one at its scale, and so is the Gaussian reference of the moves of f. In the low-rank form
``C ~ C_nm C_mm^-1 C_mn + diag`` at pivots or inducing points, differentiated as such.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri

from plaidwork.plugins.gp_auxiliary.kernels import precision
from plaidwork.plugins.gp_auxiliary.shared.blocks import is_large, projected, summed
from plaidwork.plugins.gp_auxiliary.shared.gram import LowRank, Prior, inverse_of, precision_in_blocks


@dataclass(frozen=True, slots=True)
class Evidence:
    """At one theta.

    Attributes
    ----------
    value : ``log N(y | 0, C + I)`` summed over the rows of y, but for a constant.
    gradient : (P,) its derivatives.
    inverse : (N, N) ``(C + I)^-1`` of the dense form, else None.
    """

    value: float
    gradient: np.ndarray
    inverse: np.ndarray | None


def evidence(prior: Prior, theta: np.ndarray, y: np.ndarray) -> Evidence:
    """Of values y (K, N) at theta (P,). A covariance that rounding leaves indefinite has value -inf."""
    own = prior.own_evidence(theta, y)
    if own is not None:
        return Evidence(*own, None)
    low = prior.low_rank(theta)
    if low is None:
        return _dense(prior, theta, y)
    return _low_rank(prior, theta, y, low)


def _dense(prior: Prior, theta: np.ndarray, y: np.ndarray) -> Evidence:
    c = prior.covariance.matrix(prior.x, theta)
    size = len(c)
    c.flat[:: size + 1] += 1.0
    root, failed = dpotrf(
        c.T, lower=1, overwrite_a=1, clean=1
    )  # new large arrays would cost as much as the work on them
    if failed or not np.isfinite(root[-1, -1]):
        return Evidence(-np.inf, np.zeros(len(theta)), None)
    log_det = 2.0 * float(np.log(np.diag(root)).sum())
    inverse, _failed = dpotri(root, lower=1, overwrite_c=1)
    inverse = inverse + inverse.T  # its upper half is 0, as that of the root
    inverse.flat[:: size + 1] *= 0.5
    solved = y @ inverse
    value = -0.5 * len(y) * log_det - 0.5 * float((solved * y).sum())
    weights = np.outer(solved, solved) if len(y) == 1 else solved.T @ solved
    weights -= inverse if len(y) == 1 else len(y) * inverse
    weights *= 0.5
    return Evidence(value, prior.covariance.slopes(prior.x, theta, weights), inverse)


def _low_rank(prior: Prior, theta: np.ndarray, y: np.ndarray, low: LowRank) -> Evidence:
    """With ``A = C_mm^-1 C_mn`` and B = (a a' - Q) / 2 without its diagonal, where the loadings leave a sample's variance to
    itself: ``dF = 2 sum (B A') o dC_nm - sum (A B A') o dC_mm + sum B_nn dC_nn``."""
    if is_large(len(prior.x)):
        return _in_blocks(prior, theta, y, low)
    law, g = prior.covariance, low.loadings
    rows, weight, diagonal, log_det = precision.precision_of_loadings(g, low.variance)
    product = y @ rows
    solved = weight * y - product @ rows.T
    value = -0.5 * len(y) * log_det - 0.5 * float((solved * y).sum())
    own = 0.5 * ((solved**2).sum(axis=0) - len(y) * diagonal)  # B_nn
    a = np.ascontiguousarray(solve_triangular(low.root, g.T, lower=True, trans=1).T)  # (N, m)
    b_a = solved.T @ (solved @ a) - len(y) * (weight[:, None] * a - rows @ (rows.T @ a))
    b_a = 0.5 * b_a - own[:, None] * a
    gradient = law.cross_slopes(prior.x, low.points, theta, 2.0 * b_a)
    gradient -= law.slopes(low.points, theta, a.T @ b_a)
    return Evidence(value, gradient + law.variance_slopes(prior.x, theta, own), None)


def _in_blocks(prior: Prior, theta: np.ndarray, y: np.ndarray, low: LowRank) -> Evidence:
    """As :func:`_low_rank` of large data, in one pass over blocks of samples: with L the root of C_mm and ``Q = W - V V'``, ``V = W G R'`` as
    ``precision_in_blocks`` has them, ``A' = G L^-1``, ``Q A' = W G R'R L^-1`` and ``y'Q A' = y'V R L^-1``."""
    law, g, x, points, count = prior.covariance, low.loadings, prior.x, low.points, len(y)
    found, log_det, inner = precision_in_blocks(low)
    rows, weight, diagonal = found["rows"], found["weight"], found["diagonal"]
    weighed, lower = projected(y, rows), inverse_of(low.root)
    turned, pull = inner.T @ inner @ lower, weighed @ inner @ lower

    def work(part: slice) -> tuple[float, np.ndarray, np.ndarray]:
        its, w, values = g[part], weight[part], y[:, part]
        solved = w * values - weighed @ rows[part].T
        own = 0.5 * ((solved**2).sum(axis=0) - count * diagonal[part])  # B_nn
        b_a = solved.T @ pull - (count * w)[:, None] * (its @ turned)
        b_a *= 0.5
        b_a -= own[:, None] * (its @ lower)
        both = its.T @ b_a
        b_a *= 2.0
        if low.cross is None:
            slope = law.cross_slopes(x[part], points, theta, b_a)
        else:
            slope = law.slopes_of_known(x[part], points, theta, b_a, low.cross[part])
        slope += law.variance_slopes(x[part], theta, own)
        return float((solved * values).sum()), slope, both

    square, gradient, both = summed(work, len(g))
    gradient = gradient - law.slopes(points, theta, lower.T @ both)
    return Evidence(-0.5 * count * log_det - 0.5 * square, gradient, None)
