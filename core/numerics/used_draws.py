"""Which draws an average takes: all, and where that is dear, as many as the error still wanted asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np


def spread(count: int) -> np.ndarray:
    """(count,) the numbers from 0 in an order of which every beginning is spread evenly (van der Corput 1935)."""
    bits = max(count - 1, 1).bit_length()
    numbers, turned = np.arange(1 << bits), np.zeros(1 << bits, dtype=np.int64)
    for bit in range(bits):
        turned |= ((numbers >> bit) & 1) << (bits - 1 - bit)
    return turned[turned < count]


def rounds(counts: Sequence[int], first: int) -> Iterator[list[np.ndarray]]:
    """Numbers of draws by chain, ascending: about ``first`` of all chains together, then as many again as were taken before,
    until all are taken. Whoever has enough stops in between.

    ``counts`` are the chains' draws.
    """
    orders = [spread(count) for count in counts]
    done, upto = 0, max(2, -(-first // max(len(orders), 1)))
    while any(done < len(order) for order in orders):
        yield [np.sort(order[done:upto]) for order in orders]
        done, upto = upto, 2 * upto


def draws_text(taken: int, kept: int) -> str:
    """How many draws an average took, of how many: "all 400 draws", "80 of 400 draws"."""
    shown = [
        f"{number:,}".replace(",", "\u202f") for number in (taken, kept)
    ]  # as everywhere; words are not for numerics
    return f"all {shown[1]} draws" if taken == kept else f"{shown[0]} of {shown[1]} draws"


class ByChain:
    """Sums of arrays over draws, by chain and by batch of successive draws, for means and their Monte Carlo errors.

    Draws may come in any order. ``counts`` are the chains' draws, of which some may be left out.
    """

    def __init__(self, counts: Sequence[int], batches: int = 5) -> None:
        self._counts, self._batches = counts, batches
        self._sums: dict[tuple[int, int], np.ndarray] = {}
        self._taken: dict[tuple[int, int], int] = {}

    def add(self, chain: int, draw: int, value: np.ndarray) -> None:
        """The value of a draw of a chain."""
        key = (chain, draw * self._batches // max(self._counts[chain], 1))
        self._taken[key] = self._taken.get(key, 0) + 1
        if key in self._sums:
            self._sums[key] += value
        else:
            self._sums[key] = np.array(value, dtype=np.float64)

    @property
    def taken(self) -> int:
        """How many draws have come."""
        return sum(self._taken.values())

    def batches(self) -> np.ndarray:
        """(b, ...) means of the batches that have draws, chain by chain."""
        return np.stack([self._sums[key] / self._taken[key] for key in sorted(self._sums)])

    def chains(self) -> np.ndarray:
        """(c, ...) means of the chains that have draws."""
        found = []
        for chain in sorted({chain for chain, _batch in self._sums}):
            keys = [key for key in self._sums if key[0] == chain]
            found.append(
                np.sum([self._sums[key] for key in keys], axis=0) / sum(self._taken[k] for k in keys)
            )
        return np.stack(found)

    def mean(self) -> np.ndarray:
        """(...) mean over chains, each as heavy as any other."""
        return np.asarray(self.chains().mean(axis=0))


def standard_error(by_chain: np.ndarray, by_batch: np.ndarray) -> np.ndarray:
    """(...) Monte Carlo standard errors of averages over chains (c, ...), which are in batches (b, ...).

    The larger of what the chains and what the batches of successive draws say: chains that disagree show in the one,
    slow moves within them in the other, and the first alone rests on few numbers. NaN without two batches.
    """
    found = [
        parts.std(axis=0, ddof=1) / np.sqrt(len(parts)) for parts in (by_chain, by_batch) if len(parts) > 1
    ]
    return np.asarray(np.max(found, axis=0)) if found else np.full(by_chain.shape[1:], np.nan)
