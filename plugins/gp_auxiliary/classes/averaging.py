"""Class probabilities at any inputs, averaged over draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from plaidwork.core.api import Kept
from plaidwork.core.numerics.used_draws import ByChain, rounds, standard_error
from plaidwork.plugins.gp_auxiliary.classes.predict import Predictor, many_class, ordered, two_class
from plaidwork.plugins.gp_auxiliary.shared.gram import Prior

WORK = 4e9
"""Multiplications that a map may cost in any case: a second or two of one core."""
_MORE_WORK, _ENOUGH = 8e9, 400
"""While the error wanted is not reached: two or three seconds, or longer until an average rests on so many draws."""
_FAR_WORK = 1e11
"""And at most: less than a minute."""
WANTED = 0.005
"""Monte Carlo error, of any probability, below which draws that go beyond the work are left out."""
_ROUGH = 0.25
"""Share of the work while the chains go on."""
_LEAST_F = 60
"""Values of f that an interval of probabilities rests on, at least."""
_LEAST_DRAWS = 12


@dataclass(frozen=True, slots=True)
class Averaged:
    """Class probabilities at m places, averaged over draws.

    Attributes
    ----------
    share : (C, m) probability of each class.
    null : (m,) probability of the null category; zeros without one.
    error : (C, m) Monte Carlo standard errors of :meth:`conditional`; NaN for a single draw.
    f : (K, m) mean of f, ``f_sd`` (K, m) its standard deviation.
    draws : how many draws were averaged, ``kept`` how many there are.
    band : (C, m, 2) where the probability given f lies with 90 %, or (C, 0, 2) when that was not asked for.
    """

    share: np.ndarray
    null: np.ndarray
    error: np.ndarray
    f: np.ndarray
    f_sd: np.ndarray
    draws: int
    kept: int
    band: np.ndarray

    def part(self, start: int, stop: int) -> Averaged:
        """The places from start to stop."""
        cut = slice(start, stop)
        return Averaged(
            self.share[:, cut],
            self.null[cut],
            self.error[:, cut],
            self.f[:, cut],
            self.f_sd[:, cut],
            self.draws,
            self.kept,
            self.band,
        )

    def conditional(self) -> np.ndarray:
        """(C, m) probabilities of a place known not to be null: the ratio of the averages (page, section 2.3)."""
        return not_null(self.share)


def largest_error(found: Averaged) -> str:
    """The largest Monte Carlo error of a probability, as a part of a sentence; empty where it is unknown."""
    error = found.error.max(initial=0.0)
    if not np.isfinite(error):
        return ""
    return f"the largest is {error:.3f}" if error >= 0.0005 else "all are below 0.001"


def not_null(share: np.ndarray) -> np.ndarray:
    """Probabilities (..., C, m) of the classes brought to the sum of one."""
    total = share.sum(axis=-2, keepdims=True)
    return np.where(total > 1e-12, share / np.maximum(total, 1e-12), 1.0 / share.shape[-2])


def average(
    kept: Kept,
    prior: Prior,
    x_new: np.ndarray,
    n_classes: int,
    null: float,
    fixed_theta: bool,
    band: slice = slice(0, 0),
    work: float = WORK,
) -> Averaged:
    """Probabilities at x_new (m, D) over all draws. Where those are more than the work (multiplications) allows, over as
    many, evenly from all chains, as bring the largest Monte Carlo error below ``WANTED``; over a few while chains go on.

    ``band``: the places at which the interval of the probabilities is wanted.
    """
    chains = [chain for chain in kept.chains if chain.n_draws]
    counts = [chain.n_draws for chain in chains]
    total = ByChain(counts)
    moments = ByChain(counts, 1)
    predictor, given_f = None, _GivenF(sum(counts), null)
    has_cuts = "cuts" in names_of(kept)
    cost = cost_of_draw(prior, len(x_new), 2 if has_cuts else n_classes, fixed_theta)
    for part in in_parts(counts, cost, work, kept.under_way):
        for c, (chain, draws) in enumerate(zip(chains, part, strict=True)):
            for draw in draws:
                if predictor is None or not fixed_theta:
                    predictor = Predictor(prior, chain.draw("theta", draw), x_new)
                mean, variance = (
                    predictor.mean(np.ascontiguousarray(chain.draw("z", draw))),
                    predictor.variance,
                )
                cuts = chain.draw("cuts", draw) if has_cuts else None
                total.add(c, draw, _probabilities(mean, variance, null, cuts))
                moments.add(c, draw, np.stack([mean, mean**2 + variance]))
                if band.stop > band.start:
                    given_f.add(mean[:, band], variance[band], cuts)
        if _error(total).max(initial=0.0) <= WANTED:
            break
    share, (first, second) = total.mean(), moments.mean()
    return Averaged(
        share[:-1],
        share[-1],
        _error(total),
        first,
        np.sqrt(np.maximum(second - first**2, 0.0)),
        total.taken,
        sum(counts),
        given_f.interval(n_classes),
    )


def in_parts(counts: list[int], cost: float, work: float, rough: bool) -> Iterator[list[np.ndarray]]:
    """Draws by chain: as many as the work allows at ``cost`` each, then as many again and again, while that is not too much: twice
    the work for hundreds of draws, far more for few.

    ``rough``: the chains go on, and some draws will do.
    """
    first = max(_LEAST_DRAWS, int(work * (_ROUGH if rough else 1.0) / cost))
    taken = 0
    for part in rounds(counts, first):
        before, taken = taken, taken + sum(len(draws) for draws in part)
        far = taken * cost > max(_MORE_WORK, work) and taken > _ENOUGH
        if before and (rough or far or taken * cost > max(_FAR_WORK, work)):
            return
        yield part


def _error(total: ByChain) -> np.ndarray:
    """(C, m) standard errors of the classes' probabilities, those of the null category left out."""
    return standard_error(not_null(total.chains()[:, :-1]), not_null(total.batches()[:, :-1]))


