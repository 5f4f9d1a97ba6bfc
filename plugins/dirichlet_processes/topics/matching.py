"""Topics of all draws matched to those of one of them: topics have no names from draw to draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from plaidwork.core.api import ChainView, Kept
from plaidwork.plugins.dirichlet_processes.clusterings import spread_evenly
from plaidwork.plugins.dirichlet_processes.topics.state import Floats, Ints

MOST_DRAWS, QUICK_DRAWS, CANDIDATES = 100, 10, 12
"""Draws that are matched, of a fit that has ended and of one under way or to choose by; draws that may be shown."""
MAIN = 0.99
"""Share of the tokens that the topics hold which are compared and shown."""
ALIKE = 0.5
"""Hellinger distance below which two topics are the same one."""


@dataclass(frozen=True)
class Draw:
    """One draw with the words of its topics."""

    words: Ints
    """(K, V) counts"""
    documents: np.ndarray
    """(K, D) counts, as they were kept: unsigned, and few bytes each"""
    weight: Floats
    """(K,) of beta"""
    rest: float
    alpha: float
    eta: float

    @property
    def phi(self) -> Floats:
        """(K, V) expected probability of each word in each topic."""
        found = np.asarray(self.words + self.eta, dtype=np.float64)
        shares: Floats = found / found.sum(axis=1, keepdims=True)
        return shares

    def shares(self, lo: int, hi: int) -> Floats:
        """(K, hi - lo) expected share of each topic in documents ``lo`` to ``hi``."""
        here = self.documents[:, lo:hi]
        found: Floats = here + self.alpha * self.weight[:, None]
        return found / (here.sum(axis=0) + self.alpha)

    def taking(self, order: Ints) -> Draw:
        """The same draw with these topics in this order."""
        return Draw(
            self.words[order], self.documents[order], self.weight[order], self.rest, self.alpha, self.eta
        )


@dataclass(frozen=True)
class Matched:
    """The draw that is shown, the most prevalent topic first, and others with the place of each shown topic in them."""

    shown: Draw
    draws: list[Draw]
    places: list[Ints]
    """(K,) for each draw, -1 where a topic has no like"""

    @property
    def presence(self) -> Floats:
        """(K,) share of the draws in which each topic has a like."""
        return np.mean([place >= 0 for place in self.places], axis=0)


def draw_at(chain: ChainView, i: int) -> Draw:
    """A draw of which the words were kept."""
    words, documents, weight = (
        np.asarray(chain.draw(name, i)) for name in ("topic_words", "topic_documents", "weight")
    )
    return Draw(words, documents, weight, *(float(chain.draw(name, i)) for name in ("rest", "alpha", "eta")))


def place_topics(shown: Floats, other: Floats) -> Ints:
    """(K,) topic of ``other`` (K', V) that each of ``shown`` (K, V), square roots of probabilities, is paired with; -1 where none is.

    The pairs have the least sum of Hellinger distances, ``sqrt(1 - sum sqrt(p q))``.
    """
    distance = np.sqrt(np.maximum(1.0 - shown @ other.T, 0.0))
    rows, columns = linear_sum_assignment(np.minimum(distance, 1.0))
    place = np.full(len(shown), -1, np.int64)
    place[rows] = columns
    place[rows[distance[rows, columns] >= ALIKE]] = -1
    return place


def main_of(draw: Draw) -> Draw:
    """The draw without its smallest topics, which hold a hundredth of the tokens together; the largest comes first.

    A topic of a few tokens is not told from others of that size by its words.
    """
    order = np.argsort(-draw.words.sum(axis=1), kind="stable")
    sizes = draw.words.sum(axis=1)[order].cumsum()
    return draw.taking(order[: int(np.searchsorted(sizes, MAIN * sizes[-1]) + 1)])


def distance_of(shown: Draw, roots: list[Floats]) -> float:
    """Mean Hellinger distance of the topics of a draw, by their size, to their likes in other draws; 1 where one has none."""
    own, weight = np.sqrt(shown.phi), shown.words.sum(axis=1) / shown.words.sum()
    total = 0.0
    for other in roots:
        place = place_topics(own, other)
        live = place >= 0
        fit = (own[live] * other[place[live]]).sum(axis=1)
        total += 1.0 - float(weight[live] @ (1.0 - np.sqrt(np.maximum(1.0 - fit, 0.0))))
    return total / len(roots)


def match_draws(kept: Kept) -> Matched | None:
    """Draws evenly spread over all chains, matched to the one of some candidates that is nearest to others; None before the first."""
    with_words = [
        (chain, i) for chain in kept.chains for i, weight in enumerate(chain.iterate("weight")) if len(weight)
    ]
    if not with_words:
        return None
    some = spread_evenly(len(with_words), QUICK_DRAWS if kept.under_way else MOST_DRAWS)
    draws = [main_of(draw_at(*with_words[n])) for n in some]
    roots = [np.sqrt(draw.phi) for draw in draws]
    judges = [roots[n] for n in spread_evenly(len(roots), QUICK_DRAWS)]
    candidates = spread_evenly(len(draws), CANDIDATES)
    shown = draws[min(candidates, key=lambda n: distance_of(draws[n], judges))]
    root = np.sqrt(shown.phi)
    return Matched(shown, draws, [place_topics(root, other) for other in roots])
