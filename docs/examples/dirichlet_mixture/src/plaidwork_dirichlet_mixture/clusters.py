"""What is known of each cluster given its members: means, scatter and what follows from them.

The parameters of a cluster are integrated out, so all that counts are the numbers of the posterior law of mean and
covariance: ``kappa``, ``mean`` and the scatter ``Psi``. Items enter and leave one at a time by rank-one updates.

Two forms share every kernel and every signature:

full      ``Sigma ~ IW(d + 1 + w, w s I)``, ``mu | Sigma ~ N(0, Sigma / kappa)``; ``factor[k]`` is the upper triangle
          ``U`` with ``U' U = Psi``: (d, d)
diagonal  the same for each column by itself, ``sigma2 ~ IG(1 + w/2, w s/2)``; ``factor[k, 0]`` holds ``Psi`` of each
          column: (1, d). Missing cells are left out, which integrates them out.

In both a variance has the prior mean ``s`` with the weight ``w``, and one column gives one and the same law.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

LEAST_PIVOT = 1e-8
"""A removal that leaves less than this share of a square is not trusted: the cluster is added up anew."""


class Items(NamedTuple):
    """The data as the kernels take them; the values are standardised row by row when they are used."""

    x: np.ndarray
    """(n, d) values in their own unit, read-only"""
    known: np.ndarray
    """(n, d) bool, read-only"""
    centre: np.ndarray
    """(d,) taken off every row"""
    scale: np.ndarray
    """(d,) then divided by, > 0"""


class Law(NamedTuple):
    """The numbers of the conditionals, in standardised units."""

    full: bool
    alpha: float
    kappa: float
    weight: float
    scatter: float
    """``w s``, the prior scatter of a column"""
    table: np.ndarray
    """(n + 1,) terms of the predictive density that depend on the number of members only"""


class Clusters(NamedTuple):
    """Slots for clusters; a slot of size 0 is free."""

    size: np.ndarray
    """(slots,) int64 members"""
    seen: np.ndarray
    """(slots, d) int64 known cells of the members; of use to the diagonal form"""
    mean: np.ndarray
    """(slots, d) posterior means"""
    factor: np.ndarray
    """(slots, d or 1, d) scatter, see above"""
    logs: np.ndarray
    """(slots, d) half the logarithms of the squared pivots, or of the scatters"""
    drawn: np.ndarray
    """(slots, d) a draw of each mean at the end of a sweep"""


def empty_clusters(slots: int, d: int, full: bool) -> dict[str, np.ndarray]:
    """Free slots by field name, as they are kept in the state."""
    return {
        "size": np.zeros(slots, np.int64),
        "seen": np.zeros((slots, d), np.int64),
        "mean": np.zeros((slots, d)),
        "factor": np.zeros((slots, d if full else 1, d)),
        "logs": np.zeros((slots, d)),
        "drawn": np.zeros((slots, d)),
    }


def grown(clusters: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same clusters with twice the slots."""
    return {name: np.concatenate([array, np.zeros_like(array)]) for name, array in clusters.items()}


@njit(cache=True, nogil=True)
def predictive_table(n: int, d: int, full: bool, kappa: float, weight: float) -> np.ndarray:
    """``log Gamma((v + p)/2) - log Gamma(v/2) - p/2 log(pi (k + 1)/k)`` by members, with ``v = w + 2 + m``."""
    p = d if full else 1
    table = np.empty(n + 1)
    for m in range(n + 1):
        v, k = weight + 2.0 + m, kappa + m
        table[m] = math.lgamma(0.5 * (v + p)) - math.lgamma(0.5 * v)
        table[m] -= 0.5 * p * (math.log(math.pi) + math.log1p(1.0 / k))
    return table


@njit(cache=True, nogil=True)
def standardise(items: Items, i: int, y: np.ndarray) -> None:
    """Row ``i`` in standardised units, into ``y``."""
    for j in range(y.size):
        y[j] = (items.x[i, j] - items.centre[j]) / items.scale[j]


