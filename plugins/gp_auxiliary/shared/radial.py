"""Covariances of different samples by whole arrays, where the sum is one squared exponential term and constants: the commonest one.

``C_ij = a^2 exp(-sum_d gamma_d (x_id - y_jd)^2 / 2) + c``. The exponentials are numpy's, which take many numbers at a time, and the slopes need no
exponentials once C is known: with ``E = W o (C - c)``, ``dF / dlog gamma_d = -gamma_d sum_ij E_ij (x_id - y_jd)^2 / 2``, by the sums of E, of ``E y``
and of ``E y^2`` over j.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.covariance import CONSTANT, RBF


def is_radial(table: np.ndarray) -> bool:
    """Whether a table of terms (see ``kernels/covariance.py``) is one squared exponential term and constants."""
    return _is_radial(table.tobytes(), len(table))


@lru_cache(maxsize=64)
def _is_radial(table: bytes, terms: int) -> bool:
    """The same of a table as bytes: asked for at every evaluation, so it is remembered."""
    kinds, groups = np.frombuffer(table, np.int64).reshape(terms, -1)[:, :2].T
    own = kinds == RBF
    return bool(own.sum() == 1 and ((kinds == CONSTANT) == ~own).all() and (groups == groups[own]).sum() == 1)


def radial_cross(table: np.ndarray, x: np.ndarray, y: np.ndarray, values: np.ndarray) -> np.ndarray:
    """C(x, y) (N, M) of samples x (N, D), y (M, D)."""
    group, rest, weights = _parts(table, x.shape[1], values)
    out = np.empty((len(x), len(y)))
    start = math.log(values[group]) if values[group] > 0.0 else -math.inf
    _exponents(x, np.ascontiguousarray(y.T), -0.5 * weights, start, out)
    np.exp(out, out=out)
    if rest:
        out += rest
    return out


def radial_slopes(
    table: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    values: np.ndarray,
    weights: np.ndarray,
    known: np.ndarray,
) -> np.ndarray:
    """(P,) ``sum_ij W_ij dC(x_i, y_j) / dlog value_p`` for weights W (N, M) and C(x, y) (N, M), which is overwritten."""
    group, rest, lengths = _parts(table, x.shape[1], values)
    out = np.zeros(len(values))
    total = float(weights.sum()) if rest else 0.0
    constant = [number for number in table[:, 1].tolist() if number != group]
    out[constant] = values[constant] * total
    if rest:
        known -= rest
    known *= weights
    centre = y.mean(axis=0)
    left, right = x - centre, y - centre  # the differences of large squares are then small
    sums = known @ np.column_stack([np.ones(len(y)), right, right * right])  # (N, 1 + 2 D)
    by_row, first, second = np.split(sums, [1, 1 + y.shape[1]], axis=1)
    out[group] = by_row.sum()
    squares = (second - 2.0 * left * first + left * left * by_row).sum(axis=0)
    row = int(np.flatnonzero(table[:, 0] == RBF)[0])
    at, ard = table[row, 2], table[row, 3] != 0
    slopes = -0.5 * lengths * squares
    out[at : at + (len(slopes) if ard else 1)] = slopes if ard else slopes.sum()
    return out


def _parts(table: np.ndarray, inputs: int, values: np.ndarray) -> tuple[int, float, np.ndarray]:
    """(number of the amplitude² of the squared exponential term, sum of the constants, gamma (D,) of each input)."""
    row = table[table[:, 0] == RBF][0]
    group, at, ard = int(row[1]), int(row[2]), row[3] != 0
    gamma = values[at : at + inputs] if ard else np.full(inputs, values[at])
    others = np.unique(table[:, 1])
    return group, float(values[others[others != group]].sum()), gamma


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _exponents(x, y, weight, start, out):
    """``start + sum_d weight_d (x_id - y_dj)^2`` of x (N, D), y (D, M) into out (N, M)."""
    for i in range(len(x)):
        row = out[i]
        row[:] = start
        for d in range(x.shape[1]):
            place, w, other = x[i, d], weight[d], y[d]
            for j in range(len(row)):
                gap = place - other[j]
                row[j] += w * (gap * gap)
