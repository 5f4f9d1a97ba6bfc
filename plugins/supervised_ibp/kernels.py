"""The pass over words, and what else goes over documents; symbols as in NOTES.md.

The word counts are CSR (``indptr``, ``indices``, ``values``), never dense. ``rows`` (D, K) holds phi / (sd s2x), so that a
document's pull towards the topics is the sum over its words. Everything that belongs to a group of documents has the
group as first axis (L groups, one when there are none).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}
LANES = 64
"""Documents or words that lie side by side, so that what is done to each of their topics is one loop over an array."""


@njit(nogil=True, cache=True, fastmath=FAST)
def share_and_entropy(v):
    """1 / (1 + exp(-v)) without overflow, and the entropy of that Bernoulli variable."""
    e = math.exp(-abs(v))
    small = e / (1.0 + e)
    entropy = math.log1p(e) + abs(v) * small
    return (small if v < 0 else 1.0 / (1.0 + e)), entropy


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def bernoulli_entropy(p):
    """-p log p - (1 - p) log(1 - p), 0 at both ends."""
    out = 0.0
    if p > 0.0:
        out -= p * math.log(p)
    if p < 1.0:
        out -= (1.0 - p) * math.log1p(-p)
    return out


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def take_away(size, weights, z, v):
    """Subtract from the first ``size`` numbers of ``v`` those of the rows of ``z``, times their weights; four rows at once."""
    fours = len(weights) // 4 * 4
    for k in range(0, fours, 4):
        a, b, c, d = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
        z0, z1, z2, z3 = z[k], z[k + 1], z[k + 2], z[k + 3]
        for n in range(size):
            v[n] -= (a * z0[n] + b * z1[n]) + (c * z2[n] + d * z3[n])
    for k in range(fours, len(weights)):
        a, z0 = weights[k], z[k]
        for n in range(size):
            v[n] -= a * z0[n]


@njit(nogil=True, cache=True, fastmath=FAST)
def _scaled(size, factor, v):
    for n in range(size):
        v[n] *= factor


@njit(nogil=True, cache=True, fastmath=FAST)
def _product(size, a, b):
    total = 0.0
    for n in range(size):
        total += a[n] * b[n]
    return total


@njit(nogil=True, cache=True, fastmath=FAST)
def words(lo, hi, raw, total, mean, scale, lower, upper, noise, phi, rows, offset, outer, tally):
    """Topic weights of words lo..hi-1: (M + r I) phi_j = h_j by the Cholesky factor ``lower`` (``upper`` its transpose).

    phi, rows (D, K) are set; offset (K,), outer (K, K) = phi' phi and tally[0] = <H, phi> are added to. ``LANES`` words lie
    side by side.
    """
    K = len(total)
    h, x = np.empty((K, LANES)), np.empty((K, LANES))
    by_scale, by_noise = np.empty(LANES), 1.0 / noise
    for at in range(lo, hi, LANES):
        size = min(LANES, hi - at)
        for b in range(size):
            by_scale[b] = 1.0 / scale[at + b]
            for k in range(K):
                h[k, b] = x[k, b] = (raw[at + b, k] - mean[at + b] * total[k]) / scale[at + b]
        for k in range(K):
            take_away(size, lower[k, :k], x, x[k])
            _scaled(size, 1.0 / lower[k, k], x[k])
        for k in range(K - 1, -1, -1):
            take_away(size, upper[k, k + 1 :], x[k + 1 :], x[k])
            _scaled(size, 1.0 / lower[k, k], x[k])
        for k in range(K):
            tally[0] += _product(size, h[k], x[k])
            offset[k] += by_noise * _weighed(size, mean[at : at + size], by_scale, x[k])
            for other in range(k + 1):
                found = _product(size, x[k], x[other])
                outer[k, other] += found
                if other < k:
                    outer[other, k] += found
        for b in range(size):
            for k in range(K):
                phi[at + b, k] = x[k, b]
                rows[at + b, k] = x[k, b] * by_scale[b] * by_noise


@njit(nogil=True, cache=True, fastmath=FAST)
def _weighed(size, a, b, c):
    total = 0.0
    for n in range(size):
        total += a[n] * b[n] * c[n]
    return total


@njit(nogil=True, cache=True)
def residual_square(y, cover, nu, group, cover_coef, coef):
    """|y - E[w] m|^2; ``cover_coef`` (P,), ``coef`` (L, K)."""
    out = 0.0
    for n in range(len(y)):
        g = group[n]
        left = y[n]
        for p in range(cover.shape[1]):
            left -= cover[n, p] * cover_coef[p]
        for k in range(nu.shape[1]):
            left -= nu[n, k] * coef[g, k]
        out += left * left
    return out


@njit(nogil=True, cache=True)
def pulls(lo, hi, indptr, indices, values, rows, base, out):
    """base + sum of the words' ``rows`` for documents lo..hi-1, into ``out`` (hi - lo, K)."""
    for n in range(lo, hi):
        for k in range(len(base)):
            out[n - lo, k] = base[k]
        for i in range(indptr[n], indptr[n + 1]):
            x, j = values[i], indices[i]
            for k in range(len(base)):
                out[n - lo, k] += x * rows[j, k]


