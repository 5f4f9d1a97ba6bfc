"""Rows and columns put in an order by block, and the matrix in that order: work for a worker thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.pictures import Cells, Items
from plaidwork.gui.results import block_texts
from plaidwork.gui.results.blocks import MODES, BlockData, Blocks


@dataclass(frozen=True)
class Ordered:
    """A mode of the matrix in an order, ready to draw: ``row_order[i]`` is the row at place i."""

    cells: Cells
    row_order: np.ndarray
    column_order: np.ndarray


def orders_of(
    data: BlockData, rows: np.ndarray, columns: np.ndarray, focus: int | None, by_block: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Orders of rows and columns: by block, or as in the data."""
    from plaidwork.core.draws.summaries import order_blocks

    if not by_block or not len(data):
        n, m = data.values.shape
        return np.arange(n), np.arange(m)
    return order_blocks(rows, columns, focus=focus, row_means=data.row_means, column_means=data.column_means)


def in_order(
    blocks: Blocks, data: BlockData, mode: str, row_order: np.ndarray, column_order: np.ndarray
) -> Ordered:
    """A mode of the matrix in this order."""
    n, m = data.values.shape

    def read(piece: int) -> str:
        row, column = int(row_order[piece // m]), int(column_order[piece % m])
        return block_texts.cell_text(blocks, mode, row, column)

    cells = Cells(
        data.matrix(mode).astype(np.float32)[np.ix_(row_order, column_order)],
        -0.5,
        m - 0.5,
        -0.5,
        n - 0.5,
        "tide" if mode == "coverage" else "loom",
        data.mode_limits(mode),
        rows=Items("row", row_order),
        columns=Items("column", column_order),
        name=MODES[mode],
        read=read,
    )
    return Ordered(cells, row_order, column_order)
