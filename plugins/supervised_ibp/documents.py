"""The pass over documents: q(z) of many at once, topic after topic, and the sums that the other factors need.

Up to ``LANES`` documents of a group lie side by side, so that a topic of all of them is one loop over an array: the products with their
other topics, the exponential and the sums are vectorised. Symbols as in NOTES.md, arrays as in ``kernels.py``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.supervised_ibp.kernels import FAST, LANES, bernoulli_entropy, take_away

STRIDE = LANES + 8
"""From topic to topic of documents side by side: were it a power of 2, all would have their places in few sets of the cache."""
MOST_FACTORS = 512
"""Numbers from 1 to 2 whose product is a finite float64, so that one logarithm serves them all."""


@njit(nogil=True, cache=True, fastmath={"contract", "nsz"}, error_model="numpy")
def shares_of(size, v, e, power, bits, share):
    """exp(-|v|) into ``e``, to 3e-16 of itself down to exp(-708), and 1 / (1 + exp(-v)) into ``share``; the first ``size`` numbers of each.

    A polynomial around the nearest power of 2, which is put together from its bits: ``power`` is room for it, and ``bits`` the same
    memory as int64.
    """
    for b in range(size):
        x = -min(abs(v[b]), 708.0)
        shifted = (
            x * 1.4426950408889634 + 6755399441055744.0
        )  # 1.5 * 2^52: the last bits are the whole number
        power[b] = shifted
        n = shifted - 6755399441055744.0
        r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10
        p = 1 / 6227020800 * r + 1 / 479001600
        p = p * r + 1 / 39916800
        p = p * r + 1 / 3628800
        p = p * r + 1 / 362880
        p = p * r + 1 / 40320
        p = p * r + 1 / 5040
        p = p * r + 1 / 720
        p = p * r + 1 / 120
        p = p * r + 1 / 24
        p = p * r + 1 / 6
        p = p * r + 0.5
        p = p * r + 1.0
        e[b] = p * r + 1.0
    for b in range(size):
        bits[b] = (bits[b] << 52) + (1023 << 52)
    for b in range(size):
        y = e[b] * power[b]
        inverse = 1.0 / (1.0 + y)
        e[b] = y
        share[b] = y * inverse if v[b] < 0.0 else inverse


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _odds(start, end, indices, values, rows, base, y, pull, cover, cover_pull, f):
    """Log odds of a document's topics, its other topics left out, into f (K,)."""
    for k in range(len(f)):
        f[k] = base[k] + y * pull[k]
    for p in range(len(cover)):
        u = cover[p]
        for k in range(len(f)):
            f[k] -= u * cover_pull[p, k]
    size = len(f)
    eights = start + (end - start) // 8 * 8
    for i in range(
        start, eights, 8
    ):  # eight words at once: f is read and written, and loops begin, an eighth as often
        x0, x1, x2, x3 = values[i], values[i + 1], values[i + 2], values[i + 3]
        x4, x5, x6, x7 = values[i + 4], values[i + 5], values[i + 6], values[i + 7]
        j0, j1, j2, j3 = (
            np.uintp(indices[i]),
            np.uintp(indices[i + 1]),
            np.uintp(indices[i + 2]),
            np.uintp(indices[i + 3]),
        )
        j4, j5, j6, j7 = (
            np.uintp(indices[i + 4]),
            np.uintp(indices[i + 5]),
            np.uintp(indices[i + 6]),
            np.uintp(indices[i + 7]),
        )
        for k in range(size):
            first = (x0 * rows[j0, k] + x1 * rows[j1, k]) + (x2 * rows[j2, k] + x3 * rows[j3, k])
            f[k] += first + ((x4 * rows[j4, k] + x5 * rows[j5, k]) + (x6 * rows[j6, k] + x7 * rows[j7, k]))
    for i in range(eights, end):
        x, j = values[i], np.uintp(indices[i])
        for k in range(size):
            f[k] += x * rows[j, k]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _put_back(start, end, indices, values, step, raw):
    """Add x step to ``raw`` (D, K) for every word of a document; four words at once, one after the other where they are the same."""
    size = len(step)
    fours = start + (end - start) // 4 * 4
    for i in range(start, fours, 4):
        x0, x1, x2, x3 = values[i], values[i + 1], values[i + 2], values[i + 3]
        j0, j1, j2, j3 = (
            np.uintp(indices[i]),
            np.uintp(indices[i + 1]),
            np.uintp(indices[i + 2]),
            np.uintp(indices[i + 3]),
        )
        for k in range(size):
            s = step[k]
            raw[j0, k] += x0 * s
            raw[j1, k] += x1 * s
            raw[j2, k] += x2 * s
            raw[j3, k] += x3 * s
    for i in range(fours, end):
        x, j = values[i], np.uintp(indices[i])
        for k in range(size):
            raw[j, k] += x * step[k]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _topics(size, fixed, cross, odds, z, room, bits):
    """q(z) of ``size`` documents side by side, topic after topic from ``fixed`` on; z (K, STRIDE) in place.

    ``odds`` (K, STRIDE) are the log odds with all other topics left out; ``room`` (6, LANES), of which ``bits`` (LANES,) are the third as int64. Returns the entropy of q and
    the largest change.
    """
    K = len(z)
    v, e, power, share, product, change = room
    entropy, largest = 0.0, 0.0
    for b in range(size):
        product[b], change[b] = 1.0, 0.0
    for k in range(fixed, K):
        for b in range(size):
            v[b] = odds[k, b]
        take_away(size, cross[k], z, v)
        shares_of(size, v, e, power, bits, share)
        for b in range(size):
            x, y, new = abs(v[b]), e[b], share[b]
            entropy += x * (new if v[b] < 0.0 else y * new)
            product[b] *= 1.0 + y
            change[b] = max(change[b], abs(new - z[k, b]))
            z[k, b] = new
        if (k + 1) % MOST_FACTORS == 0:
            entropy += _take_log(size, product)
    for b in range(size):
        largest = max(largest, change[b])
    return entropy + _take_log(size, product), largest


