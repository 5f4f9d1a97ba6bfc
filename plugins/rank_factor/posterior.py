"""What both algorithms hand to the results: factors put in one order and sign, means and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtri, softmax

from plaidwork.core.api import ChainView, Kept
from plaidwork.core.numerics.used_draws import ByChain, draws_text, spread, standard_error
from plaidwork.plugins.rank_factor.boundary import boundary_of, is_process
from plaidwork.plugins.rank_factor.setup import Setup
from plaidwork.plugins.rank_factor.state import SamplerSettings

ROUGH_DRAWS = 200
"""Draws that enter the summaries while the chains go on; at their end all do."""
MOST_NUMBERS = 20_000_000
"""Loadings held side by side for the intervals."""
MOST_SLOPES = 200
"""Training samples at which slopes of a Gaussian process are averaged."""
MASS = (0.025, 0.975)
LATTICE = 1024


@dataclass
class Posterior:
    """Features and samples are all of the data; those left out have 0.

    Attributes
    ----------
    loadings, shrinkage : (K, D). loading_interval : (K, D, 2).
    scores, scores_sd : (n, K).
    decision : (n, G) mean of the classifiers' values; probability : (n, C) of the classes.
    beta : (T, G, K), beta_interval : (T, G, K, 2); offsets : (T, G).
    coefficients, coefficient_interval : (G, K), (G, K, 2) means over the samples' groups.
    group_size : (T,) share of the training samples. group_mean (T, K), group_precision (T,).
    some_loadings : (D, K) of single draws, for what is not linear in the loadings.
    thresholds : (D, m - 1).
    averaged : what the means were taken over, with their Monte Carlo error, in words; empty for an approximation.
    by_chain : (c, n, C) probabilities by the draws of each chain; none for an approximation.
    """

    loadings: np.ndarray
    loading_interval: np.ndarray
    shrinkage: np.ndarray
    scores: np.ndarray
    scores_sd: np.ndarray
    decision: np.ndarray
    probability: np.ndarray
    beta: np.ndarray
    beta_interval: np.ndarray
    offsets: np.ndarray
    coefficients: np.ndarray
    coefficient_interval: np.ndarray
    group_size: np.ndarray
    group_mean: np.ndarray
    group_precision: np.ndarray
    some_loadings: Sequence[np.ndarray]
    thresholds: np.ndarray
    averaged: str = ""
    by_chain: np.ndarray | None = None


def align(a: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order and signs (K,) that bring the columns of ``a`` (D, K) closest to those of the reference, by correlation."""
    norms = np.linalg.norm(a, axis=0), np.linalg.norm(reference, axis=0)
    cosine = (reference.T @ a) / np.maximum(np.outer(norms[1], norms[0]), 1e-300)
    _, order = linear_sum_assignment(-np.abs(cosine))
    signs = np.where(cosine[np.arange(len(order)), order] < 0, -1.0, 1.0)
    return order, signs


