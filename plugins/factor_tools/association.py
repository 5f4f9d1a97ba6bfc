"""How a number goes with another number, or differs between classes. SciPy is loaded on first use."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api_scores import auc, correlation_interval

NAN = math.nan
LEAST_PAIRS = 4
"""Fewest pairs of numbers of which a correlation with an interval is given."""


@dataclass(frozen=True, slots=True)
class Found:
    """One association.

    Attributes
    ----------
    effect, low, high : the measure and its interval; NaN where there is none.
    signed : the effect on one scale from -1 to 1: the correlation, 2 AUC - 1, or the correlation ratio (from 0).
    p : two-sided; NaN when it could not be tested.
    """

    effect: float = NAN
    low: float = NAN
    high: float = NAN
    signed: float = NAN
    p: float = NAN
    pearson: float = NAN
    spearman: float = NAN
    difference: float = NAN


def correlation(x: np.ndarray, y: np.ndarray, ranks: bool, interval: float) -> Found:
    """Correlation of two (n,) arrays without missing values: Spearman's with ``ranks``, else Pearson's.

    The interval is that of Fisher's z, with the standard error 1/sqrt(n - 3), for ranks that of Bonett and Wright
    (2000), sqrt((1 + r^2 / 2) / (n - 3)). NaN throughout for fewer than four pairs, or when one is constant.
    """
    from scipy.stats import pearsonr, spearmanr

    if len(x) < LEAST_PAIRS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Found()
    pearson, by_rank = pearsonr(x, y), spearmanr(x, y)
    r, p = (by_rank if ranks else pearson)[:2]
    r, p = float(r), float(p)
    _, low, high = correlation_interval(r, len(x), ranks, interval)
    return Found(r, low, high, r, p, float(pearson[0]), float(by_rank[0]))


def two_classes(first: np.ndarray, second: np.ndarray, interval: float) -> Found:
    """How well a number tells two classes apart, from its values in each.

    ``effect`` is the area under the ROC curve, at least 0.5 (``signed`` is positive when the second class has the
    higher values), with its interval as everywhere (``core.api_scores.auc``). ``p`` is that of Mann and Whitney, ``difference`` that of the means
    (second less first) in pooled standard deviations.
    """
    from scipy.stats import mannwhitneyu

    if not len(first) or not len(second):
        return Found()
    test = mannwhitneyu(second, first, alternative="two-sided")
    values = np.concatenate([first, second])
    area, low, high = auc(np.arange(len(values)) >= len(first), values, interval)
    if area < 0.5:
        low, high = 1 - high, 1 - low
    squares = ((first - first.mean()) ** 2).sum() + ((second - second.mean()) ** 2).sum()
    freedom = len(first) + len(second) - 2
    difference = NAN
    if freedom > 0 and squares > 0:
        difference = float((second.mean() - first.mean()) / math.sqrt(squares / freedom))
    p = float(test.pvalue) if np.ptp(values) > 0 else NAN
    return Found(max(area, 1 - area), low, high, 2 * area - 1, p, difference=difference)


def several_classes(groups: list[np.ndarray]) -> Found:
    """How a number differs between three classes or more: eta squared, with the p of Kruskal and Wallis.

    Eta squared is the share of the variance that lies between the classes; ``signed`` is its root.
    """
    from scipy.stats import kruskal

    values = np.concatenate(groups)
    total = float(((values - values.mean()) ** 2).sum())
    if total <= 0:
        return Found()
    between = float(sum(len(group) * (group.mean() - values.mean()) ** 2 for group in groups))
    eta = min(1.0, between / total)
    return Found(eta, signed=math.sqrt(eta), p=float(kruskal(*groups).pvalue))
