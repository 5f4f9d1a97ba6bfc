"""Groupings of the unlabelled samples that the chains went through, and whether the chains agree on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plaidwork.core.api import Kept

RADIUS = 0.1
"""Share of the unlabelled samples by which two draws of one grouping may differ."""
APART = 0.3
"""Difference of a class probability between two chains from which they disagree about a sample."""
ENOUGH = 50
"""Draws of a chain from which its probabilities are compared with those of others."""
_MOST_DRAWS, _MOST_SAMPLES, _MOST_MODES = 600, 1000, 5


@dataclass(frozen=True, slots=True)
class Modes:
    """Groupings, the most frequent one first.

    Attributes
    ----------
    share : (G, C) share of the draws of each chain in each grouping; what is left belongs to rare ones.
    differs : (G,) samples that the draw in the middle of each grouping classifies otherwise than that of the first.
    counts : (G, K) unlabelled samples in each class in that draw.
    looked_at : how many unlabelled samples were looked at.
    """

    share: np.ndarray
    differs: np.ndarray
    counts: np.ndarray
    looked_at: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the chains agree on the classes of the unlabelled samples.

    Attributes
    ----------
    apart : (U,) largest difference of a class probability between two chains; zeros where fewer than two can be compared.
    compared : how many chains could be compared.
    """

    apart: np.ndarray
    compared: int

    @property
    def disputed(self) -> int:
        """Samples that two chains disagree about."""
        return int((self.apart > APART).sum())


def winners_of(z: np.ndarray) -> np.ndarray:
    """(draws, N) class that z (draws, K, N) speaks for."""
    winners = z[:, 0] > 0 if z.shape[1] == 1 else z.argmax(axis=1)
    return winners.astype(np.int8)


def winners_by_chain(kept: Kept, free: np.ndarray) -> list[np.ndarray]:
    """(draws, U) classes of the unlabelled samples, ``free`` (N,), in every chain that kept draws."""
    return [winners_of(chain.stack("z")[:, :, free]) for chain in kept.chains if chain.n_draws]


def agreement(chains: list[np.ndarray], n_classes: int) -> Agreement:
    """Of the chains' classes (draws, U)."""
    size = chains[0].shape[1] if chains else 0
    shares = [
        np.stack([(winners == k).mean(axis=0) for k in range(n_classes)])
        for winners in chains
        if len(winners) >= ENOUGH
    ]
    if len(shares) < 2 or size == 0:
        return Agreement(np.zeros(size), len(shares))
    return Agreement(np.ptp(np.array(shares), axis=0).max(axis=0), len(shares))


def find_modes(chains: list[np.ndarray], n_classes: int) -> Modes:
    """Groupings among the chains' classes (draws, U): the draw with most others near it, they being taken away, and again.

    That is the clustering of Daura et al. (1999, Angewandte Chemie 38, 236), with the share of samples in another class
    as distance. Classes are known by labels, so no classes change places. The middles are looked for among some of the
    draws, all pairs of which are compared; the shares are of all draws.
    """
    each = max(_MOST_DRAWS // max(len(chains), 1), 1)
    chains = [chain[:, _evenly(chain.shape[1], _MOST_SAMPLES)] for chain in chains]
    draws = np.concatenate([chain[_evenly(len(chain), each)] for chain in chains])
    near = _distances(draws, n_classes) <= RADIUS
    left = np.ones(len(draws), dtype=bool)
    middles: list[np.ndarray] = []
    least = max(1, len(draws) // 50)
    while len(middles) < _MOST_MODES:
        counts = (near[:, left].sum(axis=1)) * left
        middle = int(counts.argmax())
        if counts[middle] < least:
            break
        middles.append(draws[middle])
        left &= ~near[middle]
    found = np.array(middles, dtype=np.int8).reshape(len(middles), draws.shape[1])
    return Modes(
        np.stack([_shares(chain, found) for chain in chains], axis=1),
        (found != found[:1]).sum(axis=1),
        np.stack([(found == k).sum(axis=1) for k in range(n_classes)], axis=1),
        draws.shape[1],
    )


def _shares(draws: np.ndarray, middles: np.ndarray) -> np.ndarray:
    """(G,) shares of all draws (s, U) of a chain that are near each of the middles (G, U) and near none before it."""
    left, found = np.ones(len(draws), dtype=bool), np.zeros(len(middles))
    for g, middle in enumerate(middles):
        members = left & ((draws != middle).mean(axis=1) <= RADIUS if draws.shape[1] else left)
        found[g] = members.mean()
        left &= ~members
    return found


def _distances(draws: np.ndarray, n_classes: int) -> np.ndarray:
    """(D, D) share of samples in another class, of draws (D, U)."""
    same = np.zeros((len(draws), len(draws)), dtype=np.float32)
    for k in range(n_classes):
        member = (draws == k).astype(np.float32)
        same += member @ member.T
    return np.asarray(1.0 - same / max(draws.shape[1], 1))


def _evenly(count: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(np.intp))
