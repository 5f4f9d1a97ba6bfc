"""Rows of counts that share a total: ``x ~ Multinomial(n_i, p_k)``, ``p_k ~ Dirichlet(a, …, a)``, the shares integrated out.

A matrix of W columns is to the clusters one column of codes with W levels, of which a row has many at once. With sums c_w and total N of a
cluster, A = a W, the log marginal is ``lg A - lg(A + N) + sum_w [lg(a + c_w) - lg a]`` and the coefficients of the rows.
"""

from __future__ import annotations

import math

from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.forms import Clusters, Items, Law

FEW = 8.0
"""Counts up to which a product of factors is quicker than two log gammas."""
LARGE, SMALL = 1e120, 1e-200
"""Products of many counts become a logarithm when they leave this range."""


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def add_rows(c: Clusters, k: int, items: Items, i: int, sign: float) -> None:
    """Put the counts of row ``i`` into slot ``k``, or take them out with the sign -1. O(counts above 0)."""
    codes = items.codes.shape[1]
    for j in range(items.rows.totals.shape[1]):
        c.coded[k, codes + j] += sign * items.rows.totals[i, j]
        for at in range(items.rows.spans[i, j], items.rows.spans[i, j + 1]):
            c.levels[k, items.rows.place[at]] += sign * items.rows.tally[at]


@njit(nogil=True, cache=True, error_model="numpy", forceinline=False, no_cpython_wrapper=True)
def predict_rows(c: Clusters, k: int, items: Items, i: int, law: Law) -> float:
    """Log probability of the counts of row ``i`` given their totals and the members of slot ``k``. O(counts above 0)."""
    codes, total = items.codes.shape[1], 0.0
    for j in range(items.rows.totals.shape[1]):
        weight, product = law.share_weight[j], 1.0
        every = weight * (law.first[codes + j + 1] - law.first[codes + j]) + c.coded[k, codes + j]
        total += items.rows.ways[i, j] + math.lgamma(every) - math.lgamma(every + items.rows.totals[i, j])
        for at in range(items.rows.spans[i, j], items.rows.spans[i, j + 1]):
            seen, count = weight + c.levels[k, items.rows.place[at]], items.rows.tally[at]
            if count > FEW:
                total += math.lgamma(seen + count) - math.lgamma(seen)
                continue
            for t in range(int(count)):
                product *= seen + t
            if product > LARGE or product < SMALL:
                total += math.log(product)
                product = 1.0
        total += math.log(product)
    return total
