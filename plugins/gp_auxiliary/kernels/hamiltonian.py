"""Hamiltonian moves of f with the auxiliary variables integrated out, for labels that name an interval.

f = F w, where F F' is the covariance of a Gaussian reference ``q(f) ~ N(f; 0, C) exp(b'f - f'Wf / 2)`` with one pull b_n and
one curvature W_n a sample. In w the reference is ``N(m, I)``, ``m = F'b``, and the target is the reference times ``exp(h)``,
``h = log P(labels | f) - b'f + f'Wf / 2``: what the reference does not say. A trajectory alternates exact rotations of the
reference with kicks by the slope of h (Beskos, Pinski, Sanz-Serna, Stuart 2011, Stochastic Processes and their
Applications 121:2201), so that steps may be long where the reference is good. Any b and W >= 0 give the right law.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from plaidwork.plugins.gp_auxiliary.kernels.truncated import (
    HEIGHT,
    LOG_ROOT_2PI,
    ROOT_HALF,
    log_ndtr,
    log_ndtr_between,
    normal_between,
)


@njit(nogil=True, cache=True)
def _tail_terms(x):
    """``log Phi(x)`` and ``phi(x) / Phi(x)``."""
    if x > -12.0:
        chance = 0.5 * math.erfc(-x * ROOT_HALF)
        return math.log(chance), HEIGHT * math.exp(-0.5 * x * x) / chance
    log_chance = log_ndtr(x)
    return log_chance, math.exp(-0.5 * x * x - LOG_ROOT_2PI - log_chance)


@njit(nogil=True, cache=True)
def label_terms(f, low, high, sd):
    """``log P(low < f + sd e < high)`` and its derivative with respect to f, e ~ N(0, 1)."""
    if high == math.inf:
        value, mills = _tail_terms((f - low) / sd)
        return value, mills / sd
    if low == -math.inf:
        value, mills = _tail_terms((high - f) / sd)
        return value, -mills / sd
    a, c = (low - f) / sd, (high - f) / sd
    value = log_ndtr_between(a, c)
    at_low = math.exp(-0.5 * a * a - LOG_ROOT_2PI - value)
    at_high = math.exp(-0.5 * c * c - LOG_ROOT_2PI - value)
    return value, (at_low - at_high) / sd


@njit(nogil=True, cache=True)
def label_curvature(f, low, high, sd):
    """Minus the second derivative of ``log P(low < f + sd e < high)`` with respect to f."""
    value, slope = label_terms(f, low, high, sd)
    bend = 0.0
    for end, sign in ((low, 1.0), (high, -1.0)):
        if abs(end) < math.inf:
            x = (end - f) / sd
            bend += sign * x * math.exp(-0.5 * x * x - LOG_ROOT_2PI - value)
    return slope * slope - bend / (sd * sd)


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz"})
def value_of(rows, n, w, triangular):
    total = 0.0
    for j in range(n + 1 if triangular else rows.shape[1]):
        total += rows[n, j] * w[j]
    return total


@njit(nogil=True, cache=True, fastmath={"contract"})
def add_row(rows, n, times, out, triangular):
    for j in range(n + 1 if triangular else rows.shape[1]):
        out[j] += times * rows[n, j]


@njit(nogil=True, cache=True)
def rest(rows, triangular, w, low, high, sd, pull, bend, slope):
    """h at w (r,); its gradient goes into ``slope`` (r,). rows (N, r) is F, read once; lower triangular if so told."""
    slope[:] = 0.0
    total = 0.0
    for n in range(len(low)):
        f = value_of(rows, n, w, triangular)
        value, force = label_terms(f, low[n], high[n], sd[n])
        total += value - pull[n] * f + 0.5 * bend[n] * f * f
        add_row(rows, n, force - pull[n] + bend[n] * f, slope, triangular)
    return total


@njit(nogil=True, cache=True)
def move_f(rng, rows, triangular, w, centre, low, high, sd, pull, bend, steps, angle):
    """One trajectory of ``steps`` rotations by ``angle`` radians from w (r,), changed in place; whether it was taken.

    Parameters
    ----------
    rows : (N, r) F; ``triangular``: lower triangular, r = N.
    centre : (r,) m.
    low, high : (N,) ends of the labels' intervals.
    sd : (N,) standard deviation of z given f.
    pull, bend : (N,) b and W of the reference.
    """
    place, speed, slope = w.copy(), np.empty(len(w)), np.empty(len(w))
    energy = rest(rows, triangular, place, low, high, sd, pull, bend, slope)
    set_out(rng, speed)
    energy = with_reference(energy, speed, place, centre)
    after = 0.0
    for _ in range(steps):
        rotate(place, speed, slope, centre, angle)
        after = rest(rows, triangular, place, low, high, sd, pull, bend, slope)
        kick(speed, slope, angle)
    after = with_reference(after, speed, place, centre)
    if math.log(rng.random()) < after - energy:
        w[:] = place
        return True
    return False


@njit(nogil=True, cache=True)
def set_out(rng, speed):
    """A new speed (r,)."""
    for j in range(len(speed)):
        speed[j] = rng.standard_normal()


@njit(nogil=True, cache=True)
def with_reference(value, speed, place, centre):
    """A value of h with the log density of the reference and of the speed (r,) at a place (r,)."""
    for j in range(len(place)):
        value -= 0.5 * (speed[j] ** 2 + (place[j] - centre[j]) ** 2)
    return value


@njit(nogil=True, cache=True)
def rotate(place, speed, slope, centre, angle):
    """Half a kick by the slope (r,) of h, then a rotation of the reference; in place."""
    cosine, sine, times = math.cos(angle), math.sin(angle), math.tan(0.5 * angle)
    for j in range(len(place)):
        velocity, offset = speed[j] + times * slope[j], place[j] - centre[j]
        place[j] = centre[j] + cosine * offset + sine * velocity
        speed[j] = cosine * velocity - sine * offset


@njit(nogil=True, cache=True)
def kick(speed, slope, angle):
    """The other half of the kick."""
    times = math.tan(0.5 * angle)
    for j in range(len(speed)):
        speed[j] += times * slope[j]


@njit(nogil=True, cache=True)
def draw_z(rng, rows, triangular, w, z, low, high, sd):
    """z (N,) given f = F w, in place: independent normals of standard deviation ``sd`` in the labels' intervals."""
    for n in range(len(z)):
        f = value_of(rows, n, w, triangular)
        value = f + sd[n] * normal_between(rng, (low[n] - f) / sd[n], (high[n] - f) / sd[n])
        z[n] = min(max(value, low[n]), high[n])


