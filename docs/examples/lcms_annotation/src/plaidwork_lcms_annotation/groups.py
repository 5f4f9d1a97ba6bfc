"""Kernels: clusters of peaks, kept as linked lists with the sums that their densities need."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from plaidwork_lcms_annotation.patterns import Floats, Ints
from plaidwork_lcms_annotation.peaks import Candidates, Theory

LOG_2PI = math.log(2.0 * math.pi)
HIGH, ASSIGNED, CLUSTERS, MOVED, TRIED, CHANGED, FREE = range(7)
"""Places of the counters: slots in use so far, peaks that are not background, clusters, peaks that moved in this sweep, block
moves made, those that changed something, top of the stack of free slots."""
N_COUNTERS = 7


class Work(NamedTuple):
    """Clusters of one chain: K slots, N peaks, R replicates, A adducts."""

    cluster: Ints
    """(N,) slot of each peak, -1 for background."""
    choice: Ints
    """(N,) its candidate, -1 for background."""
    size: Ints
    """(K,) 0 for a free slot."""
    formula: Ints
    """(K,)"""
    head: Ints
    """(K,) the first of its peaks."""
    after: Ints
    """(N,) the next peak of the same cluster, or -1."""
    before: Ints
    """(N,)"""
    first: Ints
    """(F,) the first cluster of each formula."""
    following: Ints
    """(K,) the next cluster of the same formula, or -1."""
    preceding: Ints
    """(K,)"""
    free: Ints
    """(K,) stack of free slots."""
    times: Floats
    """(K, R, 2) number and sum of the times, from the middle of the run."""
    heights: Floats
    """(K, A, R, 2) number and sum of log intensities less log beta, from their prior mean."""
    mass: Floats
    """(C,) log density of the error of mass of each candidate."""
    back: Floats
    """(N,) log density of each peak as background."""
    list: Ints
    """(N,) peaks that are not background, where block moves choose; members of a cluster."""
    picks: Ints
    """(3, N) candidates of a group of peaks: tried, best of a formula, best of all."""
    at: Ints
    """Counters."""


class Law(NamedTuple):
    """Numbers of the densities."""

    eps: float
    alpha: float
    time_prior: float
    """Variance of a cluster's time, s2."""
    time_noise: float
    height_prior: float
    height_noise: float


class Seen(NamedTuple):
    """The peaks from the middle of the run and the mean of the log intensities: (N, R) each."""

    time: Floats
    height: Floats
    seen: NDArray[np.bool_]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def log_normal(x: float, variance: float) -> float:
    """Log density of N(0, variance)."""
    return -0.5 * (x * x / variance + math.log(variance) + LOG_2PI)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def log_group(count: float, total: float, squares: float, prior: float, noise: float) -> float:
    """Log density of ``count`` values of sum ``total`` and sum of squares ``squares``, their mean N(0, prior) integrated out."""
    if count == 0.0:
        return 0.0
    spread = noise + count * prior
    fit = squares / noise - prior * total * total / (noise * spread)
    return -0.5 * (fit + (count - 1.0) * math.log(noise) + math.log(spread) + count * LOG_2PI)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def open_cluster(w: Work, f: int) -> int:
    """A free slot, now of formula f, without peaks."""
    if w.at[FREE] > 0:
        w.at[FREE] -= 1
        k = w.free[w.at[FREE]]
    else:
        k = w.at[HIGH]
        w.at[HIGH] += 1
    w.at[CLUSTERS] += 1
    w.size[k] = 0
    w.head[k] = -1
    for r in range(w.times.shape[1]):
        w.times[k, r, 0] = w.times[k, r, 1] = 0.0
    clear_heights(w, k)
    name_cluster(w, k, f)
    return int(k)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def name_cluster(w: Work, k: int, f: int) -> None:
    """Put a cluster that is in no list in that of formula f."""
    w.formula[k] = f
    w.preceding[k] = -1
    w.following[k] = w.first[f]
    if w.first[f] >= 0:
        w.preceding[w.first[f]] = k
    w.first[f] = k


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def unname_cluster(w: Work, k: int) -> None:
    """Take a cluster out of the list of its formula."""
    one, two = w.preceding[k], w.following[k]
    if one >= 0:
        w.following[one] = two
    else:
        w.first[w.formula[k]] = two
    if two >= 0:
        w.preceding[two] = one


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def clear_heights(w: Work, k: int) -> None:
    """Cluster k has no log intensities. A loop: numba makes an array of each slice that is set."""
    for a in range(w.heights.shape[1]):
        for r in range(w.heights.shape[2]):
            w.heights[k, a, r, 0] = w.heights[k, a, r, 1] = 0.0


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def count_heights(
    w: Work, seen: Seen, near: Candidates, theory: Theory, n: int, k: int, c: int, sign: float
) -> None:
    """Put the log intensities of peak n as candidate c into the sums of cluster k, or take them out by a sign of -1."""
    a, beta = near.adduct[c], theory.log_beta[near.position[c]]
    for r in range(seen.time.shape[1]):
        if seen.seen[n, r]:
            w.heights[k, a, r, 0] += sign
            w.heights[k, a, r, 1] += sign * (seen.height[n, r] - beta)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def count_times(w: Work, seen: Seen, n: int, k: int, sign: float) -> None:
    """The same with its times."""
    for r in range(seen.time.shape[1]):
        if seen.seen[n, r]:
            w.times[k, r, 0] += sign
            w.times[k, r, 1] += sign * seen.time[n, r]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def add_peak(w: Work, seen: Seen, near: Candidates, theory: Theory, n: int, k: int, c: int) -> None:
    """Peak n joins cluster k as candidate c."""
    count_times(w, seen, n, k, 1.0)
    count_heights(w, seen, near, theory, n, k, c, 1.0)
    w.cluster[n], w.choice[n] = k, c
    w.before[n] = -1
    w.after[n] = w.head[k]
    if w.head[k] >= 0:
        w.before[w.head[k]] = n
    w.head[k] = n
    w.size[k] += 1
    w.at[ASSIGNED] += 1


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def take_peak(w: Work, seen: Seen, near: Candidates, theory: Theory, n: int) -> None:
    """Peak n leaves its cluster, which goes when it was the last."""
    k, c = w.cluster[n], w.choice[n]
    count_times(w, seen, n, k, -1.0)
    count_heights(w, seen, near, theory, n, k, c, -1.0)
    one, two = w.before[n], w.after[n]
    if one >= 0:
        w.after[one] = two
    else:
        w.head[k] = two
    if two >= 0:
        w.before[two] = one
    w.cluster[n] = w.choice[n] = -1
    w.size[k] -= 1
    w.at[ASSIGNED] -= 1
    if w.size[k] == 0:
        unname_cluster(w, k)
        w.free[w.at[FREE]] = k
        w.at[FREE] += 1
        w.at[CLUSTERS] -= 1


