"""Comparisons between samples of neighbouring levels, as the list of all pairs (lower, higher) row by row.

``start`` (d + 1,) says where the pairs of a row begin; ``low`` and ``high`` are the samples. The same comparisons seen
from the samples are lists of entries (row, other sample, pair, side), ``first`` (N + 1,) says where a sample's begin.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.rank_factor.kernels.lanes import factor_rows
from plaidwork.plugins.rank_factor.kernels.random import LEAST_U
from plaidwork.plugins.rank_factor.kernels.solve import draw_factored, moments


@njit(nogil=True, cache=True)
def count_pairs(levels, n_levels):
    """Number of pairs of each row: neighbouring levels give the larger of their two sizes."""
    found = np.zeros(levels.shape[0], np.int64)
    for i in range(levels.shape[0]):
        sizes = np.zeros(n_levels[i], np.int64)
        for n in range(levels.shape[1]):
            if levels[i, n] >= 0:
                sizes[levels[i, n]] += 1
        for j in range(n_levels[i] - 1):
            found[i] += max(sizes[j], sizes[j + 1])
    return found


@njit(nogil=True, cache=True)
def fill_pairs(levels, n_levels, start, low, high):
    """The pairs a[k mod |a|], b[k mod |b|] of the members a, b of neighbouring levels, in the order of the samples."""
    n_samples = levels.shape[1]
    members = np.empty(n_samples, np.int64)
    for i in range(levels.shape[0]):
        begin = np.zeros(n_levels[i] + 1, np.int64)
        for n in range(n_samples):
            if levels[i, n] >= 0:
                begin[levels[i, n] + 1] += 1
        for j in range(n_levels[i]):
            begin[j + 1] += begin[j]
        cursor = begin.copy()
        for n in range(n_samples):
            j = levels[i, n]
            if j >= 0:
                members[cursor[j]] = n
                cursor[j] += 1
        at = start[i]
        for j in range(n_levels[i] - 1):
            a, b = begin[j + 1] - begin[j], begin[j + 2] - begin[j + 1]
            for k in range(max(a, b)):
                low[at] = members[begin[j] + k % a]
                high[at] = members[begin[j + 1] + k % b]
                at += 1


@njit(nogil=True, cache=True)
def fill_entries(start, low, high, first, row, other, pair, sign):
    """The pairs by sample; ``sign`` is 1 where the sample is the higher one, else -1."""
    for e in range(low.size):
        first[low[e] + 1] += 1
        first[high[e] + 1] += 1
    for n in range(first.size - 1):
        first[n + 1] += first[n]
    cursor = first.copy()
    for i in range(start.size - 1):
        for e in range(start[i], start[i + 1]):
            for side in range(2):
                n = high[e] if side == 0 else low[e]
                at = cursor[n]
                row[at], pair[at] = i, e
                other[at] = low[e] if side == 0 else high[e]
                sign[at] = 1 if side == 0 else -1
                cursor[n] += 1


@njit(nogil=True, cache=True)
def arguments(lo, hi, start, low, high, w, eps, u):
    """u of the pairs of rows lo to hi into ``u``, which has a place for every pair; ``w`` (hi - lo, N)."""
    for i in range(lo, hi):
        for e in range(start[i], start[i + 1]):
            u[e] = eps + w[i - lo, low[e]] - w[i - lo, high[e]]


@njit(nogil=True, cache=True)
def touching(lo, hi, start, low, high, kappa, total):
    """Sum of kappa over the pairs that touch a sample, into ``total`` (hi - lo, N)."""
    total[:] = 0.0
    for i in range(lo, hi):
        for e in range(start[i], start[i + 1]):
            total[i - lo, low[e]] += kappa[e]
            total[i - lo, high[e]] += kappa[e]


@njit(nogil=True, cache=True, error_model="numpy")
def row_terms(lo, hi, start, low, high, kappa, z, eps, precision, linear):
    """Add D' kappa D and D' (kappa eps + 1), D = z_high - z_low, to each row's precision (packed) and linear term.

    The former is the square of D times the roots of kappa; the latter adds up what each sample is multiplied by first.
    """
    n_samples, k = z.shape
    most = 0
    for i in range(lo, hi):
        most = max(most, start[i + 1] - start[i])
    roots, pull = np.empty((most, k)), np.zeros((hi - lo, n_samples))
    for i in range(lo, hi):
        size = start[i + 1] - start[i]
        for e in range(size):
            at = np.uintp(start[i] + e)
            a, b, kap = np.uintp(low[at]), np.uintp(high[at]), kappa[at]
            root = math.sqrt(kap)
            for j in range(k):
                gap = z[b, j] - z[a, j]
                roots[e, j] = root * gap
            force = kap * eps + 1.0
            pull[i - lo, b] += force
            pull[i - lo, a] -= force
        product = np.dot(roots[:size].T, roots[:size])
        at_entry = 0
        for j in range(k):
            for l in range(j + 1):  # noqa: E741
                precision[i - lo, at_entry] += product[j, l]
                at_entry += 1
    linear += np.dot(pull, z)


@njit(nogil=True, cache=True, error_model="numpy")
def sample_linear(n, first, row, other, pair, sign, kappa, w, a, eps, out):
    """Add what the comparisons of sample n say to the linear term of z_n; ``w`` (N, d) as it is now."""
    pull = np.zeros(a.shape[0])
    for at in range(np.uintp(first[n]), np.uintp(first[n + 1])):
        i = np.uintp(row[at])
        pull[i] += kappa[np.uintp(pair[at])] * (w[np.uintp(other[at]), i] + sign[at] * eps) + sign[at]
    out += np.dot(pull, a)


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def values_of(turned, h, out):
    """``out`` (d,) := a h, ``turned`` (K, d) is a', four factors at a time; a call of the BLAS takes twice as long."""
    first = h.size % 4
    out[:] = 0.0
    for j in range(first):
        for i in range(out.size):
            out[i] += turned[j, i] * h[j]
    for j in range(first, h.size, 4):
        p, q, r, s = h[j], h[j + 1], h[j + 2], h[j + 3]
        for i in range(out.size):
            one = turned[j, i] * p + turned[j + 1, i] * q
            out[i] += one + (turned[j + 2, i] * r + turned[j + 3, i] * s)


