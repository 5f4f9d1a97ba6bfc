"""What views of a matrix share: colour maps and their ends, the meaning of the colours, the order of rows and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.pictures import Key, Ramp

_MOST_LEAVES, _MOST_ORDERED = 1500, 300
"""Items of an axis that are clustered at most, and those of which neighbours are put next to each other."""
TOGETHER = 0.5
"""Mean similarity from which items are a group."""


@dataclass(frozen=True)
class Shades:
    """A colour map, the values at its ends, and whether there are values below and above these."""

    map: str
    limits: tuple[float, float]
    clipped: tuple[bool, bool] = (False, False)

    def keys(self, label: str, missing: bool = False) -> tuple[Key | Ramp, ...]:
        """The legend of the colours, and of missing cells."""
        ramp = Ramp.between(label, self.map, self.limits, self.clipped)
        return (*((Key("missing", "border", "missing"),) if missing else ()), ramp)


def shades_of(values: np.ndarray, options: Mapping[str, Any]) -> Shades:
    """Found from the numbers, unless the options say ``scale`` "sequential" or "diverging", ``signed``, ``minimum`` or
    ``maximum``."""
    known = values[np.isfinite(values)]
    if not len(known):
        return Shades("tide", (0.0, 1.0))
    kind = options.get("scale") or (
        "diverging" if options.get("signed", known.min() < 0 < known.max()) else ""
    )
    if kind == "diverging":
        _, (low, high), _ = colour_limits(values, 0.0)
    else:
        low, high = float(known.min()), float(known.max())
        if low >= 0 and high <= 1:
            low, high = 0.0, 1.0
        elif 0 < low < 0.3 * high:
            low = 0.0
    low, high = float(options.get("minimum", low)), float(options.get("maximum", high))
    if high <= low:
        high = low + 1
    clipped = (bool(known.min() < low - 1e-9), bool(known.max() > high + 1e-9))
    return Shades("loom" if kind == "diverging" else "tide", (low, high), clipped)


def robust_shades(values: np.ndarray, signed: bool) -> Shades:
    """As `shades_of`; a few outliers do not take the colours of all others."""
    known = values[np.isfinite(values)]
    if signed:
        return shades_of(values, {"scale": "diverging"})
    if len(known) and (known.min() < 0 or known.max() > 1) and not known.min() < 0 < known.max():
        low, high = (float(v) for v in np.percentile(known, (0.5, 99.5)))
        return shades_of(values, {"minimum": low, "maximum": high})
    return shades_of(values, {})


def colour_limits(
    values: np.ndarray, background: float | None = None
) -> tuple[float, tuple[float, float], tuple[bool, bool]]:
    """Centre, symmetric limits (99th percentile of the distance, 2 digits) and what is clipped.

    The centre is the background when given, 0 for values on both sides of it, else their median (2 digits).
    """
    sample = values.ravel()[:: max(1, values.size // 1_000_000)]
    sample = sample[np.isfinite(sample)]
    if not len(sample):
        return 0.0, (-1.0, 1.0), (False, False)
    median, spread = float(np.median(sample)), float(sample.std())
    if background is not None:
        centre = background if abs(background) > 0.1 * spread else 0.0
    elif sample.min() < 0 < sample.max() and abs(median) <= 0.5 * spread:
        centre = 0.0
    else:
        centre = median
    centre = _digits(centre)
    half = _digits(float(np.percentile(np.abs(sample - centre), 99))) or 1.0
    clipped = (bool(sample.min() < centre - half), bool(sample.max() > centre + half))
    return centre, (centre - half, centre + half), clipped


def _digits(value: float) -> float:
    return float(f"{value:.1e}")


def alike(values: np.ndarray) -> bool:
    """Whether a matrix (n, n) says how alike pairs of items are: the same both ways, from 0 or -1 to 1."""
    n, m = values.shape
    known = values[np.isfinite(values)]
    inside = len(known) and known.min() >= -1 - 1e-9 and known.max() <= 1 + 1e-9
    return n == m and n > 1 and bool(inside) and np.allclose(values, values.T, atol=1e-6, equal_nan=True)


def groups_of(values: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Items (n,) ordered by average linkage of how alike they are (n, n), and the groups of 2 or more whose mean
    similarity is `TOGETHER` or more, the largest first. Of more than 1500 items nothing is found."""
    from scipy.cluster.hierarchy import fcluster, leaves_list, linkage, optimal_leaf_ordering

    n = len(values)
    if not 2 < n <= _MOST_LEAVES:
        return np.arange(n), []
    distances = np.maximum(1 - np.nan_to_num(values)[np.triu_indices(n, 1)], 0)
    tree = linkage(distances, "average")
    if n <= _MOST_ORDERED:
        tree = optimal_leaf_ordering(tree, distances)
    labels = fcluster(tree, 1 - TOGETHER, "distance")
    found = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    found = sorted((members for members in found if len(members) > 1), key=len, reverse=True)
    return np.asarray(leaves_list(tree)), found


def clustered(points: np.ndarray) -> np.ndarray:
    """Leaf order of rows (n, m) by average linkage; more than 1500 stay as they are."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import pdist

    if not can_cluster(len(points)):
        return np.arange(len(points))
    distances = pdist(np.nan_to_num(points))
    tree = linkage(distances, "average")
    if len(points) <= _MOST_ORDERED:
        tree = optimal_leaf_ordering(tree, distances)
    return np.asarray(leaves_list(tree))


def can_cluster(count: int) -> bool:
    """Whether so many items are clustered."""
    return 2 < count <= _MOST_LEAVES
