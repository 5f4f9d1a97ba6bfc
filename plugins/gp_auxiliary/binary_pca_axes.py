"""Draws of a factor model in common axes: the principal ones of their mean, each draw turned onto them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Kept
from plaidwork.plugins.gp_auxiliary.averaging import evenly

MOST_DRAWS = 400
_WORK = 4e9
"""Multiplications that a summary may cost: a few seconds of one core."""


@dataclass(frozen=True, slots=True)
class Turned:
    """One draw: scores (n, K) and loadings (m, K) in the common axes, means (m,), and the rotation (K, K) onto them."""

    scores: np.ndarray
    loadings: np.ndarray
    mean: np.ndarray
    rotation: np.ndarray


def picked(kept: Kept, most: int = MOST_DRAWS) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Scores, loadings and means of draws spread evenly over all chains."""
    for chain in kept.chains:
        for draw in evenly(chain.n_draws, max(most // len(kept.chains), 2)):
            scores, loadings, mean = (chain.draw(name, draw) for name in ("scores", "loadings", "mean"))
            yield scores, loadings, mean


def affordable(cost: float) -> int:
    """How many draws a summary takes, each of ``cost`` multiplications."""
    return int(np.clip(_WORK / max(cost, 1.0), 12, MOST_DRAWS))


def turned_draws(kept: Kept) -> list[Turned]:
    """Draws in common axes.

    Rotations leave the likelihood and the scores' prior as they are, so axes of different draws have nothing to do with
    each other. The mean of ``X W'`` over the draws does not depend on them: its K principal directions are the common
    axes, strongest first, and each draw is turned onto them (orthogonal Procrustes, Schonemann 1966). The sign of an axis
    is such that its largest loading is positive.
    """
    first = next(picked(kept))
    (n, size), m = first[0].shape, len(first[1])
    draws = list(picked(kept, affordable(3.0 * n * m * size)))
    total = np.zeros((n, m))
    for x, w, _mean in draws:
        total += (x - x.mean(axis=0)) @ w.T
    axes = _directions(total / len(draws), size)
    found = []
    for x, w, mean in draws:
        left, _values, right = np.linalg.svd((x - x.mean(axis=0)).T @ axes)
        rotation = left @ right
        found.append(Turned(x @ rotation, w @ rotation, mean, rotation))
    return _with_signs(found)


def _directions(matrix: np.ndarray, size: int) -> np.ndarray:
    """(n, K) left singular vectors of a matrix (n, m) times its singular values, by the smaller of its two products."""
    n, m = matrix.shape
    if n <= m:
        values, vectors = np.linalg.eigh(matrix @ matrix.T)
        keep = np.argsort(values)[::-1][:size]
        return vectors[:, keep] * np.sqrt(np.maximum(values[keep], 0.0))
    values, vectors = np.linalg.eigh(matrix.T @ matrix)
    return np.asarray(matrix @ vectors[:, np.argsort(values)[::-1][:size]])


def _with_signs(found: list[Turned]) -> list[Turned]:
    mean = np.mean([draw.loadings for draw in found], axis=0)
    sign = np.sign(mean[np.abs(mean).argmax(axis=0), np.arange(mean.shape[1])])
    sign[sign == 0] = 1.0
    return [
        Turned(draw.scores * sign, draw.loadings * sign, draw.mean, draw.rotation * sign) for draw in found
    ]


def strengths(scores: np.ndarray, loadings: np.ndarray) -> np.ndarray:
    """(K,) shares of the latent variance of a cell (noise of 1 and all components) on the draw's own principal axes."""
    centred = scores - scores.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(scores))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    within = np.linalg.eigvalsh(root.T @ (loadings.T @ loadings) @ root / len(loadings))
    within = np.maximum(within[::-1], 0.0)
    return np.asarray(within / (within.sum() + 1.0))
