"""Sums of products over samples or features on one thread: the matrix multiplications of a sweep.

Written out, not left to a BLAS library, which takes threads of its own and whose sums depend on how many it gets. Two
rows of the result are made side by side, eight terms at a time, so that the compiler keeps the factors in registers;
sums of at most ``CHUNK`` terms are in the type of the cells, sums of sums in float64.

Columns of a Gram matrix of K factors, ``width(K)`` in all: for j < k in column k (k - 1) / 2 + j the sum of T f_j f_k;
then K sums of T times the second moment; then zeros.
"""

from __future__ import annotations

import numpy as np
from numba import njit

CHUNK = 64
TILE = 256
WIDE = 1024
"""From so many columns on the chunks are shorter, to stay in the cache."""
FAST = {"reassoc", "contract", "nsz"}


def width(k: int) -> int:
    """Columns of a Gram matrix of k factors: a multiple of 16."""
    return -(-(k * (k + 1) // 2) // 16) * 16


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def add_terms(x, y, table, at, left, one, two):
    """Add to ``one`` and ``two`` eight rows of ``table`` from (at, left) on, times the numbers in x and y."""
    x0, x1, x2, x3, x4, x5, x6, x7 = x
    y0, y1, y2, y3, y4, y5, y6, y7 = y
    a0, c0 = (
        np.uintp(at),
        np.uintp(left),
    )  # unsigned: an index that could be negative keeps the loop from vectorising
    a1, a2, a3 = a0 + np.uintp(1), a0 + np.uintp(2), a0 + np.uintp(3)
    a4, a5, a6, a7 = a0 + np.uintp(4), a0 + np.uintp(5), a0 + np.uintp(6), a0 + np.uintp(7)
    for j in range(len(one)):
        c = c0 + np.uintp(j)
        q0, q1, q2, q3 = table[a0, c], table[a1, c], table[a2, c], table[a3, c]
        q4, q5, q6, q7 = table[a4, c], table[a5, c], table[a6, c], table[a7, c]
        one[j] += x0 * q0 + x1 * q1 + x2 * q2 + x3 * q3 + x4 * q4 + x5 * q5 + x6 * q6 + x7 * q7
        two[j] += y0 * q0 + y1 * q1 + y2 * q2 + y3 * q3 + y4 * q4 + y5 * q5 + y6 * q6 + y7 * q7


@njit(nogil=True, cache=True)
def fill_pairs(first, second, lo, hi, table):
    """Rows lo..hi-1 of the columns above, from (I, K) first and second moments; the rest of ``table`` is 0."""
    K = first.shape[1]
    for i in range(lo, hi):
        row, at = table[i - lo], 0
        for k in range(K):
            f = first[i, k]
            for j in range(k):
                row[at + j] = first[i, j] * f
            at += k
        for k in range(K):
            row[at + k] = second[i, k]
    table[hi - lo :] = 0


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def add_term(x, y, table, at, left, one, two):
    """The same for one row."""
    row = table[at, left : left + len(one)]
    for j in range(len(one)):
        one[j] += x * row[j]
        two[j] += y * row[j]


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def add_all(x, y, table, at, left, one, two):
    """Add to ``one`` and ``two`` the rows of ``table`` from (at, left) on, times the numbers in x and y."""
    n = len(x)
    for i in range(0, n - 7, 8):
        p, q = x[i : i + 8], y[i : i + 8]
        add_terms(
            (p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]),
            (q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]),
            table, at + i, left, one, two,
        )  # fmt: skip
    for i in range(n - n % 8, n):
        add_term(x[i], y[i], table, at + i, left, one, two)


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def add_sums(r, s, one, two, out):
    """Add ``one`` to row r and ``two`` to row s, where that is another."""
    for j in range(len(one)):
        out[r, j] += one[j]
    if s > r:
        for j in range(len(two)):
            out[s, j] += two[j]


@njit(nogil=True, cache=True, fastmath=FAST)
def gram_of_rows(T, top, first, second, out):
    """Add to ``out`` (R, width) the Gram matrices of rows top..top+R-1 of ``T``; moments are (columns of T, K)."""
    n, columns, rows = T.shape[1], out.shape[1], len(out)
    chunk = CHUNK if columns < WIDE else CHUNK // 4
    table = np.zeros((chunk, columns), T.dtype)
    one, two = np.empty(columns, T.dtype), np.empty(columns, T.dtype)
    for lo in range(0, n, chunk):
        hi = min(n, lo + chunk)
        fill_pairs(first, second, lo, hi, table)
        for r in range(0, rows, 2):
            s = min(r + 1, rows - 1)
            a, b = T[top + r, lo:hi], T[top + s, lo:hi]
            one[:] = 0
            two[:] = 0
            add_all(a, b, table, 0, 0, one, two)
            add_sums(r, s, one, two, out)


@njit(nogil=True, cache=True, fastmath=FAST)
def gram_of_columns(T, top, left, first, second, out):
    """The same for columns left..left+R-1 of ``T``, over the rows from ``top`` on that the moments (I, K) have."""
    n, columns, rows = len(first), out.shape[1], len(out)
    chunk = CHUNK if columns < WIDE else CHUNK // 4
    table = np.zeros((chunk, columns), T.dtype)
    one, two = np.empty(columns, T.dtype), np.empty(columns, T.dtype)
    for lo in range(0, n, chunk):
        hi = min(n, lo + chunk)
        size = hi - lo
        fill_pairs(first, second, lo, hi, table)
        for r in range(0, rows, 2):
            s = min(r + 1, rows - 1)
            c, e = left + r, left + s
            one[:] = 0
            two[:] = 0
            for i in range(0, size - 7, 8):
                A = T[top + lo + i : top + lo + i + 8]
                add_terms(
                    (A[0, c], A[1, c], A[2, c], A[3, c], A[4, c], A[5, c], A[6, c], A[7, c]),
                    (A[0, e], A[1, e], A[2, e], A[3, e], A[4, e], A[5, e], A[6, e], A[7, e]),
                    table, i, 0, one, two,
                )  # fmt: skip
            for i in range(size - size % 8, size):
                add_term(T[top + lo + i, c], T[top + lo + i, e], table, i, 0, one, two)
            add_sums(r, s, one, two, out)