@njit(cache=True, nogil=True)
def reset(c: Clusters, k: int, law: Law) -> None:
    """Make slot ``k`` an empty cluster: the prior."""
    c.size[k] = 0
    half = 0.5 * math.log(law.scatter)
    for j in range(c.mean.shape[1]):
        c.seen[k, j] = 0
        c.mean[k, j] = 0.0
        c.logs[k, j] = half
        if law.full:
            for i in range(c.mean.shape[1]):
                c.factor[k, j, i] = 0.0
            c.factor[k, j, j] = math.sqrt(law.scatter)
        else:
            c.factor[k, 0, j] = law.scatter


@njit(cache=True, nogil=True)
def turn(u: np.ndarray, logs: np.ndarray, v: np.ndarray, sign: float) -> bool:
    """``U' U + sign v v'`` in place, ``v`` is used up; False when a removal cannot be trusted. O(d^2)."""
    d = v.size
    for j in range(d):
        old = u[j, j]
        square = old * old + sign * v[j] * v[j]
        if square < LEAST_PIVOT * old * old:
            return False
        new = math.sqrt(square)
        cos, sin = new / old, v[j] / old
        u[j, j] = new
        logs[j] = math.log(new)
        for i in range(j + 1, d):
            u[j, i] = (u[j, i] + sign * sin * v[i]) / cos
            v[i] = cos * v[i] - sin * u[j, i]
    return True


@njit(cache=True, nogil=True)
def add(c: Clusters, k: int, y: np.ndarray, known: np.ndarray, law: Law, work: np.ndarray) -> None:
    """Put a standardised row into cluster ``k``; ``work`` (d,) is overwritten."""
    if law.full:
        kappa = law.kappa + c.size[k]
        root = math.sqrt(kappa / (kappa + 1.0))
        for j in range(y.size):
            delta = y[j] - c.mean[k, j]
            work[j] = root * delta
            c.mean[k, j] += delta / (kappa + 1.0)
        turn(c.factor[k], c.logs[k], work, 1.0)
    else:
        for j in range(y.size):
            if known[j]:
                kappa = law.kappa + c.seen[k, j]
                delta = y[j] - c.mean[k, j]
                c.factor[k, 0, j] += kappa / (kappa + 1.0) * delta * delta
                c.logs[k, j] = 0.5 * math.log(c.factor[k, 0, j])
                c.mean[k, j] += delta / (kappa + 1.0)
                c.seen[k, j] += 1
    c.size[k] += 1


@njit(cache=True, nogil=True)
def remove(c: Clusters, k: int, y: np.ndarray, known: np.ndarray, law: Law, work: np.ndarray) -> bool:
    """Take a standardised row out of cluster ``k``; False when rounding spoils it and it must be added up anew."""
    if c.size[k] == 1:
        reset(c, k, law)
        return True
    sound = True
    if law.full:
        kappa = law.kappa + c.size[k]
        root = math.sqrt(kappa / (kappa - 1.0))
        for j in range(y.size):
            delta = y[j] - c.mean[k, j]
            work[j] = root * delta
            c.mean[k, j] -= delta / (kappa - 1.0)
        sound = turn(c.factor[k], c.logs[k], work, -1.0)
    else:
        for j in range(y.size):
            if not known[j]:
                continue
            kappa = law.kappa + c.seen[k, j]
            delta = y[j] - c.mean[k, j]
            c.seen[k, j] -= 1
            if c.seen[k, j] == 0:
                c.mean[k, j], c.factor[k, 0, j] = 0.0, law.scatter
            else:
                old = c.factor[k, 0, j]
                c.factor[k, 0, j] -= kappa / (kappa - 1.0) * delta * delta
                c.mean[k, j] -= delta / (kappa - 1.0)
                if c.factor[k, 0, j] < LEAST_PIVOT * old:
                    sound = False
                    continue
            c.logs[k, j] = 0.5 * math.log(c.factor[k, 0, j])
    c.size[k] -= 1
    return sound


