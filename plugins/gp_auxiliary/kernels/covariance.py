"""Covariance matrices of sums and products of terms, from a table of numbers that the kernels can read.

A table row is (kind, group, first parameter, ARD, input): terms of one group are multiplied, groups are added. The parameters
``values`` are exp(theta): first one amplitude^2 for each group, then those of each term in the order below.

    kind 0 rbf          exp(-r2 / 2),  r2 = sum_d gamma_d (x_d - x'_d)^2         gamma (1, or D with ARD)
    kind 1, 2, 3 matern 1/2, 3/2, 5/2 in r                                       gamma
    kind 4 rational quadratic (1 + r2 / (2 alpha))^-alpha                        gamma, alpha
    kind 5 linear       x'x' + bias                                              bias
    kind 6 polynomial   (bias + gamma x'x')^degree                               gamma, bias
    kind 7 constant     1
    kind 8 white        1 where both are the same sample, else 0
    kind 9 periodic     exp(-2 gamma sin^2(pi (x_d - x'_d) / period)), d the row's input    gamma, period
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

RBF, MATERN12, MATERN32, MATERN52, RATIONAL, LINEAR, POLYNOMIAL, CONSTANT, WHITE, PERIODIC = range(10)


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _dots(x, i, y, out):
    """x_i'y_j for every j below the length of out."""
    for j in range(len(out)):
        total = 0.0
        for d in range(x.shape[1]):
            total += x[i, d] * y[j, d]
        out[j] = total


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _squares(x, i, y, weight, ard, out):
    """Squared distances of x_i and y_j times gamma: weight[d] for every input, or weight[0]."""
    for j in range(len(out)):
        total = 0.0
        if ard:
            for d in range(x.shape[1]):
                gap = x[i, d] - y[j, d]
                total += weight[d] * (gap * gap)
        else:
            for d in range(x.shape[1]):
                gap = x[i, d] - y[j, d]
                total += gap * gap
            total *= weight[0]
        out[j] = total


@njit(nogil=True, cache=True)
def _times_stationary(kind, alpha, square, product):
    for j in range(len(product)):
        if kind == RBF:
            product[j] *= math.exp(-0.5 * square[j])
        elif kind == RATIONAL:
            product[j] *= (1.0 + square[j] / (2.0 * alpha)) ** -alpha
        elif kind == MATERN12:
            product[j] *= math.exp(-math.sqrt(square[j]))
        elif kind == MATERN32:
            r = math.sqrt(3.0 * square[j])
            product[j] *= (1.0 + r) * math.exp(-r)
        else:
            r = math.sqrt(5.0 * square[j])
            product[j] *= (1.0 + r + r * r / 3.0) * math.exp(-r)


@njit(nogil=True, cache=True)
def _times_periodic(gamma, period, x, i, y, column, product):
    for j in range(len(product)):
        sine = math.sin(math.pi / period * (x[i, column] - y[j, column]))
        product[j] *= math.exp(-2.0 * gamma * sine * sine)


@njit(nogil=True, cache=True)
def _times_term(kind, ard, at, column, x, i, y, values, degree, same, work, product):
    """Multiply product (m,) by a term between x_i and the first m of y, ``same`` of which is x_i itself (-1: none)."""
    size = len(product)
    if kind == WHITE:
        for j in range(size):
            if j != same:
                product[j] = 0.0
    elif kind in (LINEAR, POLYNOMIAL):
        _dots(x, i, y, work)
        if kind == LINEAR:
            for j in range(size):
                product[j] *= work[j] + values[at]
        else:
            for j in range(size):
                product[j] *= (values[at + 1] + values[at] * work[j]) ** degree
    elif kind == PERIODIC:
        _times_periodic(values[at], values[at + 1], x, i, y, column, product)
    elif kind != CONSTANT:
        n_lengths = x.shape[1] if ard else 1
        _squares(x, i, y, values[at : at + n_lengths], ard, work)
        alpha = values[at + n_lengths] if kind == RATIONAL else 1.0
        _times_stationary(kind, alpha, work, product)


