"""Density of single cells given a draw: blocks, shifts, background and noise."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ChainView
from plaidwork.plugins.plaid.block_list import blocks_of


def log_density_of_cells(
    chain: ChainView, draws: np.ndarray, block: Block, rows: np.ndarray, layered: bool
) -> np.ndarray:
    """(draws, rows, m) log densities of the cells in nats; held-out ones at their true values, missing ones NaN.

    ``layered`` says whether blocks have a profile over the columns.
    """
    values = np.asarray((block.values if block.truth is None else block.truth)[rows], dtype=np.float64)
    known = block.observed[rows] if block.held_out is None else (block.observed | block.held_out)[rows]
    out = np.empty((len(draws), *values.shape))
    for place, draw in enumerate(draws):
        found = blocks_of(chain, int(draw), layered)
        tau0 = found.precisions(rows)[:, None]
        out[place] = 0.5 * np.log(tau0 / (2 * np.pi)) - 0.5 * tau0 * (values - found.means(rows)) ** 2
    out[:, ~known] = np.nan
    return out
