"""Columns that are correlated within a cluster: ``Sigma ~ IW(nu0, Psi0)``, ``mu ~ N(m0, Sigma / k0)``, both integrated out.

A cluster is its centre ``m_c`` and the upper triangle U of ``U' U = Psi_c`` (Murphy 2007, Conjugate Bayesian analysis of the Gaussian
distribution, eqs. 249-258); rows enter and leave by rank-one updates of U. With ``nu0 = d - 1 + 2 a0`` every column by itself has the
law of an independent one: ``s2 ~ IG(a0, Psi0_jj / 2)``.

Missing cells are part of the state: a row is weighed by its known cells alone, and when it has a cluster the others are drawn from
their law given those, so that label and missing cells are drawn together.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.forms import FIRST

if TYPE_CHECKING:
    from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Items, Law

WHOLE, KNOWN = np.array([False, True])
"""Which cells of a row a density is of. Of a plain value numba would compile what takes it anew, once for each."""
LEAST_PIVOT = 1e-14
"""Share of a squared pivot that a row which leaves cannot take with it: less is rounding, and clusters are added up anew in each sweep."""


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def turn(root: np.ndarray, at: int, v: np.ndarray, lo: int, d: int, sign: float) -> None:
    """``U' U + sign v v'`` in place, U the d x d numbers of ``root`` from ``at`` on, v those of ``v`` from ``lo`` on, used up. O(d^2)."""
    left = v[lo : lo + d]
    for j in range(d):
        old = root[at]
        square = old * old + sign * left[0] * left[0]
        new = math.sqrt(max(square, LEAST_PIVOT * old * old))
        cos, sin, inverse = new / old, left[0] / old, old / new
        root[at] = new
        row, left = root[at + 1 : at + d - j], left[1:]  # their places are never below 0: vectorised
        for m in range(row.size):
            row[m] = (row[m] + sign * sin * left[m]) * inverse
            left[m] = cos * left[m] - sin * row[m]
        at += d + 1


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def log_determinant(root: np.ndarray, at: int, d: int) -> float:
    """``log |U' U|``."""
    total = 0.0
    for j in range(d):
        total += math.log(root[at + j * d + j])
    return 2.0 * total


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def refresh_joint(c: Clusters, k: int, law: Law) -> None:
    """The log constants of the predictive laws of slot ``k``. O(F)."""
    at = FIRST
    for b in range(c.joint_constant.shape[1]):
        d = law.joint_first[b + 1] - law.joint_first[b]
        k_c, df = law.joint_k0[b] + c.size[k], 2.0 * law.a0 + c.size[k]
        value = math.lgamma(0.5 * (df + d)) - math.lgamma(0.5 * df)
        value -= 0.5 * d * math.log(math.pi * (k_c + 1.0) / k_c)
        c.joint_constant[k, b] = value - 0.5 * log_determinant(c.joint_root[k], at, d)
        at += d * d


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def reset_joint(c: Clusters, k: int, law: Law) -> None:
    """The prior in slot ``k``."""
    for j in range(c.joint_centre.shape[1]):
        c.joint_centre[k, j] = law.joint_m0[j]
    for q in range(c.joint_root.shape[1]):
        c.joint_root[k, q] = law.joint_root[q]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def add_joint(c: Clusters, k: int, items: Items, i: int, law: Law) -> None:
    """Put row ``i`` into slot ``k``, whose size is still without it. O(d^2)."""
    if c.size[k] == 0:
        reset_joint(c, k, law)
    at, v = FIRST, c.joint_work[k]
    for b in range(c.joint_constant.shape[1]):
        lo, hi = law.joint_first[b], law.joint_first[b + 1]
        k_c = law.joint_k0[b] + c.size[k]
        scale = math.sqrt(k_c / (k_c + 1.0))
        for j in range(lo, hi):
            gap = items.joint[i, j] - c.joint_centre[k, j]
            v[j] = scale * gap
            c.joint_centre[k, j] += gap / (k_c + 1.0)
        turn(c.joint_root[k], at, v, lo, hi - lo, 1.0)
        at += (hi - lo) * (hi - lo)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def remove_joint(c: Clusters, k: int, items: Items, i: int, law: Law) -> None:
    """Take row ``i`` out of slot ``k``, whose size is still with it. O(d^2)."""
    at, v = FIRST, c.joint_work[k]
    for b in range(c.joint_constant.shape[1]):
        lo, hi = law.joint_first[b], law.joint_first[b + 1]
        left = law.joint_k0[b] + c.size[k] - 1.0
        scale = math.sqrt(left / (left + 1.0))
        for j in range(lo, hi):
            c.joint_centre[k, j] -= (items.joint[i, j] - c.joint_centre[k, j]) / left
            v[j] = scale * (items.joint[i, j] - c.joint_centre[k, j])
        turn(c.joint_root[k], at, v, lo, hi - lo, -1.0)
        at += (hi - lo) * (hi - lo)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def whole_density(c: Clusters, k: int, items: Items, i: int, law: Law, b: int, at: int) -> float:
    """Log density of the cells of row ``i`` in matrix ``b``, all of them: a Student law. O(d^2)."""
    lo, hi, v = law.joint_first[b], law.joint_first[b + 1], c.joint_work[k]
    d, root, square = hi - lo, c.joint_root[k], 0.0
    for j in range(d):
        v[j] = items.joint[i, lo + j] - c.joint_centre[k, lo + j]
    for j in range(d):
        step = v[j] / root[at]
        square += step * step
        left, row = v[j + 1 : d], root[at + 1 : at + d - j]  # as in ``turn``
        for m in range(row.size):
            left[m] -= row[m] * step
        at += d + 1
    k_c = law.joint_k0[b] + c.size[k]
    power = law.a0 + 0.5 * (c.size[k] + d)
    return c.joint_constant[k, b] - power * math.log1p(k_c / (k_c + 1.0) * square)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def known_first(items: Items, i: int, lo: int, hi: int, order: np.ndarray) -> int:
    """Columns ``lo`` to ``hi`` from 0 on, those known in row ``i`` first, into ``order``; how many are known."""
    count, last = 0, hi - lo
    for j in range(lo, hi):
        if items.joint_known[i, j]:
            order[count] = j - lo
            count += 1
        else:
            last -= 1
            order[last] = j - lo
    return count


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def ordered_root(root: np.ndarray, at: int, d: int, order: np.ndarray, size: int) -> np.ndarray:
    """Lower triangle (size, size) of the Cholesky factor of ``U' U`` with its columns in this order, the first ones of it. O(d^3)."""
    out = np.zeros((size, size))
    for a in range(size):
        for b in range(a + 1):
            total = 0.0
            for m in range(min(order[a], order[b]) + 1):
                total += root[at + m * d + order[a]] * root[at + m * d + order[b]]
            for m in range(b):
                total -= out[a, m] * out[b, m]
            out[a, b] = math.sqrt(total) if a == b else total / out[b, b]
    return out


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def solved(lower: np.ndarray, c: Clusters, k: int, items: Items, i: int, lo: int, order: np.ndarray, count: int) -> np.ndarray:  # fmt: skip
    """``L^-1 (x - centre)`` of the first ``count`` columns of the order."""
    v = np.empty(count)
    for a in range(count):
        total = items.joint[i, lo + order[a]] - c.joint_centre[k, lo + order[a]]
        for m in range(a):
            total -= lower[a, m] * v[m]
        v[a] = total / lower[a, a]
    return v


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def known_density(c: Clusters, k: int, items: Items, i: int, law: Law, b: int, at: int) -> float:
    """Log density of the known cells of row ``i`` in matrix ``b``: the Student law of these columns alone."""
    lo, hi = law.joint_first[b], law.joint_first[b + 1]
    order = np.empty(hi - lo, np.int64)
    count = known_first(items, i, lo, hi, order)
    if count == hi - lo:
        return whole_density(c, k, items, i, law, b, at)
    lower = ordered_root(c.joint_root[k], at, hi - lo, order, count)
    v = solved(lower, c, k, items, i, lo, order, count)
    k_c, df = law.joint_k0[b] + c.size[k], 2.0 * law.a0 + c.size[k]
    total = math.lgamma(0.5 * (df + count)) - math.lgamma(0.5 * df)
    total -= 0.5 * count * math.log(math.pi * (k_c + 1.0) / k_c)
    square = 0.0
    for a in range(count):
        total -= math.log(lower[a, a])
        square += v[a] * v[a]
    return total - 0.5 * (df + count) * math.log1p(k_c / (k_c + 1.0) * square)


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def predict_joint(c: Clusters, k: int, items: Items, i: int, law: Law, known: bool) -> float:
    """Log density of row ``i`` in slot ``k``: of its known cells, or of all, the missing ones as they were drawn last."""
    total, at = 0.0, FIRST
    for b in range(c.joint_constant.shape[1]):
        if known and not items.joint_whole[i]:
            total += known_density(c, k, items, i, law, b, at)
        else:
            total += whole_density(c, k, items, i, law, b, at)
        at += (law.joint_first[b + 1] - law.joint_first[b]) ** 2
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def fill_row(rng: np.random.Generator, c: Clusters, k: int, items: Items, i: int, law: Law) -> None:
    """Draw the missing cells of row ``i`` given its known ones and the members of slot ``k``, which it is not in.

    A Student law of ``df + o`` degrees for o known cells: centre ``m_u + L_uo v``, ``v = L_oo^-1 (x_o - m_o)``, and the triangle
    ``L_uu`` scaled by ``sqrt((k_c + 1) / k_c + |v|^2)`` over the root of a chi-squared number of those degrees.
    """
    if c.size[k] == 0:
        reset_joint(c, k, law)
    at = FIRST
    for b in range(c.joint_constant.shape[1]):
        lo, hi = law.joint_first[b], law.joint_first[b + 1]
        d = hi - lo
        order = np.empty(d, np.int64)
        count = known_first(items, i, lo, hi, order)
        if count < d:
            lower = ordered_root(c.joint_root[k], at, d, order, d)
            v = np.empty(d)
            known = solved(lower, c, k, items, i, lo, order, count)
            for a in range(count):  # a loop, as numba needs long to compile the assignment of a slice
                v[a] = known[a]
            k_c, df = law.joint_k0[b] + c.size[k], 2.0 * law.a0 + c.size[k] + count
            square = (k_c + 1.0) / k_c
            for a in range(count):
                square += v[a] * v[a]
            scale = math.sqrt(square / (2.0 * rng.standard_gamma(0.5 * df)))
            for a in range(count, d):
                v[a] = scale * rng.standard_normal()
            for a in range(count, d):
                value = c.joint_centre[k, lo + order[a]]
                for m in range(a + 1):
                    value += lower[a, m] * v[m]
                items.joint[i, lo + order[a]] = value
        at += d * d


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def marginal_joint(c: Clusters, k: int, law: Law) -> float:
    """Log density of all cells of slot ``k``, missing ones as they were drawn last."""
    total, at = 0.0, FIRST
    for b in range(c.joint_constant.shape[1]):
        d, size, k0 = law.joint_first[b + 1] - law.joint_first[b], c.size[k], law.joint_k0[b]
        nu = d - 1.0 + 2.0 * law.a0
        for j in range(d):
            total += math.lgamma(0.5 * (nu + size - j)) - math.lgamma(0.5 * (nu - j))
        total += 0.5 * nu * log_determinant(law.joint_root, at, d)
        total -= 0.5 * (nu + size) * log_determinant(c.joint_root[k], at, d)
        total += 0.5 * d * (math.log(k0 / (k0 + size)) - size * math.log(math.pi))
        at += d * d
    return total


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def copy_row(source: np.ndarray, a: int, target: np.ndarray, b: int) -> None:
    """Row ``a`` of one array into row ``b`` of another. A loop, as numba needs long to compile the assignment of a row."""
    for j in range(source.shape[1]):
        target[b, j] = source[a, j]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def copy_joint(source: Clusters, a: int, target: Clusters, b: int) -> None:
    """Slot ``a`` of one set of clusters into slot ``b`` of another."""
    copy_row(source.joint_centre, a, target.joint_centre, b)
    copy_row(source.joint_root, a, target.joint_root, b)
    copy_row(source.joint_constant, a, target.joint_constant, b)