@njit(nogil=True, cache=True)
def _row(table, n_groups, x, i, y, values, degree, same, work, product, out):
    """Covariances of x_i with the first m of y into out (m,); work and product (m,) are overwritten."""
    out[:] = 0.0
    for group in range(n_groups):
        product[:] = values[group]
        for row in range(table.shape[0]):
            if table[row, 1] == group:
                kind, at, ard = table[row, 0], table[row, 2], table[row, 3] != 0
                _times_term(kind, ard, at, table[row, 4], x, i, y, values, degree, same, work, product)
        for j in range(len(out)):
            out[j] += product[j]


@njit(nogil=True, cache=True)
def covariance(table, n_groups, x, values, degree):
    """C (N, N) of the samples x (N, D); ``table`` (terms, 5) int64."""
    size = x.shape[0]
    out = np.empty((size, size))
    work, product = np.empty(size), np.empty(size)
    for i in range(size):
        m = i + 1
        _row(table, n_groups, x, i, x, values, degree, i, work[:m], product[:m], out[i, :m])
    for i in range(size):
        for j in range(i):
            out[j, i] = out[i, j]
    return out


@njit(nogil=True, cache=True)
def cross_covariance(table, n_groups, x, y, values, degree):
    """C(x, y) (N, M) of different samples (a white term adds nothing)."""
    out = np.empty((x.shape[0], y.shape[0]))
    work, product = np.empty(y.shape[0]), np.empty(y.shape[0])
    for i in range(x.shape[0]):
        _row(table, n_groups, x, i, y, values, degree, -1, work, product, out[i])
    return out


@njit(nogil=True, cache=True)
def own_variance(table, n_groups, x, values, degree):
    """(N,) variance of f at each sample."""
    out = np.empty(x.shape[0])
    work, product = np.empty(1), np.empty(1)
    for i in range(x.shape[0]):
        _row(table, n_groups, x, i, x[i : i + 1], values, degree, 0, work, product, out[i : i + 1])
    return out


@njit(nogil=True, cache=True)
def pivoted_loadings(table, n_groups, x, values, degree, most, left):
    """(G (N, r), whether it is enough, pivots (r,)): ``C ~ G G'`` by Cholesky's method with pivots, without forming C.

    It stops once the variances that are left add up to ``left``: C - G G' has no eigenvalue below zero, so that no entry
    of it is larger than that. It gives up at rank ``most``, or as soon as that will not do even if the variances went on
    falling as fast as so far (later eigenvalues of a covariance fall more slowly).
    """
    size = x.shape[0]
    found = np.empty((most, size))
    rest = own_variance(table, n_groups, x, values, degree)
    work, product, column = np.empty(size), np.empty(size), np.empty(size)
    total, rank = rest.sum(), 0
    pivots = np.empty(most, dtype=np.int64)
    start = total
    while total > left and rank < most:
        pivot = rest.argmax()
        pivots[rank] = pivot
        _row(table, n_groups, x, pivot, x, values, degree, pivot, work, product, column)
        for m in range(rank):
            _take_away(found[m, pivot], found[m], column)
        scale = 1.0 / math.sqrt(rest[pivot])
        total = 0.0
        for n in range(size):
            found[rank, n] = column[n] * scale
            rest[n] = max(rest[n] - found[rank, n] ** 2, 0.0)
            total += rest[n]
        total -= rest[pivot]
        rest[pivot] = 0.0
        rank += 1
        if rank % 16 == 0 and rank * math.log(start / left) > most * math.log(start / max(total, left)):
            break
    return found[:rank].T.copy(), total <= left, pivots[:rank].copy()


@njit(nogil=True, cache=True, fastmath={"contract"})
def _take_away(times, row, column):
    for n in range(len(column)):
        column[n] -= times * row[n]