class _GivenF:
    """Class probabilities given f, one f for each draw, or more where draws are few: what f leaves open besides the noise.

    The values of f lie at quantiles that cover (0, 1) evenly however many are taken: the k-th class takes the fractions of
    multiples of an irrational number of its own (Roberts 2018, as in a lattice of low discrepancy).
    """

    def __init__(self, count: int, null: float) -> None:
        self._each = math.ceil(_LEAST_F / max(count, 1))
        self._null = null
        self._steps = np.zeros(0)
        self._found: list[np.ndarray] = []

    def add(self, mean: np.ndarray, variance: np.ndarray, cuts: np.ndarray | None) -> None:
        """Another draw: f (K, m) at the same quantile at all places, so that the curves are smooth."""
        if not len(self._steps):
            root = 2.0
            for _ in range(60):
                root = (1.0 + root) ** (1.0 / (len(mean) + 1))
            self._steps = root ** -np.arange(1.0, len(mean) + 1)
        for _ in range(self._each):
            quantile = ndtri((0.5 + (len(self._found) + 1) * self._steps) % 1.0)
            f = mean + quantile[:, None] * np.sqrt(variance)
            self._found.append(not_null(_probabilities(f, np.zeros(len(variance)), self._null, cuts)[:-1]))

    def interval(self, n_classes: int) -> np.ndarray:
        """(C, m, 2) central intervals of 90 %."""
        if not self._found:
            return np.zeros((n_classes, 0, 2))
        return np.moveaxis(np.quantile(np.stack(self._found), [0.05, 0.95], axis=0), 0, -1)


def cost_of_draw(prior: Prior, n_places: int, n_classes: int, fixed_theta: bool) -> float:
    """Multiplications of one draw: the covariance at its parameters, and an integral for each of three or more classes."""
    size = len(prior.x)
    rank = size if prior.dense else len(prior.inducing)
    cost = float(n_places * size)
    if not fixed_theta:
        cost += size * rank**2 + n_places * rank * (rank + 30.0)
    if n_classes > 2:  # measured: 0.3 us a place for three, 1.8 for four, 6 for ten
        cost += n_places * (800.0 if n_classes == 3 else 550.0 * n_classes**1.5)
    return cost


def names_of(kept: Kept) -> set[str]:
    return {variable.name for variable in kept.spec.variables}


def _probabilities(
    mean: np.ndarray, variance: np.ndarray, null: float, cuts: np.ndarray | None
) -> np.ndarray:
    """(C + 1, m): the classes, and last the null category."""
    if cuts is not None:
        share = ordered(mean[0], variance, cuts)
        return np.vstack([share, np.zeros_like(mean[0])])
    if len(mean) == 1:
        minus, none, plus = two_class(mean[0], variance, null)
        share = np.stack([minus, plus])
    else:
        share = many_class(mean, variance, null)
        none = np.maximum(1.0 - share.sum(axis=0), 0.0)
    return np.vstack([share, none if null > 0 else np.zeros_like(none)])
