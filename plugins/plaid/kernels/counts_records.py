"""What the kernels of counts and links are handed: the entries above 0, the missing cells, rates and prior numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Side(NamedTuple):
    """How to visit the entries in picked columns (to scan rows), or in picked rows (to scan columns).

    Attributes
    ----------
    start : (n + 1,) int64, where the entries of each picked item begin in ``order``
    order : (nnz,) int64, places of the entries in the order of the rows
    item : (nnz,) int64, the scanned item of each of ``order``
    gap_start, gap_item : the same of the cells that are not observed
    """

    start: np.ndarray
    order: np.ndarray
    item: np.ndarray
    gap_start: np.ndarray
    gap_item: np.ndarray


class Entries(NamedTuple):
    """The cells above 0, row by row, and the cells that are not observed. Everything else is 0.

    Attributes
    ----------
    values : (nnz,) counts; 1 for links
    row, column : (nnz,) int64 places
    by_columns : to scan rows, visits columns
    by_rows : to scan columns, visits rows
    links : whether a cell only tells that its count is above 0
    """

    values: np.ndarray
    row: np.ndarray
    column: np.ndarray
    by_columns: Side
    by_rows: Side
    links: bool


class CountLaw(NamedTuple):
    """The numbers a move depends on besides the memberships and the rates.

    Attributes
    ----------
    alpha : mass of the two-way Indian buffet process
    shape, rate : of the Gamma prior of the blocks' levels
    max_blocks : the prior is cut off above this number of blocks
    prior_share : share of the proposed blocks that come from the prior
    """

    alpha: float
    shape: float
    rate: float
    max_blocks: int
    prior_share: float
