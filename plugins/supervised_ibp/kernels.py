"""Passes over documents and words; symbols as in NOTES.md.

The word counts are CSR (``indptr``, ``indices``, ``values``), never dense. ``rows`` (D, K) holds phi / (sd s2x), so that a
document's pull towards the topics is the sum over its words. Everything that belongs to a group of documents has the
group as first axis (L groups, one when there are none).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

FAST = {"reassoc", "contract", "nsz"}


@njit(nogil=True, cache=True, fastmath=FAST)
def share_and_entropy(v):
    """1 / (1 + exp(-v)) without overflow, and the entropy of that Bernoulli variable."""
    e = math.exp(-abs(v))
    small = e / (1.0 + e)
    entropy = math.log1p(e) + abs(v) * small
    return (small if v < 0 else 1.0 / (1.0 + e)), entropy


@njit(nogil=True, cache=True, fastmath=FAST)
def bernoulli_entropy(p):
    """-p log p - (1 - p) log(1 - p), 0 at both ends."""
    out = 0.0
    if p > 0.0:
        out -= p * math.log(p)
    if p < 1.0:
        out -= (1.0 - p) * math.log1p(-p)
    return out


@njit(nogil=True, cache=True, fastmath=FAST)
def _odds(start, end, indices, values, rows, base, y, pull, cover, cover_pull, f):
    """Log odds of a document's topics, its other topics left out, into f (K,)."""
    for k in range(len(f)):
        f[k] = base[k] + y * pull[k]
    for p in range(len(cover)):
        u = cover[p]
        for k in range(len(f)):
            f[k] -= u * cover_pull[p, k]
    for i in range(start, end):
        x, j = values[i], indices[i]
        for k in range(len(f)):
            f[k] += x * rows[j, k]


@njit(nogil=True, cache=True, fastmath=FAST)
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
    f, z, old, step = np.empty(K), np.empty(K), np.zeros(K), np.empty(K)
    entropy, change = 0.0, tally[1]
    for n in range(lo, hi):
        g = group[n]
        start, end = indptr[n], indptr[n + 1]
        for k in range(K):
            z[k] = nu[n, k]
        if update:
            for k in range(K):
                old[k] = z[k]
            _odds(start, end, indices, values, rows, base[g], y[n], pull[g], cover[n], cover_pull[g], f)
            for k in range(fixed, K):
                v = f[k]
                for other in range(K):
                    v -= cross[g, k, other] * z[other]
                share, part = share_and_entropy(v)
                entropy += part
                change = max(change, abs(share - z[k]))
                z[k] = share
                nu[n, k] = share
        else:
            for k in range(K):
                entropy += bernoulli_entropy(z[k])
        for k in range(K):
            step[k] = z[k] - old[k]
        for i in range(start, end):
            x, j = values[i], indices[i]
            for k in range(K):
                raw[j, k] += x * step[k]
        for k in range(K):
            total[g, k] += step[k]
            ny[g, k] += y[n] * step[k]
            spread[g, k] += step[k] * (1.0 - z[k] - old[k])
            for other in range(K):
                gram[g, k, other] += z[k] * z[other] - old[k] * old[other]
        for p in range(P):
            u = cover[n, p]
            for k in range(K):
                cover_nu[g, p, k] += u * step[k]
    tally[0] += entropy
    tally[1] = change


@njit(nogil=True, cache=True, fastmath=FAST)
def words(lo, hi, raw, total, mean, scale, lower, upper, noise, phi, rows, offset, outer, tally):
    """Topic weights of words lo..hi-1: (M + r I) phi_j = h_j by the Cholesky factor ``lower`` (``upper`` its transpose).

    phi, rows (D, K) are set; offset (K,), outer (K, K) = phi' phi and tally[0] = <H, phi> are added to.
    """
    K = len(total)
    h, x = np.empty(K), np.empty(K)
    fit = 0.0
    for j in range(lo, hi):
        for k in range(K):
            h[k] = (raw[j, k] - mean[j] * total[k]) / scale[j]
            x[k] = h[k]
        for k in range(K):
            x[k] /= lower[k, k]
            value = x[k]
            for other in range(k + 1, K):
                x[other] -= upper[k, other] * value
        for k in range(K - 1, -1, -1):
            x[k] /= lower[k, k]
            value = x[k]
            for other in range(k):
                x[other] -= lower[k, other] * value
        for k in range(K):
            value = x[k]
            fit += h[k] * value
            phi[j, k] = value
            rows[j, k] = value / (scale[j] * noise)
            offset[k] += mean[j] * rows[j, k]
            for other in range(K):
                outer[k, other] += value * x[other]
    tally[0] += fit


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
def column_sums(indices, values, mean, count, total, square):
    """Per column: number of entries, sum, and sum of (value - mean)^2 over the entries; added to."""
    for i in range(len(indices)):
        j, x = indices[i], values[i]
        count[j] += 1
        total[j] += x
        square[j] += (x - mean[j]) ** 2
