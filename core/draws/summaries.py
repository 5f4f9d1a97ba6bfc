"""Label-free summaries of draws whose number of blocks changes, and a few of chains.

Blocks have no fixed labels: column k of one draw is not column k of the next. So nothing here averages memberships by
column; blocks are matched to a reference first, or the summary does not depend on labels at all.
A draw is ``(rows (K, n) bool, cols (K, m) bool, theta (K,))`` with K of its own; draws are read once, one at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.draws.counting import agree, counted
from plaidwork.core.draws.draws import Kept
from plaidwork.core.draws.numbers import format_amount
from plaidwork.core.draws.seriation import block_rectangles, order_blocks

__all__ = [
    "MatchedBlocks",
    "block_rectangles",
    "comembership",
    "coverage",
    "distribution",
    "halves",
    "match_blocks",
    "nmi_overlap_ishiguro",
    "order_blocks",
    "pick_items",
    "rank_chains",
]


@dataclass(frozen=True, slots=True)
class MatchedBlocks:
    """What the draws say about each block of a reference of L blocks.

    Attributes
    ----------
    row_probability, column_probability : (L, n), (L, m) float64, share of the draws in which the row or column is
        in the block, among the draws in which the block is present; 0 for a block that never is
    present : (L,) share of the draws in which a block matches
    value_mean : (L,) mean of theta over those draws, unit of theta; NaN for a block that is never present
    value_interval : (L, 2) central interval of theta over those draws; NaN likewise
    n_draws : draws read
    """

    row_probability: np.ndarray
    column_probability: np.ndarray
    present: np.ndarray
    value_mean: np.ndarray
    value_interval: np.ndarray
    n_draws: int

    def __len__(self) -> int:
        return len(self.present)


def match_blocks(
    draws: Iterable[Sequence[Any]],
    reference: tuple[np.ndarray, np.ndarray],
    *,
    min_jaccard: float = 0.25,
    mass: float = 0.95,
) -> MatchedBlocks:
    """Follow the blocks of a reference through the draws.

    In every draw the blocks are assigned to those of the reference one to one, so that the sum of the Jaccard
    similarities of their cell sets is largest. Pairs below ``min_jaccard`` are never assigned.

    Parameters
    ----------
    draws : iterable of (rows (K, n) bool, cols (K, m) bool, theta (K,)); K may change and be 0
    reference : (rows (L, n), cols (L, m)) bool, for example the draw of highest log joint
    min_jaccard : least similarity of a match, in (0, 1]
    mass : probability inside ``value_interval``, in (0, 1]

    Notes
    -----
    One pass: O(K L (n + m)) time per draw, O(L (n + m)) memory besides one number per match.
    Raises ``ValueError`` for shapes that do not fit or limits out of range.
    """
    from scipy.optimize import linear_sum_assignment

    from plaidwork.core.numerics.overlap import check_blocks, jaccard

    for name, limit in (("min_jaccard", min_jaccard), ("mass", mass)):
        if not 0 < limit <= 1:
            raise ValueError(f"{name} must be above 0 and at most 1, got {limit}")
    rows, cols = check_blocks(*reference)
    row_counts, col_counts = np.zeros(rows.shape, np.int64), np.zeros(cols.shape, np.int64)
    values: list[list[float]] = [[] for _ in rows]
    n_draws = 0
    for draw_rows, draw_cols, theta in draws:
        n_draws += 1
        similarity = jaccard(rows, cols, draw_rows, draw_cols)
        similarity[similarity < min_jaccard] = 0.0
        for block, other in zip(*linear_sum_assignment(similarity, maximize=True)):
            if similarity[block, other] > 0:
                row_counts[block] += draw_rows[other]
                col_counts[block] += draw_cols[other]
                values[block].append(float(theta[other]))
    matches = np.array([len(found) for found in values], np.int64)
    times = np.maximum(matches, 1)[:, None]
    tail = (1.0 - mass) / 2.0
    nothing = np.array([np.nan])
    return MatchedBlocks(
        row_probability=row_counts / times,
        column_probability=col_counts / times,
        present=matches / max(n_draws, 1),
        value_mean=np.array([np.mean(found or nothing) for found in values]).reshape(len(rows)),
        value_interval=np.array(
            [np.quantile(found or nothing, (tail, 1.0 - tail)) for found in values]
        ).reshape(len(rows), 2),
        n_draws=n_draws,
    )


def correlate_rows(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Pearson correlations (K, J) of the rows of (K, n) and (J, n) arrays; 0 for a row without spread."""
    a, b = (x - x.mean(axis=1, keepdims=True) for x in (one, other))
    size = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)
    return np.clip(a @ b.T / np.where(size > 0, size, 1.0), -1.0, 1.0)