@njit(nogil=True, cache=True)
def move_and_draw(rng, rows, triangular, w, centre, z, low, high, sd, pull, bend, steps, angle, count):
    """``count`` trajectories of w, each with an angle of its own around ``angle``, then z given f; how many were taken.
    One call, as handing over a generator costs as much as a trajectory of a few samples."""
    taken = 0
    for _ in range(count):
        turned = angle * (0.8 + 0.4 * rng.random())
        taken += move_f(rng, rows, triangular, w, centre, low, high, sd, pull, bend, steps, turned)
    draw_z(rng, rows, triangular, w, z, low, high, sd)
    return taken


@njit(nogil=True, cache=True)
def local_terms(rows, triangular, w, low, high, sd, out):
    """Add f, the derivative and the curvature of every label's log probability to the rows of ``out`` (3, N)."""
    for n in range(len(low)):
        f = value_of(rows, n, w, triangular)
        out[0, n] += f
        out[1, n] += label_terms(f, low[n], high[n], sd[n])[1]
        out[2, n] += label_curvature(f, low[n], high[n], sd[n])


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def solve_lower(root, values):
    """``root^-1 values`` (N,) in place; root (N, N) lower triangular."""
    for n in range(len(values)):
        total = values[n]
        for j in range(n):
            total -= root[n, j] * values[j]
        values[n] = total / root[n, n]