@njit(nogil=True, cache=True)
def exact_shares(theta, cross, nu, evidence):
    """E[z] under q(z) prop. to exp(theta z - z' cross z / 2), by all 2^K states in the order of the Gray code.

    theta (N, K); cross (K, K) without diagonal; nu (N, K) is set, evidence (N,) is the log of the sum.
    """
    N, K = theta.shape
    z, slope, sums = np.empty(K), np.empty(K), np.empty(K)
    for n in range(N):
        for k in range(K):
            z[k], sums[k], slope[k] = 0.0, 0.0, theta[n, k]
        energy, top, mass = 0.0, 0.0, 1.0
        for code in range(1, 1 << K):
            flip, bits = 0, code
            while bits & 1 == 0:
                bits >>= 1
                flip += 1
            sign = 1.0 - 2.0 * z[flip]
            energy += sign * slope[flip]
            z[flip] += sign
            for k in range(K):
                slope[k] -= sign * cross[flip, k]
            if energy > top:
                shrink = math.exp(top - energy)
                mass *= shrink
                for k in range(K):
                    sums[k] *= shrink
                top = energy
            weight = math.exp(energy - top)
            mass += weight
            for k in range(K):
                sums[k] += weight * z[k]
        for k in range(K):
            nu[n, k] = min(1.0, sums[k] / mass)
        evidence[n] = top + math.log(mass)


@njit(nogil=True, cache=True)
def mean_field_shares(theta, cross, starts, sweeps, tolerance, nu, evidence):
    """The same by coordinate ascent from every start, the best bound of each document kept.

    starts (R, N, K); nu (N, K) is set; evidence (N,) is the bound theta nu - nu' cross nu / 2 + H(nu).
    """
    R, N, K = starts.shape
    z = np.empty(K)
    for n in range(N):
        best = -np.inf
        for r in range(R):
            for k in range(K):
                z[k] = starts[r, n, k]
            for _ in range(sweeps):
                change = 0.0
                for k in range(K):
                    v = theta[n, k]
                    for other in range(K):
                        v -= cross[k, other] * z[other]
                    share, _entropy = share_and_entropy(v)
                    change = max(change, abs(share - z[k]))
                    z[k] = share
                if change < tolerance:
                    break
            bound = 0.0
            for k in range(K):
                bound += theta[n, k] * z[k] + bernoulli_entropy(z[k])
                for other in range(K):
                    bound -= 0.5 * cross[k, other] * z[k] * z[other]
            if bound > best:
                best = bound
                for k in range(K):
                    nu[n, k] = z[k]
        evidence[n] = best


@njit(nogil=True, cache=True)
def row_hashes(indptr, indices, bits):
    """(N,) uint64 hash of every row; ``bits`` are the values as uint64."""
    out = np.empty(len(indptr) - 1, np.uint64)
    prime = np.uint64(0x9E3779B97F4A7C15)
    shift = np.uint64(29)
    for n in range(len(out)):
        found = np.uint64(0x243F6A8885A308D3)
        for i in range(indptr[n], indptr[n + 1]):
            found = (found ^ np.uint64(indices[i])) * prime
            found = (found ^ (found >> shift) ^ bits[i]) * prime
        out[n] = found ^ (found >> shift)
    return out


@njit(nogil=True, cache=True)
def presence(indptr, indices, y, count, sums):
    """Per column: in how many rows it has an entry, and the sum of their ``y`` (N,); added to."""
    for n in range(len(indptr) - 1):
        for i in range(indptr[n], indptr[n + 1]):
            count[indices[i]] += 1
            sums[indices[i]] += y[n]


@njit(nogil=True, cache=True)
def column_sums(indices, values, mean, count, total, square):
    """Per column: number of entries, sum, and sum of (value - mean)^2 over the entries; added to."""
    for i in range(len(indices)):
        j, x = indices[i], values[i]
        count[j] += 1
        total[j] += x
        square[j] += (x - mean[j]) ** 2
