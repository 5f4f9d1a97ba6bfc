"""What the kernels of blocks with a column profile are handed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit


class Plane(NamedTuple):
    """The data of one stretch of a sweep, as precisions weigh them.

    Attributes
    ----------
    y : (N1, N2) float64, C order: data from ``Cells.centre``, row and column effects taken off; 0 where not observed
    w : (N1, N2) bool, C order, True where observed
    t : (N1,) precision of the noise of each row times the power of the likelihood
    within : variance of a block's profile around its shift, ``1 / tau_b``; 0 makes blocks constant
    totals : (2, N2) of each column ``sum_i t_i w_ij`` and ``sum_i t_i y_ij``
    """

    y: np.ndarray
    w: np.ndarray
    t: np.ndarray
    within: float
    totals: np.ndarray


@njit(cache=True, nogil=True)
def fill_plane(x, w, centre, row_effects, column_effects, t, y, totals, lo, hi):
    """``y`` (N1, N2) and ``totals`` (2, N2), which are 0, of a plane, columns lo to hi: a column is added up row by row."""
    offsets, weights, pulls = column_effects[lo:hi], totals[0, lo:hi], totals[1, lo:hi]
    for i in range(x.shape[0]):
        given, known, out = x[i, lo:hi], w[i, lo:hi], y[i, lo:hi]
        for j in range(hi - lo):
            out[j] = (given[j] - centre - row_effects[i] - offsets[j]) * known[j]
            weights[j] += t[i] * known[j]
            pulls[j] += t[i] * out[j]


def plane_from(x, w, centre, row_effects, column_effects, t, within, y, fill=fill_plane):
    """The plane of data x (N1, N2) around a centre and effects (N1,), (N2,), precisions t (N1,) and a variance of profiles; ``fill`` fills
    the room ``y`` (N1, N2)."""
    totals = np.zeros((2, x.shape[1]))
    fill(x, w, centre, row_effects, column_effects, t, y, totals, 0, x.shape[1])
    return Plane(y, w, t, within, totals)
