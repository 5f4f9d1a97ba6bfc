"""Class probabilities at any inputs, averaged over draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from plaidwork.core.api import Kept
from plaidwork.plugins.gp_auxiliary.gram import Prior
from plaidwork.plugins.gp_auxiliary.predict import Predictor, many_class, ordered, two_class

WORK = 4e9
"""Multiplications that a map may cost: a second or two of one core."""
_ROUGH = 0.25
"""Share of the work while the chains go on."""
_LEAST_F = 60
"""Values of f that an interval of probabilities rests on, at least."""
_BATCHES = 5
"""Batches of successive draws in a chain, for the Monte Carlo error."""


@dataclass(frozen=True, slots=True)
class Averaged:
    """Class probabilities at m places, averaged over draws.

    Attributes
    ----------
    share : (C, m) probability of each class.
    null : (m,) probability of the null category; zeros without one.
    error : (C, m) Monte Carlo standard errors of :meth:`conditional`; NaN for a single draw.
    f : (K, m) mean of f, ``f_sd`` (K, m) its standard deviation.
    draws : how many draws were averaged.
    band : (C, m, 2) where the probability given f lies with 90 %, or (C, 0, 2) when that was not asked for.
    """

    share: np.ndarray
    null: np.ndarray
    error: np.ndarray
    f: np.ndarray
    f_sd: np.ndarray
    draws: int
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
            self.band,
        )

    def conditional(self) -> np.ndarray:
        """(C, m) probabilities of a place known not to be null: the ratio of the averages (page, section 2.3)."""
        return not_null(self.share)


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
    """Probabilities at x_new (m, D) over as many draws as the work (multiplications) allows, evenly from all chains;
    fewer while the chains go on.

    ``band``: the places at which the interval of the probabilities is wanted.
    """
    work *= _ROUGH if kept.under_way else 1.0
    most = int(np.clip(work / cost_of_draw(prior, len(x_new), n_classes, fixed_theta), 12, 400))
    chains = [chain for chain in kept.chains if chain.n_draws]
    picked = [evenly(chain.n_draws, max(most // len(chains), 2)) for chain in chains]
    counts = sum(len(draws) for draws in picked)
    by_chain, by_batch = [], []
    first, second, predictor = np.zeros(1), np.zeros(1), None
    given_f = _GivenF(counts, null)
    for chain, draws in zip(chains, picked, strict=True):
        total = np.zeros((n_classes + 1, len(x_new)))
        for batch in np.array_split(draws, min(_BATCHES, len(draws))):
            share = np.zeros_like(total)
            for draw in batch:
                z, theta = chain.draw("z", draw), chain.draw("theta", draw)
                if predictor is None or not fixed_theta:
                    predictor = Predictor(prior, theta, x_new)
                mean, variance = predictor.mean(np.ascontiguousarray(z)), predictor.variance
                cuts = chain.draw("cuts", draw) if "cuts" in names_of(kept) else None
                weight = 1.0 / (len(draws) * len(chains))
                share += _probabilities(mean, variance, null, cuts)
                first = first + mean * weight
                second = second + (mean**2 + variance) * weight
                if band.stop > band.start:
                    given_f.add(mean[:, band], variance[band], cuts)
            by_batch.append(share / len(batch))
            total += share
        by_chain.append(total / len(draws))
    share = np.mean(by_chain, axis=0)
    return Averaged(
        share[:-1],
        share[-1],
        standard_error(np.stack(by_chain)[:, :-1], np.stack(by_batch)[:, :-1]),
        first,
        np.sqrt(np.maximum(second - first**2, 0.0)),
        counts,
        given_f.interval(n_classes),
    )


def standard_error(by_chain: np.ndarray, by_batch: np.ndarray) -> np.ndarray:
    """(C, m) Monte Carlo standard errors of averages over chains (c, C, m), which are in batches (b, C, m).

    The larger of what the chains and what the batches of successive draws say: chains that disagree show in the one,
    slow moves within them in the other, and the first alone rests on few numbers. NaN without two batches.
    """
    found = [
        not_null(parts).std(axis=0, ddof=1) / math.sqrt(len(parts))
        for parts in (by_chain, by_batch)
        if len(parts) > 1
    ]
    return np.max(found, axis=0) if found else np.full(by_chain.shape[1:], math.nan)


class _GivenF:
    """Class probabilities given f, one f for each draw, or more where draws are few: what f leaves open besides the noise."""

    def __init__(self, count: int, null: float) -> None:
        self._each = math.ceil(_LEAST_F / max(count, 1))
        size = self._each * count
        self._quantiles = ndtri((np.arange(size) + 0.5) / max(size, 1))
        self._null, self._rng = null, np.random.default_rng(0)
        self._orders: list[np.ndarray] = []
        self._found: list[np.ndarray] = []

    def add(self, mean: np.ndarray, variance: np.ndarray, cuts: np.ndarray | None) -> None:
        """Another draw: f (K, m) at the same quantile at all places, so that the curves are smooth."""
        while len(self._orders) < len(mean):
            self._orders.append(self._rng.permutation(self._quantiles))
        for _ in range(self._each):
            quantile = np.array([order[len(self._found)] for order in self._orders])
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
    return cost + (48 * n_classes**2 * n_places * 10.0 if n_classes > 2 else 0.0)


def names_of(kept: Kept) -> set[str]:
    return {variable.name for variable in kept.spec.variables}


def evenly(count: int, most: int) -> np.ndarray:
    """Numbers of at most ``most`` of ``count`` draws, spread over all of them."""
    return (
        np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))
        if count
        else np.zeros(0, int)
    )


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
