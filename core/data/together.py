"""Whether the columns of a table still go together within groups of similar rows, or only because the groups differ in them.

Groups of rows are made by halves along the longest axis, then by rounds of k-means; for each number of groups the rows have two evidences,

    independent   x_ij ~ N(mu_kj, s_kj)        s_kj ~ IG(a, (a - 1) v_j),              mu_kj ~ N(0, s_kj / k)
    together      x_i ~ N(mu_k, S_k)           S_k ~ IW(d - 1 + 2 a, 2 (a - 1) diag v),  mu_k ~ N(0, S_k / k)

with the parameters integrated out, v_j the variance within the groups, columns standardised. The first is the second of one column. What
is compared is the best of each over the numbers of groups. a is large, so that groups are alike in spread: with a small one few rows of
many columns never speak for covariances. k is small, so that where the centres lie says nothing of how a group is spread. Nothing is drawn, and the order of the rows does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

_SHAPE = 15.0
"""a: how alike the groups are in spread."""
_ENOUGH = 3.0
"""Nats that are strong evidence, odds of 20 (Kass and Raftery 1995)."""
_CENTRE = 0.01
"""k: rows that the common centre counts for in the centre of a group."""
_GROUPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
_LEAST_ROWS = 4
"""Rows of a group, on average."""
_ROUNDS = 10
_ROWS, _COLUMNS = 2000, 200
"""Rows that are looked at, evenly spread; columns above which nothing is said, as it would take long."""
_FLOOR = 1e-3
"""Added to each variance within the groups, which may be none at all."""


def go_together(values: np.ndarray, known: np.ndarray) -> bool:
    """Whether the columns of (n, d) ``values`` go together within groups of similar rows: see :func:`gain_of_covariances`."""
    return gain_of_covariances(values, known) > _ENOUGH


def gain_of_covariances(values: np.ndarray, known: np.ndarray) -> float:
    """Nats by which the rows of (n, d) ``values`` have more evidence if their columns go together within groups than if they are independent.

    Cells that are not ``known`` (n, d) count as the mean of their column; rows without any and columns of one value are passed over. Infinite
    above 200 columns, which are not looked at; 0 where there is nothing to compare. O(n d^2), of 2000 rows at most.
    """
    if values.shape[1] > _COLUMNS:
        return math.inf
    rows = np.flatnonzero(known.any(axis=1))
    rows = rows[:: max(1, -(-len(rows) // _ROWS))]
    seen = known[rows]
    number = np.maximum(seen.sum(axis=0), 1)
    cells = np.where(seen, values[rows], 0.0)
    cells = np.where(seen, cells - cells.sum(axis=0) / number, 0.0)
    deviation = np.sqrt((cells**2).sum(axis=0) / number)
    changing = deviation > 1e-12 * np.abs(np.where(seen, values[rows], 0.0)).max(axis=0, initial=0.0)
    cells = np.ascontiguousarray(cells[:, changing] / deviation[changing])
    return 0.0 if min(cells.shape) < 2 else _gain(cells.tobytes(), cells.shape)


@lru_cache(maxsize=8)  # a fit asks several times for the same table
def _gain(stored: bytes, shape: tuple[int, int]) -> float:
    cells = np.frombuffer(stored).reshape(shape)
    found = [_evidences(cells, groups) for groups in _groupings(cells)]
    together, independent = (max(one) for one in zip(*found, strict=True))
    return together - independent


def _groupings(cells: np.ndarray) -> Iterator[np.ndarray]:
    """(n,) groups of the rows for each number of groups, from 0 on."""
    group = np.zeros(len(cells), np.int64)
    axes = {0: _longest_axis(cells)}
    yield group
    while len(axes) < min(_GROUPS[-1], len(cells) // _LEAST_ROWS):
        widest = max(axes, key=lambda k: axes[k][0])
        members = np.flatnonzero(group == widest)
        beyond = axes[widest][1] > 0.0
        if beyond.all() or not beyond.any():
            return
        new = len(axes)
        group[members[beyond]] = new
        axes[widest], axes[new] = (
            _longest_axis(cells[members[~beyond]]),
            _longest_axis(cells[members[beyond]]),
        )
        if len(axes) in _GROUPS:
            yield _nearest_centres(cells, group)


def _longest_axis(cells: np.ndarray) -> tuple[float, np.ndarray]:
    """Sum of squares along the axis on which the rows are spread most, and where they lie on it, from their mean."""
    gap = cells - cells.mean(axis=0)
    length, axis = np.linalg.eigh(gap.T @ gap)
    return float(length[-1]), gap @ axis[:, -1]


def _nearest_centres(cells: np.ndarray, group: np.ndarray) -> np.ndarray:
    """(n,) groups after rounds of k-means; one that is left by all is gone."""
    for _ in range(_ROUNDS):
        centres = _means(cells, group)
        group = np.argmin((centres**2).sum(axis=1) - 2.0 * cells @ centres.T, axis=1)
        group = np.unique(group, return_inverse=True)[1]
    return group


def _means(cells: np.ndarray, group: np.ndarray) -> np.ndarray:
    """(K, d) mean of each group."""
    sums = np.zeros((int(group.max()) + 1, cells.shape[1]))
    np.add.at(sums, group, cells)
    return np.asarray(sums / np.bincount(group)[:, None])


def _evidences(cells: np.ndarray, group: np.ndarray) -> tuple[float, float]:
    """Log evidence of the rows in these groups, columns together and independent; with the weight of the groups' sizes."""
    from scipy.special import gammaln  # only here: the interface for plugins does without scipy

    size, means, d = np.bincount(group).astype(float), _means(cells, group), cells.shape[1]
    gap = cells - means[group]
    usual = (gap**2).mean(axis=0) + _FLOOR
    scatter = np.array([gap[group == k].T @ gap[group == k] for k in range(len(size))])
    weight = _CENTRE * size / (_CENTRE + size)
    scatter += weight[:, None, None] * means[:, :, None] * means[:, None, :]
    sizes = float(gammaln(size).sum())
    together = _log_evidence(size, scatter, np.diag(usual))
    alone = sum(
        _log_evidence(size, scatter[:, j : j + 1, j : j + 1], usual[j : j + 1, None]) for j in range(d)
    )
    return together + sizes, alone + sizes


def _log_evidence(size: np.ndarray, scatter: np.ndarray, usual: np.ndarray) -> float:
    """Of normal rows of d columns in groups: ``size`` (K,), ``scatter`` (K, d, d) from the mean, ``usual`` (d, d) covariance within."""
    from scipy.special import multigammaln

    d = len(usual)
    freedom, prior = d - 1.0 + 2.0 * _SHAPE, 2.0 * (_SHAPE - 1.0) * usual
    before = 0.5 * freedom * np.linalg.slogdet(prior)[1] - multigammaln(0.5 * freedom, d)
    after = (
        multigammaln(0.5 * (freedom + size), d)
        - 0.5 * (freedom + size) * np.linalg.slogdet(prior + scatter)[1]
    )
    rest = -0.5 * d * (np.log1p(size / _CENTRE) + size * math.log(math.pi))
    return float((before + after + rest).sum())
