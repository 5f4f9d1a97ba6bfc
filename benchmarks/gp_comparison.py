"""Log loss and error on test samples of the Gaussian process classifiers and of others.

Run: python benchmarks/gp_comparison.py FOLDER [SET ...] [--fresh SEED] [--json FILE], the folder with three_gaussians.csv, three_class.csv,
iris.csv, wine_quality_red_600.csv, two_moons_semi.csv and three_arcs_semi.csv. Sets with a column "set" keep their split; of the
semi-supervised ones only labelled samples are fitted; iris is split in five, each part tested once. Grades of the wines are
clipped to 4..7. Inputs are standardised by the fitted samples for every model.

With --fresh all sets, and breast_cancer and wine_cultivars of scikit-learn, are split in five anew, at most 150
samples of each, all with their labels, and the program takes part by its defaults alone.

With --json every part that a model has predicted is written when it ends, and those that the file has are not made again.

Others take part where they are installed: scikit-learn (Laplace's approximation, parameters by the evidence; logistic regression
with the strength of the penalty by cross-validation where five samples a class allow it), GPy (expectation propagation), mord
(ordered logistic). GPy has two classes only: of more, each against the rest, normalised, as scikit-learn does it too.
"""

import argparse
import csv
import json
import os
import warnings
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time

import numpy as np

from plaidwork.core import fit
from plaidwork.core.data.dataset import Dataset
from plaidwork.core.inference.executor import InlineExecutor

FOLDS = 5
FRESH = 150
"""Samples at most of a set that is split anew: a dense covariance of all would take most of an hour."""
SETS = (
    "three_gaussians",
    "three_class",
    "iris",
    "wine_quality_red_600",
    "two_moons_semi",
    "three_arcs_semi",
)
SCIKIT = {"breast_cancer": "load_breast_cancer", "wine_cultivars": "load_wine"}
LINEAR = {"covariance": "expression", "expression": "rbf(ard) + linear"}


