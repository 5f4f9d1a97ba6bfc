"""Dirichlet process mixture: seconds of a sweep and of the nearest partition, and clusters beside scikit-learn's in one run.

    python benchmarks/dp_mixture.py [--large]

The peer, ``BayesianGaussianMixture`` with diagonal covariances and 30 components, is no dependency of the project and left out where it is not
installed. Both get the same planted data: four clusters of unit variance in four columns, the nearest centres 6 or 4 standard
deviations apart. Times are CPU seconds of one thread, the least of several, as the machine may be shared.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

CENTRES = np.array([[1, 1, 1, 1], [1, -1, -1, 1], [-1, 1, -1, -1], [-1, -1, 1, -1]]) / np.sqrt(8)


def planted(n: int, apart: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Values (n, 4) and the cluster of each row."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, n)
    return apart * CENTRES[truth] + rng.normal(size=(n, 4)), truth


def adjusted_rand(one: np.ndarray, other: np.ndarray) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985)."""
    both = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(both, (one, other), 1.0)
    rows, columns, cells = ((m * (m - 1) / 2).sum() for m in (both.sum(1), both.sum(0), both))
    expected = rows * columns / (len(one) * (len(one) - 1) / 2)
    return float((cells - expected) / ((rows + columns) / 2 - expected))


def sweep_data(n: int, d: int, clusters: int) -> Any:
    """n rows and d columns that were drawn from so many clusters."""
    from plaidwork.core.api import Block, ModelData

    rng = np.random.default_rng(1)
    truth = rng.integers(0, clusters, n)
    values = 2.0 * rng.normal(size=(clusters, d))[truth] + rng.normal(size=(n, d))
    names = tuple(map(str, range(n))), tuple(map(str, range(d)))
    known = np.ones(values.shape, bool)
    for array in (values, known):
        array.setflags(write=False)
    return ModelData({"views": (Block("X", values, known, None, names),)})


def sweep_seconds(n: int, d: int, clusters: int, sweeps: int) -> tuple[float, int]:
    """CPU seconds of a sweep of :func:`sweep_data`, and how many clusters it has then."""
    from plaidwork.core.api import Clock
    from plaidwork.plugins.dirichlet_processes.model import DirichletProcessMixture

    data, rng = sweep_data(n, d, clusters), np.random.default_rng(1)
    model: Any = DirichletProcessMixture()
    params = model.spec.check_params({"start": "means"})
    state, least = model.init(data, params, rng), np.inf
    for sweep in range(sweeps):
        begin = time.process_time()
        while (traces := model.step(state, data, params, rng, Clock(sweep, sweeps))) is None:
            pass
        least = min(least, time.process_time() - begin)
    return least, int(traces["n_clusters"])


def partition_seconds(n: int, draws: int) -> float:
    """CPU seconds of the nearest partition of so many noisy copies of twelve clusters."""
    from plaidwork.plugins.dirichlet_processes.clusterings import nearest_partition

    rng = np.random.default_rng(2)
    found = np.repeat(rng.integers(0, 12, n)[None], draws, axis=0)
    change = rng.random(found.shape) < 0.1
    found[change] = rng.integers(0, 14, int(change.sum()))
    nearest_partition(found[:4, :50])
    begin = time.process_time()
    nearest_partition(found)
    return time.process_time() - begin


def recovery(apart: float, seeds: int, n: int = 300) -> dict[str, list[float]]:
    """Adjusted Rand index of this model under both priors, and of the peer."""
    from plaidwork.core.session.fitting import fit

    found: dict[str, list[float]] = {"dirichlet": [], "finite": [], "scikit-learn": []}
    for seed in range(seeds):
        values, truth = planted(n, apart, seed)
        for prior in ("dirichlet", "finite"):
            run = fit(
                "dp_mixture",
                {"views": values},
                {"prior": prior, "likelihoods": "gaussian"},
                seed=1,
                warmup=100,
                draws=100,
                chains=4,
            )
            found[prior].append(adjusted_rand(run.results["labels"].values, truth))
        labels = peer(values)
        if labels is not None:
            found["scikit-learn"].append(adjusted_rand(labels, truth))
    return found


def peer(values: np.ndarray) -> np.ndarray | None:
    """Labels by scikit-learn; None where it is not installed."""
    try:
        from sklearn.mixture import BayesianGaussianMixture
    except ImportError:
        return None
    model = BayesianGaussianMixture(
        n_components=30, covariance_type="diag", max_iter=1000, n_init=3, random_state=1
    )
    return np.unique(model.fit_predict((values - values.mean(0)) / values.std(0)), return_inverse=True)[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="also 100 000 rows and the partition of 20 000")
    large = parser.parse_args().large
    for n, d, clusters, sweeps in [(569, 30, 30, 60), *([(100_000, 20, 20, 6)] if large else [])]:
        seconds, number = sweep_seconds(n, d, clusters, sweeps)
        print(f"sweep {n:>7} x {d}, {number} clusters: {1000 * seconds:8.2f} ms")
    for n, draws in [(2000, 500), *([(20_000, 500)] if large else [])]:
        print(f"nearest partition of {draws} draws of {n:>6}: {partition_seconds(n, draws):6.2f} s")
    for apart in (6.0, 4.0):
        for name, values in recovery(apart, 5).items():
            if values:
                told = " ".join(f"{value:.2f}" for value in values)
                print(
                    f"adjusted Rand, centres {apart:g} sd apart, {name:>12}: mean {np.mean(values):.3f} ({told})"
                )


if __name__ == "__main__":
    main()
