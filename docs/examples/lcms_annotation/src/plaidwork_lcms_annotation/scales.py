"""Updates of what is above the clusters: alpha, the share of background, the scales of the errors."""

from __future__ import annotations

import math

import numpy as np

from plaidwork.core.api import Params, State
from plaidwork_lcms_annotation.groups import ASSIGNED, CLUSTERS
from plaidwork_lcms_annotation.moves import log_joint
from plaidwork_lcms_annotation.patterns import Floats
from plaidwork_lcms_annotation.state import (
    ALPHA_PRIOR,
    BACKGROUND_PRIOR,
    BIAS,
    BIAS_SPREAD,
    SCALE_SPREAD,
    Terms,
    law_of,
    weigh_terms,
    work_of,
)


def draw_rates(state: State, rng: np.random.Generator) -> None:
    """Alpha by Escobar and West (1995), and the share of background."""
    at, n = state["work"]["at"], len(state["cluster"])
    assigned, clusters = int(at[ASSIGNED]), int(at[CLUSTERS])
    a, b = BACKGROUND_PRIOR
    state["background"] = float(np.clip(rng.beta(a + n - assigned, b + assigned), 1e-12, 1.0 - 1e-12))
    shape, rate = ALPHA_PRIOR
    if assigned:
        rate -= math.log(max(rng.beta(state["alpha"] + 1.0, assigned), 1e-300))
        odds = (shape + clusters - 1.0) / (assigned * rate)
        shape += clusters - (0.0 if rng.random() * (1.0 + odds) < odds else 1.0)
    state["alpha"] = max(float(rng.gamma(shape) / rate), 1e-12)


def draw_scales(state: State, terms: Terms, params: Params, rng: np.random.Generator, warming: bool) -> None:
    """A random walk for each scale in turn, in the logarithm but for the common error, given all else. The steps are
    fitted while the chain warms up."""
    work, near, theory = work_of(state), terms.lists.candidates, terms.lists.theory
    now = log_joint(work, terms.seen, near, theory, law_of(state, terms)) + log_prior(state["scales"], params)
    for place in range(len(state["scales"])):
        step = state["steps"][place] * rng.standard_normal()
        tried = state["scales"].copy()
        tried[place] = tried[place] + step if place == BIAS else tried[place] * math.exp(step)
        other = work._replace(mass=np.empty_like(work.mass), back=np.empty_like(work.back))
        weigh_terms(state, terms, tried, other.mass, other.back)
        then = log_joint(other, terms.seen, near, theory, law_of(state, terms, tried)) + log_prior(
            tried, params
        )
        taken = math.log(max(rng.random(), 1e-300)) < then - now
        if taken:
            now = then
            state["scales"] = tried
            state["work"]["mass"], state["work"]["back"] = other.mass, other.back
            work = other
        if warming:
            state["steps"][place] *= math.exp(0.1 * (taken - 0.44))


def log_prior(scales: Floats, params: Params) -> float:
    """Log density of the scales, of their logarithms but for the common error."""
    settings = np.log([params["ppm"], params["rt_sd"], params["ratio_sd"]])
    off = (np.log(scales[:BIAS]) - settings) / SCALE_SPREAD
    return float(-0.5 * (off @ off) - 0.5 * (scales[BIAS] / BIAS_SPREAD) ** 2)


def log_rates(state: State) -> float:
    """Log prior density of alpha and the share of background, constants left out."""
    (a, b), (shape, rate) = BACKGROUND_PRIOR, ALPHA_PRIOR
    eps, alpha = state["background"], state["alpha"]
    return float(
        (a - 1) * math.log(eps) + (b - 1) * math.log1p(-eps) + (shape - 1) * math.log(alpha) - rate * alpha
    )
