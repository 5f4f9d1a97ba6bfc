"""Kernels: the moves of a sweep, each a Gibbs step on the exact law, and its log density."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork_lcms_annotation.groups import (
    ASSIGNED,
    CHANGED,
    HIGH,
    LOG_2PI,
    MOVED,
    TRIED,
    Law,
    Seen,
    Work,
    add_peak,
    clear_heights,
    count_heights,
    log_normal,
    name_cluster,
    open_cluster,
    take_peak,
    unname_cluster,
)
from plaidwork_lcms_annotation.patterns import Ints
from plaidwork_lcms_annotation.peaks import Candidates, Theory
from plaidwork_lcms_annotation.weights import (
    CHOSEN,
    FAR,
    NOTHING,
    combinations,
    has_adduct,
    is_certain,
    keep_best,
    log_heights,
    log_times,
    misfit_of,
    next_group,
    sum_combinations,
    too_many,
    weigh,
)


@njit(nogil=True, cache=True, error_model="numpy")
def move_peaks(
    rng: np.random.Generator,
    w: Work,
    seen: Seen,
    near: Candidates,
    theory: Theory,
    law: Law,
    lo: int,
    hi: int,
) -> None:
    """A cluster, a formula and a position, or background, for some of the peaks that have candidates."""
    for i in range(lo, hi):
        n = near.active[i]
        k_old, c_old, f_old, single = w.cluster[n], w.choice[n], -1, False
        if k_old >= 0:
            f_old, single = w.formula[k_old], w.size[k_old] == 1
            take_peak(w, seen, near, theory, n)
        chosen, slot = place_peak(rng, w, seen, near, theory, law, n)
        if chosen < 0:
            w.at[MOVED] += k_old >= 0
            continue
        f = near.formula[chosen]
        new = slot < 0
        if new:
            slot = open_cluster(w, f)
        add_peak(w, seen, near, theory, n, slot, chosen)
        same = chosen == c_old and ((new and single and f == f_old) or (not new and slot == k_old))
        w.at[MOVED] += not same


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def place_peak(
    rng: np.random.Generator, w: Work, seen: Seen, near: Candidates, theory: Theory, law: Law, n: int
) -> tuple[int, int]:
    """Draw (candidate, cluster) of peak n, which is in no cluster; candidate -1: background, cluster -1: a new one."""
    chosen, slot = -1, -1
    total = weigh(rng, NOTHING, math.log(law.eps) + w.back[n])[0]
    base = math.log(1.0 - law.eps) - math.log(law.alpha + w.at[ASSIGNED])
    alone = math.log(law.alpha)
    wide_time, wide_height = law.time_prior + law.time_noise, law.height_prior + law.height_noise
    most = math.log(len(w.cluster))  # what a cluster can add to its misfit at most
    for r in range(seen.time.shape[1]):
        if seen.seen[n, r]:
            alone += log_normal(seen.time[n, r], wide_time)
            most -= 0.5 * math.log(law.time_noise * law.height_noise) + LOG_2PI
    for c in range(near.first[n], near.first[n + 1]):
        f, a = near.formula[c], near.adduct[c]
        beta = theory.log_beta[near.position[c]]
        here = base + theory.log_share[f] + w.mass[c]
        fresh = here + alone + theory.log_weight[f]
        for r in range(seen.time.shape[1]):
            if seen.seen[n, r]:
                fresh += log_normal(seen.height[n, r] - beta, wide_height)
        total, drawn = weigh(rng, total, fresh)
        if drawn:
            chosen, slot = c, -1
        k = w.first[f]
        while k >= 0:
            misfit, spread = misfit_of(w, seen, law, n, k, a, beta)
            if here + most - misfit > total[0] - FAR:
                total, drawn = weigh(rng, total, here + math.log(w.size[k]) - misfit - spread)
                if drawn:
                    chosen, slot = c, k
            k = w.following[k]
    return chosen, slot


@njit(nogil=True, cache=True, error_model="numpy")
def list_assigned(w: Work) -> None:
    """Peaks that are not background, for block moves to choose from."""
    count = 0
    for n in range(len(w.cluster)):
        if w.cluster[n] >= 0:
            w.list[count] = n
            count += 1


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def gather(w: Work, near: Candidates, k: int, a: int, members: Ints) -> int:
    """Number of the peaks of cluster k, of adduct a where that is not -1; they are left in ``members``."""
    count, m = 0, w.head[k]
    while m >= 0:
        if a < 0 or near.adduct[w.choice[m]] == a:
            members[count] = m
            count += 1
        m = w.after[m]
    return count


@njit(nogil=True, cache=True, error_model="numpy")
def move_blocks(
    rng: np.random.Generator,
    w: Work,
    seen: Seen,
    near: Candidates,
    theory: Theory,
    law: Law,
    lo: int,
    hi: int,
) -> None:
    """Block moves: all peaks of one adduct of a cluster go together to a new cluster of any formula, or to a cluster and an
    adduct of which it has no peak. The targets are the same from wherever the block lies, and it is chosen with the same
    probability before and after."""
    members = np.empty(len(w.cluster), np.int64)
    for _ in range(lo, hi):
        n = w.list[int(rng.random() * w.at[ASSIGNED])]
        k_old, a_old = w.cluster[n], near.adduct[w.choice[n]]
        count = gather(w, near, k_old, a_old, members)
        w.at[TRIED] += 1
        if too_many(near, members, count, True) or alone(w, near, members, count, k_old):
            continue
        alone_before, f_old = w.size[k_old] == count, w.formula[k_old]
        for i in range(count):
            take_peak(w, seen, near, theory, members[i])
        k, f = place_block(rng, w, seen, near, theory, law, members, count)
        stays = (k < 0 and alone_before and f == f_old) or (k == k_old and not alone_before)
        w.at[CHANGED] += not (stays and near.adduct[w.picks[CHOSEN, 0]] == a_old)
        if k < 0:
            k = open_cluster(w, f)
        for i in range(count):
            add_peak(w, seen, near, theory, members[i], k, w.picks[CHOSEN, i])


@njit(nogil=True, cache=True, error_model="numpy")
def alone(w: Work, near: Candidates, members: Ints, count: int, k_old: int) -> bool:
    """Whether the block has nowhere else to go: it is a cluster by itself, of one candidate, the formula's only cluster."""
    if w.size[k_old] != count or w.first[w.formula[k_old]] != k_old or w.following[k_old] >= 0:
        return False
    return is_certain(near, members, count, w.formula[k_old])


