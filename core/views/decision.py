"""Where linear classifiers decide, over two factors: lines between the classes, and groups of a mixture. No Qt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.views.contours import contours
from plaidwork.core.views.sources import SourceError, Sources

GRID = 97
"""Points each way of the grid on which the lines are found; they are straight, or bend smoothly."""
LEAST_SHARE = 0.01
"""Groups with a smaller share of the items are not shown."""


@dataclass(frozen=True)
class Planes:
    """T groups of items, each with G linear classifiers of K scores.

    ``weights`` (T, G, K + 1), the offset last; ``centres`` (T, K), ``spread`` (T,) standard deviation of a group in every
    direction, ``share`` (T,). With G = 1 the classes meet where the classifier is 0, else where two of them are equal.
    """

    weights: np.ndarray
    centres: np.ndarray
    spread: np.ndarray
    share: np.ndarray

    @property
    def groups(self) -> np.ndarray:
        """Numbers of the groups that are shown; none where there is one for all."""
        used = np.flatnonzero(self.share >= LEAST_SHARE)
        return used if len(self.share) > 1 else used[:0]

    @property
    def strongest(self) -> tuple[int, int]:
        """The two factors with the largest coefficients, over groups and classes."""
        size = (self.share[:, None] * np.abs(self.weights[:, :, :-1]).max(axis=1)).sum(axis=0)
        order = np.argsort(-size, kind="stable")
        return int(order[0]), int(order[min(1, len(order) - 1)])

    def values(self, z: np.ndarray) -> np.ndarray:
        """(n, G) values of the classifiers at scores (n, K): means over the groups by their probability at z."""
        flat = self.weights[:, :, :-1].reshape(-1, z.shape[1])
        inner = (z @ flat.T).reshape(len(z), *self.weights.shape[:2]) + self.weights[:, :, -1]
        if len(self.share) == 1:
            return np.asarray(inner[:, 0])
        square = (z**2).sum(axis=1)[:, None] - 2.0 * z @ self.centres.T + (self.centres**2).sum(axis=1)
        log = np.log(np.maximum(self.share, 1e-300)) - z.shape[1] * np.log(self.spread)
        log = log - 0.5 * square / self.spread**2
        p = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(np.einsum("nt,ntg->ng", p / p.sum(axis=1, keepdims=True), inner))


def load_planes(sources: Sources, count: int) -> Planes | None:
    """The roles ``planes``, ``centres``, ``spread`` and ``share`` of a view with ``count`` factors; None without planes."""
    if not sources.has("planes"):
        return None
    weights = sources.array("planes", (None, None, count + 1))
    t = len(weights)
    if t > 1 and not all(sources.has(role) for role in ("centres", "spread", "share")):
        raise SourceError("Planes of several groups need their centres, spread and share.")
    if t == 1:
        return Planes(weights, np.zeros((1, count)), np.ones(1), np.ones(1))
    return Planes(
        weights,
        sources.array("centres", (t, count)),
        sources.array("spread", (t,)),
        sources.array("share", (t,)),
    )


def decision_lines(
    planes: Planes,
    at: np.ndarray,
    i: int,
    j: int,
    x: tuple[float, float],
    y: tuple[float, float],
    grid: int = GRID,
) -> tuple[np.ndarray, ...]:
    """Pieces (p, 2) of the lines between classes over factors i and j within limits, the other scores as in ``at`` (K,)."""
    across, up = np.linspace(*x, grid), np.linspace(*y, grid)
    z = np.tile(at, (grid * grid, 1))
    z[:, i], z[:, j] = np.tile(across, grid), np.repeat(up, grid)
    f = planes.values(z).reshape(grid, grid, -1)
    if f.shape[2] == 1:
        return contours(f[:, :, 0], across, up, (0.0,))[0].lines
    found: list[np.ndarray] = []
    for g in range(f.shape[2] - 1):  # the border of the last class is that of the others
        margin = f[:, :, g] - np.delete(f, g, axis=2).max(axis=2)
        found += contours(margin, across, up, (0.0,))[0].lines
    return tuple(found)
