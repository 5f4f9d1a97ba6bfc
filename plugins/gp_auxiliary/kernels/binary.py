"""Gibbs kernels of binary principal components: probit cells, ``z_ij ~ N(mu_j + w_j'x_i, 1)``, ``y_ij = [z_ij > 0]``.

Cells that are not ``known`` are passed over: their z is not drawn.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.at_once import bells, scaled_tail
from plaidwork.plugins.gp_auxiliary.kernels.truncated import HEIGHT, ROOT_HALF, log_ndtr, normal_above

_TOGETHER, _FACTORS = 1024, 32
"""Cells whose probabilities are worked at once, and how many chances are multiplied before a logarithm is taken: each is above 1e-4 once exp(-x^2 / 2) is left out."""


@njit(nogil=True, cache=True)
def _factor(matrix):
    """Lower Cholesky factor (K, K) in place; entries above the diagonal are left as they are."""
    size = len(matrix)
    for j in range(size):
        for i in range(j, size):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = math.sqrt(max(total, 1e-300)) if i == j else total / matrix[j, j]


@njit(nogil=True, cache=True)
def _forward(root, b):
    """``L^-1 b`` in place."""
    for i in range(len(b)):
        for k in range(i):
            b[i] -= root[i, k] * b[k]
        b[i] /= root[i, i]


@njit(nogil=True, cache=True)
def _backward(root, b):
    """``L^-T b`` in place."""
    for i in range(len(b) - 1, -1, -1):
        for k in range(i + 1, len(b)):
            b[i] -= root[k, i] * b[k]
        b[i] /= root[i, i]


@njit(nogil=True, cache=True)
def _products(w, known, out):
    """``I + sum w_j w_j'`` over the known columns of a row, lower half."""
    size = w.shape[1]
    for a in range(size):
        for b in range(a + 1):
            out[a, b] = 1.0 if a == b else 0.0
    for j in range(len(w)):
        if known[j]:
            for a in range(size):
                for b in range(a + 1):
                    out[a, b] += w[j, a] * w[j, b]


@njit(nogil=True, cache=True)
def draw_rows(rng, first, last, times, y, known, x, w, mu, z):
    """Draw z of rows ``first`` to ``last``, then their scores x, ``times`` in turn; in place.

    Parameters
    ----------
    y, known : (n, m) bool. x (n, K), w (m, K), mu (m,), z (n, m).
    """
    size = x.shape[1]
    whole, own, b = np.empty((size, size)), np.empty((size, size)), np.empty(size)
    _products(w, np.ones(len(w), dtype=np.bool_), whole)
    _factor(whole)
    for i in range(first, last):
        root = whole
        if not known[i].all():
            _products(w, known[i], own)
            _factor(own)
            root = own
        for _ in range(times):
            b[:] = 0.0
            for j in range(len(w)):
                if known[i, j]:
                    mean = mu[j]
                    for k in range(size):
                        mean += w[j, k] * x[i, k]
                    value = mean + normal_above(rng, -mean) if y[i, j] else mean - normal_above(rng, mean)
                    z[i, j] = value
                    for k in range(size):
                        b[k] += w[j, k] * (value - mu[j])
            _forward(root, b)
            for k in range(size):
                b[k] += rng.standard_normal()
            _backward(root, b)
            x[i] = b


