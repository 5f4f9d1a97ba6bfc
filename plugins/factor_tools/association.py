"""How a number goes with another number, or differs between classes. SciPy is loaded on first use."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

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
    from scipy.special import ndtri
    from scipy.stats import pearsonr, spearmanr

    if len(x) < LEAST_PAIRS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Found()
    pearson, by_rank = pearsonr(x, y), spearmanr(x, y)
    r, p = (by_rank if ranks else pearson)[:2]
    r, p = float(r), float(p)
    error = math.sqrt((1 + r * r / 2 if ranks else 1.0) / (len(x) - 3))
    half = float(ndtri(0.5 + interval / 2)) * error
    z = math.atanh(min(max(r, -1 + 1e-15), 1 - 1e-15))
    low, high = math.tanh(z - half), math.tanh(z + half)
    return Found(r, low, high, r, p, float(pearson[0]), float(by_rank[0]))


def two_classes(first: np.ndarray, second: np.ndarray, interval: float) -> Found:
    """How well a number tells two classes apart, from its values in each.

    ``effect`` is the area under the ROC curve, at least 0.5 (``signed`` is positive when the second class has the
    higher values), with :func:`auc_interval`. ``p`` is that of Mann and Whitney, ``difference`` that of the means
    (second less first) in pooled standard deviations.
    """
    from scipy.stats import mannwhitneyu

    if not len(first) or not len(second):
        return Found()
    test = mannwhitneyu(second, first, alternative="two-sided")
    auc = float(test.statistic) / (len(first) * len(second))
    low, high = auc_interval(max(auc, 1 - auc), len(first), len(second), interval)
    squares = ((first - first.mean()) ** 2).sum() + ((second - second.mean()) ** 2).sum()
    freedom = len(first) + len(second) - 2
    difference = NAN
    if freedom > 0 and squares > 0:
        difference = float((second.mean() - first.mean()) / math.sqrt(squares / freedom))
    p = float(test.pvalue) if np.ptp(np.concatenate([first, second])) > 0 else NAN
    return Found(max(auc, 1 - auc), low, high, 2 * auc - 1, p, difference=difference)


def auc_interval(auc: float, n_first: int, n_second: int, interval: float) -> tuple[float, float]:
    """Interval of an area under the ROC curve: all areas that differ from it by at most z standard errors.

    The standard error of an area A is that of Hanley and McNeil (1982), Radiology 143, 29-36, for negative
    exponential scores, with (n1 + n2) / 2 - 1 in place of n1 - 1 and n2 - 1 (Newcombe 2006, Statistics in Medicine
    25, 559-573, method 5). It stays within 0 to 1 and is not empty when the classes are fully apart.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    z, more = float(ndtri(0.5 + interval / 2)), (n_first + n_second) / 2 - 1

    def too_far(area: float) -> float:
        spread = 1 + more * ((1 - area) / (2 - area) + area / (1 + area))
        return abs(auc - area) - z * math.sqrt(area * (1 - area) * spread / (n_first * n_second))

    tiny = 1e-12
    low = brentq(too_far, 0.0, max(auc, tiny) - tiny / 2) if auc > tiny else 0.0
    high = brentq(too_far, min(auc, 1 - tiny) + tiny / 2, 1.0) if auc < 1 - tiny else 1.0
    return float(low), float(high)


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
