"""Samples that were not fitted: where one draw of the partition would put them."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.dirichlet_processes.kernels.clusters import (
    add,
    copy_cluster,
    log_known,
    remove,
    reset,
)
from plaidwork.plugins.dirichlet_processes.kernels.forms import FIRST, Clusters, Items, Law
from plaidwork.plugins.dirichlet_processes.kernels.pieces import borrowed


@njit(nogil=True, cache=True, error_model="numpy")
def place_new(
    items: Items,
    labels: np.ndarray,
    point: np.ndarray,
    new: Items,
    c: Clusters,
    law: Law,
    share: np.ndarray,
    density: np.ndarray,
) -> None:
    """Add what one draw says of m new rows to ``share`` (m, C + 1); ``density`` (m,) gets their logs. O((n + m K) columns).

    ``labels`` (n,) is the draw, ``point`` (n,) the partition of C clusters that is shown: a new row in cluster k of the draw counts for
    those in proportion to k's members; a cluster of its own counts for the last column. ``c`` has a slot more than the draw has
    clusters. The density is on the scale of the fit.
    """
    items, labels, point, new = borrowed(items), borrowed(labels), borrowed(point), borrowed(new)
    c, law, share, density = borrowed(c), borrowed(law), borrowed(share), borrowed(density)
    number = labels.max() + 1
    shown = share.shape[1] - 1
    for k in range(number + 1):
        reset(c, k, law, items.complete)
    overlap = np.zeros((number, shown))
    for i in range(labels.size):
        add(c, labels[i], items, i, law)
        overlap[labels[i], point[i]] += 1.0
    weights = np.empty(number + 1)
    prior = math.exp(law.log_new[number])
    for k in range(number):
        prior += c.size[k] + law.shift
    for i in range(new.numbers.shape[0]):
        for k in range(number):
            weights[k] = math.log(c.size[k] + law.shift) + log_known(c, k, new, i, law)
        weights[number] = law.log_new[number] + log_known(c, number, new, i, law)
        top = weights.max()
        total = 0.0
        for k in range(number + 1):
            weights[k] = math.exp(weights[k] - top)
            total += weights[k]
        density[i] = top + math.log(total / prior)
        for k in range(number):
            for g in range(shown):
                share[i, g] += weights[k] / total * overlap[k, g] / c.size[k]
        share[i, shown] += weights[number] / total


@njit(nogil=True, cache=True, error_model="numpy")
def leave_out(
    fitted: Items,
    rest: Items,
    both: Items,
    rows: np.ndarray,
    labels: np.ndarray,
    c: Clusters,
    spare: Clusters,
    law: Law,
    out: np.ndarray,
) -> None:
    """Log density of some cells of each of m rows given the row's other cells and all other rows of a draw, into ``out`` (m,).

    ``both`` has all cells of the row, ``rest`` all but those meant; the other rows are in their clusters with what ``fitted`` has of them.
    The row's own cluster is summed over, a new one included. ``c`` has a free slot behind the clusters, ``spare`` one.
    """
    fitted, rest, both, rows = borrowed(fitted), borrowed(rest), borrowed(both), borrowed(rows)
    labels, c, spare, law = borrowed(labels), borrowed(c), borrowed(spare), borrowed(law)
    number = labels.max() + 1
    for k in range(number + 1):
        reset(c, k, law, fitted.complete)
    for i in range(labels.size):
        add(c, labels[i], fitted, i, law)
    for place in range(rows.size):
        i, own = rows[place], labels[rows[place]]
        copy_cluster(c, own, spare, FIRST)
        remove(c, own, fitted, i, law)
        used = number - 1 if c.size[own] == 0 else number
        top, bottom = -np.inf, -np.inf
        for k in range(number + 1):
            if k < number and c.size[k] == 0:
                continue
            weight = law.log_new[used] if k == number else math.log(c.size[k] + law.shift)
            top = np.logaddexp(top, weight + log_known(c, k, both, i, law))
            bottom = np.logaddexp(bottom, weight + log_known(c, k, rest, i, law))
        out[place] = top - bottom
        copy_cluster(spare, FIRST, c, own)
