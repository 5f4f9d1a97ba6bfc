"""Hamiltonian moves of f with the auxiliary variables integrated out, where labels name sides of a null category.

As in ``kernels/hamiltonian.py``, but for samples without a label, which lie on either side: their law of f has two modes, so the
reference is ``q(f) ~ N(f; 0, C) exp(-W f'f / 2)``, around 0 and with one small curvature W for all. f = F w with
``F F' = (C^-1 + W)^-1``; the target is ``N(w; 0, I) exp(h)``, ``h = log P(labels | f) + W f'f / 2``. Any W >= 0 gives the right law.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.at_once import POOR, ROOM, log_product, sides_of_all
from plaidwork.plugins.gp_auxiliary.kernels.hamiltonian import (
    _tail_terms,
    add_row,
    solve_lower,
    value_of,
)
from plaidwork.plugins.gp_auxiliary.kernels.truncated import HEIGHT, ROOT_HALF


@njit(nogil=True, cache=True)
def side_terms(f, side, null, minus, plus):
    """Log probability of a label given f, and its derivative: ``side`` 1 or -1 for z beyond the null category on that side, 0
    for either, with weights ``minus`` and ``plus``."""
    if side == 0:
        above = plus * math.erfc((null - f) * ROOT_HALF)
        below = minus * math.erfc((null + f) * ROOT_HALF)
        chance = 0.5 * (above + below)
        if chance > 1e-250:
            slope = plus * math.exp(-0.5 * (f - null) ** 2) - minus * math.exp(-0.5 * (f + null) ** 2)
            return math.log(chance), HEIGHT * slope / chance
        side = 1 if f > 0.0 else -1
        value, mills = _tail_terms(side * f - null)
        return value + math.log(plus if side > 0 else minus), side * mills
    value, mills = _tail_terms(side * f - null)
    return value, side * mills


@njit(nogil=True, cache=True)
def log_sides(f, side, null, minus, plus, force, room):
    """Log probability of all labels given f (N,), the sum of :func:`side_terms`; the derivatives go into ``force`` (N,). ``room`` (ROOM, N)."""
    chance, total = room[-1], 0.0
    sides_of_all(f, null, minus, plus, chance, force, room)
    for n in range(len(side)):
        if side[n] != 0 or not chance[n] > POOR:
            value, force[n] = side_terms(f[n], side[n], null, minus, plus)
            total, chance[n] = total + value, 1.0
    return total + log_product(chance)


@njit(nogil=True, cache=True)
def rest_of_sides(rows, w, side, null, minus, plus, bend, f, force, slope, room):
    """h at w (N,); its gradient goes into ``slope`` (N,). rows (N, N) is F, lower triangular; ``f``, ``force`` (N,) and ``room`` are written to."""
    for n in range(len(side)):
        f[n] = value_of(rows, n, w, True)
    total = log_sides(f, side, null, minus, plus, force, room)
    slope[:] = 0.0
    for n in range(len(side)):
        total += 0.5 * bend * f[n] * f[n]
        add_row(rows, n, force[n] + bend * f[n], slope, True)
    return total


@njit(nogil=True, cache=True)
def turn_w(rng, rows, w, side, null, minus, plus, bend, steps, angle):
    """One trajectory of ``steps`` rotations by ``angle`` radians from w (N,), changed in place; whether it was taken."""
    size = len(w)
    place, speed, slope = w.copy(), np.empty(size), np.empty(size)
    f, force, room = np.empty(size), np.empty(size), np.empty((ROOM, size))
    energy = rest_of_sides(rows, place, side, null, minus, plus, bend, f, force, slope, room)
    for j in range(size):
        speed[j] = rng.standard_normal()
        energy -= 0.5 * (speed[j] ** 2 + w[j] ** 2)
    cosine, sine, kick = math.cos(angle), math.sin(angle), math.tan(0.5 * angle)
    after = 0.0
    for _ in range(steps):
        for j in range(size):
            velocity, offset = speed[j] + kick * slope[j], place[j]
            place[j] = cosine * offset + sine * velocity
            speed[j] = cosine * velocity - sine * offset
        after = rest_of_sides(rows, place, side, null, minus, plus, bend, f, force, slope, room)
        for j in range(size):
            speed[j] += kick * slope[j]
    for j in range(size):
        after -= 0.5 * (speed[j] ** 2 + place[j] ** 2)
    if math.log(rng.random()) < after - energy:
        w[:] = place
        return True
    return False


@njit(nogil=True, cache=True)
def turn_f(rng, rows, f, side, null, log_minus, log_plus, bend, steps, angle, count):
    """``count`` trajectories of f (N,), in place, each with an angle of its own around ``angle``; how many were taken.

    Parameters
    ----------
    rows : (N, N) F, lower triangular.
    side : (N,) 1 or -1 of labelled samples, 0 without a label.
    null : half width of the null category.
    log_minus, log_plus : logarithms of the shares of missing labels on either side.
    bend : W.
    """
    minus, plus = math.exp(log_minus), math.exp(log_plus)
    solve_lower(rows, f)
    taken = 0
    for _ in range(count):
        turned = angle * (0.8 + 0.4 * rng.random())
        taken += turn_w(rng, rows, f, side, null, minus, plus, bend, steps, turned)
    w = f.copy()
    for n in range(len(f)):
        f[n] = value_of(rows, n, w, True)
    return taken
