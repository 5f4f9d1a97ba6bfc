"""Competitive tests of many sets at once: whether the features of a set have larger values than the others.

All tests are one-sided (larger). Features of a set tend to go together, which makes sums over a set vary more than
sums over as many independent features; ``correlation`` is the mean correlation within sets to allow for.
Source: Wu and Smyth (2012), Camera, Nucleic Acids Research 40, e133.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

_BATCH = 64


@dataclass(frozen=True, slots=True)
class SetTests:
    """Of S sets, (S,) each.

    Attributes
    ----------
    effect, low, high : difference of the means inside and outside in pooled standard deviations, with its interval.
    auc : probability that a feature of the set has a larger value than one outside, ties counting half.
    p : one-sided.
    """

    effect: np.ndarray
    low: np.ndarray
    high: np.ndarray
    auc: np.ndarray
    p: np.ndarray


def sums(values: np.ndarray, places: Sequence[np.ndarray]) -> np.ndarray:
    """(S,) sums of the values at the places of each set; no set may be empty."""
    starts = np.cumsum([0, *(len(one) for one in places[:-1])])
    return np.add.reduceat(values[np.concatenate(places)], starts)


def compare_sets(
    values: np.ndarray, places: Sequence[np.ndarray], by_rank: bool, correlation: float, interval: float
) -> SetTests:
    """Test every set against the features outside it.

    Parameters
    ----------
    values : (D,), larger is more.
    places : places of the features of each set; at least one inside and one outside.
    by_rank : the rank test of Mann and Whitney, else the t test; both for correlated features.
    """
    from scipy.special import stdtr, stdtrit
    from scipy.stats import norm, rankdata

    d = len(values)
    m = np.array([len(one) for one in places], dtype=np.float64)
    rest = d - m
    centred = values - values.mean()
    inside = sums(centred, places) / m
    outside = -inside * m / rest  # all together have mean zero
    squares = float((centred**2).sum()) - m * inside**2 - rest * outside**2
    spread = np.sqrt(np.maximum(squares, 0.0) / max(d - 2, 1))
    inflation = 1 + (m - 1) * correlation
    error = np.sqrt(inflation / m + 1 / rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.where(spread > 0, (inside - outside) / spread, 0.0)
    half = float(stdtrit(max(d - 2, 1), 0.5 + interval / 2)) * error
    ranks = rankdata(values)
    u = sums(ranks, places) - m * (m + 1) / 2
    auc = u / (m * rest)
    if by_rank:
        sd = np.sqrt(rank_variance(m, rest, correlation) * (1 - _ties(ranks)))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(sd > 0, (u - m * rest / 2 - 0.5) / sd, 0.0)
        p = norm.sf(z)
    else:
        p = stdtr(max(d - 2, 1), -effect / error)
    return SetTests(effect, effect - half, effect + half, auc, np.asarray(p))


def rank_variance(m: np.ndarray, rest: np.ndarray, correlation: float) -> np.ndarray:
    """Variance of Mann and Whitney's U when the ``m`` features of the set are correlated; m rest (D + 1) / 12 at 0.

    Source: Barry, Nobel and Wright (2008), Annals of Applied Statistics 2, 286-315; as in limma.
    """
    pairs = m * rest
    total = (
        math.asin(1.0) * pairs
        + math.asin(0.5) * pairs * (rest - 1)
        + math.asin(correlation / 2) * m * (m - 1) * rest * (rest - 1)
        + math.asin((correlation + 1) / 2) * m * (m - 1) * rest
    )
    return np.asarray(total / (2 * math.pi))


def _ties(ranks: np.ndarray) -> float:
    """Share by which ties lower the variance of U."""
    _, counts = np.unique(ranks, return_counts=True)
    n, t = float(len(ranks)), counts.astype(np.float64)
    return float((t * (t + 1) * (t - 1)).sum() / (n * (n + 1) * (n - 1))) if n > 1 else 0.0


def permuted_p(
    values: np.ndarray,
    places: Sequence[np.ndarray],
    by_rank: bool,
    permutations: int,
    rng: np.random.Generator,
    report: Callable[[float], None],
) -> np.ndarray:
    """(S,) one-sided p: the share of random sets of the same size with as large a mean (of ranks), the set counted.

    Sets of one size are compared with the same random sets. Source: Phipson and Smyth (2010), Statistical
    Applications in Genetics and Molecular Biology 9, article 39, for counting the set itself.
    """
    from scipy.stats import rankdata

    used = rankdata(values) if by_rank else values - values.mean()
    m = np.array([len(one) for one in places], dtype=np.int64)
    found = sums(used, places)
    slack = 1e-12 * max(1.0, float(np.abs(used).sum()))  # sums of the same values in another order
    larger = np.zeros(len(m), dtype=np.int64)
    done, most = 0, int(m.max())
    while done < permutations:
        count = min(_BATCH, permutations - done)
        drawn = np.cumsum(np.stack([rng.choice(used, most, replace=False) for _ in range(count)]), axis=1)
        for size in np.unique(m):
            here = m == size
            larger[here] += (drawn[:, size - 1][:, None] >= found[here] - slack).sum(axis=0)
        done += count
        report(done / permutations)
    return (larger + 1) / (permutations + 1)
