"""Clusters in several views: seconds of a sweep, mutual information of planted views, and what a second view helps, in one run.

    python benchmarks/multi_view_clusters.py
    python benchmarks/multi_view_clusters.py --held-out

Planted: two views of four clusters of unit variance in four columns, the nearest centres so many standard deviations apart, 10 % of the samples
lacking each view and 5 % of the cells missing. Alone is the Dirichlet process mixture of one view, together this model; no public program for
it was found. Times are CPU seconds of one thread, as the machine may be shared.

--held-out instead compares the log density of samples that were not fitted, both views of each: under this model, and under the
mixtures of each view alone. What it is above the views one by one in the same fit is what they tell of each other; the rest is
that each view is estimated better. The planted law tells what they can tell.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from dp_mixture import CENTRES, adjusted_rand

from plaidwork.core import fit
from plaidwork.core.analysing import run_analysis
from plaidwork.core.api import Block, Clock, ModelData

SECOND = {
    "identical": lambda first, rng: first,
    "blocks": lambda first, rng: 2 * (first // 2) + rng.integers(0, 2, len(first)),
    "independent": lambda first, rng: rng.integers(0, 4, len(first)),
}


def planted(kind: str, n: int, apart: float, seed: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Two matrices (n, 4) with NaN for what is missing, and the clusters (2, n)."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, n)
    truth = np.array([first, SECOND[kind](first, rng)])
    views = []
    for labels in truth:
        values = apart * CENTRES[labels] + rng.normal(size=(n, 4))
        values[rng.random(values.shape) < 0.05] = np.nan
        values[rng.random(n) < 0.1] = np.nan
        views.append(values)
    return views, truth


def information_of(truth: np.ndarray, both: np.ndarray) -> float:
    """Mutual information of the planted clusters, in nats."""
    table = np.zeros((4, 4))
    np.add.at(table, (truth[0][both], truth[1][both]), 1 / both.sum())
    expected = np.outer(table.sum(axis=1), table.sum(axis=0))
    inside = table > 0
    return float((table[inside] * np.log(table[inside] / expected[inside])).sum())


def named(views: list[np.ndarray]) -> dict[str, np.ndarray]:
    """The matrices by name."""
    return dict(zip("ab", views, strict=True))


def sweep_seconds(n: int) -> float:
    """CPU seconds of a sweep with two views of four columns, the mean over many after some."""
    from plaidwork.plugins.dirichlet_processes.multi_view.model import MultiViewClusters

    blocks = []
    for name, values in named(planted("blocks", n, 6.0, 1)[0]).items():
        known = ~np.isnan(values)
        array = np.where(known, values, 0.0)
        for one in (array, known):
            one.setflags(write=False)
        blocks.append(Block(name, array, known, None, (tuple(map(str, range(n))), tuple("wxyz"))))
    data, model, rng = ModelData({"views": tuple(blocks)}), MultiViewClusters(), np.random.default_rng(1)
    params: Any = model.spec.check_params({})
    state, begin, counted = model.init(data, params, rng), 0.0, 200
    for sweep in range(100 + counted):
        if sweep == 100:
            begin = time.process_time()
        while model.step(state, data, params, rng, Clock(sweep, 0)) is None:
            pass
    return (time.process_time() - begin) / counted


def rand_of(run: Any, name: str, truth: np.ndarray, row: int | None = None) -> float:
    """Adjusted Rand index of the clusters shown."""
    labels = np.asarray(run.results[name].values)
    labels = labels if row is None else labels[row]
    return adjusted_rand(labels[labels >= 0], truth[labels >= 0])


def log_density(values: np.ndarray) -> np.ndarray:
    """(m, 4) log density of rows (m, 4) in each of the planted clusters, which are 3.5 standard deviations apart."""
    gap = values[:, None] - 3.5 * CENTRES
    return -0.5 * (gap**2).sum(axis=2) - 2.0 * np.log(2.0 * np.pi)


def held_out(kind: str, n: int, seed: int, tested: int = 1000) -> np.ndarray:
    """(tested, 3) nats by which the joint density of both views of a new sample is above the product of those of each view: of the
    mixtures of each view alone, of this fit itself, and under the planted law."""
    views, _ = planted(kind, n, 3.5, seed)
    rng = np.random.default_rng(100 + seed)
    first = rng.integers(0, 4, tested)
    new = [3.5 * CENTRES[one] + rng.normal(size=(tested, 4)) for one in (first, SECOND[kind](first, rng))]
    table = {
        "identical": np.eye(4) / 4.0,
        "blocks": np.kron(np.eye(2), np.ones((2, 2))) / 8.0,
        "independent": np.full((4, 4), 1.0 / 16.0),
    }[kind]
    inside = [np.exp(log_density(values)) for values in new]
    known = np.log(np.einsum("ik,kl,il->i", inside[0], table, inside[1]))
    known -= np.log(inside[0].mean(axis=1)) + np.log(inside[1].mean(axis=1))
    schedule: Any = {"chains": 2, "warmup": 300, "draws": 300}
    fresh = named(new)

    def density(run: Any, given: dict[str, np.ndarray]) -> np.ndarray:
        found = run_analysis(run, f"{run.spec.id}.new_samples", {"new_views": given}).results["assignments"]
        return np.asarray(found.columns["Log density"])

    together = fit("multi_view_clusters", {"views": named(views)}, **schedule)
    both = density(together, fresh)
    alone, itself = both.copy(), both.copy()
    for name, values in named(views).items():
        has = ~np.isnan(values).all(axis=1)  # columns are standardised by the same cells in both fits
        one = fit("dp_mixture", {"views": {name: values[has]}}, **schedule)
        alone -= density(one, {name: fresh[name]})
        itself -= density(together, {name: fresh[name]})
    return np.stack([alone, itself, known], axis=1)


def print_held_out() -> None:
    """Means over new samples and four data sets; their standard errors are those between data sets."""
    for n in (150, 60):
        for kind in SECOND:
            gains = np.array([held_out(kind, n, seed).mean(axis=0) for seed in range(1, 5)])
            mean, error = gains.mean(axis=0), gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
            print(
                f"{kind}, 3.5 sd, n = {n}: both views of a new sample {mean[0]:+.3f} nats (se {error[0]:.3f}) above each alone, "
                f"{mean[1]:+.3f} (se {error[1]:.3f}) above each in this fit, {mean[2]:+.3f} under the planted law",
                flush=True,
            )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true")
    if parser.parse_args().held_out:
        print_held_out()
        return
    for n in (150, 1000):
        print(f"a sweep of {n} samples in two views of four columns: {1e3 * sweep_seconds(n):.2f} ms")
    for kind, apart, n in (
        ("identical", 6.0, 300),
        ("blocks", 6.0, 300),
        ("independent", 6.0, 300),
        ("identical", 3.5, 150),
    ):
        views, truth = planted(kind, n, apart, 2)
        has = [~np.isnan(values).all(axis=1) for values in views]
        together = fit("multi_view_clusters", {"views": named(views)}, budget=60.0)
        mutual = float(together.results["mutual_information"].values[0])
        ours = [rand_of(together, "labels", truth[v], v) for v in range(2)]
        alone = []
        for v in range(2):
            run = fit("dp_mixture", {"views": {"a": views[v][has[v]]}}, budget=60.0)
            alone.append(rand_of(run, "labels", truth[v][has[v]]))
        print(
            f"{kind}, {apart:g} sd, n = {n}: mutual information {mutual:.3f}, of the planted clusters "
            f"{information_of(truth, has[0] & has[1]):.3f}; adjusted Rand index together {ours[0]:.2f} and {ours[1]:.2f}, "
            f"alone {alone[0]:.2f} and {alone[1]:.2f}"
        )


if __name__ == "__main__":
    main()
