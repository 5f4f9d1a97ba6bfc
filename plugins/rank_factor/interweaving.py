"""Exact moves of the scales of shrinkage, and of a single plane (NOTES.md has the exponents).

Values x ~ N(0, v), v ~ Ga(r, rate h), h ~ Ga(s, rate phi), phi ~ Ga(1 / 2, rate top): given x, each of the three levels above
holds the next in place the more, the more values there are. Here all above one level is scaled at once, which is what a
parametrisation with that level taken out would draw (interweaving; Yu and Meng 2011, Journal of Computational and Graphical
Statistics 20, 531-570), by the theorem that :mod:`scaling` names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from plaidwork.plugins.rank_factor.kernels.random import gigs
from plaidwork.plugins.rank_factor.mixture import decisions, size_precision
from plaidwork.plugins.rank_factor.scaling import LEAST_RATE
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import Fields, Floats, SamplerSettings

LEAST_SQUARES = 1e-100
FIRST_WIDTH, MOST_STEPS = 2.0, 20
"""First width of a slice of log s; steps by which it grows at most."""


def variance_terms(x: Floats, v: Floats, phi: Floats, top: float) -> tuple[Floats, Floats, float]:
    """(steep, back, power) of s^2, generalised inverse Gaussian, for v s^2, h / s^2 and phi s^2; x, v (m, K), phi (K,)."""
    return 2.0 * top * phi, (x**2 / v).sum(axis=0), 0.5 * (1.0 - len(x))


def rate_terms(v: Floats, h: Floats, phi: Floats, top: float, shape: float) -> tuple[Floats, Floats, float]:
    """The same for h / s^2 and phi s^2; ``shape`` is r."""
    return 2.0 * top * phi, 2.0 * (h * v).sum(axis=0), 0.5 * (1.0 - 2.0 * shape * len(v))


def _squares(rng: np.random.Generator, terms: tuple[Floats, Floats, float]) -> Floats:
    steep, back, power = terms
    drawn: Floats = gigs(rng, np.maximum(steep, LEAST_RATE), np.maximum(back, LEAST_SQUARES), power)
    return drawn


def draw_loading_scales(state: Fields, params: SamplerSettings, rng: np.random.Generator) -> None:
    """Prior variances of the loadings of each factor with all above them, then their rates with all above these."""
    top = state["phi_rate"]
    square = _squares(rng, variance_terms(state["a"], state["xi"], state["phi"], top))
    state["xi"], state["eta"], state["phi"] = (
        state["xi"] * square,
        state["eta"] / square,
        state["phi"] * square,
    )
    terms = rate_terms(state["xi"], state["eta"], state["phi"], top, params["loading_shape"])
    square = _squares(rng, terms)
    state["eta"], state["phi"] = state["eta"] / square, state["phi"] * square


def interweave(state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator) -> None:
    """All these moves once, of a single plane or a Gaussian process."""
    draw_loading_scales(state, params, rng)
    if "f" not in state:
        draw_plane_scales(state, setup, params, rng)


def plane_gain(log_s: float, values: Floats, phi: float, squares: float, weight: float) -> float:
    """Log density of log s for beta s, b s^2, e / s^2, b_phi s^2 of a classifier, up to a constant.

    ``values`` are y f (N,) of its labels, ``squares`` beta' beta times the precision of the factor on its size. The weights of
    the labels' hinges and the rate of ``phi`` are integrated out.
    """
    s = math.exp(log_s)
    hinge = np.maximum(0.0, 1.0 - s * values).sum()
    return float(log_s - math.log1p(phi * s**2) - 0.5 * squares * s**2 - 2.0 * weight * hinge)


def draw_plane_scales(state: Fields, setup: Setup, params: SamplerSettings, rng: np.random.Generator) -> None:
    """Each classifier times s, by a slice of log s; the weights of the labels are drawn afresh before they are used."""
    f = decisions(state["z"], state["beta"])[:, 0]
    for g in range(f.shape[1]):
        there = setup.y[:, g] != 0
        values, phi = (setup.y[:, g] * f[:, g])[there], float(state["b_phi"][0, g])
        squares = size_precision(params) * float((state["beta"][0, g] ** 2).sum())
        gain = partial(plane_gain, values=values, phi=phi, squares=squares, weight=params["label_weight"])
        log_s = _slice(gain, rng)
        s = math.exp(log_s)
        for part, factor in ((state["beta"], s), (state["b"], s**2), (state["e"], s**-2)):
            part[0, g] *= factor
        state["b_phi"][0, g] = max(phi * s**2, 1e-100)
        drawn = rng.standard_gamma(1.0) / (1.0 + state["b_phi"][0, g])
        state["b_phi_rate"][0, g] = max(drawn, 1e-100)


def _slice(log_density: Callable[[float], float], rng: np.random.Generator) -> float:
    """A move of x from 0 (Neal 2003, Annals of Statistics 31, 705-767: stepping out and shrinkage)."""
    height = log_density(0.0) + math.log1p(-rng.random())
    low = -FIRST_WIDTH * rng.random()
    high, left = low + FIRST_WIDTH, int(MOST_STEPS * rng.random())
    right = MOST_STEPS - 1 - left
    while left > 0 and log_density(low) > height:
        low, left = low - FIRST_WIDTH, left - 1
    while right > 0 and log_density(high) > height:
        high, right = high + FIRST_WIDTH, right - 1
    while True:
        x = low + (high - low) * rng.random()
        if log_density(x) >= height:
            return float(x)
        low, high = (x, high) if x < 0.0 else (low, x)