def read(folder, name, fresh):
    """(x (n, D), codes (n,), pairs of masks: fitted and tested samples)."""
    if name in SCIKIT:
        return from_scikit(name, fresh)
    with open(folder / f"{name}.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    label = next(c for c in ("y", "y_true", "species", "quality") if c in rows[0])
    inputs = [c for c in rows[0] if c not in (label, "set", "labelled")]
    x = np.array([[float(row[c]) for c in inputs] for row in rows])
    if name.startswith("wine_quality"):
        code = np.clip([int(row[label]) for row in rows], 4, 7) - 4
    else:
        code = np.unique([row[label] for row in rows], return_inverse=True)[1]
    if fresh is not None:
        return some(x, code, fresh)
    if "set" in rows[0]:
        train = np.array([row["set"] == "train" for row in rows])
        return x, code, [(train, ~train)]
    if "labelled" in rows[0]:
        train = np.array([row["labelled"] == "1" for row in rows])
        return x, code, [(train, ~train)]
    return x, code, folds(code, 20140510)


def folds(code, seed):
    """Pairs of masks: each class in five parts, each tested once."""
    fold = np.empty(len(code), dtype=int)
    for k in np.unique(code):
        members = np.flatnonzero(code == k)
        fold[np.random.default_rng(seed + k).permutation(members)] = np.arange(len(members)) % FOLDS
    return [(fold != f, fold == f) for f in range(FOLDS)]


def some(x, code, seed):
    """At most ``FRESH`` samples and their folds."""
    kept = np.sort(np.random.default_rng(seed).permutation(len(code))[:FRESH])
    code = np.unique(code[kept], return_inverse=True)[1]
    return x[kept], code, folds(code, seed)


def from_scikit(name, fresh):
    """A set that comes with scikit-learn, as of ``read``."""
    from sklearn import datasets

    x, code = getattr(datasets, SCIKIT[name])(return_X_y=True)
    return some(x, code, fresh)


def ours(model, **settings):
    """Probabilities (n, K) of one of the program's models by its defaults and these settings."""

    def predict(x, code, train):
        names = tuple(f"s{i}" for i in range(len(x)))
        words = tuple(map(str, range(code.max() + 1)))
        given = {
            "X": Dataset("X", x, names, tuple(f"x{d}" for d in range(x.shape[1]))),
            "y": Dataset("y", code, names, (), kind="categorical", categories=words),
            "split": Dataset(
                "split", (~train).astype(int), names, (), kind="categorical", categories=("train", "test")
            ),
        }
        schedule = {} if model == "gp_quick_classes" else {"chains": 2, "warmup": 300, "draws": 500}
        run = fit(model, given, settings, seed=1, executor=InlineExecutor(), **schedule)
        columns = run.results["predictions"].columns
        return np.column_stack([np.asarray(columns[f"P({word})"], dtype=float) for word in words])

    return predict


def standardised(x, train):
    spread = x[train].std(axis=0)
    return (x - x[train].mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def scikit_gp(ard):
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    def predict(x, code, train):
        x = standardised(x, train)
        length = np.full(x.shape[1], np.sqrt(x.shape[1])) if ard else np.sqrt(x.shape[1])
        kernel = ConstantKernel(4.0, (1e-2, 1e4)) * RBF(length, (1e-2, 1e3))
        model = GaussianProcessClassifier(kernel, n_restarts_optimizer=2, random_state=1)
        return model.fit(x[train], code[train]).predict_proba(x)

    return predict


def logistic():
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

    def predict(x, code, train):
        x = standardised(x, train)
        enough = np.bincount(code[train]).min() >= 5
        model = (
            LogisticRegressionCV(cv=5, scoring="neg_log_loss", max_iter=2000)
            if enough
            else LogisticRegression(max_iter=2000)
        )
        return model.fit(x[train], code[train]).predict_proba(x)

    return predict


def ordered_logistic():
    from mord import LogisticAT

    def predict(x, code, train):
        x = standardised(x, train)
        return LogisticAT(alpha=1.0).fit(x[train], code[train]).predict_proba(x)

    return predict


def gpy():
    import GPy

    def one(x, positive, train):
        kernel = GPy.kern.RBF(x.shape[1], variance=4.0, lengthscale=np.sqrt(x.shape[1]))
        model = GPy.models.GPClassification(x[train], positive[train][:, None].astype(float), kernel=kernel)
        model.optimize(max_iters=200)
        return model.predict(x)[0][:, 0]

    def predict(x, code, train):
        x, count = standardised(x, train), code.max() + 1
        if count == 2:
            chance = one(x, code == 1, train)
            return np.column_stack([1.0 - chance, chance])
        each = np.column_stack([one(x, code == k, train) for k in range(count)])
        return each / each.sum(axis=1, keepdims=True)

    return predict


def models(name, fresh):
    """(label, maker) of the models for a set."""
    others = [
        ("scikit-learn GP", lambda: scikit_gp(False)),
        ("scikit-learn GP, ARD", lambda: scikit_gp(True)),
        ("GPy", gpy),
        ("logistic regression", logistic),
    ]
    found = [("Gaussian process", lambda: ours("gp_classes"))]
    if fresh is not None:
        return [*found, *others]
    found += [
        ("  one length", lambda: ours("gp_classes", covariance="rbf")),
        ("  a length per input", lambda: ours("gp_classes", covariance="rbf", ard=True)),
        ("  with a linear part", lambda: ours("gp_classes", **LINEAR)),
        ("  quick look", lambda: ours("gp_quick_classes")),
    ]
    if name.startswith("wine_quality"):
        found += [
            ("  ordered classes", lambda: ours("gp_ordered_classes")),
            ("  ordered, a length per input", lambda: ours("gp_ordered_classes", ard=True)),
        ]
    found += others
    return (
        [*found, ("ordered logistic (mord)", ordered_logistic)] if name.startswith("wine_quality") else found
    )


def one_part(make, x, code, part):
    """What a model says of the tested samples of a part: losses of their classes, how many are wrong, processor seconds."""
    train, test = part
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chance = make()(x, code, train)[test]
    chance = np.clip(chance / chance.sum(axis=1, keepdims=True), 1e-12, 1.0)
    return {
        "losses": (-np.log(chance[np.arange(len(chance)), code[test]])).tolist(),
        "wrong": int((chance.argmax(axis=1) != code[test]).sum()),
        "cpu": time.process_time() - start,
    }


class Done:
    """Parts that models have predicted, by set, model, seed of the folds and number; kept in a file where there is one."""

    def __init__(self, path):
        self.path = path
        self.rows = json.loads(path.read_text()) if path and path.exists() else []

    def part(self, key, make, x, code, part):
        """The part of this key, predicted where it is not there yet."""
        for row in self.rows:
            if row["key"] == key:
                return row
        self.rows.append({"key": key, **one_part(make, x, code, part)})
        if self.path:
            self.path.write_text(json.dumps(self.rows, indent=1))
        return self.rows[-1]


def said(rows):
    """Log loss, share of errors and processor seconds over the parts of a model."""
    losses = np.concatenate([row["losses"] for row in rows])
    wrong, cpu = sum(row["wrong"] for row in rows), sum(row["cpu"] for row in rows)
    return f"log loss {losses.mean():.3f}   error {wrong / len(losses):.3f}   {cpu:6.1f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--fresh", type=int)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    done, every = Done(options.json), SETS if options.fresh is None else (*SETS, *SCIKIT)
    for name in options.sets or every:
        x, code, parts = read(options.folder, name, options.fresh)
        print(f"{name}: {int(parts[0][0].sum())} fitted, {x.shape[1]} inputs, {code.max() + 1} classes")
        for label, make in models(name, options.fresh):
            key = [name, label.strip(), options.fresh]
            try:
                rows = [done.part([*key, number], make, x, code, part) for number, part in enumerate(parts)]
            except ImportError as error:
                print(f"    {label:32} not installed ({error.name})")
                continue
            print(f"    {label:32} {said(rows)}", flush=True)


if __name__ == "__main__":
    main()
