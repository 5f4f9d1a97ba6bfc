"""One chain of the plaid models over a large matrix, with one and two threads in turns, and as small data are gone over.

    OPENBLAS_NUM_THREADS=1 python benchmarks/plaid_threads.py [part of a case's name]

Every way does the same sweeps, each from a copy of the state and to the same draws.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import plaid_speed as speed
import threads

from plaidwork.core.api import Clock
from plaidwork.core.draws.chain import rng_state
from plaidwork.plugins.plaid import large
from plaidwork.plugins.plaid.models import BayesianPlaid, InfinitePlaid

CASES: dict[str, tuple[Any, tuple[int, int], dict[str, Any]]] = {
    "infinite 5000 x 2000": (InfinitePlaid, (5000, 2000), {}),
    "fixed 5000 x 2000": (BayesianPlaid, (5000, 2000), {"blocks": 10}),
    "infinite 2000 x 2000": (InfinitePlaid, (2000, 2000), {}),
}
ROUNDS = 20
WAYS = (("as small data", 1), ("one thread", 1), ("two threads", 2))


class Sweeps:
    """The sweeps of one way, each where those of the others have been."""

    def __init__(self, model: Any, data: Any, params: Any, largest: int) -> None:
        self.model, self.data, self.params, self.largest = model, data, params, largest
        self.rng = np.random.Generator(np.random.PCG64DXSM(1))
        self.state = model.init(data, params, self.rng)
        self.number = 0

    def __call__(self) -> None:
        large.LARGE = self.largest
        clock = Clock(self.number, 0)
        while self.model.step(self.state, self.data, self.params, self.rng, clock) is None:
            pass
        self.number += 1


def main() -> None:
    """The cases whose names hold the word given, or all."""
    size = large.LARGE
    for title, (kind, shape, changes) in CASES.items():
        if not any(word in title for word in sys.argv[1:] or [""]):
            continue
        data, model = speed.make_data(*shape, np.random.default_rng(0)), kind()
        model.prepare()
        params = model.spec.check_params({"start": "given", **changes})
        sweeps = [
            Sweeps(model, data, params, 10**18 if name == "as small data" else size) for name, _ in WAYS
        ]
        print(title)
        threads.in_turns(
            [(name, count, sweep) for (name, count), sweep in zip(WAYS, sweeps, strict=True)], ROUNDS
        )
        ends = {repr(rng_state(sweep.rng)) for sweep in sweeps}
        print(f"the same draws: {len(ends) == 1}")


if __name__ == "__main__":
    main()
