"""Samples of large data in blocks, which the threads of a chain share among them.

Blocks follow from the number of samples, sums over samples are those of the blocks, added in their order, and a block that draws random
numbers has a generator of its own. So bounds and draws are the same bit for bit for any number of threads. Small data are one block.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import reduce
from math import ceil
from operator import add
from typing import Any, TypeVar

import numpy as np

from plaidwork.core.api import part_rngs, share

S = TypeVar("S")
T = TypeVar("T")

LARGE = 8_192
"""Samples from which data are large: below, waking threads for a pass over them takes as much as it spares."""
BLOCK = 2_048
"""Samples of a block at most: beside 100 inducing points they stay in the memory of a processor."""
TOGETHER = 4
"""The number of blocks is a multiple of it, so that one, two or four threads end together."""


def is_large(size: int) -> bool:
    """Whether so many samples are more than one block."""
    return size >= LARGE


def blocks_of(size: int) -> list[slice]:
    """The blocks of so many samples."""
    count = TOGETHER * ceil(size / (TOGETHER * BLOCK)) if is_large(size) else 1
    ends = [size * number // count for number in range(count + 1)]
    return [slice(lo, hi) for lo, hi in itertools.pairwise(ends)]


def in_blocks(work: Callable[[slice], T], size: int) -> list[T]:
    """What ``work`` returns for the blocks of so many samples, in their order; several are worked at once."""
    return of_each(work, blocks_of(size))


def of_each(work: Callable[[S], T], units: Sequence[S]) -> list[T]:
    """What ``work`` returns for each of the units, in their order; several are worked at once."""
    found: list[T] = [None] * len(units)  # type: ignore[list-item]

    def some(lo: int, hi: int) -> None:
        for number in range(lo, hi):
            found[number] = work(units[number])

    share(some, len(units))
    return found


def summed(work: Callable[[slice], tuple[Any, ...]], size: int) -> list[Any]:
    """The sums over the blocks of what ``work`` returns, numbers or arrays, each added in the order of the blocks."""
    return [reduce(add, each) for each in zip(*in_blocks(work, size), strict=True)]


def generators(rng: np.random.Generator, size: int) -> Callable[[slice], np.random.Generator]:
    """The generator of each block of so many samples; of small data the chain's own."""
    if not is_large(size):
        return lambda part: rng
    own = part_rngs(rng)
    return lambda part: own(part.start)


def projected(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """``values rows`` (r,) or (K, r) of values (N,) or (K, N) and rows (N, r), a sum over samples."""
    (found,) = summed(lambda part: (values[..., part] @ rows[part],), len(rows))
    return np.asarray(found)


def gathered(rows: np.ndarray, values: np.ndarray) -> np.ndarray:
    """``rows' values`` (r,) or (r, m) of values (N,) or (N, m) and rows (N, r), a sum over samples."""
    (found,) = summed(lambda part: (rows[part].T @ values[part],), len(rows))
    return np.asarray(found)
