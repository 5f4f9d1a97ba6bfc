"""Scores with intervals, and p of many tests, each defined once, so that headlines and pages say the same."""

from plaidwork.core.draws.assessment import (
    SCORES,
    Interval,
    Scores,
    auc,
    correlation_interval,
    mean_auc,
    rank_correlation,
    score,
    score_table,
    wilson,
)
from plaidwork.core.draws.multiplicity import benjamini_hochberg, holm

__all__ = [
    "SCORES",
    "Interval",
    "Scores",
    "auc",
    "benjamini_hochberg",
    "correlation_interval",
    "holm",
    "mean_auc",
    "rank_correlation",
    "score",
    "score_table",
    "wilson",
]
