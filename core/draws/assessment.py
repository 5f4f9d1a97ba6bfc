"""How good class probabilities are against known classes: confusion, ROC, precision and recall, calibration, scores.

The one definition of every score: pages, models and searches read them here. SciPy is loaded on first use.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plaidwork.core.contract.model import Table
from plaidwork.core.draws.numbers import format_count, format_loss, format_percent, format_rate

LEAST = 1e-15
"""Probabilities below are taken for this in the log loss."""


class Interval(NamedTuple):
    """A number with its confidence interval; NaN where it cannot be told."""

    value: float
    low: float
    high: float


SCORES = (
    "Errors: share of items whose most probable class is not their own (Wilson's 95 % interval). AUC: area under the ROC "
    "curve; of more than two classes the mean over the classes, each against the rest. Log loss: mean of -log "
    "P(own class), in nats. Brier score: squared distance of the probabilities from the own class, summed over the classes "
    "and halved, 0 to 1."
)
"""What the scores of a table are, for captions."""


@dataclass(frozen=True, slots=True)
class Scores:
    """How good the probabilities of ``count`` items with a known class are; ``wrong`` of them are classed wrongly."""

    count: int
    wrong: int
    errors: Interval
    auc: Interval
    log_loss: Interval
    brier: Interval

    def text(self, what: str) -> str:
        """``5 of 84 test samples wrong (6 %, 95 % interval 3 % to 13 %), log loss 0.204``; ``what`` names the items."""
        if not self.count:
            return f"No {what} with a known class"
        low, high = (format_percent(end) for end in self.errors[1:])
        share = format_rate(self.wrong, self.count).partition(" (")[2].rstrip(")")
        return (
            f"{format_count(self.wrong)} of {format_count(self.count)} {what} wrong ({share}, 95 % interval {low} to "
            f"{high}), log loss {format_loss(self.log_loss.value)}"
        )


@dataclass(frozen=True, slots=True)
class Bin:
    """Items whose probability lies in a bin: mean probability, share of the class with its interval, number of items."""

    mean: float
    share: Interval
    count: int


def class_probabilities(probability: np.ndarray) -> np.ndarray:
    """(n, C) probabilities; (n,) ones are of the second of two classes."""
    p = np.asarray(probability, dtype=np.float64)
    return np.stack([1 - p, p], axis=1) if p.ndim == 1 else p


def confusion(codes: np.ndarray, probability: np.ndarray) -> np.ndarray:
    """(C, C) counts: true class down, most probable class across.

    Parameters
    ----------
    codes : (n,) class numbers.
    probability : (n, C).
    """
    size = probability.shape[1]
    counts = np.zeros((size, size), dtype=np.int64)
    np.add.at(counts, (codes, probability.argmax(axis=1)), 1)
    return counts


def wilson(hits: int, count: int, level: float = 0.95) -> Interval:
    """Share of ``hits`` in ``count`` with Wilson's interval (Wilson 1927, JASA 22, 209-212), also for none and for all."""
    if count == 0:
        return Interval(math.nan, math.nan, math.nan)
    from scipy.stats import binomtest

    found = binomtest(hits, count).proportion_ci(level, method="wilson")
    return Interval(hits / count, float(found.low), float(found.high))


