"""Probability of single cells given a draw, by which the host leaves cells out and compares fits."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from plaidwork.core.api import Block, ChainView


def log_probability_of_cells(
    chain: ChainView, draws: np.ndarray, block: Block, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """(draws, cells) log probabilities of the cells (rows[i], columns[i]), held-out ones at their true values.

    The auxiliary variable of a cell is its own noise, so it is integrated out: ``log Phi(+-(mu_j + w_j'x_i))``.
    """
    values = np.asarray(block.values if block.truth is None else block.truth)[rows, columns]
    side = np.where(values > 0.5, 1.0, -1.0)
    out = np.empty((len(draws), len(rows)))
    for place, draw in enumerate(draws.tolist()):
        x, w, mean = (chain.draw(name, draw) for name in ("scores", "loadings", "mean"))
        out[place] = log_ndtr(side * (mean[columns] + (x[rows] * w[columns]).sum(axis=1)))
    return out
