"""Non-reversible parallel tempering: copies of a chain on a ladder of easier and easier laws, which change places.

The copies at the two ends of a gap swap with the Metropolis ratio; gaps that begin at even and at odd rungs take turns in a fixed
order, which carries copies along the ladder instead of letting them wander; in the warm-up the rungs are spaced so that every gap
refuses about as many swaps (Syed, Bouchard-Cote, Deligiannidis & Doucet 2022, Journal of the Royal Statistical Society B 84:321).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypedDict

import numpy as np

LEAST_REJECTED = 0.02
"""A gap of the ladder counts as at least that hard, so that no two rungs fall together."""


class Swaps(TypedDict):
    """What is counted of the swaps of M copies; a part of a chain's state."""

    label: np.ndarray
    """(M,) which copy is at each rung, by where it began."""
    tried: np.ndarray
    """(M - 1,) swaps tried over each gap."""
    taken: np.ndarray
    """(M - 1,) swaps taken."""
    stage: np.ndarray
    """(M,) of each copy: 0 at first, 1 since it was at rung 0, 2 since it reached the last rung after that."""
    trips: np.ndarray
    """(M,) round trips of each copy, from rung 0 to the last and back."""


def new_swaps(size: int) -> Swaps:
    """Nothing counted yet for ``size`` copies."""
    return counted_anew(np.arange(size))


def counted_anew(label: np.ndarray) -> Swaps:
    """Nothing counted yet for copies that stand like this, (M,)."""
    size = len(label)
    pairs = max(size - 1, 1)
    return {
        "label": label,
        "tried": np.zeros(pairs),
        "taken": np.zeros(pairs),
        "stage": np.zeros(size, dtype=np.int64),
        "trips": np.zeros(size, dtype=np.int64),
    }


def swap_rates(swaps: Swaps) -> np.ndarray:
    """(M - 1,) share of taken swaps over each gap; 0 where none was tried."""
    return np.asarray(swaps["taken"] / np.maximum(swaps["tried"], 1))


def exchange(
    rng: np.random.Generator, size: int, log_density: Callable[[int, int], float], swaps: Swaps
) -> list[int]:
    """Let the copies over even, then over odd gaps swap; which copy, by its rung before, is at each rung thereafter.

    ``log_density(copy, rung)`` is the log density of the copy that came from rung ``copy`` under the law of another rung, but for
    what is the same for all rungs (for a power b of a likelihood: b times its logarithm). ``swaps`` are changed in place; the
    copies are moved by the caller: ``copies = [copies[i] for i in order]``.
    """
    order = list(range(size))
    for first in (0, 1):
        for m in range(first, size - 1, 2):
            low, high = order[m], order[m + 1]
            ratio = log_density(low, m + 1) + log_density(high, m)
            ratio -= log_density(low, m) + log_density(high, m + 1)
            swaps["tried"][m] += 1
            if math.log(rng.random()) < ratio:
                swaps["taken"][m] += 1
                order[m], order[m + 1] = high, low
    swaps["label"] = swaps["label"][order]
    count_trips(swaps)
    return order


def count_trips(swaps: Swaps) -> None:
    """Note which copies are at the two ends."""
    label, stage = swaps["label"], swaps["stage"]
    if stage[label[0]] == 2:
        swaps["trips"][label[0]] += 1
    stage[label[0]] = 1
    if stage[label[-1]] == 1:
        stage[label[-1]] = 2


def spaced(rungs: np.ndarray, taken: np.ndarray) -> np.ndarray:
    """(M,) rungs with the same ends, at which every pair would refuse about as many swaps.

    The refusals add up along the ladder to a barrier that hardly depends on the rungs: it is cut into equal parts (Syed
    et al. 2022, algorithm 2, with linear interpolation). taken (M - 1,) are the rates at the present rungs, :func:`swap_rates`.
    """
    barrier = np.concatenate([[0.0], np.cumsum(np.maximum(1.0 - taken, LEAST_REJECTED))])
    return np.interp(np.linspace(0.0, barrier[-1], len(rungs)), barrier, rungs)


def adapt(rungs: np.ndarray, swaps: Swaps, sweep: int, warmup: int, given: bool = False) -> None:
    """After the swaps of a sweep: after an eighth, a quarter and a half of the warm-up space the rungs (M,) anew, in place.

    Not where they are ``given``. What is counted begins anew then.
    """
    if not given and sweep < warmup and sweep + 1 in (warmup // 8, warmup // 4, warmup // 2):
        rungs[:] = spaced(rungs, swap_rates(swaps))
        swaps.update(counted_anew(swaps["label"]))


def begin_counting(swaps: Swaps, sweep: int, warmup: int) -> None:
    """Before the swaps of a sweep: what is counted begins anew with the first sweep after the warm-up."""
    if sweep == warmup:
        swaps.update(counted_anew(swaps["label"]))
