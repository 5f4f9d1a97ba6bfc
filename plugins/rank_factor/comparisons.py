"""From values to levels, and from levels to the comparisons between samples. Fixed by the data, before inference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.plugins.rank_factor.kernels import pairs as kernels


@dataclass(frozen=True)
class Levels:
    """How the values of d rows are cut into levels.

    Attributes
    ----------
    values : (d, N) int32 level of every cell, -1 where not known.
    count : (d,) number of levels. edges : (d, m - 1) levels begin here; infinite where a row has fewer.
    exact : (d,) whether a level is one value, so that a new value may lie between two levels.
    lowest : (d,) smallest value.
    """

    values: np.ndarray
    count: np.ndarray
    edges: np.ndarray
    exact: np.ndarray
    lowest: np.ndarray

    @property
    def top(self) -> np.ndarray:
        return self.count - 1


@dataclass(frozen=True)
class Pairs:
    """All comparisons of samples; names as in ``kernels.pairs``."""

    start: np.ndarray
    low: np.ndarray
    high: np.ndarray
    first: np.ndarray
    row: np.ndarray
    other: np.ndarray
    pair: np.ndarray
    sign: np.ndarray


@dataclass(frozen=True)
class Placed:
    """New samples among the fitted ones: places of what is below and above, (d, M) int32, -1 for nothing.

    Places are those of thresholds (``levels``) or of samples (``pairs``).
    """

    lower: np.ndarray
    upper: np.ndarray


def row_edges(values: np.ndarray, n_levels: int) -> tuple[np.ndarray, bool]:
    """Where the levels of one row begin, and whether every value is a level of its own.

    With more than ``n_levels`` distinct values (0: no limit) the row is cut at quantiles, ties together.
    """
    distinct = np.unique(values)
    if n_levels == 0 or len(distinct) <= n_levels:
        return distinct[1:], True
    shares = np.arange(1, n_levels) / n_levels
    cuts = np.unique(np.quantile(values, shares, method="inverted_cdf"))
    return np.nextafter(cuts[cuts < distinct[-1]], np.inf), False


def make_levels(x: np.ndarray, known: np.ndarray, n_levels: int) -> Levels:
    """Levels of the rows of (d, N) values; every row has two distinct known values at least."""
    found = [row_edges(row[here], n_levels) for row, here in zip(x, known, strict=True)]
    count = np.array([len(edges) + 1 for edges, _ in found], np.int64)
    edges = np.full((len(x), int(count.max()) - 1), np.inf)
    for row, (begin, _) in zip(edges, found, strict=True):
        row[: len(begin)] = begin
    exact = np.array([one for _, one in found])
    return Levels(level_of(x, known, edges), count, edges, exact, np.where(known, x, np.inf).min(axis=1))


def level_of(x: np.ndarray, known: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """(d, N) int32 number of edges that a value has reached, -1 where not known."""
    out = np.empty(x.shape, np.int32)
    for i in range(len(x)):
        out[i] = np.searchsorted(edges[i], x[i], side="right")
    out[~known] = -1
    return out


def make_pairs(levels: Levels) -> Pairs:
    """The comparisons of neighbouring levels, by row and by sample."""
    values, n = levels.values, levels.values.shape[1]
    start = np.concatenate([[0], np.cumsum(kernels.count_pairs(values, levels.count))])
    size = int(start[-1])
    low, high = np.empty(size, np.int32), np.empty(size, np.int32)
    kernels.fill_pairs(values, levels.count, start, low, high)
    first = np.zeros(n + 1, np.int64)
    row, other = np.empty(2 * size, np.int32), np.empty(2 * size, np.int32)
    pair, sign = np.empty(2 * size, np.int32), np.empty(2 * size, np.int8)
    kernels.fill_entries(start, low, high, first, row, other, pair, sign)
    return Pairs(start, low, high, first, row, other, pair, sign)


def place(levels: Levels, x: np.ndarray, known: np.ndarray, scheme: str) -> Placed:
    """Where new samples stand: (d, M) values against the training levels."""
    level = level_of(x, known, levels.edges)
    lower, upper = level - 1, level.copy()
    top = levels.top[:, None].astype(np.int32)
    if scheme == "levels":
        upper[upper >= top] = -1
    else:
        lower, upper = _neighbours(levels, x, level)
    lower[level < 0] = upper[level < 0] = -1
    return Placed(np.maximum(lower, -1).astype(np.int32), upper.astype(np.int32))


def _neighbours(levels: Levels, x: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Samples of the next lower and the next higher value; members of a level take turns."""
    lower, upper = np.full(level.shape, -1), np.full(level.shape, -1)
    for i in range(len(x)):
        members = np.argsort(levels.values[i], kind="stable")
        begin = np.searchsorted(levels.values[i][members], np.arange(levels.count[i] + 1))
        here = level[i].astype(np.int64)
        below, above = here - 1, here + 1
        if levels.exact[i]:  # a value between two levels is above the one it has reached
            reached = np.concatenate([[levels.lowest[i]], levels.edges[i]])
            between = x[i] > reached[np.maximum(here, 0)]
            below = np.where(between, here, below)
            above = np.where(x[i] < reached[0], 0, above)
        turn = np.arange(x.shape[1])
        for out, wanted in ((lower, below), (upper, above)):
            there = (wanted >= 0) & (wanted < levels.count[i])
            j = wanted[there]
            out[i, there] = members[begin[j] + turn[there] % (begin[j + 1] - begin[j])]
    return lower, upper
