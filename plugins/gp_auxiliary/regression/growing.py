"""Whether the spread of values along a single input grows with their level, as it does where changes are in proportion."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import ModelData, Problem
from plaidwork.plugins.gp_auxiliary.regression.samples import Samples, season_in

_SIZE = 8
"""Values at least in a stretch, of which a curve takes three."""
_FEWEST, _MOST = 8, 20
"""Stretches that are compared."""
_ALIKE, _SLOPE, _RANGE = 0.8, 0.7, float(np.log(2.0))
"""Correlation of the logarithms of level and spread, slope of the one over the other, and range of the first, at least. Counts, of which
the spread grows as the root of the level, have a slope of a half."""


def spread_grows(x: np.ndarray, y: np.ndarray, period: float = 0.0) -> bool:
    """Whether the spread of values y (n,) about a smooth course along x (n,) grows nearly in proportion to their level.

    The values of stretches of the course, each of whole periods where there is one, are compared: their means with their
    deviations from a parabola, or from a line where a season is in them. Values that are not positive have no such level.
    """
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    if len(y) < _FEWEST * _SIZE or not (y > 0.0).all():
        return False
    most = min(len(x) // _SIZE, _MOST)
    parts = _periods(x, period, most) if period > 0.0 else np.array_split(np.arange(len(x)), most)
    if len(parts) < _FEWEST:
        return False
    found = np.array([[y[part].mean(), _spread(x[part], y[part], 1 if period else 2)] for part in parts])
    if not (found > 0.0).all():
        return False
    level, spread = np.log(found).T
    if np.ptp(level) < _RANGE or np.ptp(spread) == 0.0:
        return False
    alike = float(np.corrcoef(level, spread)[0, 1])
    return bool(alike >= _ALIKE and alike * spread.std() / level.std() >= _SLOPE)


def _periods(x: np.ndarray, period: float, most: int) -> list[np.ndarray]:
    """Numbers of rising times x in so many stretches of whole periods at most, each of enough values."""
    periods = np.split(np.arange(len(x)), np.searchsorted(x, np.arange(x[0] + period, x[-1], period)))
    together = -(-len(periods) // most)
    parts = [np.concatenate(periods[start : start + together]) for start in range(0, len(periods), together)]
    return [part for part in parts if len(part) >= _SIZE]


def _spread(x: np.ndarray, y: np.ndarray, degree: int) -> float:
    """Standard deviation of y (m,) about the polynomial of x that fits it best."""
    at = (x - x.mean()) / (x.std() or 1.0)
    curve = np.vander(at, degree + 1)
    left = y - curve @ np.linalg.lstsq(curve, y, rcond=None)[0]
    return float(np.sqrt((left**2).sum() / (len(y) - degree - 1)))


def growing_problems(samples: Samples, data: ModelData) -> list[Problem]:
    """That the spread of a single output grows with its level, along a single input; logarithms help."""
    frame = samples.frame
    if samples.outputs or len(frame.columns) > 1:
        return []
    fitted = frame.used & samples.known
    period, _output = season_in(samples, data)
    x = frame.x[fitted, 0] * frame.spread[0] + frame.centre[0]
    known = samples.values[samples.known]
    if (known <= 0.0).any() or not spread_grows(x, samples.values[fitted], period):
        return []
    name = data["y"].name.rpartition(": ")[2]
    return [
        Problem(
            f"The spread of “{name}” grows with its level, and the model takes it to be the same everywhere.",
            "Logarithms make it alike; results are those of the logarithm then.",
            "y",
            "warning",
            "log",
        )
    ]
