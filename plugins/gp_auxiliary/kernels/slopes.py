"""Derivatives of covariances by the logarithms of their parameters, contracted with given weights: no N x N matrix for each.

For ``F(C)`` with ``dF = sum_ij W_ij dC_ij`` this is the gradient of F (Rasmussen & Williams 2006, section 5.4.1).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.covariance import (
    CONSTANT,
    LINEAR,
    MATERN12,
    MATERN32,
    PERIODIC,
    POLYNOMIAL,
    RATIONAL,
    RBF,
    WHITE,
    _dots,
    _squares,
    _times_term,
)

_TWINS = 1e-16
"""Squared distance below which samples count as twins, whose distance no length changes (the slope by it may be infinite)."""


@njit(nogil=True, cache=True)
def contracted(table, n_groups, x, y, own, values, degree, weights):
    """(P,) ``sum_ij W_ij dC(x_i, y_j) / d log value_p``.

    Parameters
    ----------
    table, n_groups, values, degree : as in ``kernels/covariance.py``; P = len(values).
    x, y : (N, D), (M, D) samples.
    own : y is x, and the weights are symmetric: half of the pairs are looked at.
    weights : (N, M) W.
    """
    out = np.zeros(len(values))
    size = y.shape[0]
    work, product, share = np.empty(size), np.empty(size), np.empty(size)
    pulls = np.zeros((table[:, 3].sum(), x.shape[0], size))
    for i in range(x.shape[0]):
        m, same = (i + 1, i) if own else (size, -1)
        share[:m] = weights[i, :m]
        if own:
            share[:i] *= 2.0
        for group in range(n_groups):
            _group_slopes(
                table, group, x, i, y, values, degree, same, share[:m], work[:m], product[:m],
                pulls[:, i, :m], out,
            )  # fmt: skip
    _add_lengths(table, x, y, values, pulls, out)
    return out


@njit(nogil=True, cache=True)
def _add_lengths(table, x, y, values, pulls, out):
    """Add the slopes by the lengths of every input: ``sum_ij S_ij (x_id - y_jd)^2`` of each term's S (N, M), by a product of matrices."""
    centre = np.empty(x.shape[1])
    for d in range(x.shape[1]):
        centre[d] = x[:, d].mean()
    left, right = x - centre, y - centre  # the differences of large squares are then small
    number = 0
    for row in range(table.shape[0]):
        if table[row, 3] == 0:
            continue
        pull, at = pulls[number], table[row, 2]
        crossed = np.dot(pull, right)
        by_row, by_column = pull.sum(axis=1), pull.sum(axis=0)
        for d in range(x.shape[1]):
            total = 0.0
            for i in range(len(left)):
                total += left[i, d] * (by_row[i] * left[i, d] - 2.0 * crossed[i, d])
            for j in range(len(right)):
                total += by_column[j] * right[j, d] * right[j, d]
            out[at + d] += values[at + d] * total
        number += 1


@njit(nogil=True, cache=True)
def contracted_variance(table, n_groups, x, values, degree, weights):
    """(P,) ``sum_n w_n dC(x_n, x_n) / d log value_p``; weights (N,)."""
    out = np.zeros(len(values))
    work, product, pulls = np.empty(1), np.empty(1), np.empty((table[:, 3].sum(), 1))
    for i in range(x.shape[0]):
        for group in range(n_groups):
            _group_slopes(
                table,
                group,
                x,
                i,
                x[i : i + 1],
                values,
                degree,
                0,
                weights[i : i + 1],
                work,
                product,
                pulls,
                out,
            )  # no distance, no slope by a length
    return out


