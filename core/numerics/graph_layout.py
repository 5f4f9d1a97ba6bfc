"""Places for the nodes of a network in the plane: forces between nodes, far ones in groups."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit

_CHUNK = 10
"""Steps between two calls of ``check``."""
_GRAVITY = 0.3
"""Pull to the middle, in units of the repulsion of two nodes at distance 1; keeps separate groups in sight."""
_NEAREST = 0.01
_PULL = 3.0
"""Attraction of a link between two nodes that have no other, in units of the repulsion."""


@njit(nogil=True, cache=True)
def _grid(
    position: np.ndarray, cells: int, low: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Cell of each node, nodes sorted by cell, start of each cell, and (cells², 3) sums of x, y and count."""
    n = len(position)
    cell = np.empty(n, np.int64)
    start = np.zeros(cells * cells + 1, np.int64)
    total = np.zeros((cells * cells, 3))
    for i in range(n):
        x = min(int((position[i, 0] - low[0]) / width), cells - 1)
        y = min(int((position[i, 1] - low[1]) / width), cells - 1)
        cell[i] = x * cells + y
        start[cell[i] + 1] += 1
        total[cell[i], 0] += position[i, 0]
        total[cell[i], 1] += position[i, 1]
        total[cell[i], 2] += 1.0
    for c in range(cells * cells):
        start[c + 1] += start[c]
    at = start[:-1].copy()
    sorted_nodes = np.empty(n, np.int64)
    for i in range(n):
        sorted_nodes[at[cell[i]]] = i
        at[cell[i]] += 1
    return cell, sorted_nodes, start, total


@njit(nogil=True, cache=True)
def _repel(position: np.ndarray, cells: int, force: np.ndarray) -> None:
    """Add 1 / distance from every other node: exactly in the nine cells around, from the middle of all other cells."""
    n = len(position)
    low = np.array([position[:, 0].min(), position[:, 1].min()])
    span = max(position[:, 0].max() - low[0], position[:, 1].max() - low[1])
    cell, order, start, total = _grid(position, cells, low, max(span / cells, 1e-9))
    for i in range(n):
        cx, cy = cell[i] // cells, cell[i] % cells
        fx = fy = 0.0
        for x in range(cells):
            for y in range(cells):
                c = x * cells + y
                if total[c, 2] == 0.0:
                    continue
                if abs(x - cx) > 1 or abs(y - cy) > 1:
                    dx = position[i, 0] - total[c, 0] / total[c, 2]
                    dy = position[i, 1] - total[c, 1] / total[c, 2]
                    share = total[c, 2] / (dx * dx + dy * dy)
                    fx += dx * share
                    fy += dy * share
                    continue
                for at in range(start[c], start[c + 1]):
                    j = order[at]
                    if j != i:
                        dx, dy = position[i, 0] - position[j, 0], position[i, 1] - position[j, 1]
                        square = dx * dx + dy * dy
                        if (
                            square < _NEAREST * _NEAREST
                        ):  # two in one place part along a direction of their own
                            dx, dy = _NEAREST * math.cos(i + 0.5), _NEAREST * math.sin(i + 0.5)
                            square = _NEAREST * _NEAREST
                        fx += dx / square
                        fy += dy / square
        force[i, 0] += fx
        force[i, 1] += fy


@njit(nogil=True, cache=True)
def _move(
    position: np.ndarray, ends: np.ndarray, weights: np.ndarray, cells: int, temperature: np.ndarray
) -> None:
    """One step for each temperature: the longest way a node may go. ``position`` is changed."""
    n = len(position)
    force = np.empty((n, 2))
    for t in temperature:
        force[:] = -_GRAVITY * position
        _repel(position, cells, force)
        for e in range(len(ends)):
            a, b = ends[e, 0], ends[e, 1]
            dx, dy = position[a, 0] - position[b, 0], position[a, 1] - position[b, 1]
            pull = weights[e] * math.sqrt(dx * dx + dy * dy)
            force[a, 0] -= pull * dx
            force[a, 1] -= pull * dy
            force[b, 0] += pull * dx
            force[b, 1] += pull * dy
        for i in range(n):
            size = math.sqrt(force[i, 0] ** 2 + force[i, 1] ** 2)
            if size > 0:
                step = min(size, t) / size
                position[i, 0] += force[i, 0] * step
                position[i, 1] += force[i, 1] * step


