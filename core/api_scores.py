"""For models that predict: scores with intervals, each defined once, so that headlines and pages say the same."""

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

__all__ = [
    "SCORES",
    "Interval",
    "Scores",
    "auc",
    "correlation_interval",
    "mean_auc",
    "rank_correlation",
    "score",
    "score_table",
    "wilson",
]
