"""Draws of a factor model in common axes: the principal ones of their mean, each draw turned onto them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Kept
from plaidwork.core.numerics.used_draws import ByChain, draws_text, spread, standard_error

_WORK = 1e11
"""Multiplications that a summary may cost: less than a minute of one core."""
_NUMBERS = 5e7
"""Numbers held side by side: 400 MB."""


Draw = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Scores (n, K), loadings (m, K) and means (m,) as they were kept."""


@dataclass(frozen=True, slots=True)
class Turned:
    """One draw: scores (n, K) and loadings (m, K) in the common axes, means (m,), and the rotation (K, K) onto them."""

    scores: np.ndarray
    loadings: np.ndarray
    mean: np.ndarray
    rotation: np.ndarray
    place: tuple[int, int]
    """Number of the chain and of the draw in it."""


def picked(kept: Kept, most: int | None = None) -> Iterator[tuple[tuple[int, int], Draw]]:
    """Chain and number of draws with their scores, loadings and means: all, or ``most``, spread evenly over all chains."""
    each = max(most // len(kept.chains), 2) if most is not None else None
    for c, chain in enumerate(kept.chains):
        for draw in np.sort(spread(chain.n_draws)[:each]) if chain.n_draws else ():
            yield (
                (c, int(draw)),
                (chain.draw("scores", draw), chain.draw("loadings", draw), chain.draw("mean", draw)),
            )


def affordable(cost: float, numbers: float = 0.0) -> int:
    """How many draws a summary takes, each of ``cost`` multiplications, and of ``numbers`` to be held."""
    return int(max(min(_WORK / max(cost, 1.0), _NUMBERS / max(numbers, 1.0)), 12))


def used_note(turned: list[Turned], kept: Kept) -> str:
    """How many draws were averaged, and the largest Monte Carlo error of a score on the first axis."""
    total = ByChain([chain.n_draws for chain in kept.chains])
    for draw in turned:
        total.add(*draw.place, draw.scores[:, 0])
    error = float(standard_error(total.chains(), total.batches()).max())
    return draws_text(len(turned), kept.n_draws) + (
        f" (Monte Carlo error of a score on the first axis up to {error:.3f})" if np.isfinite(error) else ""
    )


def turned_draws(kept: Kept) -> list[Turned]:
    """Draws in common axes.

    Rotations leave the likelihood and the scores' prior as they are, so axes of different draws have nothing to do with
    each other. The mean of ``X W'`` over the draws does not depend on them: its K principal directions are the common
    axes, strongest first, and each draw is turned onto them (orthogonal Procrustes, Schonemann 1966). The sign of an axis
    is such that its largest loading is positive.
    """
    _, (scores, loadings, _) = next(picked(kept))
    (n, size), m = scores.shape, len(loadings)
    draws = list(picked(kept, affordable(3.0 * n * m * size, (n + m) * size)))
    total = np.zeros((n, m))
    for _, (x, w, _mean) in draws:
        total += (x - x.mean(axis=0)) @ w.T
    axes = _directions(total / len(draws), size)
    found = []
    for place, (x, w, mean) in draws:
        left, _values, right = np.linalg.svd((x - x.mean(axis=0)).T @ axes)
        rotation = left @ right
        found.append(Turned(x @ rotation, w @ rotation, mean, rotation, place))
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
        Turned(draw.scores * sign, draw.loadings * sign, draw.mean, draw.rotation * sign, draw.place)
        for draw in found
    ]


def strengths(scores: np.ndarray, loadings: np.ndarray) -> np.ndarray:
    """(K,) shares of the latent variance of a cell (noise of 1 and all components) on the draw's own principal axes."""
    centred = scores - scores.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(scores))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    within = np.linalg.eigvalsh(root.T @ (loadings.T @ loadings) @ root / len(loadings))
    within = np.maximum(within[::-1], 0.0)
    return np.asarray(within / (within.sum() + 1.0))