@njit(nogil=True, cache=True, error_model="numpy")
def log_errors(
    off: Floats, seen: NDArray[np.bool_], first: Ints, mass: Floats, sd: float, bias: float, window: float
) -> None:
    """Log densities of the errors of mass: N(bias, sd2) cut off at the window, in place (C,)."""
    root = math.sqrt(2.0)
    inside = 0.5 * (math.erf((window - bias) / (sd * root)) - math.erf((-window - bias) / (sd * root)))
    constant = -math.log(max(inside, 1e-300)) - math.log(sd) - 0.5 * LOG_2PI
    for n in range(len(first) - 1):
        for c in range(first[n], first[n + 1]):
            total = 0.0
            for r in range(seen.shape[1]):
                if seen[n, r]:
                    z = (off[c, r] - bias) / sd
                    total += constant - 0.5 * z * z
            mass[c] = total


@njit(nogil=True, cache=True, error_model="numpy")
def log_background(seen: Seen, flat: Floats, law: Law, back: Floats) -> None:
    """Log densities of the peaks as background, in place (N,); ``flat`` is that of mass and time."""
    spread = law.height_prior + law.height_noise
    constant = -0.5 * (math.log(spread) + LOG_2PI)
    for n in range(len(back)):
        total = flat[n]
        for r in range(seen.time.shape[1]):
            if seen.seen[n, r]:
                total += constant - 0.5 * seen.height[n, r] * seen.height[n, r] / spread
        back[n] = total


@njit(nogil=True, cache=True, error_model="numpy")
def rebuild(w: Work, seen: Seen, near: Candidates, theory: Theory, position: Ints) -> None:
    """Clusters anew from ``w.cluster`` (N,) labels and ``position`` (N,): numbered by their first peaks, sums without what rounding
    left. A peak that has no such candidate becomes background. Slots must be enough for all peaks that have any."""
    w.first[:] = -1
    w.at[HIGH] = w.at[ASSIGNED] = w.at[CLUSTERS] = w.at[FREE] = 0
    slot = np.full(len(w.cluster) + 1, -1)
    for n in range(len(w.cluster)):
        label, found = w.cluster[n], -1
        if label >= 0:
            for c in range(near.first[n], near.first[n + 1]):
                if near.position[c] == position[n]:
                    found = c
        w.cluster[n] = w.choice[n] = -1
        if found < 0:
            continue
        if slot[label] < 0:
            slot[label] = open_cluster(w, near.formula[found])
        add_peak(w, seen, near, theory, n, slot[label], found)
    w.at[MOVED] = w.at[TRIED] = w.at[CHANGED] = 0
