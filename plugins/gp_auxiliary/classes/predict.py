"""f at new inputs given z, and class probabilities averaged over draws."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from plaidwork.plugins.gp_auxiliary.kernels.chances import lead_chances
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior, inducing_root, loadings, times_q


class Predictor:
    """Moments of f at new inputs for one value of the parameters (page, section 2.1: the z-based form, no C^-1)."""

    def __init__(self, prior: Prior, theta: np.ndarray, x_new: np.ndarray) -> None:
        gram = prior.gram(theta)
        variance = prior.covariance.variance(x_new, theta)
        self._map: np.ndarray | None = None
        if prior.dense:
            cross = prior.covariance.cross(x_new, prior.x, theta)
            gain = times_q(np.ascontiguousarray(cross.T), gram).T
            self._map, self.variance = gain, np.maximum(variance - (gain * cross).sum(axis=1), 0.0)
            return
        root = inducing_root(prior.covariance.matrix(prior.inducing, theta))
        g = loadings(root, prior.covariance.cross(prior.x, prior.inducing, theta))
        new = loadings(root, prior.covariance.cross(x_new, prior.inducing, theta))
        q_g = times_q(g, gram)
        if len(new) * len(g) <= 10_000_000:
            self._map = new @ q_g.T
        self._factors = (new, q_g)
        self.variance = np.maximum(variance - ((new @ (g.T @ q_g)) * new).sum(axis=1), 0.0)

    def mean(self, z: np.ndarray) -> np.ndarray:
        """(K, m) mean of f at the new inputs given z (K, N)."""
        if self._map is not None:
            return np.asarray(z @ self._map.T)
        new, q_g = self._factors
        return np.asarray((z @ q_g) @ new.T)


def two_class(mean: np.ndarray, variance: np.ndarray, null: float) -> np.ndarray:
    """(3, m) probabilities of class 0, of the null category and of class 1, f integrated out."""
    sd = np.sqrt(1.0 + variance)
    minus, plus = ndtr((-null - mean) / sd), ndtr((mean - null) / sd)
    return np.stack([minus, np.maximum(1.0 - minus - plus, 0.0), plus])


def many_class(mean: np.ndarray, variance: np.ndarray, null: float) -> np.ndarray:
    """(K, m) probabilities that class k leads all others by more than ``null``, f integrated out: absolute error below 1e-9.

    mean (K, m), variance (m,), the same for every class. Without a null category the columns sum to one.
    """
    return np.asarray(lead_chances(np.ascontiguousarray(mean), np.sqrt(1.0 + variance), null))


def ordered(mean: np.ndarray, variance: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """(K, m) probabilities of the K ordered classes between the cut-points (K - 1,); mean (m,)."""
    sd = np.sqrt(1.0 + variance)
    below = ndtr((cuts[:, None] - mean) / sd)
    edges = np.vstack([np.zeros_like(mean), below, np.ones_like(mean)])
    return np.diff(edges, axis=0)
