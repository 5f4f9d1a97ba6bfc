"""Rows and columns put in an order, and the matrix in that order: work for a worker thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plaidwork.core.pictures.pyramid import Pyramid
from plaidwork.gui.results.blocks import BlockData


@dataclass(frozen=True)
class Ordered:
    """A mode of the matrix in an order, ready to draw."""

    key: tuple[Any, ...]
    pyramid: Pyramid
    row_order: np.ndarray
    column_order: np.ndarray


def make_order(
    data: BlockData,
    rows: np.ndarray,
    columns: np.ndarray,
    focus: int | None,
    key: tuple[Any, ...],
    mode: str,
    known: tuple[np.ndarray, np.ndarray] | None,
) -> Ordered:
    """The order (unless known) and the matrix of a mode in it."""
    from plaidwork.core.draws.summaries import order_blocks

    n, m = data.values.shape
    if known is not None:
        row_order, column_order = known
    elif key[0] == "data" or not len(data):
        row_order, column_order = np.arange(n), np.arange(m)
    else:
        row_order, column_order = order_blocks(
            rows, columns, focus=focus, row_means=data.row_means, column_means=data.column_means
        )
    return Ordered(key, Pyramid(data.matrix(mode), row_order, column_order), row_order, column_order)
