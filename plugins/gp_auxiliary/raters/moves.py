"""Updates of the raters' offsets and precisions, and of what moves together with them (page, section 2.6)."""

from __future__ import annotations

import math

import numpy as np

from plaidwork.plugins.gp_auxiliary.classes.ordinal import CutWidths, edges, log_cuts
from plaidwork.plugins.gp_auxiliary.kernels import sites
from plaidwork.plugins.gp_auxiliary.raters.law import Ratings
from plaidwork.plugins.gp_auxiliary.shared import hyper
from plaidwork.plugins.gp_auxiliary.shared.covariance import Covariance
from plaidwork.plugins.gp_auxiliary.shared.gram import times_q
from plaidwork.plugins.gp_auxiliary.shared.state import Precision, RatedFields, Steps


def draw_latent(
    rng: np.random.Generator, ratings: Ratings, centre: np.ndarray, scale: np.ndarray, cuts: np.ndarray
) -> np.ndarray:
    """q (M,) given its means ``centre`` (M,), one over its sds ``scale`` (M,) and the cut-points."""
    low, high = edges(cuts, ratings.code)
    scaled, free = np.empty(len(centre)), np.zeros(len(centre), dtype=bool)
    sites.draw_intervals(rng, centre * scale, scaled, low * scale, high * scale, free, 0.0, 0.0, 0.0)
    return np.clip(scaled / scale, low, high)


def draw_offsets(
    rng: np.random.Generator, ratings: Ratings, rest: np.ndarray, precision: np.ndarray, free: np.ndarray
) -> np.ndarray:
    """Offsets (C,) given ``rest = q - f`` (M,): ``N(g V sum(rest), V)``, ``V = 1 / (1 + g N_c)``; 0 where not free."""
    count = ratings.per_rater
    variance = 1.0 / (1.0 + precision * count)
    mean = precision * variance * ratings.by_rater(rest)
    return np.where(free, mean + np.sqrt(variance) * rng.standard_normal(len(mean)), 0.0)


def draw_precisions(
    rng: np.random.Generator,
    ratings: Ratings,
    rest: np.ndarray,
    offset: np.ndarray,
    shape: float,
    rate: float,
) -> np.ndarray:
    """Precisions (C,): ``Gamma(shape + N_c / 2, rate + sum(q - f - delta)^2 / 2)``; ``rest = q - f`` (M,)."""
    squares = ratings.by_rater((rest - offset[ratings.rater]) ** 2)
    drawn = rng.standard_gamma(shape + 0.5 * ratings.per_rater) / (rate + 0.5 * squares)
    return np.clip(drawn, 1e-12, 1e12)


def walk_raters(
    rng: np.random.Generator,
    ratings: Ratings,
    f: np.ndarray,
    state: RatedFields,
    steps: Steps,
    prior: tuple[float, float],
    warming: bool,
) -> None:
    """Random-walk steps of every rater's precision and offset given f (N,) and the cut-points, q integrated out; in place.

    Given f and the cut-points the raters are independent, so all step at once. q is stale thereafter. ``steps`` has an entry for
    the logarithm of each precision, then one for each offset.
    """
    offset, precision, free = state["offset"], state["precision"], state["fixed"]["free"]
    low, high = edges(state["cuts"], ratings.code)
    values = np.empty(len(ratings.item))

    def log_density(offset: np.ndarray, precision: np.ndarray) -> np.ndarray:
        root = np.sqrt(precision)[ratings.rater]
        centre = f[ratings.item] + offset[ratings.rater]
        sites.interval_values(centre * root, low * root, high * root, values)
        shape, rate = prior
        own = shape * np.log(precision) - rate * precision  # of the logarithm
        return np.asarray(ratings.by_rater(values) + own - 0.5 * offset**2)

    count = len(offset)
    size = np.exp(steps["log_size"])
    factor = np.exp(size[:count] * rng.standard_normal(count))
    ratio = log_density(offset, precision * factor) - log_density(offset, precision)
    taken = np.log(rng.random(count)) < ratio
    precision[taken] *= factor[taken]
    shift = size[count:] * rng.standard_normal(count) * free
    ratio = log_density(offset + shift, precision) - log_density(offset, precision)
    moved = np.log(rng.random(count)) < ratio
    offset[moved] += shift[moved]
    for index, was in enumerate([*taken, *moved]):
        hyper.learn(steps, index, bool(was), warming)


def shift_raters(
    rng: np.random.Generator, q: np.ndarray, offset: np.ndarray, cuts: np.ndarray, first_sd: float
) -> None:
    """Shift q, all offsets and the cut-points together, in place: f and the likelihood stay, the priors decide, that of
    the first cut-point of sd ``first_sd``."""
    weight = len(offset) + 1.0 / first_sd**2
    mean = -(offset.sum() + cuts[0] / first_sd**2) / weight
    shift = mean + rng.standard_normal() / math.sqrt(weight)
    q += shift
    offset += shift
    cuts += shift


def shift_consensus(
    rng: np.random.Generator, together: np.ndarray, scale: np.ndarray, gram: Precision, offset: np.ndarray
) -> None:
    """Shift all offsets against f at the same q, f integrated out; ``together`` is ``s y`` (N,). In place."""
    product = times_q(scale, gram)
    weight = float(product @ scale) + len(offset)
    mean = (offset.sum() - float(product @ together)) / weight
    shift = mean + rng.standard_normal() / math.sqrt(weight)
    together += shift * scale
    offset -= shift


def stretch(
    rng: np.random.Generator,
    state: RatedFields,
    law: Covariance,
    free: np.ndarray,
    prior: tuple[float, float],
    widths: CutWidths,
    warming: bool,
) -> None:
    """Multiply everything by one factor k: q, offsets and cut-points by k, precisions by 1 / k^2, amplitudes^2 by k^2.

    The likelihood stays as it is, f integrated out, so the priors (``prior``: shape and rate of the precisions) and the
    Jacobian decide: k for the first cut-point and each free offset, 1 / k^2 for each precision; that of q is paid for by
    its density. In place.
    """
    offset, precision, cuts, theta = state["offset"], state["precision"], state["cuts"], state["theta"]
    shape, rate = prior
    log_factor = hyper.step_size(state["joint_steps"], 0) * rng.standard_normal()
    factor = math.exp(log_factor)
    moved = theta.copy()
    moved[: law.n_groups] += 2.0 * log_factor
    ratio = log_cuts(cuts * factor, widths) - log_cuts(cuts, widths) + log_factor
    ratio += int(free.sum()) * log_factor - 0.5 * (factor**2 - 1.0) * float(offset @ offset)
    ratio -= 2.0 * shape * len(precision) * log_factor + rate * float(precision.sum()) * (factor**-2 - 1.0)
    ratio += law.log_prior(moved) - law.log_prior(theta)
    taken = math.log(rng.random()) < ratio
    hyper.learn(state["joint_steps"], 0, taken, warming)
    if taken:
        state["q"] *= factor
        offset *= factor
        cuts *= factor
        precision /= factor**2
        theta[:] = moved
