"""Density of single cells given a draw: blocks, shifts, background and noise."""

from __future__ import annotations

import numpy as np

from plaidwork.core.api import Block, ChainView


def log_density_of_cells(
    chain: ChainView, draws: np.ndarray, block: Block, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """(draws, cells) log densities in nats of the cells (rows[i], columns[i]); held-out ones at their true values."""
    values = np.asarray((block.values if block.truth is None else block.truth)[rows, columns], np.float64)
    out = np.empty((len(draws), len(rows)))
    for place, draw in enumerate(draws.tolist()):
        z1, z2, theta = (chain.draw(name, draw) for name in ("Z1", "Z2", "theta"))
        tau0 = float(chain.draw("tau0", draw))
        gap = values - float(chain.draw("phi", draw)) - theta @ (z1[:, rows] & z2[:, columns])
        out[place] = 0.5 * np.log(tau0 / (2 * np.pi)) - 0.5 * tau0 * gap**2
    return out
