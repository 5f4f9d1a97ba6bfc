"""Clusters as sums over their members, parameters integrated out: add a row, take one out, predict one, evidence.

Five kinds of columns, each with a conjugate prior of a cluster's parameters:

- numbers: ``x ~ N(mu, s2)``, ``s2 ~ IG(a0, b0_j)``, ``mu ~ N(m0_j, s2 / k0_j)``; a row is predicted by a Student law of ``2 a_c``
  degrees (Murphy 2007, Conjugate Bayesian analysis of the Gaussian distribution, eqs. 86-100);
- codes: ``x ~ Categorical(p)``, ``p ~ Dirichlet(a, …, a)``; zeros and ones are the case of two levels;
- counts: ``x ~ Poisson(e_ij r)``, ``r ~ Gamma(a, b_j)``; a row is predicted by a negative binomial law;
- numbers of matrices whose columns are correlated: see ``joint.py``;
- rows of counts that share a total: see ``rows.py``.

A missing cell leaves the sums of its column alone, which is exact.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Items, Law
from plaidwork.plugins.dirichlet_processes.kernels.joint import (
    KNOWN,
    WHOLE,
    add_joint,
    copy_joint,
    copy_row,
    marginal_joint,
    predict_joint,
    refresh_joint,
    remove_joint,
    reset_joint,
)
from plaidwork.plugins.dirichlet_processes.kernels.rows import add_rows, predict_rows

LARGE, SMALL = 1e90, 1e-200
"""Products of many columns become a logarithm when they leave this range: one logarithm for many columns."""
FEW, LARGE_CELL = 8, 1e10
"""A power of half a whole number that is no higher is taken by dividing, of a factor that is no larger."""
HALF_LOG_PI = 0.5 * math.log(math.pi)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True, no_cpython_wrapper=True)
def refresh(c: Clusters, k: int, law: Law, complete: bool) -> None:
    """The predictive laws of the numbers of slot ``k`` from its sums. O(G + F)."""
    product, total = 1.0, 0.0
    for j in range(c.known.shape[1]):
        m, k0 = c.known[k, j], law.k0[j]
        k_c = k0 + m
        gap = c.mean[k, j] - law.m0[j]
        b_c = law.b0[j] + 0.5 * c.square[k, j] + 0.5 * k0 * m / k_c * gap * gap
        c.centre[k, j] = law.m0[j] + m / k_c * gap
        weight = k_c / (2.0 * b_c * (k_c + 1.0))
        c.weight[k, j] = weight
        if complete:
            product *= weight
            if product > LARGE or product < SMALL:
                total += 0.5 * math.log(product)
                product = 1.0
            total += law.step[m] - HALF_LOG_PI
    if complete and c.known.shape[1] > 0:
        c.constant[k, 0] = total + 0.5 * math.log(product)
    if c.joint_constant.shape[1] > 0:
        refresh_joint(c, k, law)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def clear_row(array: np.ndarray, k: int) -> None:
    """Zeros in row ``k``. A loop, as numba needs long to compile the assignment of a row."""
    for j in range(array.shape[1]):
        array[k, j] = 0


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False)
def reset(c: Clusters, k: int, law: Law, complete: bool) -> None:
    """Empty slot ``k`` exactly: what subtraction leaves of rounding goes."""
    c.size[k] = 0
    clear_row(c.known, k)
    clear_row(c.mean, k)
    clear_row(c.square, k)
    clear_row(c.levels, k)
    clear_row(c.coded, k)
    clear_row(c.events, k)
    clear_row(c.time, k)
    if c.joint_constant.shape[1] > 0:
        reset_joint(c, k, law)
    refresh(c, k, law, complete)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def add(c: Clusters, k: int, items: Items, i: int, law: Law) -> None:
    """Put row ``i`` into slot ``k``. O(columns), of correlated ones the square."""
    if c.joint_constant.shape[1] > 0:
        add_joint(c, k, items, i, law)
    c.size[k] += 1
    for j in range(items.numbers.shape[1]):
        if items.complete or items.known[i, j]:
            c.known[k, j] += 1
            gap = items.numbers[i, j] - c.mean[k, j]
            c.mean[k, j] += gap / c.known[k, j]
            c.square[k, j] += gap * (items.numbers[i, j] - c.mean[k, j])
    for j in range(items.codes.shape[1]):
        code = items.codes[i, j]
        if code >= 0:
            c.levels[k, law.first[j] + code] += 1.0
            c.coded[k, j] += 1.0
    for j in range(items.counts.shape[1]):
        if items.counts[i, j] >= 0:
            c.events[k, j] += items.counts[i, j]
            c.time[k, j] += items.exposure[i, j]
    add_rows(c, k, items, i, 1.0)
    refresh(c, k, law, items.complete)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True)
def remove(c: Clusters, k: int, items: Items, i: int, law: Law) -> None:
    """Take row ``i`` out of slot ``k``; an emptied slot is reset exactly. O(columns)."""
    if c.size[k] == 1:
        reset(c, k, law, items.complete)
        return
    if c.joint_constant.shape[1] > 0:
        remove_joint(c, k, items, i, law)
    c.size[k] -= 1
    for j in range(items.numbers.shape[1]):
        if items.complete or items.known[i, j]:
            c.known[k, j] -= 1
            if c.known[k, j] == 0:
                c.mean[k, j] = c.square[k, j] = 0.0
                continue
            gap = items.numbers[i, j] - c.mean[k, j]
            c.mean[k, j] -= gap / c.known[k, j]
            c.square[k, j] = max(c.square[k, j] - gap * (items.numbers[i, j] - c.mean[k, j]), 0.0)
    for j in range(items.codes.shape[1]):
        code = items.codes[i, j]
        if code >= 0:
            c.levels[k, law.first[j] + code] -= 1.0
            c.coded[k, j] -= 1.0
    for j in range(items.counts.shape[1]):
        if items.counts[i, j] >= 0:
            c.events[k, j] -= items.counts[i, j]
            c.time[k, j] = max(c.time[k, j] - items.exposure[i, j], 0.0)
    add_rows(c, k, items, i, -1.0)
    refresh(c, k, law, items.complete)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True, inline="always")
def predict_numbers(c: Clusters, k: int, items: Items, i: int, law: Law) -> float:
    """Log density of the known numbers of row ``i`` in slot ``k``: a product of Student laws."""
    total, product, width = 0.0, 1.0, items.numbers.shape[1]
    if items.complete:
        if width == 0:
            return 0.0
        second = third = fourth = 1.0  # four products, none of which waits for another
        for j in range(0, width - 3, 4):
            gap = items.numbers[i, j] - c.centre[k, j]
            product *= 1.0 + c.weight[k, j] * gap * gap
            gap = items.numbers[i, j + 1] - c.centre[k, j + 1]
            second *= 1.0 + c.weight[k, j + 1] * gap * gap
            gap = items.numbers[i, j + 2] - c.centre[k, j + 2]
            third *= 1.0 + c.weight[k, j + 2] * gap * gap
            gap = items.numbers[i, j + 3] - c.centre[k, j + 3]
            fourth *= 1.0 + c.weight[k, j + 3] * gap * gap
            if product + second + third + fourth > LARGE:
                total += math.log(product) + math.log(second) + math.log(third) + math.log(fourth)
                product = second = third = fourth = 1.0
        for j in range(width - width % 4, width):
            gap = items.numbers[i, j] - c.centre[k, j]
            product *= 1.0 + c.weight[k, j] * gap * gap
        total += math.log(product) + math.log(second * third * fourth)
        power = law.a0 + 0.5 * c.known[k, 0] + 0.5
        return c.constant[k, 0] - power * total
    # constants by cell, as a slot changes about as often as a row is predicted from it
    least = items.numbers.shape[0]
    for j in range(width):
        if items.known[i, j]:
            least = min(least, c.known[k, j])
    shared, second = 1.0, 0.0  # of the power of the column with the fewest members, and what others have more
    for j in range(width):
        if items.known[i, j]:
            gap, m = items.numbers[i, j] - c.centre[k, j], c.known[k, j]
            grown, more = 1.0 + c.weight[k, j] * gap * gap, m - least
            shared *= grown
            product *= c.weight[k, j]
            if more <= FEW and grown < LARGE_CELL:
                for _ in range(more):
                    product /= grown
            else:
                second += 0.5 * more * math.log(grown)
            if shared > LARGE or product > LARGE or product < SMALL:
                second += (law.a0 + 0.5 * least + 0.5) * math.log(shared) - 0.5 * math.log(product)
                shared = product = 1.0
            total += law.step[m] - HALF_LOG_PI
    return total - second - (law.a0 + 0.5 * least + 0.5) * math.log(shared) + 0.5 * math.log(product)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True, no_cpython_wrapper=True)
def predict_count(x: float, e: float, shape: float, rate: float) -> float:
    """Log probability of a count x with exposure e and a rate from Gamma(shape, rate): negative binomial."""
    out = math.lgamma(shape + x) - math.lgamma(shape) - math.lgamma(x + 1.0)
    return out + shape * math.log(rate / (rate + e)) + x * math.log(e / (rate + e))


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True, no_cpython_wrapper=True)
def log_density(c: Clusters, k: int, items: Items, i: int, law: Law, known: bool) -> float:
    """Log density of row ``i`` given the members of slot ``k``, missing cells of correlated columns as they were drawn last; of its known
    cells alone with ``known``, ``KNOWN`` or ``WHOLE``. O(columns)."""
    total, product = predict_numbers(c, k, items, i, law), 1.0
    for j in range(items.codes.shape[1]):
        code = items.codes[i, j]
        if code >= 0:
            levels = law.first[j + 1] - law.first[j]
            seen = law.level_weight + c.levels[k, law.first[j] + code]
            product *= seen / (law.level_weight * levels + c.coded[k, j])
            if product < SMALL:
                total += math.log(product)
                product = 1.0
    total += math.log(product)
    for j in range(items.counts.shape[1]):
        if items.counts[i, j] >= 0:
            shape, rate = law.rate_shape + c.events[k, j], law.rate[j] + c.time[k, j]
            total += predict_count(items.counts[i, j], items.exposure[i, j], shape, rate)
    total += predict_rows(c, k, items, i, law)
    return total + predict_joint(c, k, items, i, law, known) if c.joint_constant.shape[1] > 0 else total


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True, inline="always")
def log_predictive(c: Clusters, k: int, items: Items, i: int, law: Law) -> float:
    """Log density of row ``i`` given the members of slot ``k``; of correlated columns missing cells as they were drawn last."""
    return log_density(c, k, items, i, law, WHOLE)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=True, inline="always")
def log_known(c: Clusters, k: int, items: Items, i: int, law: Law) -> float:
    """Log density of the known cells of row ``i`` given the members of slot ``k``."""
    return log_density(c, k, items, i, law, KNOWN)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False)
def log_marginal(c: Clusters, k: int, law: Law) -> float:
    """Log density of all cells of slot ``k``, its parameters integrated out.

    Of counts what no clustering changes, factors ``e^x / x!`` and multinomial coefficients, is left out: see ``constant_of_counts``.
    """
    total = 0.0
    for j in range(c.known.shape[1]):
        m, k0, b0 = c.known[k, j], law.k0[j], law.b0[j]
        if m == 0:
            continue
        gap = c.mean[k, j] - law.m0[j]
        b_c = b0 + 0.5 * c.square[k, j] + 0.5 * k0 * m / (k0 + m) * gap * gap
        a_c = law.a0 + 0.5 * m
        total += math.lgamma(a_c) - math.lgamma(law.a0) + law.a0 * math.log(b0) - a_c * math.log(b_c)
        total += 0.5 * math.log(k0 / (k0 + m)) - 0.5 * m * math.log(2.0 * math.pi)
    codes = c.coded.shape[1] - law.share_weight.size
    for j in range(c.coded.shape[1]):
        weight = law.level_weight if j < codes else law.share_weight[j - codes]
        levels = law.first[j + 1] - law.first[j]
        total += math.lgamma(weight * levels) - math.lgamma(weight * levels + c.coded[k, j])
        for place in range(law.first[j], law.first[j + 1]):
            if c.levels[k, place] > 0.0:
                total += math.lgamma(weight + c.levels[k, place]) - math.lgamma(weight)
    shape = law.rate_shape
    for j in range(c.events.shape[1]):
        total += math.lgamma(shape + c.events[k, j]) - math.lgamma(shape) + shape * math.log(law.rate[j])
        total -= (shape + c.events[k, j]) * math.log(law.rate[j] + c.time[k, j])
    return total + marginal_joint(c, k, law)


@njit(nogil=True, cache=True, error_model="numpy")
def constant_of_counts(items: Items) -> float:
    """What ``log_marginal`` leaves out: ``x log e - log x!`` of the known counts, the coefficients of rows that share a total."""
    total = items.rows.ways.sum()
    for i in range(items.counts.shape[0]):
        for j in range(items.counts.shape[1]):
            x = items.counts[i, j]
            if x >= 0:
                total += x * math.log(items.exposure[i, j]) - math.lgamma(x + 1.0)
    return total


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def copy_cluster(source: Clusters, a: int, target: Clusters, b: int) -> None:
    """Slot ``a`` of one set of clusters into slot ``b`` of another."""
    target.size[b] = source.size[a]
    copy_row(source.known, a, target.known, b)
    copy_row(source.mean, a, target.mean, b)
    copy_row(source.square, a, target.square, b)
    copy_row(source.centre, a, target.centre, b)
    copy_row(source.weight, a, target.weight, b)
    copy_row(source.constant, a, target.constant, b)
    copy_row(source.levels, a, target.levels, b)
    copy_row(source.coded, a, target.coded, b)
    copy_row(source.events, a, target.events, b)
    copy_row(source.time, a, target.time, b)
    copy_joint(source, a, target, b)
