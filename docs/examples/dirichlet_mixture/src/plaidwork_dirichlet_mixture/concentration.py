"""The concentration alpha given the number of clusters (Escobar and West 1995)."""

from __future__ import annotations

import math

import numpy as np

LEAST = 1e-12
"""Smallest alpha: far below it nothing changes, and its logarithm stays finite."""


def draw_alpha(rng: np.random.Generator, alpha: float, n: int, k: int, shape: float, rate: float) -> float:
    """``eta | alpha ~ Beta(alpha + 1, n)``, then alpha from a mixture of two gamma laws.

    ``alpha | eta, k ~ p Gamma(shape + k, rate - log eta) + (1 - p) Gamma(shape + k - 1, rate - log eta)`` with odds
    ``p / (1 - p) = (shape + k - 1) / (n (rate - log eta))``.
    """
    rest = rng.gamma(n) / max(rng.gamma(alpha + 1.0), 1e-300)
    tilted = rate + math.log1p(rest)
    odds = (shape + k - 1.0) / (n * tilted)
    more = rng.random() * (1.0 + odds) < odds
    return max(float(rng.gamma(shape + k - (0.0 if more else 1.0))) / tilted, LEAST)


def log_gamma_density(x: float, shape: float, rate: float) -> float:
    """Log density of a gamma law, shape and rate."""
    return shape * math.log(rate) - math.lgamma(shape) + (shape - 1.0) * math.log(x) - rate * x
