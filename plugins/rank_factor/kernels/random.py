"""Draws that numpy does not offer: inverse Gaussian and generalised inverse Gaussian."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

COSH_ONE = math.cosh(1.0)
LEAST_U = 1e-8
"""|u| is taken to be at least this."""
LEAST_SQUARE, LEAST_SCALE, MOST_SCALE = 1e-12, 1e-10, 1e10
"""Bounds of a squared loading and of its prior variance."""


@njit(nogil=True, cache=True)
def inverse_gaussian(rng, mean):
    """A draw of IG(mean, 1); without cancellation for means up to 1e150."""
    normal = rng.standard_normal()
    t = mean * normal * normal
    q = 1.0 + 0.5 * t + math.sqrt(t * (1.0 + 0.25 * t))
    if rng.random() * (1.0 + q) <= q:
        return mean / q
    return mean * q


@njit(nogil=True, cache=True)
def draw_kappa(rng, u):
    """1 / lambda given the argument u of a hinge exp(-2 max(0, u)): IG(1 / |u|, 1)."""
    return inverse_gaussian(rng, 1.0 / max(abs(u), LEAST_U))


def draw_weights(rng: np.random.Generator, u: np.ndarray) -> None:
    """u := kappa = 1 / lambda ~ IG(1 / |u|, 1) given the arguments of hinges; NaN, no hinge, becomes 0."""
    _weights(u.ravel(), chi_squares(rng, u.size), rng.random(u.size))


def chi_squares(rng: np.random.Generator, n: int) -> np.ndarray:
    """(n,) squares of standard normal numbers, four times as fast as by drawing these (Box and Muller 1958).

    With log and sine as polynomials the loops are vectorised; both are right to 1e-13.
    """
    half = (n + 1) // 2
    radius = rng.random(half)
    np.subtract(1.0, radius, out=radius)
    exponent, out = np.empty(half), np.empty(2 * half)
    _split(radius.view(np.int64), exponent)
    _box_muller(radius, exponent, rng.random(half), out)
    return out[:n]


@njit(nogil=True, cache=True)
def _split(bits, exponent):
    """Numbers above 0, as their bits, into mantissas of 1 to 2 (in place) and exponents."""
    for i in range(bits.size):
        exponent[i] = (bits[i] >> 52) - 1023
        bits[i] = (bits[i] & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def _box_muller(mantissa, exponent, angle, out):
    """-2 log(radius) times the squared cosine and sine of pi angle / 2, into the two halves of ``out``."""
    half = mantissa.size
    for i in range(half):
        m = mantissa[i]
        large = m > 1.4142135623730951
        e = exponent[i] + (1.0 if large else 0.0)
        m = 0.5 * m if large else m
        s = (m - 1.0) / (m + 1.0)  # log m = 2 artanh s
        q = s * s
        tail = 1 / 9 + q * (1 / 11 + q * (1 / 13 + q * (1 / 15 + q / 17)))
        log = 0.6931471805599453 * e + 2.0 * s * (1.0 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * tail))))
        x = math.pi * (angle[i] - 0.5)
        y = x * x
        tail = -1 / 39916800 + y * (1 / 6227020800 + y * (-1 / 1307674368000 + y / 355687428096000))
        tail = -1 / 6 + y * (1 / 120 + y * (-1 / 5040 + y * (1 / 362880 + y * tail)))
        sine = min(max(x * (1.0 + y * tail), -1.0), 1.0)  # or a square could be below 0
        out[i] = -log * (1.0 - sine)
        out[half + i] = -log * (1.0 + sine)


@njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
def _weights(u, square, uniform):
    """As :func:`inverse_gaussian`, but with the random numbers given, so that the loop needs no branch.

    With |u| = 1 / mean, and |u| q in place of q, one division is enough.
    """
    for i in range(u.size):
        x = u[i]
        size = max(abs(x), LEAST_U)
        s = square[i]
        q = size + 0.5 * s + math.sqrt(s * (size + 0.25 * s))
        small = uniform[i] * (size + q) <= q
        drawn = (1.0 if small else q) / (q if small else size * size)
        u[i] = drawn if x == x else 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def _log_shape(x, grown, alpha, p):
    """Log density of the logarithm of a standard GIG around its mode, 0 at x = 0; ``grown`` is exp(x).

    cosh(x) - 1 as (exp(x) - 1)^2 / (2 exp(x)): one exponential, and no cancellation near 0.
    """
    more = grown - 1.0
    return -0.5 * alpha * more * (more / grown) - p * (more - x)


@njit(nogil=True, cache=True, error_model="numpy")
def _log_slope(grown, alpha, p):
    more = grown - 1.0
    return -0.5 * alpha * (more + more / grown) - p * more


@njit(nogil=True, cache=True)
def _standard_gig(rng, p, omega):
    """Log of a draw with density x^(p-1) exp(-omega (x + 1/x) / 2), p >= 0 (Devroye 2014, section 4)."""
    alpha = omega * omega / (math.sqrt(omega * omega + p * p) + p)
    height = -_log_shape(1.0, math.e, alpha, p)
    t = 1.0
    if height > 2.0:
        t = math.sqrt(2.0 / (alpha + p))
    elif height < 0.5:
        t = math.log(4.0 / (alpha + 2.0 * p))
    height = -_log_shape(-1.0, 1.0 / math.e, alpha, p)
    s = 1.0
    if height > 2.0:
        s = math.sqrt(4.0 / (alpha * COSH_ONE + p))
    elif height < 0.5:
        s = math.log(1.0 + 1.0 / alpha + math.sqrt(1.0 / (alpha * alpha) + 2.0 / alpha))
        if p > 0.0:
            s = min(1.0 / p, s)
    right_end, left_end = math.exp(t), math.exp(-s)
    eta, zeta = -_log_shape(t, right_end, alpha, p), -_log_slope(right_end, alpha, p)
    theta, xi = -_log_shape(-s, left_end, alpha, p), _log_slope(left_end, alpha, p)
    left, right = 1.0 / xi, 1.0 / zeta
    upper, lower = t - right * eta, s - left * theta
    middle = upper + lower
    total = left + middle + right
    while True:
        u, v, w = rng.random(), 1.0 - rng.random(), rng.random()
        if u * total < middle:
            x, envelope = -lower + middle * v, 0.0
        elif u * total < middle + right:
            x = upper - right * math.log(v)
            envelope = -eta - zeta * (x - t)
        else:
            x = -lower + left * math.log(v)
            envelope = -theta + xi * (x + s)
        if math.log(max(w, 1e-300)) + envelope <= _log_shape(x, math.exp(x), alpha, p):
            return x + (math.log(p / omega + math.sqrt(1.0 + (p / omega) ** 2)) if p > 0.0 else 0.0)


@njit(nogil=True, cache=True)
def gig(rng, a, b, p):
    """A draw of GIG(a, b, p): density x^(p-1) exp(-(a x + b / x) / 2), a and b above 0."""
    root_a, root_b = math.sqrt(a), math.sqrt(b)
    log_x = _standard_gig(rng, abs(p), root_a * root_b)
    return math.exp(-log_x if p < 0.0 else log_x) * (root_b / root_a)


@njit(nogil=True, cache=True)
def gigs(rng, a, b, p):
    """(n,) draws of GIG(a[i], b[i], p), in this order; a call from Python costs more than a draw."""
    out = np.empty(a.size)
    for i in range(a.size):
        out[i] = gig(rng, a[i], b[i], p)
    return out


@njit(nogil=True, cache=True)
def draw_shrinkage(rng, values, xi, eta, rate, r, s):
    """Prior variances ``xi`` and their rates ``eta`` given the values, in place; all (rows, K).

    xi ~ GIG(2 eta, value^2, r - 1/2), eta ~ Ga(r + s, xi + rate).
    """
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            square = max(values[i, k] * values[i, k], LEAST_SQUARE)
            drawn = gig(rng, 2.0 * eta[i, k], square, r - 0.5)
            xi[i, k] = min(max(drawn, LEAST_SCALE), MOST_SCALE)
            eta[i, k] = max(rng.standard_gamma(r + s), 1e-100) / (xi[i, k] + rate[i, k])
