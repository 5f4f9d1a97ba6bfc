"""Covariance matrices of sums and products of terms, from a table of numbers that the kernels can read.

A table row is (kind, group, first parameter, ARD): terms of one group are multiplied, groups are added. The parameters
``theta`` are logarithms: first one log amplitude^2 for each group, then those of each term in the order below.

    kind 0 rbf          exp(-r2 / 2),  r2 = sum_d gamma_d (x_d - x'_d)^2         gamma (1, or D with ARD)
    kind 1, 2, 3 matern 1/2, 3/2, 5/2 in r                                       gamma
    kind 4 rational quadratic (1 + r2 / (2 alpha))^-alpha                        gamma, alpha
    kind 5 linear       x'x' + bias                                              bias
    kind 6 polynomial   (bias + gamma x'x')^degree                               gamma, bias
    kind 7 constant     1
    kind 8 white        1 where both are the same sample, else 0
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

RBF, MATERN12, MATERN32, MATERN52, RATIONAL, LINEAR, POLYNOMIAL, CONSTANT, WHITE = range(9)


@njit(nogil=True, cache=True)
def _term(kind, ard, at, x, y, theta, degree, same):
    if kind == CONSTANT:
        return 1.0
    if kind == WHITE:
        return 1.0 if same else 0.0
    if kind in (LINEAR, POLYNOMIAL):
        dot = 0.0
        for d in range(len(x)):
            dot += x[d] * y[d]
        if kind == LINEAR:
            return dot + math.exp(theta[at])
        return (math.exp(theta[at + 1]) + math.exp(theta[at]) * dot) ** degree
    square = 0.0
    if ard:
        for d in range(len(x)):
            square += math.exp(theta[at + d]) * (x[d] - y[d]) ** 2
    else:
        for d in range(len(x)):
            square += (x[d] - y[d]) ** 2
        square *= math.exp(theta[at])
    if kind == RBF:
        return math.exp(-0.5 * square)
    if kind == RATIONAL:
        alpha = math.exp(theta[at + (len(x) if ard else 1)])
        return (1.0 + square / (2.0 * alpha)) ** -alpha
    r = math.sqrt(square)
    if kind == MATERN12:
        return math.exp(-r)
    if kind == MATERN32:
        r *= math.sqrt(3.0)
        return (1.0 + r) * math.exp(-r)
    r *= math.sqrt(5.0)
    return (1.0 + r + r * r / 3.0) * math.exp(-r)


@njit(nogil=True, cache=True)
def _pair(table, n_groups, x, y, theta, degree, same):
    total = 0.0
    for group in range(n_groups):
        product = math.exp(theta[group])
        for row in range(table.shape[0]):
            if table[row, 1] == group:
                product *= _term(table[row, 0], table[row, 3], table[row, 2], x, y, theta, degree, same)
        total += product
    return total


@njit(nogil=True, cache=True)
def covariance(table, n_groups, x, theta, degree):
    """C (N, N) of the samples x (N, D); ``table`` (terms, 4) int64."""
    size = x.shape[0]
    out = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            value = _pair(table, n_groups, x[i], x[j], theta, degree, i == j)
            out[i, j] = value
            out[j, i] = value
    return out


@njit(nogil=True, cache=True)
def cross_covariance(table, n_groups, x, y, theta, degree):
    """C(x, y) (N, M) of different samples (a white term adds nothing)."""
    out = np.empty((x.shape[0], y.shape[0]))
    for i in range(x.shape[0]):
        for j in range(y.shape[0]):
            out[i, j] = _pair(table, n_groups, x[i], y[j], theta, degree, False)
    return out


@njit(nogil=True, cache=True)
def own_variance(table, n_groups, x, theta, degree):
    """(N,) variance of f at each sample."""
    out = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = _pair(table, n_groups, x[i], x[i], theta, degree, True)
    return out