@njit(nogil=True, cache=True)
def _group_slopes(table, group, x, i, y, values, degree, same, share, work, product, pulls, out):
    """Add the slopes of one product of terms; ``share`` (m,) weighs the pairs of x_i with y. Of each term with a length per input
    the weights of the squared differences go into a row of ``pulls`` (ARD terms, m)."""
    product[:] = values[group]
    for row in range(table.shape[0]):
        if table[row, 1] == group:
            _times_term(
                table[row, 0], table[row, 3] != 0, table[row, 2], table[row, 4], x, i, y, values, degree,
                same, work, product,
            )  # fmt: skip
    for j in range(len(share)):
        out[group] += share[j] * product[j]
    alone, number = (table[:, 1] == group).sum() == 1, -1
    for row in range(table.shape[0]):
        kind, ard = table[row, 0], table[row, 3] != 0
        number += ard
        if table[row, 1] != group or kind in (CONSTANT, WHITE):
            continue
        product[:] = values[group] * share
        for other in range(table.shape[0]):
            if table[other, 1] == group and other != row:
                _times_term(
                    table[other, 0], table[other, 3] != 0, table[other, 2], table[other, 4], x, i, y, values,
                    degree, same, work, product,
                )  # fmt: skip
        pull = pulls[number] if ard else work
        if kind == PERIODIC:
            _periodic_slopes(table[row, 2], table[row, 4], x, i, y, values, product, out)
            continue
        _term_slopes(kind, ard, table[row, 2], x, i, y, values, degree, alone, work, product, pull, out)


@njit(nogil=True, cache=True)
def _periodic_slopes(at, column, x, i, y, values, share, out):
    """Add the slopes of a periodic term by gamma and period, whose pairs weigh ``share`` (m,)."""
    gamma, period = values[at], values[at + 1]
    for j in range(len(share)):
        angle = math.pi / period * (x[i, column] - y[j, column])
        sine = math.sin(angle)
        pull = 2.0 * gamma * share[j] * math.exp(-2.0 * gamma * sine * sine)
        out[at] -= pull * sine * sine
        out[at + 1] += pull * angle * math.sin(2.0 * angle)


@njit(nogil=True, cache=True)
def _term_slopes(kind, ard, at, x, i, y, values, degree, ready, work, share, pull, out):
    """Add the slopes of one term, whose pairs weigh ``share`` (m,); ``work`` (m,) is overwritten, unless ``ready``: then it has
    the squared distances of a stationary term. With a length per input the weights of their squares go into ``pull`` (m,)."""
    if kind == LINEAR:
        for j in range(len(share)):
            out[at] += share[j] * values[at]
    elif kind == POLYNOMIAL:
        _dots(x, i, y, work)
        for j in range(len(share)):
            inner = values[at] * work[j]
            slope = share[j] * degree * (values[at + 1] + inner) ** (degree - 1)
            out[at] += slope * inner
            out[at + 1] += slope * values[at + 1]
    else:
        n_lengths = x.shape[1] if ard else 1
        if not ready:
            _squares(x, i, y, values[at : at + n_lengths], ard, work)
        alpha = values[at + n_lengths] if kind == RATIONAL else 1.0
        for j in range(len(share)):
            if kind == RATIONAL:
                inner = work[j] / (2.0 * alpha)
                bend = inner / (1.0 + inner) - math.log1p(inner)
                out[at + n_lengths] += share[j] * alpha * bend * (1.0 + inner) ** -alpha
            slope = share[j] * _slope_of_square(kind, alpha, work[j])
            if not ard:
                out[at] += slope * work[j]
            else:
                pull[j] = slope if work[j] > _TWINS else 0.0


@njit(nogil=True, cache=True)
def _slope_of_square(kind, alpha, square):
    """Derivative of a stationary term by the squared distance in lengths."""
    if kind == RBF:
        return -0.5 * math.exp(-0.5 * square)
    if kind == RATIONAL:
        return -0.5 * (1.0 + square / (2.0 * alpha)) ** (-alpha - 1.0)
    if kind == MATERN12:
        r = math.sqrt(square)
        return -0.5 * math.exp(-r) / max(r, 1e-150)
    if kind == MATERN32:
        return -1.5 * math.exp(-math.sqrt(3.0 * square))
    r = math.sqrt(5.0 * square)
    return -(5.0 / 6.0) * (1.0 + r) * math.exp(-r)
