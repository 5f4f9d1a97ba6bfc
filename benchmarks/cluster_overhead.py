"""A study of 200 small fits on processes of this computer: those of the pool against those of a dask cluster.

Run as ``nice python -m benchmarks.cluster_overhead``; both take turns after a warm study, times are of whole studies.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

from plaidwork.core.contract.schedule import Schedule
from plaidwork.core.data.objects import as_dataset
from plaidwork.core.inference.cluster import Cluster
from plaidwork.core.inference.process_pool import ProcessPool
from plaidwork.core.plugins.registry import registry
from plaidwork.core.study.running import MakeExecutor
from plaidwork.core.study.study import Study


def seconds(make: MakeExecutor, fits: int, sweeps: int, at_once: int) -> float:
    """How long a study of so many fits takes."""
    matrix = np.random.default_rng(1).normal(size=(60, 20))
    study = Study.grid(
        registry().model("bayesian_plaid"),
        {"X": as_dataset("X", matrix)},
        {"blocks": [2, 3]},
        seeds=tuple(range(1, fits // 2 + 1)),
        schedule=Schedule(chains=1, warmup=sweeps // 2, draws=sweeps // 2, thin=1),
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
    parser.add_argument("--sweeps", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with ProcessPool(options.workers) as pool, Cluster(f"local:{options.workers}") as cluster:
        makers: dict[str, MakeExecutor] = {"pool": pool.executor, "cluster": cluster.executor}
        taken: dict[str, list[float]] = {name: [] for name in makers}
        for make in makers.values():
            seconds(make, 2 * options.workers, 20, options.workers)
        for _ in range(options.turns):
            for name, make in makers.items():
                taken[name].append(seconds(make, options.fits, options.sweeps, options.workers))
                print(f"{name}: {taken[name][-1]:.1f} s", flush=True)
    pooled, clustered = (statistics.median(taken[name]) for name in ("pool", "cluster"))
    print(f"median {pooled:.1f} s and {clustered:.1f} s: {clustered / pooled - 1:+.0%}")


if __name__ == "__main__":
    main()
