"""A study of 200 small fits on processes of this computer: those of the pool against those of a dask cluster.

Run as ``nice python -m benchmarks.cluster_overhead``; both take turns after a warm study, times are of whole studies. The model is a toy
of the tests, which compiles nothing, with a quarter of a second of sleep spread over its sweeps: what remains is what handing out the fits costs.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.inference.cluster import Cluster
from plaidwork.core.inference.process_pool import ProcessPool
from plaidwork.core.study.running import MakeExecutor
from plaidwork.core.study.study import Study
from tests import toys

SWEEPS = 50


class Waits(toys.Walk):
    """A walk whose steps take a while, without the processor."""

    spec = replace(toys.Walk.spec, id="toy.waits", title="Waits")
    seconds = 0.25 / SWEEPS

    def step(self, state, data, params, rng, clock):  # type: ignore[no-untyped-def]
        time.sleep(self.seconds)
        return super().step(state, data, params, rng, clock)


def seconds(make: MakeExecutor, fits: int, at_once: int) -> float:
    """How long a study of so many fits takes."""
    study = Study.grid(
        Waits(),
        {"X": as_dataset("X", toys.matrix())},
        {"stride": [0.2, 0.5]},
        metric="lp",
        seeds=tuple(range(1, fits // 2 + 1)),
        schedule=Schedule(chains=1, warmup=SWEEPS // 2, draws=SWEEPS // 2, thin=1),
    )
    begun = time.perf_counter()
    study.run(make, at_once=at_once)
    taken = time.perf_counter() - begun
    failed = [job.message for job in study.jobs if job.status != "done"]
    if failed:
        raise RuntimeError(f"{len(failed)} fits failed: {failed[0]}")
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", type=int, default=200)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2, help="fits at a time on the cluster")
    options = parser.parse_args()
    with ProcessPool(options.workers) as pool, Cluster(f"local:{options.workers}") as cluster:
        makers: dict[str, MakeExecutor] = {"pool": pool.executor, "cluster": cluster.executor}
        at_once = {"pool": options.workers, "cluster": options.jobs}
        taken: dict[str, list[float]] = {name: [] for name in makers}
        for make in makers.values():
            seconds(make, 2 * options.workers, options.workers)
        for _ in range(options.turns):
            for name, make in makers.items():
                taken[name].append(seconds(make, options.fits, at_once[name]))
                print(f"{name}: {taken[name][-1]:.1f} s", flush=True)
    pooled, clustered = (statistics.median(taken[name]) for name in ("pool", "cluster"))
    print(f"median {pooled:.1f} s and {clustered:.1f} s: {clustered / pooled - 1:+.0%}")


if __name__ == "__main__":
    from benchmarks import cluster_overhead  # the workers find its model by the name of its module

    cluster_overhead.main()
