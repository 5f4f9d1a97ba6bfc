"""Rounds of a tempered chain of two classes in one call: trajectories of f of every copy, then swaps of neighbours.

A copy has f (N,) = F w, see ``kernels/sides.py``; ``order[m]`` is the copy at rung m, whose null category has the half width
``widths[m]``. What belongs to a copy (f, w, shares, F) stays where it is: swaps change ``order``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.at_once import ROOM
from plaidwork.plugins.gp_auxiliary.kernels.hamiltonian import solve_lower, value_of
from plaidwork.plugins.gp_auxiliary.kernels.sides import log_sides, turn_w


@njit(nogil=True, cache=True)
def swap_neighbours(rng, f, side, widths, minus, plus, order, tried, taken):
    """Even, then odd pairs of rungs may swap their copies: ``order`` (M,) and the counts (M - 1,) are changed in place."""
    size = len(widths)
    own, force, room = np.empty(size), np.empty(len(side)), np.empty((ROOM, len(side)))
    for m in range(size):
        c = order[m]
        own[m] = log_sides(f[c], side, widths[m], minus[c], plus[c], force, room)
    for first in range(2):
        for m in range(first, size - 1, 2):
            low, high = order[m], order[m + 1]
            raised = log_sides(f[low], side, widths[m + 1], minus[low], plus[low], force, room)
            lowered = log_sides(f[high], side, widths[m], minus[high], plus[high], force, room)
            tried[m] += 1
            if math.log(rng.random()) < raised + lowered - own[m] - own[m + 1]:
                taken[m] += 1
                order[m], order[m + 1] = high, low
                own[m], own[m + 1] = lowered, raised


@njit(nogil=True, cache=True)
def run_rounds(
    rng, lo, hi, rows, which, f, side, widths, minus, plus, bend, steps, angles, count, order, moved, turned, tried, taken, label, stage, trips
):  # fmt: skip
    """Units ``lo..hi-1`` of rounds, each of M + 1 units: ``count`` trajectories of the copy at every rung, then swaps.

    Parameters
    ----------
    rows : (m, N, N) F, lower triangular, of which ``which`` (M,) names that of every copy; below 0 its f stays.
    f : (M, N), in place.
    side : (N,) 1 or -1 of labelled samples, 0 without a label.
    minus, plus : (M,) shares of missing labels of every copy.
    bend : W.
    steps, angles : (M,) of the trajectories at every rung.
    order : (M,) the copy at every rung, in place.
    moved, turned : (M,) trajectories at every rung, those taken of them: added to.
    tried, taken : (M - 1,) swaps.
    label, stage, trips : (M,) as in ``Swaps``; ``label`` is that of every copy here and stays.
    """
    size = len(widths)
    w = f.copy()
    for c in range(size):
        if which[c] >= 0:
            solve_lower(rows[which[c]], w[c])
    for unit in range(lo, hi):
        m = unit % (size + 1)
        if m == size:
            swap_neighbours(rng, f, side, widths, minus, plus, order, tried, taken)
            count_trips(order, label, stage, trips)
            continue
        c = order[m]
        if which[c] < 0:
            continue
        own = rows[which[c]]
        for _ in range(count):
            angle = angles[m] * (0.8 + 0.4 * rng.random())
            turned[m] += turn_w(rng, own, w[c], side, widths[m], minus[c], plus[c], bend, steps[m], angle)
            moved[m] += 1
        for n in range(len(side)):
            f[c, n] = value_of(own, n, w[c], True)


@njit(nogil=True, cache=True)
def count_trips(order, label, stage, trips):
    """A round trip of a copy: from width 0 to the full width and back."""
    low, high = label[order[0]], label[order[-1]]
    if stage[low] == 2:
        trips[low] += 1
    stage[low] = 1
    if stage[high] == 1:
        stage[high] = 2
