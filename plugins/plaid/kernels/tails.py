"""Student t noise as normal noise whose precision each cell weights: the weights, and the density without them."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.plaid.kernels.birth_death import residual_row
from plaidwork.plugins.plaid.kernels.blocks import picked_sum

LARGEST = 1e150
"""Of a product whose logarithm is taken once in many factors: one more factor is below 1e150."""


@njit(cache=True, nogil=True)
def draw_weights(rng, cells, rows, columns, theta, phi, freedom, tau0, power, weights, lo, hi):
    """Weights of rows lo to hi of ``weights`` (N1, N2), which are 0 where nothing is observed.

    ``w ~ Gamma((freedom + power) / 2, (freedom + power tau0 r^2) / 2)`` for a residual r: with ``w ~ Gamma(freedom / 2, freedom / 2)``
    beforehand a cell has the precision ``w tau0``, and t noise when w is integrated out (Andrews and Mallows 1974).
    """
    shape = 0.5 * (freedom + power)
    for i in range(lo, hi):
        residual = residual_row(cells, rows, columns, theta, phi, i)
        for j in range(residual.size):
            if cells.w[i, j]:
                rate = 0.5 * (freedom + power * tau0 * residual[j] * residual[j])
                weights[i, j] = max(rng.standard_gamma(shape) / rate, 1e-100)


@njit(cache=True, nogil=True)
def weigh(cells, weights, wx):
    """``weights x`` into ``wx`` (N1, N2); sums of the weights, and of (x - centre) and its square times them."""
    total, first, second = 0.0, 0.0, 0.0
    for i in range(wx.shape[0]):
        for j in range(wx.shape[1]):
            w, x = weights[i, j], cells.x[i, j]
            wx[i, j] = w * x
            pull = w * (x - cells.centre)
            total += w
            first += pull
            second += pull * (x - cells.centre)
    return total, first, second


@njit(cache=True, nogil=True)
def tail_sums(cells, rows, columns, theta, phi, scales):
    """For each of the ``scales`` (S,) the sum of ``log(1 + scale r^2)`` over the residuals r.

    Of the first scale, sums of ``r / (1 + scale r^2)`` over all cells and over each block too.

    Returns
    -------
    totals : (S,)
    pulls : (K + 1,) all cells first
    """
    totals, products = np.zeros(scales.size), np.ones(scales.size)
    pulls, along = np.zeros(theta.size + 1), np.arange(columns.shape[1])
    for i in range(cells.x.shape[0]):
        residual = residual_row(cells, rows, columns, theta, phi, i)
        for s in range(scales.size):
            total, product, scale = totals[s], products[s], scales[s]
            for j in range(residual.size):
                product *= 1.0 + scale * residual[j] * residual[j]
                if product > LARGEST:
                    total += math.log(product)
                    product = 1.0
            totals[s], products[s] = total, product
        for j in range(residual.size):
            residual[j] /= 1.0 + scales[0] * residual[j] * residual[j]
        pulls[0] += picked_sum(residual, along)
        for k in range(theta.size):
            if rows[k, i]:
                for j in range(residual.size):
                    pulls[k + 1] += residual[j] * columns[k, j]
    return totals + np.log(products), pulls
