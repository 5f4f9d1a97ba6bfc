"""Statistics of blocks against labels and numbers: plain arrays in, plain arrays out. SciPy is loaded on first use."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Counts = tuple[np.ndarray, np.ndarray, np.ndarray, int]
"""Inside (L, C), items of each block (L,), items of each label (C,), items in all."""


def label_codes(values: np.ndarray, known: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Codes (n,) int64 with -1 for unknown and rare labels, the C labels in their order, and how many were rare.

    Whole numbers are written without a decimal point; labels that are numbers are ordered by value.
    """
    if values.dtype.kind == "f":
        found, inverse = np.unique(values[known], return_inverse=True)
        names = [f"{value:.12g}" for value in found]
    else:
        found, inverse = np.unique(values[known].astype(str), return_inverse=True)
        names = [str(value) for value in found]
    counts = np.bincount(inverse, minlength=len(names))
    common = counts >= least
    place = np.where(common, np.cumsum(common) - 1, -1)
    codes: np.ndarray = np.full(len(values), -1, np.int64)
    codes[known] = place[inverse]
    levels = np.array([name for name, keep in zip(names, common, strict=True) if keep], dtype=object)
    return codes, levels, int((~common).sum())


def label_counts(members: np.ndarray, codes: np.ndarray, n_levels: int) -> Counts:
    """Counts from memberships (L, n) bool and codes (n,); items of a rare label (-1) count in the totals only."""
    one_hot = codes[:, None] == np.arange(n_levels)
    inside = (members.astype(np.float64) @ one_hot).astype(np.int64)
    return inside, members.sum(axis=1), one_hot.sum(axis=0), len(codes)


def odds_ratios(
    inside: np.ndarray, size: np.ndarray, total: np.ndarray, n: int, interval: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Odds ratio with 0.5 added to every cell (Haldane, Anscombe), and its Woolf interval: (L, C) each."""
    from scipy.special import ndtri

    a = inside + 0.5
    b = size[:, None] - inside + 0.5
    c = total[None, :] - inside + 0.5
    d = n - size[:, None] - total[None, :] + inside + 0.5
    log_odds = np.log(a) + np.log(d) - np.log(b) - np.log(c)
    half = float(ndtri(0.5 + interval / 2)) * np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    return np.exp(log_odds), np.exp(log_odds - half), np.exp(log_odds + half)


def hypergeometric_p(
    inside: np.ndarray,
    size: np.ndarray,
    total: np.ndarray,
    n: int,
    both: bool = True,
    report: Callable[[float], None] | None = None,
) -> np.ndarray:
    """P of a count at least as extreme, (L, C): ``both`` sums all outcomes no likelier (Fisher), else the upper tail.

    O(L C min(block, label)).
    """
    from scipy.special import gammaln

    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    p = np.ones(inside.shape)
    for k, block in enumerate(size):
        for c, label in enumerate(total):
            low, high = max(0, int(block + label - n)), int(min(block, label))
            x = np.arange(low, high + 1)
            log_mass = (
                log_factorial[label] - log_factorial[x] - log_factorial[label - x]
                + log_factorial[n - label] - log_factorial[block - x]
                - log_factorial[n - label - block + x]
                - (log_factorial[n] - log_factorial[block] - log_factorial[n - block])
            )  # fmt: skip
            mass = np.exp(log_mass)
            found = int(inside[k, c]) - low
            # equal outcomes may differ in the last digits
            counted = log_mass <= log_mass[found] + 1e-7 if both else x >= x[found]
            p[k, c] = min(1.0, math.fsum(mass[counted]))
        if report is not None:
            report(0.1 + 0.8 * (k + 1) / len(size))
    return p


def shifts(
    members: np.ndarray, values: np.ndarray, interval: float, report: Callable[[float], None]
) -> dict[str, np.ndarray]:
    """How each block's values differ from the rest: means, standardised difference with interval, Mann-Whitney p.

    ``members`` (L, n) bool, ``values`` (n,) without missing ones. The difference is in pooled standard deviations;
    its variance is 1/n1 + 1/n2 + d^2 / 2(n1 + n2) (Hedges and Olkin 1985). NaN where a side has no item (p), or
    the two sides together fewer than three or no spread (difference).
    """
    from scipy.special import ndtri
    from scipy.stats import mannwhitneyu

    names = ("mean_inside", "mean_outside", "difference", "low", "high", "p")
    found = {name: np.full(len(members), np.nan) for name in names}
    z = float(ndtri(0.5 + interval / 2))
    for k, chosen in enumerate(members):
        inside, outside = values[chosen], values[~chosen]
        report(0.1 + 0.8 * k / len(members))
        if len(inside):
            found["mean_inside"][k] = inside.mean()
        if len(outside):
            found["mean_outside"][k] = outside.mean()
        if not len(inside) or not len(outside):
            continue
        found["p"][k] = mannwhitneyu(inside, outside, alternative="two-sided").pvalue
        squares = ((inside - inside.mean()) ** 2).sum() + ((outside - outside.mean()) ** 2).sum()
        freedom = len(values) - 2
        if freedom < 1 or squares <= 0:
            continue
        d = (inside.mean() - outside.mean()) / math.sqrt(squares / freedom)
        half = z * math.sqrt(1 / len(inside) + 1 / len(outside) + d * d / (2 * len(values)))
        found["difference"][k], found["low"][k], found["high"][k] = d, d - half, d + half
    return found


def jaccard(
    rows_a: np.ndarray, columns_a: np.ndarray, rows_b: np.ndarray, columns_b: np.ndarray
) -> np.ndarray:
    """Cells in both over cells in either, of each pair of blocks: (K, L) from (K, n), (K, m), (L, n), (L, m) bool."""
    a = [side.astype(np.float64) for side in (rows_a, columns_a)]
    b = [side.astype(np.float64) for side in (rows_b, columns_b)]
    shared = (a[0] @ b[0].T) * (a[1] @ b[1].T)
    size_a, size_b = (x.sum(axis=1) * y.sum(axis=1) for x, y in (a, b))
    return np.asarray(shared / np.maximum(size_a[:, None] + size_b[None, :] - shared, 1.0))