def roc(positive: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False positive rate, true positive rate and threshold at every distinct score, from (0, 0, inf) to (1, 1, least).

    Tied scores are one step, so that ties run diagonally. Needs items of both kinds.
    """
    score, positive = np.asarray(score, dtype=np.float64), np.asarray(positive, dtype=bool)
    order = np.argsort(-score, kind="stable")
    sorted_, hit = score[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(sorted_)), len(sorted_) - 1)
    true = np.cumsum(hit)[last]
    false = last + 1 - true
    return (
        np.append(0.0, false / max(int((~positive).sum()), 1)),
        np.append(0.0, true / max(int(positive.sum()), 1)),
        np.append(np.inf, sorted_[last]),
    )


def precision_recall(positive: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Recall, precision and threshold at every distinct score, the highest first; begins at recall 0."""
    positive = np.asarray(positive, dtype=bool)
    false_rate, true_rate, threshold = roc(positive, score)
    true = true_rate * positive.sum()
    taken = true + false_rate * (~positive).sum()
    precision = np.where(taken > 0, true / np.maximum(taken, 1e-300), np.nan)
    precision[0] = precision[1] if len(precision) > 1 else np.nan
    return true_rate, precision, threshold


def average_precision(positive: np.ndarray, score: np.ndarray) -> float:
    """Sum over steps of the gain in recall times the precision there; NaN without positives."""
    if not np.any(positive):
        return math.nan
    recall, precision, _ = precision_recall(positive, score)
    return float((np.diff(recall) * precision[1:]).sum())


def auc(positive: np.ndarray, score: np.ndarray, level: float = 0.95) -> Interval:
    """Area under the ROC curve with DeLong's interval on the logit scale; ties count half.

    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845, by mid-ranks (Sun & Xu 2014, IEEE Signal Processing
    Letters 21, 1389-1393). Where its variance is 0 or unknown (an area of 0 or 1, a single item of a kind) the interval is
    that of :func:`newcombe`. NaN without items of both kinds.
    """
    positive, score = np.asarray(positive, dtype=bool), np.asarray(score, dtype=np.float64)
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    if not n_pos or not n_neg:
        return Interval(math.nan, math.nan, math.nan)
    from scipy.stats import rankdata

    ranks = rankdata(score)
    above = (ranks[positive] - rankdata(score[positive])) / n_neg  # share of the others below each positive
    below = 1 - (ranks[~positive] - rankdata(score[~positive])) / n_pos
    area = float(above.mean())
    variance = 0.0
    if n_pos > 1 and n_neg > 1:
        variance = float(above.var(ddof=1)) / n_pos + float(below.var(ddof=1)) / n_neg
    if variance <= 0 or not 0 < area < 1:
        return Interval(area, *newcombe(area, n_pos, n_neg, level))
    half = _z(level) * math.sqrt(variance) / (area * (1 - area))
    logit = math.log(area / (1 - area))
    low, high = (1 / (1 + math.exp(-min(max(end, -700), 700))) for end in (logit - half, logit + half))
    return Interval(area, low, high)


def newcombe(area: float, n_pos: int, n_neg: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of an area under the ROC curve from the numbers of items alone: all areas at most z standard errors away.

    The standard error of an area A is that of Hanley and McNeil (1982), Radiology 143, 29-36, for negative exponential
    scores, with (n1 + n2) / 2 - 1 in place of n1 - 1 and n2 - 1 (Newcombe 2006, Statistics in Medicine 25, 559-573,
    method 5). It stays within 0 to 1 and is not empty when the classes are fully apart.
    """
    from scipy.optimize import brentq

    z, more = _z(level), (n_pos + n_neg) / 2 - 1

    def too_far(other: float) -> float:
        spread = 1 + more * ((1 - other) / (2 - other) + other / (1 + other))
        return abs(area - other) - z * math.sqrt(other * (1 - other) * spread / (n_pos * n_neg))

    tiny = 1e-12
    low = brentq(too_far, 0.0, max(area, tiny) - tiny / 2) if area > tiny else 0.0
    high = brentq(too_far, min(area, 1 - tiny) + tiny / 2, 1.0) if area < 1 - tiny else 1.0
    return float(low), float(high)


def calibration(
    positive: np.ndarray, probability: np.ndarray, bins: int = 10, level: float = 0.95
) -> list[Bin]:
    """Bins of equal width from 0 to 1 that hold items: mean probability against the share of the class (Wilson)."""
    positive, p = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=np.float64)
    bin_of = np.clip((p * bins).astype(np.intp), 0, bins - 1)
    found = []
    for b in range(bins):
        inside = bin_of == b
        if count := int(inside.sum()):
            found.append(
                Bin(float(p[inside].mean()), wilson(int(positive[inside].sum()), count, level), count)
            )
    return found


def calibration_error(bins: list[Bin]) -> float:
    """Expected calibration error of a class: mean distance between probability and share, weighted by the items of the bins; NaN without items."""
    total = sum(part.count for part in bins)
    return sum(part.count * abs(part.mean - part.share.value) for part in bins) / total if total else math.nan


def log_loss(codes: np.ndarray, probability: np.ndarray) -> Interval:
    """Mean of -log probability of the true class (nats), with the 95 % interval of the mean by its standard error."""
    own = np.clip(probability[np.arange(len(codes)), codes], LEAST, 1.0)
    return _mean(-np.log(own))


def brier(codes: np.ndarray, probability: np.ndarray) -> Interval:
    """Mean squared distance of the probabilities from the true class, summed over classes and halved (0 to 1).

    For two classes that is the square of 1 minus the probability of the true class (Brier 1950, Monthly Weather Review 78).
    """
    truth = np.eye(probability.shape[1])[codes]
    return _mean(((probability - truth) ** 2).sum(axis=1) / 2)


def mean_auc(codes: np.ndarray, probability: np.ndarray) -> Interval:
    """Area under the ROC curve of the second of two classes; of more the mean over classes, each against the rest.

    Classes without items, or without others, are left out. The interval is DeLong's for two classes and NaN for more.
    """
    size = probability.shape[1]
    if size == 2:
        return auc(codes == 1, probability[:, 1])
    areas = np.array([auc(codes == k, probability[:, k]).value for k in range(size)])
    known = areas[np.isfinite(areas)]
    return Interval(float(known.mean()) if len(known) else math.nan, math.nan, math.nan)


def score(codes: np.ndarray, probability: np.ndarray) -> Scores:
    """All scores of (n, C) probabilities against (n,) class numbers; (n,) probabilities are of the second of two classes."""
    codes, p = np.asarray(codes, dtype=np.intp), class_probabilities(probability)
    wrong = int((p.argmax(axis=1) != codes).sum())
    count = len(codes)
    return Scores(count, wrong, wilson(wrong, count), mean_auc(codes, p), log_loss(codes, p), brier(codes, p))


def score_table(parts: Mapping[str, Scores], head: str, label: str = "Scores") -> Table:
    """A line of scores for each part of the items, with the intervals of the errors; ``head`` is above their names."""
    found = list(parts.values())
    return Table(
        {
            head: np.array(list(parts)),
            "Number": np.array([one.count for one in found]),
            "Wrong": np.array([one.wrong for one in found]),
            "Errors": np.array([one.errors.value for one in found]),
            "Errors 2.5 %": np.array([one.errors.low for one in found]),
            "Errors 97.5 %": np.array([one.errors.high for one in found]),
            "AUC": np.array([one.auc.value for one in found]),
            "Log loss": np.array([one.log_loss.value for one in found]),
            "Brier score": np.array([one.brier.value for one in found]),
        },
        label=label,
        doc=SCORES,
        words=(head,),
    )


def correlation_interval(r: float, n: int, ranks: bool = False, level: float = 0.95) -> Interval:
    """A correlation of ``n`` pairs with the interval of Fisher's z; of fewer than four pairs it is not known.

    The standard error of z is 1 / sqrt(n - 3), of ranks that of Bonett and Wright (2000), Psychometrika 65, 23-28:
    sqrt((1 + r^2 / 2) / (n - 3)).
    """
    if n < 4 or r != r:
        return Interval(r if n >= 4 else math.nan, math.nan, math.nan)
    half = _z(level) * math.sqrt((1 + r * r / 2 if ranks else 1.0) / (n - 3))
    z = math.atanh(min(max(r, -1 + 1e-15), 1 - 1e-15))
    return Interval(r, math.tanh(z - half), math.tanh(z + half))


def rank_correlation(x: np.ndarray, y: np.ndarray, level: float = 0.95) -> Interval:
    """Spearman's correlation of two (n,) arrays with its interval; NaN when one is constant."""
    n = len(x)
    if n < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Interval(math.nan, math.nan, math.nan)
    from scipy.stats import rankdata

    return correlation_interval(float(np.corrcoef(rankdata(x), rankdata(y))[0, 1]), n, True, level)


def _z(level: float) -> float:
    """Standard normal quantile of the end of a two-sided interval."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2))


def _mean(values: np.ndarray) -> Interval:
    if not len(values):
        return Interval(math.nan, math.nan, math.nan)
    middle = float(values.mean())
    half = _z(0.95) * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Interval(middle, max(middle - half, 0.0) if half == half else math.nan, middle + half)
