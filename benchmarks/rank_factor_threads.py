"""One chain of the rank factor model over large data, with one and two threads in turns, and as small data are gone over.

    OPENBLAS_NUM_THREADS=1 python benchmarks/rank_factor_threads.py

By the clock, and in CPU seconds: of the process, which show what streams cost, and of the chain's own thread, which is what the clock would
show where both threads have a processor to themselves.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import rank_factor_speed as speed

from plaidwork.core.api import Clock
from plaidwork.core.inference.team import ProcessTeam
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


def main() -> None:
    """A sweep of each way in turns; the least and the median of the clock, the median of CPU seconds, in ms."""
    RankFactor().prepare()
    large = gibbs.LARGE
    for n, d, changes in CASES:
        speed.D = d
        data = speed.make_data(np.random.default_rng(0), n)
        model, rng = RankFactor(), np.random.Generator(np.random.PCG64DXSM(1))
        params = model.spec.check_params({"n_factors": 20, **changes})
        state = model.init(data, params, rng)
        found = np.empty((len(WAYS), ROUNDS, 3))
        for number in range(-2, ROUNDS):
            for way, (name, threads) in enumerate(WAYS):
                gibbs.LARGE = 10**18 if name == "as small data" else large
                with ProcessTeam(threads).chain():
                    before = np.array([time.perf_counter(), time.process_time(), time.thread_time()])
                    while model.step(state, data, params, rng, Clock(3, 0)) is None:
                        pass
                after = np.array([time.perf_counter(), time.process_time(), time.thread_time()])
                found[way, number] = 1e3 * (after - before)
        print(f"{n} x {d}, {changes}")
        for (name, _), times in zip(WAYS, found, strict=True):
            clock, cpu, own = np.median(times, axis=0)
            print(
                f"{name:>16}: clock {times[:, 0].min():6.0f} {clock:6.0f}   CPU {cpu:6.0f}   own thread {own:6.0f}"
            )


if __name__ == "__main__":
    main()