def spring_layout(
    n: int,
    ends: np.ndarray,
    weights: np.ndarray,
    seed: int,
    start: np.ndarray | None = None,
    check: Callable[[], None] | None = None,
) -> np.ndarray:
    """Places (n, 2) of n nodes joined by ``ends`` (e, 2), within -1 to 1, the longer side across.

    Forces of Fruchterman and Reingold (1991), Software: Practice and Experience 21, 1129-1164: nodes repel with 1/d,
    links pull with weight d². Repulsion from cells that do not touch comes from their middle, so that a step costs about
    n^1.5 instead of n². ``weights`` (e,) >= 0 are divided by the root of the sums of the two nodes. Nodes without links stay
    in the middle.

    Parameters
    ----------
    start : places to begin at, as they were returned; the layout then changes as little as it must.
    check : called now and then; may raise to stop.
    """
    rng = np.random.default_rng(seed)
    ends = np.ascontiguousarray(ends, dtype=np.int64).reshape(-1, 2)
    weights = np.asarray(weights, dtype=np.float64)
    if len(ends) and (ends.min() < 0 or ends.max() >= n):
        raise ValueError(f"links must join nodes from 0 to {n - 1}, got {ends.min()} to {ends.max()}")
    linked, inner = np.unique(ends, return_inverse=True)
    whole = np.zeros((n, 2))
    if len(linked):
        begin = None if start is None else np.asarray(start)[linked]
        whole[linked] = _laid(len(linked), inner.reshape(-1, 2), weights, rng, begin, check)
    return whole


def _laid(
    n: int,
    ends: np.ndarray,
    weights: np.ndarray,
    rng: np.random.Generator,
    start: np.ndarray | None,
    check: Callable[[], None] | None,
) -> np.ndarray:
    """Places of nodes that all have links."""
    radius = math.sqrt(n)
    weights = _balanced(n, ends, weights)
    if start is None:
        angle, far = rng.uniform(0, 2 * math.pi, n), radius * np.sqrt(rng.random(n))
        position, steps, hot = np.column_stack([far * np.cos(angle), far * np.sin(angle)]), 240, 0.25 * radius
    else:
        position, steps, hot = np.array(start, dtype=np.float64) * 1.5 * radius, 60, 0.03 * radius
        position += rng.normal(0, 1e-3, position.shape)
    cells = int(max(1, min(32, round(1.8 * n**0.25))))
    temperature = hot * np.linspace(1, 0, steps) ** 2 + 0.01
    for first in range(0, steps, _CHUNK):
        if check is not None:
            check()
        _move(position, ends, weights, cells, temperature[first : first + _CHUNK])
    return _upright(position, start is None)


def _balanced(n: int, ends: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Weights relative to what their two nodes have in all, so that well-linked groups do not fall into one point."""
    whole = np.zeros(n)
    np.add.at(whole, ends.ravel(), np.repeat(weights, 2))
    scale = np.sqrt(whole[ends[:, 0]] * whole[ends[:, 1]])
    return np.divide(_PULL * weights, scale, out=np.zeros(len(weights)), where=scale > 0)


def _upright(position: np.ndarray, turn: bool) -> np.ndarray:
    """Around the middle, the longest direction across, scaled to -1 to 1."""
    position = position - position.mean(axis=0)
    if turn and len(position) > 2:
        _, _, axes = np.linalg.svd(position, full_matrices=False)
        position = position @ axes.T
    most = float(np.abs(position).max())
    return position / most if most > 0 else position
