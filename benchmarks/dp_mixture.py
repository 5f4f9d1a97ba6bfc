"""Dirichlet process mixture: seconds of a sweep, clusters beside scikit-learn's, densities of samples held out, and what Start gives.

    python benchmarks/dp_mixture.py [--large]                        sweeps, nearest partitions, planted clusters found
    python benchmarks/dp_mixture.py --classes iris wine               clusters of draws beside classes, by likelihood
    python benchmarks/dp_mixture.py --held-out iris wine              log density of samples held out, five folds
    python benchmarks/dp_mixture.py --judged [TABLE …]                correlated or independent: the rule beside the density held out
    python benchmarks/dp_mixture.py --annealed two-groupings --set likelihoods=gaussian     eight chains with and without an annealed warm-up
    python benchmarks/dp_mixture.py --start wine diabetes --seeds 4   settled or not at plain defaults, and what is left

Tables are those of ``dp_mixture_tables.py``: names of scikit-learn's, PACKAGE/NAME of R's data sets, planted ones, or csv files. The peers,
scikit-learn's mixtures, are no dependency of the project and left out where they are not installed. Times are CPU seconds, as the machine may
be shared.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from dp_mixture_tables import OF_R, PLANTED, Given, planted, table

FORMS: dict[str, dict[str, Any]] = {
    "correlated, a0 2.5": {"likelihoods": "gaussian_full", "learn_shape": False},
    "correlated, a0 15": {"likelihoods": "gaussian_full", "learn_shape": False, "within_shape": 15.0},
    "correlated, a0 learned": {"likelihoods": "gaussian_full"},
    "independent, a0 2.5": {"likelihoods": "gaussian", "learn_shape": False},
    "independent, a0 learned": {"likelihoods": "gaussian"},
}
STARTS = ("together", "sequential", "means", "random")
FOLDS = 5
WITHIN = 120.0
"""Processor seconds of a minute on two cores."""


def adjusted_rand(one: np.ndarray, other: np.ndarray) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985)."""
    both = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(both, (one, other), 1.0)
    rows, columns, cells = ((m * (m - 1) / 2).sum() for m in (both.sum(1), both.sum(0), both))
    expected = rows * columns / (len(one) * (len(one) - 1) / 2)
    return float((cells - expected) / ((rows + columns) / 2 - expected))


# -- fits ----------------------------------------------------------------------------------------
def fitted(values: np.ndarray, given: dict[str, Any], seed: int = 1, **schedule: Any) -> Any:
    """A run on one matrix, its chains one after the other where they have a schedule of their own."""
    from plaidwork.core.session.fitting import fit

    return fit("dp_mixture", {"views": values}, given, seed=seed, **schedule)


def index_of_draws(run: Any, classes: np.ndarray | None) -> float:
    """Adjusted Rand index of the draws against the classes, on average over every fifth; NaN without any."""
    if classes is None:
        return float("nan")
    codes = np.unique(classes, return_inverse=True)[1]
    draws = np.concatenate(list(run.draws["cluster_of"][:, ::5]))
    return float(np.mean([adjusted_rand(labels.astype(np.int64), codes) for labels in draws]))


def clusters_of_draws(run: Any) -> float:
    """Clusters of a draw, on average."""
    return float(run.draws["n_clusters"].mean())


def density_of(run: Any, values: np.ndarray) -> float:
    """Mean log density of new samples, on the scale of the fit."""
    from plaidwork.core.analysing import run_analysis

    found = run_analysis(run, "dp_mixture.new_samples", {"new_views": values})
    return float(np.mean(found.results["assignments"].columns["Log density"]))


def processor_seconds() -> float:
    """Of all threads of this process."""
    return time.process_time()


# -- sweeps and partitions -----------------------------------------------------------------------
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
    found: dict[str, list[float]] = {"dirichlet": [], "finite": [], "scikit-learn": []}
    for seed in range(seeds):
        values, truth = planted(n, apart, seed)
        for prior in ("dirichlet", "finite"):
            run = fitted(values, {"prior": prior, "likelihoods": "gaussian"}, warmup=100, draws=100, chains=4)
            found[prior].append(adjusted_rand(run.results["labels"].values, truth))
        labels = peer(values, "diag")
        if labels is not None:
            found["scikit-learn"].append(adjusted_rand(labels, truth))
    return found


