"""The chances of four or more normals to lead all others by a margin: those of all classes on one grid, of all samples at once or of one.

With ``u`` the value of the leading one, over the mean of some class, class k leads with

    P_k = integral of phi(u + l_k) prod_{i != k} Phi(u + l_i - null) du,      l_i = the mean of that class - mean_i,

so that the normal tails at a place u serve all classes. Where that class has the largest mean, its integrand is nowhere below
``exp(l_k null)`` times that of class k, as Phi / phi rises: one grid around its mode leaves out of all integrals no more than of its own. The logarithm
of each integrand has a curvature between -K and -1, from which the reach and the spacing of the trapezoidal rule follow (Trefethen & Weideman 2014, SIAM
Review 56:385).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.at_once import WIDEST, chance_below, exponentials
from plaidwork.plugins.gp_auxiliary.kernels.truncated import HEIGHT

_REACH, _SPACING = 6.6, 1.0
"""Half the length of the grid, which leaves out 1e-10 of an integral, and the distance of its places times the root of the number of classes, which errs by 5e-9."""
_NEWTON = 2
"""Steps to the mode: the middle of the grid, a few tenths of which do not matter."""
_DEEPEST, _SUREST = -12.0, 10.0
"""Lead below which a label is left to the functions of one sample, and lead over the margin above which all count as this: chances of such classes are below 1e-12."""
_UNLIKE = 100.0
"""Ratio of two shares of missing labels above which the grid of one class leaves out too much of another."""
_LEAST = -700.0
"""Exponents below count as this."""


@njit(nogil=True, cache=True, fastmath=False, error_model="numpy")
def _grid(n_classes):
    """Distance of the places, and how many there are."""
    step = _SPACING / math.sqrt(n_classes)
    return step, int(2.0 * _REACH / step) + 2


@njit(nogil=True, cache=True)
def are_alike(null, log_share):
    """Whether one grid will do for all classes: neither is the half width too large nor are the shares (K,) too unlike."""
    return null <= WIDEST and log_share.max() - log_share.min() <= math.log(_UNLIKE)


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def _leads(f, label, null, over, own):
    """How far the class of the label (N,), or without one that of the largest f (K, N), leads each by more than ``null``, into ``over`` (K, N).

    That class goes into ``own`` (N,), whose entry in ``over`` is ``-null``.
    """
    for n in range(own.size):
        own[n] = max(label[n], 0)
        for k in range(len(f)):
            if label[n] < 0 and f[k, n] > f[own[n], n]:
                own[n] = k
        for k in range(len(f)):
            over[k, n] = min(f[own[n], n] - f[k, n] - null, _SUREST)


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def _modes(over, own, mode, room):
    """About where the integrand of the class ``own`` (N,) is largest, into ``mode`` (N,). ``room`` (5, N)."""
    bell, power, scale, slope, bend = room[0], room[1], room[2], room[3], room[4]
    mode[:] = 0.0
    for i in range(len(over)):
        for n in range(own.size):
            if i != own[n]:
                mode[n] = max(mode[n], -0.5 * over[i, n])
    for n in range(own.size):
        mode[n] = min(mode[n], -_DEEPEST)
    for _ in range(_NEWTON):
        for n in range(own.size):
            slope[n], bend[n] = -mode[n], 1.0
        for i in range(len(over)):
            for n in range(own.size):
                x = mode[n] + over[i, n]
                bell[n] = max(-0.5 * x * x, _LEAST)
            exponentials(bell, power, scale)
            for n in range(own.size):
                x = mode[n] + over[i, n]
                mills = 0.0 if own[n] == i else HEIGHT * bell[n] / chance_below(x, bell[n])
                slope[n] += mills
                bend[n] += mills * (x + mills)
        for n in range(own.size):
            mode[n] += slope[n] / bend[n]


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def _first_place(x, null, step, bell, dense, ratio, power, scale):
    """Of one class at the first places x (N,): ``exp(-x^2 / 2)``, the same of x + null, and by what the latter falls to the next place."""
    for n in range(x.size):
        bell[n] = max(-0.5 * x[n] * x[n], _LEAST)
        dense[n] = max(-0.5 * (x[n] + null) * (x[n] + null), _LEAST)
        ratio[n] = -step * (x[n] + null) - 0.5 * step * step
    exponentials(bell, power, scale)
    exponentials(dense, power, scale)
    exponentials(ratio, power, scale)


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def many_of_all(f, label, null, log_share, chance):
    """The chance of every label (N,), below 0 without one, given f (K, N), into ``chance`` (N,): relative error below 1e-8.

    ``log_share`` (K,) are the logarithms of the shares of missing labels, for which :func:`are_alike` holds. A label whose class is far below another gets 0, and is left to the
    functions of one sample. From place to place the product of the tails and the sum of all classes' integrands grow class by class.
    """
    n_classes, size = f.shape
    of_class = np.empty((4, n_classes, size))
    x, bell, dense, ratio = of_class[0], of_class[1], of_class[2], of_class[3]
    room, own = np.empty((8, size)), np.empty(size, dtype=np.int64)
    start, product, total = room[5], room[6], room[7]
    step, count = _grid(n_classes)
    _leads(f, label, null, x, own)
    _modes(x, own, start, room)
    for n in range(size):
        chance[n] = 0.0
        start[n] -= _REACH
    for i in range(n_classes):
        for n in range(size):
            x[i, n] += start[n]
        _first_place(x[i], null, step, bell[i], dense[i], ratio[i], room[0], room[1])
        for n in range(size):
            dense[i, n] *= math.exp(log_share[i]) if label[n] < 0 else (1.0 if label[n] == i else 0.0)
    fall, rise = math.exp(-step * step), math.exp(step * null)
    for j in range(count):
        product[:], total[:] = 1.0, 0.0
        for i in range(n_classes):
            for n in range(size):
                below = chance_below(x[i, n] + j * step, bell[i, n])
                total[n] = total[n] * below + product[n] * dense[i, n]
                product[n] *= below
                bell[i, n] *= ratio[i, n] * rise
                dense[i, n] *= ratio[i, n]
                ratio[i, n] *= fall
        for n in range(size):
            chance[n] += total[n]
    for n in range(size):
        far = False
        for i in range(n_classes):
            far |= i != label[n] and f[max(label[n], 0), n] - f[i, n] - null < _DEEPEST
        chance[n] *= 0.0 if far and label[n] >= 0 else step * HEIGHT


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def many_of_one(mean, sd, null, log_share, out):
    """``share_k P(z_k > z_i + null for all i != k)`` of every class k of one sample into out (K,), means (K,): error below 1e-8 of their sum.

    As :func:`many_of_all`, but that the places of a class are worked at once, and a class far below the largest mean counts as 0.
    """
    n_classes, top = len(mean), 0
    for k in range(n_classes):
        if mean[k] > mean[top]:
            top = k
    step, count = _grid(n_classes)
    room, of_class, over = np.empty((3, count)), np.empty((2, n_classes, count)), np.empty(n_classes)
    product, power, scale, below, dense = room[0], room[1], room[2], of_class[0], of_class[1]
    for i in range(n_classes):
        over[i] = (mean[top] - mean[i] - null) / sd
    start = _mode(over, top) - _REACH
    product[:] = 1.0
    for i in range(n_classes):
        if over[i] > _SUREST:
            continue
        for j in range(count):
            x = start + over[i] + j * step
            below[i, j] = max(-0.5 * x * x, _LEAST)
            dense[i, j] = max(-0.5 * (x + null / sd) * (x + null / sd), _LEAST)
        exponentials(below[i], power, scale)
        exponentials(dense[i], power, scale)
        for j in range(count):
            below[i, j] = chance_below(start + over[i] + j * step, below[i, j])
            dense[i, j] *= product[j]
            product[j] *= below[i, j]
    product[:] = 1.0
    for i in range(n_classes - 1, -1, -1):
        out[i] = 0.0
        if over[i] > _SUREST:
            continue
        for j in range(count):
            out[i] += dense[i, j] * product[j]
            product[j] *= below[i, j]
        out[i] *= math.exp(log_share[i]) * step * HEIGHT


@njit(nogil=True, cache=True, fastmath=False, error_model="numpy")
def _mode(over, own):
    """:func:`_modes` of one sample, over (K,)."""
    mode = 0.0
    for i in range(len(over)):
        if i != own:
            mode = max(mode, -0.5 * over[i])
    for _ in range(_NEWTON):
        slope, bend = -mode, 1.0
        for i in range(len(over)):
            x = mode + over[i]
            if i != own and x < _SUREST:
                bell = math.exp(-0.5 * x * x)
                mills = HEIGHT * bell / chance_below(x, bell)
                slope += mills
                bend += mills * (x + mills)
        mode += slope / bend
    return mode
