"""What the kept draws say: of each peak, of each formula, of each adduct. Plain counts, added up draw by draw.

A draw has several thousand assigned peaks and a fit a thousand draws: arrays over all of them would take several times the memory
of the draws themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plaidwork.core.api import Kept
from plaidwork_lcms_annotation.patterns import Floats, Ints
from plaidwork_lcms_annotation.peaks import Lists

LEVELS = 5
WAITING = 1 << 18
"""Ions of draws that wait to be counted together: 2 MiB."""


@dataclass(frozen=True)
class Draw:
    """The assigned peaks of one draw: (E,) each."""

    chain: int
    peak: Ints
    cluster: Ints
    position: Ints


def draws_of(kept: Kept) -> Iterator[Draw]:
    """The draws of all chains; chains without any are left out."""
    names = ("assigned_peak", "assigned_cluster", "assigned_position")
    for number, chain in enumerate(chain for chain in kept.chains if chain.n_draws):
        for i in range(chain.n_draws):
            yield Draw(number, *(np.asarray(chain.draw(name, i), np.int64) for name in names))


def distinct(keys: Ints) -> Ints:
    """The different keys in order: by sorting, as numpy's table of hashes takes ten times as long for keys that come in runs."""
    ordered = np.sort(keys, kind="stable")
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


@dataclass(frozen=True)
class PeakShares:
    """How often each peak was each ion: entries by peak, the most frequent first."""

    peak: Ints
    position: Ints
    count: Ints
    """In how many draws."""
    share: Floats
    first: Ints
    """(N + 1,) entries of each peak."""
    background: Floats
    """(N,)"""

    def nth(self, n: int) -> tuple[Ints, Floats]:
        """(N,) position and share of the n-th ion of each peak, from 0; -1 and 0 where there is none."""
        at = self.first[:-1] + n
        there = at < self.first[1:]
        at = np.where(there, at, 0)
        if not len(self.peak):
            return np.full(len(there), -1), np.zeros(len(there))
        return np.where(there, self.position[at], -1), np.where(there, self.share[at], 0.0)

    @cached_property
    def ordered(self) -> tuple[Ints, Floats]:
        """Keys of peak and ion in order, and what each is worth to :meth:`fit`."""
        keys = self.peak * self._width + self.position
        order = np.argsort(keys)
        return keys[order], (self.share - self.background[self.peak])[order]

    @property
    def _width(self) -> int:
        return int(self.position.max(initial=0)) + 1

    def fit(self, draw: Draw) -> float:
        """By how much the ions of a draw are likelier than background, summed over its peaks."""
        keys, worth = self.ordered
        return float(worth[np.searchsorted(keys, draw.peak * self._width + draw.position)].sum())


class Counts:
    """What the draws of some chains say."""

    def __init__(self, lists: Lists, chains: int) -> None:
        n_formulas, n_adducts = len(lists.texts), len(lists.adducts)
        self._lists, self._waiting = lists, list[Ints]()
        self._ions, self._times = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._levels = np.zeros((chains, n_formulas, LEVELS))
        self._several = np.zeros(n_formulas)
        self._adducts = np.zeros((2, n_formulas * n_adducts))
        self._draws = np.zeros(chains)

    def add(self, draw: Draw) -> None:
        """Count one more draw."""
        place, n_adducts = self._lists.positions, len(self._lists.adducts)
        width = len(place.formula)
        self._draws[draw.chain] += 1
        self._wait(draw.peak * width + draw.position)
        labels, at, cluster = np.unique(draw.cluster, return_index=True, return_inverse=True)
        formula = place.formula[draw.position[at]]  # of each cluster
        ions = distinct(cluster * width + draw.position)  # different ions of each cluster
        owner, adduct = ions // width, place.adduct[ions % width]
        number = np.bincount(owner, minlength=len(labels))
        for j in range(LEVELS):
            self._levels[draw.chain, distinct(formula[number > j]), j] += 1.0
        np.add.at(self._several, formula[number > 1], 1.0)
        groups, count = np.unique(owner * n_adducts + adduct, return_counts=True)
        for least in (1, 2):
            here = groups[count >= least]
            self._adducts[least - 1, distinct(formula[here // n_adducts] * n_adducts + here % n_adducts)] += (
                1.0
            )

    def _wait(self, ions: Ints) -> None:
        self._waiting.append(ions)
        if sum(map(len, self._waiting)) >= WAITING:
            self._gather()

    def _gather(self) -> None:
        """Count the ions that wait."""
        keys, place = np.unique(np.concatenate([self._ions, *self._waiting]), return_inverse=True)
        weight = np.ones(len(place), np.int64)
        weight[: len(self._times)] = self._times
        self._ions, self._times = keys, np.bincount(place, weight, len(keys)).astype(np.int64)
        self._waiting.clear()

    @property
    def n_draws(self) -> int:
        """Draws that were counted."""
        return int(self._draws.sum())

    def peaks(self) -> PeakShares:
        """How often each peak was each ion."""
        self._gather()
        n_peaks, width = len(self._lists.peaks.seen), len(self._lists.positions.formula)
        peak, position, count = self._ions // width, self._ions % width, self._times
        order = np.lexsort((position, -count, peak))
        peak, position, count = peak[order], position[order], count[order]
        total = np.bincount(peak, count, n_peaks)
        first = np.searchsorted(peak, np.arange(n_peaks + 1))
        return PeakShares(peak, position, count, count / self.n_draws, first, 1.0 - total / self.n_draws)

    def levels(self) -> tuple[Floats, Floats]:
        """Probability that some cluster of a formula has so many different ions: by chain (chains, F, LEVELS), overall (F, LEVELS)."""
        return self._levels / self._draws[:, None, None], self._levels.sum(axis=0) / self.n_draws

    def occurrences(self) -> Floats:
        """(F,) expected number of clusters of each formula that have two different ions or more."""
        return self._several / self.n_draws

    def adducts(self, least: int) -> Floats:
        """(F, A) probability that some cluster of a formula has ``least`` (1 or 2) different isotopes of an adduct, or more."""
        shares = self._adducts[least - 1] / self.n_draws
        return np.asarray(shares.reshape(-1, len(self._lists.adducts)))


def counted(kept: Kept, lists: Lists) -> Counts:
    """The draws of all chains, counted."""
    counts = Counts(lists, sum(chain.n_draws > 0 for chain in kept.chains))
    for draw in draws_of(kept):
        counts.add(draw)
    return counts


def quantiles(values: Floats, weights: Ints, at: tuple[float, ...]) -> Floats:
    """Quantiles, linear between values, of values (m,) each of which is there ``weights`` times, whole numbers."""
    order = np.argsort(values, kind="stable")
    values, ends = values[order], np.cumsum(weights[order])
    rank = (ends[-1] - 1.0) * np.array(at)
    low = np.floor(rank)
    below, above = (
        values[np.minimum(np.searchsorted(ends, r, side="right"), len(values) - 1)] for r in (low, low + 1.0)
    )
    return np.asarray(below + (rank - low) * (above - below))