def match_factors(correlation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pair the rows with the columns so that the absolute correlations sum to the most.

    Parameters
    ----------
    correlation : (K, J), as of :func:`correlate_rows`.

    Returns
    -------
    index : (K,) column of each row, each used once at most; -1 where there are fewer columns than rows.
    matched : (K,) its correlation, with sign; 0 without a partner.
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-np.abs(correlation))
    index, matched = np.full(len(correlation), -1), np.zeros(len(correlation))
    index[rows], matched[rows] = columns, correlation[rows, columns]
    return index, matched


def comembership(
    draws_rows: Iterable[np.ndarray], items: Sequence[int] | np.ndarray | None = None
) -> np.ndarray:
    """Probability that two items share at least one block: (q, q) float32.

    Parameters
    ----------
    draws_rows : iterable of (K, n) bool, the memberships of one side in each draw
    items : (q,) indices, all n when None; see :func:`pick_items`

    Returns
    -------
    Symmetric; the diagonal is the probability that an item is in any block.

    Notes
    -----
    O(K q^2) per draw. Raises ``ValueError`` when there is no draw.
    """
    counts: np.ndarray | None = None
    n_draws = 0
    for rows in draws_rows:
        chosen = np.asarray(rows if items is None else np.asarray(rows)[:, items], dtype=np.float32)
        if counts is None:
            counts = np.zeros((chosen.shape[1], chosen.shape[1]), np.int32)
        if len(chosen):
            counts += chosen.T @ chosen > 0
        n_draws += 1
    if counts is None:
        raise ValueError("comembership needs at least one draw")
    return (counts / n_draws).astype(np.float32)


def coverage(draws: Iterable[Sequence[Any]]) -> np.ndarray:
    """Probability that a cell is in any block: (n, m) float32.

    ``draws`` yields (rows (K, n) bool, cols (K, m) bool, ...); anything after the first two is ignored.
    O(m (memberships of rows)) per draw, one (n, m) int32 besides the result.
    Raises ``ValueError`` when there is no draw.
    """
    from plaidwork.core.numerics.overlap import add_coverage

    counts: np.ndarray | None = None
    n_draws = 0
    for rows, cols, *_ in draws:
        if counts is None:
            counts = np.zeros((np.shape(rows)[1], np.shape(cols)[1]), np.int32)
        add_coverage(rows, cols, counts)
        n_draws += 1
    if counts is None:
        raise ValueError("coverage needs at least one draw")
    out = counts.astype(np.float32)
    out /= n_draws
    return out


def pick_items(probability: np.ndarray, at_most: int) -> np.ndarray:
    """The items with the highest membership, in block order: (q,) int64 indices, q <= ``at_most``.

    ``probability`` is (L, n), membership of n items in L blocks. Items are chosen by their highest membership (ties:
    lower index) and sorted by the block it is in, then from high to low. With L = 0 the first items are taken.
    """
    probability = np.asarray(probability)
    n_blocks, n_items = probability.shape
    at_most = max(0, min(int(at_most), n_items))
    if n_blocks == 0:
        return np.arange(at_most)
    highest = probability.max(axis=0)
    chosen = np.sort(np.argsort(-highest, kind="stable")[:at_most])
    block = np.where(highest > 0, probability.argmax(axis=0), n_blocks)
    return chosen[np.lexsort((-highest[chosen], block[chosen]))]


