"""Moves of a cut-point and all above it, which f follows, with the auxiliary variables integrated out.

Given f the ends of a rare class hardly move, nor f given them. Near the posterior mode f answers a shift of an end by
``(C^-1 + W)^-1 b``, where ``b_n`` is what the slope of sample n's label gains by it: nothing where neither end of its class shifts,
its curvature ``W_n`` where both do. A move goes along that line as far as a slice says (Neal 2003, Annals of Statistics 31:705). The line
depends on what was learnt in the warm-up alone, so it is a shift of volume 1; any ``b`` gives the right law.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.hamiltonian import add_row, label_terms, value_of

_WIDTH, _MOST_STEPS = 0.5, 10
_OF_ONE_END = 0.5
"""Share of the curvature that belongs to one of two ends."""


@njit(nogil=True, cache=True)
def _log_labels(f, along, shift, code, cuts, at, sd):
    """Log probability of the classes at ``f + shift along``, cut-points from ``at`` on moved by ``shift``."""
    total, last = 0.0, len(cuts)
    for n in range(len(f)):
        k = code[n]
        low = -math.inf if k == 0 else cuts[k - 1] + (shift if k - 1 >= at else 0.0)
        high = math.inf if k == last else cuts[k] + (shift if k >= at else 0.0)
        total += label_terms(f[n] + shift * along[n], low, high, sd[n])[0]
    return total


@njit(nogil=True, cache=True)
def _log_prior(cuts, at, shift, first_sd, gap_sd):
    """Of the one distance that changes, in the cut-points themselves; minus infinity where they would change places."""
    if at == 0:
        return -0.5 * ((cuts[0] + shift) / first_sd) ** 2
    gap = cuts[at] - cuts[at - 1] + shift
    if gap <= 0.0:
        return -math.inf
    log_gap = math.log(gap)
    return -0.5 * (log_gap / gap_sd) ** 2 - log_gap


@njit(nogil=True, cache=True)
def _log_density(shift, f, along, rest):
    """Of a shift, but for a constant; ``rest`` is what does not change along the line."""
    slope, curvature, code, cuts, at, sd, first_sd, gap_sd = rest
    value = _log_prior(cuts, at, shift, first_sd, gap_sd)
    if value > -math.inf:
        value += _log_labels(f, along, shift, code, cuts, at, sd)
        value += shift * (slope + 0.5 * curvature * shift)
    return value


@njit(nogil=True, cache=True)
def _line(rows, triangular, w, centre, f, code, at, pull, bend, v, along):
    """What a shift of 1 does to w (``v``) and to f (``along``); slope and curvature of what the labels and the prior leave."""
    v[:] = 0.0
    for n in range(len(code)):
        if code[n] >= at:
            share = 1.0 if code[n] > at or at == 0 else _OF_ONE_END
            add_row(rows, n, share * bend[n], v, triangular)
    slope = curvature = 0.0
    for n in range(len(code)):
        along[n] = value_of(rows, n, v, triangular)
        slope += (bend[n] * f[n] - pull[n]) * along[n]
        curvature += bend[n] * along[n] * along[n]
    for j in range(len(w)):
        slope -= (w[j] - centre[j]) * v[j]
        curvature -= v[j] * v[j]
    return slope, curvature


@njit(nogil=True, cache=True)
def follow(rng, rows, triangular, w, centre, code, cuts, sd, pull, bend, first_sd, gap_sd):
    """A slice step of every cut-point with all above it, f following; w (r,) and cuts (K - 1,) in place.

    Parameters
    ----------
    rows, triangular, w, centre, sd, pull, bend : as in :func:`hamiltonian.move_f`.
    code : (N,) classes 0..K-1.
    first_sd, gap_sd : prior sds of the first cut-point and of the logarithm of every gap.
    """
    f, along, v = np.empty(len(code)), np.empty(len(code)), np.empty(len(w))
    for n in range(len(code)):
        f[n] = value_of(rows, n, w, triangular)
    for at in range(len(cuts)):
        slope, curvature = _line(rows, triangular, w, centre, f, code, at, pull, bend, v, along)
        rest = slope, curvature, code, cuts, at, sd, first_sd, gap_sd
        level = _log_density(0.0, f, along, rest) + math.log(rng.random())
        low = -_WIDTH * rng.random()
        high = low + _WIDTH
        below = rng.integers(0, _MOST_STEPS)
        for _ in range(below):
            if _log_density(low, f, along, rest) <= level:
                break
            low -= _WIDTH
        for _ in range(_MOST_STEPS - 1 - below):
            if _log_density(high, f, along, rest) <= level:
                break
            high += _WIDTH
        shift = low + (high - low) * rng.random()
        while _log_density(shift, f, along, rest) <= level:
            if shift < 0.0:
                low = shift
            else:
                high = shift
            shift = low + (high - low) * rng.random()
        cuts[at:] += shift
        for n in range(len(code)):
            f[n] += shift * along[n]
        for j in range(len(w)):
            w[j] += shift * v[j]