@njit(cache=True, nogil=True)
def log_predictive(
    c: Clusters, k: int, y: np.ndarray, known: np.ndarray, law: Law, work: np.ndarray
) -> float:
    """Log density of a standardised row given the members of cluster ``k``: a Student law. O(d^2) or O(d)."""
    d = y.size
    total: float = law.table[c.size[k]] if law.full else 0.0
    if law.full:
        quad = 0.0
        u = c.factor[k]
        for j in range(d):
            work[j] = y[j] - c.mean[k, j]
        for j in range(d):
            w = work[j] / u[j, j]
            quad += w * w
            total -= c.logs[k, j]
            for i in range(j + 1, d):
                work[i] -= w * u[j, i]
        kappa = law.kappa + c.size[k]
        power: float = 0.5 * (law.weight + 2.0 + c.size[k] + d)
        return total - power * math.log1p(kappa / (kappa + 1.0) * quad)
    for j in range(d):
        if known[j]:
            m = c.seen[k, j]
            kappa = law.kappa + m
            delta = y[j] - c.mean[k, j]
            quad = kappa / (kappa + 1.0) * delta * delta / c.factor[k, 0, j]
            total += law.table[m] - c.logs[k, j] - 0.5 * (law.weight + 3.0 + m) * math.log1p(quad)
    return total


@njit(cache=True, nogil=True)
def log_marginal(c: Clusters, k: int, law: Law) -> float:
    """Log density of all members of cluster ``k``, mean and covariance integrated out; standardised units."""
    d = c.mean.shape[1]
    total: float = 0.0
    if law.full:
        m, before = c.size[k], law.weight + d + 1.0
        for j in range(d):
            total += math.lgamma(0.5 * (before + m - j)) - math.lgamma(0.5 * (before - j))
            total -= (before + m) * c.logs[k, j]
        total += 0.5 * before * d * math.log(law.scatter)
        total += 0.5 * d * (math.log(law.kappa / (law.kappa + m)) - m * math.log(math.pi))
        return total
    before = law.weight + 2.0
    for j in range(d):
        m = c.seen[k, j]
        total += math.lgamma(0.5 * (before + m)) - math.lgamma(0.5 * before)
        total += 0.5 * before * math.log(law.scatter) - (before + m) * c.logs[k, j]
        total += 0.5 * (math.log(law.kappa / (law.kappa + m)) - m * math.log(math.pi))
    return total


@njit(cache=True, nogil=True)
def draw_mean(rng: np.random.Generator, c: Clusters, k: int, law: Law, out: np.ndarray) -> None:
    """A draw of the mean of cluster ``k`` given its members, covariance integrated out; into ``out`` (d,)."""
    d = out.size
    if law.full:
        m = c.size[k]
        spread = 1.0 / math.sqrt((law.kappa + m) * 2.0 * rng.standard_gamma(0.5 * (law.weight + 2.0 + m)))
        for j in range(d):
            out[j] = c.mean[k, j]
        for j in range(d):
            e = spread * rng.standard_normal()
            for i in range(j, d):
                out[i] += e * c.factor[k, j, i]
        return
    for j in range(d):
        m = c.seen[k, j]
        spread = 1.0 / math.sqrt((law.kappa + m) * 2.0 * rng.standard_gamma(0.5 * (law.weight + 2.0 + m)))
        out[j] = c.mean[k, j] + spread * math.sqrt(c.factor[k, 0, j]) * rng.standard_normal()


@njit(cache=True, nogil=True)
def copy_cluster(source: Clusters, k: int, target: Clusters, to: int) -> None:
    """Slot ``k`` of one set of clusters into slot ``to`` of another (by loops: slices compile for seconds)."""
    target.size[to] = source.size[k]
    for j in range(source.mean.shape[1]):
        target.seen[to, j] = source.seen[k, j]
        target.mean[to, j] = source.mean[k, j]
        target.logs[to, j] = source.logs[k, j]
        for i in range(source.factor.shape[1]):
            target.factor[to, i, j] = source.factor[k, i, j]
