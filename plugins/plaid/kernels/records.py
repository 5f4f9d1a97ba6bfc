"""What the kernels are handed: the matrix with its constants, and the numbers of the prior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Cells(NamedTuple):
    """The matrix and what is counted of it once.

    Attributes
    ----------
    x : (N1, N2) float64, C order, read-only, 0 where not observed; unit of the data
    w : (N1, N2), C order, read-only: bool, True where observed; or float64, the weight of each cell's precision, 0 where not observed.
        Kernels are compiled for either, so that weights cost nothing where there are none
    wx : (N1, N2) float64 ``w x``; ``x`` itself where ``w`` is bool
    full : whether every cell is observed and none has a weight
    centre : subtracted from every observed cell in all sums, against cancellation
    n_observed : number of observed cells, or the sum of their weights
    total, sum_squares : sums of (x - centre) and (x - centre)^2 over observed cells, times their weights
    """

    x: np.ndarray
    w: np.ndarray
    wx: np.ndarray
    full: bool
    centre: float
    n_observed: float
    total: float
    sum_squares: float


class Law(NamedTuple):
    """The numbers a move depends on besides the memberships.

    Attributes
    ----------
    alpha : mass of the two-way IBP (infinite plugin)
    mu, tau : mean and precision of the blocks' shifts
    phi_mean, phi_precision : prior of the background, its mean measured from ``Cells.centre``
    tau0 : noise precision times the power of the likelihood
    a1, b1, a2, b2 : ``log((a + m) / (b + N - 1 - m))`` is the prior log odds of an entry, ``m`` the others
        that are in; ``a = 0, b = 1`` is the infinite model (eq. 2 of the seed), else Beta(a, b) integrated out
    max_blocks : the prior is cut off above this number of blocks
    """

    alpha: float
    mu: float
    tau: float
    phi_mean: float
    phi_precision: float
    tau0: float
    a1: float
    b1: float
    a2: float
    b2: float
    max_blocks: int
