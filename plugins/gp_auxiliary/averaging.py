"""Class probabilities at any inputs, averaged over draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Kept
from plaidwork.plugins.gp_auxiliary.gram import Prior
from plaidwork.plugins.gp_auxiliary.predict import Predictor, many_class, ordered, two_class

_WORK = 4e9
"""Multiplications that a summary may cost: a few seconds of one core."""


@dataclass(frozen=True, slots=True)
class Averaged:
    """Class probabilities at m places, averaged over draws.

    Attributes
    ----------
    share : (C, m) probability of each class.
    null : (m,) probability of the null category; zeros without one.
    error : (m,) Monte Carlo standard error of the most probable class, from the chains; NaN for one chain.
    f : (K, m) mean of f, ``f_sd`` (K, m) its standard deviation.
    draws : how many draws were averaged.
    """

    share: np.ndarray
    null: np.ndarray
    error: np.ndarray
    f: np.ndarray
    f_sd: np.ndarray
    draws: int

    def part(self, start: int, stop: int) -> Averaged:
        """The places from start to stop."""
        cut = slice(start, stop)
        return Averaged(
            self.share[:, cut], self.null[cut], self.error[cut], self.f[:, cut], self.f_sd[:, cut], self.draws
        )

    def conditional(self) -> np.ndarray:
        """(C, m) probabilities of a place known not to be null: the ratio of the averages (page, section 2.3)."""
        total = self.share.sum(axis=0)
        return np.where(total > 1e-12, self.share / np.maximum(total, 1e-12), 1.0 / len(self.share))


def average(
    kept: Kept, prior: Prior, x_new: np.ndarray, n_classes: int, null: float, fixed_theta: bool
) -> Averaged:
    """Probabilities at x_new (m, D) over as many draws as the work allows, evenly from all chains."""
    most = int(np.clip(_WORK / _cost(prior, len(x_new), n_classes, fixed_theta), 12, 400))
    totals, moments, counts = [], [], 0
    predictor = None
    for chain in kept.chains:
        share = np.zeros((n_classes + 1, len(x_new)))
        first, second = np.zeros(1), np.zeros(1)
        picked = _evenly(chain.n_draws, max(most // len(kept.chains), 2))
        for draw in picked:
            z, theta = chain.draw("z", draw), chain.draw("theta", draw)
            if predictor is None or not fixed_theta:
                predictor = Predictor(prior, theta, x_new)
            mean = predictor.mean(np.ascontiguousarray(z))
            cuts = chain.draw("cuts", draw) if "cuts" in names_of(kept) else None
            share += _probabilities(mean, predictor.variance, null, cuts)
            first = first + mean
            second = second + mean**2 + predictor.variance
        if len(picked):
            totals.append(share / len(picked))
            moments.append((first / len(picked), second / len(picked)))
            counts += len(picked)
    by_chain = np.stack(totals)
    share = by_chain.mean(axis=0)
    top = share[:-1].argmax(axis=0)
    of_top = by_chain[:, top, np.arange(len(top))]
    error = np.full(len(top), math.nan)
    if len(by_chain) > 1:
        error = of_top.std(axis=0, ddof=1) / math.sqrt(len(by_chain))
    mean = np.mean([m for m, _ in moments], axis=0)
    square = np.mean([s for _, s in moments], axis=0)
    return Averaged(share[:-1], share[-1], error, mean, np.sqrt(np.maximum(square - mean**2, 0.0)), counts)


def _cost(prior: Prior, n_places: int, n_classes: int, fixed_theta: bool) -> float:
    """Multiplications of one draw: the covariance at its parameters, and an integral for each of three or more classes."""
    size = len(prior.x)
    rank = size if prior.dense else len(prior.inducing)
    cost = float(n_places * size)
    if not fixed_theta:
        cost += size * rank**2 + n_places * rank * (rank + 30.0)
    return cost + (48 * n_classes**2 * n_places * 10.0 if n_classes > 2 else 0.0)


def names_of(kept: Kept) -> set[str]:
    return {variable.name for variable in kept.spec.variables}


def _evenly(count: int, most: int) -> np.ndarray:
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
