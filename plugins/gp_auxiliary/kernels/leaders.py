"""Hamiltonian moves of f (3, N) with the auxiliary variables integrated out, where the label names the class that leads.

As in ``kernels/sides.py``, with a row of f for each class: ``f_k = F w_k``, the same F for all, and the target is
``N(w; 0, I) exp(h)``, ``h = log P(labels | f) + W |f|^2 / 2``. The chance to lead two others by a margin is a bivariate normal
integral with correlation 1/2 (``winner.log_both``), whose derivatives are a density times a margin.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.at_once import POOR, REST, ROOM, WIDEST, leads_of_all, log_product
from plaidwork.plugins.gp_auxiliary.kernels.hamiltonian import add_row, solve_lower, value_of
from plaidwork.plugins.gp_auxiliary.kernels.rounds import count_trips
from plaidwork.plugins.gp_auxiliary.kernels.truncated import ROOT_HALF, log_ndtr
from plaidwork.plugins.gp_auxiliary.kernels.winner import log_win, log_wins

_LOG_HEIGHT = 0.5 * math.log(4.0 * math.pi)
"""Minus the logarithm of the height of a normal density, over the root of a half that a difference of two is divided by."""


@njit(nogil=True, cache=True)
def add_lead(f, k, null, log_chance, weight, slope):
    """Add ``weight`` times the gradient of ``log P(class k leads | f)`` to ``slope`` (3,); its logarithm is known."""
    one, other = (k + 1) % 3, (k + 2) % 3
    x, y = (f[k] - null - f[one]) * ROOT_HALF, (f[k] - null - f[other]) * ROOT_HALF
    first = weight * math.exp(-0.5 * x * x - _LOG_HEIGHT + log_ndtr((y - 0.5 * x) * REST) - log_chance)
    second = weight * math.exp(-0.5 * y * y - _LOG_HEIGHT + log_ndtr((x - 0.5 * y) * REST) - log_chance)
    slope[one] -= first
    slope[other] -= second
    slope[k] += first + second


@njit(nogil=True, cache=True)
def lead_terms(f, label, null, log_share, lead, slope):
    """Log probability of a label given f (3,), that of any class below 0; its gradient goes into ``slope`` (3,).

    ``log_share`` (3,) are the shares of missing labels, ``lead`` (3,) is scratch space.
    """
    slope[:] = 0.0
    if label >= 0:
        value = log_win(f, 1.0, label, null)
        add_lead(f, label, null, value, 1.0, slope)
        return value
    log_wins(f, 1.0, null, log_share, lead)
    largest, together = lead.max(), 0.0
    for k in range(3):
        together += math.exp(lead[k] - largest)
    value = largest + math.log(together)
    for k in range(3):
        if lead[k] > -math.inf:
            add_lead(f, k, null, lead[k] - log_share[k], math.exp(lead[k] - value), slope)
    return value


@njit(nogil=True, cache=True)
def log_leaders(f, label, null, log_share, force, room):
    """Log probability of all labels given f (3, N), the sum of :func:`lead_terms`; its gradient goes into ``force`` (3, N). ``room`` (ROOM, N)."""
    chance, total = room[-1], 0.0
    own, lead, slope = np.empty(3), np.empty(3), np.empty(3)
    if null <= WIDEST:
        leads_of_all(f, null, np.exp(log_share), chance, force, room)
    else:
        chance[:] = 0.0
    for n in range(len(label)):
        if label[n] >= 0 or not chance[n] > POOR:
            for k in range(3):
                own[k] = f[k, n]
            total, chance[n] = total + lead_terms(own, label[n], null, log_share, lead, slope), 1.0
            for k in range(3):
                force[k, n] = slope[k]
    return total + log_product(chance)


@njit(nogil=True, cache=True)
def rest_of_leaders(rows, w, label, null, log_share, bend, f, force, slope, room):
    """h at w (3, N); its gradient goes into ``slope`` (3, N). rows (N, N) is F, lower triangular; ``f``, ``force`` (3, N) and ``room`` are written to."""
    for n in range(len(label)):
        for k in range(3):
            f[k, n] = value_of(rows, n, w[k], True)
    total = log_leaders(f, label, null, log_share, force, room)
    slope[:] = 0.0
    for n in range(len(label)):
        for k in range(3):
            total += 0.5 * bend * f[k, n] * f[k, n]
            add_row(rows, n, force[k, n] + bend * f[k, n], slope[k], True)
    return total


@njit(nogil=True, cache=True)
def turn_leaders(rng, rows, w, label, null, log_share, bend, steps, angle):
    """One trajectory of ``steps`` rotations by ``angle`` radians from w (3, N), changed in place; whether it was taken."""
    place, speed, slope = w.copy(), np.empty(w.shape), np.empty(w.shape)
    f, force, room = np.empty(w.shape), np.empty(w.shape), np.empty((ROOM, w.shape[1]))
    energy = rest_of_leaders(rows, place, label, null, log_share, bend, f, force, slope, room)
    for k in range(3):
        for j in range(w.shape[1]):
            speed[k, j] = rng.standard_normal()
            energy -= 0.5 * (speed[k, j] ** 2 + w[k, j] ** 2)
    cosine, sine, kick = math.cos(angle), math.sin(angle), math.tan(0.5 * angle)
    after = 0.0
    for _ in range(steps):
        for k in range(3):
            for j in range(w.shape[1]):
                velocity, offset = speed[k, j] + kick * slope[k, j], place[k, j]
                place[k, j] = cosine * offset + sine * velocity
                speed[k, j] = cosine * velocity - sine * offset
        after = rest_of_leaders(rows, place, label, null, log_share, bend, f, force, slope, room)
        for k in range(3):
            for j in range(w.shape[1]):
                speed[k, j] += kick * slope[k, j]
    for k in range(3):
        for j in range(w.shape[1]):
            after -= 0.5 * (speed[k, j] ** 2 + place[k, j] ** 2)
    if math.log(rng.random()) < after - energy:
        w[:] = place
        return True
    return False


@njit(nogil=True, cache=True)
def turn_f(rng, rows, f, label, null, log_share, bend, steps, angle, count):
    """``count`` trajectories of f (3, N), in place, each with an angle of its own around ``angle``; how many were taken."""
    w = f.copy()
    for k in range(3):
        solve_lower(rows, w[k])
    taken = 0
    for _ in range(count):
        turned = angle * (0.8 + 0.4 * rng.random())
        taken += turn_leaders(rng, rows, w, label, null, log_share, bend, steps, turned)
    for k in range(3):
        for n in range(len(label)):
            f[k, n] = value_of(rows, n, w[k], True)
    return taken


@njit(nogil=True, cache=True)
def swap_leaders(rng, f, label, widths, log_share, order, tried, taken):
    """Even, then odd pairs of rungs may swap their copies: ``order`` (M,) and the counts (M - 1,) are changed in place."""
    size = len(widths)
    own, force, room = np.empty(size), np.empty(f.shape[1:]), np.empty((ROOM, f.shape[2]))
    for m in range(size):
        own[m] = log_leaders(f[order[m]], label, widths[m], log_share[order[m]], force, room)
    for first in range(2):
        for m in range(first, size - 1, 2):
            low, high = order[m], order[m + 1]
            raised = log_leaders(f[low], label, widths[m + 1], log_share[low], force, room)
            lowered = log_leaders(f[high], label, widths[m], log_share[high], force, room)
            tried[m] += 1
            if math.log(rng.random()) < raised + lowered - own[m] - own[m + 1]:
                taken[m] += 1
                order[m], order[m + 1] = high, low
                own[m], own[m + 1] = lowered, raised


@njit(nogil=True, cache=True)
def run_rounds(
    rng, lo, hi, rows, f, code, widths, log_share, bend, steps, angles, count, order, moved, turned, tried, taken, label, stage, trips
):  # fmt: skip
    """Units ``lo..hi-1`` of rounds as in ``kernels/rounds.py``, for f (M, 3, N), in place, and one map ``rows`` (N, N) of all copies.

    ``code`` (N,) are the labels, below 0 without one; ``log_share`` (M, 3).
    """
    size, samples = len(widths), f.shape[2]
    w = f.copy()
    for c in range(size):
        for k in range(3):
            solve_lower(rows, w[c, k])
    for unit in range(lo, hi):
        m = unit % (size + 1)
        if m == size:
            swap_leaders(rng, f, code, widths, log_share, order, tried, taken)
            count_trips(order, label, stage, trips)
            continue
        c = order[m]
        for _ in range(count):
            angle = angles[m] * (0.8 + 0.4 * rng.random())
            turned[m] += turn_leaders(rng, rows, w[c], code, widths[m], log_share[c], bend, steps[m], angle)
            moved[m] += 1
        for k in range(3):
            for n in range(samples):
                f[c, k, n] = value_of(rows, n, w[c, k], True)
