"""Averages over draws of normal laws: moments, quantiles, densities and distribution functions of the mixture.

Densities and intervals are those of the mixture, not of the normal law with its moments; the variance is the mean of the variances
and the variance of the means (law of total variance).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, ndtr

_HALVINGS = 32
_REACH = 9.0
"""Standard deviations beyond every mean within which quantiles are looked for."""


@dataclass(frozen=True, slots=True)
class Mixture:
    """Of s normal laws at each of m places.

    Attributes
    ----------
    mean, variance : (s, m).
    weights : (s, m), columns sum to 1.
    """

    mean: np.ndarray
    variance: np.ndarray
    weights: np.ndarray

    @classmethod
    def even(cls, mean: np.ndarray, variance: np.ndarray) -> Mixture:
        """All laws with the same weight."""
        return cls(mean, variance, np.full(mean.shape, 1.0 / max(len(mean), 1)))

    def centre(self) -> np.ndarray:
        """(m,) means."""
        return np.asarray((self.weights * self.mean).sum(axis=0))

    def sd(self) -> np.ndarray:
        """(m,) standard deviations."""
        away = self.mean - self.centre()
        return np.asarray(np.sqrt((self.weights * (self.variance + away * away)).sum(axis=0)))

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """(m,) log densities at y (m,)."""
        single = -0.5 * ((y - self.mean) ** 2 / self.variance + np.log(2.0 * np.pi * self.variance))
        return np.asarray(logsumexp(single, axis=0, b=self.weights))

    def below(self, y: np.ndarray) -> np.ndarray:
        """(m,) probabilities of less than y (m,)."""
        return np.asarray((self.weights * ndtr((y - self.mean) / np.sqrt(self.variance))).sum(axis=0))

    def quantiles(self, share: float) -> np.ndarray:
        """(m,) places with this probability below them, by halving."""
        sd = np.sqrt(self.variance)
        low, high = (self.mean - _REACH * sd).min(axis=0), (self.mean + _REACH * sd).max(axis=0)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            less = (self.weights * ndtr((middle - self.mean) / np.maximum(sd, 1e-300))).sum(axis=0) < share
            low, high = np.where(less, middle, low), np.where(less, high, middle)
        return 0.5 * (low + high)

    def interval(self, share: float = 0.9) -> np.ndarray:
        """(m, 2) central intervals."""
        return np.stack([self.quantiles(0.5 - share / 2), self.quantiles(0.5 + share / 2)], axis=-1)
