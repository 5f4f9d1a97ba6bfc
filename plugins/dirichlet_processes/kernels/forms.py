"""What the kernels take: the rows, the numbers of the priors, and the clusters as sums over their members."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FIRST, SECOND, THIRD = np.arange(3)
"""Slots that kernels name. Of a plain number numba would compile everything that takes a slot anew, once for each such number."""


class Rows(NamedTuple):
    """Matrices of which a row is counts that share a total, M of them, by their counts above 0; all arrays read-only.

    A row that is missing has no counts, as one whose total is 0: the probability of both is 1 in every cluster.
    """

    spans: np.ndarray
    """(n, M + 1) int64 where the counts of a row begin in each matrix, and where those of the last one end"""
    place: np.ndarray
    """(counts,) int64 place of each among the levels of ``Clusters``"""
    tally: np.ndarray
    """(counts,) float64 whole numbers from 1 on"""
    totals: np.ndarray
    """(n, M) float64"""
    ways: np.ndarray
    """(n, M) ``log total! - sum log count!``, the multinomial coefficient"""


class Items(NamedTuple):
    """The data of n rows; all arrays read-only."""

    numbers: np.ndarray
    """(n, G) float64, 0 where missing"""
    known: np.ndarray
    """(n, G) bool"""
    codes: np.ndarray
    """(n, C) int64 level of the column from 0, -1 where missing"""
    counts: np.ndarray
    """(n, P) float64 whole numbers, -1 where missing"""
    exposure: np.ndarray
    """(n, P) float64 known factor of the rate"""
    complete: bool
    """No number is missing"""
    joint: np.ndarray
    """(n, F) float64 columns that are correlated within a cluster, one matrix after the other; missing cells hold what was drawn last"""
    joint_known: np.ndarray
    """(n, F) bool"""
    joint_whole: np.ndarray
    """(n,) bool: no cell of ``joint`` is missing in the row"""
    rows: Rows


class Law(NamedTuple):
    """Numbers of the priors."""

    a0: float
    """Shape of the variances"""
    m0: np.ndarray
    """(G,)"""
    k0: np.ndarray
    """(G,)"""
    b0: np.ndarray
    """(G,)"""
    step: np.ndarray
    """(n + 1,) ``log Gamma(a0 + (c + 1) / 2) - log Gamma(a0 + c / 2)`` for c members"""
    level_weight: float
    """Dirichlet weight of each level"""
    first: np.ndarray
    """(C + M + 1,) int64 where the levels of each column of codes, then the columns of each matrix of rows of counts begin"""
    rate_shape: float
    rate: np.ndarray
    """(P,) b_j"""
    shift: float
    """What the prior of partitions adds to a cluster's size"""
    log_new: np.ndarray
    """(n + 1,) log weight of a new cluster beside K others"""
    joint_first: np.ndarray
    """(B + 1,) int64 where the columns of each matrix of correlated columns begin"""
    joint_m0: np.ndarray
    """(F,)"""
    joint_k0: np.ndarray
    """(B,)"""
    joint_root: np.ndarray
    """(Q,) the upper triangle U of each matrix with ``U' U = Psi0``, d x d numbers each, one matrix after the other"""
    share_weight: np.ndarray
    """(M,) Dirichlet weight of each column's share in a matrix of rows of counts"""
    power: float
    """Of the density of the data given the partition: 1, less in a copy of the chain that moves more easily"""


class Clusters(NamedTuple):
    """Sums of S slots; a slot of size 0 is free."""

    size: np.ndarray
    """(S,) int64 rows"""
    known: np.ndarray
    """(S, G) int64 known numbers"""
    mean: np.ndarray
    """(S, G)"""
    square: np.ndarray
    """(S, G) sum of squares around the mean"""
    centre: np.ndarray
    """(S, G) centre of the predictive law"""
    weight: np.ndarray
    """(S, G) ``w`` of its density ``(1 + w (x - centre)^2)^-(a_c + 1/2)``"""
    constant: np.ndarray
    """(S, G) where no number is missing the first entry has the log constants of all columns; the rest is not used"""
    levels: np.ndarray
    """(S, L) members at each level of each column, columns one after the other; then the sums of the columns of rows of counts"""
    coded: np.ndarray
    """(S, C + M) members with a known code; then the totals of rows of counts"""
    events: np.ndarray
    """(S, P) sum of counts"""
    time: np.ndarray
    """(S, P) sum of exposures of known counts"""
    joint_centre: np.ndarray
    """(S, F) centre of the predictive law of correlated columns"""
    joint_root: np.ndarray
    """(S, Q) ``U`` of ``U' U = Psi_c``, as in the law"""
    joint_constant: np.ndarray
    """(S, B) log constant of the predictive law"""
    joint_work: np.ndarray
    """(S, F) room for the kernels; means nothing"""


def empty_clusters(
    slots: int, numbers: int, codes: int, levels: int, counts: int, joint: tuple[int, ...] = ()
) -> dict[str, np.ndarray]:
    """Free slots, by name, as the state of a chain holds them, of the widths of ``Clusters``; ``joint`` are those of matrices of correlated
    columns."""
    real = {name: np.zeros((slots, numbers)) for name in ("mean", "square", "centre", "weight", "constant")}
    return {
        "size": np.zeros(slots, np.int64),
        "known": np.zeros((slots, numbers), np.int64),
        **real,
        "levels": np.zeros((slots, levels)),
        "coded": np.zeros((slots, codes)),
        "events": np.zeros((slots, counts)),
        "time": np.zeros((slots, counts)),
        "joint_centre": np.zeros((slots, sum(joint))),
        "joint_root": np.zeros((slots, sum(d * d for d in joint))),
        "joint_constant": np.zeros((slots, len(joint))),
        "joint_work": np.zeros((slots, sum(joint))),
    }


def doubled(clusters: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same clusters with as many free slots behind them."""
    return {name: np.concatenate([array, np.zeros_like(array)]) for name, array in clusters.items()}
