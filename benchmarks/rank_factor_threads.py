"""One chain of the rank factor model over large data, with one and two threads in turns, and as small data are gone over.

    OPENBLAS_NUM_THREADS=1 python benchmarks/rank_factor_threads.py

By the clock, and in CPU seconds: of the process, which show what streams cost, and of the chain's own thread, which is what the clock would
show where both threads have a processor to themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import rank_factor_speed as speed
import threads

from plaidwork.core.api import Clock
from plaidwork.plugins.rank_factor import gibbs
from plaidwork.plugins.rank_factor.models import RankFactor

CASES: tuple[tuple[int, int, dict[str, Any]], ...] = (
    (20_000, 50, {}),
    (20_000, 50, {"n_factors": 10}),
    (5_000, 256, {}),
    (5_000, 256, {"n_factors": 10}),
    (20_000, 50, {"likelihood": "gaussian"}),
    (20_000, 50, {"scheme": "pairs"}),
)
ROUNDS = 30
WAYS = (("as small data", 1), ("one thread", 1), ("two threads", 2))


def sweep(step: Callable[[], object], large: int) -> None:
    """Step by step to the end of a sweep, where data are large from so much work on."""
    gibbs.LARGE = large
    while step() is None:
        pass


def main() -> None:
    """A sweep of each way in turns, of one state."""
    RankFactor().prepare()
    large = gibbs.LARGE
    for n, d, changes in CASES:
        speed.D = d
        data = speed.make_data(np.random.default_rng(0), n)
        model, rng = RankFactor(), np.random.Generator(np.random.PCG64DXSM(1))
        params = model.spec.check_params({"n_factors": 20, **changes})
        state = model.init(data, params, rng)

        step = partial(model.step, state, data, params, rng, Clock(3, 0))
        print(f"{n} x {d}, {changes}")
        threads.in_turns(
            [
                (name, count, partial(sweep, step, 10**18 if name == "as small data" else large))
                for name, count in WAYS
            ],
            ROUNDS,
        )


if __name__ == "__main__":
    main()