@njit(nogil=True, cache=True, fastmath=FAST)
def dots_of_rows(B, top, first, out):
    """Add to ``out`` (R, K) the sums over n of B[top + r, n] first[k, n]; ``first`` is (K, N) in the type of B."""
    n, K = B.shape[1], len(first)
    for lo in range(0, n, 1024):
        hi = min(n, lo + 1024)
        for r in range(len(out)):
            row = B[top + r, lo:hi]
            for k in range(0, K, 4):
                k1, k2, k3 = min(k + 1, K - 1), min(k + 2, K - 1), min(k + 3, K - 1)
                f0, f1, f2, f3 = first[k, lo:hi], first[k1, lo:hi], first[k2, lo:hi], first[k3, lo:hi]
                s0 = s1 = s2 = s3 = B.dtype.type(0)
                for i in range(len(row)):
                    b = row[i]
                    s0 += b * f0[i]
                    s1 += b * f1[i]
                    s2 += b * f2[i]
                    s3 += b * f3[i]
                out[r, k] += s0
                if k1 > k:
                    out[r, k1] += s1
                if k2 > k1:
                    out[r, k2] += s2
                if k3 > k2:
                    out[r, k3] += s3


@njit(nogil=True, cache=True, fastmath=FAST)
def dots_of_columns(left_side, B, top, left, out):
    """Add to ``out`` (K, R) the sums over i of left_side[k, i] B[top + i, left + r]; (K, I) in the type of B."""
    n, rows = left_side.shape[1], len(out)
    one, two = np.empty(TILE, B.dtype), np.empty(TILE, B.dtype)
    for lo in range(0, n, CHUNK):
        hi = min(n, lo + CHUNK)
        for at in range(0, out.shape[1], TILE):
            size = min(TILE, out.shape[1] - at)
            a, b = one[:size], two[:size]
            for r in range(0, rows, 2):
                s = min(r + 1, rows - 1)
                a[:] = 0
                b[:] = 0
                add_all(left_side[r, lo:hi], left_side[s, lo:hi], B, top + lo, left + at, a, b)
                for j in range(size):
                    out[r, at + j] += a[j]
                if s > r:
                    for j in range(size):
                        out[s, at + j] += b[j]


def padded(*parts: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The (K, N) arrays below each other and rows of zeros up to a multiple of 8, so that no terms are left over."""
    rows = sum(len(part) for part in parts)
    out = np.zeros((-(-rows // 8) * 8, parts[0].shape[1]), dtype)
    np.concatenate(parts, out=out[:rows], casting="same_kind")
    return out


@njit(nogil=True, cache=True, fastmath=FAST)
def take_away(lo, T, top, z, w, B):
    """B - T <x> without the intercept, of the features from ``lo`` on, in place; ``z`` is padded, in the type of the cells."""
    N, rows = z.shape[1], len(B)
    first = np.zeros((rows, len(z)), z.dtype)
    for r in range(rows):
        for k in range(len(w)):
            first[r, k] = w[k, lo + r]
    one, two = np.empty(TILE, z.dtype), np.empty(TILE, z.dtype)
    for at in range(0, N, TILE):
        size = min(TILE, N - at)
        a, b = one[:size], two[:size]
        for r in range(0, rows, 2):
            s = min(r + 1, rows - 1)
            a[:] = 0
            b[:] = 0
            add_all(first[r], first[s], z, 0, at, a, b)
            x, t = B[r, at : at + size], T[top + r, at : at + size]
            for n in range(size):
                x[n] -= t[n] * a[n]
            if s > r:
                x, t = B[s, at : at + size], T[top + s, at : at + size]
                for n in range(size):
                    x[n] -= t[n] * b[n]


@njit(nogil=True, cache=True, fastmath=FAST)
def predict(lo, hi, z, both, w, ww, x, spread):
    """<x> without the intercept and its variance, of features lo..hi-1, into ``x`` and ``spread`` (hi - lo, N).

    ``z`` and ``both`` (<z^2>, then Var z) are padded; sums are of their type, those of the variance of positive terms.
    """
    K, N, rows = len(w), z.shape[1], hi - lo
    first, second = np.zeros((rows, len(z)), z.dtype), np.zeros((rows, len(both)), z.dtype)
    for r in range(rows):
        for k in range(K):
            mean = w[k, lo + r]
            first[r, k] = mean
            second[r, k] = max(ww[k, lo + r] - mean * mean, 0.0)
            second[r, K + k] = mean * mean
    one, two = np.empty(TILE, z.dtype), np.empty(TILE, z.dtype)
    for at in range(0, N, TILE):
        size = min(TILE, N - at)
        a, b = one[:size], two[:size]
        for r in range(0, rows, 2):
            s = min(r + 1, rows - 1)
            a[:] = 0
            b[:] = 0
            add_all(first[r], first[s], z, 0, at, a, b)
            x[r, at : at + size] = a
            x[s, at : at + size] = b
            a[:] = 0
            b[:] = 0
            add_all(second[r], second[s], both, 0, at, a, b)
            spread[r, at : at + size] = a
            spread[s, at : at + size] = b
