"""What the kept draws say: of each peak, of each formula, of each adduct. Plain counts over draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import ChainView, Kept
from plaidwork_lcms_annotation.patterns import Floats, Ints
from plaidwork_lcms_annotation.peaks import Lists

LEVELS = 5


@dataclass(frozen=True)
class Assigned:
    """All assigned peaks of all draws, one after the other: (E,) each; draws are numbered through the chains."""

    draw: Ints
    peak: Ints
    cluster: Ints
    """Numbered through all draws."""
    position: Ints
    n_draws: int
    draws_of: Ints
    """(chains,) number of draws of each chain."""


def assigned(kept: Kept) -> Assigned:
    """The draws of all chains."""
    chains: list[ChainView] = [chain for chain in kept.chains if chain.n_draws]
    counts = np.array([chain.n_draws for chain in chains], np.int64)
    parts = [
        [np.asarray(chain.draw(name, i), np.int64) for chain in chains for i in range(chain.n_draws)]
        for name in ("assigned_peak", "assigned_cluster", "assigned_position")
    ]
    lengths = np.array([len(part) for part in parts[0]], np.int64)
    draw = np.repeat(np.arange(len(lengths)), lengths)
    peak, cluster, position = (np.concatenate(part) for part in parts)
    n_clusters = np.array([int(part.max(initial=-1)) + 1 for part in parts[1]], np.int64)
    cluster = cluster + np.repeat(np.cumsum(n_clusters) - n_clusters, lengths)
    return Assigned(draw, peak, cluster, position, len(lengths), counts)


def distinct(keys: Ints) -> Ints:
    """The different keys in order: by sorting, since keys come in runs by draw, where numpy's table of hashes takes ten times as long."""
    ordered = np.sort(keys, kind="stable")
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


@dataclass(frozen=True)
class PeakShares:
    """How often each peak was each ion: entries by peak, the most frequent first."""

    peak: Ints
    position: Ints
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


def peak_shares(found: Assigned, n_peaks: int) -> PeakShares:
    """Counts of ions by peak."""
    width = int(found.position.max(initial=0)) + 1
    keys, count = np.unique(found.peak * width + found.position, return_counts=True)
    peak, position = keys // width, keys % width
    order = np.lexsort((position, -count, peak))
    peak, position, count = peak[order], position[order], count[order]
    share = count / found.n_draws
    total = np.bincount(peak, count, n_peaks)
    first = np.searchsorted(peak, np.arange(n_peaks + 1))
    return PeakShares(peak, position, share, first, 1.0 - total / found.n_draws)


def level_counts(found: Assigned, lists: Lists) -> tuple[Floats, Floats, Floats]:
    """Of each formula (F): probability of each level by chain (chains, F, LEVELS), overall (F, LEVELS), and the expected number
    of clusters that have two different ions or more (F,)."""
    place, n_formulas = lists.positions, len(lists.texts)
    width = len(place.formula) + 1
    ions = distinct(found.cluster * width + found.position)  # different ions of each cluster
    cluster, number = np.unique(ions // width, return_counts=True)
    _, at = np.unique(found.cluster, return_index=True)
    draw, formula = found.draw[at], place.formula[found.position[at]]
    assert len(cluster) == len(at)
    key = draw * n_formulas + formula
    order = np.lexsort((number, key))
    last = np.flatnonzero(np.append(np.diff(key[order]) > 0, True)) if len(key) else np.zeros(0, np.int64)
    best = order[last]  # of each draw and formula, the cluster with most ions
    chain = np.repeat(np.arange(len(found.draws_of)), found.draws_of)
    levels = np.zeros((len(found.draws_of), n_formulas, LEVELS))
    for j in range(LEVELS):
        rich = best[number[best] > j]
        np.add.at(levels[:, :, j], (chain[draw[rich]], formula[rich]), 1.0)
    total = levels.sum(axis=0) / found.n_draws
    several = number > 1
    occurrences = np.bincount(formula[several], minlength=n_formulas) / found.n_draws
    return levels / found.draws_of[:, None, None], total, occurrences


def adduct_shares(found: Assigned, lists: Lists, least: int) -> Floats:
    """(F, A) probability that some cluster of a formula has ``least`` different isotopes of an adduct, or more."""
    place, n_adducts = lists.positions, len(lists.adducts)
    width = len(place.formula) + 1
    ions = distinct(found.cluster * width + found.position)
    cluster, position = ions // width, ions % width
    groups, count = np.unique(cluster * n_adducts + place.adduct[position], return_counts=True)
    groups = groups[count >= least]
    labels, at = np.unique(found.cluster, return_index=True)
    one = np.searchsorted(labels, groups // n_adducts)
    draw, formula = found.draw[at][one], place.formula[found.position[at]][one]
    keys = distinct((draw * len(lists.texts) + formula) * n_adducts + groups % n_adducts)
    shares = np.bincount(keys % (len(lists.texts) * n_adducts), minlength=len(lists.texts) * n_adducts)
    return np.asarray(shares.reshape(len(lists.texts), n_adducts) / found.n_draws)


def partners(found: Assigned, peaks: Ints, n_peaks: int) -> Floats:
    """(N,) how often each peak is in a cluster with any of the given ones, on average over the draws."""
    ours = distinct(found.cluster[np.isin(found.peak, peaks)])
    with_them = np.isin(found.cluster, ours)
    return np.asarray(np.bincount(found.peak[with_them], minlength=n_peaks) / found.n_draws)
