"""Density of single cells given a draw: blocks, shifts, background and noise."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ChainView


def log_density_of_cells(chain: ChainView, draws: np.ndarray, block: Block, rows: np.ndarray) -> np.ndarray:
    """(draws, rows, m) log densities of the cells in nats; held-out ones at their true values, missing ones NaN."""
    values = np.asarray((block.values if block.truth is None else block.truth)[rows], dtype=np.float64)
    known = block.observed[rows] if block.held_out is None else (block.observed | block.held_out)[rows]
    out = np.empty((len(draws), *values.shape))
    for place, draw in enumerate(draws):
        z1, z2, theta = (chain.draw(name, int(draw)) for name in ("Z1", "Z2", "theta"))
        tau0 = float(chain.draw("tau0", int(draw)))
        gap = values - float(chain.draw("phi", int(draw))) - (z1[:, rows].T * theta) @ z2
        out[place] = 0.5 * np.log(tau0 / (2 * np.pi)) - 0.5 * tau0 * gap**2
    out[:, ~known] = np.nan
    return out