@njit(nogil=True, cache=True)
def draw_columns(rng, first, last, y, known, x, w, mu, z, precision, mean_precision):
    """Draw mean and loadings of columns ``first`` to ``last``, in place; log likelihood of their cells.

    Before them z of a column is scaled, its coefficients integrated out: ``c^2 ~ Gamma(N_j / 2, z'(I + X P^-1 X')^-1 z / 2)``,
    a Gibbs step along the ray (Liu & Wu 1999), which costs nothing and mixes large coefficients.

    Parameters
    ----------
    precision : (K,) of the loadings' priors; ``mean_precision`` that of mu.
    """
    size, total = x.shape[1], 0.0
    matrix, b = np.empty((size + 1, size + 1)), np.empty(size + 1)
    row = np.empty(size + 1)
    row[size] = 1.0
    for j in range(first, last):
        b[:] = 0.0
        for a in range(size + 1):
            for c in range(a + 1):
                matrix[a, c] = 0.0
            matrix[a, a] = precision[a] if a < size else mean_precision
        square, count = 0.0, 0
        for i in range(len(x)):
            if known[i, j]:
                count += 1
                value = z[i, j]
                square += value * value
                row[:size] = x[i]
                for a in range(size + 1):
                    b[a] += row[a] * value
                    for c in range(a + 1):
                        matrix[a, c] += row[a] * row[c]
        _factor(matrix)
        _forward(matrix, b)
        scale = 1.0
        if count:
            for a in range(size + 1):
                square -= b[a] * b[a]
            scale = math.sqrt(rng.standard_gamma(0.5 * count) / (0.5 * max(square, 1e-300)))
        for a in range(size + 1):
            b[a] = scale * b[a] + rng.standard_normal()
        _backward(matrix, b)
        w[j] = b[:size]
        mu[j] = b[size]
        for i in range(len(x)):
            if known[i, j]:
                mean = mu[j]
                for k in range(size):
                    mean += w[j, k] * x[i, k]
                total += log_ndtr(mean if y[i, j] else -mean)
    return total


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")
def _some_cells(centre, sign, room):
    """Log probability of at most ``_TOGETHER`` cells given their centres, z integrated out; their slopes by it take the centres' place.

    ``sign`` is 1 of a one, -1 of a zero and 0 of a cell that is not known; ``room`` (5, _TOGETHER).
    """
    size = centre.size
    lead, chance, slope, side, power = room[0, :size], room[1], room[2, :size], room[3, :size], room[4, :size]
    for i in range(size):
        side[i] = sign[i]
        lead[i] = side[i] * centre[i]
    bells(lead, chance[:size], power, slope)
    total = 0.0
    for i in range(size):
        x = lead[i]
        tail = 0.5 * scaled_tail(abs(x) * ROOT_HALF)
        below = x < 0.0
        bell = chance[i]
        own = tail if below else 1.0 - tail * bell
        centre[i] = side[i] * HEIGHT * (1.0 if below else bell) / own
        total -= 0.5 * x * x if below else 0.0  # x is 0 of a cell that is not known
        chance[i] = own if side[i] != 0.0 else 1.0
    chance[size:] = 1.0
    wide = _TOGETHER
    while wide > _TOGETHER // _FACTORS:
        wide //= 2
        for i in range(wide):
            chance[i] *= chance[wide + i]
    for i in range(wide):
        total += math.log(chance[i])
    return total


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def _centres(x, wt, mu, first, last, left, right, out):
    """Centres of the cells of rows ``first`` to ``last``, columns ``left`` to ``right``, row by row into ``out``; wt (K, m)."""
    wide = right - left
    for i in range(first, last):
        row = out[(i - first) * wide : (i - first + 1) * wide]
        for j in range(wide):
            row[j] = mu[left + j]
        for k in range(len(wt)):
            own, w = x[i, k], wt[k, left:right]
            for j in range(wide):
                row[j] += own * w[j]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz"})
def _add_slopes(x, wt, first, last, left, right, cells, of_x, of_wt, of_mu):
    """Add what the slopes of such ``cells`` by their centres say of scores, loadings and means."""
    wide = right - left
    means = of_mu[left:right]
    for i in range(first, last):
        row = cells[(i - first) * wide : (i - first + 1) * wide]
        for j in range(wide):
            means[j] += row[j]
        for k in range(len(wt)):
            own, total, w, of_w = x[i, k], 0.0, wt[k, left:right], of_wt[k, left:right]
            for j in range(wide):
                total += w[j] * row[j]
                of_w[j] += own * row[j]
            of_x[i, k] += total


@njit(nogil=True, cache=True)
def rise(at, precision, sign, n, m, slope):
    """Log density of scores (n, K), loadings (m, K) and means (m,), one after the other in ``at``, but for a constant, z integrated out.

    Parameters
    ----------
    precision : of the normal prior of each number. sign : (n * m,) 1 of a one, -1 of a zero, 0 of a cell that is not known.
    slope : takes the slopes.
    """
    size = (len(at) - m) // (n + m)
    x, mu = at[: n * size].reshape(n, size), at[len(at) - m :]
    of_x, of_mu = slope[: n * size].reshape(n, size), slope[len(at) - m :]
    wt, of_wt = np.empty((size, m)), np.zeros((size, m))
    for j in range(m):
        for k in range(size):
            wt[k, j] = at[(n + j) * size + k]
    slope[:] = 0.0
    cells, room, total = np.empty(_TOGETHER), np.empty((5, _TOGETHER)), 0.0
    tall, wide = max(1, _TOGETHER // m), min(m, _TOGETHER)
    for first in range(0, n, tall):
        last = min(first + tall, n)
        for left in range(0, m, wide):
            right = min(left + wide, m)
            some = cells[: (last - first) * (right - left)]
            begin = first * m + left
            _centres(x, wt, mu, first, last, left, right, some)
            total += _some_cells(some, sign[begin : begin + len(some)], room)
            _add_slopes(x, wt, first, last, left, right, some, of_x, of_wt, of_mu)
    for j in range(m):
        for k in range(size):
            slope[(n + j) * size + k] = of_wt[k, j]
    for i in range(len(at)):
        pull = precision[i] * at[i]
        slope[i] -= pull
        total -= 0.5 * pull * at[i]
    return total


@njit(nogil=True, cache=True)
def leap(at, momentum, slope, level, least, step, half, count, precision, sign, n, m):
    """``count`` steps of a trajectory, in place; the log density after the last, below ``least`` where it is given up.

    ``step`` (N,) is how far each number goes, ``half`` says that the first kick is half a one.
    """
    for number in range(count):
        if level < least:
            break
        kick = 0.5 if half and number == 0 else 1.0
        for i in range(len(at)):
            momentum[i] += kick * step[i] * slope[i]
            at[i] += step[i] * momentum[i]
        level = rise(at, precision, sign, n, m, slope)
    return level
