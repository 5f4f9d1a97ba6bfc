"""One draw of blocks of counts or links, and what it says of single cells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from plaidwork.core.api import ChainView
from plaidwork.plugins.plaid.fields import Flags, Floats, Integers


def log_probability(values: Floats, rates: Floats, links: bool) -> Floats:
    """Log probability of counts with these rates, or of whether they are above 0."""
    rates = np.maximum(rates, 1e-280)
    if links:
        return np.where(np.asarray(values) > 0, np.log(-np.expm1(-rates)), -rates)
    found: Floats = values * np.log(rates) - rates - gammaln(values + 1.0)
    return found


class CountDraw(NamedTuple):
    """One draw. ``links``: cells only tell that a count is above 0."""

    rows: Flags
    """(K, N1)"""
    columns: Flags
    """(K, N2)"""
    theta: Floats
    """(K,) what a block adds to the rate of its cells"""
    level: float
    row_degrees: Floats
    column_degrees: Floats
    links: bool
    by_level: bool
    """Whether blocks add in proportion to the levels of rows and columns."""
    profile: None = None

    @property
    def spreads(self) -> Floats:
        """(K,) standard deviation of what a block adds over its columns: none."""
        return np.zeros(len(self.theta))

    def rates(self) -> np.ndarray:
        """(N1, N2) float32 rates of all cells."""
        found = np.outer(self.level * self.row_degrees, self.column_degrees).astype(np.float32)
        left = self.rows.astype(np.float32) * self.theta[:, None].astype(np.float32)
        right = self.columns.astype(np.float32)
        if self.by_level:
            left *= self.row_degrees.astype(np.float32)
            right *= self.column_degrees.astype(np.float32)
        found += left.T @ right
        return found

    def density(self, i: Integers, j: Integers, values: Floats) -> Floats:
        """Log probability of these values in the cells (i, j), all (n,)."""
        found = rates_at(
            self.rows,
            self.columns,
            self.theta,
            self.level,
            self.row_degrees,
            self.column_degrees,
            self.by_level,
            i,
            j,
        )
        return log_probability(values, found, self.links)


def rates_at(
    rows: Flags,
    columns: Flags,
    theta: Floats,
    level: float,
    row_degrees: Floats,
    column_degrees: Floats,
    by_level: bool,
    i: Integers,
    j: Integers,
) -> Floats:
    """Rates of the cells (i, j), all (n,)."""
    degrees: Floats = row_degrees[i] * column_degrees[j]
    added: Floats = theta @ (rows[:, i] & columns[:, j])
    return degrees * (level + added) if by_level else level * degrees + added


def draw_of(chain: ChainView, index: int, links: bool, by_level: bool) -> CountDraw:
    """A draw of a chain."""
    rows, columns, theta = (chain.draw(name, index) for name in ("Z1", "Z2", "theta"))
    degrees = [chain.draw(f"{side}_degree", index) for side in ("row", "column")]
    u, v = (d[0] if len(d) else np.ones(z.shape[1]) for d, z in zip(degrees, (rows, columns), strict=True))
    return CountDraw(rows, columns, theta, float(chain.draw("level", index)), u, v, links, by_level)