@njit(nogil=True, cache=True, error_model="numpy")
def draw_samples(rng, lo, hi, precision, linear, first, row, other, pair, sign, kappa, w, a, eps, z):
    """Draw z of samples lo to hi one after the other, each given the others as they are now.

    ``precision`` (hi - lo, packed) and ``linear`` (hi - lo, K) hold all but the linear terms of the comparisons, and
    are used up; ``w`` (N, d) is brought up to date.
    """
    k = a.shape[1]
    factor_rows(precision, k)
    turned = np.ascontiguousarray(a.T)
    for n in range(lo, hi):
        p, h = precision[n - lo], linear[n - lo]
        sample_linear(n, first, row, other, pair, sign, kappa, w, a, eps, h)
        draw_factored(rng, p, h, k)
        z[n] = h
        values_of(turned, h, w[n])


@njit(nogil=True, cache=True)
def mean_samples(
    lo, hi, precision, linear, first, row, other, pair, sign, kappa, w, a, spread, eps, z, covariance, log_det
):
    """q(z) of samples lo to hi one after the other; ``spread`` (K, d K) are the covariances of the rows side by side."""
    d, k = a.shape
    pull = np.empty((d, k))
    for n in range(lo, hi):
        h = linear[n - lo]
        pull[:] = 0.0
        sample_linear(n, first, row, other, pair, sign, kappa, w, a, eps, h)
        for at in range(first[n], first[n + 1]):
            for j in range(k):
                pull[row[at], j] += kappa[pair[at]] * z[other[at], j]
        h += np.dot(spread, pull.ravel())
        log_det[n] = moments(precision[n - lo], h, k, covariance[n])
        z[n] = h
        w[n] = np.dot(a, h)


@njit(nogil=True, cache=True)
def mean_squares(lo, hi, start, low, high, w, square, z, second, eps, out):
    """E[u^2] of the pairs of rows lo to hi into ``out``.

    ``w`` and ``square`` (hi - lo, N) are E[w] and E[w^2], ``second`` (hi - lo, K, K) is E[a a'].
    """
    k = z.shape[1]
    for i in range(lo, hi):
        turned = np.dot(z, second[i - lo])
        for e in range(start[i], start[i + 1]):
            a, b = low[e], high[e]
            cross = 0.0
            for j in range(k):
                cross += turned[b, j] * z[a, j]
            apart = w[i - lo, a] - w[i - lo, b]
            gap = max(square[i - lo, a] + square[i - lo, b] - 2.0 * cross, apart * apart)
            out[e] = gap + 2.0 * eps * apart + eps * eps


@njit(nogil=True, cache=True)
def mean_weights(lo, hi, start, squares, kappa):
    """<kappa> = E[u^2]^(-1/2)."""
    for e in range(start[lo], start[hi]):
        kappa[e] = 1.0 / max(math.sqrt(max(squares[e], 0.0)), LEAST_U)


@njit(nogil=True, cache=True)
def bound(lo, hi, start, low, high, w, squares, eps, kappa, given, out):
    """Expected log hinge of each row, as ``levels.bound``."""
    for i in range(lo, hi):
        total = 0.0
        for e in range(start[i], start[i + 1]):
            u, square = eps + w[i - lo, low[e]] - w[i - lo, high[e]], max(squares[e], 0.0)
            total -= u + (0.5 * (kappa[e] * square + 1.0 / kappa[e]) if given else math.sqrt(square))
        out[i] = total


@njit(nogil=True, cache=True)
def measure(lo, hi, start, low, high, w, eps, found):
    """As ``levels.measure``."""
    for i in range(lo, hi):
        count, hinge, ordered, kept = 0, 0.0, 0, 0
        for e in range(start[i], start[i + 1]):
            u = eps + w[i - lo, low[e]] - w[i - lo, high[e]]
            count += 1
            hinge += max(0.0, u)
            ordered += u <= eps
            kept += u <= 0.0
        at = i - lo
        found[at, 0], found[at, 1], found[at, 2], found[at, 3] = count, hinge, ordered, kept
