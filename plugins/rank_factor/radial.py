"""A function of the scores as a sum of Gaussian bumps around some of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BLOCK = 4_000_000
"""Entries of the kernel held at a time."""


class Boundary(NamedTuple):
    """f as a function of scores: centres u (M, K), weights w (G, M), and the kernel's two settings."""

    centres: Floats
    weights: Floats
    length: float
    size: float

    def kernel(self, z: Floats) -> Floats:
        """(n, M) covariance of f at scores (n, K) and at the centres."""
        apart = (z**2).sum(axis=1)[:, None] + (self.centres**2).sum(axis=1) - 2.0 * z @ self.centres.T
        return self.size**2 * np.exp(-np.maximum(apart, 0.0) / (2.0 * z.shape[1] * self.length**2))

    def values(self, z: Floats) -> Floats:
        """(n, G) f at scores (n, K)."""
        step = max(1, BLOCK // max(1, len(self.centres)))
        parts = [self.kernel(z[lo : lo + step]) @ self.weights.T for lo in range(0, len(z), step)]
        return np.concatenate([np.empty((0, len(self.weights))), *parts])

    def slopes(self, z: Floats) -> Floats:
        """(G, K) mean derivative of f at scores (n, K): what a coefficient is to a plane."""
        near = self.kernel(z)
        pulled = near[None] * self.weights[:, None]  # (G, n, M)
        toward = pulled @ self.centres - pulled.sum(axis=2)[:, :, None] * z
        return toward.mean(axis=1) / (z.shape[1] * self.length**2)
