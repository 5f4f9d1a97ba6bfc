"""Sums over the samples of Gaussian views without gaps, where one number per feature and sample group says all of T.

Every sum is made of parts of at most ``SAMPLES`` samples (or of :data:`~plaidwork.plugins.group_factor.products.TILE`), added up in
their order: blocks of samples that begin at a multiple of it give the same sums as all samples at once, to the last bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from plaidwork.plugins.group_factor.kernels import square
from plaidwork.plugins.group_factor.products import FAST, TILE, add_all, dots_of_rows, quad

SAMPLES = 1024
"""Blocks of samples begin at a multiple of it: the stretch whose sums are in the type of the cells."""


@njit(nogil=True, cache=True, fastmath=FAST)
def _squared(y, x):
    total = 0.0
    for n in range(len(y)):
        total += square(float(y[n]) - float(x[n]))
    return total


@njit(nogil=True, cache=True)
def add_errors(lo, hi, first, y, group, z, w, out):
    """Add to ``out`` (G, D) the squares of y - <x> of features lo..hi-1; row d - first of ``y`` is feature d.

    ``z`` (…, N) is padded (``products.padded``), and its type is that of <x>.
    """
    rows, n = np.zeros((hi - lo, len(z)), z.dtype), z.shape[1]
    for r in range(hi - lo):
        for k in range(len(w)):
            rows[r, k] = w[k, lo + r]
    room = np.empty((4, TILE), z.dtype)
    for at in range(0, n, TILE):
        end = min(n, at + TILE)
        sums = room[:, : end - at]
        for r in range(0, hi - lo, 4):
            add_all(quad(rows, r, 0, len(z)), z, 0, at, sums)
            for i in range(min(4, hi - lo - r)):
                d = lo + r + i
                source = y[d - first, at:end]
                if len(out) == 1:
                    out[0, d] += _squared(source, sums[i])
                else:
                    for j in range(end - at):
                        out[group[at + j], d] += square(float(source[j]) - float(sums[i, j]))


@njit(nogil=True, cache=True)
def add_spread(lo, hi, second, variance, w, ww, out):
    """Add to ``out`` (G, D) the variance of <x> summed over samples, of features lo..hi-1; a sum of positive terms.

    ``second`` and ``variance`` are (G, K) sums of <z^2> and Var z over the samples of a group.
    """
    for d in range(lo, hi):
        for g in range(len(out)):
            total = 0.0
            for k in range(len(w)):
                mean = w[k, d] * w[k, d]
                total += max(ww[k, d] - mean, 0.0) * second[g, k] + mean * variance[g, k]
            out[g, d] += total


def by_group(z: np.ndarray, group: np.ndarray, n_groups: int, dtype: np.dtype) -> np.ndarray:
    """(G K, N) the rows of ``z`` (K, N) for each group, 0 for samples of others, in the type of the cells."""
    small = z.astype(dtype)
    if n_groups == 1:
        return small
    return np.concatenate([small * (group == g).astype(dtype) for g in range(n_groups)])


def add_products(y: np.ndarray, top: int, rows: np.ndarray, cross: np.ndarray) -> None:
    """Add to ``cross`` (K, G, d) the sums of y z by sample group, of rows top..top+d-1 of ``y``; ``rows`` as of :func:`by_group`."""
    k, g, d = cross.shape
    out = np.ascontiguousarray(cross.transpose(2, 1, 0)).reshape(d, g * k)
    dots_of_rows(y, top, rows, out)
    cross[:] = out.reshape(d, g, k).transpose(2, 1, 0)


@njit(nogil=True, cache=True)
def fill_centred_block(source, columns, known, group, shift, unit, left, out):
    """Into columns left..left+n-1 of ``out`` (d, N): chosen columns of ``source`` (n, m) less the mean of the sample's group, by ``unit`` (d,).

    ``shift`` is (G, d); cells that are not ``known`` (n, m) are 0, and a ``known`` without rows stands for all being so.
    """
    for lo in range(0, len(source), TILE):  # lines of the cache serve several columns
        for d in range(len(columns)):
            column = columns[d]
            for n in range(lo, min(len(source), lo + TILE)):
                value = (float(source[n, column]) - shift[group[n], d]) / unit[d]
                out[d, left + n] = value if len(known) == 0 or known[n, column] else 0.0


@njit(nogil=True, cache=True)
def add_moments(source, known, group, near, count, first, second, low, high):
    """Add to (G, m) count, sum and sum of squares of the known cells of ``source`` (n, m) less ``near`` (m,); their extremes.

    Sample after sample, so that it does not matter in which blocks they come. A ``known`` without rows: all are.
    """
    for n in range(len(source)):
        g = group[n]
        for d in range(source.shape[1]):
            if len(known) and not known[n, d]:
                continue
            value = float(source[n, d])
            rest = value - near[d]
            count[g, d] += 1.0
            first[g, d] += rest
            second[g, d] += square(rest)
            low[g, d] = min(low[g, d], value)
            high[g, d] = max(high[g, d], value)


def expected_squares(
    gram: np.ndarray, cross: np.ndarray, total: np.ndarray, w: np.ndarray, ww: np.ndarray
) -> np.ndarray:
    """(G, d) sums over samples of <(y - x)^2>, from the sums of products of the factor values (G, width), see ``products``, those of
    y <z> (K, G, d) and those of y^2 (G, d). Rounding apart, which leaves some 1e-7 of ``total``, it is never below 0."""
    k = len(w)
    out = total - 2 * np.einsum("kd,kgd->gd", w, cross)
    at = 0
    for a in range(1, k):
        out += 2 * np.einsum("gb,bd->gd", gram[:, at : at + a], w[:a]) * w[a]
        at += a
    out += np.einsum("gk,kd->gd", gram[:, at : at + k], ww)
    return np.asarray(np.maximum(out, 0.0))


def explained_by_level(
    cross: np.ndarray,
    total: np.ndarray,
    z: np.ndarray,
    w: np.ndarray,
    group: np.ndarray,
    off: float,
) -> np.ndarray:
    """(G, K + 3) squared errors as of ``local.deviances``, from the (K, G, d) products and the (G, d) sums of squares."""
    k, n_groups, _ = cross.shape
    out = np.zeros((n_groups, k + 3))
    used = np.where(np.abs(w) < off, 0.0, w)
    for g in range(n_groups):
        mine = z if n_groups == 1 else z[:, group == g]
        gram = np.einsum("an,bn->ab", mine, mine)
        whole = float(total[g].sum())
        linear = (used * cross[:, g]).sum(axis=1)
        out[g, :k] = whole - 2 * linear + (used**2).sum(axis=1) * np.diag(gram)
        square_ = np.einsum("ad,bd->ab", used, used)
        out[g, k] = whole - 2 * linear.sum() + float((square_ * gram).sum())
        out[g, k + 1 :] = whole
    return out
