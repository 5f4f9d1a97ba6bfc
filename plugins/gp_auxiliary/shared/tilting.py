"""The mean-field approximation of the classifiers at given parameters: tilted means, and the bound (page, section 4)."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import log_ndtr

from plaidwork.plugins.gp_auxiliary.kernels.truncated import LOG_ROOT_2PI
from plaidwork.plugins.gp_auxiliary.shared.blocks import in_blocks
from plaidwork.plugins.gp_auxiliary.shared.gram import times_q
from plaidwork.plugins.gp_auxiliary.shared.state import Gram

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(48)
_LOG_WEIGHTS = np.log(_WEIGHTS / math.sqrt(2.0 * math.pi))
_MOST, _STILL = 60, 1e-4


def tilt(mean: np.ndarray, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means of the auxiliary variables within the labels' cones, and the logarithms of the cones' probabilities.

    Parameters
    ----------
    mean : (K, N) mean of f; K = 1 for two classes.
    code : (N,) classes.

    Returns
    -------
    (K, N) and (N,). ``z - mean`` is the gradient of the second with respect to ``mean``.
    """
    found = in_blocks(lambda part: _tilt(mean[:, part], code[part]), len(code))
    return np.concatenate([z for z, _ in found], axis=1), np.concatenate([log_z for _, log_z in found])


def _tilt(mean: np.ndarray, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if len(mean) == 1:
        sign = np.where(code == 1, 1.0, -1.0)
        log_z = log_ndtr(sign * mean[0])
        return mean + sign * np.exp(-0.5 * mean**2 - LOG_ROOT_2PI - log_z), log_z
    every = np.arange(mean.shape[1])
    gap = mean[code, every] - mean  # (K, N); 0 for the label's own class
    inside = _NODES[:, None, None] + gap
    log_tail = log_ndtr(inside)
    log_tail[:, code, every] = 0.0
    log_all = _LOG_WEIGHTS[:, None] + log_tail.sum(axis=1)
    log_z = np.logaddexp.reduce(log_all, axis=0)
    log_density = -0.5 * inside**2 - LOG_ROOT_2PI
    pull = np.exp(log_all[:, None] - log_tail + log_density - log_z).sum(axis=0)
    pull[code, every] = 0.0
    pull[code, every] = -pull.sum(axis=0)
    return mean - pull, log_z


def placed(z: np.ndarray, gram: Gram) -> np.ndarray:
    """``M = S z~ = z~ - Q z~`` of every function (K, N)."""
    return z - np.ascontiguousarray(times_q(np.ascontiguousarray(z.T), gram).T)


def settle(mean: np.ndarray, code: np.ndarray, gram: Gram) -> tuple[np.ndarray, np.ndarray]:
    """z~ and M (K, N) after updates of both from ``mean`` until they stand still, or 60 times."""
    z = mean
    for _ in range(_MOST):
        z, _log_z = tilt(mean, code)
        before, mean = mean, placed(z, gram)
        if np.abs(mean - before).max() < _STILL:
            break
    return z, mean


def bound_of(z: np.ndarray, mean: np.ndarray, code: np.ndarray, log_det: float) -> float:
    """``sum log Z_n - (z~ - M)'M / 2 - K log|I + C| / 2`` where ``M = S z~``: below the log probability of the labels."""
    _z, log_z = tilt(mean, code)
    return float(log_z.sum() - 0.5 * ((z - mean) * mean).sum() - 0.5 * len(z) * log_det)
