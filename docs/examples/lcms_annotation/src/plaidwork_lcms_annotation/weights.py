"""Kernels: what the moves draw from, and densities of groups of peaks.

What is drawn from weights is drawn as they come (a reservoir of one): no list of them is kept.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork_lcms_annotation.groups import LOG_2PI, Law, Seen, Work, log_group
from plaidwork_lcms_annotation.patterns import Ints
from plaidwork_lcms_annotation.peaks import Candidates, Theory

MOST = 256
"""Combinations of positions of a group that are summed; a group with more is left to the moves of single peaks."""
FAR = 40.0
"""Nats below the total at which a weight is never drawn: beyond the resolution of a random number."""
NOTHING = (-math.inf, 0.0)
TRY, BEST, CHOSEN = range(3)


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def weigh(
    rng: np.random.Generator, total: tuple[float, float], log_weight: float
) -> tuple[tuple[float, float], bool]:
    """A running total (largest log weight, sum relative to it) with one weight more, and whether this one is drawn among all
    so far."""
    high, known = total
    if log_weight < high - FAR or log_weight == -math.inf:
        return total, False
    if log_weight <= high:
        weight = math.exp(log_weight - high)
        return (high, known + weight), rng.random() * (known + weight) < weight
    known = 1.0 + (known * math.exp(high - log_weight) if known > 0.0 else 0.0)
    return (log_weight, known), rng.random() * known < 1.0


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def misfit_of(w: Work, seen: Seen, law: Law, n: int, k: int, a: int, beta: float) -> tuple[float, float]:
    """Minus the log density of time and height of peak n, as an ion of adduct a and log share ``beta``, given cluster k: the part that
    depends on the peak, and the rest."""
    misfit = spread = 0.0
    for r in range(seen.time.shape[1]):
        if seen.seen[n, r]:
            all_times = law.time_noise + w.times[k, r, 0] * law.time_prior
            time = seen.time[n, r] - law.time_prior * w.times[k, r, 1] / all_times
            time_spread = law.time_noise * law.time_prior / all_times + law.time_noise
            all_heights = law.height_noise + w.heights[k, a, r, 0] * law.height_prior
            height = seen.height[n, r] - beta - law.height_prior * w.heights[k, a, r, 1] / all_heights
            height_spread = law.height_noise * law.height_prior / all_heights + law.height_noise
            misfit += 0.5 * (time * time / time_spread + height * height / height_spread)
            spread += 0.5 * math.log(time_spread * height_spread) + LOG_2PI
    return misfit, spread


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def span(near: Candidates, n: int, f: int, a: int) -> tuple[int, int]:
    """First and last + 1 of the candidates of peak n of formula f, of adduct a where that is not -1."""
    lo = near.first[n]
    end = near.first[n + 1]
    while lo < end and (near.formula[lo] < f or (near.formula[lo] == f and near.adduct[lo] < a)):
        lo += 1
    hi = lo
    while hi < end and near.formula[hi] == f and (a < 0 or near.adduct[hi] == a):
        hi += 1
    return lo, hi


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def combinations(near: Candidates, members: Ints, count: int, f: int, a: int) -> int:
    """Number of ways in which the members may be positions of formula f (and adduct a); above MOST it is not told how many."""
    ways = 1
    for i in range(count):
        lo, hi = span(near, members[i], f, a)
        ways *= hi - lo
        if ways == 0 or ways > MOST:
            break
    return ways


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def log_heights(
    seen: Seen, near: Candidates, theory: Theory, law: Law, members: Ints, count: int, picks: Ints, a: int
) -> float:
    """Log density of the intensities of all members that are of adduct a by their picks."""
    found = 0.0
    for r in range(seen.time.shape[1]):
        number = total = squares = 0.0
        for i in range(count):
            n, c = members[i], picks[i]
            if seen.seen[n, r] and near.adduct[c] == a:
                x = seen.height[n, r] - theory.log_beta[near.position[c]]
                number += 1.0
                total += x
                squares += x * x
        found += log_group(number, total, squares, law.height_prior, law.height_noise)
    return found


@njit(nogil=True, cache=True, error_model="numpy")
def sum_combinations(
    rng: np.random.Generator,
    w: Work,
    seen: Seen,
    near: Candidates,
    theory: Theory,
    law: Law,
    members: Ints,
    count: int,
    f: int,
    a: int,
) -> float:
    """Log of the sum over all positions of the members, of formula f (and adduct a), of their densities of mass and intensity;
    one drawn from it lies in ``w.picks[BEST]``."""
    tried, total = w.picks[TRY], NOTHING
    for i in range(count):
        tried[i] = span(near, members[i], f, a)[0]
    while True:
        weight = count * theory.log_share[f]
        for i in range(count):
            weight += w.mass[tried[i]]
        if a >= 0:
            weight += log_heights(seen, near, theory, law, members, count, tried, a)
        else:
            for i in range(count):  # each adduct at the first of its peaks
                mine, known = near.adduct[tried[i]], False
                for j in range(i):
                    known = known or near.adduct[tried[j]] == mine
                if not known:
                    weight += log_heights(seen, near, theory, law, members, count, tried, mine)
        total, drawn = weigh(rng, total, weight)
        if drawn:
            for j in range(count):
                w.picks[BEST, j] = tried[j]
        i = 0
        while i < count:
            lo, hi = span(near, members[i], f, a)
            tried[i] += 1
            if tried[i] < hi:
                break
            tried[i] = lo
            i += 1
        if i == count:
            return total[0] + math.log(total[1])


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def next_group(near: Candidates, n: int, c: int, by_adduct: bool) -> int:
    """The first candidate of peak n after c that is of another formula (or adduct), or the end of its candidates."""
    end, f, a = near.first[n + 1], near.formula[c], near.adduct[c]
    while c < end and near.formula[c] == f and (not by_adduct or near.adduct[c] == a):
        c += 1
    return c


@njit(nogil=True, cache=True, error_model="numpy")
def too_many(near: Candidates, members: Ints, count: int, by_adduct: bool) -> bool:
    """Whether the positions of the members can be combined in too many ways, for any formula."""
    n = members[0]
    c = near.first[n]
    while c < near.first[n + 1]:
        if combinations(near, members, count, near.formula[c], near.adduct[c] if by_adduct else -1) > MOST:
            return True
        c = next_group(near, n, c, by_adduct)
    return False


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def is_certain(near: Candidates, members: Ints, count: int, f: int) -> bool:
    """Whether members of formula f can be nothing else: the first has one candidate, and each other one of this formula."""
    n = members[0]
    return near.first[n + 1] - near.first[n] == 1 and combinations(near, members, count, f, -1) == 1


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def keep_best(w: Work, count: int) -> None:
    """What was drawn for a formula is drawn for all."""
    for i in range(count):
        w.picks[CHOSEN, i] = w.picks[BEST, i]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def log_times(w: Work, seen: Seen, law: Law, members: Ints, count: int, k: int) -> float:
    """Log density of the times of the members given those of cluster k, or by themselves for -1."""
    found = 0.0
    for r in range(seen.time.shape[1]):
        number = total = squares = 0.0
        for i in range(count):
            if seen.seen[members[i], r]:
                number += 1.0
                total += seen.time[members[i], r]
                squares += seen.time[members[i], r] ** 2
        if k >= 0:
            q, s = w.times[k, r, 0], w.times[k, r, 1]
            found += log_group(q + number, s + total, squares, law.time_prior, law.time_noise)
            found -= log_group(q, s, 0.0, law.time_prior, law.time_noise)
        else:
            found += log_group(number, total, squares, law.time_prior, law.time_noise)
    return found


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def has_adduct(w: Work, k: int, a: int) -> bool:
    """Whether cluster k has a peak of adduct a; numbers of sums are whole, so exact."""
    total = 0.0
    for r in range(w.heights.shape[2]):
        total += w.heights[k, a, r, 0]
    return total > 0.5
