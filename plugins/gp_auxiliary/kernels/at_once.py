"""The labels' probability of all samples of a null category at once, and its slopes.

What ``sides.side_terms`` and ``leaders.lead_terms`` say of one sample, for samples without a label: most are, where labels are few. Exponentials and
normal tails are polynomials, so that the loops over samples are vectorised; relative errors are below 1e-12 of two classes, below 1e-9 of three.
Samples with a label, and those far out, are left to the functions of one sample.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.truncated import HEIGHT, ROOT_HALF
from plaidwork.plugins.gp_auxiliary.kernels.winner import _FEW_PLACES

_LEAD_HEIGHT = 1.0 / math.sqrt(4.0 * math.pi)
"""Height of a normal density, times the root of a half that a difference of two is divided by."""
REST = 2.0 / math.sqrt(3.0)
"""One over the sd of one of two normals with correlation 1/2 given the other."""

_LEAST = -708.0
"""Exponents below count as this: the exponential is 0 but for 1e-308."""
_TO_TWOS, _HIGH, _LOW = 1.4426950408889634, 0.693147180369123816490, 1.90821492927058770002e-10
"""One over the logarithm of 2, and this logarithm in two parts, the first of few digits (Cody and Waite 1980)."""
_ROUND = 6755399441055744.0
"""1.5 2^52: added to a small number it leaves the nearest integer in the last bits."""

ROOM = 10
"""Rows of room that trajectories work in, of which the last is for chances."""
WIDEST = 7.0
"""Half width up to which three classes are worked at once: beyond, eight places of the integral are too few."""
POOR = 1e-100
"""Chances below are left to the functions of one sample."""

_NEAR = -5.0
"""Lead of one of three below which eight places of the integral are too few."""
_DEEPEST, _SHARPEST = -12.0, 5.5
"""Lead below which, and curvature at the mode above which, the chance of many classes is left to the functions of one sample."""
_LOWEST = -25.0
"""Values below count as this: the normal tail there is above 1e-138."""
_SPACING, _TRAPEZOIDS, _NEWTON = 0.4, 16, 4
"""Places of the integral of many classes, as many on either side of the mode, which so many steps find well enough."""


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def exponentials(x, power, scale):
    """x := exp(x) for x (n,) from -708 to 700, to 1e-15 of itself; ``power`` and ``scale`` (n,) are room to work in.

    With x = k log 2 + r the exponential of r is a polynomial, and 2^k a number whose exponent is written into its bits.
    """
    for i in range(x.size):
        power[i] = x[i] * _TO_TWOS + _ROUND
    found, made = power.view(np.int64), scale.view(np.int64)
    for i in range(x.size):
        made[i] = (found[i] + 1023) << 52
    for i in range(x.size):
        k = power[i] - _ROUND
        r = (x[i] - k * _HIGH) - k * _LOW
        p = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600)))
        p = 1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * p)))
        x[i] = (1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * p)))) * scale[i]


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def scaled_tail(z):
    """``erfc(z) exp(z^2)`` for z >= 0, to 1e-13 of itself.

    Times 1 + 2 z it is smooth in (z - 3.75) / (z + 3.75) (Schonfelder 1978): its Chebyshev series of 18 terms, as powers.
    """
    s = (z - 3.75) / (z + 3.75)
    p = 1.509433523107813e-06 + s * (1.2752717771471194e-08 - s * 1.2652976510207129e-07)
    p = 2.2498626691246606e-05 + s * (-1.118019703164199e-05 + s * (-1.089353938827756e-06 + s * p))
    p = 0.00029379013133430773 + s * (-0.00029022389583347727 + s * (5.1469911693417854e-05 + s * p))
    p = 0.02836227153579328 + s * (-0.009746599601332251 + s * (0.0017556521381034947 + s * p))
    p = -0.10880393037595343 + s * (0.09230432187904027 + s * (-0.05869339555503176 + s * p))
    p = -0.14024059858488824 + s * (0.003585415492495525 + s * (0.08227673845004052 + s * p))
    return (1.237512630837793 + s * p) / (1.0 + 2.0 * z)


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def chance_below(x, height):
    """``Phi(x)``, given exp(-x^2 / 2)."""
    tail = 0.5 * height * scaled_tail(abs(x) * ROOT_HALF)
    return tail if x < 0.0 else 1.0 - tail


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def bells(x, bell, power, scale):
    """exp(-x^2 / 2) of x (n,) into ``bell``."""
    for i in range(x.size):
        bell[i] = max(-0.5 * x[i] * x[i], _LEAST)
    exponentials(bell, power, scale)


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def sides_of_all(f, null, minus, plus, chance, force, room):
    """Of two classes: the chance of a missing label given f (N,), and the slope of its logarithm, into ``chance`` and ``force`` (N,).

    ``minus`` and ``plus`` are the shares of missing labels; ``room`` (9, N).
    """
    up, down, above, below = room[0], room[1], room[2], room[3]
    for n in range(f.size):
        up[n], down[n] = f[n] - null, -f[n] - null
    bells(up, above, room[4], room[5])
    bells(down, below, room[4], room[5])
    for n in range(f.size):
        chance[n] = plus * chance_below(up[n], above[n]) + minus * chance_below(down[n], below[n])
        force[n] = HEIGHT * (plus * above[n] - minus * below[n]) / chance[n]


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def _both_of_all(x, y, both, at_x, at_y, room):
    """P(u < x, v < y) of two normals with correlation 1/2, of x and y (n,), into ``both``; their bells into ``at_x`` and ``at_y``. ``room`` (3, n).

    The product of the margins and an integral over the correlation, as in ``winner.log_both``.
    """
    bell, power, scale = room[0], room[1], room[2]
    bells(x, at_x, power, scale)
    bells(y, at_y, power, scale)
    for n in range(x.size):
        both[n] = chance_below(x[n], at_x[n]) * chance_below(y[n], at_y[n])
    for j in range(_FEW_PLACES.shape[1]):
        sine, half, weight = _FEW_PLACES[0, j], _FEW_PLACES[1, j], _FEW_PLACES[2, j]
        for n in range(x.size):
            bell[n] = max((2.0 * sine * x[n] * y[n] - x[n] * x[n] - y[n] * y[n]) * half, _LEAST)
        exponentials(bell, power, scale)
        for n in range(x.size):
            both[n] += weight * bell[n]


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def _slope_of_all(own, beside, at, slope, room):
    """The slope of :func:`_both_of_all` by ``own`` (n,), times the root of a half, into ``slope``; ``at`` is the bell of ``own``. ``room`` (3, n)."""
    bell, power, scale = room[0], room[1], room[2]
    for n in range(own.size):
        slope[n] = (beside[n] - 0.5 * own[n]) * REST
    bells(slope, bell, power, scale)
    for n in range(own.size):
        slope[n] = _LEAD_HEIGHT * at[n] * chance_below(slope[n], bell[n])


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def leads_of_all(f, null, share, chance, force, room):
    """Of three classes: the chance of a missing label given f (3, N), and the slope of its logarithm, into ``chance`` (N,) and ``force`` (3, N).

    ``share`` (3,) are the shares of missing labels; ``room`` (9, N).
    """
    chance[:], force[:] = 0.0, 0.0
    x, y, at_x, at_y, both, slope, rest = room[0], room[1], room[2], room[3], room[4], room[5], room[6:]
    for k in range(3):
        one, other = (k + 1) % 3, (k + 2) % 3
        for n in range(x.size):
            x[n], y[n] = (
                (f[k, n] - null - f[one, n]) * ROOT_HALF,
                (f[k, n] - null - f[other, n]) * ROOT_HALF,
            )
        _both_of_all(x, y, both, at_x, at_y, rest)
        for n in range(x.size):
            chance[n] += share[k] * both[n]
        for side in range(2):
            loser = one if side == 0 else other
            _slope_of_all(
                x if side == 0 else y, y if side == 0 else x, at_x if side == 0 else at_y, slope, rest
            )
            for n in range(x.size):
                force[k, n] += share[k] * slope[n]
                force[loser, n] -= share[k] * slope[n]
    for k in range(3):
        for n in range(x.size):
            force[k, n] /= chance[n]


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def three_labelled(f, code, chance, slope):
    """Of three classes: the chance of the label ``code`` (N,) given f (3, N), and the slopes of its logarithm by the leads over the two others.

    Into ``chance`` (N,), 0 where a lead is so far below 0 that it is left to the functions of one sample, and ``slope`` (2, N): over the class after the
    label's, in a circle, and the one after that.
    """
    room = np.empty((7, code.size))
    x, y, at_x, at_y, rest = room[0], room[1], room[2], room[3], room[4:]
    for n in range(code.size):
        k = code[n]
        x[n], y[n] = (f[k, n] - f[(k + 1) % 3, n]) * ROOT_HALF, (f[k, n] - f[(k + 2) % 3, n]) * ROOT_HALF
    _both_of_all(x, y, chance, at_x, at_y, rest)
    _slope_of_all(x, y, at_x, slope[0], rest)
    _slope_of_all(y, x, at_y, slope[1], rest)
    for n in range(code.size):
        slope[0, n] /= chance[n]
        slope[1, n] /= chance[n]
        if min(x[n], y[n]) < _NEAR:
            chance[n] = 0.0


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def many_labelled(f, code, chance, slope):
    """As :func:`three_labelled`, of K classes: f (K, N), slope (K - 1, N).

    The chance to lead is the integral of ``exp(g(t))`` as in ``winner``, by the trapezoidal rule around its mode.
    """
    others, size = len(f) - 1, code.size
    leads, ratio, room = np.empty((others, size)), np.empty((others, size)), np.empty((8, size))
    mode, t, x, bell, power, scale, rise, bend = (
        room[0],
        room[1],
        room[2],
        room[3],
        room[4],
        room[5],
        room[6],
        room[7],
    )
    for n in range(size):
        k, least = code[n], 0.0
        for i in range(others):
            leads[i, n] = f[k, n] - f[(k + 1 + i) % len(f), n]
            least = min(least, leads[i, n])
        mode[n] = -0.5 * max(least, _DEEPEST)
    for _ in range(_NEWTON):
        for n in range(size):
            rise[n], bend[n] = -mode[n], 1.0
        for i in range(others):
            for n in range(size):
                x[n] = max(mode[n] + leads[i, n], _DEEPEST)
            bells(x, bell, power, scale)
            for n in range(size):
                mills = HEIGHT * bell[n] / chance_below(x[n], bell[n])
                rise[n] += mills
                bend[n] += mills * (x[n] + mills)
        for n in range(size):
            mode[n] += rise[n] / bend[n]
    chance[:], slope[:] = 0.0, 0.0
    for j in range(-_TRAPEZOIDS, _TRAPEZOIDS + 1):
        for n in range(size):
            t[n] = mode[n] + _SPACING * j
        bells(t, rise, power, scale)
        for i in range(others):
            for n in range(size):
                x[n] = max(t[n] + leads[i, n], _LOWEST)
            bells(x, bell, power, scale)
            for n in range(size):
                below = chance_below(x[n], bell[n])
                ratio[i, n] = bell[n] / below
                rise[n] *= below
        for n in range(size):
            chance[n] += rise[n]
        for i in range(others):
            for n in range(size):
                slope[i, n] += rise[n] * ratio[i, n]
    for n in range(size):
        far = bend[n] > _SHARPEST
        for i in range(others):
            far |= leads[i, n] < _DEEPEST
            slope[i, n] *= HEIGHT / chance[n]
        chance[n] = 0.0 if far else _SPACING * HEIGHT * chance[n]


@njit(nogil=True, cache=True)
def labelled_of_all(f, code, chance, slope):
    """:func:`three_labelled` or :func:`many_labelled`, by the number of rows of f (K, N)."""
    if len(f) == 3:
        three_labelled(f, code, chance, slope)
    else:
        many_labelled(f, code, chance, slope)


@njit(nogil=True, cache=True)
def log_product(chance):
    """Sum of the logarithms of chances (N,) above 1e-100, of a few logarithms only."""
    total, product = 0.0, 1.0
    for n in range(chance.size):
        product *= chance[n]
        if product < 1e-200:
            total += math.log(product)
            product = 1.0
    return total + math.log(product)