def display_order(loadings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order and signs of (D, K) mean loadings: largest first, the third powers sum to something positive."""
    order = np.argsort(-(loadings**2).sum(axis=0), kind="stable")
    return order, np.where((loadings[:, order] ** 3).sum(axis=0) < 0, -1.0, 1.0)


def match_groups(groups: list[np.ndarray], count: int) -> list[np.ndarray]:
    """For each draw the order (T,) of its groups in which they have most samples in common with the first draw's.

    ``groups`` are the numbers (N,) of the samples' groups, one array a draw. The groups of the first draw come largest first.
    """
    first = np.argsort(-np.bincount(groups[0], minlength=count), kind="stable")
    rank = np.empty(count, np.intp)
    rank[first] = np.arange(count)
    reference, found = rank[groups[0]], []
    for one in groups:
        common = np.bincount(reference * count + one, minlength=count * count).reshape(count, count)
        found.append(linear_sum_assignment(-common)[1])
    return found


class _Turned(Sequence[np.ndarray]):
    """(D, K) loadings of each draw in common order and signs, turned when they are asked for."""

    def __init__(self, loadings: list[np.ndarray], turns: list[tuple[np.ndarray, np.ndarray]]) -> None:
        self._loadings, self._turns = loadings, turns

    def __len__(self) -> int:
        return len(self._loadings)

    def __getitem__(self, index: Any) -> Any:
        order, signs = self._turns[index]
        return self._loadings[index][:, order] * signs

    def interval(self) -> np.ndarray:
        """(K, D, 2) between which lie the masses ``MASS``, over all draws, some features at a time."""
        d, k = self._loadings[0].shape
        step, found = max(1, MOST_NUMBERS // (len(self) * k)), []
        for lo in range(0, d, step):
            part = [
                one[lo : lo + step, order] * signs
                for one, (order, signs) in zip(self._loadings, self._turns, strict=True)
            ]
            found.append(np.moveaxis(np.quantile(np.stack(part), MASS, axis=0), (0, 1, 2), (2, 1, 0)))
        return np.concatenate(found, axis=1)


def used_draws(kept: Kept) -> list[tuple[ChainView, int]]:
    """All draws of all chains; some of them, evenly, while the chains go on."""
    pairs = list(kept.pairs())
    if kept.under_way and len(pairs) > ROUGH_DRAWS:
        return [pairs[i] for i in np.sort(spread(len(pairs))[:ROUGH_DRAWS])]
    return pairs


def shares_by_chain(kept: Kept, draws: Sequence[tuple[ChainView, int]]) -> ByChain:
    """Sums of the class probabilities (n, C) over the draws, by chain."""
    position = {id(chain): c for c, chain in enumerate(kept.chains)}
    total = ByChain([chain.n_draws for chain in kept.chains])
    for chain, index in draws:
        total.add(position[id(chain)], index, class_share(chain.draw("decision", index)))
    return total


def averaged_text(kept: Kept, total: ByChain) -> str:
    """How many draws were averaged, and the largest Monte Carlo error of the class probabilities."""
    error = float(standard_error(total.chains(), total.batches()).max(initial=0.0))
    return draws_text(total.taken, kept.n_draws) + (
        f" (Monte Carlo error of a probability up to {error:.3f})" if np.isfinite(error) else ""
    )


def class_share(one: np.ndarray) -> np.ndarray:
    """(n, C) probability of each class by one draw (n, G) of the classifiers' values."""
    s = 2.0 * (np.maximum(0.0, 1.0 + one) - np.maximum(0.0, 1.0 - one))
    return np.asarray(softmax(np.column_stack([np.zeros(len(s)), s]) if s.shape[1] == 1 else s, axis=1))


def class_shares(f: Iterable[np.ndarray]) -> np.ndarray:
    """(n, C) probability of each class, over the draws, each (n, G), of the classifiers' values.

    Of a draw it is the label term exp(-2 sum max(0, 1 - y f)), divided by its sum over the classes: a softmax of s(f) with
    s(f) = 2 max(0, 1 + f) - 2 max(0, 1 - f). The weight of the labels is left out: it makes up for their number in the fit.
    """
    total, count = np.zeros(()), 0
    for one in f:
        total, count = total + class_share(one), count + 1
    return np.asarray(total / count)


def class_probabilities(f: np.ndarray, sd: np.ndarray) -> np.ndarray:
    """(n, C) the same where the values are independent and normal: means and sd (n, G); by points of a lattice."""
    root = 2.0
    for _ in range(60):  # of x^(G + 1) = x + 1, whose powers make a lattice of low discrepancy (Roberts 2018)
        root = (1.0 + root) ** (1.0 / (f.shape[1] + 1))
    step = root ** -np.arange(1.0, f.shape[1] + 1)
    points = ndtri((0.5 + np.arange(1, LATTICE + 1)[:, None] * step) % 1.0)
    return class_shares(f + sd * points[:, None, :])


def moments_of_scores(
    draws: list[dict[str, np.ndarray]], turns: list[tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance (n, K) of the turned scores, one draw after the other: many samples are never held side by side."""
    centre, square = np.zeros(draws[0]["scores"].shape), np.zeros(draws[0]["scores"].shape)
    for i, (one, (order, signs)) in enumerate(zip(draws, turns, strict=True)):
        apart = one["scores"][:, order] * signs - centre
        centre += apart / (i + 1)
        square += apart * (one["scores"][:, order] * signs - centre)
    return centre, square / len(draws)


def planes_of(one: dict[str, np.ndarray], setup: Setup, params: SamplerSettings) -> np.ndarray:
    """(T, G, K + offset) coefficients of a draw; of a Gaussian process its mean slopes at some training samples."""
    if not is_process(params):
        return one["beta"]
    z = one["scores"][setup.train]
    found = boundary_of(z, one["beta"][0], setup, params)
    return found.slopes(z[:: max(1, len(z) // MOST_SLOPES)])[None]


def sampled_posterior(kept: Kept, setup: Setup, params: SamplerSettings) -> Posterior:
    """From the draws of all chains, each aligned to the first one by signed assignment."""
    draws = used_draws(kept)
    get = [
        {name: chain.draw(name, i) for name in ("loadings", "scores", "beta", "group")} for chain, i in draws
    ]
    for one in get:
        one["beta"] = planes_of(one, setup, params)
    reference = get[0]["loadings"]
    turns = [align(one["loadings"], reference) for one in get]
    k = reference.shape[1]
    mean = sum(one["loadings"][:, o] * s for one, (o, s) in zip(get, turns, strict=True)) / len(get)
    order, signs = display_order(mean)
    turns = [(o[order], s[order] * signs) for o, s in turns]
    groups = len(get[0]["beta"])
    swaps = match_groups([one["group"][setup.train] for one in get], groups)
    beta = np.stack([one["beta"][p][:, :, o] * s for one, (o, s), p in zip(get, turns, swaps, strict=True)])
    counts = [np.bincount(one["group"][setup.train], minlength=groups) for one in get]
    size = np.stack([count[p] for count, p in zip(counts, swaps, strict=True)]) / len(setup.train)
    coefficients = (size[:, :, None, None] * beta).sum(axis=1)
    turned = _Turned([one["loadings"] for one in get], turns)
    centre, variance = moments_of_scores(get, turns)
    group_mean = np.stack(
        [
            chain.draw("group_mean", i)[p][:, o] * s
            for (chain, i), (o, s), p in zip(draws, turns, swaps, strict=True)
        ]
    )
    group_precision = np.stack(
        [chain.draw("group_precision", i)[p] for (chain, i), p in zip(draws, swaps, strict=True)]
    )

    def average(name: str) -> np.ndarray:
        return np.asarray(sum(chain.draw(name, i) for chain, i in draws) / len(draws))

    shares = shares_by_chain(kept, draws)
    shrinkage = sum(chain.draw("shrinkage", i)[:, o] for (chain, i), (o, _) in zip(draws, turns, strict=True))
    offset = [one["beta"][p][:, :, k:].sum(axis=2) for one, p in zip(get, swaps, strict=True)]
    return Posterior(
        mean[:, order].T * signs[:, None],
        turned.interval(),
        (np.asarray(shrinkage) / len(draws)).T,
        centre,
        np.sqrt(variance),
        average("decision"),
        class_shares(chain.draw("decision", i) for chain, i in draws),
        beta.mean(axis=0),
        np.moveaxis(np.quantile(beta, MASS, axis=0), 0, -1),
        np.stack(offset).mean(axis=0),
        coefficients.mean(axis=0),
        np.moveaxis(np.quantile(coefficients, MASS, axis=0), 0, -1),
        size.mean(axis=0),
        group_mean.mean(axis=0),
        group_precision.mean(axis=0),
        turned,
        average("thresholds"),
        averaged_text(kept, shares),
        shares.chains(),
    )
