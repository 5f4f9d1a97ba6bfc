"""How good class probabilities are against known classes: confusion, ROC, precision and recall, calibration, scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

LEAST = 1e-15
"""Probabilities below are taken for this in the log loss."""


class Interval(NamedTuple):
    """A number with its confidence interval; NaN where it cannot be told."""

    value: float
    low: float
    high: float


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
    """Share of ``hits`` in ``count`` with Wilson's interval (Wilson 1927, JASA 22, 209-212)."""
    if count == 0:
        return Interval(math.nan, math.nan, math.nan)
    z = float(ndtri(0.5 + level / 2))
    share = hits / count
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    low, high = (0.0 if hits == 0 else middle - half), (1.0 if hits == count else middle + half)
    return Interval(share, low, high)


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
    """Area under the ROC curve with DeLong's interval on the logit scale.

    DeLong, DeLong & Clarke-Pearson (1988), Biometrics 44, 837-845, by mid-ranks (Sun & Xu 2014, IEEE Signal Processing
    Letters 21, 1389-1393). At an area of 0 or 1 the variance is 0: the interval there reaches as far as the rule of three
    has it, 3 / (items of the rarer kind). NaN without items of both kinds.
    """
    positive, score = np.asarray(positive, dtype=bool), np.asarray(score, dtype=np.float64)
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    if not n_pos or not n_neg:
        return Interval(math.nan, math.nan, math.nan)
    ranks = rankdata(score)
    above = (ranks[positive] - rankdata(score[positive])) / n_neg  # share of the others below each positive
    below = 1 - (ranks[~positive] - rankdata(score[~positive])) / n_pos
    area = float(above.mean())
    if n_pos < 2 or n_neg < 2:
        return Interval(area, math.nan, math.nan)
    variance = float(above.var(ddof=1)) / n_pos + float(below.var(ddof=1)) / n_neg
    if variance <= 0 or not 0 < area < 1:
        far = min(1.0, 3 / min(n_pos, n_neg))
        return Interval(area, max(0.0, area - far), min(1.0, area + far))
    half = float(ndtri(0.5 + level / 2)) * math.sqrt(variance) / (area * (1 - area))
    logit = math.log(area / (1 - area))
    low, high = (1 / (1 + math.exp(-min(max(end, -700), 700))) for end in (logit - half, logit + half))
    return Interval(area, low, high)


def calibration(
    positive: np.ndarray, probability: np.ndarray, bins: int = 10, level: float = 0.95
) -> list[Bin]:
    """Bins of equal width from 0 to 1 that hold items: mean probability against the share of the class (Wilson)."""
    positive, p = np.asarray(positive, dtype=bool), np.asarray(probability, dtype=np.float64)
    place = np.clip((p * bins).astype(np.intp), 0, bins - 1)
    found = []
    for b in range(bins):
        inside = place == b
        if count := int(inside.sum()):
            found.append(
                Bin(float(p[inside].mean()), wilson(int(positive[inside].sum()), count, level), count)
            )
    return found


def calibration_error(bins: list[Bin]) -> float:
    """Mean distance between probability and share, weighted by the items of the bins; NaN without items."""
    total = sum(part.count for part in bins)
    return sum(part.count * abs(part.mean - part.share.value) for part in bins) / total if total else math.nan


def log_loss(codes: np.ndarray, probability: np.ndarray) -> Interval:
    """Mean of -log probability of the true class (nats), plus and minus 1.96 standard errors of the mean."""
    own = np.clip(probability[np.arange(len(codes)), codes], LEAST, 1.0)
    return _mean(-np.log(own))


def brier(codes: np.ndarray, probability: np.ndarray) -> Interval:
    """Mean squared distance of the probabilities from the true class, summed over classes and halved (0 to 1).

    For two classes that is the square of 1 minus the probability of the true class (Brier 1950, Monthly Weather Review 78).
    """
    truth = np.eye(probability.shape[1])[codes]
    return _mean(((probability - truth) ** 2).sum(axis=1) / 2)


def _mean(values: np.ndarray) -> Interval:
    if not len(values):
        return Interval(math.nan, math.nan, math.nan)
    middle = float(values.mean())
    half = 1.96 * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return Interval(middle, max(middle - half, 0.0) if half == half else math.nan, middle + half)