@njit(nogil=True, cache=True, error_model="numpy")
def place_block(
    rng: np.random.Generator,
    w: Work,
    seen: Seen,
    near: Candidates,
    theory: Theory,
    law: Law,
    members: Ints,
    count: int,
) -> tuple[int, int]:
    """Draw cluster (-1: a new one) and formula of a block that is in none; its candidates are left in ``w.picks[CHOSEN]``."""
    chosen_k, chosen_f, total = -1, -1, NOTHING
    fresh = math.log(law.alpha) + math.lgamma(count) + log_times(w, seen, law, members, count, -1)
    n = members[0]
    c = near.first[n]
    while c < near.first[n + 1]:
        f, a = near.formula[c], near.adduct[c]
        c = next_group(near, n, c, True)
        if combinations(near, members, count, f, a) == 0:
            continue
        here = sum_combinations(rng, w, seen, near, theory, law, members, count, f, a)
        total, taken = weigh(rng, total, here + fresh + theory.log_weight[f])
        if taken:
            chosen_k, chosen_f = -1, f
        k = w.first[f]
        while k >= 0:
            if not has_adduct(w, k, a):
                join = math.lgamma(w.size[k] + count) - math.lgamma(w.size[k])
                join += log_times(w, seen, law, members, count, k)
                total, drawn = weigh(rng, total, here + join)
                if drawn:
                    chosen_k, chosen_f, taken = k, f, True
            k = w.following[k]
        if taken:
            keep_best(w, count)
    return chosen_k, chosen_f


@njit(nogil=True, cache=True, error_model="numpy")
def move_formulas(
    rng: np.random.Generator,
    w: Work,
    seen: Seen,
    near: Candidates,
    theory: Theory,
    law: Law,
    lo: int,
    hi: int,
) -> None:
    """Formula and all positions of some of the clusters, given their members."""
    members = np.empty(len(w.cluster), np.int64)
    for k in range(lo, min(hi, w.at[HIGH])):
        if w.size[k] == 0:
            continue
        count = gather(w, near, k, -1, members)
        if is_certain(near, members, count, w.formula[k]) or too_many(near, members, count, False):
            continue
        n, chosen, total = members[0], -1, NOTHING
        c = near.first[n]
        while c < near.first[n + 1]:
            f = near.formula[c]
            c = next_group(near, n, c, False)
            if combinations(near, members, count, f, -1) == 0:
                continue
            here = sum_combinations(rng, w, seen, near, theory, law, members, count, f, -1)
            total, drawn = weigh(rng, total, here + theory.log_weight[f])
            if drawn:
                chosen = f
                keep_best(w, count)
        rename(w, seen, near, theory, k, chosen, members, count)


@njit(nogil=True, cache=True, error_model="numpy")
def rename(
    w: Work, seen: Seen, near: Candidates, theory: Theory, k: int, f: int, members: Ints, count: int
) -> None:
    """Cluster k is of formula f, its members of the candidates in ``w.picks[CHOSEN]``."""
    if f != w.formula[k]:
        unname_cluster(w, k)
        name_cluster(w, k, f)
    clear_heights(w, k)
    for i in range(count):
        n, c = members[i], w.picks[CHOSEN, i]
        w.choice[n] = c
        count_heights(w, seen, near, theory, n, k, c, 1.0)


@njit(nogil=True, cache=True, error_model="numpy")
def log_joint(w: Work, seen: Seen, near: Candidates, theory: Theory, law: Law) -> float:
    """Log density of clusters, formulas, positions and data, but for the priors of alpha and of the scales."""
    n_in, total = w.at[ASSIGNED], 0.0
    members, picks = np.empty(len(w.cluster), np.int64), np.empty(len(w.cluster), np.int64)
    for n in range(len(w.cluster)):
        total += math.log(law.eps) + w.back[n] if w.cluster[n] < 0 else math.log(1.0 - law.eps)
    total += math.lgamma(law.alpha) - math.lgamma(law.alpha + n_in)
    for k in range(w.at[HIGH]):
        if w.size[k] == 0:
            continue
        f, count = w.formula[k], gather(w, near, k, -1, members)
        for i in range(count):
            picks[i] = w.choice[members[i]]
            total += w.mass[picks[i]]
        total += math.log(law.alpha) + math.lgamma(count) + theory.log_weight[f] + count * theory.log_share[f]
        total += log_times(w, seen, law, members, count, -1)
        for a in range(w.heights.shape[1]):
            if has_adduct(w, k, a):
                total += log_heights(seen, near, theory, law, members, count, picks, a)
    return total
