"""Whether the columns of a table have scales so unlike that a few of them have as good as all of its variance, or some next to none."""

from __future__ import annotations

import numpy as np

FEW, SHARE = 2.5, 0.45
"""Scales are unlike where fewer columns than so many, and than this share of them, have as good as all of the variance."""
TENTHS, COLUMNS = 12.0, 50
"""So are they in a table of up to so many columns whose standard deviations, a tenth of them set aside at each end, differ by such a factor: those
of one unit do so only among very many columns, such as genes."""
_DRAWN_IN = 0.01
"""Share of the values at each end of a column, one at least, that count as if they were the next ones."""


def usual_variances(values: np.ndarray, known: np.ndarray | None = None) -> np.ndarray:
    """(m,) variance of each column of (n, m) values without what a few outliers add: a winsorised variance.

    The lowest and the highest hundredth of the ``known`` values, one at least, are drawn in to their neighbours (Tukey, 1962, Annals of
    Mathematical Statistics 33). Of columns without outliers it is nearly the variance, also where most values are equal, of which a median
    absolute deviation sees nothing. O(n m log n); 0 where nothing is known.
    """
    cells = np.array(values, float)
    if not len(cells):
        return np.zeros(cells.shape[1])
    if known is not None:
        cells[~known] = np.nan
    number = (~np.isnan(cells)).sum(axis=0)
    ordered = np.sort(cells, axis=0)  # what is not known comes last
    out = np.minimum(np.ceil(_DRAWN_IN * number), (number - 1) // 2).astype(int).clip(0)
    places = np.arange(cells.shape[1])
    low, high = ordered[out, places], ordered[(number - 1 - out).clip(0), places]
    drawn = np.where(np.isnan(cells), 0.0, np.clip(cells, low, high))
    mean = drawn.sum(axis=0) / np.maximum(number, 1)
    squares = np.where(np.isnan(cells), 0.0, (drawn - mean) ** 2).sum(axis=0)
    return np.asarray(squares / np.maximum(number, 1))


def unlike_scales(variances: np.ndarray) -> bool:
    """Whether a few columns have as good as all variance: ``(sum v)^2 / sum v^2`` of the variances v (m,) counts those that have it.

    Or, in a table of few columns, whether many have next to none beside the others.
    """
    total = float(variances.sum())
    if len(variances) < 3 or not 0 < total < np.inf:
        return False
    if 1 / float(((variances / total) ** 2).sum()) < min(FEW, SHARE * len(variances)):
        return True
    low, high = np.quantile(np.sqrt(variances[variances > 0]), (0.1, 0.9))
    return len(variances) <= COLUMNS and bool(high > TENTHS * low)