@njit(nogil=True, cache=True, fastmath=False, error_model="numpy")
def _take_log(size, product):
    """Sum of the logarithms; the numbers become 1."""
    total = 0.0
    for b in range(size):
        total += math.log(product[b])
        product[b] = 1.0
    return total


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def _sums(size, z, old, y, cover, gram, total, ny, cover_nu, spread):
    """Add what documents side by side change in the sums of their group; z, old (K, STRIDE), y (LANES,), cover (P, LANES)."""
    for k in range(len(z)):
        change, weighed, spare = 0.0, 0.0, 0.0
        for b in range(size):
            step = z[k, b] - old[k, b]
            change += step
            weighed += y[b] * step
            spare += step * (1.0 - z[k, b] - old[k, b])
        total[k] += change
        ny[k] += weighed
        spread[k] += spare
        for p in range(len(cover)):
            found = 0.0
            for b in range(size):
                found += cover[p, b] * (z[k, b] - old[k, b])
            cover_nu[p, k] += found
        for other in range(k + 1):
            found = 0.0
            for b in range(size):
                found += z[k, b] * z[other, b] - old[k, b] * old[other, b]
            gram[k, other] += found
            if other < k:
                gram[other, k] += found


@njit(nogil=True, cache=True, error_model="numpy")
def documents(
    lo, hi, update, fixed, indptr, indices, values, rows, base, cross, pull, cover, cover_pull, group, y, nu,
    raw, gram, total, ny, cover_nu, spread, tally,
):  # fmt: skip
    """Documents lo..hi-1: q(z) topic after topic (when ``update``), and the sums that the other factors need.

    An update adds to the sums what it changes in them, so that they are always those of all documents; without one the
    documents are added.

    Parameters
    ----------
    fixed : so many topics at the front stay as they are (a background topic: nu = 1).
    base (L, K), cross (L, K, K) without diagonal, pull (L, K), cover_pull (L, P, K) : the log odds of z_nk are
        base + words + y pull - cover . cover_pull - cross nu.
    cover (N, P), group (N,), y (N,) : covariates, group and outcome of each document.
    nu (N, K) : E[z], changed in place.
    raw (D, K), gram (L, K, K), total, ny, spread (L, K), cover_nu (L, P, K) : sums of x nu, nu nu', nu, y nu,
        nu (1 - nu) and u nu.
    tally (2,) : entropy of q(z), of these documents added to; largest change of a nu.
    """
    K, P = nu.shape[1], cover.shape[1]
    f, step, pick = np.empty(K), np.empty(K), np.empty(LANES, np.int64)
    z, old, odds = np.zeros((K, STRIDE)), np.zeros((K, STRIDE)), np.zeros((K, STRIDE))
    side_y, side_cover, room = np.zeros(LANES), np.zeros((P, LANES)), np.zeros((6, LANES))
    bits = room[2].view(np.int64)
    for g in range(len(base)):
        size = 0
        for n in range(lo, hi + 1):
            if n < hi and group[n] == g:
                pick[size] = n
                size += 1
            if size == 0 or (n < hi and size < LANES):
                continue
            for b in range(size):
                m = pick[b]
                side_y[b] = y[m]
                for p in range(P):
                    side_cover[p, b] = cover[m, p]
                for k in range(K):
                    z[k, b] = nu[m, k]
                if update:
                    start, end = indptr[m], indptr[m + 1]
                    _odds(
                        start, end, indices, values, rows, base[g], y[m], pull[g], cover[m], cover_pull[g], f
                    )
                    for k in range(K):
                        odds[k, b], old[k, b] = f[k], z[k, b]
            if update:
                entropy, change = _topics(size, fixed, cross[g], odds, z, room, bits)
                tally[0] += entropy
                tally[1] = max(tally[1], change)
            for b in range(size):
                m = pick[b]
                for k in range(K):
                    if not update:
                        tally[0] += bernoulli_entropy(z[k, b])
                    nu[m, k], step[k] = z[k, b], z[k, b] - old[k, b]
                _put_back(indptr[m], indptr[m + 1], indices, values, step, raw)
            _sums(size, z, old, side_y, side_cover, gram[g], total[g], ny[g], cover_nu[g], spread[g])
            size = 0
