"""Levels of whole rows and columns beside blocks, and the colours of a matrix without them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.views.matrices import colour_limits
from plaidwork.core.views.sources import Sources

_JUDGED = 2_000_000
"""Cells by which colours are chosen."""


@dataclass(frozen=True)
class Levels:
    """Levels of rows (n,) and columns (m,); ends of the colour map of the values without them, and whether values lie beyond these."""

    rows: np.ndarray
    columns: np.ndarray
    limits: tuple[float, float]
    clipped: tuple[bool, bool]

    def off(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Values (k, m) of some rows (k,) without the levels."""
        return _off(values, self.rows[rows], self.columns)


def levels_of(sources: Sources, values: np.ndarray, n: int, step: int) -> Levels | None:
    """Those of the tables of rows and of columns, where both have a column Level of finite numbers; ``values`` are of every ``step``-th of
    n rows."""
    found = []
    for role, size in (("row_list", n), ("column_list", values.shape[1])):
        listed = sources.table(role).columns if sources.has(role) else {}
        level = np.asarray(listed.get("Level", ()))
        # a plugin may call words so, as “high” and “low”
        if len(level) != size or level.dtype.kind not in "iuf" or not np.isfinite(level).all():
            return None
        found.append(level.astype(np.float64))
    some = max(1, values.size // _JUDGED)
    _, limits, clipped = colour_limits(_off(values[::some], found[0][:: step * some], found[1]))
    return Levels(found[0], found[1], limits, clipped)


def _off(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.asarray(values - rows[:, None] - columns)
