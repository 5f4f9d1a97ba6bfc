"""Density of single cells given a draw: blocks, shifts, background and noise."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ChainView
from plaidwork.plugins.plaid.block_list import More, blocks_of


def log_density_of_cells(
    chain: ChainView, draws: np.ndarray, block: Block, rows: np.ndarray, columns: np.ndarray, more: More
) -> np.ndarray:
    """(draws, cells) log densities in nats of the cells (rows[i], columns[i]); held-out ones at their true values.

    ``more`` says what a draw has beside blocks of one shift.
    """
    values = np.asarray((block.values if block.truth is None else block.truth)[rows, columns], np.float64)
    out = np.empty((len(draws), len(rows)))
    for place, draw in enumerate(draws.tolist()):
        out[place] = blocks_of(chain, draw, more).density(rows, columns, values)
    return out