def speed(large: bool) -> None:
    """Sweeps, nearest partitions, and planted clusters that were found."""
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


# -- the peers -----------------------------------------------------------------------------------
def peer(values: np.ndarray, form: str) -> np.ndarray | None:
    """Labels by scikit-learn's Bayesian mixture of 30 components, columns standardised; None where it is not installed."""
    try:
        from sklearn.mixture import BayesianGaussianMixture
    except ImportError:
        return None
    model = BayesianGaussianMixture(
        n_components=30, covariance_type=form, max_iter=1000, n_init=3, random_state=1
    )
    return np.unique(model.fit_predict((values - values.mean(0)) / values.std(0)), return_inverse=True)[1]


def peers_density(training: np.ndarray, test: np.ndarray) -> Iterator[tuple[str, float]]:
    """Mean log density of the test rows by scikit-learn's mixtures: of 1 to 15 components by BIC, and the Bayesian one."""
    try:
        from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
    except ImportError:
        return
    for form in ("full", "diag"):
        mixtures = (GaussianMixture(k, covariance_type=form, n_init=3, random_state=0) for k in range(1, 16))
        best = min((one.fit(training) for one in mixtures), key=lambda one: one.bic(training))
        yield f"by BIC, {form}", best.score(test)
        bayesian = BayesianGaussianMixture(
            n_components=30, covariance_type=form, max_iter=1000, random_state=1
        )
        yield f"Bayesian, {form}", bayesian.fit(training).score(test)


# -- the tables of the notes ---------------------------------------------------------------------
def classes(given: Given) -> None:
    """Clusters of draws beside classes: four chains of 150 + 150 sweeps from each start."""
    for name, form in FORMS.items():
        run = fitted(given.values, form, warmup=150, draws=150, chains=4)
        shown = adjusted_rand(np.asarray(run.results["labels"].values), np.asarray(given.classes))
        print(
            f"{given.name:14} {name:24} index of draws {index_of_draws(run, given.classes):.2f}, of what is shown {shown:.2f},"
            f" clusters {clusters_of_draws(run):.1f}, a0 {run.draws['base_shape'].mean():.1f}",
            flush=True,
        )
    for covariances in ("full", "diag"):
        labels = peer(given.values, covariances)
        if labels is not None:
            print(
                f"{given.name:14} scikit-learn {covariances:11} index {adjusted_rand(labels, np.asarray(given.classes)):.2f}, clusters {labels.max() + 1}"
            )


def held_out(given: Given) -> None:
    """Log density of samples held out: five folds, columns standardised by the fitted ones, two chains of 150 + 100 from k-means."""
    fold = np.random.default_rng(0).permutation(len(given.values)) % FOLDS
    found: dict[str, list[float]] = {}
    for held in range(FOLDS):
        training, test = given.values[fold != held], given.values[fold == held]
        centre, scale = training.mean(axis=0), np.where(training.std(axis=0) > 0, training.std(axis=0), 1.0)
        training, test = (training - centre) / scale, (test - centre) / scale
        for name, form in FORMS.items():
            if name != "correlated, a0 15":
                run = fitted(training, {**form, "start": "means"}, held + 1, warmup=150, draws=100, chains=2)
                found.setdefault(name, []).append(density_of(run, test))
        for name, density in peers_density(training, test):
            found.setdefault(name, []).append(density)
    for name, values in found.items():
        print(
            f"{given.name:14} {name:24} {np.mean(values):8.2f} ({np.std(values, ddof=1) / FOLDS**0.5:.2f}) nats a sample",
            flush=True,
        )


