"""Probabilities of all classes at many places: which of K normals leads the others by a margin."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.truncated import HEIGHT, ROOT_HALF
from plaidwork.plugins.gp_auxiliary.kernels.winner import log_win

_REACH = 6.6
"""Standard deviations from the largest mean beyond which the integrals end: 2e-11 is left out on either side."""
_NEVER = 9.0
"""Standard deviations below the largest mean from which a class leads with a chance below 1e-10."""


@njit(nogil=True, cache=True)
def lead_chances(mean, sd, null):
    """(K, m) probabilities that class k leads all others by more than ``null``; absolute error below 1e-9.

    mean (K, m) of independent normals, sd (m,) the same for all classes of a place. Three classes by the integral of
    the sampler over the correlation; more by the trapezoidal rule on nodes that all classes of a place share, whose error
    for such products of normal functions falls as ``exp(-2 pi^2 / (K step^2))`` (Trefethen & Weideman 2014, SIAM Review 56:385).
    """
    n_classes, n_places = mean.shape
    out = np.empty((n_classes, n_places))
    own, chance = np.empty(n_classes), np.empty(n_classes)
    step = 1.1 / math.sqrt(n_classes)
    count = int(2.0 * _REACH / step) + 2
    below, density = np.empty((n_classes, count)), np.empty((n_classes, count))
    for n in range(n_places):
        for k in range(n_classes):
            own[k] = mean[k, n]
        if n_classes == 3:
            _three(own, sd[n], null, chance)
            for k in range(n_classes):
                out[k, n] = chance[k]
            continue
        top = own.max()
        for k in range(n_classes):
            own[k] = (own[k] - top) / sd[n]
        _on_nodes(own, null / sd[n], step, below, density)
        _products(own, step, below, density, chance)
        for k in range(n_classes):
            out[k, n] = chance[k]
    return out


@njit(nogil=True, cache=True)
def _three(own, sd, null, out):
    """Chances of three classes, means own (3,), into out (3,); without a margin the largest is what the others leave."""
    top = own.argmax()
    rest = 0.0
    for k in range(3):
        if k != top:
            far = own[top] - own[k] > _NEVER * sd
            out[k] = 0.0 if far else math.exp(log_win(own, sd, k, null))
            rest += out[k]
    out[top] = 1.0 - rest if null == 0.0 else math.exp(log_win(own, sd, top, null))


@njit(nogil=True, cache=True)
def _on_nodes(own, margin, step, below, density):
    """``Phi(t - margin - own_i)`` and the density of t at nodes t from -6.6 on, for own (K,) of which the largest is 0.

    The density goes from node to node by its ratio, which falls by a constant factor. Classes too far below to matter keep what
    was in their row of it.
    """
    fall = math.exp(-step * step)
    for k in range(len(own)):
        far = own[k] < -2.0 * _REACH
        x = -_REACH - own[k]
        value, ratio = HEIGHT * math.exp(-0.5 * x * x), math.exp(-step * x - 0.5 * step * step)
        for j in range(below.shape[1]):
            at = x + j * step - margin
            if at > 8.3:
                below[k, j] = 1.0
            elif at < -8.3:
                below[k, j] = 0.0
            else:
                below[k, j] = 0.5 * math.erfc(-at * ROOT_HALF)
            if not far:
                density[k, j] = value
                value *= ratio
                ratio *= fall


@njit(nogil=True, cache=True)
def _products(own, step, below, density, out):
    """The integrals of the density of each class times the others' ``below``, into out (K,)."""
    for k in range(len(own)):
        total = 0.0
        if own[k] >= -2.0 * _REACH:
            for j in range(below.shape[1]):
                product = density[k, j]
                for i in range(len(own)):
                    if i != k:
                        product *= below[i, j]
                total += product
        out[k] = step * total


@njit(nogil=True, cache=True)
def log_own_chances(mean, sd, code, null):
    """(m,) log probability that the class ``code`` (m,) of each place leads, right far out too; its error grows with
    the number of classes, to 2e-4 for twenty."""
    found, own = np.empty(len(code)), np.empty(len(mean))
    for n in range(len(code)):
        for k in range(len(mean)):
            own[k] = mean[k, n]
        found[n] = log_win(own, sd[n], code[n], null)
    return found
