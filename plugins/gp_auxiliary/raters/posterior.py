"""What the draws of the model of several raters say at any objects, in units of a grade's width."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from plaidwork.core.api import Kept, ModelData
from plaidwork.core.numerics.used_draws import ByChain, standard_error
from plaidwork.plugins.gp_auxiliary.classes.averaging import WANTED, WORK, cost_of_draw, in_parts
from plaidwork.plugins.gp_auxiliary.classes.predict import Predictor
from plaidwork.plugins.gp_auxiliary.raters.data import free_offsets, place_ratings, read_table
from plaidwork.plugins.gp_auxiliary.raters.law import Ratings, scaled_prior, with_scale
from plaidwork.plugins.gp_auxiliary.raters.model import width_of
from plaidwork.plugins.gp_auxiliary.shared.frame import Frame, make_prior
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior
from plaidwork.plugins.gp_auxiliary.shared.typed_settings import RatedSettings

TAILS = (0.025, 0.975)
_SEED = 20140510


@dataclass(frozen=True, slots=True)
class Rated:
    """A fit: objects, ratings, the law of f, and whose offset counts as 0.

    ``base`` (C,) weighs the raters of whom the offsets count from: the reference alone, or all who rated alike.
    """

    frame: Frame
    ratings: Ratings
    prior: Prior
    base: np.ndarray
    raters: tuple[str, ...]
    objects: tuple[str, ...]

    @classmethod
    def of(cls, data: ModelData, params: RatedSettings) -> Rated:
        table = read_table(data)
        frame, ratings = place_ratings(table, params)
        free = free_offsets(table.raters, params)
        weight = (ratings.per_rater > 0) if free.all() else ~free
        prior = make_prior(frame.fitted, params, False, frame.columns)
        return cls(frame, ratings, prior, weight / weight.sum(), table.raters, table.objects.names[0])

    def on_grades(self, values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
        """f as the base sees it -> the scale of the grades: 1 is the middle of the first, K of the last (equal widths)."""
        middle = 0.5 * (cuts[0] + cuts[-1])
        return (values - middle) / width_of(cuts) + 0.5 * (self.ratings.n_grades + 1)


@dataclass(frozen=True, slots=True)
class Places:
    """m objects, averaged over draws.

    Attributes
    ----------
    mean, interval : (m,), (m, 2) the consensus on the scale of the grades, 95 % between the ends.
    grade : (m, K) probability of the consensus being in each grade.
    rating : (m, C, K) probability that a rater gives each grade.
    error : (m, C) Monte Carlo standard error of the most probable grade's; NaN where it is unknown.
    draws, kept : how many draws were averaged, of how many.
    """

    mean: np.ndarray
    interval: np.ndarray
    grade: np.ndarray
    rating: np.ndarray
    error: np.ndarray
    draws: int
    kept: int


def probabilities(cuts: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """(…, K) probabilities of the grades for a normal of ``mean`` and ``sd`` (…)."""
    below = ndtr((cuts - mean[..., None]) / sd[..., None])
    ends = np.zeros((*mean.shape, 1))
    return np.diff(np.concatenate([ends, below, ends + 1.0], axis=-1), axis=-1)


def at_places(kept: Kept, fit: Rated, x: np.ndarray, fixed_theta: bool, ratings: bool = True) -> Places:
    """The consensus, and what each rater would say, at x (m, D) over all draws; where those are more than the work allows,
    over as many as bring the largest Monte Carlo error below ``WANTED``."""
    cost = (
        cost_of_draw(fit.prior, len(x), 2, False)
        + 30.0 * len(x) * fit.ratings.n_raters * fit.ratings.n_grades
    )
    rng = np.random.Generator(np.random.PCG64DXSM(_SEED))
    chains = [chain for chain in kept.chains if chain.n_draws]
    counts, consensus = [chain.n_draws for chain in chains], []
    graded, rated = ByChain(counts), ByChain(counts)
    for part in in_parts(counts, cost, WORK, kept.under_way):
        for c, draw in ((c, draw) for c, draws in enumerate(part) for draw in draws):
            cuts, offset, precision, theta, together = (
                chains[c].draw(name, draw) for name in ("cuts", "offset", "precision", "theta", "together")
            )
            scale = fit.ratings.scale(precision, len(fit.frame.fitted))
            predictor = Predictor(scaled_prior(fit.prior, scale), theta, with_scale(x))
            mean, variance = predictor.mean(together[None])[0], predictor.variance
            origin = float(fit.base @ offset)
            drawn = mean + np.sqrt(variance) * rng.standard_normal(len(mean))
            consensus.append(fit.on_grades(drawn + origin, cuts))
            graded.add(c, draw, probabilities(cuts, mean + origin, np.sqrt(variance + 1e-12)))
            sd = np.sqrt(variance[:, None] + 1.0 / precision)
            rated.add(c, draw, probabilities(cuts, mean[:, None] + offset, sd) if ratings else np.zeros(1))
        if _error(rated if ratings else graded).max(initial=0.0) <= WANTED:
            break
    values = np.array(consensus)
    interval = np.quantile(values, TAILS, axis=0).T
    error = _error(rated) if ratings else np.zeros((len(x), 0))
    return Places(values.mean(axis=0), interval, graded.mean(), rated.mean(), error, rated.taken, sum(counts))


def _error(total: ByChain) -> np.ndarray:
    """Monte Carlo standard errors of the most probable grade's probability, the grades being the last axis."""
    error, top = standard_error(total.chains(), total.batches()), total.mean().argmax(axis=-1)
    return np.asarray(np.take_along_axis(error, top[..., None], axis=-1)[..., 0])


@dataclass(frozen=True, slots=True)
class Panel:
    """Draws of what raters are like, in units of a grade's width: offsets, sds, agreement (draws, C), all chains."""

    offset: np.ndarray
    sd: np.ndarray
    agreement: np.ndarray


def panel(kept: Kept, fit: Rated) -> Panel:
    """Offsets from the base, sds of the ratings, and the share of a rater's ratings that are the consensus's grade."""
    offset, precision, cuts, f = (
        np.concatenate([chain.stack(name) for chain in kept.chains if chain.n_draws])
        for name in ("offset", "precision", "cuts", "f")
    )
    width = np.array([width_of(row) for row in cuts])[:, None]
    origin = offset @ fit.base
    of_objects = np.array([np.searchsorted(c, row + o) for c, row, o in zip(cuts, f, origin)])
    same = of_objects[:, fit.ratings.item] == fit.ratings.code
    agreement = np.array([fit.ratings.by_rater(row) for row in same.astype(float)])
    agreement /= np.maximum(fit.ratings.per_rater, 1)
    return Panel((offset - origin[:, None]) / width, 1.0 / (np.sqrt(precision) * width), agreement)
