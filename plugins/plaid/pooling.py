"""What all chains say together, without labels: who shares blocks, and how well held-out cells are predicted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from plaidwork.core.api import Block
from plaidwork.plugins.plaid.fields import Flags, Floats, Integers
from plaidwork.plugins.plaid.tails import log_t

CHUNK_ROWS = 4096


class BlockDraw(Protocol):
    """One draw of any plaid model, without its empty blocks."""

    @property
    def rows(self) -> Flags: ...
    @property
    def columns(self) -> Flags: ...
    @property
    def theta(self) -> Floats: ...
    @property
    def profile(self) -> Floats | None: ...
    @property
    def spreads(self) -> Floats: ...
    def density(self, i: Integers, j: Integers, values: Floats) -> Floats: ...


class Draw(NamedTuple):
    """One draw without its empty blocks; lengths in the unit of the data."""

    rows: Flags
    """(K, N1)"""
    columns: Flags
    """(K, N2)"""
    theta: Floats
    """(K,) shifts"""
    phi: float
    tau0: float
    profile: Floats | None = None
    """(K, N2) where blocks have one, 0 outside them"""
    row_weight: Floats | None = None
    """(N1,) weights of the precision, where rows differ"""
    row_effect: Floats | None = None
    column_effect: Floats | None = None
    freedom: float | None = None
    """degrees of freedom of the noise, where it has heavy tails"""

    @property
    def layers(self) -> Floats:
        """(K, N2) what each block adds in each column."""
        return self.theta[:, None] * self.columns if self.profile is None else self.profile

    @property
    def spreads(self) -> Floats:
        """(K,) standard deviation of each block's profile over its columns."""
        inside, layers = self.columns.sum(axis=1), self.layers
        mean = layers.sum(axis=1) / inside
        return np.sqrt(np.maximum((layers**2).sum(axis=1) / inside - mean**2, 0.0))

    def layer(self, k: int, share: int) -> np.ndarray:
        """(N2,) what block k adds in each column, divided by ``share``."""
        if self.profile is None:
            return self.columns[k] * np.float32(self.theta[k] / share)
        return self.profile[k] / share

    def means(self, rows: Integers) -> Floats:
        """(r, N2) expected values in these rows."""
        found: Floats = self.phi + self.rows[:, rows].T.astype(np.float64) @ self.layers
        if self.row_effect is not None and self.column_effect is not None:
            found = found + self.row_effect[rows][:, None] + self.column_effect
        return found

    def precisions(self, rows: Integers) -> Floats:
        """(r,) precision of the noise in these rows."""
        return np.full(len(rows), self.tau0) if self.row_weight is None else self.tau0 * self.row_weight[rows]

    def density(self, i: Integers, j: Integers, values: Floats) -> Floats:
        """Log predictive density of these values in the cells (i, j), all (n,)."""
        mean = self.phi + (self.rows[:, i] * self.layers[:, j]).sum(axis=0)
        if self.row_effect is not None and self.column_effect is not None:
            mean = mean + self.row_effect[i] + self.column_effect[j]
        tau0 = self.precisions(i)
        if self.freedom is not None:
            return log_t(values - mean, tau0, self.freedom)
        found: Floats = 0.5 * np.log(tau0 / (2 * math.pi)) - 0.5 * tau0 * (values - mean) ** 2
        return found


class Together(NamedTuple):
    """Who shares blocks with whom, over the draws of all chains.

    ``shared`` is (q, q) float32: blocks that two items share over the geometric mean of the blocks of each, both summed
    over the draws; 0 for an item that never is in a block. ``agreement`` is the correlation of these numbers between
    two halves of the chains (every second one), pairs of different items only; NaN for one chain.
    """

    shared: np.ndarray
    agreement: float


def count_shared(memberships: Iterable[Flags], size: int) -> Floats:
    """Blocks that two items share, summed over draws: (q, q) from (K, q) memberships of each draw.

    O(blocks q^2) in products of many draws at a time.
    """
    total = np.zeros((size, size))
    waiting: list[np.ndarray] = []
    rows = 0
    for z in memberships:
        waiting.append(z)
        rows += len(z)
        if rows >= CHUNK_ROWS:
            total += _product(waiting)
            waiting, rows = [], 0
    return total + _product(waiting) if rows else total


def _product(parts: Sequence[np.ndarray]) -> np.ndarray:
    stacked = np.concatenate(parts).astype(np.float32)  # whole numbers below 2^24 are exact
    return stacked.T @ stacked


def cosines(counts: Floats) -> np.ndarray:
    """Shared blocks over the geometric mean of the blocks of each: (q, q) float32 of :func:`count_shared`."""
    own = np.sqrt(np.diag(counts))
    scale = np.outer(own, own)
    return np.divide(counts, scale, out=np.zeros_like(counts), where=scale > 0).astype(np.float32)


def together(chains: Sequence[Iterable[Flags]], items: Integers) -> Together:
    """Pool chains, each given as the (K, N) memberships of its draws, for the chosen items."""
    halves = [np.zeros((len(items), len(items))) for _ in range(2)]
    for c, memberships in enumerate(chains):
        halves[c % 2] += count_shared((z[:, items] for z in memberships), len(items))
    one, other = (cosines(half)[np.triu_indices(len(items), 1)] for half in halves)
    spread = one.std() * other.std() if one.size else 0.0
    agreement = float(np.corrcoef(one, other)[0, 1]) if len(chains) > 1 and spread > 0 else math.nan
    return Together(cosines(halves[0] + halves[1]), agreement)


class Score(NamedTuple):
    """Mean log predictive density of the held-out cells, in nats per cell, and its standard error over cells."""

    mean: float
    error: float


def held_out_score(chains: Sequence[Sequence[BlockDraw]], block: Block) -> Score | None:
    """Score of the average predictive of all draws, every chain counting alike; None where nothing is held out.

    O(draws K cells held out).
    """
    if block.held_out is None or not block.held_out.any() or not any(len(draws) for draws in chains):
        return None
    i, j = np.nonzero(block.held_out)
    truth = block.truth[i, j] if block.truth is not None else block.values[i, j]
    by_chain = []
    for draws in chains:
        if not draws:
            continue
        total = np.full(len(i), -np.inf)
        for draw in draws:
            total = np.logaddexp(total, draw.density(i, j, truth))
        by_chain.append(total - math.log(len(draws)))
    cells = np.logaddexp.reduce(by_chain, axis=0) - math.log(len(by_chain))
    return Score(
        float(cells.mean()), float(cells.std(ddof=1) / math.sqrt(len(cells))) if len(cells) > 1 else 0.0
    )