def distribution(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Relative frequency of whole numbers, such as the number of blocks: (support, probability).

    ``support`` runs without gaps from the least to the largest value (only the values found when they span more than
    10 000); ``probability`` sums to 1. Both are empty without values.
    """
    values = np.asarray(values, dtype=np.int64).ravel()
    if values.size == 0:
        return np.empty(0, np.int64), np.empty(0)
    low, high = int(values.min()), int(values.max())
    if high - low > 10_000:
        found, counts = np.unique(values, return_counts=True)
        return found, counts / values.size
    return np.arange(low, high + 1), np.bincount(values - low) / values.size


def rank_chains(
    log_joint_by_chain: Sequence[np.ndarray] | np.ndarray, *, nats: float = 5.0, sds: float = 2.0
) -> tuple[np.ndarray, str]:
    """Which chains survive the ranking by log joint, and why in one sentence.

    A chain is judged by the mean log joint over the second half of its kept draws. It survives when that mean lies at
    most ``max(nats, sds * sd)`` below the best chain's, ``sd`` being the standard deviation of the best chain's
    second half. A chain without draws or with a value that is not finite does not survive.

    Parameters
    ----------
    log_joint_by_chain : one (draws,) array per chain, in nats; lengths may differ
    nats, sds : the allowance, in nats and in standard deviations

    Returns
    -------
    keep : (chains,) bool
    reason : a sentence for the user, chains counted from 1

    Notes
    -----
    A screen against chains that are stuck far below, not a comparison of modes: it ignores how wide a mode is, and
    the log joint of states with different numbers of blocks is not on one scale. Report what was left out.
    """
    halves = [np.asarray(values, dtype=float)[len(values) // 2 :] for values in log_joint_by_chain]
    valid = np.array([bool(half.size and np.all(np.isfinite(half))) for half in halves], dtype=bool)
    if not valid.any():
        return valid, "No chain has finite values of the log joint yet."
    means = np.array([half.mean() if ok else -np.inf for half, ok in zip(halves, valid)])
    best = int(np.argmax(means))
    limit = max(nats, sds * float(np.std(halves[best])))
    keep = means >= means[best] - limit
    if len(halves) == 1:
        return keep, "One chain: there is nothing to compare it with."
    if keep.all():
        return (
            keep,
            f"{'Both' if len(keep) == 2 else f'All {len(keep)}'} chains are kept: their mean log joint is within {format_amount(limit)} of the best.",
        )
    parts = [
        f"chain {i + 1} lies {format_amount(means[best] - means[i])} below the best"
        if valid[i]
        else f"chain {i + 1} has no finite values"
        for i in np.flatnonzero(~keep)
    ]
    return (
        keep,
        f"{keep.sum()} of {counted(len(keep), 'chain')} {agree(keep.sum(), 'is', 'are')} kept (limit {format_amount(limit)} in mean log joint): {', '.join(parts)}.",
    )


def halves(kept: Kept) -> tuple[Kept, Kept] | None:
    """Every other chain, and those between: what both say alike is no matter of where chains began. None for fewer than two
    chains that have draws, and for restarts."""
    chains = [chain for chain in kept.chains if chain.n_draws]
    if len(chains) < 2 or kept.spec.algorithm != "mcmc":
        return None
    one, other = (Kept(kept.spec, chains[start::2], kept.under_way) for start in (0, 1))
    return one, other


def nmi_overlap_ishiguro(
    rows_a: np.ndarray, cols_a: np.ndarray, rows_b: np.ndarray, cols_b: np.ndarray
) -> float:
    """Normalised mutual information of two lists of overlapping blocks, 1 when they are equal.

    See :func:`plaidwork.core.numerics.overlap.nmi_overlap_ishiguro`; kept apart so that numba loads on first use.
    ``rows_*`` (K, n) and ``cols_*`` (K, m) bool; either list may be empty.
    """
    from plaidwork.core.numerics import overlap

    return overlap.nmi_overlap_ishiguro(rows_a, cols_a, rows_b, cols_b)
