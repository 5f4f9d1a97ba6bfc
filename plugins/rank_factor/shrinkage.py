"""Moments and bound of the shrinkage prior under q: xi | eta is generalised inverse Gaussian, the rates are gamma."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, k0e, k1e, kve

from plaidwork.plugins.rank_factor.kernels.random import LEAST_SQUARE

LEAST_ROOT = 1e-12


def bessel(order: float, w: np.ndarray) -> np.ndarray:
    """exp(w) K_order(w); orders 0 and 1 by their own, quicker functions."""
    order = abs(order)
    if order == 0.0:
        return k0e(w)
    return k1e(w) if order == 1.0 else kve(order, w)


def scale_moments(eta: np.ndarray, square: np.ndarray, r: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """<xi>, <1 / xi> and the log norm of GIG(2 eta, square, r - 1/2)."""
    square = np.maximum(square, LEAST_SQUARE)
    root = np.sqrt(2.0 * eta * square)
    w = np.maximum(root, LEAST_ROOT)
    ratio = np.sqrt(square / (2.0 * eta))
    own = bessel(r - 0.5, w)
    mean, inverse = ratio * bessel(r + 0.5, w) / own, bessel(r - 1.5, w) / own / ratio
    return mean, inverse, np.log(2.0 * own) - w + (r - 0.5) * np.log(ratio)


def scale_bound(
    eta: np.ndarray,
    log_eta: np.ndarray,
    square: np.ndarray,
    at: tuple[np.ndarray, np.ndarray],
    r: float,
) -> float:
    """E log N(a | 0, xi) + E log Ga(xi | r, eta) - E log q(xi), summed; q(xi) was set at ``at`` (eta, square)."""
    mean, inverse, log_norm = scale_moments(*at, r)
    square, then = np.maximum(square, LEAST_SQUARE), np.maximum(at[1], LEAST_SQUARE)
    cell = log_norm - 0.5 * (square - then) * inverse - (eta - at[0]) * mean + r * log_eta
    return float(cell.sum() - cell.size * (gammaln(r) + 0.5 * np.log(2.0 * np.pi)))


def mean_log(shape, rate) -> np.ndarray:
    """E log x of Gamma(shape, rate)."""
    return digamma(shape) - np.log(rate)


def gamma_bound(shape, rate, prior_shape, prior_rate, prior_log_rate) -> float:
    """E log Ga(x | prior_shape, rate) + entropy of q(x) = Gamma(shape, rate), summed.

    ``prior_rate`` and ``prior_log_rate`` are the expected rate of the prior and the expectation of its logarithm.
    """
    shape, rate = np.broadcast_arrays(shape, rate)
    log_x = mean_log(shape, rate)
    prior = (
        prior_shape * prior_log_rate
        - gammaln(prior_shape)
        + (prior_shape - 1) * log_x
        - prior_rate * shape / rate
    )
    entropy = shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape)
    return float(np.sum(prior + entropy))