def judged(given: Given) -> None:
    """What the rule says, and the gain of the correlated form in log density of a fifth held out: one chain of 70 + 50 from k-means, two splits."""
    from plaidwork.core.data.together import gain_of_covariances

    told = []
    for split in (1, 2):
        order = np.random.default_rng(split).permutation(len(given.values))
        some = max(10, len(order) // 5)
        test, rows = given.values[order[:some]], order[some : some + 800]
        training = given.values[rows]
        varying = training.std(axis=0) > 0
        training, test = training[:, varying], test[:, varying]
        runs = [
            fitted(training, {**FORMS[form], "start": "means"}, split, warmup=70, draws=50, chains=1)
            for form in ("independent, a0 2.5", "correlated, a0 learned")
        ]
        gain = density_of(runs[1], test) - density_of(runs[0], test)
        known = None if given.classes is None else given.classes[rows]
        index = " ".join(f"{index_of_draws(run, known):.2f}" for run in runs)
        clusters = " ".join(f"{clusters_of_draws(run):.0f}" for run in runs)
        told.append(f"gain {gain:+.2f}, clusters {clusters}, index {index}")
    rule = gain_of_covariances(training, np.ones(training.shape, bool))
    word = "correlated" if rule > 3.0 else "independent"
    print(
        f"{given.name:26} {len(training):>4} x {training.shape[1]:<3} {word} (by {rule:.1f} nats): {'; '.join(told)}",
        flush=True,
    )


def annealed(given: Given, settings: dict[str, Any]) -> None:
    """Two chains from each start alone, 200 + 100 sweeps, with and without a fifth of the warm-up annealed."""
    from plaidwork.core.draws.mcstats import rhat

    found: dict[float, tuple[np.ndarray, list[float]]] = {}
    for anneal in (0.0, 0.2):
        runs = [
            fitted(
                given.values,
                {**settings, "start": start, "anneal": anneal},
                seed,
                warmup=200,
                draws=100,
                chains=1,
            )
            for seed in (1, 2)
            for start in STARTS
        ]
        levels = np.array([run.kept().chains[0].kept_trace("log_joint") for run in runs])
        found[anneal] = levels, [index_of_draws(run, given.classes) for run in runs]
    best = max(levels.mean(axis=1).max() for levels, _ in found.values())
    for anneal, (levels, index) in found.items():
        below = best - levels.mean(axis=1)
        print(
            f"{given.name:14} annealed {anneal:3.1f}: below {below.mean():.1f}, {below.max():.1f}; index {np.mean(index):.2f}, {min(index):.2f};"
            f" R-hat {float(rhat(levels[..., None])[0]):.2f}",
            flush=True,
        )


def start(given: Given, settings: dict[str, Any], seeds: int, budget: float) -> None:
    """Fits by the schedule of the model, at plain defaults but for ``settings``: settled or not within the budget, and the quantities that are left with R-hat and effective draws."""
    for seed in range(1, seeds + 1):
        begin = processor_seconds()
        run = fitted(given.values, settings, seed, budget=budget)
        used, found = processor_seconds() - begin, run.diagnosis()
        levels = [chain.kept_trace("log_joint") for chain in run.kept().chains]
        level = [float(one[len(one) // 2 :].mean()) for one in levels]
        left = "; ".join(
            f"{q.title} {q.rhat:.3f}, {min(q.ess_bulk, q.ess_tail):.0f}" for q in found.unsettled
        )
        print(
            f"{given.name:14} seed {seed}: {'settled' if found.verdict.settled else 'NOT settled'} after {used:.0f} CPU s"
            f" ({'within' if used <= WITHIN else 'beyond'} a minute on two cores), {run.schedule.sweeps('mcmc')} sweeps, clusters"
            f" {clusters_of_draws(run):.1f}, chains below the best by {' '.join(f'{max(level) - one:.0f}' for one in level)} nats"
            f"{'; left: ' + left if left else ''}; {found.verdict.title}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--large", action="store_true", help="also 100 000 rows and the partition of 20 000")
    for name in ("classes", "held-out", "annealed", "start"):
        parser.add_argument(f"--{name}", nargs="+", metavar="TABLE", default=[])
    parser.add_argument(
        "--judged", nargs="*", metavar="TABLE", help="without any all of R's and the planted ones"
    )
    parser.add_argument("--seeds", type=int, default=4, help="of --start")
    parser.add_argument("--budget", type=float, default=60.0, help="of --start, seconds by the clock")
    parser.add_argument(
        "--set", nargs="+", metavar="NAME=VALUE", default=[], help="settings of --annealed and --start"
    )
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="sklearn")
    settings: dict[str, Any] = {name: value for name, _, value in (one.partition("=") for one in options.set)}
    for one in options.classes:
        classes(table(one))
    for one in options.held_out:
        held_out(table(one))
    for one in options.annealed:
        annealed(table(one), settings)
    for one in options.start:
        start(table(one), settings, options.seeds, options.budget)
    for one in [*OF_R, *PLANTED] if options.judged == [] else options.judged or []:
        judged(table(one))
    if options.judged is None and not any(
        (options.classes, options.held_out, options.annealed, options.start)
    ):
        speed(options.large)


if __name__ == "__main__":
    main()
