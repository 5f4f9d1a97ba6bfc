"""Sums of products over samples or features on one thread: matrix multiplications of a sweep whose parts may be cut anywhere.

Written out, not left to a BLAS library, whose sums may depend on how many rows or columns it is given: those of data in a file
are to be those of data in memory. Where the cuts are the same by all ways (:func:`predict`, ``grams.py``) a BLAS serves. Four
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
STRETCH = 4096
"""Cells of a row whose sums are in the type of the cells; every lane of a register has a part of them."""
FAST = {"reassoc", "contract", "nsz"}


def width(k: int) -> int:
    """Columns of a Gram matrix of k factors: a multiple of 16."""
    return -(-(k * (k + 1) // 2) // 16) * 16


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def add_terms(rows, table, at, left, out):
    """Add to each of four arrays eight rows of ``table`` from (at, left) on, times the eight numbers in its row."""
    x, y, u, v = rows
    x0, x1, x2, x3, x4, x5, x6, x7 = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
    y0, y1, y2, y3, y4, y5, y6, y7 = y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7]
    u0, u1, u2, u3, u4, u5, u6, u7 = u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7]
    v0, v1, v2, v3, v4, v5, v6, v7 = v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
    a0, c0 = (
        np.uintp(at),
        np.uintp(left),
    )  # unsigned: an index that could be negative keeps the loop from vectorising
    a1, a2, a3 = a0 + np.uintp(1), a0 + np.uintp(2), a0 + np.uintp(3)
    a4, a5, a6, a7 = a0 + np.uintp(4), a0 + np.uintp(5), a0 + np.uintp(6), a0 + np.uintp(7)
    one, two, three, last = out
    for j in range(len(one)):
        c = c0 + np.uintp(j)
        q0, q1, q2, q3 = table[a0, c], table[a1, c], table[a2, c], table[a3, c]
        q4, q5, q6, q7 = table[a4, c], table[a5, c], table[a6, c], table[a7, c]
        one[j] += x0 * q0 + x1 * q1 + x2 * q2 + x3 * q3 + x4 * q4 + x5 * q5 + x6 * q6 + x7 * q7
        two[j] += y0 * q0 + y1 * q1 + y2 * q2 + y3 * q3 + y4 * q4 + y5 * q5 + y6 * q6 + y7 * q7
        three[j] += u0 * q0 + u1 * q1 + u2 * q2 + u3 * q3 + u4 * q4 + u5 * q5 + u6 * q6 + u7 * q7
        last[j] += v0 * q0 + v1 * q1 + v2 * q2 + v3 * q3 + v4 * q4 + v5 * q5 + v6 * q6 + v7 * q7


@njit(nogil=True, cache=True, fastmath=False)
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
def add_all(rows, table, at, left, sums):
    """Set four rows of ``sums`` to the rows of ``table`` from (at, left) on, times the numbers in each of four ``rows``."""
    x, y, u, v = rows
    for i in range(4):
        for j in range(sums.shape[1]):
            sums[i, j] = 0
    out = sums[0], sums[1], sums[2], sums[3]
    n = len(x)
    for i in range(0, n - 7, 8):
        add_terms((x[i : i + 8], y[i : i + 8], u[i : i + 8], v[i : i + 8]), table, at + i, left, out)
    for i in range(n - n % 8, n):
        row = table[at + i, left : left + sums.shape[1]]
        for j in range(len(row)):
            sums[0, j] += x[i] * row[j]
            sums[1, j] += y[i] * row[j]
            sums[2, j] += u[i] * row[j]
            sums[3, j] += v[i] * row[j]


@njit(nogil=True, cache=True, fastmath=False, forceinline=True)
def quad(source, r, lo, hi):
    """Columns lo..hi-1 of rows r..r+3; the last row again where there are fewer."""
    n = len(source) - 1
    return (
        source[r, lo:hi],
        source[min(r + 1, n), lo:hi],
        source[min(r + 2, n), lo:hi],
        source[min(r + 3, n), lo:hi],
    )


@njit(nogil=True, cache=True, fastmath=FAST, forceinline=True)
def add_sums(sums, r, at, out):
    """Add the rows of ``sums`` to rows r..r+3 of ``out`` from column ``at`` on, as far as it has them."""
    for i in range(min(4, len(out) - r)):
        for j in range(sums.shape[1]):
            out[r + i, at + j] += sums[i, j]


@njit(nogil=True, cache=True, fastmath=FAST)
def gram_of_rows(T, top, first, second, out):
    """Add to ``out`` (R, width) the Gram matrices of rows top..top+R-1 of ``T``; moments are (columns of T, K)."""
    n, columns, source = T.shape[1], out.shape[1], T[top : top + len(out)]
    chunk = CHUNK if columns < WIDE else CHUNK // 4
    table, sums = np.zeros((chunk, columns), T.dtype), np.empty((4, columns), T.dtype)
    for lo in range(0, n, chunk):
        hi = min(n, lo + chunk)
        fill_pairs(first, second, lo, hi, table)
        for r in range(0, len(out), 4):
            add_all(quad(source, r, lo, hi), table, 0, 0, sums)
            add_sums(sums, r, 0, out)


@njit(nogil=True, cache=True)
def turned(source, top, left, size, out, at):
    """Into columns at..at+size-1 of ``out`` (R, …): columns left..left+R-1 of rows top..top+size-1 of ``source``."""
    rows = len(out)
    right = left + rows
    for d in range(0, size - size % 8, 8):
        s = source[top + d : top + d + 8]
        s0, s1, s2, s3 = s[0, left:right], s[1, left:right], s[2, left:right], s[3, left:right]
        s4, s5, s6, s7 = s[4, left:right], s[5, left:right], s[6, left:right], s[7, left:right]
        for n in range(rows):  # a row of eight at a time: the compiler makes a register of it
            o = out[n, at + d : at + d + 8]
            o[0], o[1], o[2], o[3] = s0[n], s1[n], s2[n], s3[n]
            o[4], o[5], o[6], o[7] = s4[n], s5[n], s6[n], s7[n]
    for d in range(size - size % 8, size):
        for n in range(rows):
            out[n, at + d] = source[top + d, left + n]


@njit(nogil=True, cache=True)
def four(source, at):
    """Rows at..at+3 of ``source``; a copy with zeros below where there are fewer."""
    if at + 4 <= len(source):
        return source[at : at + 4]
    out = np.zeros((4, source.shape[1]), source.dtype)
    for r in range(at, len(source)):
        for n in range(source.shape[1]):  # a loop compiles faster than an assignment of slices
            out[r - at, n] = source[r, n]
    return out


@njit(nogil=True, cache=True, fastmath=FAST)
def _next_four(r, t, old, new, second, down, up):
    """One stretch of :func:`next_sums`."""
    r0, r1, r2, r3 = r
    t0, t1, t2, t3 = t
    d0, d1, d2, d3 = down
    u0, u1, u2, u3 = up
    b0 = b1 = b2 = b3 = p0 = p1 = p2 = p3 = r0.dtype.type(0)
    for n in range(len(old)):
        o, f, s = old[n], new[n], second[n]
        x0 = r0[n] + t0[n] * (u0 * f - d0 * o)
        x1 = r1[n] + t1[n] * (u1 * f - d1 * o)
        x2 = r2[n] + t2[n] * (u2 * f - d2 * o)
        x3 = r3[n] + t3[n] * (u3 * f - d3 * o)
        r0[n], r1[n], r2[n], r3[n] = x0, x1, x2, x3
        b0 += x0 * f
        b1 += x1 * f
        b2 += x2 * f
        b3 += x3 * f
        p0 += t0[n] * s
        p1 += t1[n] * s
        p2 += t2[n] * s
        p3 += t3[n] * s
    return b0, b1, b2, b3, p0, p1, p2, p3


@njit(nogil=True, cache=True)
def next_sums(r, t, old, new, second, down, up, out):
    """Four rows r = B - T <x> of cells with one factor left out, in place, and what the update of that factor needs.

    The last factor (``old`` with its coefficients ``down``) is taken away, the next (``new``) gets back what it had
    (``up``). Into ``out`` (8,): the sums of r new of the four rows, then those of T second.
    """
    for j in range(8):
        out[j] = 0.0
    for lo in range(0, len(old), STRETCH):
        hi = min(len(old), lo + STRETCH)
        found = _next_four(
            (r[0, lo:hi], r[1, lo:hi], r[2, lo:hi], r[3, lo:hi]),
            (t[0, lo:hi], t[1, lo:hi], t[2, lo:hi], t[3, lo:hi]),
            old[lo:hi], new[lo:hi], second[lo:hi],
            (down[0], down[1], down[2], down[3]), (up[0], up[1], up[2], up[3]),
        )  # fmt: skip
        for j in range(8):
            out[j] += found[j]


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
    n = left_side.shape[1]
    room = np.empty((4, TILE), B.dtype)
    for lo in range(0, n, CHUNK):
        hi = min(n, lo + CHUNK)
        for at in range(0, out.shape[1], TILE):
            sums = room[:, : min(TILE, out.shape[1] - at)]
            for r in range(0, len(out), 4):
                add_all(quad(left_side, r, lo, hi), B, top + lo, left + at, sums)
                add_sums(sums, r, at, out)


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
    room = np.empty((4, TILE), z.dtype)
    for at in range(0, N, TILE):
        sums = room[:, : min(TILE, N - at)]
        for r in range(0, rows, 4):
            add_all(quad(first, r, 0, len(z)), z, 0, at, sums)
            for i in range(min(4, rows - r)):
                x, t = B[r + i, at : at + TILE], T[top + r + i, at : at + TILE]
                for n in range(len(x)):
                    x[n] -= t[n] * sums[i, n]


def predict(
    lo: int, hi: int, z: np.ndarray, both: np.ndarray, w: np.ndarray, ww: np.ndarray, x: np.ndarray, spread: np.ndarray
) -> None:  # fmt: skip
    """<x> without the intercept and its variance, of features lo..hi-1, into ``x`` and ``spread`` (hi - lo, N).

    ``z`` (K, N) and ``both`` (<z^2>, then Var z) decide the type of the sums, which are made by the BLAS; those of the variance are of
    positive terms.
    """
    mean = w[:, lo:hi].T
    square = mean * mean
    second = np.concatenate([np.maximum(ww[:, lo:hi].T - square, 0.0), square], axis=1)
    x[:] = mean.astype(z.dtype) @ z
    spread[:] = second.astype(both.dtype) @ both
