"""Planted tables whose columns go together within groups of similar rows, or only because the groups differ in them."""

from __future__ import annotations

import numpy as np


def oblique(rng: np.random.Generator, n: int, d: int, groups: int = 2) -> np.ndarray:
    """(n, d) rows of groups far apart, each one cloud along an axis of its own."""
    group, axes = rng.integers(0, groups, n), rng.normal(size=(groups, d))
    return (
        3.0 * rng.normal(size=(groups, d))[group]
        + axes[group] * rng.normal(size=(n, 1))
        + 0.3 * rng.normal(size=(n, d))
    )


def apart(rng: np.random.Generator, n: int, d: int, groups: int = 3) -> np.ndarray:
    """(n, d) rows of groups far apart, whose columns are independent within each."""
    return 2.0 * rng.normal(size=(groups, d))[rng.integers(0, groups, n)] + rng.normal(size=(n, d))
