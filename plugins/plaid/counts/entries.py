"""The data as the kernels take them: the cells above 0 and the missing ones, found by row and by column."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ModelData
from plaidwork.plugins.plaid.counts.fields import CountSettings
from plaidwork.plugins.plaid.fields import Flags, Floats, Integers
from plaidwork.plugins.plaid.kernels.counts_records import Entries, Side


def nonzero(block: Block) -> tuple[Integers, Integers, Floats]:
    """Rows, columns and values of the cells above 0, (nnz,) each, row by row. A sparse matrix is never made dense."""
    if isinstance(block.values, np.ndarray):
        row, column = np.nonzero(block.values)
        return row.astype(np.int64), column.astype(np.int64), block.values[row, column]
    matrix = block.values.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return row, matrix.indices.astype(np.int64), matrix.data.astype(np.float64)


def gaps(block: Block) -> tuple[Integers, Integers]:
    """Rows and columns of the cells that are not observed; none in sparse data."""
    if not isinstance(block.values, np.ndarray) or block.observed.all():
        return np.empty(0, np.int64), np.empty(0, np.int64)
    row, column = np.nonzero(~block.observed)
    return row.astype(np.int64), column.astype(np.int64)


def observed_cells(block: Block) -> int:
    """How many cells are observed."""
    if isinstance(block.values, np.ndarray):
        return int(block.observed.sum())
    return int(block.shape[0]) * int(block.shape[1])


def add_by_level(links: bool, params: CountSettings) -> bool:
    """Whether blocks add in proportion to the levels of rows and columns."""
    return params["blocks_add"] == "by_level" or (params["blocks_add"] == "auto" and not links)


def are_links(values: Floats, params: CountSettings) -> bool:
    """Whether cells only tell that a count is above 0: as chosen, else where no value is above 1."""
    if params["likelihood"] == "auto":
        return bool(values.size == 0 or values.max() <= 1.0)
    return params["likelihood"] == "bernoulli"


def _starts(places: Integers, size: int) -> Integers:
    return np.concatenate(([0], np.cumsum(np.bincount(places, minlength=size)))).astype(np.int64)


def _side(picked: Integers, item: Integers, gap: tuple[Integers, Integers], size: int) -> Side:
    order, gap_order = np.argsort(picked, kind="stable"), np.argsort(gap[0], kind="stable")
    return Side(_starts(picked, size), order, item[order], _starts(gap[0], size), gap[1][gap_order])


def make_entries(data: ModelData, params: CountSettings) -> Entries:
    """The entries of ``X``; O(non-zeros + missing cells) in memory."""
    block: Block = data["X"]
    row, column, values = nonzero(block)
    gap_row, gap_column = gaps(block)
    n_rows, n_columns = block.shape
    links = are_links(values, params)
    return Entries(
        np.ones(len(values)) if links else np.ascontiguousarray(values),
        row,
        column,
        _side(column, row, (gap_column, gap_row), n_columns),
        _side(row, column, (gap_row, gap_column), n_rows),
        links,
    )


def entries_of(data: ModelData, params: CountSettings) -> Entries:
    """:func:`make_entries`, made once for all chains."""
    return data.prepared(make_entries, params, ("likelihood",))


def one_block(rows: Flags, columns: Flags) -> Flags:
    """Which blocks have rows and columns: (K,)."""
    return np.asarray(rows.any(axis=1) & columns.any(axis=1))
